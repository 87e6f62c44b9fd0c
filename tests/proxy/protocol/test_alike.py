"""Frames with the layout of an earlier frame are recognized without a walk; other frames never are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from proxy.protocol.alike import LONGEST, MOST, Alike, Looked
from proxy.protocol.codec import encode, tags_finder
from proxy.protocol.messages.produce import ProduceResponse

V = 11
WALK: Callable[[Any, int], int] = tags_finder(ProduceResponse, V)


def answer(topics: list[str], offset: int = 0, message: str | None = None) -> memoryview:
    """A Produce response for one partition of each topic."""
    partition = ProduceResponse.Topic.Partition
    return memoryview(
        encode(
            ProduceResponse(
                responses=[
                    ProduceResponse.Topic(
                        name=name,
                        partition_responses=[
                            partition(index=0, error_code=0, base_offset=offset, error_message=message)
                        ],
                    )
                    for name in topics
                ]
            ),
            V,
        )
    )


def dense(looked: Looked, start: int) -> int:
    """A walk that looks at every tenth byte."""
    return sum(looked[place] for place in range(start, len(looked), 10))


def remembering(*bodies: memoryview) -> Alike:
    alike = Alike()
    for body in bodies:
        alike.remember(body, 0, len(body), WALK)
    return alike


def knows(alike: Alike, body: memoryview) -> bool:
    return alike.knows(memoryview(b"head" + bytes(body) + b"more"), 4, 4 + len(body))


def test_what_differs_in_values_alone_is_alike() -> None:
    alike = remembering(answer(["orders"]))
    assert knows(alike, answer(["orders"], offset=0x7F7F7F7F7F7F7F7F))
    assert knows(alike, answer(["quotes"]))


def test_what_differs_in_a_length_or_a_count_is_not() -> None:
    alike = remembering(answer(["orders"], message="ab"), answer(["ordersab"]))
    assert len(answer(["ordersa"], message="b")) == len(answer(["orders"], message="ab"))
    assert not knows(alike, answer(["ordersa"], message="b"))
    assert not knows(alike, answer(["o"]))


def test_whatever_is_known_ends_where_a_walk_says() -> None:
    body = answer(["orders", "payments"], message="no")
    alike, dice, agreed = remembering(body), random.Random(5), 0
    for _ in range(5000):
        mutant = bytearray(body)
        mutant[dice.randrange(len(mutant))] = dice.randrange(256)
        if knows(alike, memoryview(mutant)):
            assert WALK(memoryview(mutant), 0) == WALK(body, 0)
            agreed += 1
    assert agreed > 1000


@pytest.mark.parametrize("size", [LONGEST + 1, 10 * LONGEST])
def test_long_frames_are_not_remembered(size: int) -> None:
    body = memoryview(bytes(size))
    alike = Alike()
    alike.remember(body, 0, size, dense)
    assert not alike.knows(body, 0, size)


def test_only_so_many_lengths_are_remembered() -> None:
    alike = Alike()
    bodies = [memoryview(bytes(size)) for size in range(1, MOST + 10)]
    for body in bodies:
        alike.remember(body, 0, len(body), dense)
    assert [alike.knows(body, 0, len(body)) for body in bodies] == [True] * MOST + [False] * 9


def test_looking_leaves_a_trace() -> None:
    looked = Looked(memoryview(b"abc"))
    assert (looked[1], len(looked), looked.places) == (ord("b"), 3, {1})


def test_no_byte_that_was_not_looked_at_counts() -> None:
    body = bytearray(range(100))
    alike = Alike()
    alike.remember(memoryview(body), 0, len(body), dense)
    for place in range(len(body)):
        other = bytearray(body)
        other[place] ^= 255
        assert knows(alike, memoryview(other)) is bool(place % 10)
