"""Routes: what is done with each api in each version."""

import pytest

from proxy.core.route import Routes
from proxy.protocol.api import APIS, PRODUCE
from tests.proxy.core.frames import produce, produce_answer
from tests.proxy.core.test_responses import Endpoints, fetch_answer


def test_every_version_of_every_api_for_clients_has_a_route() -> None:
    table = Routes().table
    expected = {api.key << 16 | version for api in APIS.values() if not api.inter_broker for version in api.versions}
    assert table.keys() == expected
    assert all(route.request is None and route.response is None for route in table.values())


def test_only_produce_is_looked_at_when_nobody_wants_anything() -> None:
    assert {route.api for route in Routes().table.values() if route.needs_look} == {PRODUCE}


@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_acks_are_read_from_the_beginning_of_a_request(acks: int) -> None:
    route, frame = Routes().table[9], memoryview(produce(1, acks))
    assert route.acks(frame, 18) == acks
    assert route.acks(frame[:20], 18) is None


def test_a_response_begins_behind_its_header_and_its_tags() -> None:
    routes = Routes().table
    frame = produce_answer(1)
    assert routes[9].response_body(frame) == 9
    assert routes[8].response_body(frame) == 8
    tagged = frame[:8] + b"\1\5\2ab" + frame[9:]
    assert routes[9].response_body(tagged) == 13
    assert routes[9].response_body(frame[:8]) is None


@pytest.mark.parametrize("host", [None, "kafka-1"])
def test_a_response_that_ends_without_tags_is_known_from_one_that_does_not(host: str | None) -> None:
    route = Routes([Endpoints()]).table[1 << 16 | 16]
    assert route.tail_only
    frame = fetch_answer(1, 50, host)
    data = memoryview(b"before" + frame + b"after")
    assert route.ends_bare(data, 6, 6 + len(frame)) is (host is None)
    assert not route.ends_bare(data, 6, 6 + len(frame) - 1), "what ends too early is left to whoever reads it"


def test_requests_are_counted_by_api_and_version() -> None:
    routes = Routes()
    routes.table[9].requests += 2
    assert routes.counts() == {("Produce", 9): 2}
