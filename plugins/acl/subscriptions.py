"""Subscriptions: the topics of a group's member, also where it gives a regular expression (KIP-848).

Rules:
* A broker would assign a member every topic that its expression matches. So the proxy resolves the expression against
  the topics that the client may see, and sends names to the broker: a member is never assigned another topic.
* A member that comes by another connection may have changed its subscription through another worker or proxy meanwhile.
  The coordinator is asked for its names: if they are others, its expression is forgotten.
* A member may give an expression after names, which then count too. Members that have only names are not remembered:
  the coordinator is asked for them.
* A member sends its expression once. Later heartbeats are read: when topics come and go, or the rules change, the next
  heartbeat carries the new names to the broker.
* A connection notes the expressions of the members that come by it. So they are known to the plugin that replaces this
  one after a reload: the client does not send them again. The coordinator is asked for their names first.
* Another worker, or the proxy after a restart, does not know an expression that is not sent again: the member keeps its
  names. Clients send it again when a heartbeat failed, but not when their connection ended between two heartbeats.
* As at a broker, a heartbeat that is not accepted changes nothing: it may come from somebody who is no member. A member
  that joins begins anew.
* Expressions are RE2's, which take linear time. They match whole names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from sys import getsizeof
from typing import Any

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from plugins.acl.errors import TOPIC
from plugins.acl.regex import LONGEST, BadExpressionError, matching
from plugins.acl.remembered import NAME, Remembered
from proxy.plugin import Ask, Call, ConsumerGroupDescribeRequest, ErrorCode, turns
from rules import Operation

LOOK = 5.0  # seconds between two resolutions of a member's expression, for topics that come and go
OLDEST = 0  # the version of ConsumerGroupDescribe that all brokers with expressions know
SUBSCRIPTION = 1_000  # bytes of a member beside its names


@dataclass
class Subscription:
    """A member's subscription, and the names that the broker got for it."""

    names: list[str] = field(default_factory=list)
    expression: str = ""
    told: list[str] | None = None
    connection: int = 0  # the number of the one by which the member came last
    edition: object = None
    looked: float = 0.0
    size: int = 0  # bytes, as they were counted last

    def measured(self) -> int:
        """Bytes that it takes now without its key, estimated."""
        names = (*self.names, *(self.told or ()))
        return SUBSCRIPTION + getsizeof(self.expression) + sum(NAME + getsizeof(name) for name in turns(names))


Members = Remembered[tuple[str, str], Subscription]  # by group and member id


def _noted(checked: CheckedRequest) -> Members:
    """The members that came by this connection, also before the present plugin was in force."""
    notes: dict[Any, Any] = checked.connection.notes
    key = f"{checked.authorizer.client.of.name}: subscriptions"
    found: Members | None = notes.get(key)
    if found is None:
        found = notes[key] = Members()
    return found


class SubscribedTopicsCheck(Check):
    """The expression of a ConsumerGroupHeartbeat, after the checks of its group and its names."""

    answers = True

    def __init__(self) -> None:
        self.members = Members()

    def apply(self, checked: CheckedRequest) -> Any:
        request = checked.request
        key = request.group_id, request.member_id
        if checked.authorizer.is_shadow:
            return None
        here, noted = self.members.get(key), _noted(checked)
        known = here or noted.get(key)
        was_known = known is not None
        goes_on = here is not None and here.connection == checked.connection.number
        if known is not None and not goes_on and request.member_epoch > 0:
            known = yield from self._still_true(key, known)
        if request.member_epoch < 0 or (known is None and not request.subscribed_topic_regex):
            if was_known:
                checked.after.append(partial(self._answered, key, None, noted))
            return None
        member = Subscription() if known is None or request.member_epoch == 0 else replace(known)
        if known is None and request.subscribed_topic_names is None and request.member_epoch > 0:
            member.names = (yield from _names_at_coordinator(*key)) or []
        if request.subscribed_topic_names is not None:
            member.names, member.told = request.subscribed_topic_names, None
        if request.subscribed_topic_regex is not None:
            member.expression, member.told = request.subscribed_topic_regex, None
        if member.expression:
            no = yield from self._resolve(checked, member)
            if no is not None:
                return no
        elif request.subscribed_topic_names is None and request.member_epoch > 0:
            request.subscribed_topic_names = self._named(checked, member)
            checked.changed = True
        member.connection = checked.connection.number
        checked.after.append(partial(self._answered, key, member if member.expression else None, noted))
        return None

    def _still_true(self, key: tuple[str, str], known: Subscription) -> Any:
        """Steps that return what is known of a member that came by another connection; None if it is true no more."""
        names = yield from _names_at_coordinator(*key)
        return known if names is None or sorted(names) == known.told else None

    @staticmethod
    def _named(checked: CheckedRequest, member: Subscription) -> list[str]:
        """The names that the member gave, also earlier, and that this client may see now."""
        return [name for name in turns(member.names) if checked.authorizer.may(Operation.DESCRIBE, TOPIC, name)]

    def _answered(
        self, key: tuple[str, str], member: Subscription | None, noted: Members, _: CheckedRequest, response: Any
    ) -> None:
        """The broker answered a heartbeat. `member`: the subscription after it; None: there is none to remember."""
        if response.error_code == ErrorCode.UNKNOWN_MEMBER_ID or (member is None and not response.error_code):
            self.members.forget(key)
            noted.forget(key)
        elif member is not None and not response.error_code:
            self._remember(key, member)
            noted.put(key, member, member.size)

    def _remember(self, key: tuple[str, str], member: Subscription) -> None:
        """Remember this subscription in place of the one before it."""
        known = self.members.get(key)
        if known is None or known.names is not member.names or known.told is not member.told:
            member.size = sum(map(getsizeof, key)) + member.measured()  # others may have their turn meanwhile
        self.members.put(key, member, member.size)

    def _resolve(self, checked: CheckedRequest, member: Subscription) -> Any:
        request, authorizer = checked.request, checked.authorizer
        now, is_recent = authorizer.now, abs(authorizer.now - member.looked) < LOOK
        if member.told is not None and authorizer.edition is member.edition and is_recent:
            return None
        everything = yield from checked.names.ask_all()
        seen = [name for name in everything if authorizer.may(Operation.DESCRIBE, TOPIC, name)]
        try:
            matched = yield Call(partial(matching, member.expression, seen), apart="expressions")
        except BadExpressionError as error:
            said = f"SubscribedTopicRegex `{member.expression[:LONGEST]}` is not a valid regular expression: {error}."
            return checked.refuse(ErrorCode.INVALID_REGULAR_EXPRESSION, said)
        told = sorted({*self._named(checked, member), *matched})
        if told != member.told or request.subscribed_topic_regex is not None:
            request.subscribed_topic_names = told
        request.subscribed_topic_regex = None
        member.told, member.edition, member.looked = told, authorizer.edition, now
        checked.changed = True
        return None


def _names_at_coordinator(group: str, member_id: str) -> Any:
    """Steps that return the names to which a member is subscribed at its coordinator; None: it does not tell."""
    answer = yield Ask(ConsumerGroupDescribeRequest(group_ids=[group], include_authorized_operations=False), OLDEST)
    members = (member for described in answer.groups for member in turns(described.members))
    return next((member.subscribed_topic_names for member in members if member.member_id == member_id), None)
