"""Client programs: clients in other languages, by small programs of ours that do the work of one scenario.

Rules:
* A program is called with options, the bootstrap servers, a command and its arguments, and prints its outcome as JSON.
* Records are JSON objects, whose bytes are in base64.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from tests.certificates import Authority
from tests.real.cluster import Cluster
from tests.real.doorkeeper import ADVERTISED, Doorkeeper
from tests.real.records import PATIENCE, Record

# It goes on below the listener of tests/real/doorkeeper.py.
GUARDED = """\
    tls: {{certificate: {certificate}, key: {key}}}
    sasl: {{mechanisms: [SCRAM-SHA-512], credentials: users.yaml}}
plugins:
  - acl: {{rules: acl.yaml}}
"""


class NoClientProgramError(RuntimeError):
    """A program cannot be had on this machine. The text is one line for people."""


def prepare(command: Sequence[str], folder: Path, seconds: float, failed: str, telling: int) -> None:
    """Run a command that fetches or builds a program. Raises NoClientProgramError, which begins with `failed`.

    `telling`: the index of the line of its errors that says why.
    """
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise NoClientProgramError(f"{failed} within {seconds:.0f} s; is this machine online?") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"{Path(command[0]).name} ended with {done.returncode}"]
        raise NoClientProgramError(f"{failed}: {said[telling]}")


@dataclass(frozen=True)
class ClientProgram:
    """Clients of one user, who logs in by SCRAM over TLS; without a user, neither."""

    command: Sequence[str]
    bootstrap: str
    user: str | None = None
    ca: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, command: str, *arguments: str | int, given: Iterable[Record] = ()) -> Any:
        """Run one command of the program, and give its outcome."""
        options = ["--user", self.user, "--ca", str(self.ca)] if self.user else []
        done = subprocess.run(
            [*self.command, *options, self.bootstrap, command, *map(str, arguments)],
            input=json.dumps([_written(record) for record in given]),
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            env={**os.environ, **self.environment},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def consume(self, topic: str, count: int, *group: str) -> list[Record]:
        """Read that many committed records."""
        return [_read(record) for record in self.run("consume", topic, count, *group)]


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


@contextmanager
def guarded(folder: Path, cluster: Cluster, rules: str) -> Iterator[dict[str, Any]]:
    """Run a Doorkeeper with these rules, by TLS and SCRAM; gives how Alice's `ClientProgram` reaches it."""
    authority = Authority(folder)
    certificate, key = authority.issue("doorkeeper", ADVERTISED)
    save(folder / "users.yaml", {"alice": verifiers("secret")})
    (folder / "acl.yaml").write_text(rules)
    with Doorkeeper(folder, cluster, GUARDED.format(certificate=certificate, key=key)) as doorkeeper:
        yield {"bootstrap": doorkeeper.way.bootstrap, "user": "alice", "ca": authority.file}
