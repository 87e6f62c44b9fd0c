"""Described subscriptions: what coordinators tell of members that come by a connection where they are not known.

Rules:
* The coordinator describes a whole group. So it is asked as rarely as possible: once for each member and connection.
* A connection notes the members of which the coordinator keeps no expression. They are not asked about again there.
* For a few seconds, an answer counts for all members in it that have no expression. So a restart in front of a large
  group whose members have only names takes few questions. An expression is always asked for: an old one would be put
  back in the place of a new one.
* A coordinator may have the expression of a member itself: the member joined while there was no `acl`, or in shadow.
  It is taken over.
* If the coordinator has names that do not follow from what it keeps, a proxy that keeps nothing changed them since.
  Then nothing is kept.
* A coordinator that cannot tell yet is asked again at the next heartbeat, which it does not accept either.
"""

from __future__ import annotations

from functools import partial
from sys import getsizeof
from typing import Any, NamedTuple

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.kept_subscription import KeptSubscription, read
from plugins.acl.regex import BadExpressionError, matching
from plugins.acl.remembered import Remembered
from proxy.plugin import Ask, Call, ConsumerGroupDescribeRequest, ErrorCode, turns

OLDEST = 0  # the version of ConsumerGroupDescribe that all brokers with expressions know
EXPRESSIONS = 1  # the first version of ConsumerGroupHeartbeat that has them
COUNTS = 5.0  # seconds for which an answer counts for the members without an expression
NOT_YET = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
PLAIN = 200  # bytes of a member without an expression, beside its group and its id


class DescribedSubscription(NamedTuple):
    """What the coordinator has of a member.

    `names`: its topics, sorted. `given`: what the member gave, if it has an expression. `is_open`: the coordinator
    evaluates this expression itself.
    """

    names: list[str]
    given: KeptSubscription | None
    is_open: bool = False


class PlainMembers(NamedTuple):
    """The members of a group without an expression, and when the coordinator told so."""

    ids: frozenset[str]
    at: float


class DescribedSubscriptions:
    """What coordinators told."""

    def __init__(self) -> None:
        self._groups = Remembered[str, PlainMembers]()

    def may_have_expression(self, checked: CheckedRequest) -> bool:
        """Whether the coordinator may keep an expression of a member that goes on, and is not known here."""
        request = checked.request
        if checked.version < EXPRESSIONS or _noted(checked).get((request.group_id, request.member_id)):
            return False
        known = self._groups.get(request.group_id)
        if known is None or abs(checked.authorizer.now - known.at) >= COUNTS or request.member_id not in known.ids:
            return True
        note_plain(checked)
        return False

    def ask(self, checked: CheckedRequest) -> Any:
        """Steps that return the DescribedSubscription of the member; None: its coordinator does not tell."""
        group, member_id = checked.request.group_id, checked.request.member_id
        answer = yield Ask(ConsumerGroupDescribeRequest(group_ids=[group], include_authorized_operations=False), OLDEST)
        if any(described.error_code in NOT_YET for described in answer.groups):
            return None
        members = [member for described in answer.groups for member in turns(described.members)]
        plain = frozenset(one.member_id for one in turns(members) if not one.subscribed_topic_regex)
        size = getsizeof(group) + sum(PLAIN + getsizeof(one) for one in turns(plain))
        self._groups.put(group, PlainMembers(plain, checked.authorizer.now), size)
        member = next((one for one in turns(members) if one.member_id == member_id), None)
        if member is None:
            note_plain(checked)
            return None
        names, kept = sorted(member.subscribed_topic_names), read(member.subscribed_topic_regex)
        if kept is None and member.subscribed_topic_regex:
            return DescribedSubscription(names, KeptSubscription(member.subscribed_topic_regex, names), is_open=True)
        given = yield from _true(kept, names)
        if given is None:
            note_plain(checked)
        return DescribedSubscription(names, given)


def note_plain(checked: CheckedRequest) -> None:
    """Note that the member of this heartbeat has no expression which its coordinator keeps."""
    group, member_id = checked.request.group_id, checked.request.member_id
    _noted(checked).put((group, member_id), True, PLAIN + getsizeof(group) + getsizeof(member_id))


def _noted(checked: CheckedRequest) -> Remembered[tuple[str, str], bool]:
    """The members without an expression that came by this connection, by group and member id."""
    found: Remembered[tuple[str, str], bool] = checked.connection.notes.setdefault(
        f"{checked.authorizer.client.of.name}: members without an expression", Remembered()
    )
    return found


def _true(kept: KeptSubscription | None, told: list[str]) -> Any:
    """Steps that return what is kept if the names of the coordinator follow from it; else None."""
    if kept is None:
        return None
    try:
        matched = yield Call(partial(matching, kept.expression, told), apart="expressions")
    except BadExpressionError:
        return None
    return kept if {*told} <= {*kept.names, *matched} else None
