"""ACL index: all ACLs of one snapshot of the rules, sorted once, and found by a name or a principal.

Rules:
* An index is made when a client first asks about that snapshot, and goes with it. It takes about 200 bytes for an ACL.
* A filter with a name or a principal looks only at the ACLs of that name or principal, whichever are fewer. So a
  question costs what it matches, however many other ACLs there are.
* A filter with neither looks at all ACLs.
* ACLs of rules with conditions of ours (`AclRule.ours`) are no ACLs of Kafka's, and stand apart from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import islice
from weakref import WeakKeyDictionary

from plugins.acl.acl_filters import MATCH, Filter
from rules import Snapshot
from rules.bindings import Binding, bindings
from rules.edit import said
from rules.model import AclFile
from rules.vocabulary import WILDCARD, PatternType

PORTION = 5_000  # ACLs; sorting them takes 10 ms


class AclIndex:
    """ACLs in their order. `lengths`: of all prefixes."""

    def __init__(self, acls: Iterable[Binding]) -> None:
        self._all = list(merge(*map(sorted, _in_portions(acls))))
        self._by_name: defaultdict[str, list[Binding]] = defaultdict(list)
        self._by_principal: defaultdict[str, list[Binding]] = defaultdict(list)
        for acl in self._all:
            self._by_name[acl.pattern.name].append(acl)
            self._by_principal[acl.principal].append(acl)
        patterns = {acl.pattern for acl in self._all}
        self.lengths = sorted({len(each.name) for each in patterns if each.type is PatternType.PREFIXED})

    def near(self, one: Filter) -> Sequence[Binding]:
        """The ACLs among which are all that a filter matches. Those about one resource stand together."""
        found: Sequence[Binding] = self._all
        if one.principal_filter is not None:
            found = self._by_principal.get(one.principal_filter, ())
        if one.resource_name_filter is not None:
            found = min(found, self._named(one.resource_name_filter, one.pattern_type_filter), key=len)
        return found

    def _named(self, name: str, wanted: int) -> Sequence[Binding]:
        if wanted != MATCH:
            return self._by_name.get(name, ())
        beginnings = (name[:length] for length in self.lengths)
        names = dict.fromkeys((WILDCARD, *beginnings, name))
        return [acl for each in names for acl in self._by_name.get(each, ())]


def _in_portions(acls: Iterable[Binding]) -> Iterator[list[Binding]]:
    """The same in portions: while one is sorted, no other thread runs."""
    left = iter(acls)
    while some := list(islice(left, PORTION)):
        yield some


class SnapshotAcls:
    """The ACLs that rules stand for."""

    def __init__(self, file: AclFile) -> None:
        self._file = file

    @cached_property
    def plain(self) -> AclIndex:
        """Kafka's ACLs."""
        return AclIndex(said(self._file))

    @cached_property
    def conditioned(self) -> AclIndex:
        """What the rules with conditions of ours would stand for without these."""
        return AclIndex(self.conditions)

    @cached_property
    def conditions(self) -> dict[Binding, list[int]]:
        """The numbers of the rules, of those with conditions of ours, from which each of `conditioned` comes."""
        found: defaultdict[Binding, list[int]] = defaultdict(list)
        for number, acl in enumerate(acl for acl in self._file.acls if acl.ours):
            for binding in bindings(acl):
                found[binding].append(number)
        return found


class KnownAcls:
    """The ACLs of each snapshot that somebody asked about, as long as it is in use."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Snapshot, SnapshotAcls] = WeakKeyDictionary()

    def of(self, snapshot: Snapshot) -> SnapshotAcls:
        """The ACLs of a snapshot, which are computed when they are needed first."""
        known = self._known.get(snapshot)
        if known is None:
            known = self._known[snapshot] = SnapshotAcls(snapshot.file)
        return known
