"""Counted chains: one API in one version, whose requests are counted with their answers and seen by nobody.

Rules:
* One plugin wants to count them, no other observes the API, and no plugin takes steps before its answers leave.
* All handlers of its requests have a fast path, and want nothing of an answer but tagged fields at its end.
* `counting.py` says how they are counted, `counted_exchanges.py` what happens to each.
"""

from __future__ import annotations

from proxy.core.counting import RequestCounting
from proxy.core.filter_chain import FilterChain
from proxy.core.interest import interest
from proxy.protocol.tail import ends_in_tags


class CountedChain:
    """Stands in the slot of a request that is counted. `told` is the chain of its answer, if that has to be read."""

    __slots__ = ("asks", "counting", "fast_path", "header_version", "in_turn", "may_wait", "told")

    sees_response = True

    def __init__(self, counting: RequestCounting, chain: FilterChain, told: FilterChain) -> None:
        self.counting = counting
        self.fast_path = chain.fast_path
        self.told = told
        self.may_wait, self.in_turn = told.may_wait, told.in_turn
        self.header_version = chain.header_version
        self.asks = told.unread is not None  # are its handlers asked whether they need to see an answer?


def counted_chain(chain: FilterChain, counting: RequestCounting | None) -> CountedChain | None:
    """The chain of requests that `counting` counts; None: they are read."""
    told = chain.after_fast_path or chain
    if counting is None or chain.observers.holders or not _is_countable(chain, told):
        return None
    return CountedChain(counting, chain, told)


def _is_countable(chain: FilterChain, told: FilterChain) -> bool:
    """Can a request and its answer (by the chain `told`) pass without being read for their handlers?"""
    if told.response is None or (chain.handled and chain.fast_path is None):
        return False
    answered = (told.unread or told).response
    rest = interest(chain.api.response, chain.version, answered.handlers if answered else ())
    return rest is None or (rest.names is not None and ends_in_tags(chain.api.response, rest.names))
