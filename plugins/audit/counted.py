"""Counted: requests of Produce and Fetch are counted, or recorded in full, unread while they pass (`core/counting.py`).

Rules:
* A window begins with a request that is read. From then on its tally knows the partitions of that request. A request
  about these partitions alone is counted in the tally, unread.
* The counts of a tally are part of its window. A window that was taken to be written counts no more: the next request
  is read, and begins another window.
* Where requests are recorded in full, the topics of a request that was read are known likewise, and later requests
  about them need not be read.
* Counting unread ends at once when the client's identity, the rules in force or the file of levels changes. So whatever
  a tally counts was decided by the rules that its window names.
* If a level depends on the time of day, everything is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.audit.told import ToldTraffic
from plugins.audit.traffic import TrafficSubjects
from proxy.plugin import FETCH, PRODUCE, Api, Connection, Context
from proxy.plugin.frames import CompiledExchange, TrafficLayouts, traffic

if TYPE_CHECKING:
    from plugins.audit.party import KnownParty

TRAFFIC_APIS = PRODUCE, FETCH
Tell = Callable[[float, ToldTraffic, bytes], None]  # record a request that ended then, by the numbers found in it


class PartyTraffic:
    """The requests of one connection, API and version."""

    __slots__ = ("_connection", "_count", "_find", "_key", "_known", "_look", "_tell", "_wall")

    def __init__(self, traffic: CountedTraffic, connection: Connection, known: KnownParty) -> None:
        self._connection = connection
        self._known = known
        self._key = traffic.key
        self._look, self._count, self._find = traffic.layouts.ask, traffic.layouts.answer, traffic.layouts.tell
        self._tell = traffic.tell
        self._wall = traffic.wall

    def ask(self, data: memoryview, begin: int, size: int, header: bytes, came: float) -> CompiledExchange | None:
        """Recognise a request, if its window is open and knows all its partitions."""
        found = self._known.tallies.get(self._key)
        return None if found is None else self._look(found.tally, data, begin, size, header, came)

    def answer(
        self, exchange: CompiledExchange, data: memoryview, begin: int, end: int, answered: float, left: float
    ) -> bool:
        """Count or record a request with its answer, if neither client, rules nor levels have changed."""
        found = self._known.tally(self._connection, self._key)
        if found is None or found.tally is not exchange.tally:
            return False
        if found.told is None:
            return self._count(exchange, data, begin, end, answered, left, self._wall())
        numbers = self._find(exchange, data, begin, end, answered, left)
        if numbers is None:
            return False
        self._tell(self._wall(), found.told, numbers)
        return True


class CountedTraffic:
    """The requests of one API in one version that are counted unread. `name`: the key of notes on requests."""

    def __init__(
        self,
        api: Api,
        version: int,
        layouts: TrafficLayouts,
        tell: Tell,
        name: str,
        known: Callable[[Connection], KnownParty],
        wall: Callable[[], float],
    ) -> None:
        self._api = api
        self._version = version
        self.key = api.key, version
        self.layouts = layouts
        self.tell = tell
        self.wall = wall
        self._name = name
        self._known = known

    def of(self, connection: Connection) -> PartyTraffic:
        """The requests of this connection."""
        return PartyTraffic(self, connection, self._known(connection))

    def resume(self, ctx: Context, exchange: CompiledExchange) -> None:
        """Note a recognised request after all: its answer will be read, or there is none."""
        subjects = ctx.notes[self._name] = TrafficSubjects(self._api, self._version)
        subjects.asked(exchange.asked())


def counted_traffic(
    api: Api,
    version: int,
    tell: Tell,
    name: str,
    known: Callable[[Connection], KnownParty],
    wall: Callable[[], float],
) -> CountedTraffic | None:
    """The counting of requests of this API; None: they are all read, e.g. where the C module was not compiled."""
    layouts = traffic(api.request, api.response, version) if api in TRAFFIC_APIS else None
    return None if layouts is None else CountedTraffic(api, version, layouts, tell, name, known, wall)
