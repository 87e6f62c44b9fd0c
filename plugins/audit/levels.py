"""Levels: how much the journal records of which requests. Every problem in the file is reported at its place.

    levels:
      - {match: {topic: __*}, level: none}
      - {match: {api: [Produce, Fetch]}, level: summary, window: 10s}
      - {level: full}

Rules:
* The first entry that matches a resource of a request gives its level. A resource that no entry matches has `full`.
* A topic whose name is not known may have any. It has the highest level of the entries that may match it.
* A request has the highest level of its resources. Resources of level `none` are left out of its event.
* Hours hold at the moment when the request ended, also where its event is made later.
* `full`: an event for each request. `summary`: one event for each window, connection and API, with exact counts.
* A request is recorded in full, unless its level is `none`, if the proxy decided something, it got no answer, it
  changes something, or its answer has an error that belongs to none of its resources.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import cached_property
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, PlainValidator

from proxy.plugin import Api, Connection, wrong
from proxy.plugin.files import Form, Items, Seconds, Section, nearest, shown
from rules.clients import client_as, client_of
from rules.match import Match, RequestFacts, Subject

LONGEST_WINDOW = 3600.0
MOST_REMEMBERED = 1_000  # cached levels of one client
LONGEST_REMEMBERED = 250  # characters of a cached name: brokers take topics of 249
SUBJECTS = {"topic", "group", "transactional_id"}  # the types of resources that a match may name


class Level(IntEnum):
    """How much is recorded."""

    NONE = 0
    SUMMARY = 1
    FULL = 2


def _level(value: object) -> Level:
    words = {level.name.lower(): level for level in Level}
    if not isinstance(value, str) or value not in words:
        raise wrong(f"unknown level {shown(value)}", nearest(str(value), words))
    return words[value]


def _window(value: float) -> float:
    if not 1.0 <= value <= LONGEST_WINDOW:
        raise wrong("a window is no shorter than a second, and no longer than an hour", 'write e.g. "10s"')
    return value


class FoundLevel(NamedTuple):
    """A level, and for a summary its window in seconds."""

    level: Level
    window: float = 0.0


class LevelRule(Section):
    """One entry: which requests it is about, and how much is recorded of them."""

    match: Match = Field(
        default=Match(), description="The requests that it applies to.", examples=["{api: [Produce, Fetch]}"]
    )
    level: Annotated[Level, PlainValidator(_level)] = Field(
        description="How much the journal tells of them: none, summary or full.", examples=["summary"]
    )
    window: Annotated[Seconds, AfterValidator(_window)] = Field(
        default=10.0, description="The time for which one summary counts.", examples=["10s"]
    )

    @cached_property
    def found(self) -> FoundLevel:
        """The level of the resources that it matches."""
        return FoundLevel(self.level, self.window)


class LevelsFile(Section):
    """One file of levels."""

    levels: Items[LevelRule] = Field(
        default=(), description="The levels, in the order in which they are tried.", examples=["[{level: full}]"]
    )

    @property
    def longest_window(self) -> float:
        """The longest time for which a summary may count before it is written, in seconds."""
        return max((one.window for one in self.levels if one.level is Level.SUMMARY), default=0.0)


START = 'begin with "levels:" (plugins/audit/README.md shows a whole file)'
FORM = Form(LevelsFile, "file of levels", START, largest=1 << 20)


FULL = FoundLevel(Level.FULL)


class ClientLevels:
    """The levels of one client's requests, valid while neither the client nor the file changes."""

    def __init__(self, file: LevelsFile, connection: Connection) -> None:
        self._client = client_of(connection) or client_as(connection, "")  # "": only the broker knows it
        self._broker = connection.broker_id
        self._levels = file.levels
        self._asks_partition = any(one.match.partition is not None for one in file.levels)
        self._known: dict[tuple[object, ...], tuple[LevelRule, ...]] = {}

    @property
    def is_timed(self) -> bool:
        """Whether a level depends on the time."""
        return any(one.match.during is not None for one in self._levels)

    def level(
        self,
        api: Api,
        version: int,
        at: float,
        kind: str | None = None,
        name: str | None = None,
        partition: int | None = None,
    ) -> FoundLevel:
        """The level of one resource of a request that ended at `at`; `kind` None: of a request without resources."""
        key = api.key, version, kind, name, partition if self._asks_partition else None
        found = self._known.get(key)
        if found is None:
            found = tuple(self._matching(api, version, kind, name, partition))
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            if name is None or len(name) <= LONGEST_REMEMBERED:
                self._known[key] = found
        possible: list[FoundLevel] = []
        for one in found:
            if one.match.during is None or one.match.is_now(at):
                possible.append(one.found)
                if one.match.topic is None or not _is_unnamed(kind, name):
                    return max(possible)
        return FULL

    def _matching(
        self, api: Api, version: int, kind: str | None, name: str | None, partition: int | None
    ) -> Iterator[LevelRule]:
        """The entries that match at some time, up to the first one that always does.

        Of a topic without a name: those that match if it has the right name.
        """
        facts = RequestFacts(api, version, self._client, self._broker)
        named: dict[str, str | None] = {kind: name} if kind in SUBJECTS else {}
        subject = Subject(**named, partition=partition)
        may_be_any = _is_unnamed(kind, name)
        for one in self._levels:
            match = one.match
            if match.of_request(facts) and all(
                match.holds(option, getattr(subject, option), is_part=may_be_any and option == "topic")
                for option in match.of_things
            ):
                yield one
                if match.during is None and (match.topic is None or not may_be_any):
                    return


def _is_unnamed(kind: str | None, name: str | None) -> bool:
    """Is this a topic of which only the id is known?"""
    return kind == "topic" and name is None
