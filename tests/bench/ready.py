"""`python -m tests.bench.ready`: how long does a test wait for the fixture `kafka_faults` and for its operations?

`first start` is the start of the brokers and the proxy. `ready` is the wait of each further test: it resets the test
before. Times are in milliseconds, as the caller sees them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaos.fixture import KafkaFaults
from chaos.fixture.launch import FaultProxy
from chaos.fixture.settings import ClusterSettings

TESTS = 200


def main() -> None:
    """Print the times."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        proxy = FaultProxy(ClusterSettings("", brokers=3, workers=1), Path(folder))
        print(f"first start   {(time.perf_counter() - began) * 1000:8.1f} ms")
        try:
            _measure(proxy)
        finally:
            proxy.end()


def _measure(proxy: FaultProxy) -> None:
    taken: dict[str, list[float]] = {}
    for seed in range(TESTS):
        with timed("ready", taken):
            faults = KafkaFaults(proxy, seed)
        with timed("in force", taken):
            fault = faults.on("Produce", topic="orders").after_broker().disconnect().times(1).start()
        with timed("fired", taken):
            assert fault.fired == 0
        with timed("removed", taken):
            fault.stop()
    for what, times in taken.items():
        quantiles = statistics.quantiles(times, n=100)
        print(f"{what:<12}  median {quantiles[49]:6.1f} ms, p99 {quantiles[98]:6.1f} ms, longest {max(times):6.1f} ms")


@contextmanager
def timed(what: str, taken: dict[str, list[float]]) -> Iterator[None]:
    """Note how long the block takes, in milliseconds."""
    began = time.perf_counter()
    yield
    taken.setdefault(what, []).append((time.perf_counter() - began) * 1000)


if __name__ == "__main__":
    main()
