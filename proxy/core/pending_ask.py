"""Pending questions: the broker was asked them and has not answered yet.

Rules:
* The answer is for the task that asked, never for the client.
* A large answer is read in slices, and other connections have their turn in between.
"""

from __future__ import annotations

from typing import Any

from proxy.core.decisions import Ask
from proxy.core.task import Task
from proxy.protocol.codec import decode_ignoring_rest, slice_decode
from proxy.protocol.frame import Buffer
from proxy.protocol.header import answered_version, read_response_header
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.slices import LARGE


class PendingAsk:
    """One pending question; it stands in its slot, in place of a filter chain."""

    __slots__ = ("_version", "ask", "task")

    sees_response = True  # `Responses` looks at this of every slot
    may_wait = in_turn = False

    def __init__(self, task: Task[Any], ask: Ask, version: int) -> None:
        self.task = task
        self.ask = ask
        self._version = version

    def answered(self, frame: Buffer, most: int) -> None:
        """This is the answer, without its size; it may have at most `most` elements. Its task goes on, or fails."""
        api, version = self.ask.request.api, self._version
        try:
            _, body = read_response_header(api, version, frame)
            version = answered_version(api, version, frame[body : body + 2])
            if len(frame) > LARGE:
                self.task.read(slice_decode(api.response, version, frame, body, most))
                return
            message = decode_ignoring_rest(api.response, version, bytes(frame[body:]))
        except ProtocolError as error:
            self.task.fail(error)
        else:
            self.task.go_on(message)


def newest_common(ask: Ask, spoken: tuple[int, int] | None) -> int:
    """The version in which to ask: the newest that both sides know, if the broker said what it knows."""
    if ask.version is not None:
        return ask.version
    api = ask.request.api
    if spoken is None:
        return api.newest
    low, high = spoken
    if low > api.newest:
        raise ProtocolError(f"the broker speaks only versions from {low} on", fault=Fault.BROKER, api=api.name)
    return min(api.newest, high)
