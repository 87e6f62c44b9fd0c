"""The rig: the compiled programs, built on first use, and how to run them.

A contender must not wait for Python, so the clients and the brokers are C programs. They are built into the cache
folder under a name made from their source, so an old build never runs for a new source.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.real.jars import cache_folder
from tests.real.process import Program

SOURCES = Path(__file__).parent
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11")
SEALED = ("-DTLS", "-lssl", "-lcrypto")
HOST = "127.0.0.1"
START = 60.0  # seconds until the dummy brokers must listen; they usually take milliseconds
PATIENCE = 60.0  # seconds that a load may take beyond its given time


class RigError(Exception):
    """The rig cannot be built, or a load failed: one line says why."""


@cache
def built(program: str, more: Sequence[str] = ()) -> Path:
    """A program (`load`, `broker`, `relay`), compiled with `more` flags; RigError where it cannot be built."""
    flags = (*FLAGS, *more)
    sources = [SOURCES / f"{program}.c", *sorted(SOURCES.glob("*.h"))]
    version = hashlib.sha256(b"".join(map(Path.read_bytes, sources)) + repr(flags).encode()).hexdigest()[:12]
    binary = cache_folder() / "bench" / f"{program}-{version}"
    if binary.exists():
        return binary
    if (hint := lacking(tls=bool(more))) is not None:
        raise RigError(hint)
    binary.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=binary.parent) as own:  # other processes may build at the same time
        fresh = Path(own, program)
        done = subprocess.run(["gcc", *FLAGS, "-o", fresh, sources[0], *more], capture_output=True, text=True)
        if done.returncode:
            raise RigError(f"gcc could not build {sources[0]}:\n{done.stderr}")
        fresh.rename(binary)
    return binary


def lacking(tls: bool) -> str | None:
    """How to install what the build still needs, in one line; None: nothing."""
    if shutil.which("gcc") is None:
        return "the benchmark's programs are C: install gcc, on Debian with `apt-get install gcc libc6-dev`"
    look = ["gcc", "-E", "-include", "openssl/ssl.h", "-x", "c", "/dev/null"]
    if tls and subprocess.run(look, capture_output=True).returncode:
        return "clients with TLS need OpenSSL's headers: install them, on Debian with `apt-get install libssl-dev`"
    return None


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Brokers:
    """The dummy cluster, one process; `addresses` are those of its brokers, by node id from 0."""

    def __init__(
        self, log: Path, brokers: int = 1, topics: int = 1, partitions: int = 3, advertised: Sequence[Address] = ()
    ) -> None:
        command = [str(built("broker")), f"--brokers={brokers}", f"--topics={topics}", f"--partitions={partitions}"]
        command += [f"--advertise={address}" for address in advertised]
        self.program = Program("dummy brokers", command, log)
        ports = self.program.expect("ports", within=START).split()[1:]
        self.addresses = [Address(HOST, int(port)) for port in ports]

    def stop(self) -> None:
        self.program.kill()


@dataclass(frozen=True)
class Result:
    """The result of one load. `all_` counts the warm-up too, because the contender's CPU time does."""

    api: str
    version: int
    requests: int
    seconds: float
    requests_per_s: float
    mb_per_s: float
    p50_us: float
    p99_us: float
    max_us: float
    all_requests: int
    all_bytes: int


def load(bootstrap: Address, **options: str | float) -> Result:
    """Run the load generator (its options: `load --help`); RigError with its one line where a response was wrong."""
    program = built("load", SEALED) if options.get("tls") else built("load")
    command = [str(program), f"--host={bootstrap.host}", f"--port={bootstrap.port}"]
    command += [f"--{name}={value}" for name, value in options.items()]
    patience = PATIENCE + float(options.get("seconds", 2))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        raise RigError(f"the load generator did not come to an end in {patience:.0f} s") from None
    if done.returncode:
        raise RigError(done.stderr.strip() or f"the load generator ended with {done.returncode}")
    return Result(**json.loads(done.stdout))
