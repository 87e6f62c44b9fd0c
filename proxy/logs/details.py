"""Details: a rate limit for debug lines. Clients cause as many of them as they make connections.

Rules:
* 1000 lines at once, then 100 a second. The next line counts those that were left out.
* Their fields are cut as short as in all lines that clients cause.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import structlog

from proxy.logs.bucket import Throttle
from proxy.logs.cut import short

BURST = 1000
PACE = 0.01  # seconds


class Details:
    """Limits the debug lines of one process, as one of structlog's processors."""

    def __init__(self) -> None:
        self._throttle = Throttle(BURST, PACE)

    def __call__(self, logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """The event. Raises DropEvent if it is left out."""
        if method != "debug":
            return event
        left_out = self._throttle.due()
        if left_out is None:
            raise structlog.DropEvent
        return short(event) | left_out
