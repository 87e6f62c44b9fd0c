"""Telling: what a link did, as a line in the log, with all that is known of its connection."""

from __future__ import annotations

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
            log.error("handler failed", what=what, error=repr(event.error), **facts)
        case StepsFailed():
            log.error("handler failed", what=event.steps, error=repr(event.error), **facts)
        case Undecodable():
            log.error("undecodable frame", what=f"{event.api.name} v{event.version}", error=str(event.error), **facts)
