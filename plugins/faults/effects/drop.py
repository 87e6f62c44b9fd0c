"""Drop: an answer never reaches the client, and the connection stays.

What was asked for is done. The client waits until it gives up, or until the answer to its next request comes in this
one's place.
"""

from __future__ import annotations

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from proxy.plugin import Decision, Raw
from rules.trigger import Firing


class DropAnswer(AnswerEffect):
    """Send nothing in place of an answer."""

    def apply(self, target: Target, firing: Firing) -> Decision:
        return Raw(b"")
