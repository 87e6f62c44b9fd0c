"""The rules noted on a connection, by which its requests are decided."""

from proxy.testing import connection
from rules.noted import NotedRules, note_rules, noted_rules


def test_what_was_noted_last_decides() -> None:
    talk = connection()
    assert noted_rules(talk) is None
    for name in ("first", "second"):
        note_rules(talk, NotedRules(lambda name=name: name, lambda *_: None))
    noted = noted_rules(talk)
    assert noted is not None
    assert noted.edition() == "second"
