"""Random sequences of requests by clients with fetch and share sessions, while rules and topics change.

Rules:
* Both sides get the same requests in lockstep. An epoch is a word: the next one, one too early, the last.
* A session is identified by the order of opening, since its id differs between the sides.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from tests.acl.language import Given

PEOPLE = ("alice", "alice", "bob")  # the user of each connection
TOPICS = ("a", "b", "c", "missing")
GIVEN = Given.model_validate(
    {
        "topics": {"a": 2, "b": 2, "c": 2},
        "records": {"a": ("1", "2", "3"), "b": ("4", "5", "6")},
        "acls": ({"allow": ("User:alice", "User:bob"), "to": "Read", "groups": "g"},),
    }
)
NEXT, FULL, LAST = "next", "full", "last"
EPOCHS = (NEXT, FULL, LAST, "again", "ahead", "below")
OFFSETS = (0, 0, 1, 3, 9)
FETCH_VERSIONS = (4, 7, 11, 12, 13, 16, 17)


class Part(NamedTuple):
    """Partitions of a topic. `old`: by the topic id before it was recreated."""

    topic: str
    partitions: tuple[int, ...]
    old: bool = False


class Fetch(NamedTuple):
    """A fetch, sent `times` times. `session` is the index of an opened one; None: none; too high: an invented id."""

    who: int
    version: int
    session: int | None
    epoch: str
    topics: tuple[Part, ...]
    forgotten: tuple[Part, ...]
    offset: int
    times: int = 1


class ShareFetch(NamedTuple):
    """A share fetch; it acknowledges records that no member holds. With `alone` it is a ShareAcknowledge."""

    who: int
    epoch: str
    topics: tuple[Part, ...]
    forgotten: tuple[Part, ...]
    acknowledges: bool
    alone: bool = False


class Allow(NamedTuple):
    """From now on alice may read these topics, and bob those."""

    alice: tuple[str, ...]
    bob: tuple[str, ...]


class MakeAnew(NamedTuple):
    """The topic is recreated: it has another id and no records."""

    topic: str


Step = Fetch | ShareFetch | Allow | MakeAnew


def sequence(seed: int, length: int = 14) -> list[Step]:
    """The sequence of this seed."""
    return list(_steps(random.Random(seed), length))


def _steps(dice: random.Random, length: int) -> Iterator[Step]:
    shares = dice.random() < 0.3
    main = dice.choice(FETCH_VERSIONS[1:])
    yield Allow(_some(dice, TOPICS), _some(dice, TOPICS))
    if not shares:
        yield Fetch(0, main, None, FULL, (Part("a", (0, 1)), *_parts(dice)), (), 0)
    for _ in range(length):
        what = dice.random()
        if what < 0.15:
            yield Allow(_some(dice, TOPICS), _some(dice, TOPICS))
        elif what < 0.18:
            yield MakeAnew("c")
        elif shares:
            yield _share_fetch(dice)
        else:
            yield _fetch(dice, main)


def _fetch(dice: random.Random, main: int) -> Fetch:
    opens = dice.random() < 0.2
    epoch = dice.choice((FULL, FULL, LAST)) if opens else _epoch(dice)
    return Fetch(
        who=dice.choices(range(len(PEOPLE)), (8, 1, 1))[0],
        version=main if dice.random() < 0.9 else dice.choice(FETCH_VERSIONS),
        session=dice.choice((None, 0, 1)) if opens else dice.choices((0, 1, 2, 7), (8, 6, 3, 1))[0],
        epoch=epoch,
        topics=_parts(dice),
        forgotten=_parts(dice) if dice.random() < 0.4 else (),
        offset=dice.choice(OFFSETS),
        times=dice.choice((1, 1, 4)) if epoch == NEXT else 1,
    )


def _share_fetch(dice: random.Random) -> ShareFetch:
    opens = dice.random() < 0.2
    return ShareFetch(
        who=dice.choices(range(len(PEOPLE)), (8, 1, 1))[0],
        epoch=FULL if opens else _epoch(dice),
        topics=_known_once(_parts(dice)),
        forgotten=_parts(dice) if dice.random() < 0.4 else (),
        acknowledges=dice.random() < 0.3,
        alone=dice.random() < 0.15,
    )


def _known_once(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Leave out unknown and repeated partitions: these make the whole share fetch fail with an unknown error."""
    known = {part.topic: part for part in parts if part.topic != "missing" and not part.old}
    return tuple(part._replace(partitions=tuple(dict.fromkeys(part.partitions))) for part in known.values())


def _epoch(dice: random.Random) -> str:
    return dice.choices(EPOCHS, (16, 1, 1, 1, 1, 1))[0]


def _parts(dice: random.Random) -> tuple[Part, ...]:
    return tuple(
        Part(dice.choices(TOPICS, (3, 3, 2, 1))[0], _some(dice, (0, 1, 1, 2)) or (0,), dice.random() < 0.1)
        for _ in range(dice.choice((0, 0, 1, 2, 3)))
    )


def _some(dice: random.Random, many: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(each for each in many if dice.random() < 0.6)
