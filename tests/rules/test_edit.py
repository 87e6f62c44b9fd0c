"""Editing rules files: requested changes are made, and everything else stays."""

from __future__ import annotations

import random

import pytest

from rules import Snapshot, examine_text
from rules.bindings import Binding, bindings, rules
from rules.edit import Edited, EditError, edited, said
from rules.model import AclFile, AclRule
from rules.values import Pattern
from rules.vocabulary import Operation, PatternType, Permission, ResourceType
from rules.write import file_text, options
from tests.rules import authorizer

TEXT = """\
# Ours. Ask Ada before you change anything.
super_users: [User:admin]
acls:
  # The shop.
  - allow: [User:shop, "User:till"]   # till goes in May
    to: [Read, Write]
    topics: [orders, payments-*]

  - {allow: User:ana, to: Read, topics: orders, client_id: report-*}  # reports alone
  - allow: User:ana
    to: Read
    topics: orders
    from: [10.0.0.0/8, 192.168.1.1]   # from inside
"""


def snapshot(text: str, environment: dict[str, str] | None = None) -> Snapshot:
    found, problems = examine_text(text, "acl.yaml", environment or {})
    assert found is not None, problems
    return found


def edit(text: str, *added: Binding, removed: tuple[Binding, ...] = ()) -> Edited:
    return edited(text, snapshot(text), {}, added, removed)


def acl(
    principal: str, operation: Operation, topic: str, prefixed: bool = False, host: str = "*", deny: bool = False
) -> Binding:
    pattern = Pattern(PatternType.PREFIXED if prefixed else PatternType.LITERAL, topic)
    permission = Permission.DENY if deny else Permission.ALLOW
    return Binding(ResourceType.TOPIC, pattern, principal, host, operation, permission)


def test_new_acls_are_rules_at_the_end_of_the_file() -> None:
    new = [acl("User:new", operation, "a*b") for operation in (Operation.READ, Operation.WRITE)]
    assert edit(TEXT, *new, new[0]).text == TEXT + (
        "  - allow: User:new\n    to: [Read, Write]\n    topics: {literal: a*b}\n"
    )


def test_an_acl_that_is_there_changes_nothing() -> None:
    assert edit(TEXT, acl("User:till", Operation.WRITE, "payments-", prefixed=True)).text == TEXT


def test_of_a_rule_that_stands_for_many_acls_the_others_stay() -> None:
    gone = acl("User:till", Operation.WRITE, "orders")
    changed = edit(TEXT, removed=(gone,))
    assert said(changed.snapshot.file) == said(snapshot(TEXT).file) - {gone}
    assert changed.text == TEXT.replace(
        '  - allow: [User:shop, "User:till"]   # till goes in May\n    to: [Read, Write]\n'
        "    topics: [orders, payments-*]\n",
        "  # till goes in May\n  - allow: User:shop\n    to: [Read, Write]\n    topics: [orders, payments-*]\n"
        "  - allow: User:till\n    to: Read\n    topics: orders\n"
        "  - allow: User:till\n    to: [Read, Write]\n    topics: payments-*\n",
    )


def test_a_rule_of_which_nothing_is_left_goes_and_what_people_wrote_stays() -> None:
    (shop, *_) = snapshot(TEXT).file.acls
    changed = edit(TEXT, removed=tuple(bindings(shop)))
    assert changed.text == (
        "# Ours. Ask Ada before you change anything.\nsuper_users: [User:admin]\nacls:\n  # The shop.\n"
        "  # till goes in May\n\n" + TEXT.partition("payments-*]\n\n")[2]
    )


def test_a_rule_with_a_condition_of_ours_is_no_acl_and_is_never_touched() -> None:
    plain = acl("User:ana", Operation.READ, "orders")
    assert plain not in said(snapshot(TEXT).file)
    assert edit(TEXT, removed=(plain, acl("User:ana", Operation.READ, "orders", host="192.168.1.1"))).text == TEXT
    both = edit(TEXT, plain)
    assert plain in said(both.snapshot.file)
    assert edit(both.text, removed=(plain,)).text == TEXT


def test_values_from_the_environment_stay_references_where_a_rule_stays() -> None:
    text = "acls:\n  - {allow: '${WHO}', to: Read, topics: t}\n"
    environment = {"WHO": "User:a"}
    changed = edited(text, snapshot(text, environment), environment, [acl("User:${x}", Operation.READ, "$t")])
    assert changed.text == f'{text}  - allow: "User:$${{x}}"\n    to: Read\n    topics: "$$t"\n'
    assert said(changed.snapshot.file) == {acl("User:a", Operation.READ, "t"), acl("User:${x}", Operation.READ, "$t")}


def test_what_cannot_be_edited_is_an_error_with_a_way_out() -> None:
    text = "{super_users: User:admin}\n"
    with pytest.raises(EditError, match=r'edit it by hand, or write "acls:" as a list in lines') as error:
        edit("{unmatched: deny}\n", acl("User:a", Operation.READ, "t"))
    assert "the edited file:" in str(error.value)
    assert edit(f"acls: []\n# {text}", acl("User:a", Operation.READ, "t")).text


@pytest.mark.parametrize("begins", ["? acls\n: ", "acls: &anchor\n", "acls:\r"])
def test_a_rule_whose_dash_is_not_found_is_an_error_with_a_way_out(begins: str) -> None:
    text = f"{begins}- {{allow: User:a, to: Read, topics: t}}\n"
    with pytest.raises(EditError, match=r'"-" of item 1 under "acls" was not found \(edit it by hand'):
        edit(text, removed=(acl("User:a", Operation.READ, "t"),))


def test_any_acls_come_and_go_in_any_order() -> None:
    dice = random.Random(5)
    for _ in range(60):
        there = set(authorizer.case(dice, 0).bindings)
        some = tuple(authorizer.case(dice, 0).bindings)
        text = file_text(AclFile.model_construct(super_users=(), unmatched="deny", acls=tuple(rules(there))))
        for _ in range(3):
            removed = {one for one in there if dice.random() < 0.3}
            added = {one for one in some if dice.random() < 0.3}
            changed = edit(text, *added, removed=tuple(removed - added))
            there = (there - removed) | added
            assert said(changed.snapshot.file) == there
            assert said(snapshot(changed.text).file) == there
            text = changed.text


def test_what_would_be_too_large_a_file_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    there = snapshot(TEXT)
    monkeypatch.setattr("rules.edit.examine_text", lambda *_: pytest.fail("it is read"))
    almost = TEXT + f"# {'x' * (16 << 20)}"[: (16 << 20) - len(TEXT)]
    with pytest.raises(EditError, match="it would have more than 16 MiB; take rules out"):
        edited(almost, there, {}, [acl("User:new", Operation.READ, "t")])


def test_rules_that_alone_are_too_large_do_not_become_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[AclRule] = []

    def noted(rule: AclRule) -> list[str]:
        written.append(rule)
        return options(rule)

    monkeypatch.setattr("rules.edit.options", noted)
    monkeypatch.setattr("rules.edit.rewritten", lambda *_: pytest.fail("it becomes a text"))
    new = [acl(f"User:{number}", Operation.READ, "x" * (2 << 20)) for number in range(50)]
    with pytest.raises(EditError, match="it would have more than 16 MiB; take rules out"):
        edited(TEXT, snapshot(TEXT), {}, new)
    assert len(written) == 8
