"""Matching resources get an error, and the rest is served."""

from pathlib import Path
from typing import Any

import pytest

from plugins.faults.said_error import SaidError
from proxy.protocol.api import FETCH, METADATA, PRODUCE, Api
from proxy.protocol.errors import ErrorCode
from tests.plugins.faults.changed import context
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


@pytest.mark.parametrize(
    ("api", "code", "level"),
    [
        (FETCH, ErrorCode.NOT_LEADER_OR_FOLLOWER, "partition"),
        (FETCH, ErrorCode.UNKNOWN_SERVER_ERROR, "top"),
        (METADATA, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "topic"),
        (PRODUCE, ErrorCode.NONE, "partition"),
    ],
)
def test_it_stands_where_brokers_say_it(api: Api, code: ErrorCode, level: str) -> None:
    ctx = context(api, 9 if api is not METADATA else 13)
    assert SaidError(code).level_in(ctx) == level
    assert SaidError(code, "elsewhere").level_in(ctx) == "elsewhere"


def answered(folder: Path, do: str, match: str) -> tuple[Any, FaultTalk]:
    talk = FaultTalk(FaultFile(folder, f"faults: [{{match: {match}, do: {do}}}]"), serving)
    return errors(talk.ask(produce("orders", "payments", partitions=2), 9)), talk


def test_what_is_meant_does_not_reach_the_broker_and_the_rest_does(tmp_path: Path) -> None:
    told, talk = answered(tmp_path, "{error: KAFKA_STORAGE_ERROR}", "{topic: orders, partition: 1}")
    assert {place for place, code in told.items() if code != "NONE"} == {("orders", 1)}
    assert [[it.index for it in topic.partition_data] for topic in talk.to_broker[0].topic_data] == [[0], [0, 1]]


def test_what_was_done_is_said_to_have_failed(tmp_path: Path) -> None:
    do = "{error: {code: KAFKA_STORAGE_ERROR, side: after_broker}}"
    told, talk = answered(tmp_path, do, "{topic: orders}")
    assert [place for place, code in told.items() if code != "NONE"] == [("orders", 0), ("orders", 1)]
    assert [len(topic.partition_data) for topic in talk.to_broker[0].topic_data] == [2, 2]
