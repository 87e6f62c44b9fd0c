"""Signatures: what the methods of a plugin are called with. A method that cannot be called so is an error at once.

Rules:
* A method is checked as it is called, and not as the function that it wraps: a decorator may add arguments, or pass on
  any.
* No method may be async: nobody would await it. Handlers wait with `yield`.
* A method that takes the place of a marked one is marked too, or nobody would call it. None takes a handler away.
* A callable whose signature Python does not know is taken as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Any

Called = Sequence[str]  # the names of the arguments, for people

# The methods of `Plugin` that a subclass may have, by name.
METHODS: Mapping[str, Called] = {
    "start": (),
    "stop": (),
    "replaced": (),
    "accepted": ("arrival",),
    "not_served": ("ended",),
    "connected": ("connection",),
    "joined": ("connection",),
    "counting": ("api", "version"),
    "prepare_state": ("state",),
    "query": ("question", "said"),
    "handlers": ("position",),
    "observers": ("api",),
    "holders": ("api",),
}
# The methods that a decorator marked, by the attribute in which it did.
MARKED: Mapping[str, Called] = {
    "_outcomes": ("ctx", "outcome"),
    "_holds": ("ctx", "outcome"),
    "_events": ("connection", "event"),
    "_unsupported": ("ctx",),
    "_unreadable": ("ctx",),
}
# What gets no `self`. A `partial` gets it from Python 3.14 on.
UNBOUND: tuple[type, ...] = (staticmethod, classmethod, *((partial,) if sys.version_info < (3, 14) else ()))
MADE: Called = ("options", "services")


def check_methods(cls: type, members: Mapping[str, Any]) -> None:
    """Check the methods among the members of this class of plugins. Raises TypeError."""
    for name, member in members.items():
        for called in _calls(name, member):
            check_method(cls, name, member, called)
    for name, member in vars(cls).items():
        if member is not None and not _is_marked(member) and _is_marked(getattr(super(cls, cls), name, None)):
            raise TypeError(f"{cls.__name__}.{name} takes the place of a handler, and is none; mark it as the other is")


def check_method(cls: type, name: str, member: Any, called: Called) -> None:
    """Check that this member of a class can be called with these arguments. Raises TypeError."""
    function = getattr(cls, name)
    if not callable(function):
        return
    if iscoroutinefunction(function):
        raise TypeError(f"{cls.__name__}.{name} is async, and nobody awaits it; write it without async")
    try:
        takes = signature(function, follow_wrapped=False)
    except (ValueError, TypeError):
        return
    is_bound = isinstance(member, UNBOUND) or not hasattr(type(member), "__get__")
    try:
        takes.bind(*called if is_bound else ("self", *called))
    except TypeError:
        way_out = f"write {name}({', '.join(called if is_bound else ('self', *called))})"
        said = f"{cls.__name__}.{name} takes {_bare(takes)}, and is called with ({', '.join(called)})"
        raise TypeError(f"{said}; {way_out}") from None


def _calls(name: str, member: Any) -> Iterator[Called]:
    """With which arguments this member is called."""
    if name in METHODS:
        yield METHODS[name]
    for wish in getattr(member, "_wishes", ()):
        yield "ctx", "topics" if wish.topics else "message" if wish.observes else wish.side.side
    for mark, called in MARKED.items():
        if hasattr(member, mark):
            yield called


def _is_marked(member: Any) -> bool:
    return any(hasattr(member, mark) for mark in ("_wishes", *MARKED))


def _bare(takes: Signature) -> str:
    """A signature without types."""
    bare: Iterable[Parameter] = (each.replace(annotation=Parameter.empty) for each in takes.parameters.values())
    return str(takes.replace(parameters=list(bare), return_annotation=Signature.empty))
