"""Words for people."""

from proxy.text.words import nearest, nearest_word, shown, wrong


def test_a_refusal_is_a_fact_and_a_way_out() -> None:
    assert wrong("fact", "way out").message() == "fact; way out"


def test_the_nearest_word_ignores_case_and_hyphens() -> None:
    assert nearest_word("First-Frame", ["idle", "first_frame"]) == "first_frame"
    assert nearest("Raed", ["Read", "Write"]) == 'did you mean "Read"?'
    assert nearest("zzz", ["Read", "Write"]) == "known here: Read, Write"
    assert nearest("zzz", []) == ""


def test_a_value_is_shown_short_and_as_yaml_writes_it() -> None:
    assert shown(True) == "true"
    assert shown(None) == "nothing"
    assert shown({}) == "a mapping"
    assert len(shown("x" * 1000)) < 70
