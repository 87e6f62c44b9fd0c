"""Child: one live worker as its supervisor sees it.

Rules:
* A worker has limited time to answer. If it is silent, it counts as not ready, and as not having taken a change.
* A line that makes no sense is logged, and the next line is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import trio

from proxy.net.channel import BrokerOutbox, Learned, Lines, Settings
from proxy.net.keeping import KeptFiles
from proxy.net.tasks import Tasks
from proxy.telemetry.report import Report
from proxy.text.problems import Finding

ANSWER_WITHIN = 1.0  # seconds within which a worker must send its report
CHANGE_WITHIN = 30.0  # seconds within which it must prepare a change, and seconds within which it must take it
QUERY_WITHIN = 5.0  # seconds within which its plugins must answer a query

Hear = Callable[[Learned], None]


class Preparation(NamedTuple):
    """A worker's answer to a change: why it cannot be prepared, and what is wrong in a plugin's state.

    `scarce`: the errno, if descriptors or memory ran out.
    """

    problems: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    scarce: int | None = None


class Child:
    """One live worker."""

    def __init__(self, process: trio.Process, lines: Lines, tasks: Tasks, settings: Settings | None = None) -> None:
        self.process = process
        self.lines = lines
        self.settings = settings  # the settings that it has, apart from its number
        self.told = trio.Event()  # set when its settings were sent
        self.outbox = BrokerOutbox(lines)
        self._tasks = tasks
        self.ready: Report | None = None
        self._lock = trio.Lock()
        self._answers, self._answer = trio.open_memory_channel[Report](1)
        self._changes, self._change = trio.open_memory_channel[dict[str, Any]](4)
        self._queries: dict[int, trio.MemorySendChannel[str | None]] = {}
        self._query = 0  # the number of the last query

    async def listen(self, became_ready: Callable[[], None], learned: Hear, kept: KeptFiles) -> None:
        """Handle the lines of the worker. `learned` gets the brokers that it learned of, `kept` the files it read."""
        ended = False
        while not ended:
            with self._tasks.contained("hearing of a worker"):
                line = await self.lines.receive()
                if line is None:
                    ended = True
                elif "ready" in line:
                    report = Report.of(line["ready"])
                    if self.ready is None or len(report.listening) >= len(self.ready.listening):
                        self.ready = report  # reports sent at the same time may overtake each other
                    became_ready()
                elif "learned" in line:
                    learned(Learned.of(line["learned"]))
                elif "in_force" in line:
                    kept.take(line["in_force"])
                elif "prepared" in line or "taken" in line:
                    if line.get("report") is not None:
                        self.ready = Report.of(line["report"])  # listeners may have been removed
                    with suppress(trio.WouldBlock):
                        self._changes.send_nowait(line)
                elif "answered" in line:
                    asking = self._queries.pop(line["answered"], None)
                    if asking is not None:
                        asking.send_nowait(line["answers"])
                else:
                    with suppress(trio.WouldBlock):  # the last report came too late, and is still there
                        self._answers.send_nowait(Report.of(line["report"]))
        self._changes.close()
        for asking in self._queries.values():
            asking.close()

    async def prepare(self, number: int, change: Mapping[str, Any]) -> Preparation | None:
        """Have the worker prepare a change. Returns the problems with it, or None if the worker did not answer."""
        answer = await self._say({"prepare": number, **change}, "prepared", number)
        if answer is None:
            return None
        findings = [Finding(tuple(path), str(message)) for path, message in answer.get("findings", ())]
        return Preparation([str(problem) for problem in answer["problems"]], findings, answer.get("scarce"))

    async def take(self, number: int, settings: Settings) -> bool:
        """Have the worker put the change in force. If it does, these become its settings."""
        answer = await self._say({"take": number}, "taken", number)
        if answer is None or answer["report"] is None:
            return False
        self.settings = settings
        return True

    async def free(self, listener: str) -> None:
        """Have the worker open the ports of a listener."""
        with trio.move_on_after(CHANGE_WITHIN):
            await self.told.wait()
            await self.lines.send({"free": listener})

    async def query(self, asked: Mapping[str, Any]) -> list[Any] | None:
        """The answers to a query (`channel.py`). None if the worker did not answer, or failed."""
        self._query += 1
        number = self._query
        self._queries[number], answer = trio.open_memory_channel[str | None](1)
        try:
            with trio.move_on_after(QUERY_WITHIN), suppress(trio.EndOfChannel):
                await self.told.wait()
                await self.lines.send({"query": number, **asked})
                answers = await answer.receive()
                if answers is not None:
                    found: list[Any] = await trio.to_thread.run_sync(json.loads, answers)
                    return found
            return None
        finally:
            self._queries.pop(number, None)

    async def _say(self, line: dict[str, Any], reply: str, number: int) -> dict[str, Any] | None:
        """Send a line, and return its answer. None if there was none in time."""
        with trio.move_on_after(CHANGE_WITHIN), suppress(trio.EndOfChannel):
            await self.told.wait()
            await self.lines.send(line)
            while True:
                answer = await self._change.receive()
                if answer.get(reply) == number:  # a late answer to an earlier change is skipped
                    return answer
        return None

    async def report(self) -> Report:
        """The worker's report. Not ready if it does not answer."""
        async with self._lock:
            with trio.move_on_after(ANSWER_WITHIN):
                with suppress(trio.WouldBlock):
                    self._answer.receive_nowait()  # drops a late answer
                await self.lines.send({})
                return await self._answer.receive()
        return Report(ready=False)
