"""A plugin that has a say about every client that is accepted."""

from __future__ import annotations

from typing import Any, ClassVar

from proxy.core.arrival import Arrival
from proxy.core.decisions import Decision, Steps
from proxy.core.plugin import Plugin

PLACE = "tests.proxy.net.refusing:Refusing"


class Refusing(Plugin):
    """Decides `decides`, and notes who came."""

    decides: ClassVar[Any] = None
    came: ClassVar[list[Arrival]] = []

    def __init__(self, *given: object) -> None:
        """It has neither options nor services."""

    def accepted(self, arrival: Arrival) -> Steps | Decision:
        self.came.append(arrival)
        decided: Decision = self.decides() if callable(self.decides) else self.decides
        return decided
