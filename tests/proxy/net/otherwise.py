"""Otherwise: a socket or a link of which some calls do something else, to see what becomes of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Otherwise:
    """`real`, but for these calls."""

    def __init__(self, real: Any, **calls: Callable[..., Any]) -> None:
        self.real = real
        self.__dict__ |= calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)
