"""A lane: one running contender with brokers of its own; and one sample of a workload on it.

All lanes run for the whole comparison, so that samples can be taken in any order. Lanes that are not being measured are
idle.

The memory layout of a process is a matter of luck and lasts as long as the process: two processes with the same
configuration differ by a tenth and more. So contenders that are configurations of one program take turns in one
process, on one lane.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.bench.contenders import Contender
from tests.bench.processes import cpu_seconds, memory_mb, place, started_on
from tests.bench.rig import HOST, Address, Brokers, Result, RigError, load
from tests.bench.workloads import Workload
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program

START = 60.0  # seconds until a contender must let a request through
# Doorkeeper's log lines about a reload.
RELOADED, NOT_RELOADED = "configuration reloaded", "configuration not reloaded"
TOPICS, PARTITIONS = 100, 10
OURS, THEIRS = 0, 1  # processors: one for clients and brokers, one for contenders


@dataclass(frozen=True)
class Sample:
    """One run of a workload: the clients' result, and the contender's cost (0 for direct: it has no process).

    `rig_seconds` is the CPU time of clients and brokers.
    """

    result: Result
    cpu_seconds: float
    rig_seconds: float
    memory_mb: float

    @property
    def requests_per_s(self) -> float:
        return self.result.requests_per_s

    @property
    def mb_per_s(self) -> float:
        return self.result.mb_per_s

    @property
    def p50_us(self) -> float:
        return self.result.p50_us

    @property
    def p99_us(self) -> float:
        return self.result.p99_us

    @property
    def cpu_s_per_gb(self) -> float:
        return self.cpu_seconds / (self.result.all_bytes / 1e9)

    @property
    def cpu_us_per_request(self) -> float:
        return self.cpu_seconds / self.result.all_requests * 1e6

    @property
    def slower_us_per_request(self) -> float:
        """CPU time on the busier processor: the contender's, or that of clients and brokers."""
        return max(self.cpu_seconds, self.rig_seconds) / self.result.all_requests * 1e6


class Proxy:
    """One run of a contender in front of brokers that already listen; it is ready when a request passes."""

    def __init__(self, contender: Contender, folder: Path, upstream: Mapping[int, Address], port: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.contender = contender
        self._place = folder, upstream, port
        self.bootstrap = contender.bootstrap(upstream, port)
        command = contender.command(folder, upstream, port)
        log = folder / f"{contender.name}.log"
        self.program = Program(contender.name, command, log, env={"PYTHONPATH": str(CHECKOUT)}) if command else None

    def wait(self, topic: str) -> None:
        """Wait until a request for `topic` is answered; RigError with the contender's last lines where none is."""
        until = time.monotonic() + START
        while True:
            try:
                load(self.bootstrap, requests=1, warmup=0, topic=topic, api="apiversions", **self.contender.options)
                return
            except RigError as problem:
                ended = self.program is not None and not self.program.running
                if ended or time.monotonic() > until:
                    said = self.program.tail() if self.program else ""
                    raise RigError(f"{self.contender.name} does not serve: {problem}\n{said}".rstrip()) from None
                time.sleep(0.1)

    def become(self, contender: Contender) -> None:
        """Reload the process with another contender's configuration; RigError with its last lines where that fails."""
        assert self.program is not None
        before, until = self.program.output().count(RELOADED), time.monotonic() + START
        contender.command(*self._place)
        if self.program.running:
            os.kill(self.program.pid, signal.SIGHUP)
        while self.program.output().count(RELOADED) == before:
            refused = NOT_RELOADED in self.program.output()
            if refused or not self.program.running or time.monotonic() > until:
                raise RigError(f"it does not become {contender.name}:\n{self.program.tail()}")
            time.sleep(0.01)
        self.contender = contender

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds that it spent since its start."""
        return cpu_seconds(self.program.pid) if self.program else 0.0

    def stop(self) -> None:
        if self.program:
            self.program.stop()


class Lane:
    """Dummy brokers and a contender in front of them; a context that ends both."""

    def __init__(self, contender: Contender, folder: Path, brokers: int = 1) -> None:
        self.contender = contender
        self.folder = folder
        self._brokers = brokers

    def __enter__(self) -> Lane:
        self.folder.mkdir(parents=True, exist_ok=True)
        port = free_block(1 + self._brokers, HOST)
        faces = [Address(HOST, port + 1 + node) for node in range(self._brokers)]
        advertised = () if self.contender.rewrites else faces
        self.brokers = Brokers(self.folder / "brokers.log", self._brokers, TOPICS, PARTITIONS, advertised)
        self._port = port
        try:
            self.proxy = self._started()
        except BaseException:
            self.brokers.stop()
            raise
        return self

    def _started(self) -> Proxy:
        proxy = Proxy(self.contender, self.folder, dict(enumerate(self.brokers.addresses)), self._port)
        try:
            proxy.wait("bench-0")
            if self.contender.warmup:
                load(proxy.bootstrap, seconds=self.contender.warmup, connections=10, inflight=5)
        except BaseException:
            proxy.stop()
            raise
        return proxy

    def renew(self) -> None:
        """Start a new process of the contender, unless it needs a warm-up."""
        if self.proxy.program and not self.contender.warmup:
            self.proxy.stop()
            self.proxy = self._started()

    def turn_to(self, contender: Contender) -> None:
        """Run this contender from now on."""
        if contender is not self.contender:
            self.proxy.become(contender)
            self.contender = contender

    def measure(self, workload: Workload, seconds: float) -> Sample:
        """Take one sample; RigError where a response was wrong."""
        ours, theirs = (OURS, THEIRS) if workload.apart else (None, None)
        program = self.proxy.program
        place(self.brokers.program.pid, ours)
        if program:
            place(program.pid, theirs)
        everything, contender = cpu_seconds(os.getpid()), self.proxy.cpu_seconds
        with started_on(ours):
            result = load(self.proxy.bootstrap, seconds=seconds, **workload.options, **self.contender.options)
        spent = self.proxy.cpu_seconds - contender
        rig = cpu_seconds(os.getpid()) - everything - spent
        return Sample(result, spent, rig, memory_mb(program.pid) if program else 0.0)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.proxy.stop()
        self.brokers.stop()
