"""Failures: which exceptions of a plugin's code are its failures, and errors that are kept lose their traceback.

Rules:
* A plugin fails by any `Exception`, and by `SystemExit`: a library that calls `sys.exit()` ends no proxy. All code of
  plugins is called where `FAILURES` are caught.
* Our own code runs around that of plugins, and the same is caught there: `AnyFailure` does not say whose it is.
* All else passes: Ctrl-C, and how trio, generators and fibers end what runs.

A traceback holds every frame of the stack, with the messages that were read and everything that looked at them. These
are reference cycles, which only the garbage collector would free, long after the connection is closed. So an error that
is kept, handed on or reported is detached where it is caught, after noting where it was raised.
"""

from __future__ import annotations

import traceback
from functools import partial
from pathlib import Path
from typing import TypeVar

E = TypeVar("E", bound=BaseException)

OURS = f"{Path(__file__).parents[1]}/"  # where the modules of this package are

FAILURES = (Exception, SystemExit)
AnyFailure = Exception | SystemExit


def name_of(function: object) -> str:
    """The name of a function for people: `Address.endpoints`."""
    function = _whole(function)
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def raised_at(error: BaseException, function: object = None) -> str:
    """Where the error was raised, `file:line`; empty if that is not known.

    If that is in another file than `function`, the line in the function's file comes first: its author looks there.
    """
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(getattr(_whole(function), "__code__", None), "co_filename", None)
    own = [frame for frame in frames if frame.filename == file]
    return " > ".join(dict.fromkeys(f"{frame.filename}:{frame.lineno}" for frame in (*own[-1:], *frames[-1:])))


def raised_outside(error: BaseException) -> str:
    """The last line outside of this package on the way to where the error was raised, as `file:line`.

    Our own code raises what is wrong with a declaration: its author needs the line of the declaration.
    """
    frames = traceback.extract_tb(error.__traceback__)
    others = [frame for frame in frames if not frame.filename.startswith((OURS, "<frozen "))]
    return f"{others[-1].filename}:{others[-1].lineno}" if others else raised_at(error)


def _whole(function: object) -> object:
    """What is called with arguments that are bound already."""
    while isinstance(function, partial):
        function = function.func
    return function


def detached(error: E) -> E:
    """The same error, without its frames and without the errors that led to it."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
