"""Regular expressions of clients, in the syntax of RE2 (Kafka's brokers use RE2/J), which takes linear time.

Rules:
* An expression must match the whole name, as `matches` in Java.
* Linear time can still be long: nested counted repetitions turn a few characters into a program of thousands of steps.
* So there are limits to the length of an expression, its memory and its time.
* An expression is compiled and tried in a thread for such calls alone (`Call`, `apart`), while the event loop goes on.
* They run one at a time: each computing thread takes the interpreter from the loop for some milliseconds, and twenty
  would take it twenty times as long. Other calls, such as reading changed rules, do not wait for them.
* So clients wait for each other's expressions. Nearly all take 2 to 5 us a name. One that would need more memory
  than it may have takes up to 3 ms a name, and is refused when its time is over.
* Only the time that the thread computes is counted: on a busy machine nothing is refused that is not elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

LONGEST = 1_000  # characters
MEMORY = 256 << 10  # bytes; an alternative of 100 names takes less
PATIENCE, EACH = 0.1, 1e-5  # seconds for an expression, and for each name
PORTION = 8  # names between two looks at the clock, which take 1 us


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


def matching(expression: str, names: Sequence[str]) -> list[str]:
    """The names that the expression matches. Blocks while it computes. Raises BadExpressionError."""
    compiled = _compiled(expression)
    until = time.thread_time() + PATIENCE + EACH * len(names)
    found: list[str] = []
    for start in range(0, len(names), PORTION):
        if time.thread_time() > until:
            raise BadExpressionError("it takes too long")
        found += filter(compiled.fullmatch, names[start : start + PORTION])
    return found
