"""An error is at the requested level, and the fields beside it are as brokers leave them."""

from pathlib import Path
from typing import Any

import pytest

from plugins.faults.effect import FaultSide
from plugins.faults.effects.error import LEVELS
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode, encode
from proxy.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from proxy.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from proxy.protocol.schema import Request, Response
from tests.plugins.faults.injected import injected, says
from tests.plugins.faults.talking import FaultFile, FaultTalk

# What only an answer lists: no request names these, and so nothing can be said of them instead of the broker.
ONLY_IN_ANSWERS = {
    ("DeleteAcls", "resource"),
    ("DescribeLogDirs", "log_dir"),
    ("DescribeTopicPartitions", "partition"),
    ("Metadata", "partition"),
}


@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_every_error_of_every_answer_can_be_said(api: Api) -> None:
    for version, level, side, answer, why in injected(api):
        if (api.name, level) in ONLY_IN_ANSWERS and side is FaultSide.BEFORE_BROKER:
            assert why == f'the request names nothing that is answered at the level "{level}"'
            continue
        assert answer is not None, f"v{version} {level} {side}: {why}"
        said = says(decode(api.response, version, encode(answer, version)), version, level)
        assert said, f"v{version} {level} {side}"
        assert all(said), f"v{version} {level} {side}"


def test_levels_are_few_and_have_names_of_kafkas() -> None:
    assert {
        *("top", "topic", "partition", "group", "transaction", "key", "resource", "user", "member"),
        *("entry", "filter_result", "log_dir", "result"),
    } == LEVELS


def after(folder: Path, code: str, request: Request, version: int, answer: Response) -> Any:
    """What the client gets where a broker gave this answer."""
    text = f"faults: [{{do: {{error: {{code: {code}, side: after_broker}}}}}}]"
    return FaultTalk(FaultFile(folder, text), lambda request, version: answer).ask(request, version)


def test_an_answer_that_failed_as_a_whole_says_nothing_of_what_was_done(tmp_path: Path) -> None:
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000)
    done = InitProducerIdResponse(throttle_time_ms=7, error_code=0, producer_id=4711, producer_epoch=3)
    answer = after(tmp_path, "COORDINATOR_NOT_AVAILABLE", request, 4, done)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch, answer.throttle_time_ms) == (15, -1, -1, 7)


@pytest.mark.parametrize(("code", "member"), [("MEMBER_ID_REQUIRED", "m-1"), ("REBALANCE_IN_PROGRESS", "")])
def test_a_member_that_has_to_join_with_an_id_is_given_it(tmp_path: Path, code: str, member: str) -> None:
    request = JoinGroupRequest(
        group_id="g", session_timeout_ms=1, rebalance_timeout_ms=1, member_id="", protocol_type="consumer", protocols=[]
    )
    joined = JoinGroupResponse(
        error_code=0, generation_id=1, protocol_name="range", leader="m-1", member_id="m-1", members=[]
    )
    assert after(tmp_path, code, request, 5, joined).member_id == member
