"""Clients in a mount namespace with the host names of a test: `python -m tests.real.secured.named`.

It reads the names and the clients from its standard input, and prints the values that each client consumed, or its
error. The namespace has another /etc/hosts, so no other process on this machine sees those names.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.real.jars import CHECKOUT
from tests.real.secured.clients import CLIENTS, As, close
from tests.real.secured.papers import Papers

PATIENCE = 120.0
AT_ONCE = 3
WORLD = ("unshare", "--mount", "--map-root-user", "sh", "-c", 'mount --bind "$1" /etc/hosts; shift; exec "$@"', "sh")


def run(hosts: Path, who: As, topics: Mapping[str, str], values: list[bytes]) -> dict[str, list[str] | str]:
    """The result of each client on its topic, with the host names of the file `hosts`."""
    papers = {name: str(file) for name, file in who.papers._asdict().items() if file} if who.papers else None
    given = {
        "who": who._replace(papers=None),
        "papers": papers,
        "topics": topics,
        "values": [v.decode() for v in values],
    }
    command = [*WORLD, str(hosts), sys.executable, "-m", "tests.real.secured.named"]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, timeout=PATIENCE, cwd=CHECKOUT, check=False
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, list[str] | str] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    given = json.load(sys.stdin)
    papers = Papers(**{name: Path(file) for name, file in given["papers"].items()}) if given["papers"] else None
    who = As(*given["who"])._replace(papers=papers)
    values = [value.encode() for value in given["values"]]

    def use(client: str) -> list[str] | str:
        outcome = CLIENTS[client](who, given["topics"][client], values)
        return outcome if isinstance(outcome, str) else sorted(value.decode() for value in outcome)

    with ThreadPoolExecutor(AT_ONCE) as together:
        told = dict(zip(given["topics"], together.map(use, given["topics"]), strict=True))
    close()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
