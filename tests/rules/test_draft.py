"""Drafts: rules with changes that are not in force."""

from rules import Client, Operation, ResourceType, Snapshot, examine_text
from rules.draft import Draft
from rules.model import AclRule

TEXT = """\
super_users: [User:r, User:s]
acls:
  - {allow: User:a, to: Read, topics: t}
  - {deny: User:b, to: Read, topics: t}
"""
OTHER = AclRule.model_validate({"allow": "User:c", "to": "Read", "topics": "t"})


def snapshot() -> Snapshot:
    found, problems = examine_text(TEXT, "acl.yaml", {})
    assert found is not None, problems
    return found


def may(draft: Draft) -> list[str]:
    rules = draft.snapshot()
    names = ("User:a", "User:b", "User:c", "User:r", "User:s")
    return [it for it in names if rules.decide(Client(it), Operation.READ, ResourceType.TOPIC, "t").allowed]


def test_a_draft_decides_as_if_it_were_in_force_and_what_it_is_of_stays() -> None:
    whole = snapshot()
    draft = Draft.of(whole)
    assert may(draft) == ["User:a", "User:r", "User:s"]
    assert may(draft.instead(whole.rules[0], OTHER)) == ["User:c", "User:r", "User:s"]
    assert may(draft.without(whole.rules[0])) == ["User:r", "User:s"]
    assert may(draft.also(OTHER)) == ["User:a", "User:c", "User:r", "User:s"]
    assert may(draft.without_super_user("User:r")) == ["User:a", "User:s"]
    assert may(Draft.of(whole)) == ["User:a", "User:r", "User:s"]


def test_a_rule_that_is_changed_stays_where_it_was() -> None:
    whole = snapshot()
    changed = Draft.of(whole).instead(whole.rules[1], OTHER).rules[1]
    assert (changed.index, changed.place) == (1, (4, 5))
