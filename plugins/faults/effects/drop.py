"""Drop: an answer never reaches the client, and the connection stays.

The request is carried out. The client waits until it times out, or until the answer to its next request comes in the
place of this one.
"""

from __future__ import annotations

from typing import ClassVar

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from proxy.plugin import Decision, Raw
from rules.trigger import Firing


class DropAnswer(AnswerEffect):
    """Send no bytes in place of an answer."""

    of_frames: ClassVar = True

    def apply(self, target: Target, firing: Firing) -> Decision:
        return Raw(b"")
