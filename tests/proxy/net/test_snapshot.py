"""A snapshot is built as a whole, from a configuration and the snapshot before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.config import Config
from proxy.core.clock import Clock
from proxy.net.complaints import Complaints
from proxy.net.plugin_host import PluginHost
from proxy.net.process import StartError
from proxy.net.snapshot import GatewaySnapshot
from proxy.net.snapshot_builder import build
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from tests.certificates import Authority


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that a configuration names."""
    (tmp_path / "acl.yaml").write_text("acls:\n- {allow: User:alice, to: Read, topics: orders}\n")
    save(tmp_path / "users.yaml", {"alice": verifiers("alice-secret")})
    Authority(tmp_path).issue("server", "kafka.example.com")
    return tmp_path


def configuration(folder: Path, **more: Any) -> Config:
    whole: dict[str, Any] = {
        "clusters": {"main": {"bootstrap": ["kafka-1:9092"], "tls": {"ca": "ca.pem"}}},
        "listeners": {
            "clients": {
                "cluster": "main",
                "bind": "0.0.0.0:9192",
                "advertise": "kafka.example.com",
                "tls": {"certificate": "server.pem", "key": "server.key"},
                "sasl": {"mechanisms": ["SCRAM-SHA-256"], "credentials": "users.yaml"},
            },
            "open": {"cluster": "main", "bind": "127.0.0.1:9300"},
        },
        "plugins": [{"acl": {"rules": "acl.yaml"}}],
    }
    return Config.model_validate(whole | more, context={"folder": folder})


@pytest.fixture
async def host() -> PluginHost:
    return PluginHost(0, Clock(), Tasks(NetworkCounters(), Complaints()))


async def test_what_is_said_again_is_the_same_again(folder: Path, host: PluginHost) -> None:
    first = build(configuration(folder), None, host, "mark")
    again = build(configuration(folder), first, host, "mark")
    assert again is not first
    assert {key: made.thing for key, made in again.built.items()} == {
        key: made.thing for key, made in first.built.items()
    }
    assert sorted(what for what, _ in again.watched) == ["certificates", "certificates", "credentials", "rules"]


async def test_only_what_is_said_otherwise_is_made_anew(folder: Path, host: PluginHost) -> None:
    first = build(configuration(folder), None, host, "mark")
    other = build(configuration(folder, plugins=[{"acl": {"rules": "acl.yaml", "shadow": True}}]), first, host, "mark")
    assert _changed(first, other) == {"plugin", "filters"}
    limited = build(configuration(folder, limits={"in_flight": 7}), first, host, "mark")
    assert _changed(first, limited) == set()
    assert (first.limits.in_flight, limited.limits.in_flight) == (1000, 7)
    patient = build(configuration(folder, limits={"first_frame": "7s"}), first, host, "mark")
    assert _changed(first, patient) == {"authority", "plugin", "filters"}, "who is not authenticated in time is ended"


def _changed(one: GatewaySnapshot, other: GatewaySnapshot) -> set[object]:
    before = {made.thing for made in one.built.values()}
    return {key[0] for key, made in other.built.items() if made.thing not in before}


async def test_connections_go_on_with_what_they_authenticated_by(folder: Path, host: PluginHost) -> None:
    first = build(configuration(folder), None, host, "mark")
    began = first.listeners["clients"].filters.plugins[0]
    in_use = [("clients", began)]
    changed = build(configuration(folder, limits={"first_frame": "7s"}, plugins=[]), first, host, "mark", in_use)
    now = changed.listeners["clients"].filters.plugins[0]
    assert now is not began
    for authentication in (now, began):
        filters = changed.filters("clients", authentication)
        assert filters is changed.filters("clients", authentication)
        assert filters in changed.all_filters
        assert filters.plugins == (authentication, *changed.listeners["clients"].filters.plugins[1:])
    late = build(configuration(folder, limits={"first_frame": "7s"}, plugins=[]), first, host, "mark")
    assert late.filters("clients", began).plugins[0] is began, "they came while it was built"


async def test_everything_that_cannot_be_made_is_said(folder: Path, host: PluginHost) -> None:
    for file in ("acl.yaml", "users.yaml", "server.pem", "ca.pem"):
        (folder / file).write_text("broken: [")
    with pytest.raises(StartError) as raised:
        build(configuration(folder), None, host, "mark")
    said = "\n".join(raised.value.reasons)
    for place in ("acl.yaml:", "users.yaml:", "clusters.main.tls.ca: ", "listeners.clients.tls.certificate: "):
        assert place in said
