"""A log that is full, closed or never read neither ends nor blocks the proxy; in real processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
import trio

from tests.proxy.net.scripted import LOOPBACK, Broker, connected
from tests.real.ports import free_block, free_port

ROOT = Path(__file__).parents[3]
LONG = 60.0  # seconds: processes start here, on a machine that has other things to do
CONNECTIONS = 200  # each is several lines, for it is asked for all of them


@contextmanager
def log(kind: str) -> Iterator[int]:
    """Where the proxy logs to."""
    if kind == "full":
        reads, writes = os.open(os.devnull, os.O_RDONLY), os.open("/dev/full", os.O_WRONLY)
    else:
        reads, writes = os.pipe()
    if kind == "broken":
        os.close(reads)
    if kind == "unread":
        os.set_blocking(writes, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writes, b"x" * 65536)
        os.set_blocking(writes, True)
    try:
        yield writes
    finally:
        os.close(writes)
        if kind != "broken":
            os.close(reads)


async def is_served(port: int) -> None:
    """Wait until a client is."""
    with trio.fail_after(LONG):
        while True:
            try:
                async with connected(LOOPBACK, port) as client:
                    assert await client.beat() == 0
                    return
            except OSError:
                await trio.sleep(0.05)


@pytest.mark.parametrize(
    ("kind", "workers"),
    [("full", 1), ("full", 2), ("broken", 1), ("unread", 1), ("unread", 2), ("closed", 1), ("closed", 2)],
)
async def test_it_serves_on_and_ends_cleanly(broker: Broker, tmp_path: Path, kind: str, workers: int) -> None:
    port, admin = free_block(4, LOOPBACK), free_port(LOOPBACK)
    file = tmp_path / "gateway.yaml"
    file.write_text(
        f"clusters: {{main: {{bootstrap: [{broker.endpoint}]}}}}\n"
        f"listeners: {{clients: {{cluster: main, bind: {LOOPBACK}:{port}}}}}\n"
        f"workers: {workers}\nadmin: {{bind: {LOOPBACK}:{admin}}}\n"
    )
    command = [sys.executable, "-m", "proxy", "run", "--verbose", "--log", "json", str(file)]
    if kind == "closed":
        command = ["sh", "-c", 'exec "$@" 2>&-', "sh", *command]
    with log(kind) as writes:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=writes)
        try:
            await is_served(port + 2)
            for _ in range(CONNECTIONS):
                async with connected(LOOPBACK, port + 2) as client:
                    await client.send(b"no frame of Kafka, however long one waits for more")
                    assert await client.is_closed()
            await is_served(port + 2)
            async with httpx.AsyncClient() as asking:
                metrics = (await asking.get(f"http://{LOOPBACK}:{admin}/metrics", timeout=LONG)).text
            dropped = re.findall(r'log_lines_dropped_total{[^}]*reason="not_taken"[^}]*} (.*)', metrics)
            assert len(dropped) == (1 if workers == 1 else workers + 1), "their supervisor has lines of its own"
            assert any(float(count) > 0 for count in dropped) == (kind in ("full", "broken"))
            process.terminate()
            assert await trio.to_thread.run_sync(process.wait, LONG) == 0
        finally:
            process.kill()
            process.wait()
