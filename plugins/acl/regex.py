"""Regular expressions of clients, in the syntax of RE2 (Kafka's brokers use RE2/J), which takes linear time.

# An expression means whole names, as `matches` does in Java.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

LONGEST = 10_000  # characters; what is longer means nothing good


class BadExpressionError(Exception):
    """This is no expression."""


@lru_cache(1000)
def _compiled(expression: str) -> Any:
    import re2  # 3 MB, only where a client subscribes so

    if len(expression) > LONGEST:
        raise BadExpressionError("it is too long")
    try:
        options = re2.Options()
        options.log_errors = False
        return re2.compile(expression, options)
    except re2.error as error:
        (what,) = error.args
        raise BadExpressionError(what.decode() if isinstance(what, bytes) else str(what)) from None


def matching(expression: str, names: Iterable[str]) -> list[str]:
    """The names that the expression matches. Raises BadExpressionError."""
    compiled = _compiled(expression)
    return [name for name in names if compiled.fullmatch(name)]
