"""The effects of faults on a client, from the file to the wire."""

from pathlib import Path

import pytest

from plugins.faults import Faults
from plugins.faults.replay import RECORD
from proxy.protocol.api import PRODUCE
from proxy.protocol.header import request_frame
from proxy.testing import FakeRows
from proxy.text.problems import BadFileError
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


def test_a_broker_never_sees_a_request_that_gets_an_error_before_it(tmp_path: Path) -> None:
    faults = FaultFile(
        tmp_path, "faults: [{match: {api: Produce}, when: {times: 1}, do: {error: NOT_LEADER_OR_FOLLOWER}}]"
    )
    talk = FaultTalk(faults, serving)
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "NOT_LEADER_OR_FOLLOWER"}
    assert not talk.to_broker
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "NONE"}
    assert faults.told == [
        "fault 1: fired at match 1: Produce v9 #1 of 192.0.2.1:50000 to broker 1: error",
        "fault 1: matched, not now at match 2: Produce v9 #2 of 192.0.2.1:50000 to broker 1: it fired 1 times already",
    ]
    assert faults.worker.counts == {"fired{fault=fault 1}": 1}


def test_an_error_after_the_broker_hides_what_it_did(tmp_path: Path) -> None:
    text = (
        "faults: [{match: {api: Produce, topic: orders}, do: {error: {code: REQUEST_TIMED_OUT, side: after_broker}}}]"
    )
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    answer = talk.ask(produce("orders", "payments"), 9)
    assert errors(answer) == {("orders", 0): "REQUEST_TIMED_OUT", ("payments", 0): "NONE"}
    assert [topic.partition_responses[0].base_offset for topic in answer.responses] == [-1, 42]
    assert len(talk.to_broker) == 1


def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RECORD, "/dev/full")
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {error: NOT_LEADER_OR_FOLLOWER}}]")
    FaultTalk(faults, serving).ask(produce("orders"), 9)
    ((_, record),) = faults.worker.works
    record()
    event, facts = faults.worker.lines[-1]
    assert (event, facts["why"]) == ("recording ended", "No space left on device")
    faults.plugin.stop()


def test_a_bad_file_changes_nothing(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {error: NOT_LEADER_OR_FOLLOWER}}]")
    faults.file.write_text("faults: [{do: {error: NOT_A_LEADER}}]")
    (reload,) = faults.worker.look()
    assert not reload.taken
    assert errors(FaultTalk(faults, serving).ask(produce("orders"), 9))["orders", 0] == "NOT_LEADER_OR_FOLLOWER"
    with pytest.raises(BadFileError):
        FaultFile(tmp_path, "faults: [{do: {error: NOT_A_LEADER}}]")


def test_what_is_wrong_with_the_file_is_told_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults:\n  - do: {error: NOT_LEADER_OR_FOLOWER}\n")
    (problem,) = Faults.examine(Faults.Options(rules=str(file)))
    assert str(problem).endswith(
        'faults.yaml:2:17: unknown error "NOT_LEADER_OR_FOLOWER"; did you mean "NOT_LEADER_OR_FOLLOWER"?'
    )
    (missing,) = Faults.examine(Faults.Options(rules=str(tmp_path / "none.yaml")))
    assert "there is no such file" in missing.message


def test_the_same_seed_and_the_same_client_give_the_same_ledger(tmp_path: Path) -> None:
    text = """
        seed: 7
        faults:
          - {name: error, match: {api: Produce}, when: {probability: 0.3}, do: {error: NOT_LEADER_OR_FOLLOWER}}
          - {name: slow, match: {api: Produce}, when: {after_rule: error, probability: 0.5}, do: {delay: 1ms}}
    """
    ledgers = set()
    for _ in range(100):
        faults = FaultFile(tmp_path, text)
        talk = FaultTalk(faults, serving)
        for _ in range(20):
            talk.ask(produce("orders"), 9)
        ledgers.add(tuple(faults.told))
    assert len(ledgers) == 1


def test_two_workers_that_are_asked_in_the_same_order_do_what_one_does(tmp_path: Path) -> None:
    text = """
        seed: 7
        faults:
          - {name: error, match: {api: Produce}, when: {probability: 0.3}, do: {error: NOT_LEADER_OR_FOLLOWER}}
          - {name: slow, match: {api: Produce}, when: {after_rule: error, nth: [3, 5]}, do: {delay: 1ms}}
          - {name: lost, match: {api: Produce}, when: {while_rule: slow, times: 2}, do: {drop: {}}}
    """
    done = set()
    for workers in (1, 2, 1, 2, 2):
        rows = FakeRows()
        talks = [FaultTalk(FaultFile(tmp_path, text, rows=rows), serving) for _ in range(workers)]
        trace = []
        for number in range(40):
            talk = talks[number % workers]
            before = len(talk.faults.told)
            talk.send(request_frame(produce("orders"), 9, number, "app"), PRODUCE, 9)
            trace += talk.faults.told[before:]
        done.add(tuple(trace))
    assert len(done) == 1
