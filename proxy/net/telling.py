"""Telling: what a link did, as a line in the log, with all that is known of its connection.

Rules:
* Of an error it is told what it is and where it was raised. What it says is told too, unless it may say what a secret
  is: where the message has secrets in it, and of steps beside a conversation, which authenticate.
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
from proxy.net.conversation import Conversation
from proxy.protocol.api import ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS, Api
from proxy.protocol.schema import structs
from proxy.protocol.wire import Meaning

log = structlog.get_logger()


def tell(conversation: Conversation, event: Event) -> None:
    """Write the line."""
    facts = conversation.link.connection.facts()
    match event:
        case Authenticated():
            log.debug("client authenticated", again=event.again, **facts)
        case Refused():
            log.warning("authentication failed", why=event.why, **(facts | {"mechanism": event.mechanism}))
        case Denied():
            rule = {"rule": event.place} if event.place else {}
            asked = {
                "api": event.api.name,
                "operation": event.operation,
                "resource": event.resource,
                "name": event.name,
            }
            told = log.debug if event.enforced else log.info
            told("denied" if event.enforced else "would be denied", **asked, why=event.why, **rule, **facts)
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
