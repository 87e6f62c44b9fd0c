"""Worker process: how one is started, and what its exit code says.

Rules:
* It has a process group of its own: Ctrl-C reaches the supervisor alone, which then tells the workers.
* It inherits two files: its end of the channel, and the numbers that all workers count together.
* However the supervisor came to find its modules, a worker finds the same ones.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial

import trio


async def start_worker(nursery: trio.Nursery, channel: int, shared: int) -> trio.Process:
    """Start one that lives in this nursery. Both files are given as their descriptors."""
    command = [sys.executable, "-P", "-m", "proxy.net.worker", str(channel), str(shared)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    start = partial(
        trio.run_process,
        command,
        env=environment,
        pass_fds=(channel, shared),
        process_group=0,
        check=False,
        deliver_cancel=_kill,
    )
    process: trio.Process = await nursery.start(start)
    return process


async def _kill(process: trio.Process) -> None:
    process.kill()


def how_it_ended(code: int | None) -> str:
    """For a line in the log; None: there was no process."""
    if code is None:
        return "could not be started"
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
