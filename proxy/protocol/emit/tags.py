"""Tagged fields -> lines that go from one to the next; what is done with each is the caller's.

Rules:
* A message must mean the same to Kafka, which reads a known tagged field by its content, whatever size its tag says. So
  sizes must be true, even if a field is only skipped; and no tag may come twice (KIP-482).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain, repeat

from proxy.protocol.emit.lengths import charge, end_slice
from proxy.protocol.emit.source import Source
from proxy.protocol.plan import PlanStep
from proxy.protocol.slices import ELEMENT


def tag_count(src: Source) -> str:
    """Read the number of tagged fields that follow into a fresh name: mostly 0."""
    n = src.fresh("n")
    src.add(f"{n} = buf[p]", "p += 1")
    return n


@contextmanager
def each_tag(src: Source, n: str) -> Iterator[tuple[str, str]]:
    """The lines for one tagged field, whose tag and end have the names given. They must leave `p` at its end."""
    tag, stop, seen = src.fresh("tag"), src.fresh("stop"), src.fresh("seen")
    with src.block(f"if {n} > 127:"):
        src.add(f"{n}, p = rest_of_uvarint(buf, p, {n})")
    charge(src, n, ELEMENT, partitions=False)
    src.add(f"{seen} = set()")
    with src.block(f"for _ in range({n}):"):
        end_slice(src)
        src.add(f"{tag}, p = read_uvarint(buf, p)", f"{stop}, p = read_uvarint(buf, p)", f"{stop} += p")
        with src.block(f"if {tag} in {seen} or {stop} > end:"):
            src.add("raise Short")
        src.add(f"{seen}.add({tag})")
        yield tag, stop
        with src.block(f"if p != {stop}:"):
            src.add("raise Short")


def by_tag(src: Source, known: Collection[PlanStep], tag: str) -> Iterator[PlanStep | None]:
    """Each known field, within the lines for its tag; None within the lines for any other tag."""
    for word, step in zip(chain(["if"], repeat("elif")), known, strict=False):
        with src.block(f"{word} {tag} == {step.field.tag}:"):
            yield step
    with src.block("else:" if known else "if True:"):
        yield None
