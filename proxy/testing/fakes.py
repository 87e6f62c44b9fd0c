"""Fakes: the services of a plugin, as a test sees them.

A `FakeWorker` does what a worker does for a plugin. Its time stands still unless the test sets it, and its dice fall
the same way each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, MutableSequence, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from os import PathLike
from random import Random
from typing import Any, TypeVar

from pydantic import ValidationError

from proxy.core.context import Connection
from proxy.core.fetch_topics import FetchTopics
from proxy.core.plugin import Plugin
from proxy.core.services import NUMBERS, LogLevel, PluginClock, Services, check_counter, check_repeated
from proxy.core.topic_names import TopicNames
from proxy.core.topic_writer import TopicError
from proxy.protocol.records import Record
from proxy.text.problems import Reload
from proxy.text.watched import WatchedFile, no_warnings

P = TypeVar("P", bound=Plugin)
T = TypeVar("T")


@dataclass
class FakeClock:
    """A clock that a test sets."""

    now: float = 0.0
    since_1970: float = 1_700_000_000.0

    def read(self) -> float:
        """The time that the test set."""
        return self.now

    def wall(self) -> float:
        """Seconds since 1970 UTC."""
        return self.since_1970


@dataclass(frozen=True, slots=True)
class FakeCount:
    """Adds to the counts that the test sees."""

    counts: Counter[str]
    key: str

    def add(self, amount: int = 1) -> None:
        """So many more."""
        self.counts[self.key] += amount


class FakeRows:
    """Rows of one plugin, which no worker shares."""

    def __init__(self) -> None:
        self.alone = nullcontext()
        self._rows: dict[str, list[float]] = {}

    def use(self, keys: Iterable[str], first: Sequence[float]) -> Mapping[str, MutableSequence[float]]:
        """See `SharedRows`."""
        new = [*first, *[0.0] * (NUMBERS - len(first))]
        self._rows = {key: self._rows.get(key) or new.copy() for key in keys}
        return self._rows


class FakeTopic:
    """A topic to write to: `records` are on it.

    While `refusal` is set, writing raises it. `largest`: the most bytes of one write. `invalid`: bytes that no value
    may contain.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.refusal: TopicError | None = None
        self.largest = 1 << 20
        self.invalid: bytes | None = None

    def write(self, records: Sequence[Record], seconds: float) -> None:
        """See `TopicWriter`."""
        if self.refusal is not None:
            raise self.refusal
        if sum(len(record.value or b"") for record in records) > self.largest:
            raise TopicError("MESSAGE_TOO_LARGE", is_too_large=True)
        if self.invalid is not None and any(self.invalid in bytes(record.value or b"") for record in records):
            raise TopicError("INVALID_RECORD", is_invalid=True)
        self.records += records


@dataclass
class FakeWorker:
    """Gives a plugin its services, and keeps what it does: `lines` of the log, `counts`, and `works` to repeat."""

    name: str = "plugin"
    clock: PluginClock = field(default_factory=FakeClock)
    dice: Random = field(default_factory=lambda: Random(1))
    lines: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # `masked`, or `masked{topic=a}`
    works: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    watched: list[WatchedFile[Any]] = field(default_factory=list)
    topics: TopicNames = field(default_factory=TopicNames)
    state: Any = None  # the last state that an earlier plugin took
    rows: FakeRows = field(default_factory=FakeRows)
    written: dict[str, FakeTopic] = field(default_factory=dict)  # topics, by the names of cluster and topic

    def counter(self, name: str, description: str, *, unit: str = "1", **attributes: str) -> FakeCount:
        """See `CounterFactory`."""
        check_counter(name)
        about = ",".join(f"{key}={value}" for key, value in sorted(attributes.items()))
        return FakeCount(self.counts, f"{name}{{{about}}}" if about else name)

    def tell(
        self,
        event: str,
        connection: Connection | None = None,
        *,
        level: LogLevel = "info",
        about: Hashable = None,
        example: Hashable = None,
        **facts: object,
    ) -> None:
        """See `LineWriter`; every line is written."""
        self.lines.append((event, facts))

    def every(self, seconds: float, work: Callable[[], object]) -> None:
        """See `Repeating`; the test calls the work."""
        check_repeated(seconds)
        self.works.append((seconds, work))

    def watch(
        self,
        what: str,
        file: str | PathLike[str],
        load: Callable[[str], T],
        warnings: Callable[[T], Iterable[object]] = no_warnings,
    ) -> WatchedFile[T]:
        """See `Watching`; the test calls `look`."""
        watched = WatchedFile(file, load, warnings)
        self.watched.append(watched)
        return watched

    def topic(self, topic: str, cluster: str | None = None) -> FakeTopic:
        """See `TopicWriting`."""
        return self.written.setdefault(f"{cluster or 'main'} {topic}", FakeTopic())

    def look(self) -> list[Reload]:
        """Read all files that have changed. Returns what there is to report."""
        return [reload for watched in self.watched if (reload := watched.look())]

    def services(self) -> Services:
        """All of them."""
        clock, dice = self.clock, self.dice
        told = self.counter, self.tell, self.every, self.watch
        known = self.topics, FetchTopics(self.name)
        return Services(self.name, "main", 0, "a test", clock, dice, *told, *known, self.rows, self.topic, self.state)


def build(plugin: type[P], worker: FakeWorker | None = None, /, **options: Any) -> P:
    """A plugin with these options, as the proxy makes it. Raises ValueError, with a line for each invalid option."""
    try:
        checked = plugin.Options(**options)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise ValueError("\n".join([f"invalid options of {plugin.__name__}:", *problems])) from None
    return plugin(checked, (worker or FakeWorker()).services())
