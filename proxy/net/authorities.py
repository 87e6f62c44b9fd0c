"""Authorities: who judges the clients of each listener, kept in step with the files that they judge by.

Rules:
* A file is looked at twice a second, in a thread; a change is in force when it was read whole and right.
* A broken new file is a line in the log; what there was before stays in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import structlog
import trio

from proxy.auth import users
from proxy.auth.authority import Begin, Failures, ListenerAuthority
from proxy.auth.identity import Identities, Password
from proxy.auth.passwords import Plain, Scram
from proxy.auth.reloaded import Reloaded
from proxy.auth.users import Users
from proxy.config import Config
from proxy.config.sasl import ClusterSasl, ListenerSasl
from proxy.core.sasl import Exchange
from proxy.text.problems import BadFileError

log = structlog.get_logger()

EVERY = 0.5  # seconds between two looks


class Authorities:
    """The authority of each listener that has one, by name."""

    def __init__(self, config: Config) -> None:
        self._files: dict[str, Reloaded[Users]] = {}
        failures = Failures()
        self.by_listener: Mapping[str, ListenerAuthority] = {
            name: ListenerAuthority(
                self._ways(listener.sasl), listener.sasl.session, config.limits.first_frame, failures
            )
            for name, listener in config.listeners.items()
            if listener.sasl is not None
        }

    def _ways(self, sasl: ListenerSasl) -> dict[str, Begin]:
        ways: dict[str, Begin] = {}
        for mechanism in sasl.mechanisms:
            assert sasl.credentials is not None, "a checked configuration has them"
            file = self._users(sasl.credentials)
            ways[mechanism] = partial(_password, mechanism, file)
        return ways

    def _users(self, file: str) -> Reloaded[Users]:
        if file not in self._files:
            self._files[file] = Reloaded(file, users.load)
        return self._files[file]

    async def watch(self) -> None:
        """Keep the files in step until cancelled."""
        while True:
            await trio.sleep(EVERY)
            for file in self._files.values():
                await _look(file)


def identities_of(config: Config) -> dict[str, Identities]:
    """As whom the proxy speaks to each cluster that wants to know, by name."""
    return {name: _identities(cluster.sasl) for name, cluster in config.clusters.items() if cluster.sasl is not None}


def _identities(sasl: ClusterSasl) -> Identities:
    usual = None
    if sasl.username is not None and sasl.password is not None:
        usual = Password(sasl.mechanism, sasl.username, sasl.password.get_secret_value())
    mapped = {
        principal: Password(sasl.mechanism, one.username, one.password.get_secret_value())
        for principal, one in (sasl.identities or {}).items()
    }
    return Identities(usual, mapped)


async def _look(file: Reloaded[Users]) -> None:
    try:
        if await trio.to_thread.run_sync(file.look):
            log.info("credentials reloaded", file=file.file, users=len(file.value))
    except BadFileError as error:
        log.error("credentials not reloaded", why=str(error), still="what was read before")


def _password(mechanism: str, file: Reloaded[Users], again: bool) -> Exchange:
    def known() -> Users:
        return file.value

    return Plain(known) if mechanism == "PLAIN" else Scram(known, mechanism, again)
