"""Parts: what the parts of one link share. The link makes them; none of them knows the link."""

from __future__ import annotations

from typing import NamedTuple

from proxy.core.allowance import Allowance
from proxy.core.context import Connection
from proxy.core.counted_exchanges import CountedExchanges
from proxy.core.inflight import InFlight
from proxy.core.limits import Counters, Limits
from proxy.core.outbox import Outbox
from proxy.core.outcome import Outcomes
from proxy.core.waiting import WaitingTasks


class Parts(NamedTuple):
    """Each part owns its state."""

    connection: Connection
    limits: Limits
    counters: Counters
    outbox: Outbox
    inflight: InFlight
    outcomes: Outcomes
    counted: CountedExchanges
    tasks: WaitingTasks
    allowance: Allowance
