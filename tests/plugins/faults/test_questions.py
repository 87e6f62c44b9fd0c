"""A worker reports its faults, and how often they fired."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.faults.ledger import Result
from plugins.faults.questions import RESULTS
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving

FILE = """
seed: 7
faults:
  - {name: once, match: {api: Produce}, when: {times: 1}, do: {delay: 1ms}}
  - {match: {api: Fetch}, when: {from: 10s, for: 5s}, do: {empty: {}}}
"""


@pytest.fixture
def faults(tmp_path: Path) -> FaultFile:
    found = FaultFile(tmp_path, FILE)
    talk = FaultTalk(found, serving)
    for _ in range(3):
        talk.ask(produce("orders"), 9)
    return found


def test_it_says_what_stands_in_the_file_and_how_often_each_matched_and_fired(faults: FaultFile) -> None:
    once = {"name": "once", "match": {"api": "Produce"}, "when": {"times": 1}, "do": {"delay": "1ms"}}
    empty = {"match": {"api": "Fetch"}, "when": {"from": "10s", "for": "5s"}, "do": {"empty": {}}}
    assert faults.plugin.query("faults", {"names": None}) == {
        "seed": 7,
        "file": [{"name": "once", "fault": once}, {"name": "fault 2", "fault": empty}],
        "counts": {"once": [3, 1], "fault 2": [0, 0]},
        "ends": {"fault 2": 1_700_000_015.0},
    }
    assert faults.plugin.query("faults", {"names": ["fault 2"]})["counts"] == {"fault 2": [0, 0]}
    assert faults.plugin.query("in_file", {"names": ["once", "none"]}) == ["once"]


def test_the_ledger_is_read_on_by_its_life(faults: FaultFile) -> None:
    page = faults.plugin.query("ledger", {"after": {}, "limit": 2})
    assert [entry["correlation_id"] for entry in page["entries"]] == [1, 2]
    assert page["entries"][0] == {
        "time": 1_700_000_000.0,
        "fault": "once",
        "result": "fired",
        "effect": "delay",
        "match": 1,
        "client": "192.0.2.1:50000",
        "client_id": "app",
        "connection": page["entries"][0]["connection"],
        "broker": 1,
        "api": "Produce",
        "version": 9,
        "correlation_id": 1,
    }
    rest = faults.plugin.query("ledger", {"after": {page["life"]: page["after"]}, "limit": 2})
    assert [entry["why"] for entry in rest["entries"]] == ["it fired 1 times already"]
    assert faults.plugin.query("ledger", {"after": {"another life": 3}, "limit": 9})["after"] == 3


def test_two_plugins_have_lives_of_their_own(faults: FaultFile, tmp_path: Path) -> None:
    lives = [
        each.plugin.query("ledger", {"after": {}, "limit": 1})["life"] for each in (faults, FaultFile(tmp_path, FILE))
    ]
    assert len(set(lives)) == 2


def test_every_result_has_a_word_and_an_unknown_question_is_a_bug(faults: FaultFile) -> None:
    assert RESULTS.keys() == set(Result)
    with pytest.raises(KeyError):
        faults.plugin.query("nonsense", {})
