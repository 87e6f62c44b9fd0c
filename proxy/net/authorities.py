"""Authorities: who judges the clients of each listener, kept in step with the files that they judge by.

Rules:
* A file is looked at twice a second, in a thread; a change is in force when it was read whole and right.
* A broken new file is a line in the log; what there was before stays in force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog
import trio

from proxy.auth.authority import Begin, Failures, ListenerAuthority
from proxy.auth.identity import BearerIdentity, Identities, Password
from proxy.config import Config
from proxy.config.sasl import ClusterSasl, ListenerSasl, Oauthbearer
from proxy.core.sasl import Exchange
from proxy.net.process import StartError
from proxy.net.tasks import Tasks
from proxy.text.problems import BadFileError
from proxy.text.watched import WatchedFile

# What judges passwords and tokens, and what fetches, takes 25 MB: it is imported where a listener or cluster has it.
if TYPE_CHECKING:
    from proxy.auth.tokens import Judge
    from proxy.auth.users import Users
    from proxy.net.fetching import FetchedKeys, FetchedToken

log = structlog.get_logger()

EVERY = 0.5  # seconds between two looks


class Authorities:
    """The authority of each listener that has one, by name. Raises StartError."""

    def __init__(self, config: Config) -> None:
        self._files: dict[str, WatchedFile[Any]] = {}
        self._fetched: list[FetchedKeys] = []
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
            if mechanism == "OAUTHBEARER":
                assert sasl.oauthbearer is not None, "a checked configuration has it"
                ways[mechanism] = partial(_bearer, self._judge(sasl.oauthbearer))
                continue
            assert sasl.credentials is not None, "a checked configuration has them"
            file = self._users(sasl.credentials)
            ways[mechanism] = partial(_password, mechanism, file)
        return ways

    def _judge(self, tokens: Oauthbearer) -> Judge:
        from proxy.auth.keys import load_keys
        from proxy.auth.tokens import Judge
        from proxy.net.fetching import FetchedKeys

        judge = Judge(None, tokens.issuer, tokens.audience, tokens.scope, tokens.skew, tokens.principal_claim)
        if tokens.jwks is None:
            return judge
        if "://" in tokens.jwks:
            fetched = FetchedKeys(tokens.jwks, tokens)
            self._fetched.append(fetched)
            return replace(judge, keys=lambda: fetched.keys, missing=fetched.missing)
        file = self._read(tokens.jwks, load_keys)
        return replace(judge, keys=lambda: file.value)

    def _users(self, file: str) -> WatchedFile[Users]:
        from proxy.auth import users

        return self._read(file, users.load)

    def _read(self, file: str, load: Callable[[str], Any]) -> WatchedFile[Any]:
        if file not in self._files:
            try:
                self._files[file] = WatchedFile(file, load)
            except BadFileError as error:  # it was right when the configuration was checked
                raise StartError(str(error)) from None
        return self._files[file]

    async def watch(self, tasks: Tasks) -> None:
        """Keep files and keys in step until cancelled."""
        async with trio.open_nursery() as nursery:
            for fetched in self._fetched:
                nursery.start_soon(tasks.keep, "fetching keys", fetched.watch)
            while True:
                await trio.sleep(EVERY)
                for file in self._files.values():
                    with tasks.contained("reading credentials", file=str(file.file)):
                        await _look(file)


class Speakers:
    """As whom the proxy speaks to each cluster that wants to know, by name."""

    def __init__(self, config: Config) -> None:
        self.tokens: dict[str, FetchedToken] = {}  # those that are fetched, by cluster
        self.by_cluster: dict[str, Identities] = {
            name: self._identities(name, cluster.sasl)
            for name, cluster in config.clusters.items()
            if cluster.sasl is not None
        }

    def _identities(self, name: str, sasl: ClusterSasl) -> Identities:
        if sasl.oauthbearer is None:
            return _identities(sasl)
        from proxy.net.fetching import FetchedToken

        token = self.tokens[name] = FetchedToken(sasl.oauthbearer)
        return Identities(BearerIdentity(token.current), {})

    async def watch(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep tokens fresh until cancelled; started when each was fetched, or could not be."""
        async with trio.open_nursery() as nursery:
            for token in self.tokens.values():
                await nursery.start(token.watch)
            task_status.started()
            await trio.sleep_forever()


def _identities(sasl: ClusterSasl) -> Identities:
    usual = None
    if sasl.username is not None and sasl.password is not None:
        usual = Password(sasl.mechanism, sasl.username, sasl.password.get_secret_value())
    mapped = {
        principal: Password(sasl.mechanism, one.username, one.password.get_secret_value())
        for principal, one in (sasl.identities or {}).items()
    }
    return Identities(usual, mapped)


async def _look(file: WatchedFile[Any]) -> None:
    reload = await trio.to_thread.run_sync(file.look)
    if reload is not None and reload.taken:
        log.info("credentials reloaded", file=reload.file)
    elif reload is not None:
        log.error("credentials not reloaded", why="\n".join(reload.said), still="what was read before")


def _bearer(judge: Judge, again: bool) -> Exchange:
    from proxy.auth.tokens import Bearer

    return Bearer(judge, again)


def _password(mechanism: str, file: WatchedFile[Users], again: bool) -> Exchange:
    from proxy.auth.passwords import Plain, Scram

    def known() -> Users:
        return file.value

    return Plain(known, again) if mechanism == "PLAIN" else Scram(known, mechanism, again)
