"""Redacted: events of all kinds, as the redaction rules change them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plugins.audit.chain import Chain
from plugins.audit.contents import segment_lines
from plugins.audit.keyfile import KeyFileError
from plugins.audit.lines import EventLines
from plugins.audit.pseudonyms import Pseudonyms, pseudonyms
from plugins.audit.queue import QueuedEvent
from plugins.audit.redacted import Redactor, redactor
from plugins.audit.redaction import FIELDS, Redaction, RedactionRule
from plugins.audit.rotation import Rotation
from plugins.audit.segments import segments
from plugins.audit.shared import SharedFields
from tests.plugins.audit.declared import undeclared
from tests.plugins.audit.written import KEY, START, Wall

SECRET = Pseudonyms(bytes(32))
PARTY = {
    "connection": 4,
    "client_host": "10.1.2.77",
    "client_port": 40112,
    "principal": "User:alice",
    "delegation": "token-1",
    "client_id": "alices-laptop",
    "tls_subject": "CN=alice",
}


def rule(**said: Any) -> RedactionRule:
    return RedactionRule.model_validate(said)


def told(
    fields: dict[str, Any], *rules: RedactionRule, party: dict[str, Any] | None = None, kind: str = "request"
) -> dict[str, Any]:
    """The event's own fields and those of its party, as they stand in the journal."""
    event = QueuedEvent(kind, START, None if party is None else SharedFields(party), fields)
    lines = EventLines("a", 0, Redactor(Redaction(rules, SECRET)))
    found: dict[str, Any] = json.loads(lines.line(event))
    assert not undeclared(found)
    return {name: found[name] for name in found if name not in ("kind", "schema", "time", "instance", "worker")}


def test_with_an_address_goes_the_port_and_with_a_principal_the_token() -> None:
    found = told({}, rule(fields=("client_host", "principal"), how="mask"), party=PARTY)
    assert found == {
        "sequence": 1,
        "connection": 4,
        "client_host": "10.1.2.0",
        "principal": "User:***",
        "client_id": "alices-laptop",
        "tls_subject": "CN=alice",
        "redacted": ["client_host", "principal"],
    }


def test_an_event_in_which_nothing_is_redacted_says_nothing_of_it() -> None:
    of_others = rule(fields=tuple(FIELDS), principals="User:bob", how="leave_out")
    resources = [{"type": "topic", "name": "orders"}]
    assert told({"resources": resources}, of_others, party=PARTY) == {"sequence": 1, **PARTY, "resources": resources}


def test_resources_are_redacted_by_their_type() -> None:
    resources = [
        {"type": "topic", "name": "orders", "id": "abc", "partition": 1, "records": 5},
        {"type": "topic", "id": "an-id", "partition": 1},
        {"type": "group", "name": "readers"},
        {"type": "share_group", "name": "readers"},
        {"type": "user", "name": "a:b"},
        {"type": "cluster", "name": "kafka-cluster"},
        {"type": "any", "name": "orders"},
    ]
    found = told({"resources": resources}, rule(fields=("topic", "group", "principal"), how="hash"))
    assert found["resources"] == [
        {"type": "topic", "name": SECRET.of("topic", "orders"), "partition": 1, "records": 5},
        {"type": "topic", "id": SECRET.of("topic", "an-id"), "partition": 1},
        {"type": "group", "name": SECRET.of("group", "readers")},
        {"type": "share_group", "name": SECRET.of("group", "readers")},
        {"type": "user", "name": SECRET.of("principal", "a:b")},
        {"type": "cluster", "name": "kafka-cluster"},
        {"type": "any", "name": SECRET.of("group", "orders")},
    ]
    assert found["redacted"] == ["group", "principal", "topic"]


def test_changes_are_redacted_by_their_type_and_by_whom_they_are_about() -> None:
    acl = {"change": "create", "type": "topic", "name": "orders", "principal": "User:bob", "host": "10.9.9.9"}
    changes = [
        acl,
        {**acl, "principal": "User:*", "host": "*"},
        {"change": "reset offset", "type": "group", "name": "readers", "key": "orders", "partition": 0, "value": "5"},
        {"change": "set", "type": "user quota", "name": "svc-1", "key": "producer_byte_rate"},
        {"change": "set", "type": "client-id quota", "name": "<default>", "key": "producer_byte_rate"},
        {"change": "set", "type": "ip quota", "name": "10.9.9.9", "key": "connection_creation_rate"},
    ]
    rules = rule(fields="principal", names="User:svc-*", how="keep"), rule(fields=tuple(FIELDS), how="mask")
    found = told({"changes": changes}, *rules)["changes"]
    masked = {"change": "create", "type": "topic", "name": "***"}
    assert found == [
        {**masked, "principal": "User:***", "host": "10.9.9.0"},
        {**masked, "principal": "User:*", "host": "*"},
        {"change": "reset offset", "type": "group", "name": "***", "key": "***", "partition": 0, "value": "5"},
        changes[3],
        changes[4],
        {**changes[5], "name": "10.9.9.0"},
    ]


def test_denials_logins_and_reasons_are_redacted_too() -> None:
    everything = rule(fields=tuple(FIELDS), how="mask")
    fields = {"resource_type": "topic", "resource_name": "orders", "why": "User:alice may not read orders, or orders-2"}
    found = told(fields, everything, party=PARTY, kind="denied")
    assert (found["resource_name"], found["why"]) == ("***", "User:*** may not read ***, or orders-2")
    fields = {"claimed": "User:carol", "why": "carol is locked; alice, from 10.1.2.77:40112, is not"}
    found = told(fields, everything, party={**PARTY, "principal": "User:alice"}, kind="authentication_failed")
    assert (found["claimed"], found["why"]) == ("User:***", "*** is locked; ***, from 10.1.2.0:40112, is not")


def test_what_is_left_out_is_not_there() -> None:
    found = told(
        {"resources": [{"type": "topic", "name": "orders", "records": 5}], "why": "orders is gone"},
        rule(fields=("topic", "principal"), how="leave_out"),
        party=PARTY,
    )
    assert found["resources"] == [{"type": "topic", "records": 5}]
    assert found["why"] == "*** is gone"
    assert "principal" not in found
    assert found["redacted"] == ["principal", "topic"]


def test_the_event_itself_is_not_changed() -> None:
    fields = {"resources": [{"type": "topic", "name": "orders"}], "why": "orders"}
    before = json.dumps(fields)
    told(fields, rule(fields="topic", how="hash"))
    assert json.dumps(fields) == before


def test_events_that_share_a_party_share_it_redacted() -> None:
    redact = Redactor(Redaction([rule(fields="principal", how="hash")], SECRET))
    party = SharedFields(PARTY)
    one, other = (redact(QueuedEvent("request", START, party, {})) for _ in range(2))
    assert one.shared is other.shared is not party


def test_a_segment_says_by_which_rules_and_key(tmp_path: Path) -> None:
    redact = redactor([rule(fields="principal", how="hash")], tmp_path / "secret")
    assert redact is not None
    Chain(tmp_path, "a", 0, KEY, Wall(), Rotation(), {}, redactor=redact).end()
    (segment,) = segments(tmp_path)
    begun = json.loads(next(segment_lines(segment)))
    assert begun["redaction"] == ["principal: hash"]
    assert begun["pseudonyms"] == pseudonyms(tmp_path / "secret").id
    assert not undeclared(begun)


def test_a_key_is_only_needed_for_hashes(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("x")
    assert redactor([], tmp_path / "short") is None
    assert redactor([rule(fields="principal", how="mask")], tmp_path / "short") is not None
    with pytest.raises(KeyFileError):
        redactor([rule(fields="principal", how="hash")], tmp_path / "short")


def test_whom_a_refused_certificate_is_about_is_not_told_in_the_reason() -> None:
    party = {"client_host": "10.1.2.77", "client_port": 1}
    fields = {"why": 'no TLS: no rule of principal_mapping fits "CN=alice,O="Example""', "connections": 1}
    found = told(fields, rule(fields="tls_subject", how="hash"), party=party, kind="connection_failed")
    assert found["why"] == 'no TLS: no rule of principal_mapping fits "***"'
    assert found["redacted"] == ["tls_subject"]
    kept = told(fields, rule(fields="client_id", how="hash"), party=party, kind="connection_failed")
    assert kept["why"] == fields["why"]
    cut = {**fields, "why": 'no TLS: no rule of principal_mapping fits "CN=alice,O="Exam'}
    assert told(cut, rule(fields="tls_subject", how="hash"), party=party, kind="connection_failed") == found


def test_a_user_is_one_and_the_same_however_a_resource_names_it() -> None:
    alice = rule(fields="principal", names="User:alice", how="hash")
    for name in ("alice", "User:alice"):
        fields = {"resource_type": "user", "resource_name": name}
        found = told(fields, alice, party={"principal": "User:alice"}, kind="denied")
        assert found["resource_name"].removeprefix("User:") == found["principal"].removeprefix("User:")
        assert found["principal"] == f"User:{SECRET.of('principal', 'alice')}"


def test_names_that_a_reason_does_not_say_leave_it_as_it_is() -> None:
    topics = [{"type": "topic", "name": name} for name in ("", "orders", "why")]
    fields = {"resources": topics, "why": "Read: orders"}
    assert told(fields, rule(fields="topic", how="mask"), party=PARTY)["why"] == "Read: ***"
    fields = {"resources": topics, "why": "the client closed the connection"}
    assert told(fields, rule(fields="topic", how="mask"), party=PARTY)["why"] == fields["why"]
