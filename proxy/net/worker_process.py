"""Worker process: how it is started, and what its exit code means.

Rules:
* It has a process group of its own: Ctrl-C reaches only the supervisor, which then tells the workers.
* If everything ends at once, it is told so, and has time for its plugins: a journal is sealed. After that it is killed.
* It inherits two files: its end of the channel, and the numbers that all workers count together.
* A worker finds its modules where the supervisor found them.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial

import structlog
import trio

log = structlog.get_logger()

GRACE = 5.0  # seconds beyond its time, until a worker that was told to end is killed


async def start_worker(nursery: trio.Nursery, worker: int, channel: int, shared: int) -> trio.Process:
    """Start a worker process that ends with this nursery. Both files are given as descriptors."""
    command = [sys.executable, "-P", "-m", "proxy.net.worker", str(channel), str(shared)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    start = partial(
        trio.run_process,
        command,
        env=environment,
        pass_fds=(channel, shared),
        process_group=0,
        check=False,
        deliver_cancel=partial(_end_at_once, worker),
    )
    process: trio.Process = await nursery.start(start)
    return process


async def _end_at_once(worker: int, process: trio.Process) -> None:
    process.terminate()
    process.send_signal(signal.SIGINT)  # not the same signal again: it might count as one with the first
    await trio.sleep(GRACE)
    kill(worker, process)


def kill(worker: int, process: trio.Process) -> None:
    """Kill a worker that hangs."""
    log.error("worker does not end", worker=worker)
    process.kill()


def how_it_ended(code: int | None, scarce: str | None = None) -> str:
    """The end of a worker, in words for the log. No code: there was no process, perhaps since something is `scarce`."""
    if code is None:
        return f"could not be started: {scarce}" if scarce else "could not be started"
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:  # most real-time signals have no name
        return f"was ended by signal {-code}"
