"""A connection ends before the broker sees a request, or before the client sees the response."""

from pathlib import Path

from plugins.faults.ledger import Result
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving


def test_an_acknowledgement_is_lost_after_the_broker_wrote(tmp_path: Path) -> None:
    text = "faults: [{name: lost-ack, match: {api: Produce}, do: {disconnect: {side: after_broker, how: reset}}}]"
    faults = FaultFile(tmp_path, text)
    talk = FaultTalk(faults, serving)
    assert talk.ask(produce("orders"), 9) is None
    assert len(talk.to_broker) == 1
    assert talk.closed == 'fault "lost-ack" disconnects the client'
    assert faults.plugin.ledger.count("lost-ack", Result.FIRED) == 1


def test_a_connection_ends_before_the_broker_sees_the_request(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {disconnect: before_broker}}]"), serving)
    assert talk.ask(produce("orders"), 9) is None
    assert (talk.to_broker, talk.closed) == ([], 'fault "fault 1" disconnects the client')


def test_an_answer_that_does_not_come_cannot_be_lost(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {disconnect: after_broker}}]")
    FaultTalk(faults, serving).ask(produce("orders", acks=0), 9)
    assert faults.told == [
        "fault 1: matched, cannot be applied: Produce v9 #1 of 192.0.2.1:50000 to broker 1: "
        "a Produce request with acks 0 has no answer"
    ]
