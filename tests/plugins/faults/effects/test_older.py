"""Brokers that pretend to be older than they are."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.api import (
    API_VERSIONS,
    APIS,
    CONSUMER_GROUP_HEARTBEAT,
    DESCRIBE_ACLS,
    END_TXN,
    FETCH,
    INIT_PRODUCER_ID,
    PRODUCE,
)
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.plugins.faults.talking import FaultFile, FaultTalk


def newest(request: Any, version: int) -> Any:
    known = [
        ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=api.versions.start, max_version=api.newest)
        for api in APIS.values()
        if not api.inter_broker
    ]
    return ApiVersionsResponse(error_code=0, api_keys=known)


def said(folder: Path, release: str) -> dict[int, tuple[int, int]]:
    text = f'faults: [{{match: {{api: ApiVersions}}, do: {{older: "{release}"}}}}]'
    answer = FaultTalk(FaultFile(folder, text), newest).ask(ApiVersionsRequest(), 2)
    return {it.api_key: (it.min_version, it.max_version) for it in answer.api_keys}


def test_a_broker_of_2_8_knows_what_that_one_knew(tmp_path: Path) -> None:
    known = said(tmp_path, "2.8")
    assert (known[PRODUCE.key][1], known[FETCH.key][1], known[API_VERSIONS.key][1]) == (9, 12, 3)
    assert CONSUMER_GROUP_HEARTBEAT.key not in known


@pytest.mark.parametrize("release", ["2.8", "3.2", "3.3", "4.0"])
def test_it_knows_all_that_clients_of_that_time_needed(tmp_path: Path, release: str) -> None:
    assert {INIT_PRODUCER_ID.key, END_TXN.key, DESCRIBE_ACLS.key} <= said(tmp_path, release).keys()


def test_a_newer_one_knows_more(tmp_path: Path) -> None:
    assert said(tmp_path, "4.0").keys() > said(tmp_path, "2.8").keys()
