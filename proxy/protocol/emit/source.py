"""Python source under construction: its lines, its indent, and the objects that it names."""

from __future__ import annotations

import linecache
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from proxy.protocol.emit.shared import ENVIRONMENT
from proxy.protocol.plan import Fixed, PlanStep, Varying
from proxy.protocol.wire import BYTES, RECORDS

WIDTH = {"h": 2, "i": 4}  # of numbers, in bytes, by their letters


class Source:
    """Lines of Python under construction, and the objects that they name."""

    def __init__(self, function: str, parameters: str, *, sliced: bool = False) -> None:
        self.function = function
        self.sliced = sliced  # the function is a generator: see `slices.py`
        self.counts = sliced  # it counts elements in `room`, in units
        self.counts_others = False  # it counts elements that are no partitions in `others`
        self.names: dict[str, Any] = dict(ENVIRONMENT)
        self.lines = [f"def {function}({parameters}):"]
        self.depth = 1
        self._count = 0

    def add(self, *lines: str) -> None:
        """Add lines at the present indent."""
        self.lines += ["    " * self.depth + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """The lines below `head`."""
        self.add(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.add("pass")
        self.depth -= 1

    def fresh(self, stem: str) -> str:
        """A name not used yet."""
        self._count += 1
        return f"{stem}{self._count}"

    def name(self, stem: str, value: Any) -> str:
        """A name under which the printed code finds `value`."""
        if self.names.setdefault(stem, value) is not value:
            stem = self.fresh(stem)
            self.names[stem] = value
        return stem

    def unpack(self, fmt: str) -> str:
        """The name of a function that reads these `struct` letters."""
        return self._struct("get", fmt, "unpack_from")

    def pack(self, fmt: str) -> str:
        """The name of a function that writes these `struct` letters."""
        return self._struct("put", fmt, "pack")

    def _struct(self, verb: str, fmt: str, method: str) -> str:
        name = f"{verb}_{fmt.replace('?', '_')}"
        self.names.setdefault(name, getattr(struct.Struct(">" + fmt), method))
        return name

    def compile(self, title: str) -> Any:
        """The function that the lines define. Its source is kept where tracebacks look for it, under `title`."""
        text, filename = "\n".join(self.lines) + "\n", f"<{title}>"
        exec(compile(text, filename, "exec"), self.names)
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        return self.names[self.function]


def runs(steps: Iterable[PlanStep]) -> Iterator[list[PlanStep]]:
    """Groups of fields: neighbours of fixed width together, for one `struct` call, all others alone."""
    run: list[PlanStep] = []
    for step in steps:
        if isinstance(step.move, Fixed):
            run.append(step)
            continue
        if run:
            yield run
            run = []
        yield [step]
    if run:
        yield run


def letters(steps: Iterable[PlanStep]) -> str:
    """The `struct` letters of a run."""
    return "".join(step.move.primitive.fmt or "" for step in steps if isinstance(step.move, Fixed))


def width(run: Iterable[PlanStep]) -> int:
    """The bytes that a run of fixed width takes."""
    return sum(step.move.least for step in run)


def length_letter(move: Varying) -> str:
    """How a length is written that is not compact: strings have two bytes for it, bytes and records four."""
    return "i" if move.primitive in (BYTES, RECORDS) else "h"
