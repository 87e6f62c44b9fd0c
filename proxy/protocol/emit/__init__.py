"""Plans printed as Python source: functions that read, skip, pick or write one message in one version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proxy.protocol.emit.read import read_run, read_struct, read_tags, skip_steps, skip_struct
from proxy.protocol.emit.source import Source
from proxy.protocol.emit.walk import walk_steps
from proxy.protocol.emit.write import write_steps, write_struct, write_tags
from proxy.protocol.plan import Plan, PlanStep
from proxy.protocol.schema import Request
from proxy.protocol.slices import BYTES, ELEMENT, WRITTEN

SLICED = ("", " in slices")  # the end of a title


def decoder(plan: Plan, title: str, *, sliced: bool = False) -> Any:
    """`decode(buf, p) -> (message, end of it)`: all fields.

    `sliced`: a generator, of (buf, p, room); the message's `elements` then says how much room is left.
    """
    src = _reader("decode", plan, sliced)
    read_struct(src, plan, "o")
    if sliced:
        src.add(f"o.elements = room // {ELEMENT}")
    src.add("return o, p")
    return src.compile(f"decode {title}{SLICED[sliced]}")


def _reader(function: str, plan: Plan, sliced: bool) -> Source:
    src = Source(function, "buf, p, room" if sliced else "buf, p", sliced=sliced)
    src.add("end = len(buf)")
    if sliced and issubclass(plan.struct, Request):  # brokers are trusted
        src.counts_others = True
        src.add("others = others_of(room)")
    if sliced:
        src.add(f"room *= {ELEMENT}", f"turn = p + {BYTES}", "yield")
    return src


def _writer(function: str, sliced: bool) -> Source:
    src = Source(function, "o", sliced=sliced)
    src.add("pieces = []", "add = pieces.append")
    if sliced:
        src.add("done = []", f"left = {WRITTEN}", "yield")
    return src


def _written(src: Source) -> None:
    """The result of a writer."""
    if src.sliced:
        src.add("collected(pieces, done)", "return done")
    else:
        src.add('return b"".join(pieces)')


def skipper(plan: Plan, title: str) -> Any:
    """`skip(buf, p) -> p`: over all fields; if the bytes are not whole, `p` may lie behind their end."""
    src = Source("skip", "buf, p")
    src.add("end = len(buf)")
    skip_struct(src, plan)
    src.add("return p")
    return src.compile(f"skip {title}")


def walker(plan: Plan, title: str) -> Any:
    """A generator over a message that comes in pieces; it returns where the message's own tagged fields begin."""
    src = Source("walk", "")
    src.add("buf, p, end = yield 0")
    walk_steps(src, plan.steps)
    with src.block("while p > end:"):
        src.add("buf, p, end = yield p")
    src.add("return p")
    return src.compile(f"walk over {title}")


def encoder(plan: Plan, title: str, *, sliced: bool = False) -> Any:
    """`encode(message) -> bytes`. `sliced`: a generator that returns pieces, in order."""
    src = _writer("encode", sliced)
    write_struct(src, plan, "o")
    _written(src)
    return src.compile(f"encode {title}{SLICED[sliced]}")


def segments(plan: Plan, picked: frozenset[str]) -> list[tuple[bool, list[PlanStep]]]:
    """The fields up to the last picked one, in stretches that are all picked or all passed over."""
    wanted = [step.field.name in picked for step in plan.steps]
    if not any(step.field.name in picked for step in plan.tags):
        wanted = wanted[: len(wanted) - wanted[::-1].index(True)] if True in wanted else []
    stretches: list[tuple[bool, list[PlanStep]]] = []
    for step, is_picked in zip(plan.steps, wanted, strict=False):
        if not stretches or stretches[-1][0] is not is_picked:
            stretches.append((is_picked, []))
        stretches[-1][1].append(step)
    return stretches


def prefix_reader(plan: Plan, picked: frozenset[str], title: str) -> Any:
    """`read(buf, p) -> message` with the picked fields alone, from bytes that may go on or end early."""
    src = Source("read", "buf, p")
    src.add("end = len(buf)")
    _begin_picked(src, plan, picked)
    _read_stretches(src, plan, picked)
    src.add("return o")
    return src.compile(f"read the first of {title}")


def _begin_picked(src: Source, plan: Plan, picked: frozenset[str]) -> None:
    """Make a message `o` of which only the picked fields will be read."""
    unread = frozenset(step.field.name for step in (*plan.steps, *plan.tags)) - picked
    src.add(f"o = new({src.name(plan.struct.__name__, plan.struct)})", f"o.unread = {src.name('unread', unread)}")


def _read_stretches(src: Source, plan: Plan, picked: frozenset[str], mark: Callable[[], None] = lambda: None) -> None:
    """Read the picked fields into `o` and go over the rest; `mark` is called at each change from one to the other."""
    for is_picked, steps in segments(plan, picked):
        mark()
        if is_picked:
            for step in steps:
                read_run(src, [step], "o")
        else:
            skip_steps(src, steps)
    mark()


def pick_reader(plan: Plan, picked: frozenset[str], title: str, *, sliced: bool = False) -> Any:
    """`read(buf, p) -> message` with the picked fields, the bytes between them kept in `opaque`; `sliced` as above."""
    src = _reader("read", plan, sliced)
    src.add("view = memoryview(buf)")
    _begin_picked(src, plan, picked)
    has_tags = any(step.field.name in picked for step in plan.tags)
    marks: list[str] = []

    def mark() -> None:
        marks.append(src.fresh("mark"))
        src.add(f"{marks[-1]} = p")

    _read_stretches(src, plan, picked, mark)
    spans = [
        f"view[{marks[i]}:{marks[i + 1]}]" for i, (is_picked, _) in enumerate(segments(plan, picked)) if not is_picked
    ]
    if has_tags:
        read_tags(src, plan.tags, "o", [step for step in plan.tags if step.field.name in picked])
    else:
        spans.append(f"view[{marks[-1]}:]")
    with src.block("if p > end:"):
        src.add("raise Short")
    src.add(f"o.opaque = ({', '.join(spans)},)" if spans else "o.opaque = ()")
    if sliced:
        src.add(f"o.elements = room // {ELEMENT}")
    src.add("return o")
    return src.compile(f"pick {title}{SLICED[sliced]}")


def pick_writer(plan: Plan, picked: frozenset[str], title: str, *, sliced: bool = False) -> Any:
    """`write(message) -> bytes`: the inverse of `pick_reader`, with the picked fields as they are now; as `encoder`."""
    src = _writer("write", sliced)
    src.add("opaque = iter(o.opaque)")
    for is_picked, steps in segments(plan, picked):
        if is_picked:
            write_steps(src, steps, "o")
        else:
            src.add("add(next(opaque))")
    tags = [step for step in plan.tags if step.field.name in picked]
    if tags:
        write_tags(src, tags, "o")
    else:
        src.add("add(next(opaque))")
    _written(src)
    return src.compile(f"splice {title}{SLICED[sliced]}")
