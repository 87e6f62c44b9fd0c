"""A canary: a second cluster beside one that fails, whose client must not be affected."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.gateway import Gateway
from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, serving
from tests.real.ports import free_block

CANARY = "canary"


def beside(bad: Endpoint, canary: Broker, plugins: Sequence[Any] = (), **more: Any) -> Config:
    """A configuration with the cluster `main` of this broker, and the canary's cluster."""
    config = configuration(bad, **more).model_dump(exclude_unset=True)
    if plugins:
        config["plugins"] = plugins
    config["clusters"][CANARY] = {"bootstrap": [str(canary.endpoint)]}
    config["listeners"][CANARY] = {"cluster": CANARY, "bind": f"{LOOPBACK}:{free_block(8, LOOPBACK)}"}
    return Config.model_validate(config)


async def sings(config: Config, node_id: int = 1) -> bool:
    """Is the canary's client served on new connections?"""
    port = config.listeners[CANARY].bind.port
    for at in (port, port + 1 + node_id):
        async with connected(LOOPBACK, at) as client:
            if await client.beat() != 0:
                return False
    return True


@asynccontextmanager
async def serving_both(config: Config) -> AsyncIterator[Gateway]:
    """A gateway whose canary is served before and after the block, on one connection and on new ones."""
    async with serving(config) as gateway:
        port = config.listeners[CANARY].bind.port
        async with connected(LOOPBACK, port) as client:
            assert await client.beat() == 0
            yield gateway
            assert await client.beat() == 0
            assert await sings(config)
