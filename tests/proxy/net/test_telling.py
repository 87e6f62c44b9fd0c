"""What a link did stands in the log, with what is known of its connection."""

from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from proxy.core.events import Authenticated, HandlerFailed, Refused, StepsFailed, Undecodable
from proxy.net.telling import tell
from proxy.protocol.api import INCREMENTAL_ALTER_CONFIGS, METADATA, SASL_AUTHENTICATE
from tests.proxy.core.playbook import connection


def told(event: Any) -> dict[str, Any]:
    one = connection()
    one.principal, one.mechanism = "User:alice", "PLAIN"
    one.software_name, one.software_version = "librdkafka", "2.6"
    conversation: Any = SimpleNamespace(link=SimpleNamespace(connection=one))
    with capture_logs() as lines:
        tell(conversation, event)
    (line,) = lines
    return dict(line)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Authenticated("PLAIN", "User:alice"), {"event": "client authenticated", "again": False}),
        (Refused("SCRAM-SHA-256", "no such user"), {"event": "authentication failed", "mechanism": "SCRAM-SHA-256"}),
        (HandlerFailed("Rules.check", METADATA, 12, ValueError("boom")), {"error": "ValueError: boom"}),
        (HandlerFailed("Rules.check", METADATA, 12, ValueError("boom")), {"what": "Rules.check on Metadata v12"}),
        (HandlerFailed("Spy.look", SASL_AUTHENTICATE, 2, ValueError("hunter2")), {"error": "ValueError"}),
        (HandlerFailed("Spy.look", INCREMENTAL_ALTER_CONFIGS, 1, ValueError("hunter2")), {"error": "ValueError"}),
        (StepsFailed("renew", ValueError("boom")), {"what": "renew", "error": "ValueError"}),
        (Undecodable(METADATA, 12, ValueError("ends early")), {"what": "Metadata v12", "error": "ends early"}),
    ],
)
def test_every_event_is_a_line_that_says_whose_it_is(event: Any, says: dict[str, Any]) -> None:
    line = told(event)
    assert line.items() >= says.items()
    assert line["principal"] == "User:alice"
    assert line["client"] == "192.0.2.1:50000"
    assert line["listener"] == "clients"
    assert line["software"] == "librdkafka 2.6"


def test_where_an_error_was_raised_is_told() -> None:
    try:
        raise KeyError("x")
    except KeyError as error:
        line = told(HandlerFailed("Rules.check", METADATA, 12, error))
    assert line["at"].rpartition(":")[0] == __file__
