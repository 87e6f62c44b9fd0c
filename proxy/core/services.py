"""Services: what the proxy does for a plugin, and what a plugin may ask of it.

    class Masking(Plugin):
        def __init__(self, options: Options, services: Services) -> None:
            super().__init__(options, services)
            self._masked = services.counter("masked", "Values of which a field was masked.")

Rules:
* A plugin reads a clock, throws dice, runs work in threads and writes to the log only through its services.
* `net` makes them, for one plugin of one cluster in one worker, and they never change.
* Counters belong to the worker and to a plugin's name: they keep their values when another configuration comes.
* Unless it says otherwise, a service is called from the thread of the links: by handlers, or before they begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, MutableSequence, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Protocol, TypeVar

from proxy.core.context import Connection
from proxy.core.fetch_topics import FetchTopics
from proxy.core.topic_names import TopicNames
from proxy.core.topic_writer import TopicWriting
from proxy.text.watched import WatchedFile

T = TypeVar("T")
COUNTER = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")  # valid names of counters
NUMBERS = 3  # in a shared row
LogLevel = Literal["debug", "info", "warning", "error"]


class PluginError(Exception):
    """A plugin cannot begin; the message is a line for people, with a way out."""


def check_counter(name: str) -> None:
    """Raises ValueError if a counter cannot have this name."""
    if not COUNTER.fullmatch(name):
        raise ValueError(f'no counter can be called "{name}"; use small letters, digits, "_" and "."')


def check_repeated(seconds: float) -> None:
    """Raises ValueError for an interval that is not above 0."""
    if seconds <= 0:
        raise ValueError(f"work cannot be done every {seconds} s")


class PluginClock(Protocol):
    """What time it is."""

    @property
    def now(self) -> float:
        """Seconds of a monotonic clock that all workers share, as of the moment when this turn of the links began."""

    def read(self) -> float:
        """The same clock at this very moment, also while no link is served. From any thread."""

    def wall(self) -> float:
        """Seconds since 1970 UTC."""


class Dice(Protocol):
    """Chance, as `random.Random` has it, of which this is one. Each plugin of each worker has its own."""

    def seed(self, a: int | str | bytes) -> None:
        """Begin again: what follows depends on this alone."""

    def random(self) -> float:
        """At least 0.0, less than 1.0."""

    def randrange(self, start: int, stop: int) -> int:
        """At least `start`, less than `stop`."""

    def uniform(self, a: float, b: float) -> float:
        """Between the two."""

    def gauss(self, mu: float, sigma: float) -> float:
        """By the normal distribution."""

    def choice(self, seq: Sequence[T]) -> T:
        """One of these."""

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Put these in another order."""

    def randbytes(self, n: int) -> bytes:
        """So many bytes."""


class Count(Protocol):
    """A number that only grows. To be added to from one thread alone."""

    def add(self, amount: int = 1) -> None:
        """So many more. It costs no more than an addition."""


class CounterFactory(Protocol):
    """Gives the counters of a plugin."""

    def __call__(self, name: str, description: str, *, unit: str = "1", **attributes: str) -> Count:
        """The counter of this name and these attributes: the same one each time.

        It is published as `doorkeeper.<plugin>.<name>`, of each worker. A name is made of small letters, digits, "_"
        and "."; ValueError for any other. Attributes are few and not what a client chooses: beyond 1,000 sets of them
        all further ones are counted together, with the attribute `otel.metric.overflow`.
        """


class LineWriter(Protocol):
    """Writes lines of the log."""

    def __call__(
        self,
        event: str,
        connection: Connection | None = None,
        *,
        level: LogLevel = "info",
        about: Hashable = None,
        example: Hashable = None,
        **facts: object,
    ) -> None:
        """Write a line, unless too many like it were written: the log says how many were left out. From any thread.

        `event` is a phrase of the plugin's own, never text that was received. The line has all that is known of the
        `connection`. Lines are alike if they have the same event, the same client and the same `about`; `example` is
        what differs among them, such as the name of a topic.
        """


class Repeating(Protocol):
    """Has work done again and again."""

    def __call__(self, seconds: float, work: Callable[[], object]) -> None:
        """Call `work` in a thread, each time after so many seconds (more than 0), from `start` to `stop`.

        An exception is logged and counted. To be used in the constructor or in `start`.
        """


class Watching(Protocol):
    """Has files watched."""

    def __call__(
        self,
        what: str,
        file: str | PathLike[str],
        load: Callable[[str], T],
        warnings: Callable[[T], Iterable[object]] = ...,
    ) -> WatchedFile[T]:
        """A file whose `value` is what `load` made of it last; it is read again within a second of a change.

        `what` names the content of the file ("rules") for the log. If the file is bad now, this raises what `load`
        raises (a ValueError, as BadFileError). If a later version is bad, that is logged and changes nothing. `load`
        runs in a thread from then on.
        """


class SharedRows(Protocol):
    """Rows of numbers that all workers of the proxy share, for what they count together."""

    @property
    def alone(self) -> AbstractContextManager[object]:
        """While this is held, no other worker uses any row. Hold it briefly: all connections of the others wait."""

    def use(self, keys: Iterable[str], first: Sequence[float]) -> Mapping[str, MutableSequence[float]]:
        """The rows of these keys, of NUMBERS numbers each. A new row begins as `first`, filled up with 0.0.

        From now on the plugin uses these rows and no others. A row that no plugin of its name uses, in any worker, is
        forgotten.
        """


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one plugin.

    `name` is the plugin's name in the configuration, made unique: a second `acl` is `acl-2`. The plugin uses it as its
    key in `notes`, and so finds its notes again under another configuration. `worker` is the number of this process
    among those of the proxy. `instance` identifies the process: a later one of this number has another.
    """

    name: str
    cluster: str
    worker: int
    instance: str
    clock: PluginClock
    dice: Dice
    counter: CounterFactory
    tell: LineWriter
    every: Repeating
    watch: Watching
    topics: TopicNames  # names of the cluster's topics by id, shared by all of its plugins in this worker
    fetch_sessions: FetchTopics  # all topics of a Fetch or ShareFetch in a session
    rows: SharedRows
    topic: TopicWriting
    state: Any = None  # the last state that a plugin of this name took (`state.py`); None: it took none
