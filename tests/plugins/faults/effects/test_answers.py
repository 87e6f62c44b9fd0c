"""Responses after an effect: in every version that it applies to, a message that can be written and read."""

import pytest

from plugins.faults.action import FaultAction
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode, encode
from tests.plugins.faults.changed import DOING, changed, effect_of

# The fields that these change are in no version of these answers before that.
NOT_BEFORE = {
    ("aborted: missing", "Fetch"): 4,
    ("aborted: added", "Fetch"): 4,
    ("controller: none", "Metadata"): 1,
    ("controller: other", "Metadata"): 1,
    ("fenced: instance", "Heartbeat"): 3,
    ("fenced: instance", "JoinGroup"): 5,
    ("fenced: instance", "OffsetCommit"): 7,
    ("fenced: instance", "SyncGroup"): 3,
    ("fenced: instance", "TxnOffsetCommit"): 3,
    ("fenced: member", "TxnOffsetCommit"): 3,
    ("{fenced: {who: member, side: after_broker}}", "TxnOffsetCommit"): 3,
    ("read_replica: other", "Fetch"): 11,
    ("read_replica: unknown", "Fetch"): 11,
    ("recreated", "Metadata"): 10,
    **{
        (f"hint: {who}", api): since
        for who in ("older", "other", "unknown")
        for api, since in (("Produce", 10), ("Fetch", 16))
    },
    **{(f"leader_epoch: {what}", "Metadata"): 7 for what in ("newer", "older")},
    **{(f"leader_epoch: {what}", "ListOffsets"): 4 for what in ("newer", "older")},
    **{(f"leader_epoch: {what}", "OffsetFetch"): 5 for what in ("newer", "older")},
    **{(f"leader_epoch: {what}", "OffsetForLeaderEpoch"): 1 for what in ("newer", "older")},
    **{(f"offset: {by}", "ListOffsets"): 1 for by in ("-100", "none")},
}


@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_an_effect_can_be_done_to_every_version_that_has_its_fields(api: Api) -> None:
    for do, version, before, answer, why in changed(api):
        if version < NOT_BEFORE.get((do, api.name), 0):
            assert why is not None, f"{do} v{version}"
            continue
        if do == "throttle: 5s" and why is not None:
            assert why == f"{api.name} v{version} answers have no throttle_time_ms"
            continue
        assert why is None, f"{do} v{version}: {why}"
        read = decode(api.response, version, encode(answer, version))
        assert encode(read, version) == encode(answer, version), f"{do} v{version}"
        assert do == "lose" or encode(answer, version) != encode(before, version), f"{do} v{version}"


def test_every_effect_on_answers_is_tried() -> None:
    tried = {do.strip("{").partition(":")[0] for do in DOING}
    frames = {"bandwidth", "cut", "delay", "disconnect", "drip", "drop", "duplicate", "hold", "mangle", "long_poll"}
    elsewhere = {"error", "refuse", "reset", "late", "down", "expel", "fence"}
    assert tried | frames | elsewhere == set(FaultAction.model_fields)


def test_what_is_tried_is_what_a_file_says() -> None:
    assert all(effect_of(do) for do in DOING)
