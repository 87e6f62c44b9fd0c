"""Words for people."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.words import named, nearest, nearest_word, printable_json, shown, wrong


def test_a_refusal_is_a_fact_and_a_way_out() -> None:
    assert wrong("fact", "way out").message() == "fact; way out"


def test_the_nearest_word_ignores_case_and_hyphens() -> None:
    assert nearest_word("First-Frame", ["idle", "first_frame"]) == "first_frame"
    assert nearest("Raed", ["Read", "Write"]) == 'did you mean "Read"?'
    assert nearest("zzz", ["Read", "Write"]) == "known here: Read, Write"
    assert nearest("zzz", []) == ""


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("NOT_LEDER", "NOT_LEADER_OR_FOLLOWER"),
        ("throttled", "THROTTLING_QUOTA_EXCEEDED"),
        ("NETWORK", "NETWORK_EXCEPTION"),
        ("not-coordinater", "NOT_COORDINATOR"),
        ("NOT", None),
    ],
)
def test_a_misspelt_word_may_be_the_beginning_of_a_longer_one(word: str, meant: str | None) -> None:
    known = ["NOT_CONTROLLER", "NOT_COORDINATOR", "NOT_LEADER_OR_FOLLOWER", "NETWORK_EXCEPTION", "OFFSET_OUT_OF_RANGE"]
    assert nearest_word(word, [*known, "THROTTLING_QUOTA_EXCEEDED"]) == meant


def test_a_word_that_is_as_like_comes_before_a_longer_one() -> None:
    assert nearest_word("time", ["timestamps", "times"]) == "times"
    assert nearest_word("fenced", ["FENCED_INSTANCE_ID", "FENCED_LEADER_EPOCH"]) == "FENCED_INSTANCE_ID"
    assert nearest_word("leader_flpa", ["leader-election", "leader-flap"]) == "leader-flap"


def test_of_very_many_words_some_are_listed() -> None:
    told = nearest("w1", (f"w-{number}" for number in range(1_000_000_000)))
    assert told == "known here: w-0, w-1, w-2, w-3, w-4, w-5, w-6, w-7, w-8, w-9, and many more"


def test_a_value_is_shown_short_and_as_yaml_writes_it() -> None:
    assert shown(True) == "true"
    assert shown(None) == "nothing"
    assert shown({}) == "a mapping"
    assert len(shown("x" * 1000)) < 70


@pytest.mark.parametrize("name", ["password:hunter2", "key_password=hunter2", "client_secret hunter2"])
def test_a_secret_that_a_typo_made_a_part_of_a_name_is_not_shown(name: str) -> None:
    assert named(name) == name[:-8] + "..."


@pytest.mark.parametrize("name", ["password", "User:alice", "pass word"])
def test_any_other_name_is_shown(name: str) -> None:
    assert named(name) == name


@given(st.text(st.characters() | st.sampled_from("\x7f\x9b\u2028\u202e\ud800\U000e0001")))
def test_printable_json_means_the_same_and_moves_no_cursor(text: str) -> None:
    for is_ascii in (True, False):
        written = printable_json(json.dumps({text: [text]}, ensure_ascii=is_ascii))
        assert written.isprintable()
        assert json.loads(written) == {text: [text]}


def test_printable_json_leaves_letters_of_any_language() -> None:
    assert printable_json('"é日\x9b\U000e0001"') == r'"é日\u009b\udb40\udc01"'
