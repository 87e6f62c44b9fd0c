"""A plugin that decides about every accepted client."""

from __future__ import annotations

from typing import Any, ClassVar

from proxy.core.arrival import Arrival, NotServed
from proxy.core.decisions import Decision, Steps
from proxy.core.plugin import Plugin
from proxy.core.services import Services

PLACE = "tests.proxy.net.refusing:Refusing"


class Refusing(Plugin):
    """Answers with `decides`; notes each client with its time, and each client that was not served."""

    decides: ClassVar[Any] = None
    came: ClassVar[list[Arrival]] = []
    moments: ClassVar[list[float]] = []
    ended: ClassVar[list[NotServed]] = []

    def __init__(self, options: object, services: Services) -> None:
        """It takes no options."""
        self.clock = services.clock

    def accepted(self, arrival: Arrival) -> Steps | Decision:
        self.came.append(arrival)
        self.moments.append(self.clock.now)
        decided: Decision = self.decides() if callable(self.decides) else self.decides
        return decided

    def not_served(self, ended: NotServed) -> None:
        self.ended.append(ended)
        if ended.why == "fail":
            raise RuntimeError("a bug")
