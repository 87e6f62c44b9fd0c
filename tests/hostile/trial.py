"""A trial: one attack against one ground, and what must hold whatever the attack was.

Rules:
* The process lives, and says nothing of a bug; every line of its log is one line of JSON.
* The canary is served: no connection of it is cut or starved. How late it was is told, never judged here: how much
  later than without the attack, less how much later its fellow was that goes straight to the broker.
* Within `BACK` seconds memory and descriptors are back to what they were; log and peak stay under the case's bounds.
* No client was told where a broker really is.
* What the attack itself must come to, the case's own function says: by NotHeldError, or any AssertionError.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.hostile.ground import Ground, Setting
from tests.hostile.watch import MIB, Reading

BACK = 5.0  # seconds
PAIRS = 10  # that the canary must see with each attack, or behind it
# What was sent, when the proxy needed to read it; and that a journal which is required cannot be written.
BLAMED = ("ProtocolError", "JournalError")
LATER = 0.1  # seconds by which the canary's p99 may grow; a goal
KEPT = 20  # MiB that may stay; the report says where more does
BUGS = ("a bug of the proxy", "handler failed")

T = TypeVar("T")
CASES: list[Case] = []


@dataclass(frozen=True)
class Case:
    """One attack. `run` gives what was seen; the bounds are in MiB and KiB."""

    group: str
    name: str
    on: Setting
    run: Callable[[Ground], str]
    kept: int = KEPT  # MiB that may stay
    peak: int = 200  # MiB above what it was before
    log: int = 64  # KiB
    descriptors: int = 8  # that may stay: the canary comes and goes
    crowded: bool = False  # new clients are refused meanwhile, by a limit
    halted: bool = False  # the process itself stands still: that the canary is late then is no fault of it
    cut: bool = False  # those that are there may be cut once, and come again


@dataclass(frozen=True)
class Row:
    """What came of a case. `wrong` is empty where it held; `later`: by how many seconds the canary's p99 grew."""

    case: Case
    seen: str
    wrong: tuple[str, ...]
    seconds: float
    later: float
    later_anew: float
    peak: int
    kept: int
    descriptors: int
    lines: int
    log: int


def case(name: str, on: Setting, **bounds: Any) -> Callable[[Callable[[Ground], str]], Callable[[Ground], str]]:
    """Declare an attack."""

    def declare(run: Callable[[Ground], str]) -> Callable[[Ground], str]:
        CASES.append(Case(run.__module__.rpartition(".")[2], name, on, run, **bounds))
        return run

    return declare


def cases(
    variants: Mapping[str, T], on: Setting, **bounds: Any
) -> Callable[[Callable[[Ground, T], str]], Callable[[Ground, T], str]]:
    """Declare one attack in several variants."""

    def declare(run: Callable[[Ground, T], str]) -> Callable[[Ground, T], str]:
        for name, value in variants.items():
            group = run.__module__.rpartition(".")[2]
            CASES.append(Case(group, name, on, lambda ground, value=value: run(ground, value), **bounds))  # type: ignore[misc]
        return run

    return declare


def attempt(ground: Ground, case: Case) -> Row:
    """Try it."""
    if ground.long:
        ground.calm = ground.canary(PAIRS)
    ground.stage.reset()
    ground.watch.forget_peak()
    before, began = ground.watch.look(), time.monotonic()
    ground.canary(0)
    seen, wrong = "", []
    try:
        seen = case.run(ground)
    except Exception as error:  # whatever it is: the other cases are tried too
        wrong.append(f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error))
    seconds = time.monotonic() - began
    if any(client.leaked for client in ground.leave()):
        wrong.append("a client was told where a broker really is")
    ground.stage.hang_up()
    flown = ground.canary(PAIRS)
    wrong += _canary(flown, case)
    after = _back(ground, before, case)
    wrong += _process(ground, before, after, case)
    lines = 0
    try:
        lines, bugs = _log(ground, before.log)
        wrong += bugs
    except ValueError as error:
        wrong.append(f"a line of the log is no JSON: {error}")
    calm = ground.calm
    return Row(
        case,
        seen,
        tuple(wrong),
        seconds,
        _later(flown, calm, "stay"),
        _later(flown, calm, "anew"),
        max(0, after.peak - before.memory),
        after.memory - before.memory,
        after.descriptors - before.descriptors,
        lines,
        after.log - before.log,
    )


def _later(flown: dict[str, Any], calm: dict[str, Any], name: str) -> float:
    """By how many seconds the p99 of this canary grew more than that of its fellow that does not meet the proxy."""
    if not flown:
        return math.inf
    grown, straight = (float(flown[each]["p99"] - calm[each]["p99"]) for each in (name, "straight"))
    return max(0.0, grown - max(0.0, straight))


def _canary(flown: dict[str, Any], case: Case) -> Iterator[str]:
    if not flown:
        yield "the canary died"
        return
    for name in ("stay", "anew"):
        flight = flown[name]
        if case.crowded and name == "anew":
            continue
        if case.cut and flight["pairs"]:
            continue
        if flight["faults"]:
            yield f"the canary ({name}) was not served: {flight['faults'][0]}"
        elif not flight["pairs"]:
            yield f"the canary ({name}) was starved"


def _back(ground: Ground, before: Reading, case: Case) -> Reading:
    """The first look at which all is as before, or the last."""
    end = time.monotonic() + BACK
    while True:
        now = ground.watch.look()
        fine = (
            now.memory - before.memory <= case.kept * MIB and now.descriptors - before.descriptors <= case.descriptors
        )
        if fine or time.monotonic() > end or not ground.lives:
            return now
        time.sleep(0.05)


def _process(ground: Ground, before: Reading, after: Reading, case: Case) -> Iterator[str]:
    if not ground.lives:
        yield f"the process ended with {ground.proxy.returncode}: {ground.tail()}"
        return
    if after.memory - before.memory > case.kept * MIB:
        yield f"{(after.memory - before.memory) / MIB:.0f} MiB stayed, more than {case.kept}"
    if after.peak - before.memory > case.peak * MIB:
        yield f"{(after.peak - before.memory) / MIB:.0f} MiB were taken, more than {case.peak}"
    if after.descriptors - before.descriptors > case.descriptors:
        yield f"{after.descriptors - before.descriptors} descriptors stayed"
    if after.log - before.log > case.log << 10:
        yield f"{(after.log - before.log) >> 10} KiB were logged, more than {case.log}"


def _log(ground: Ground, start: int) -> tuple[int, list[str]]:
    """How many lines were written, and those that speak of a bug."""
    if not ground.watch.log.is_file():
        return 0, []
    count, bugs = 0, []
    for line in ground.watch.lines(start):
        count += 1
        blamed = str(line.get("error", "")).startswith(BLAMED)
        if "exception" in line or (any(bug in line["event"] for bug in BUGS) and not blamed):
            bugs.append(f"the log speaks of a bug: {line['event']} {str(line.get('error', ''))[:100]}")
    return count, bugs[:1]
