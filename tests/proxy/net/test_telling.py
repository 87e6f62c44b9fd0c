"""The log has the events of a link, with the known facts of its connection."""

from types import SimpleNamespace
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.core.events import (
    AclsChanged,
    AclsNotChanged,
    Authenticated,
    Denied,
    HandlerFailed,
    ObserverFailed,
    Refused,
    StepsFailed,
    Undecodable,
)
from proxy.net.complaints import EVERY, Complaints
from proxy.net.telling import Telling
from proxy.protocol.api import FETCH, INCREMENTAL_ALTER_CONFIGS, METADATA, SASL_AUTHENTICATE, Api
from proxy.protocol.problem import Fault, ProtocolError
from proxy.testing import connection

CLIENTS = ProtocolError("ends early", fault=Fault.CLIENT, api="Metadata", version=12)


def lines(*events: Any, principal: str = "User:alice", telling: Telling | None = None) -> list[dict[str, Any]]:
    one = connection()
    one.principal, one.mechanism = principal, "PLAIN"
    one.software_name, one.software_version = "librdkafka", "2.6"
    conversation: Any = SimpleNamespace(link=SimpleNamespace(connection=one))
    telling = telling or Telling(Complaints())
    with capture_logs() as captured:
        for event in events:
            telling(conversation, event)
    return [dict(line) for line in captured]


def told(event: Any) -> dict[str, Any]:
    (line,) = lines(event)
    return line


def denied(name: str, enforced: bool = True) -> Denied:
    return Denied(FETCH, "Read", "Topic", name, "a rule that denies", "acl.yaml:7:5", enforced)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Authenticated("PLAIN", "User:alice"), {"event": "client authenticated", "again": False}),
        (Refused("SCRAM-SHA-256", "no such user"), {"event": "authentication failed", "mechanism": "SCRAM-SHA-256"}),
        (HandlerFailed("Rules.check", METADATA, 12, ValueError("boom")), {"error": "ValueError: boom"}),
        (HandlerFailed("Rules.check", METADATA, 12, ValueError("boom")), {"what": "Rules.check on Metadata v12"}),
        (ObserverFailed("Audit.ended", METADATA, 12, ValueError("boom")), {"event": "observer failed"}),
        (ObserverFailed("Audit.ended", Api.unknown(1000), 0, ValueError("boom")), {"error": "ValueError: boom"}),
        (HandlerFailed("Spy.look", SASL_AUTHENTICATE, 2, ValueError("hunter2")), {"error": "ValueError"}),
        (HandlerFailed("Spy.look", INCREMENTAL_ALTER_CONFIGS, 1, ValueError("hunter2")), {"error": "ValueError"}),
        (StepsFailed("renew", ValueError("boom")), {"what": "renew", "error": "ValueError"}),
        (AclsChanged(2, 1), {"event": "ACLs changed", "created": 2, "deleted": 1}),
        (AclsNotChanged("the disk is full"), {"event": "ACLs not changed", "why": "the disk is full"}),
        (
            Undecodable(METADATA, 12, CLIENTS),
            {"why": "Metadata v12: ends early", "sent_by": "client", "log_level": "warning"},
        ),
    ],
)
async def test_every_event_is_a_line_that_says_whose_it_is(event: Any, says: dict[str, Any]) -> None:
    line = told(event)
    assert line.items() >= says.items()
    assert line["principal"] == "User:alice"
    assert line["client"] == "192.0.2.1:50000"
    assert line["listener"] == "clients"
    assert line["software"] == "librdkafka 2.6"


@pytest.mark.parametrize(("enforced", "event"), [(True, "denied"), (False, "would be denied")])
async def test_a_denial_says_who_wanted_what_and_which_rule_is_against_it(enforced: bool, event: str) -> None:
    line = told(denied("orders", enforced))
    assert (
        line.items()
        >= {
            "event": event,
            "principal": "User:alice",
            "api": "Fetch",
            "operation": "Read",
            "resource": "Topic",
            "name": "orders",
            "why": "a rule that denies",
            "rule": "acl.yaml:7:5",
            "log_level": "info",
        }.items()
    )


async def test_a_denial_that_comes_again_and_again_is_told_once_in_a_while(
    autojump_clock: trio.testing.MockClock,
) -> None:
    telling = Telling(Complaints())
    first = lines(*[denied("orders")] * 5, denied("bills"), denied("orders", enforced=False), telling=telling)
    assert [line["name"] for line in first] == ["orders", "bills", "orders"]
    assert first[1]["left_out"] == 4
    assert len(lines(denied("orders"), principal="User:bob", telling=telling)) == 1
    assert lines(denied("orders"), telling=telling) == []
    await trio.sleep(EVERY)
    (line,) = lines(denied("orders"), telling=telling)
    assert line["left_out"] == 1


async def test_where_an_error_was_raised_is_told() -> None:
    line = told(HandlerFailed("Rules.check", METADATA, 12, KeyError("x"), "plugins/rules.py:7"))
    assert line["at"] == "plugins/rules.py:7"
    assert "at" not in told(HandlerFailed("Rules.check", METADATA, 12, KeyError("x")))
