"""Failures: errors that are kept lose their traceback.

A traceback holds every frame of the stack, with the messages that were read and everything that looked at them. These
are reference cycles, which only the garbage collector would free, long after the connection is closed. So an error that
is kept, handed on or reported is detached where it is caught, after noting where it was raised.
"""

from __future__ import annotations

import traceback
from functools import partial
from typing import TypeVar

E = TypeVar("E", bound=BaseException)


def name_of(function: object) -> str:
    """The name of a function for people: `Address.endpoints`."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def raised_at(error: BaseException) -> str:
    """Where the error was raised, `file:line`; empty if that is not known."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def detached(error: E) -> E:
    """The same error, without its frames and without the errors that led to it."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
