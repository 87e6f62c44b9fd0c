"""Delays: how far are they from what a file of faults says?

    python -m tests.bench.delays [--requests 300]

A client asks a broker through the proxy, all in one process on loopback, one request at a time. Each line tells of one
delay: by how much the time until the answer was longer than it, and than the time without any (the median of these).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import structlog
import trio

from plugins.faults import Faults
from proxy.config import PluginUse
from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, serving

DELAYS = (0.005, 0.02, 0.1)  # seconds
SIDES = ("before_broker", "after_broker")


async def times(faults: str, requests: int) -> list[float]:
    """How long each of so many requests took, in order of length."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "faults.yaml")
        file.write_text(faults)
        use = PluginUse("faults", Faults, Faults.Options(rules=str(file)))
        async with trio.open_nursery() as nursery:
            broker = Broker()
            await nursery.start(broker.serve)
            config = configuration(broker.endpoint).model_copy(update={"plugins": (use,)})
            taken = []
            async with serving(config), connected(LOOPBACK, config.listeners["clients"].bind.port) as client:
                await client.beat()
                for _ in range(requests):
                    began = time.perf_counter()
                    await client.beat()
                    taken.append(time.perf_counter() - began)
            nursery.cancel_scope.cancel()
    return sorted(taken)


def main(requests: int) -> None:
    """Print a line for each delay."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))  # nothing below an error
    without = median(trio.run(times, "faults: []", requests))
    print(f"without a delay: median {1000 * without:.2f} ms")
    for delay in DELAYS:
        for side in SIDES:
            do = f"{{delay: {{time: {1000 * delay:g}ms, side: {side}}}}}"
            taken = trio.run(times, f"faults: [{{match: {{api: Heartbeat}}, do: {do}}}]", requests)
            wrong = [1000 * (each - delay - without) for each in taken]
            late = wrong[int(0.99 * len(wrong))]
            print(f"{1000 * delay:>4g} ms {side:<13}: median error {median(wrong):.2f} ms, p99 {late:.2f} ms")


if __name__ == "__main__":
    main(int(sys.argv[sys.argv.index("--requests") + 1]) if "--requests" in sys.argv else 300)
