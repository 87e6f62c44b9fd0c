"""Filters: what happens to each API in each version."""

from proxy.core.filters import Filters
from proxy.protocol.api import APIS, PRODUCE


def test_every_version_of_every_api_for_clients_has_a_filter_chain() -> None:
    table = Filters().table
    expected = {api.key << 16 | version for api in APIS.values() if not api.inter_broker for version in api.versions}
    assert table.keys() == expected
    assert all(chain.request is None and chain.response is None for chain in table.values())


def test_only_produce_is_looked_at_when_nobody_wants_anything() -> None:
    assert {chain.api for chain in Filters().table.values() if chain.sees_request} == {PRODUCE}


def test_requests_are_counted_by_api_and_version() -> None:
    chains = Filters()
    chains.table[9].requests += 2
    assert chains.counts() == {("Produce", 9): 2}
