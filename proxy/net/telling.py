"""Telling: what a link did, as a line in the log, with all that is known of its connection."""

from __future__ import annotations

import structlog

from proxy.core.events import Authenticated, Event, HandlerFailed, Refused, StepsFailed, Undecodable
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
        case HandlerFailed():
            what = f"{event.handler} on {event.api.name} v{event.version}"
            log.error("handler failed", what=what, error=repr(event.error), **facts)
        case StepsFailed():
            log.error("handler failed", what=event.steps, error=repr(event.error), **facts)
        case Undecodable():
            log.error("undecodable frame", what=f"{event.api.name} v{event.version}", error=str(event.error), **facts)
