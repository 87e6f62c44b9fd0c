"""The loss of a killed worker: how long before the kill was the oldest request answered that the journal lacks?

python -m tests.bench.killed [TIMES]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.mock_brokers import mock_brokers
from tests.plugins.audit.killed import kill

TIMES = 30
FLUSHES = 10
PERIODS = 0.1  # seconds: two periods between two writes, so that kills fall on every moment between them


def main(times: int) -> None:
    """Kill a worker this many times, each time at another moment between two writes, and print the losses."""
    lost_ms: list[float] = []
    requests = 0
    with mock_brokers(1) as bootstrap:
        for number in range(times):
            with tempfile.TemporaryDirectory() as folder:
                killed = kill(Path(folder), bootstrap, FLUSHES, PERIODS * number / times)
            oldest = min((one.at for one in killed.lost), default=killed.at)
            lost_ms.append((killed.at - oldest) * 1000)
            requests += len(killed.lost)
    print(f"killed {times} times: {requests} requests lost, answered at most {max(lost_ms):.0f} ms before")
    print(f"median {median(lost_ms):.0f} ms, within 100 ms: {sum(one <= 100 for one in lost_ms)} of {times}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else TIMES)
