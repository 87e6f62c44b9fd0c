"""Plans printed as Python source: functions that find the values of some fields of one message in one version."""

from __future__ import annotations

from typing import Any

from proxy.protocol.emit.source import Source
from proxy.protocol.emit.spans import Noting, note_steps, note_tags
from proxy.protocol.plan import Plan
from proxy.protocol.slices import ELEMENT

CALLED = 5_000  # elements that are gone over at once, in 2.5 ms
COPIED = 64 << 10  # bytes: up to this size cutting names from a copy is quicker than from a view


def noter(plan: Plan, names: frozenset[str], title: str) -> Any:
    """`spans(buf, p) -> [(start, stop), ...]`: where the fields of these names lie, at any depth.

    The last span is empty, and lies where the message's own tagged fields begin.
    """
    src = Source("spans", "buf, p")
    src.add("end = len(buf)", "noted = []", "note = noted.append")
    noting = Noting(names, lambda start, stop: [f"note(({start}, {stop}))"])
    note_steps(src, plan.steps, noting)
    src.add("note((p, p))")
    if plan.flexible:
        note_tags(src, plan, noting)
    with src.block("if p > end:"):
        src.add("raise Short")
    src.add("return noted")
    return src.compile(f"note {', '.join(sorted(names))} of {title}")


def caller(plan: Plan, names: frozenset[str], title: str, *, whole: bool) -> Any:
    """`strangers(buf, p, begins, known) -> [value, ...]`: the values of the fields of these names that are not `known`.

    It goes over the message up to the last of them; `whole`: to the end. None: the bytes at `p` are not `begins`, or
    there are tagged fields.
    """
    src = Source("strangers", "buf, p, begins, known")
    src.counts = True
    src.add("end, begun = len(buf), p + len(begins)", "strangers = []", f"room = {CALLED * ELEMENT}")
    with src.block("if buf[p:begun] != begins:"):
        src.add("return None")
    src.add("p = begun")
    with src.block(f"if end < {COPIED}:"):
        src.add("buf = bytes(buf)")
    call = (
        "if {1} > end:",
        "    raise Short",
        "value = bytes(buf[{0}:{1}])",
        "if value not in known:",
        "    strangers.append(value)",
    )

    def called(start: str, stop: str) -> list[str]:
        return [line.format(start, stop) for line in call]

    noting = Noting(names, called, None if whole else "strangers", bare=True)
    note_steps(src, plan.steps, noting)
    if plan.flexible:
        note_tags(src, plan, noting)
    with src.block("if p > end:"):
        src.add("raise Short")
    src.add("return strangers")
    return src.compile(f"call {', '.join(sorted(names))} of {title}")
