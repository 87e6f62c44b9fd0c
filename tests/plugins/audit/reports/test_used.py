"""Used rights, as far as rules distinguish clients."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from plugins.audit.reports import used
from plugins.audit.reports.report import CannotTellError
from plugins.audit.reports.used import asked_of, uses
from rules import Snapshot, examine_text
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.journals import stamped
from tests.plugins.audit.reports.months import month

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STRICT = """\
acls:
  - {allow: User:a, to: Read, topics: a, from: "0:0:0:0:0:0:0:1", tls: true, during: {hours: "08:00-18:00"}}
  - {allow: User:a, to: Read, topics: a, client_id: a, listener: b, mechanism: PLAIN}
"""


def _rules(text: str) -> Snapshot:
    snapshot, problems = examine_text(text, "acl.yaml", {})
    assert snapshot is not None, problems
    return snapshot


def test_requests_are_told_apart_by_what_some_rule_asks_for() -> None:
    assert asked_of(_rules(STRICT)) == ("client_id", "during", "from", "listener", "mechanism", "tls")
    assert asked_of(_rules("acls:\n  - {allow: User:a, to: Read, topics: a}\n")) == ()


def test_a_client_is_known_as_the_rules_know_clients(spark: SparkSession) -> None:
    party = {"client_host": "::1", "principal": "User:a", "tls": "TLSv1.3 x", "listener": "b", "mechanism": "PLAIN"}
    event = {
        "kind": "request",
        "schema": 2,
        "time": "2026-03-01T08:00:30.000000Z",
        "instance": "i",
        "worker": 0,
        "sequence": 1,
        "api": "Fetch",
        "outcome": "answered",
        "resources": [{"type": "topic", "name": "a"}],
        **party,
    }
    (use,) = uses(clean(spark, [event]), _rules(STRICT))
    assert use.client.host == "0:0:0:0:0:0:0:1"
    assert (use.client.client_id, use.client.listener, use.client.tls) == ("", "b", True)
    assert use.at == datetime(2026, 3, 1, 8, tzinfo=UTC).timestamp()
    decision = _rules(STRICT).decide(use.client, use.operation, use.kind, use.name, use.at)
    assert decision.allowed


def test_too_many_kinds_of_requests_are_told_with_a_way_out(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(used, "MOST", 3)
    with pytest.raises(CannotTellError, match=r"more than 3 kinds of requests .* ask for a shorter period"):
        uses(clean(spark, stamped(month(1, connections=5))), _rules("acls: []"))
