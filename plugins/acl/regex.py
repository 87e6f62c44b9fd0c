"""Regular expressions of clients, in the syntax of RE2 (Kafka's brokers use RE2/J), which takes linear time.

# An expression means whole names, as `matches` does in Java.
# Linear in the names is not quick: counted repetitions in each other make a program of thousands of steps out of a few
# characters. So the length and the memory of an expression have limits, and so has the time that it may take.
# It is compiled and tried in a thread (`Call`), beside which the loop goes on: in one thread at a time, for each that
# computes takes the interpreter from the loop for some milliseconds, and twenty of them for twenty times as long.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache
from threading import Lock
from typing import Any

LONGEST = 1_000  # characters
MEMORY = 256 << 10  # bytes; an alternative of 100 names takes less
PATIENCE = 2.0  # seconds for all names

_alone = Lock()


class BadExpressionError(Exception):
    """This is no expression, or one that takes too much."""


@lru_cache(200)
def _compiled(expression: str) -> Any:
    import re2  # 3 MB, only where a client subscribes so

    if len(expression) > LONGEST:
        raise BadExpressionError(f"it has more than {LONGEST:,} characters")
    try:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = MEMORY
        return re2.compile(expression, options)
    except re2.error as error:
        (what,) = error.args
        raise BadExpressionError(what.decode() if isinstance(what, bytes) else str(what)) from None


def matching(expression: str, names: Iterable[str]) -> list[str]:
    """The names that the expression matches. It may take a while. Raises BadExpressionError."""
    with _alone:
        return _matching(expression, names)


def _matching(expression: str, names: Iterable[str]) -> list[str]:
    compiled = _compiled(expression)
    until = time.monotonic() + PATIENCE
    found = []
    for name in names:
        if compiled.fullmatch(name):
            found.append(name)
        if time.monotonic() > until:
            raise BadExpressionError("it takes too long")
    return found
