"""kafkajs, a client of Node: a small program of ours that is run for each scenario. Its packages are fetched once.

The program is in the folder `kafkajs`, and says there what its commands do. They are kept by the digest of the
lock file.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.real.client_programs import NoClientProgramError, prepare
from tests.real.jars import cache_folder

SOURCES = Path(__file__).parent / "kafkajs"
LOCK = "package-lock.json"
FETCHING = 300.0  # seconds to fetch the packages; 5 are usual


@dataclass(frozen=True)
class Kafkajs:
    """The command that runs the program, and the environment in which it finds its packages."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


def find_kafkajs() -> Kafkajs:
    """The program; its packages are fetched into the cache folder the first time. Raises NoClientProgramError."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise NoClientProgramError("there is no Node with npm to run kafkajs")
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
        prepare(command, made, FETCHING, "kafkajs was not fetched", telling=0)
        made.rename(into)
