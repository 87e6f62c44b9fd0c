"""Events of connections: their beginning, the client's identity, what it was denied, and their end.

Rules:
* The summaries of a connection are recorded before its end is.
* The client chooses the length of a denied name, so its event weighs more the longer the name is.
"""

from __future__ import annotations

from plugins.audit.events import closed_fields, denied_fields, refused_fields
from plugins.audit.recorder import EventRecorder
from plugins.audit.shared import PLAIN, text_bytes
from plugins.audit.windows import Windows
from proxy.plugin import Authenticated, Closed, Connected, Connection, Denied, Refused

ConnectionEvent = Connected | Authenticated | Refused | Denied | Closed


def record_connection(
    recorder: EventRecorder, windows: Windows, connection: Connection, event: ConnectionEvent
) -> None:
    """Record what happened to a connection."""
    match event:
        case Connected():
            recorder.put("connection_opened", connection, {})
        case Authenticated():
            recorder.put("connection_authenticated", connection, {})
        case Refused():
            recorder.put("authentication_failed", connection, refused_fields(event))
        case Denied():
            fields = denied_fields(event)
            recorder.put("denied", connection, fields, 1 + text_bytes(fields["resource_name"]) // PLAIN)
        case Closed():
            known = recorder.known(connection)
            known.learner.give_up()
            for window in windows.of(known.number):
                recorder.keep(window)
            recorder.put("connection_closed", connection, closed_fields(event))
            recorder.forget(connection)
