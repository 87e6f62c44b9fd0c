"""Draining: requests in flight are still answered, until a deadline."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from proxy.net.conversation import Conversation
from proxy.net.draining import Draining
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.core.frames import heartbeat, heartbeat_answer
from tests.proxy.net.test_reactor import World, receive, world

PATIENCE = 5.0


def draining(here: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Draining, NetworkCounters]:
    counters = NetworkCounters()
    it = Draining(here.reactor, counters)

    def ended(conversation: Conversation, reason: str | None) -> None:
        here.ended(conversation, reason)
        it.ended(conversation)

    monkeypatch.setattr(here.reactor, "_ended", ended)
    return it, counters


async def test_some_are_let_go_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as here:
        client, broker = here.link()
        await client.send_all(heartbeat(1))
        await receive(broker, len(heartbeat(1)))
        (goes,) = here.reactor.conversations
        here.link()
        it, counters = draining(here, monkeypatch)
        cut: list[int] = []

        async def drain() -> None:
            cut.append(await it.drain([goes], PATIENCE))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(drain)
            await trio.testing.wait_all_tasks_blocked()
            assert len(here.reactor.conversations) == 2
            await broker.send_all(heartbeat_answer(1))
            await receive(client, len(heartbeat_answer(1)))
        assert cut == [0]
        assert goes not in here.reactor.conversations
        assert len(here.reactor.conversations) == 1
        assert counters.cut_by_drain == 0


async def test_what_is_not_answered_in_time_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as here:
        client, broker = here.link()
        await client.send_all(heartbeat(1))
        await receive(broker, len(heartbeat(1)))
        here.link()
        it, counters = draining(here, monkeypatch)
        assert await it.drain(here.reactor.conversations, 0.01) == 1
        assert here.over == [None, "not answered within 0.01 s (limits.drain)"]
        assert counters.cut_by_drain == 1


async def test_nobody_is_let_go_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as here:
        assert await draining(here, monkeypatch)[0].drain([], PATIENCE) == 0
