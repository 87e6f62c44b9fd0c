"""Declarations: what a class body says of a field besides its type.

    rack: string | None = since(1, default=None)

Rules:
* Without one of these a field is on the wire in every version, and the constructor demands it.
* What a declaration means, and whether it makes sense, is for `structs.py` to say, when the class is made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NEWEST = 0x7FFF  # the last version of what was never removed
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

    `default` is what Kafka takes for it elsewhere (zero or empty unless given); `nullable` the first version in which
    it may be null, where that is not every one; `json` its name in Kafka's JSON notation where that is not just its
    camel case.

    `mirrors` names the request's array that this response array answers element by element: in the struct that the
    array around it mirrors, or at the top of the request. Of several names those count that are on the wire in a
    version: mostly one, and where more, one after the other. `"dirs.topics"` are the topics of all dirs, in one row.
    """
    return Declaration(first, last, None, default, nullable, mirrors, json)


def field(**more: Any) -> Any:
    """A field that is on the wire in every version; the other arguments are those of `since()`."""
    return since(0, **more)


def until(last: int, **more: Any) -> Any:
    """A field that is on the wire up to version `last`; otherwise as `since()`."""
    return since(0, last, **more)


def tagged(tag: int, first: int, *, default: Any = UNSET, nullable: int | None = None) -> Any:
    """An optional field from version `first` on: written after all others, and only where it is not its default."""
    return Declaration(first, NEWEST, tag, default, nullable)
