"""A new file replaces the one in force, between two requests."""

from pathlib import Path

import pytest

from plugins.faults.in_force import FaultsInForce
from plugins.faults.overlay import Overlay, load
from proxy.protocol.api import API_VERSIONS, FETCH, HEARTBEAT, METADATA, PRODUCE
from proxy.testing import FakeRows, FakeWorker
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


def test_another_file_is_taken_and_a_fault_that_stays_goes_on_counting(tmp_path: Path) -> None:
    stays = "{name: stays, match: {api: Produce}, when: {times: 1}, do: {error: NOT_LEADER_OR_FOLLOWER}}"
    faults = FaultFile(tmp_path, f"faults: [{stays}]")
    talk = FaultTalk(faults, serving)
    assert errors(talk.ask(produce("orders"), 9))["orders", 0] != "NONE"
    faults.become(f"faults: [{stays}, {{match: {{api: Produce}}, do: {{error: KAFKA_STORAGE_ERROR}}}}]")
    assert errors(talk.ask(produce("orders"), 9))["orders", 0] == "KAFKA_STORAGE_ERROR"
    faults.become(f"seed: 8\nfaults: [{stays}]")
    assert errors(talk.ask(produce("orders"), 9))["orders", 0] == "NOT_LEADER_OR_FOLLOWER"


def test_a_plugin_that_went_and_comes_back_counts_anew(tmp_path: Path) -> None:
    rows = FakeRows()
    for _ in range(2):
        once = "faults: [{name: once, match: {api: Produce}, when: {times: 1}, do: {error: NOT_LEADER_OR_FOLLOWER}}]"
        faults = FaultFile(tmp_path, once, rows=rows)
        assert errors(FaultTalk(faults, serving).ask(produce("orders"), 9))["orders", 0] == "NOT_LEADER_OR_FOLLOWER"
        faults.plugin.stop()


@pytest.mark.parametrize("generation", [1, 2])
def test_a_fault_does_not_fire_at_the_answer_to_a_request_from_before_it_came(tmp_path: Path, generation: int) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, when: {nth: 9}, do: {delay: 1ms}}]")
    late = {
        "name": "late",
        "match": {"api": "Produce"},
        "when": {"times": 1},
        "do": {"error": {"code": "REQUEST_TIMED_OUT", "side": "after_broker"}},
    }

    def become(generation: int, *added: object) -> None:
        faults.plugin.prepare_state({"seed": 7, "generation": generation, "faults": list(added)})()
        talk.link.forget()

    talk = FaultTalk(faults)
    become(1, late)
    talk.ask(produce("orders"), 9)
    become(generation)
    become(generation, late)
    talk.ask(produce("orders"), 9)
    answers = [talk.answer(serving(request, 9)) for request in talk.to_broker]
    assert [errors(answer)["orders", 0] for answer in answers] == ["NONE", "REQUEST_TIMED_OUT"]
    assert faults.plugin.ledger.numbers("late") == (1, 1)


def test_only_apis_that_faults_are_about_are_read(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults: [{match: {api: [Produce, Fetch]}, do: hold}, {match: {broker: 1}, do: refuse}]")
    worker = FakeWorker()
    faults = FaultsInForce(Overlay(worker.watch("faults", file, load)), worker.services())
    assert faults.apis == {PRODUCE, FETCH}
    assert [name for name, _ in faults.follow().of_requests(PRODUCE)] == ["fault 1"]
    assert [name for name, _ in faults.of_connections()] == ["fault 2"]


def test_only_apis_that_tell_of_what_a_fault_names_are_read(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {group: g}, do: hold}]")
    assert HEARTBEAT in faults.plugin.reads
    assert not faults.plugin.reads & {PRODUCE, FETCH, API_VERSIONS}
    faults.become("faults: [{match: {topic: t, partition: 1}, do: hold}]")
    assert faults.plugin.reads >= {PRODUCE, FETCH, METADATA}
    assert not faults.plugin.reads & {HEARTBEAT, API_VERSIONS}


def test_what_is_read_follows_the_file(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: hold}]")
    assert faults.plugin.reads == {PRODUCE}
    faults.become("faults: [{match: {api: [Produce, Fetch]}, do: hold}]")
    assert faults.plugin.reads == {PRODUCE, FETCH}
