"""Producers become zombies."""

from pathlib import Path
from typing import Any

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.plugins.faults.members import end_txn
from tests.plugins.faults.talking import FaultFile, FaultTalk, serving

FAULT = "faults: [{match: {transactional_id: t}, do: fence}]"


class Coordinator:
    """It takes back the open transaction first, which takes so many questions."""

    def __init__(self, busy: int) -> None:
        self.busy = busy

    def __call__(self, request: Any, version: int) -> Any:
        if not isinstance(request, InitProducerIdRequest):
            return serving(request, version)
        self.busy -= 1
        code = ErrorCode.CONCURRENT_TRANSACTIONS if self.busy >= 0 else ErrorCode.NONE
        return InitProducerIdResponse(throttle_time_ms=0, error_code=code, producer_id=7, producer_epoch=2)


def test_another_producer_takes_the_id_before_the_request_arrives(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), Coordinator(busy=0))
    talk.ask(end_txn(), 3)
    taken, asked = talk.to_broker
    assert (taken.transactional_id, taken.producer_id) == ("t", -1)
    assert asked == end_txn()


def test_it_waits_until_the_open_transaction_is_taken_back(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), Coordinator(busy=2))
    talk.ask(end_txn(), 3)
    assert talk.slept == [0.05, 0.05]
    assert len(talk.to_broker) == 4


def test_a_coordinator_that_is_never_done_is_not_asked_for_ever(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), Coordinator(busy=1_000))
    assert talk.ask(end_txn(), 3).error_code == 0
    assert len(talk.to_broker) == 101
