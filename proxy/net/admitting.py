"""Admitting: what plugins decide about an accepted client, before it has a link.

Rules:
* No link exists yet, so the steps of plugins run here, in the task of the connection. That connection counts towards
  `limits.connections`, and waits no longer than `limits.idle`.
* A client that leaves meanwhile is forgotten at once, unless it sent something first.
* If no step waits, which is usual, no task and no timeout is made: trio keeps the record of a timeout until its
  deadline.
"""

from __future__ import annotations

import socket
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

import trio

from proxy.core.arrival import NotServed
from proxy.core.decisions import Call, Decision, Disconnect, How, Sleep, Step, Wait
from proxy.core.driving import StepDriver
from proxy.core.failure import FAILURES, AnyFailure, detached, name_of
from proxy.core.filters import Filters
from proxy.core.signal import Signal
from proxy.core.steps import HandlerError
from proxy.net.outgoing import AT_ONCE
from proxy.net.thread_work import CALLS

R = TypeVar("R")
Admitted = Decision | HandlerError

ROOM = 64 << 10  # bytes read at a time from a client that gets no answer


async def admit(client: socket.socket, steps: Generator[Step, Any, Admitted], most: float) -> Admitted:
    """The decision of these steps, within `most` seconds. Everything is done for it but closing the socket."""
    decision: Admitted = Disconnect(f"a plugin did not decide within {most:g} s (limits.idle)")
    driver = StepDriver(steps)
    try:
        if driver.advance():
            with trio.move_on_after(most):
                decision = await _unless_gone(client, driver)
        else:
            decision = driver.result
    finally:
        steps.close()
    if isinstance(decision, Disconnect):
        if decision.how is How.RESET:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        elif decision.how is not How.CLOSE:
            await _answer_nothing(client, decision.how, most)
    return decision


def tell_not_served(filters: Filters, ended: NotServed) -> Iterator[tuple[str, AnyFailure]]:
    """Tell plugins of a connection that ended here. Returns the names of those that failed, and their errors."""
    for told in filters.not_served:
        try:
            told(ended)
        except FAILURES as error:
            yield name_of(told), detached(error)


async def _unless_gone(client: socket.socket, driver: StepDriver[Admitted]) -> Admitted:
    decision: Admitted = Disconnect("the client left before it was let in")
    async with trio.open_nursery() as nursery:

        async def decide() -> None:
            nonlocal decision
            decision = await take(driver)
            nursery.cancel_scope.cancel()

        nursery.start_soon(decide)
        if await _is_gone(client):
            nursery.cancel_scope.cancel()
    return decision


async def _is_gone(client: socket.socket) -> bool:
    """Wait for the client's first byte or its end. Returns whether it left."""
    await trio.lowlevel.wait_readable(client)
    try:
        return not client.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


async def take(driver: StepDriver[R]) -> R:
    """Run the pending step and those after it. There is no link, and so no broker to ask."""
    waits = True
    while waits:
        try:
            driver.give(await _taken(driver.step))
        except FAILURES as error:
            driver.throw(error)
        waits = driver.advance()
    return driver.result


async def _taken(step: object) -> Any:
    match step:
        case Sleep(unless=Signal() as signal):
            with trio.move_on_after(step.seconds):
                await _released(signal)
        case Sleep():
            await trio.sleep(step.seconds)
        case Wait():
            await _released(step.signal)
        case Call():
            return await trio.to_thread.run_sync(step.work, limiter=CALLS)
        case None:
            await trio.lowlevel.checkpoint()
        case _:
            raise TypeError(f"{step!r} is no step for a client that was accepted")
    return None


async def _released(signal: Signal) -> None:
    released = trio.Event()
    signal.on_release(released, trio.Event.set)
    await released.wait()


async def _answer_nothing(client: socket.socket, how: How, most: float) -> None:
    """Discard what the client sends, until it leaves or sends nothing for so many seconds."""
    try:
        if how is How.HALF_CLOSE:
            client.shutdown(socket.SHUT_WR)
        received = True
        while received:
            received = False
            with trio.move_on_after(most):
                await trio.lowlevel.wait_readable(client)
                received = bool(client.recv(ROOM))
    except OSError:
        return  # the client is gone
