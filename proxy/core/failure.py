"""Failures: errors that outlive the moment, without the frames through which they came.

A traceback holds every frame of the stack, with what was read and all that looked at it, and the frames hold each
other: circles, which the collector alone would free, long after the connection is closed. So an error that is kept,
handed on or told of is detached where it is caught, once it is known where it was raised.
"""

from __future__ import annotations

import traceback
from functools import partial
from typing import TypeVar

E = TypeVar("E", bound=BaseException)


def name_of(function: object) -> str:
    """What to call to a person what was called: `Address.endpoints`."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def raised_at(error: BaseException) -> str:
    """Where it was raised, `file:line`; empty where that is not known."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def detached(error: E) -> E:
    """The same error, which holds no frames any more, nor the errors that led to it."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
