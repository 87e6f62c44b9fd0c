"""All trials: every case of every class, with one ground at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from types import TracebackType

from tests.hostile.client import NotHeldError
from tests.hostile.ground import Ground, Setting
from tests.hostile.trial import CASES, Case, Row, attempt

CLASSES = (
    "frames",
    "lengths",
    "mutated",
    "slow",
    "floods",
    "defaults",
    "work",
    "memory",
    "journals",
    "required",
    "faulty",
    "orders",
    "sealed",
    "behind_tls",
    "identities",
    "bearers",
    "credentials",
    "evasion",
    "brokers",
    "introduced",
    "lies",
    "files",
    "reloads",
    "surroundings",
)
ATTEMPTS = 3  # at starting a ground
for name in CLASSES:
    import_module(f"tests.hostile.{name}")


def chosen(words: str = "") -> list[Case]:
    """The cases whose names have all of these words, sorted by setting."""
    settings = list(dict.fromkeys(case.on for case in CASES))
    found = [
        case for case in CASES if all(word in f"{case.group} {case.name} {case.on.name}" for word in words.split())
    ]
    return sorted(found, key=lambda case: settings.index(case.on))


class Grounds:
    """The current ground: kept while cases have its setting, and replaced where its process ended."""

    def __init__(self, *, long: bool = False) -> None:
        self._long = long
        self._stack = ExitStack()
        self._now: Ground | None = None

    def of(self, case: Case) -> Ground:
        """The ground for this case."""
        now = self._now
        if now is None or now.setting is not case.on or case.on.alone or not now.lives:
            self._stack.close()
            self._now = now = self._start(case.on)
        return now

    def _start(self, setting: Setting) -> Ground:
        """Start a ground. A free port may be taken before it is used, so a failed start is tried again."""
        for _ in range(ATTEMPTS - 1):
            with suppress(NotHeldError):
                return self._stack.enter_context(Ground(setting, long=self._long))
        return self._stack.enter_context(Ground(setting, long=self._long))

    def __enter__(self) -> Grounds:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()


def trials(some: Iterable[Case], *, long: bool = False) -> Iterator[Row]:
    """Run these cases, one after the other."""
    with Grounds(long=long) as grounds:
        for case in some:
            yield attempt(grounds.of(case), case)
