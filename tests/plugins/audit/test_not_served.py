"""Connections that are not served: each has an event, or is counted exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio
from confluent_kafka import Producer

from plugins.audit.contents import segment_lines
from plugins.audit.not_served import MOST, OTHERS, WINDOW, NotServedWindows
from plugins.audit.queue import QueuedEvent
from plugins.audit.segments import segments
from plugins.audit.verify import verify
from proxy.plugin import Arrival, NotServed, Tls
from tests.certificates import Authority
from tests.plugins.audit.declared import undeclared
from tests.plugins.audit.written import START
from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, port_of, serving
from tests.real.ports import free_block

STRANGERS = 300
SECONDS = 30.0


@pytest.fixture
async def broker(nursery) -> Broker:  # type: ignore[no-untyped-def]  # pytest-trio has no types
    broker = Broker()
    await nursery.start(broker.serve)
    return broker


def ended(host: str = "10.0.0.1", port: int = 7, why: str = "no TLS: it hung up", **more: Any) -> NotServed:
    return NotServed(Arrival((host, port), "clients", "main", 2), why, **more)


def said(event: QueuedEvent | None) -> dict[str, Any]:
    assert event is not None
    assert event.shared is not None
    assert event.kind == "connection_failed"
    return {**event.shared.fields, **event.fields}


def test_the_first_is_told_at_once_with_all_that_is_known() -> None:
    tls = Tls("TLSv1.3", "TLS_AES_256_GCM_SHA384", subject="CN=alice")
    assert said(NotServedWindows().count(ended(tls=tls, principal="User:alice"), START)) == {
        "cluster": "main",
        "listener": "clients",
        "client_host": "10.0.0.1",
        "client_port": 7,
        "broker": 2,
        "principal": "User:alice",
        "tls": str(tls),
        "tls_subject": "CN=alice",
        "why": "no TLS: it hung up",
        "connections": 1,
    }


def test_those_that_are_alike_are_counted_for_a_window() -> None:
    windows = NotServedWindows()
    assert windows.window == 0.0
    for number in range(4):
        told = windows.count(ended(port=number), START + number)
        assert (told is not None) == (number == 0)
    assert windows.window == WINDOW, "a killed writer may lose as much"
    assert said(windows.count(ended(why="another reason"), START)), "another reason is told"
    assert windows.due(START + WINDOW - 1) == []
    (event,) = windows.due(START + WINDOW)
    assert said(event) == {
        "cluster": "main",
        "listener": "clients",
        "client_host": "10.0.0.1",
        "broker": 2,
        "why": "no TLS: it hung up",
        "connections": 3,
        "window_from": "2026-03-01T08:00:01.000000Z",
        "window_to": "2026-03-01T08:00:03.000000Z",
    }
    assert windows.due(START + 2 * WINDOW) == []
    assert said(windows.count(ended(), START + 2 * WINDOW))["connections"] == 1


def test_those_of_two_principals_are_counted_apart_and_tell_whose_they_are() -> None:
    windows = NotServedWindows()
    for _ in range(2):
        for name in ("User:alice", "User:bob"):
            windows.count(ended(principal=name, why="no identity"), START)
    assert {said(event)["principal"] for event in windows.due(START + WINDOW)} == {"User:alice", "User:bob"}


def test_however_many_strangers_come_each_is_counted_and_few_events_are_told() -> None:
    windows = NotServedWindows()
    told = [windows.count(ended(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}"), START) for n in range(100_000)]
    events = [said(event) for event in (*filter(None, told), *windows.due(START + WINDOW))]
    assert sum(event["connections"] for event in events) == 100_000
    assert len(events) == MOST + 1
    assert (events[-1]["why"], "client_host" in events[-1]) == (OTHERS, False)


def test_those_before_the_clock_was_set_back_are_told_and_make_room() -> None:
    windows = NotServedWindows()
    for number in range(2 * MOST):
        windows.count(ended(f"10.0.0.{number}"), START)
    assert windows.due(START - 0.5) == []
    assert sum(said(event)["connections"] for event in windows.due(START - 1_000_000)) == MOST
    assert windows.count(ended("10.0.1.1"), START - 1_000_000) is not None


def test_a_long_reason_is_cut() -> None:
    assert len(said(NotServedWindows().count(ended(why="x" * 10_000), START))["why"]) == 500


async def test_real_connections_over_the_limit_are_in_the_journal_exactly(broker: Broker, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    plugins = [{"audit": {"journal": str(journal)}}]
    config = configuration(broker.endpoint, plugins=plugins, limits={"connections": 1})
    async with serving(config), connected(LOOPBACK, port_of(config)) as client:
        assert await client.beat() == 0
        for _ in range(STRANGERS):
            async with connected(LOOPBACK, port_of(config)) as stranger:
                assert await stranger.is_closed()
    events = [json.loads(line) for path in segments(journal) for line in segment_lines(path)]
    assert not [problem for event in events for problem in undeclared(event)]
    failed = [event for event in events if event["kind"] == "connection_failed"]
    assert sum(event["connections"] for event in failed) == STRANGERS
    assert len(failed) < STRANGERS / 10
    assert {event["why"] for event in failed} == {"1 are open (limits.connections)"}
    assert not verify(journal).remarks


async def test_a_real_client_that_speaks_no_tls_is_in_the_journal(broker: Broker, tmp_path: Path) -> None:
    Authority(tmp_path).issue("server", LOOPBACK)
    journal = tmp_path / "journal"
    port = free_block(8, LOOPBACK)
    tls = {"certificate": str(tmp_path / "server.pem"), "key": str(tmp_path / "server.key")}
    listeners = {"clients": {"cluster": "main", "bind": f"{LOOPBACK}:{port}", "tls": tls}}
    config = configuration(broker.endpoint, listeners=listeners, plugins=[{"audit": {"journal": str(journal)}}])
    async with serving(config) as gateway:
        client = Producer({"bootstrap.servers": f"{LOOPBACK}:{port}", "log_level": 0, "reconnect.backoff.ms": 10})
        with trio.fail_after(SECONDS):
            while gateway.counters.failed_handshakes < 3:
                client.poll(0)
                await trio.lowlevel.checkpoint()
        del client
    events = [json.loads(line) for path in segments(journal) for line in segment_lines(path)]
    failed = [event for event in events if event["kind"] == "connection_failed"]
    assert sum(event["connections"] for event in failed) == gateway.counters.accepted
    assert all(event["why"].startswith("no TLS: ") for event in failed)
