"""Frame facts: what is found in a frame that nobody reads."""

import pytest

from proxy.core.filters import Filters
from tests.proxy.core.frames import produce, produce_answer
from tests.proxy.core.test_responses import Endpoints, fetch_answer


@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_acks_are_read_from_the_beginning_of_a_request(acks: int) -> None:
    chain, frame = Filters().table[9], memoryview(produce(1, acks))
    assert chain.acks(frame, 18) == acks
    assert chain.acks(frame[:20], 18) is None


def test_a_response_begins_behind_its_header_and_its_tags() -> None:
    chains = Filters().table
    frame = produce_answer(1)
    assert chains[9].response_body(frame) == 9
    assert chains[8].response_body(frame) == 8
    tagged = frame[:8] + b"\1\5\2ab" + frame[9:]
    assert chains[9].response_body(tagged) == 13
    assert chains[9].response_body(frame[:8]) is None


@pytest.mark.parametrize("host", [None, "kafka-1"])
def test_a_response_that_ends_without_tags_is_known_from_one_that_does_not(host: str | None) -> None:
    chain = Filters([Endpoints()]).table[1 << 16 | 16]
    assert chain.tail_only
    frame = fetch_answer(1, 50, host)
    data = memoryview(b"before" + frame + b"after")
    assert chain.ends_bare(data, 6, 6 + len(frame)) is (host is None)
    assert not chain.ends_bare(data, 6, 6 + len(frame) - 1), "what ends too early is left to whoever reads it"
