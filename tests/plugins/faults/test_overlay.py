"""Faults added at run time, beside those of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plugins.faults import Faults
from plugins.faults.fault_set import FaultSet
from plugins.faults.ledger import Result
from plugins.faults.model import FaultRule, FaultsFile
from plugins.faults.overlay import MOST, Overlay, load
from proxy.plugin import StateError
from proxy.protocol.api import FETCH, PRODUCE
from proxy.testing import FakeWorker, build
from proxy.text.watched import WatchedFile
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving

DENIED = {"match": {"api": "Produce"}, "do": {"error": "TOPIC_AUTHORIZATION_FAILED"}}
FULL = {"match": {"api": "Produce"}, "do": {"error": "KAFKA_STORAGE_ERROR"}}


def state(*faults: dict[str, Any], seed: int | None = None, generation: int = 0) -> dict[str, Any]:
    return {"seed": seed, "generation": generation, "faults": list(faults)}


def take(plugin: Faults, *faults: dict[str, Any], **more: Any) -> None:
    plugin.prepare_state(state(*faults, **more))()


def wrong(plugin: Faults, *faults: dict[str, Any]) -> list[tuple[Any, str]]:
    with pytest.raises(StateError) as refused:
        plugin.prepare_state(state(*faults))
    return [(finding.path, finding.message) for finding in refused.value.findings]


def said(faults: FaultFile) -> str:
    """What a client is answered now."""
    return errors(FaultTalk(faults, serving).ask(produce("orders"), 9))["orders", 0]


def test_without_a_file_there_are_those_of_run_time(tmp_path: Path) -> None:
    plugin = build(Faults, FakeWorker(name="faults"))
    assert plugin.reads == frozenset()
    take(plugin, {"name": "denied", **DENIED})
    assert plugin.reads == {PRODUCE}
    take(plugin)
    assert plugin.reads == frozenset()


def test_those_of_the_file_are_tried_first(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Fetch}, do: hold}]")
    take(faults.plugin, {"name": "denied", **DENIED}, {"name": "full", **FULL})
    assert faults.plugin.reads == {PRODUCE, FETCH}
    assert said(faults) == "TOPIC_AUTHORIZATION_FAILED"
    faults.become("faults: [{match: {api: Produce}, do: {error: REQUEST_TIMED_OUT}}]")
    assert said(faults) == "REQUEST_TIMED_OUT"


def test_what_is_prepared_is_not_in_force_yet(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: []")
    put = faults.plugin.prepare_state(state({"name": "denied", **DENIED}))
    assert said(faults) == "NONE"
    put()
    assert said(faults) == "TOPIC_AUTHORIZATION_FAILED"


def test_one_that_stays_as_it_is_goes_on_counting_until_all_begin_anew(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: []")
    once = {"name": "once", **DENIED, "when": {"times": 1}}
    take(faults.plugin, once)
    assert said(faults) == "TOPIC_AUTHORIZATION_FAILED"
    take(faults.plugin, {"name": "other", "do": {"delay": "1ms"}}, dict(once))
    assert said(faults) == "NONE"
    take(faults.plugin, dict(once), generation=1)
    assert not faults.told
    assert said(faults) == "TOPIC_AUTHORIZATION_FAILED"


def test_one_that_is_removed_and_added_again_counts_from_0(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: []")
    for _ in range(2):
        take(faults.plugin, {"name": "once", **DENIED, "when": {"times": 1}})
        assert said(faults) == "TOPIC_AUTHORIZATION_FAILED"
        assert faults.plugin.ledger.count("once", Result.FIRED) == 1
        take(faults.plugin)
        assert said(faults) == "NONE"


def test_a_worker_that_begins_later_has_what_was_taken_before(tmp_path: Path) -> None:
    taken = state({"name": "denied", **DENIED, "when": {"after_rule": "of the file"}}, seed=8)
    plugin = build(Faults, FakeWorker(name="faults", state=taken))
    assert plugin.query("faults", {"names": None})["seed"] == 8
    assert plugin.reads == frozenset()  # it waits for one that is not there


@pytest.mark.parametrize(
    ("fault", "path", "message"),
    [
        ({"do": {"eror": "NONE"}}, ("faults", 1, "do", "eror"), 'unknown option "eror"; did you mean "error"?'),
        ({"do": "hld"}, ("faults", 1, "do"), 'unknown effect "hld"; did you mean "hold"?'),
        ({"do": {}}, ("faults", 1, "do"), "the fault does nothing; say one of"),
        ({"do": {"delay": "200"}}, ("faults", 1, "do", "delay"), '"200" is not a duration'),
        ({}, ("faults", 1), '"do" is missing'),
        ({"match": {"api": "Prodce"}, "do": "hold"}, ("faults", 1, "match", "api"), 'did you mean "Produce"?'),
        ({"match": {"topic": "a"}, "do": "refuse"}, ("faults", 1, "match", "topic"), "is done to connections"),
        (
            {"when": {"after_rule": "denid"}, "do": "hold"},
            ("faults", 1, "when", "after_rule"),
            'did you mean "denied"?',
        ),
        ({"when": {"while_rule": "new"}, "do": "hold"}, ("faults", 1, "when", "while_rule"), "wait for itself"),
    ],
)
def test_a_wrong_one_changes_nothing_and_says_where(fault: dict[str, Any], path: tuple[Any, ...], message: str) -> None:
    plugin = build(Faults, FakeWorker(name="faults"))
    ((where, told),) = wrong(plugin, {"name": "denied", **DENIED}, {"name": "new", **fault})
    assert where == path
    assert message in told
    assert plugin.reads == frozenset()


def test_all_that_is_wrong_is_said_at_once() -> None:
    plugin = build(Faults, FakeWorker(name="faults"))
    found = wrong(plugin, {"name": "one", "do": "hld"}, {"name": "two", "do": {"delay": 1}})
    assert [path for path, _ in found] == [("faults", 0, "do"), ("faults", 1, "do", "delay")]


def test_one_that_was_right_is_not_believed_where_true_stands_in_place_of_1() -> None:
    plugin = build(Faults, FakeWorker(name="faults"))
    take(plugin, {"name": "once", **DENIED, "when": {"times": 1}})
    assert wrong(plugin, {"name": "once", **DENIED, "when": {"times": True}})[0][0] == ("faults", 0, "when", "times")


def test_a_state_that_is_taken_while_another_thread_looks_at_a_changed_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults: []")
    watched = WatchedFile(str(file), load)
    overlay = Overlay(watched)
    put = overlay.prepare(state({"name": "denied", **DENIED}))
    before = overlay.file

    class ReadFaults(FaultsFile):
        """A file during whose merging a state is taken."""

        @property
        def named(self) -> dict[str, FaultRule]:
            put()
            return {}

    watched.value = before._replace(faults=ReadFaults())
    assert overlay.value  # of before or after it
    watched.value = before
    assert list(overlay.value.named) == ["denied"]


def test_there_are_so_many_and_no_more() -> None:
    plugin = build(Faults, FakeWorker(name="faults"))
    many = [{"name": f"fault-{number}", "do": "hold"} for number in range(MOST + 1)]
    assert wrong(plugin, *many)[0][0] == ("faults",)
    take(plugin, *many[1:])


def test_one_that_waits_for_a_fault_of_the_file_waits_until_that_is_there_again(tmp_path: Path) -> None:
    file = "faults: [{name: first, match: {api: Produce}, when: {times: 1}, do: {error: KAFKA_STORAGE_ERROR}}]"
    faults = FaultFile(tmp_path, file)
    waits = {"name": "second", **DENIED, "when": {"after_rule": "first"}}
    last = {"name": "third", **DENIED, "when": {"after_rule": "second", "while_rule": "first"}}
    take(faults.plugin, waits, last)
    faults.become("faults: []")
    assert said(faults) == "NONE"
    other = {"name": "other", "match": {"api": "Metadata"}, "do": "hold"}
    take(faults.plugin, waits, last, other)  # a change of others
    assert [path for path, _ in wrong(faults.plugin, last, other)] == [("faults", 0, "when", "after_rule")]
    faults.become(file)
    assert [said(faults) for _ in range(2)] == ["KAFKA_STORAGE_ERROR", "TOPIC_AUTHORIZATION_FAILED"]


def test_one_of_run_time_takes_the_place_of_one_that_the_file_brings_later(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: []")
    take(faults.plugin, {"name": "same", **DENIED})
    faults.become("faults: [{name: same, match: {api: Produce}, do: {error: KAFKA_STORAGE_ERROR}}]")
    assert said(faults) == "TOPIC_AUTHORIZATION_FAILED"


def test_a_set_knows_what_may_be_done_to_requests_and_what_to_connections(tmp_path: Path) -> None:
    faults = FaultFile(
        tmp_path, "faults: [{match: {api: [Produce, Fetch]}, do: hold}, {match: {broker: 1}, do: refuse}]"
    )
    found: FaultSet = faults.plugin._overlay.value
    assert found.apis == {PRODUCE, FETCH}
    assert [name for name, _ in found.of_requests(PRODUCE)] == ["fault 1"]
    assert [name for name, _ in found.of_connections] == ["fault 2"]


def test_metrics_have_one_name_for_all_of_run_time(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{name: of the file, match: {api: Produce}, do: {delay: 1ms}}]")
    for name in ("one", "two"):
        take(faults.plugin, {"name": name, **DENIED})
        said(faults)
    assert faults.worker.counts == {"fired{fault=of the file}": 2, "fired{fault=added at run time}": 2}
