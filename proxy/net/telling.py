"""Telling: what a link did, as a line in the log, with all that is known of its connection.

Rules:
* Of an error it is told what it is and where it was raised. What it says is told too, unless it may say what a secret
  is: where the message has secrets in it, and of steps beside a conversation, which authenticate.
* What is denied is told as often as complaints are: a client that is denied asks again at once.
"""

from __future__ import annotations

import traceback
from functools import cache

import structlog

from proxy.core.events import (
    AclsChanged,
    AclsNotChanged,
    Authenticated,
    Denied,
    Event,
    HandlerFailed,
    Refused,
    StepsFailed,
    Undecodable,
)
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation
from proxy.protocol.api import ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS, Api
from proxy.protocol.schema import structs
from proxy.protocol.wire import Meaning

log = structlog.get_logger()


class Telling:
    """Writes the lines of one worker."""

    def __init__(self) -> None:
        self._complaints = Complaints()

    def __call__(self, conversation: Conversation, event: Event) -> None:
        """Write the line, if it is due."""
        facts = conversation.link.connection.facts()
        if isinstance(event, Denied):
            self._denied(event, facts)
        else:
            _tell(event, facts)

    def _denied(self, event: Denied, facts: dict[str, object]) -> None:
        asked = {"operation": event.operation, "resource": event.resource, "name": event.name}
        due = self._complaints.due(
            (event.enforced, facts.get("principal"), event.api.key, event.place, *asked.values())
        )
        if due is not None:
            rule = {"rule": event.place} if event.place else {}
            what = "denied" if event.enforced else "would be denied"
            log.info(what, api=event.api.name, **asked, why=event.why, **rule, **facts, **due)


def _tell(event: Event, facts: dict[str, object]) -> None:
    match event:
        case Authenticated():
            log.debug("client authenticated", again=event.again, **facts)
        case Refused():
            log.warning("authentication failed", why=event.why, **(facts | {"mechanism": event.mechanism}))
        case AclsChanged():
            log.info("ACLs changed", created=event.created, deleted=event.deleted, **facts)
        case AclsNotChanged():
            log.error("ACLs not changed", why=event.why, **facts)
        case HandlerFailed():
            what = f"{event.handler} on {event.api.name} v{event.version}"
            log.error("handler failed", what=what, **_failure(event.error, _has_secrets(event.api)), **facts)
        case StepsFailed():
            log.error("handler failed", what=event.steps, **_failure(event.error, True), **facts)
        case Undecodable():
            log.error("undecodable frame", what=f"{event.api.name} v{event.version}", error=str(event.error), **facts)


def _failure(error: Exception, secret: bool) -> dict[str, str]:
    """What was raised, and where."""
    kind = type(error).__name__
    told = {"error": kind if secret or not str(error) else f"{kind}: {error}"}
    for frame in traceback.extract_tb(error.__traceback__)[-1:]:
        told["at"] = f"{frame.filename}:{frame.lineno}"
    return told


@cache
def _has_secrets(api: Api) -> bool:
    if api in (ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS):  # passwords are among the configs of brokers
        return True
    every = (struct for message in (api.request, api.response) for struct in structs(message))
    return any(field.meaning is Meaning.SECRET for struct in every for field in struct.fields)
