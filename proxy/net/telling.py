"""Telling: what a link did, as a line in the log, with all that is known of its connection.

Rules:
* Of an error it is told what it is and where it was raised. What it says is told too, unless it may say what a secret
  is: where the message has secrets in it, and of steps beside a conversation, which authenticate.
* What a client can cause is told as often as complaints are: a client that is denied asks again at once.
"""

from __future__ import annotations

from functools import cache

import structlog
import trio

from proxy.core.events import (
    AclsChanged,
    AclsNotChanged,
    Authenticated,
    Denied,
    Event,
    HandlerFailed,
    ObserverFailed,
    Refused,
    StepsFailed,
    Undecodable,
)
from proxy.logs.cut import short
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation
from proxy.protocol.api import ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS, Api
from proxy.protocol.walk import leading
from proxy.protocol.wire import Meaning

log = structlog.get_logger()


class Telling:
    """Writes the lines of one worker."""

    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints
        self._tell = complaints.tell

    def __call__(self, conversation: Conversation, event: Event) -> None:
        """Write the line, if it is due."""
        if isinstance(event, Denied):
            self._denied(event, conversation)
            return
        facts = conversation.link.connection.facts()
        who = facts["listener"], conversation.link.connection.whose
        match event:
            case Authenticated():
                log.debug("client authenticated", again=event.again, **facts)
            case Refused():
                facts |= {"why": event.why, "mechanism": event.mechanism}
                self._tell(log.warning, "authentication failed", who, event.why, **facts)
            case AclsChanged():
                each = *who, trio.current_time()  # a kind of its own: none is left out until there are very many
                self._tell(log.info, "ACLs changed", each, created=event.created, deleted=event.deleted, **facts)
            case AclsNotChanged():
                self._tell(log.error, "ACLs not changed", who, event.why, why=event.why, **facts)
            case HandlerFailed():
                what = f"{event.handler} on {event.api.name} v{event.version}"
                self._failed(what, _failure(event, _has_secrets(event.api)), facts)
            case ObserverFailed():
                what = event.observer if event.api is None else f"{event.observer} on {event.api.name} v{event.version}"
                secret = event.api is None or _has_secrets(event.api)
                self._failed(what, _failure(event, secret), facts, "observer failed")
            case StepsFailed():
                self._failed(event.steps, _failure(event, True), facts)
            case Undecodable():
                fault = event.error.fault
                facts |= {"sent_by": fault and fault.value, "why": str(event.error)}
                self._tell(log.warning, "undecodable frame", (fault, *who), facts["why"], **facts)

    def ended(self, conversation: Conversation, reason: str | None) -> None:
        """A link is over; `reason`: where something was wrong, or the proxy ended it."""
        facts = conversation.link.connection.facts()
        if reason is None:
            log.debug("connection closed", **facts)
            return
        about = facts["listener"], conversation.link.connection.whose
        write = log.warning if conversation.is_fault else log.info
        self._tell(write, "connection ended", about, reason, why=reason, **facts)

    def _denied(self, event: Denied, conversation: Conversation) -> None:
        """One request may be about ten thousand topics, each of them denied."""
        what = "denied" if event.enforced else "would be denied"
        about = conversation.link.connection.whose, event.operation, event.resource, event.place
        left_out = self._complaints.due(what, about, event.name)
        if left_out is not None:
            asked = {"operation": event.operation, "resource": event.resource, "name": event.name}
            rule = {"rule": event.place} if event.place else {}
            facts = {"api": event.api.name, **asked, "why": event.why, **rule, **conversation.link.connection.facts()}
            log.info(what, **short(facts), **left_out)

    def _failed(
        self, what: str, failure: dict[str, str], facts: dict[str, object], event: str = "handler failed"
    ) -> None:
        self._tell(log.error, event, (what, failure.get("at")), failure["error"], what=what, **failure, **facts)


def _failure(event: HandlerFailed | ObserverFailed | StepsFailed, secret: bool) -> dict[str, str]:
    """What was raised, and where."""
    kind = type(event.error).__name__
    told = {"error": kind if secret or not str(event.error) else f"{kind}: {event.error}"}
    return told | ({"at": event.at} if event.at else {})


@cache
def _has_secrets(api: Api) -> bool:
    if api in (ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS):  # passwords are among the configs of brokers
        return True
    if not api.versions:
        return False  # it is unknown
    return any(leading(message, Meaning.SECRET) for message in (api.request, api.response))
