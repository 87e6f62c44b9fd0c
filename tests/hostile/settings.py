"""The settings in which attacks are tried: what is in front of the brokers, and how the canary comes in."""

from __future__ import annotations

from typing import Any

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from tests.certificates import Authority
from tests.hostile.canary import HOST, REAL
from tests.hostile.ground import Ground, Setting
from tests.hostile.stage import Stage

RULES = """\
super_users: [User:admin]
acls:
  - {allow: User:*, to: All, topics: canary}
  - {allow: [User:ANONYMOUS, User:alice], to: [Read, Write, Describe], topics: [orders, open-*], groups: open-*}
  - {allow: User:ANONYMOUS, to: [Describe, Alter], cluster: true}
"""
PASSWORDS = {"canary": "of-the-canary", "alice": "of-alice", "admin": "of-admin"}
ITERATIONS = 4096
CLUSTERS = 40
SEALED_NAMES = ("kafka.example", "broker-1.kafka.example", "broker-2.kafka.example")


def _rules(ground: Ground, managed: bool = True) -> dict[str, Any]:
    (ground.folder / "acl.yaml").write_text(RULES)
    return {"plugins": [{"acl": {"rules": "acl.yaml", "managed": managed}}]}


def _clusters(ground: Ground) -> dict[str, Any]:
    """A cluster of one scripted broker for each case, so that none sees what another has done to it."""
    clusters: dict[str, Any] = {}
    listeners: dict[str, Any] = {}
    for n in range(CLUSTERS):
        name, stage = f"cluster-{n}", Stage()
        ground.unused.append((name, stage))
        clusters[name] = {"bootstrap": [f"{REAL}:{stage.port}"]}
        listeners |= ground.listener(name, name)
    return {"clusters": clusters, "listeners": listeners, **_rules(ground)}


def _users(ground: Ground) -> dict[str, Any]:
    save(ground.folder / "users.yaml", {name: verifiers(word, ITERATIONS) for name, word in PASSWORDS.items()})
    mechanisms = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
    sasl = {"mechanisms": mechanisms, "credentials": "users.yaml", "oauthbearer": {"unsecured": True}}
    passed = ground.listener("passed")
    return {"listeners": {"clients": {"sasl": sasl}, **passed}, **_rules(ground)}


def _as_canary(ground: Ground) -> dict[str, Any]:
    return {"user": "canary", "password": PASSWORDS["canary"]}


def _sealed(ground: Ground) -> dict[str, Any]:
    authority = Authority(ground.folder)
    authority.issue("server", HOST, *SEALED_NAMES)
    server = {"certificate": "server.pem", "key": "server.key"}
    mutual = ground.listener("mutual", tls={**server, "client_auth": "required", "ca": "ca.pem"})
    hosts = {**server, "hosts": "broker-{id}.kafka.example"}
    named = ground.listener("named", advertise="kafka.example", tls=hosts)
    return {"listeners": {"clients": {"tls": server}, **mutual, **named}, **_rules(ground)}


OPEN = Setting("open")
TWO = Setting("two workers", workers=2)
RULED = Setting("rules", _rules)
BROKERS = Setting("hostile brokers", _clusters)
SASL = Setting("SASL", _users, _as_canary)
TLS = Setting("TLS", _sealed, lambda ground: {"ca": str(ground.folder / "ca.pem")})
