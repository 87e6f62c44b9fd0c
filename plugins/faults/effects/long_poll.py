"""Long poll: a fetch waits at the broker for a given time, whatever the client asked for.

The client asked for an answer after `max_wait_ms`, and waits much longer, or until its own request timeout. To the
consumer it looks as if there were no records.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from plugins.faults.effect import Effect, Target
from plugins.faults.kinds import SentTime
from proxy.plugin import FETCH, SHARE_FETCH, Decision, Forward
from proxy.plugin.files import at_most
from rules.trigger import Firing

ALL = 2**31 - 1  # bytes: more than there will ever be at once


class LongPoll(Effect):
    """Have a fetch wait for this time."""

    apis: ClassVar = frozenset({FETCH, SHARE_FETCH})

    time: Annotated[SentTime, at_most("1h")] = Field(description="How long it waits.", examples=["30s"])

    def apply(self, target: Target, firing: Firing) -> Decision:
        target.message.max_wait_ms, target.message.min_bytes = round(self.time * 1000), ALL
        return Forward(target.message)
