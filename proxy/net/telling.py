"""Telling: writes events of a link to the log, with all that is known of its connection.

Rules:
* An error's type, and where it was raised, are always logged. Its text is logged unless it may contain a secret. That
  may be so if the message has secrets in it, and for steps beside a conversation, which authenticate.
* Lines that a client can cause are rate-limited as complaints, since a denied client asks again at once.
"""

from __future__ import annotations

import logging
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
    """Writes the log lines of one worker's links."""

    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints
        self._tell = complaints.tell
        self._is_verbose = log.is_enabled_for(logging.DEBUG)  # collecting facts that nobody reads takes 8 us

    def __call__(self, conversation: Conversation, event: Event) -> None:
        """Write the line of this event, if it is due."""
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
                each = *who, trio.current_time()  # each is a kind of its own, so that hardly any is left out
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
        if reason is None:
            if self._is_verbose:
                log.debug("connection closed", **conversation.link.connection.facts())
            return
        facts = conversation.link.connection.facts()
        about = facts["listener"], conversation.link.connection.whose
        write = log.warning if conversation.is_fault else log.info
        self._tell(write, "connection ended", about, reason, why=reason, **facts)

    def _denied(self, event: Denied, conversation: Conversation) -> None:
        """Log a denial. One request may name ten thousand topics, each of them denied."""
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
    """The error, and where it was raised."""
    kind = type(event.error).__name__
    told = {"error": kind if secret or not str(event.error) else f"{kind}: {event.error}"}
    return told | ({"at": event.at} if event.at else {})


@cache
def _has_secrets(api: Api) -> bool:
    if api in (ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS):  # the configs of brokers include passwords
        return True
    if not api.versions:
        return False  # an unknown API
    return any(leading(message, Meaning.SECRET) for message in (api.request, api.response))
