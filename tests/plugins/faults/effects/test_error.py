"""An error stands at the level that was asked for, and what stands beside it is what brokers leave there."""

import pytest

from plugins.faults.effect import FaultSide
from plugins.faults.effects.error import LEVELS
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode, encode
from tests.plugins.faults.injected import injected, says

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
