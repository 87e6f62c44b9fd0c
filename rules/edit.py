"""Editing a file of rules: Kafka's ACLs are added and removed, and the rest stays as a person wrote it.

Rules:
* Only rules in Kafka's own terms are edited. A rule with a condition of ours (`AclRule.ours`) says what no ACL can say:
  it is never changed, and stands for no ACL.
* A rule that stands for many ACLs, of which some are removed, is replaced by a few rules that stand for the others.
* New ACLs become new rules at the end of the file. An ACL that a rule stands for already changes nothing.
* An edit that would make too large a file is refused before its text is made, or at the latest before it is read.
* The edited text is read again and compared: the requested ACLs have changed, and nothing else has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from proxy.text.environment import Variables
from proxy.text.items import UnforeseenError, rewritten
from rules.bindings import Binding, bindings, rules
from rules.load import FORM, examine_text
from rules.model import AclFile, AclRule
from rules.snapshot import Snapshot
from rules.write import options


class EditError(Exception):
    """A file of rules cannot be edited. The text says what to do about it."""


class Edited(NamedTuple):
    """The new text of a file, and what it says."""

    text: str
    snapshot: Snapshot


def said(file: AclFile) -> set[Binding]:
    """All ACLs that the rules stand for."""
    return {binding for acl in file.acls if not acl.ours for binding in bindings(acl)}


def edited(
    text: str,
    snapshot: Snapshot,
    environment: Variables,
    added: Iterable[Binding] = (),
    removed: Collection[Binding] = (),
) -> Edited:
    """The text of a file with ACLs added and others removed; `snapshot` is what it says before. Raises EditError."""
    there = said(snapshot.file)
    gone = frozenset(removed)
    new = dict.fromkeys(binding for binding in added if binding not in there)
    fewer = {
        index: rules(one for one in bindings(acl) if one not in gone)
        for index, acl in enumerate(snapshot.file.acls)
        if gone and not acl.ours and not gone.isdisjoint(bindings(acl))
    }
    room = _Room()
    instead = {index: room.written(acls) for index, acls in fewer.items()}
    try:
        result = rewritten(text, "acls", instead, room.written(rules(new)))
    except UnforeseenError as error:
        raise EditError(f"{error} ({_WAY_OUT})") from None
    _fits(len(result.encode()))
    after, problems = examine_text(result, "the edited file", environment)
    if after is None:
        raise EditError(f"{next(problem for problem in problems if not problem.warning)} ({_WAY_OUT})")
    if said(after.file) != (there - gone) | new.keys() or _else(after.file) != _else(snapshot.file):
        raise EditError(f"the edited file would not say what it shall ({_WAY_OUT})")
    return Edited(result, after)


class _Room:
    """Counts what one edit writes."""

    def __init__(self) -> None:
        self._taken = 0

    def written(self, acls: Iterable[AclRule]) -> list[list[str]]:
        """The lines of these rules. Raises EditError as soon as all that was written is too large for a file."""
        written = []
        for acl in acls:
            written.append(options(acl))
            self._taken += sum(map(len, written[-1]))
            _fits(self._taken)
        return written


def _fits(size: int) -> None:
    if size > FORM.largest:
        raise EditError(f"it would have more than {FORM.largest >> 20} MiB; take rules out")


_WAY_OUT = 'edit it by hand, or write "acls:" as a list in lines, one rule to each "-"'


def _else(file: AclFile) -> tuple[object, list[AclRule]]:
    """The parts of a file that an edit must not change."""
    return (file.super_users, file.unmatched), [acl for acl in file.acls if acl.ours]
