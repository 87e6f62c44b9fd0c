"""A program under test: tests can wait for lines of its output, which is logged to disk, and it always ends.

A program gets its own session, so that Ctrl-C reaches only the test run, which then stops its programs.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

GRACE = 20.0  # seconds between SIGTERM and SIGKILL
TAIL = 40  # lines that an error shows

running: list[Program] = []  # those that have not ended, in the order of their starts


class ProgramError(AssertionError):
    """A program ended or ran on without printing an expected line, or did not end in time."""


class Program:
    """One run of a program, from its start to its end."""

    def __init__(self, name: str, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.log = log
        self._lines: deque[str] = deque(maxlen=20_000)
        self._news = threading.Condition()
        self._ended = False
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            start_new_session=True,
            text=True,
            errors="replace",
        )
        atexit.register(self.kill)
        running.append(self)
        self._reader = threading.Thread(target=self._read, name=f"log of {name}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self.log.open("a") as log, self._process.stdout as output:
            for line in output:
                log.write(line)
                log.flush()
                with self._news:
                    self._lines.append(line)
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def expect(self, *texts: str, within: float) -> str:
        """The first line of this run with all `texts`: printed already, or within this many seconds."""
        until = time.monotonic() + within
        with self._news:
            while True:
                for line in self._lines:
                    if all(text in line for text in texts):
                        return line
                left = until - time.monotonic()
                if self._ended or left <= 0:
                    what = "ended" if self._ended else f"ran {within:.0f} s"
                    raise ProgramError(f"{self.name} {what} without saying {texts!r}; its last lines:\n{self.tail()}")
                self._news.wait(left)

    def tail(self, lines: int = TAIL) -> str:
        """Its last lines."""
        return "".join(list(self._lines)[-lines:])

    def output(self) -> str:
        """Its output so far."""
        return "".join(self._lines)

    def stop(self) -> int:
        """End it by SIGTERM, kill it if it does not end in time, and give its exit code."""
        if self.running:
            self._process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        self.kill()
        return self._process.returncode

    def kill(self) -> None:
        """Kill it at once, as a power failure would."""
        if self.running:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        atexit.unregister(self.kill)
        if self in running:
            running.remove(self)

    def wait(self, within: float) -> int:
        """Wait until it ends by itself, and give its exit code."""
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"{self.name} still runs after {within:.0f} s; its last lines:\n{self.tail()}") from None
        self.kill()
        return self._process.returncode
