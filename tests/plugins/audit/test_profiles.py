"""Profiles: every field has a name of its schema, and the right value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from plugins.audit.profiles import PROFILES, ecs, ocsf
from plugins.audit.schema import KINDS

# Of https://www.elastic.co/guide/en/ecs/8.11/ecs-field-reference.html: those that may be used here.
ECS_FIELDS = {
    "@timestamp",
    "ecs.version",
    "event.kind",
    "event.category",
    "event.type",
    "event.module",
    "event.dataset",
    "event.action",
    "event.outcome",
    "event.reason",
    "event.sequence",
    "event.duration",
    "observer.vendor",
    "observer.product",
    "observer.type",
    "observer.version",
    "network.transport",
    "network.protocol",
    "user.name",
    "source.address",
    "source.ip",
    "source.port",
    "user_agent.original",
    "tls.cipher",
    "tls.version",
    "tls.version_protocol",
    "tls.client.subject",
    "rule.name",
    "error.code",
}
ECS_CATEGORIES = {"api", "authentication", "configuration", "database", "iam", "network", "process", "session"}
ECS_TYPES = {"access", "allowed", "change", "connection", "creation", "deletion", "denied", "end", "info", "start"}
# Of https://schema.ocsf.io/1.3.0/classes: what each event must have, and the attributes of each class.
OCSF_BASE = {
    "activity_id",
    "category_uid",
    "class_uid",
    "type_uid",
    "time",
    "severity_id",
    "metadata",
    "status_id",
    "status_detail",
    "duration",
    "unmapped",
    "src_endpoint",
}
OCSF_CLASSES = {
    6003: ({"actor", "api", "resources"}, {"actor", "api"}),
    3002: ({"user", "auth_protocol_id", "auth_protocol"}, {"user"}),
    4001: ({"connection_info", "dst_endpoint"}, {"dst_endpoint"}),
}
OCSF_REQUIRED = {"activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"}

PARTY = {
    "connection": 1,
    "cluster": "main",
    "listener": "clients",
    "client_host": "192.0.2.1",
    "client_port": 50000,
    "client_id": "app",
    "client_software": "librdkafka 2.5",
    "tls": "TLSv1.3 TLS_AES_256_GCM_SHA384",
    "tls_subject": "CN=alice",
    "principal": "User:alice",
    "mechanism": "PLAIN",
}
STAMP = {"schema": 2, "time": "2026-03-01T08:00:00.250000Z", "instance": "a", "worker": 0, "sequence": 7}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, **STAMP, **PARTY, **more}


REQUEST = event(
    "request",
    api="Fetch",
    api_version=13,
    outcome="answered",
    errors=["TOPIC_AUTHORIZATION_FAILED"],
    broker_us=1500,
    proxy_us=500,
    resources=[{"type": "topic", "name": "orders", "id": "x", "partition": 0, "operation": "Read"}],
)


def paths(said: dict[str, Any], above: str = "") -> Iterator[str]:
    for name, value in said.items():
        if above == "" and name == "doorkeeper":
            continue
        if isinstance(value, dict):
            yield from paths(value, f"{above}{name}.")
        else:
            yield above + name


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_one_of_ecs(kind: str) -> None:
    said = ecs(event(kind, why="because", rule="acl.yaml:1:1", errors=["X"]))
    assert set(paths(said)) <= ECS_FIELDS
    assert set(said["event"]["category"]) <= ECS_CATEGORIES
    assert set(said["event"]["type"]) <= ECS_TYPES
    assert said["event"]["outcome"] in ("success", "failure", "unknown")
    assert said["doorkeeper"]["sequence"] == 7


@pytest.mark.parametrize("kind", KINDS)
def test_every_attribute_is_one_of_its_ocsf_class(kind: str) -> None:
    said = ocsf(event(kind, why="because", lasted_us=5_000))
    allowed, needed = OCSF_CLASSES[said["class_uid"]]
    assert OCSF_REQUIRED | needed <= said.keys() <= OCSF_BASE | allowed
    assert said["type_uid"] == said["class_uid"] * 100 + said["activity_id"]
    assert said["category_uid"] == said["class_uid"] // 1000
    assert said["time"] == 1772352000250


def test_a_request_says_who_did_what_and_what_came_of_it() -> None:
    one, other = ecs(REQUEST), ocsf(REQUEST)
    assert (one["user"]["name"], one["event"]["action"], one["event"]["outcome"]) == ("User:alice", "Fetch", "failure")
    assert one["event"]["duration"] == 2_000_000, "nanoseconds"
    assert (other["actor"]["user"]["name"], other["api"]["operation"], other["status_id"]) == ("User:alice", "Fetch", 2)
    assert (other["activity_id"], other["duration"]) == (2, 2), "it reads; milliseconds"
    assert other["resources"] == [{"type": "topic", "name": "orders", "uid": "x"}]


DENIED = event(
    "denied", api="Fetch", operation="Read", resource_type="topic", resource_name="orders", why="no rule allows it"
)


@pytest.mark.parametrize("enforced", [True, False])
def test_what_rules_on_trial_would_refuse_is_no_failure(enforced: bool) -> None:
    one, other = ecs({**DENIED, "enforced": enforced}), ocsf({**DENIED, "enforced": enforced})
    assert one["event"]["type"] == ["access", "denied" if enforced else "allowed"]
    assert one["event"]["outcome"] == ("failure" if enforced else "success")
    assert (other["status_id"], other["severity_id"]) == ((2, 3) if enforced else (1, 1))
    assert other["resources"] == [{"type": "topic", "name": "orders"}]


def test_the_version_of_tls_stands_beside_the_cipher() -> None:
    assert ecs(REQUEST)["tls"] == {
        "cipher": "TLS_AES_256_GCM_SHA384",
        "version": "1.3",
        "version_protocol": "tls",
        "client": {"subject": "CN=alice"},
    }


@pytest.mark.parametrize("profile", PROFILES)
def test_an_event_with_nothing_but_its_stamp_is_exported_too(profile: str) -> None:
    assert json.dumps(PROFILES[profile]({"kind": "journal_closed", **STAMP}))
