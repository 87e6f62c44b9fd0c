"""Requests that the broker gets more than once."""

from pathlib import Path

from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


def test_the_broker_gets_it_three_times_and_the_client_one_answer(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {duplicate: 3}}]"), serving)
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "NONE"}
    assert len(talk.to_broker) == 3
    assert not talk._got


def test_what_another_fault_leaves_of_a_request_is_sent_twice(tmp_path: Path) -> None:
    text = """
        faults:
          - {match: {api: Produce}, do: {duplicate: 2}}
          - {match: {api: Produce, topic: orders}, do: {error: KAFKA_STORAGE_ERROR}}
    """
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    assert errors(talk.ask(produce("orders", "payments"), 9)) == {
        ("orders", 0): "KAFKA_STORAGE_ERROR",
        ("payments", 0): "NONE",
    }
    assert [[topic.name for topic in it.topic_data] for it in talk.to_broker] == [["payments"], ["payments"]]
