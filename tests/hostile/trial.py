"""A trial: one attack against one ground, and what must hold for every attack.

Rules:
* The process lives and logs no bug; every line of its log is one line of JSON.
* The canary is served: none of its connections is cut or starved. Its added latency is reported, but never judged
  here: the growth of its p99 against a time without attacks, less that of its client that bypasses the proxy.
* Within `BACK` seconds memory and descriptors are back to their values before; log and peak stay under the case's
  bounds.
* No client received the real address of a broker.
* The case's function checks the outcome of the attack: it raises NotHeldError or another AssertionError.
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
PAIRS = 10  # pairs of requests of the canary, during each attack or after it
# Errors that are not bugs: a client's or broker's bytes cannot be decoded; a required journal cannot be written.
BLAMED = ("ProtocolError", "JournalError")
LATER = 0.1  # seconds by which the canary's p99 may grow; a goal
KEPT = 20  # MiB of memory that may stay; the report marks cases where more does
BUGS = ("a bug of the proxy", "handler failed")

T = TypeVar("T")
CASES: list[Case] = []


@dataclass(frozen=True)
class Case:
    """One attack. `run` gives a text for the report; the others are its bounds."""

    group: str
    name: str
    on: Setting
    run: Callable[[Ground], str]
    kept: int = KEPT  # MiB that may stay
    peak: int = 200  # MiB above the memory before
    log: int = 64  # KiB
    descriptors: int = 8  # descriptors that may stay: the canary connects and leaves
    crowded: bool = False  # a limit refuses new clients meanwhile
    halted: bool = False  # the process stands still meanwhile, so the canary's latency does not count
    cut: bool = False  # connected clients may be cut once, and reconnect


@dataclass(frozen=True)
class Row:
    """The result of a case.

    `wrong` and `said`, the proxy's log of that time, are empty where it held. `later` is the growth of the canary's p99
    in seconds.
    """

    case: Case
    seen: str
    wrong: tuple[str, ...]
    said: str
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
    """Run one case, and check all that must hold."""
    if ground.long:
        ground.calm = ground.canary(PAIRS)
    ground.stage.reset()
    ground.watch.forget_peak()
    before, began = ground.watch.look(), time.monotonic()
    ground.canary(0)
    seen, wrong = "", []
    try:
        seen = case.run(ground)
    except Exception as error:  # any error fails this case, and the other cases still run
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
    return Row(
        case,
        seen,
        tuple(wrong),
        ground.watch.text(before.log) if wrong else "",
        seconds,
        _later(flown, ground.calm, "stay"),
        _later(flown, ground.calm, "anew"),
        max(0, after.peak - before.memory),
        after.memory - before.memory,
        after.descriptors - before.descriptors,
        lines,
        after.log - before.log,
    )


def _later(flown: dict[str, Any], calm: dict[str, Any], name: str) -> float:
    """The growth of this client's p99 in seconds, less the growth of the client that bypasses the proxy."""
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
    """The first reading with memory and descriptors back in bounds, or the last reading."""
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
    """The number of log lines, and the first that reports a bug."""
    if not ground.watch.log.is_file():
        return 0, []
    count, bugs = 0, []
    for line in ground.watch.lines(start):
        count += 1
        blamed = str(line.get("error", "")).startswith(BLAMED)
        if "exception" in line or (any(bug in line["event"] for bug in BUGS) and not blamed):
            bugs.append(f"the log speaks of a bug: {line['event']} {str(line.get('error', ''))[:100]}")
    return count, bugs[:1]
