"""Questions: what handlers ask the broker of their link (`Ask`).

Rules:
* A question leaves behind all that was read from the client so far, and takes its slot when it is asked. Its answer
  goes to the task that asked.
* A question never cuts into a request of which a part has left: it is asked when the rest has left, too.
"""

from __future__ import annotations

from typing import Any

from proxy.core.decisions import Ask
from proxy.core.parts import Parts
from proxy.core.pending_ask import PendingAsk, newest_common
from proxy.core.task import Task
from proxy.protocol.frame import Buffer
from proxy.protocol.header import request_frame
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.problem import ProtocolError


class Questions:
    """The questions of one link."""

    __slots__ = ("_connection", "_inflight", "_later", "_outbox", "_unsent")

    def __init__(self, parts: Parts) -> None:
        self._connection = parts.connection
        self._inflight = parts.inflight
        self._outbox = parts.outbox
        self._unsent: list[Buffer] = []
        self._later: list[tuple[Task[Any], Ask]] = []

    def ask(self, task: Task[Any], step: Ask) -> bool:
        """Have the broker asked. False: the task has to wait. Raises ProtocolError, TypeError."""
        if not task.may_ask:
            raise TypeError("a response handler cannot Ask: the answer would have to overtake the response that waits")
        if isinstance(step.request, ProduceRequest) and step.request.acks == 0:
            raise TypeError("Produce with acks 0 has no answer")
        if self._outbox.amid_request:
            self._later.append((task, step))
            return False
        version = newest_common(step, self._connection.broker_versions.get(step.request.api.key))
        self._unsent.append(request_frame(step.request, version, 0, self._connection.client_id))
        self._inflight.slots.append((0, PendingAsk(task, step, version), None))
        return False

    def settle(self) -> None:
        """Send the questions that were asked, and ask those that had to wait, if that is possible now."""
        if self._later and not self._outbox.amid_request:
            later, self._later = self._later, []
            for task, step in later:
                try:
                    self.ask(task, step)
                except ProtocolError as error:
                    task.fail(error)
        if self._unsent:
            self._outbox.to_broker(self._unsent)
            self._unsent = []

    def drop(self) -> None:
        """The link is closed."""
        for _, pending, _ in self._inflight.slots:
            if isinstance(pending, PendingAsk):
                pending.task.drop()
        for task, _ in self._later:
            task.drop()
        self._later.clear()
