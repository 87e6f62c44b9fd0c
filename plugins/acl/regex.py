"""Regular expressions of clients, in the syntax of RE2 (Kafka's brokers use RE2/J), which takes linear time.

Rules:
* An expression must match the whole name, as `matches` in Java.
* Linear time can still be long: nested counted repetitions turn a few characters into a program of thousands of steps.
* So there are limits to the length of an expression, its memory and its time.
* An expression is compiled and tried in a thread for such calls alone (`Call`, `apart`), while the event loop goes on.
* They run one at a time: each computing thread takes the interpreter from the loop for some milliseconds, and twenty
  would take it twenty times as long. Other calls, such as reading changed rules, do not wait for them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

LONGEST = 1_000  # characters
MEMORY = 256 << 10  # bytes; an alternative of 100 names takes less
PATIENCE = 2.0  # seconds for all names


class BadExpressionError(Exception):
    """The expression is not valid, or takes too much memory or time."""


@lru_cache(200)
def _compiled(expression: str) -> Any:
    import re2  # 3 MB, imported only when a client subscribes by an expression

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
    """The names that the expression matches. Blocks while it computes. Raises BadExpressionError."""
    compiled = _compiled(expression)
    until = time.monotonic() + PATIENCE
    found = []
    for name in names:
        if compiled.fullmatch(name):
            found.append(name)
        if time.monotonic() > until:
            raise BadExpressionError("it takes too long")
    return found
