"""Claiming: what becomes of a listener whose bootstrap port cannot be opened when the proxy starts.

Rules:
* The other listeners are served, and it is an error in the log. If no listener can be served, the proxy does not start.
* A single process opens the port as soon as it can (`broker_ports.py`). Several workers share their ports, and would
  share it with another proxy that shares it too, without noticing. So they leave it, and the ports for its brokers,
  until the supervisor could claim it.
"""

from __future__ import annotations

from typing import Protocol

import trio

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, claim
from proxy.net.broker_ports import FIRST_RETRY, LAST_RETRY


class Claims(Protocol):
    """The listeners whose ports several workers leave."""

    @property
    def taken(self) -> frozenset[str]:
        """Their names."""

    @property
    def config(self) -> Config:
        """The configuration that is in force."""

    async def free(self, listener: str) -> None:
        """Have the workers open its ports."""


def unclaimed(config: Config) -> dict[str, BindError]:
    """The listeners whose bootstrap ports cannot be opened, and why."""
    return {name: error for name in config.listeners if (error := _refused(config, name)) is not None}


async def claim_later(claims: Claims) -> None:
    """Try again until the ports of all listeners could be claimed."""
    pause = FIRST_RETRY
    while claims.taken:
        await trio.sleep(pause)
        pause = min(pause * 2, LAST_RETRY)
        for name in claims.taken:
            if name not in claims.config.listeners or not await trio.to_thread.run_sync(_refused, claims.config, name):
                await claims.free(name)


def _refused(config: Config, name: str) -> BindError | None:
    try:
        claim(Endpoint(*config.listeners[name].bind), f"listeners.{name}.bind")
    except BindError as error:
        return error
    return None
