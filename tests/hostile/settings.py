"""The settings of attacks: the proxy's configuration, and how the canary connects."""

from __future__ import annotations

import os
from typing import Any

from proxy.auth.users import save
from tests.certificates import Authority
from tests.hostile.canary import HOST, REAL
from tests.hostile.ground import Ground, Setting, merged
from tests.hostile.logins import KNOWN, PASSWORDS
from tests.hostile.stage import Play, Stage, brief, silent
from tests.proxy.auth.issuer import Issuer

RULES = """\
super_users: [User:admin]
acls:
  - {allow: User:*, to: All, topics: canary}
  - {allow: [User:ANONYMOUS, User:alice], to: [Read, Write, Describe], topics: [orders, open-*], groups: open-*}
"""
CLUSTERS = 100
SEALED_NAMES = ("kafka.example", "broker-1.kafka.example", "broker-2.kafka.example")


def ruled(ground: Ground, managed: bool = True) -> dict[str, Any]:
    (ground.folder / "acl.yaml").write_text(RULES)
    return {"plugins": [{"acl": {"rules": "acl.yaml", "managed": managed}}]}


def clusters(ground: Ground, many: int = CLUSTERS) -> dict[str, Any]:
    """One cluster with one scripted broker for each case, so that no case sees the effects of another."""
    made: dict[str, Any] = {}
    listeners: dict[str, Any] = {}
    for n in range(many):
        name, stage = f"cluster-{n}", Stage()
        ground.unused.append((name, stage))
        made[name] = {"bootstrap": [f"{REAL}:{stage.port}"]}
        listeners |= ground.listener(name, name)
    return {"clusters": made, "listeners": listeners, **ruled(ground)}


STARTING: dict[str, Play] = {
    "says HTTP": lambda peer: peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "says 2 GiB": lambda peer: peer.send(b"\x7f\xff\xff\xff" + bytes(1 << 20)),
    "says zeros": lambda peer: peer.send(bytes(1 << 20)),
    "says nothing": silent,
    "closes": lambda peer: None,
    "answers with nothing": brief,
    "answers with 0xff": lambda peer: [peer.send(b"\0\0\1\0" + frame[4:8] + b"\xff" * 252) for frame in peer.frames()],
    "talks without end": lambda peer: [peer.send(b"\0\0\1\0" * 4_096) for _ in range(4_096)],
}


def _starts(ground: Ground) -> dict[str, Any]:
    """Clusters whose only broker is hostile from the proxy's start on."""
    both = clusters(ground, len(STARTING))
    for (_, stage), play in zip(ground.unused, STARTING.values(), strict=True):
        stage.play = play
    both["clusters"]["nowhere"] = {"bootstrap": ["no-such-host.invalid:9092"]}
    both["listeners"] |= ground.listener("nowhere", "nowhere")
    return both


def _users(ground: Ground) -> dict[str, Any]:
    save(ground.folder / "users.yaml", KNOWN)
    (ground.folder / "keys.json").write_text(Issuer().jwks)
    mechanisms = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
    sasl = {
        "mechanisms": mechanisms,
        "credentials": "users.yaml",
        "oauthbearer": {"jwks": "keys.json", "audience": "kafka"},
    }
    passed = ground.listener("passed")
    return {"listeners": {"clients": {"sasl": sasl}, **passed}, **ruled(ground)}


def _sessions(ground: Ground) -> dict[str, Any]:
    """Sessions that last longer than any case, and time for many clients to connect before they authenticate."""
    sessions = {"listeners": {"clients": {"sasl": {"session": "1h"}}}, "limits": {"first_frame": "10s"}}
    return merged(_users(ground), sessions)


def _as_canary(ground: Ground) -> dict[str, Any]:
    return {"user": "canary", "password": PASSWORDS["canary"]}


def _sealed(ground: Ground) -> dict[str, Any]:
    ground.kept["authority"] = authority = Authority(ground.folder)
    authority.issue("server", HOST, *SEALED_NAMES)
    server = {"certificate": "server.pem", "key": "server.key"}
    mutual = ground.listener("mutual", tls={**server, "client_auth": "required", "ca": "ca.pem"})
    hosts = {**server, "hosts": "broker-{id}.kafka.example"}
    named = ground.listener("named", advertise="kafka.example", tls=hosts)
    return {"listeners": {"clients": {"tls": server}, **mutual, **named}, **ruled(ground)}


JOURNAL, FAULTS = "journal", "faults.yaml"


def _defaults(ground: Ground) -> dict[str, Any]:
    """A few clusters, and the limits that a configuration without limits has."""
    limits = {"connections": 10_000, "brokers": 1_000, "first_frame": "30s"}
    return {**clusters(ground, 12), "limits": limits}


def _little_memory(ground: Ground) -> dict[str, Any]:
    return {**ruled(ground), "limits": {"memory": "24 MiB", "first_frame": "30s"}}


def _audited(ground: Ground) -> dict[str, Any]:
    return {"plugins": [*ruled(ground)["plugins"], {"audit": {"journal": JOURNAL}}]}


VICTIM = "a file of somebody else"


def _required(ground: Ground) -> dict[str, Any]:
    """A required journal whose folder contains links, a pipe, a folder and a broken file."""
    hour = ground.folder / JOURNAL / "date=2026-03-01" / "hour=08"
    hour.mkdir(parents=True)
    (ground.folder / VICTIM).write_text(VICTIM)
    places = [hour / f"20260301T080000Z-{letter * 8}-0-000001.jsonl.zst" for letter in "abcde"]
    places[0].symlink_to(ground.folder / VICTIM)
    places[1].symlink_to("/dev/zero")
    os.mkfifo(places[2])
    places[3].mkdir()
    places[4].write_text("no frames")
    required = {"journal": JOURNAL, "policy": "required", "patience": "1s"}
    return {"plugins": [*ruled(ground)["plugins"], {"audit": required}]}


# These faults match the attacks' requests, and never the canary's topic.
SOME_FAULTS = """\
seed: 7
faults:
  - {match: {api: [Metadata, Produce, Fetch], topic: open-*}, when: {probability: 0.5}, do: {error: REQUEST_TIMED_OUT}}
  - {match: {group: open-*}, do: {error: {code: COORDINATOR_NOT_AVAILABLE, side: after_broker}}}
  - {match: {topic: orders, partition: 7}, do: {disconnect: after_broker}}
  - {match: {api: Produce, topic: orders, partition: 9}, do: {corrupt: {side: before_broker}}}
  - {match: {api: Metadata, topic: held-*}, do: hold}
  - {match: {api: Metadata, topic: late-*}, do: {delay: {time: 1h, side: after_broker}}}
  - {match: {api: Metadata, topic: lost-*}, do: drop}
  - {match: {api: Metadata, topic: slow-*}, do: {drip: {bytes: 1, every: 1s}}}
"""


def _faulty(ground: Ground) -> dict[str, Any]:
    (ground.folder / FAULTS).write_text(SOME_FAULTS)
    return {"plugins": [{"faults": {"rules": FAULTS}}, *ruled(ground)["plugins"]]}


def _guarded(ground: Ground) -> dict[str, Any]:
    ground.kept["token"] = token = "a-token-that-nobody-guesses"
    return {**_faulty(ground), "admin": {"token": token}}


OPEN = Setting("open")
TWO = Setting("two workers", workers=2)
RULED = Setting("rules", ruled)
AUDITED = Setting("rules and an audit journal", _audited)
REQUIRED = Setting("rules and an audit journal that is required", _required)
FAULTY = Setting("faults and rules", _faulty)
GUARDED = Setting("faults, and an admin side with a token", _guarded)
BROKERS = Setting("hostile brokers", clusters)
STARTS = Setting("brokers that lie from the start", _starts, waits=True)
DEFAULTS = Setting("default limits", _defaults)
LITTLE_MEMORY = Setting("rules, and little memory", _little_memory)
SASL = Setting("SASL", _users, _as_canary)
SESSIONS = Setting("SASL with sessions", _sessions, _as_canary)
TLS = Setting("TLS", _sealed, lambda ground: {"ca": str(ground.folder / "ca.pem")})
CROWDED_TLS = Setting(
    "TLS, with many handshakes at a time",
    lambda ground: {**_sealed(ground), "limits": {"connections": 4_000, "handshakes": 3_000, "handshake": "10s"}},
    TLS.way,
)
