"""ACL deletion: one DeleteAcls request, from its filters to their results.

Rules:
* An ACL that several filters match is deleted once, and told by each of them, as a broker tells it.
* A rule with a condition that Kafka's ACLs lack is not deleted. A filter that would match it but for that condition
  tells POLICY_VIOLATION with the rule's place, beside the ACLs that were deleted.
* All filters together may match so many ACLs (`MOST`), as at a controller, and look at so many (`LOOKS`). It is counted
  while they are looked for. Beyond, every filter gets INVALID_REQUEST, and nothing is deleted.
* A controller counts an ACL once that several filters match. Here each time counts, since each is told.

Source: AclControlManager of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from plugins.acl.acl_filters import Filter, matching, too_new, words
from plugins.acl.acl_index import AclIndex, SnapshotAcls
from plugins.acl.acl_messages import Deleted, matched
from proxy.plugin import ErrorCode
from rules import Rule, Snapshot
from rules.bindings import Binding
from rules.store import MOST, AclChange, Changed, StoreError

LOOKS = 1_000_000  # ACLs, and lengths of prefixes, that the filters of one request may look at
T = TypeVar("T")


class TooManyError(StoreError):
    """A deletion that would match or look at too many ACLs."""


class Found(NamedTuple):
    """What a filter matches: ACLs, and those of rules with conditions, with the numbers of these rules."""

    plain: list[Binding]
    conditioned: list[tuple[Binding, int]]


class AclDeletion:
    """The deletion of what `filters` match; `acls_of` gives the ACLs of a snapshot of the rules in `file`."""

    def __init__(self, filters: Sequence[Filter], acls_of: Callable[[Snapshot], SnapshotAcls], file: Path) -> None:
        self.filters = filters
        self._acls_of = acls_of
        self._file = file
        self._found: list[Found] = []

    def decide(self, there: Snapshot) -> AclChange:
        """What is to be deleted from these rules. Raises TooManyError. The last decision is the one that counts."""
        acls, limits = self._acls_of(there), _Limits()
        self._found = [self._look(one, acls, limits) for one in self.filters]
        return AclChange(removed={acl for found in self._found for acl in found.plain})

    @staticmethod
    def _look(one: Filter, acls: SnapshotAcls, limits: _Limits) -> Found:
        if any(too_new(words(one))):
            return Found([], [])
        conditioned = limits.looked(one, acls.conditioned)
        return Found(
            list(limits.matched(limits.looked(one, acls.plain))),
            list(limits.matched((acl, number) for acl in conditioned for number in acls.conditions[acl])),
        )

    def results(self, outcome: Changed | StoreError) -> list[Deleted]:
        """The results of all filters, after the change was made, or was not."""
        if isinstance(outcome, StoreError):
            code = ErrorCode.INVALID_REQUEST if isinstance(outcome, TooManyError) else ErrorCode.UNKNOWN_SERVER_ERROR
            return [_refused(one) or _failed(code, str(outcome)) for one in self.filters]
        rules = [rule for rule in outcome.rules.rules if rule.acl.ours]
        found = zip(self.filters, self._found, strict=True)
        return [_refused(one) or self._done(matches, rules) for one, matches in found]

    def _done(self, found: Found, rules: Sequence[Rule]) -> Deleted:
        told = [matched(acl) for acl in found.plain]
        for acl, number in found.conditioned:
            told.append(matched(acl, ErrorCode.POLICY_VIOLATION, self._why(rules[number])))
        return Deleted(error_code=0, error_message=None, matching_acls=told)

    def _why(self, rule: Rule) -> str:
        place = f"{self._file}:{rule.place.line}:{rule.place.column}"
        options = " and ".join(f'"{option}"' for option in rule.acl.ours)
        return f"{place}: not deleted: Kafka's ACLs cannot say {options}; edit the file"


class _Limits:
    """Counts what the filters of one request match and look at. Its methods raise TooManyError."""

    def __init__(self) -> None:
        self._matches = MOST
        self._looks = LOOKS

    def looked(self, one: Filter, index: AclIndex) -> Iterator[Binding]:
        """The ACLs that a filter matches."""
        near = index.near(one)
        self._looks -= 1 + len(index.lengths) + len(near)
        if self._looks < 0:
            fact = f"Cannot compare filters with more than {LOOKS} acls in a single delete operation"
            raise TooManyError(f"{fact}; give fewer filters, or a name or a principal in each.")
        return matching(one, near)

    def matched(self, found: Iterable[T]) -> Iterator[T]:
        """These matches."""
        for each in found:
            self._matches -= 1
            if self._matches < 0:
                raise TooManyError(f"Cannot remove more than {MOST} acls in a single delete operation.")
            yield each


def _refused(one: Filter) -> Deleted | None:
    """The refusal of a filter with a number that is too new."""
    of_resource, of_rest = too_new(words(one))
    if not of_resource and not of_rest:
        return None
    return _failed(ErrorCode.INVALID_REQUEST, f"Unknown {'patternFilter' if of_resource else 'entryFilter'}.")


def _failed(code: ErrorCode, fact: str) -> Deleted:
    return Deleted(error_code=code, error_message=fact, matching_acls=[])
