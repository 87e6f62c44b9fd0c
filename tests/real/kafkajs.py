"""kafkajs, a client of Node: a small program of ours that is run for each scenario. Its packages are fetched once.

The program is in the folder `kafkajs`, and says there what its commands do. They are kept by the digest of the
lock file.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.real.jars import cache_folder

SOURCES = Path(__file__).parent / "kafkajs"
LOCK = "package-lock.json"
FETCHING = 300.0  # seconds to fetch the packages; 5 are usual


class NoKafkajsError(RuntimeError):
    """There is no Node, or the packages could not be fetched. The text is one line for people."""


@dataclass(frozen=True)
class Kafkajs:
    """The command that runs the program, and the environment in which it finds its packages."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


def find_kafkajs() -> Kafkajs:
    """The program; its packages are fetched into the cache folder the first time. Raises NoKafkajsError."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise NoKafkajsError("there is no Node with npm to run kafkajs")
    digest = hashlib.sha256((SOURCES / LOCK).read_bytes()).hexdigest()[:12]
    fetched = cache_folder() / "kafkajs" / digest
    fetched.parent.mkdir(parents=True, exist_ok=True)
    with (fetched.parent / "lock").open("w") as lock:  # one process fetches them, and the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not fetched.exists():
            _fetch(npm, fetched)
    return Kafkajs((node, str(SOURCES / "main.js")), {"NODE_PATH": str(fetched / "node_modules")})


def _fetch(npm: str, into: Path) -> None:
    with tempfile.TemporaryDirectory(dir=into.parent) as own:  # a part of them is never found
        made = Path(own, into.name)
        made.mkdir()
        for name in ("package.json", LOCK):
            shutil.copy(SOURCES / name, made)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        try:
            done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=FETCHING)
        except subprocess.TimeoutExpired:
            raise NoKafkajsError(f"kafkajs was not fetched within {FETCHING:.0f} s; is this machine online?") from None
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"npm ended with {done.returncode}"]
            raise NoKafkajsError(f"kafkajs was not fetched: {said[0]}")
        made.rename(into)
