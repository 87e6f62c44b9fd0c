"""Levels: the first matching entry decides how much is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.audit.levels import FORM, FULL, ClientLevels, FoundLevel, Level, LevelsFile
from proxy.plugin import CREATE_TOPICS, FETCH, HEARTBEAT, METADATA, PRODUCE
from proxy.testing import connection
from proxy.text.problems import BadFileError
from tests.plugins.audit.written import START

FILE = """\
levels:
  - {match: {topic: __*}, level: none}
  - {match: {principal: "User:bot", group: jobs-*}, level: none}
  - {match: {api: [Produce, Fetch], topic: orders, partition: 0}, level: full}
  - {match: {api: [Produce, Fetch]}, level: summary, window: 2m}
  - {level: full}
"""


def levels(tmp_path: Path, text: str, principal: str = "User:alice") -> ClientLevels:
    file = tmp_path / "audit.yaml"
    file.write_text(text)
    client = connection()
    client.principal = principal
    return ClientLevels(FORM.load(file), client)


def test_the_first_that_matches_counts(tmp_path: Path) -> None:
    of = levels(tmp_path, FILE).level
    summary = FoundLevel(Level.SUMMARY, 120.0)
    assert of(PRODUCE, 9, START, "topic", "__offsets", 0).level is Level.NONE
    assert of(PRODUCE, 9, START, "topic", "orders", 0).level is Level.FULL
    assert of(PRODUCE, 9, START, "topic", "orders", 1) == summary
    assert of(FETCH, 9, START) == summary
    assert of(METADATA, 9, START, "topic", "orders").level is Level.FULL
    assert of(HEARTBEAT, 4, START, "group", "jobs-1").level is Level.FULL
    assert levels(tmp_path, FILE, "User:bot").level(HEARTBEAT, 4, START, "group", "jobs-1").level is Level.NONE
    assert of(CREATE_TOPICS, 5, START, "broker", "1").level is Level.FULL


@pytest.mark.parametrize(
    ("entries", "level"),
    [
        ("{match: {topic: orders}, level: full}, {level: none}", Level.FULL),
        ("{match: {topic: __*}, level: none}, {level: summary}, {level: full}", Level.SUMMARY),
        ("{match: {topic: __*}, level: none}", Level.FULL),
        ("{match: {topic: orders, group: g}, level: full}, {level: none}", Level.NONE),
        ("{match: {topic: orders, partition: 7}, level: full}, {level: none}", Level.NONE),
        ("{match: {topic: orders, api: Produce}, level: full}, {level: none}", Level.NONE),
        ("{match: {during: {hours: 08:00-09:00}}, level: full}, {level: none}", Level.NONE),
        ("{match: {topic: orders, during: {hours: 12:00-14:00}}, level: full}, {level: none}", Level.FULL),
    ],
)
def test_a_topic_without_a_name_has_the_highest_level_that_it_may_have(
    tmp_path: Path, entries: str, level: Level
) -> None:
    (tmp_path / "audit.yaml").write_text(f"levels: [{entries}]\n")
    of = ClientLevels(FORM.load(tmp_path / "audit.yaml"), connection())
    for _ in range(2):
        assert of.level(FETCH, 13, START + 5 * 3600, "topic", None, 0).level is level, "at 13 o'clock"


def test_what_nothing_matches_is_told_in_full() -> None:
    assert ClientLevels(LevelsFile(), connection()).level(PRODUCE, 9, START, "topic", "t", 0) == FULL


def test_partitions_are_told_apart_only_where_an_entry_does(tmp_path: Path) -> None:
    of = levels(tmp_path, "levels: [{match: {topic: orders}, level: summary}]")
    for partition in range(100):
        of.level(PRODUCE, 9, START, "topic", "orders", partition)
    assert len(of._known) == 1


def test_what_is_remembered_is_bounded(tmp_path: Path) -> None:
    of = levels(tmp_path, FILE)
    for number in range(3_000):
        of.level(PRODUCE, 9, START, "topic", f"t-{number}", 0)
    assert len(of._known) <= 1_000
    of._known.clear()
    of.level(PRODUCE, 9, START, "topic", "t" * 32_000, 0)
    assert not of._known, "names that no topic has are not kept"


def test_a_level_may_hold_at_times(tmp_path: Path) -> None:
    file = tmp_path / "audit.yaml"
    file.write_text("levels: [{match: {during: {hours: 08:00-09:00}}, level: none}, {level: summary}]\n")
    of = ClientLevels(FORM.load(file), connection())
    times = (START, START + 3600, START + 24 * 3600)  # 8 o'clock, 9, and 8 on the next day
    found = [of.level(PRODUCE, 9, at, "topic", "t", 0).level for at in times]
    assert found == [Level.NONE, Level.SUMMARY, Level.NONE]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("levels: [{level: sumary}]", 'unknown level "sumary"; did you mean "summary"?'),
        ("levels: [{match: {topc: x}, level: none}]", "topc"),
        ("levels: [{level: summary, window: 10ms}]", "a window is no shorter than a second"),
        ("levels: [{match: {api: Prodce}, level: none}]", 'did you mean "Produce"?'),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "audit.yaml"
    file.write_text(text)
    with pytest.raises(BadFileError) as caught:
        FORM.load(file)
    assert f"{file}:1:" in str(caught.value)
    assert said in str(caught.value)


def test_the_longest_window_is_what_a_killed_writer_may_lose(tmp_path: Path) -> None:
    file = tmp_path / "audit.yaml"
    file.write_text(FILE)
    assert FORM.load(file).longest_window == 120.0
    assert LevelsFile().longest_window == 0.0
