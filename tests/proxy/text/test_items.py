"""Changing items of a list in a file that people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.items import rewritten
from proxy.text.yaml_document import read

NEW = ["allow: User:n", "to: Read"]
LINES = """\
# top: é𝄞
super_users: ["#admin"]  # who is this?
acls:
  # about a
  - allow: User:a   # a's own
    # inside
    topics: "x # y"

  - {allow: User:b, topics: "${T:-a,b}"} # b's own
  -
    allow: User:c
    topics: [a,
       b] # end of c
# end
unmatched: deny
"""


def test_what_is_added_stands_at_the_end_of_the_list() -> None:
    assert rewritten(LINES, "acls", {}, [NEW]) == LINES.replace(
        "# end of c\n", "# end of c\n  - allow: User:n\n    to: Read\n"
    )


def test_what_is_said_anew_stands_where_it_was_and_its_comments_above_it() -> None:
    assert rewritten(LINES, "acls", {0: [NEW, ["deny: x"]]}, []) == LINES.replace(
        '  - allow: User:a   # a\'s own\n    # inside\n    topics: "x # y"\n',
        "  # a's own\n  # inside\n  - allow: User:n\n    to: Read\n  - deny: x\n",
    )


def test_what_goes_leaves_its_comments() -> None:
    gone = rewritten(LINES, "acls", {0: [], 1: [], 2: []}, [])
    assert gone == (
        '# top: é𝄞\nsuper_users: ["#admin"]  # who is this?\nacls:\n  # about a\n  # a\'s own\n  # inside\n\n'
        "  # b's own\n  # end of c\n# end\nunmatched: deny\n"
    )


def test_all_at_once_is_one_after_the_other() -> None:
    at_once = rewritten(LINES, "acls", {0: [], 2: [NEW]}, [["deny: x"]])
    step = rewritten(rewritten(LINES, "acls", {2: [NEW]}, []), "acls", {}, [["deny: x"]])
    assert at_once == rewritten(step, "acls", {0: []}, [])


@pytest.mark.parametrize("text", [LINES, "acls: [] # none\n", "acls: # none\n", "a: b\n"])
def test_line_ends_of_windows_stay(text: str) -> None:
    changed = rewritten(text, "acls", {}, [NEW])
    assert rewritten(text.replace("\n", "\r\n"), "acls", {}, [NEW]) == changed.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("acls: []", "acls: [{a: b}]"),
        ("acls: [ # none\n]\n", "acls: [{a: b} # none\n]\n"),
        ("acls: [{c: d}, # c\n {e: f}]\n", "acls: [{a: b}, {c: d}, # c\n {e: f}]\n"),
        ("{acls: [], x: y}\n", "{acls: [{a: b}], x: y}\n"),
        ("acls:", "acls:\n  - a: b\n"),
        ("acls: ~ # none\nx: y\n", "acls:  # none\n  - a: b\nx: y\n"),
        ("x: [y]", "x: [y]\nacls:\n  - a: b\n"),
        ("x:\n  - y\n...\n", "x:\n  - y\nacls:\n  - a: b\n...\n"),
        ("acls:\n- c: d", "acls:\n- c: d\n- a: b\n"),
        ("acls:\n- c: |\n    text\n- e: f\n", "acls:\n- c: |\n    text\n- e: f\n- a: b\n"),
        ("acls:\n- c: |\n    text\n", "acls:\n- c: |\n    text\n- a: b\n"),
    ],
)
def test_every_way_to_write_a_list_takes_one_more(text: str, result: str) -> None:
    assert rewritten(text, "acls", {}, [["a: b"]]) == result


@pytest.mark.parametrize(
    ("instead", "result"),
    [
        ({0: []}, "acls: [{c: d}]"),
        ({1: []}, "acls: [{a: b}, ]"),
        ({0: [], 1: []}, "acls: []"),
        ({0: [["e: f"], ["g: h"]]}, "acls: [{e: f}, {g: h}, {c: d}]"),
    ],
)
def test_a_list_in_brackets_stays_one(instead: dict[int, list[list[str]]], result: str) -> None:
    assert rewritten("acls: [{a: b}, {c: d}]", "acls", instead, []) == result


def test_comments_in_brackets_stay_too() -> None:
    text = "acls: [{a: b, # one\n  c: d}, # two\n  {e: f}]\n"
    assert rewritten(text, "acls", {0: []}, []) == "acls: [\n  # one\n  # two\n  {e: f}]\n"
    assert rewritten(text, "acls", {0: [["x: y"]]}, []) == "acls: [\n  # one\n  {x: y}, # two\n  {e: f}]\n"


@given(
    st.lists(st.sampled_from(("- a: b", "- {c: d}  # c", "-\n  e: '#'", "- g: |\n    #h", "-  i: [1,\n   # k\n   2]"))),
    st.sets(st.integers(0, 9)),
    st.integers(0, 2),
)
def test_any_list_says_what_it_shall(items: list[str], gone: set[int], added: int) -> None:
    text = "x: y\nacls:\n" + "".join(f"{item}\n# after {number}\n" for number, item in enumerate(items)) + "z: 1\n"
    gone &= set(range(len(items)))
    before = read(text, {}).value
    changed = rewritten(text, "acls", {index: [] for index in gone}, [["n: m"]] * added)
    after = read(changed, {})
    assert not after.problems
    left = tuple(value for index, value in enumerate(before["acls"] or ()) if index not in gone)
    assert after.value == before | {"acls": left + ({"n": "m"},) * added or None}
    assert sorted(line for line in changed.splitlines() if line.startswith("# after")) == sorted(
        f"# after {number}" for number in range(len(items))
    )
    assert changed.count("# c") == sum("# c" in item for item in items)
    assert changed.count("# k") == sum("# k" in item for item in items)
