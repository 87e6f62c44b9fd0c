"""Subscriptions: the topics of a group's member, also where it gives a regular expression (KIP-848).

Rules:
* A broker would assign a member every topic that its expression matches. So the proxy resolves the expression against
  the topics that the client may see, and sends names to the broker: a member is never assigned another topic.
* A member sends its expression once. Later heartbeats are read: when topics come and go, or the rules change, the next
  heartbeat carries the new names to the broker.
* The coordinator keeps what the member gave beside the names (`kept_subscription.py`). So it is known to another worker
  or proxy, and after a restart: clients send it again when a heartbeat failed, but not when their connection ended
  between two heartbeats.
* A member that comes by another connection may have changed its subscription through another worker or proxy meanwhile.
  The coordinator is asked what it keeps (`described_subscriptions.py`), and that counts. Where nothing is kept, the
  expression that was known here counts if the coordinator still has the names of it. Else there is none any more.
* A member may give an expression after names, which then count too. Members that have only names are not remembered:
  the coordinator is asked for them.
* A connection notes the expressions of the members that come by it. So the plugin that replaces this one after a reload
  knows also those that were too long to be kept.
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
from plugins.acl.described_subscriptions import DescribedSubscriptions, note_plain
from plugins.acl.errors import TOPIC
from plugins.acl.kept_subscription import written
from plugins.acl.regex import LONGEST, BadExpressionError, matching
from plugins.acl.remembered import NAME, Remembered
from proxy.plugin import Call, ErrorCode, turns
from rules import Operation

LOOK = 5.0  # seconds between two resolutions of a member's expression, for topics that come and go
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
    key = f"{checked.authorizer.client.of.name}: subscriptions"
    found: Members = checked.connection.notes.setdefault(key, Members())
    return found


class SubscribedTopicsCheck(Check):
    """The expression of a ConsumerGroupHeartbeat, after the checks of its group and its names."""

    answers = True

    def __init__(self) -> None:
        self.members = Members()
        self._described = DescribedSubscriptions()

    def apply(self, checked: CheckedRequest) -> Any:
        request = checked.request
        key = request.group_id, request.member_id
        if checked.authorizer.is_shadow:
            return None
        here, noted = self.members.get(key), _noted(checked)
        known = here or noted.get(key)
        was_known = known is not None
        goes_on = here is not None and here.connection == checked.connection.number
        if not goes_on and self._is_asked_about(checked, known):
            known = yield from self._at_coordinator(checked, known)
        if request.member_epoch < 0 or (known is None and not request.subscribed_topic_regex):
            if request.member_epoch == 0:
                note_plain(checked)
            if was_known:
                checked.after.append(partial(self._answered, key, None, noted))
            return None
        member = Subscription() if known is None or request.member_epoch == 0 else replace(known)
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

    def _is_asked_about(self, checked: CheckedRequest, known: Subscription | None) -> bool:
        """Whether the coordinator is to be asked about a member that did not come by this connection last."""
        request = checked.request
        if request.member_epoch <= 0 or None not in (request.subscribed_topic_names, request.subscribed_topic_regex):
            return False  # all is said anew
        if known is not None or request.subscribed_topic_regex:
            return True
        return self._described.may_have_expression(checked)

    def _at_coordinator(self, checked: CheckedRequest, known: Subscription | None) -> Any:
        """Steps that return the Subscription of a member that goes on; None: it has only names, and gives no other."""
        described = yield from self._described.ask(checked)
        if described is None:
            return known
        if described.given is not None:
            told = None if described.is_open else described.names
            return Subscription(described.given.names, described.given.expression, told)
        if known is not None and known.told == described.names:
            return known
        return Subscription(described.names) if checked.request.subscribed_topic_regex else None

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
        if told != member.told:
            request.subscribed_topic_names = told
        if member.told is None:
            request.subscribed_topic_regex = written(member.expression, member.names)
        member.told, member.edition, member.looked = told, authorizer.edition, now
        checked.changed = True
        return None
