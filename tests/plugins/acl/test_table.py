"""The table covers every API and version that clients may send."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugins.acl.table import FREE, OWN, checks
from plugins.api_versions import common
from proxy.core.filters import Filters
from proxy.protocol.api import APIS, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.elect_leaders import ElectLeadersRequest
from tests.plugins.acl.talk import Rules, Talk

TABLE = checks()
Entry = ApiVersionsResponse.ApiVersion


def advertised() -> list[Api]:
    """Every API that clients are told of by a broker that speaks all."""
    entries = common([Entry(api_key=api.key, min_version=0, max_version=api.newest) for api in APIS.values()])
    return [APIS[entry.api_key] for entry in entries]


def test_every_advertised_api_is_in_the_table() -> None:
    assert {api.name for api in advertised()} == {api.name for api in TABLE.keys() | OWN}


@pytest.mark.parametrize("api", advertised(), ids=str)
def test_every_version_that_is_asked_about_is_looked_at(api: Api, rules: Callable[..., Rules]) -> None:
    routes = Filters([rules("acls: []").acl]).table
    seen = [version for version in api.versions if routes[api.key << 16 | version].request is not None]
    assert seen == ([] if TABLE.get(api) == FREE else [*api.versions])


def test_an_api_that_nobody_thought_of_is_refused(rules: Callable[..., Rules]) -> None:
    acl = rules("super_users: [User:alice]").acl
    del acl._checks[ElectLeadersRequest.api]
    answer = Talk(acl).ask(ElectLeadersRequest(topic_partitions=None), 2)
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
