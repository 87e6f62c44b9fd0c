from __future__ import annotations

from proxy.core.filters import Filters
from proxy.net.replaced_filters import ReplacedFilters

HEARTBEAT_4 = 12 << 16 | 4


def seen(requests: int) -> Filters:
    """Filters that counted so many requests."""
    filters = Filters()
    filters.table[HEARTBEAT_4].requests = requests
    return filters


def test_requests_are_counted_while_links_use_the_replaced_filters_and_kept_when_these_are_gone() -> None:
    replaced, before, now = ReplacedFilters(), seen(3), seen(1)
    replaced.replace([before], [now])
    before.table[HEARTBEAT_4].requests += 1
    replaced.let_go({before})
    assert replaced.counted([now]) == {"requests_Heartbeat": 5}
    replaced.let_go({now})
    assert replaced.leases == []
    before.table[HEARTBEAT_4].requests += 1  # too late: nobody can be left that uses them
    assert replaced.counted([now]) == {"requests_Heartbeat": 5}


def test_filters_that_stay_in_force_are_not_replaced() -> None:
    replaced, staying, before = ReplacedFilters(), seen(3), seen(1)
    replaced.replace([staying, before], [staying])
    assert replaced.leases == [before.lease]
    assert replaced.counted([staying]) == {"requests_Heartbeat": 4}
