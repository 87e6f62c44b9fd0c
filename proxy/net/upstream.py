"""Upstream: one cluster as this worker sees it. Its brokers are discovered again and again.

Rules:
* The first broker that answers is believed. Known brokers are asked first, then the bootstrap addresses.
* `exposure.py` is told of every broker, and returns those that can be used.
* Some brokers require authentication, and we may have no identity for them. They are learned from responses to clients.
  Such brokers are asked rarely, since each question is a warning, with a traceback, in a broker's log.
* If no broker answers, discovery is tried again after 0.5 s, 1 s, ... 15 s. Before any broker is known, each attempt is
  a line in the log. After that, only the first failure and the recovery are.
* Log lines are rate-limited: a faulty broker can come and go, and so can the brokers that it tells of.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

import structlog
import trio

from proxy.core.backoff import backoff
from proxy.core.topology import Endpoint, ReachedBy
from proxy.net.cluster_access import ClusterAccess
from proxy.net.complaints import Complaints, Write
from proxy.net.dial import ReservedError, UnreachableError
from proxy.net.discovery import Cluster
from proxy.net.resolving import look_up_for
from proxy.net.time_slices import TimeSlice
from proxy.telemetry.counters import NetworkCounters

log = structlog.get_logger()

EVERY = 30.0  # seconds between two discoveries
RARELY = 600.0  # seconds between two, if brokers require authentication that we do not have
SOONEST = 1.0  # the least seconds between two, however often discovery is asked for
FIRST_RETRY = 0.5
LAST_RETRY = 15.0
CANDIDATES = 8  # brokers to ask before the cluster counts as unreachable


class Upstream:
    """The brokers of one cluster. `discovered` is called with those that were found, and returns the usable ones."""

    def __init__(
        self,
        access: ClusterAccess,
        bootstrap: Sequence[Endpoint],
        discovered: Callable[[Mapping[int, Endpoint]], Awaitable[dict[int, Endpoint]]],
        counters: NetworkCounters,
        complaints: Complaints,
    ) -> None:
        self.name = access.name
        self.access = access
        self.reached_by = ReachedBy()
        self.brokers: dict[int, Endpoint] = {}
        self.known = trio.Event()
        self._bootstrap = tuple(bootstrap)
        self._discovered = discovered
        self._counters = counters
        self._complaints = complaints
        self._asked = trio.Event()
        self._turn = 0
        self._reserved = False  # the brokers require authentication that we do not have

    def ask_again(self) -> None:
        """Discover soon instead of in half a minute, because something changed or may have changed."""
        if not self._reserved:
            self._asked.set()

    def anybody(self) -> Iterator[Endpoint]:
        """Addresses for a client to begin at: a broker, a different one each time, the bootstrap ones, other brokers.

        If all known brokers are gone, the bootstrap addresses are where the others are found.
        """
        self._turn += 1
        brokers = self._rotated([self.brokers[node_id] for node_id in sorted(self.brokers)])
        yield from dict.fromkeys((*brokers[:1], *self._rotated(self._bootstrap), *brokers[1:]))

    def _rotated(self, addresses: Sequence[Endpoint]) -> list[Endpoint]:
        """The same addresses, with a different one first each time."""
        first = self._turn % len(addresses) if addresses else 0
        return [*addresses[first:], *addresses[:first]]

    async def watch(self) -> None:
        """Discover until cancelled."""
        look_up_for(self.name)
        failures = 0
        while True:
            self._asked = trio.Event()
            found = await self._discover(failures)
            if found is None:
                failures += 1
                await trio.sleep(_pause(failures))
                continue
            if failures and self.known.is_set():
                self._complaints.tell(log.info, "upstream reachable again", self.name, cluster=self.name)
            failures = 0
            await self._learn(found)
            await trio.sleep(SOONEST)
            with trio.move_on_after((RARELY if self._reserved else EVERY) - SOONEST):
                await self._asked.wait()

    async def _discover(self, failures: int) -> Cluster | None:
        tried = []
        for _, endpoint in zip(range(CANDIDATES), self.anybody(), strict=False):
            try:
                found = await self.access.discover(endpoint)
            except ReservedError as error:
                self._reserved = True
                self._learn_from_clients(error)
                return Cluster({}, None)
            except UnreachableError as error:
                tried.append(str(error))
            else:
                self._reserved = False
                return found
        self._counters.failed_discovery += 1
        if not self.known.is_set() or not failures:
            left_out = self._complaints.due("upstream unreachable", self.name, failures)
            if left_out is not None:
                facts = {"tried": "; ".join(tried), "retry_in": f"{_pause(failures + 1):g}s"}
                log.warning("upstream unreachable", cluster=self.name, **facts, **left_out)
        return None

    def _learn_from_clients(self, error: ReservedError) -> None:
        """Note that brokers do not answer us. Their responses to clients pass here and tell about them."""
        if not self.known.is_set():
            way_out = f"clients that authenticate bring them; or say who we are in clusters.{self.name}.sasl"
            log.info("brokers not discovered", why=str(error), cluster=self.name, way_out=way_out)

    async def _learn(self, found: Cluster) -> None:
        before, self.brokers = self.brokers, await self._discovered(found.brokers)
        brokers, working = self.brokers, TimeSlice()
        if self.known.is_set():
            for node_id in sorted(brokers.keys() - before.keys()):
                self._tell(log.info, "broker appeared", node_id, brokers[node_id])
                await working.let_others_run()
            for node_id in sorted(before.keys() - brokers.keys()):
                self._tell(log.warning, "broker left", node_id, before[node_id])
                await working.let_others_run()
        paths = self.access.paths
        if paths is not None:
            for endpoint in brokers.values():
                paths.look(endpoint)
                await working.let_others_run()
        self.known.set()

    def _tell(self, write: Write, event: str, node_id: int, endpoint: Endpoint) -> None:
        facts = {"cluster": self.name, "broker": node_id, "at": str(endpoint)}
        self._complaints.tell(write, event, self.name, node_id, **facts)


def _pause(failures: int) -> float:
    return backoff(FIRST_RETRY, LAST_RETRY, failures)
