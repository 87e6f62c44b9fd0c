"""Declarations: what a class body says about a field besides its type.

    rack: string | None = since(1, default=None)

Rules:
* Without a declaration a field is on the wire in every version, and the constructor requires it.
* `structs.py` interprets and checks declarations when the class is made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NEWEST = 0x7FFF  # the last version of a field that was never removed
UNSET: Any = object()


class Declaration(NamedTuple):
    """What `field()`, `since()`, `until()` and `tagged()` leave in the class body until the class is made."""

    first: int = 0
    last: int = NEWEST
    tag: int | None = None
    default: Any = UNSET
    nullable: int | None = None
    mirrors: str | tuple[str, ...] = ()
    json: str | None = None


def since(
    first: int,
    last: int = NEWEST,
    *,
    default: Any = UNSET,
    nullable: int | None = None,
    mirrors: str | tuple[str, ...] = (),
    json: str | None = None,
) -> Any:
    """A field that is on the wire from version `first` to version `last`.

    `default` is its value for Kafka in other versions (zero or empty unless given). `nullable` is the first version in
    which it may be null, if that is not every version. `json` is its name in Kafka's JSON notation, if that is not its
    camel case.

    `mirrors` names the request's array that this response array answers element by element. The array is looked for in
    the struct that the array around this one mirrors, or at the top of the request. Of several names, those count that
    are on the wire in a version: mostly one, otherwise their arrays one after the other. `"dirs.topics"` are the topics
    of all dirs, as one sequence.
    """
    return Declaration(first, last, None, default, nullable, mirrors, json)


def field(**more: Any) -> Any:
    """A field that is on the wire in every version; the other arguments are those of `since()`."""
    return since(0, **more)


def until(last: int, **more: Any) -> Any:
    """A field that is on the wire up to version `last`; otherwise as `since()`."""
    return since(0, last, **more)


def tagged(tag: int, first: int, *, default: Any = UNSET) -> Any:
    """An optional field from version `first` on: written after all others, and only if it is not its default."""
    return Declaration(first, NEWEST, tag, default)
