"""Ports that somebody else has at the start are claimed later, one listener after the other."""

from __future__ import annotations

import socket

import trio.testing

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.claiming import claim_later, unclaimed
from tests.proxy.net.scripted import LOOPBACK, configuration
from tests.real.ports import free_port


class Claims:
    """Listeners that workers leave."""

    def __init__(self, config: Config, *taken: str) -> None:
        self.config = config
        self.taken = frozenset(taken)

    async def free(self, listener: str) -> None:
        self.taken -= {listener}


def having(**ports: int) -> Config:
    listeners = {name: {"cluster": "main", "bind": f"{LOOPBACK}:{port}"} for name, port in ports.items()}
    return configuration(Endpoint("kafka", 9092), listeners=listeners)


def test_each_listener_that_cannot_be_served_is_named_with_the_reason() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        refused = unclaimed(having(one=taken.getsockname()[1], other=free_port(LOOPBACK)))
    assert list(refused) == ["one"]
    assert str(refused["one"]).endswith("stop it, or change listeners.one.bind")


async def test_a_port_is_opened_when_it_is_free_or_its_listener_gone(
    autojump_clock: trio.testing.MockClock,
) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        claims = Claims(having(one=taken.getsockname()[1]), "one", "gone")
        with trio.move_on_after(60):
            await claim_later(claims)
        assert claims.taken == {"one"}
    with trio.fail_after(60):
        await claim_later(claims)
    assert not claims.taken
