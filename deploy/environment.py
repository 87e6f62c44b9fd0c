"""The environment: a `.venv` in the clone with all packages, made once, and renewed when its sources change.

Rules:
* Debian and Ubuntu leave `ensurepip` out of Python. So the venv is made without pip, and the machine's pip installs
  into it.
* A stamp says for which pyproject.toml, C sources and Python the environment was filled. If they change, it is filled
  anew.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# For each extra, the extras that bring everything it needs.
INCLUDES = {"demo": ("demo", "test"), "reports": ("reports", "test"), "test": ("test",)}
COSTS = {"reports": "half a GB; --no-report does without"}
OLDEST_PIP = (22, 3)  # the first that can install into another environment (--python)
PIP_IS_MISSING = "pip is missing; install it and run this again: apt-get install python3-pip"


class CannotError(Exception):
    """The environment cannot be made. The text is one line: what is missing, and how to get it."""


class Environment:
    """A virtual environment of this clone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"

    def run(self, *arguments: str) -> int:
        """Run Python in it, in the clone. Returns the exit code."""
        command = [str(self.python), *arguments]
        return subprocess.run(command, cwd=ROOT, env=self._surroundings(), check=False).returncode

    @contextmanager
    def beside(self, *arguments: str) -> Iterator[None]:
        """Run Python in it, in the clone, silently, within this context. It is terminated at the end."""
        command, nowhere = [str(self.python), *arguments], subprocess.DEVNULL
        with subprocess.Popen(
            command, cwd=ROOT, env=self._surroundings(), stdin=nowhere, stdout=nowhere, stderr=nowhere
        ) as process:
            try:
                yield
            finally:
                process.terminate()

    def _surroundings(self) -> dict[str, str]:
        binaries = f"{self.folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return os.environ | {"VIRTUAL_ENV": str(self.folder), "PATH": binaries}

    def _stamp(self, extra: str) -> Path:
        return self.folder / f".filled-for-{extra}"

    def is_filled(self, extra: str, wanted: str) -> bool:
        """Whether it has everything for `extra`, by the fingerprint `wanted`."""
        stamps = (self._stamp(name) for name in INCLUDES[extra])
        return self.python.exists() and any(stamp.exists() and stamp.read_text() == wanted for stamp in stamps)

    def fill(self, extra: str, wanted: str) -> None:
        """Make it if it is missing, and install this clone with `extra` into it. Raises CannotError."""
        if not self.python.exists():
            say(f"making {self.folder.relative_to(ROOT)}")
            venv.create(self.folder, with_pip=False, symlinks=True, clear=self.folder.exists())
        say(f"installing what is needed for: {extra} (once; {COSTS.get(extra, 'takes a while')})")
        install = ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--editable", f".[{extra}]"]
        if subprocess.run([*self._pip(), *install], cwd=ROOT, check=False).returncode:
            raise CannotError("pip could not install everything; its lines above say why (is the network there?)")
        self._stamp(extra).write_text(wanted)

    def _pip(self) -> list[str]:
        """The command of a pip that installs into this environment: its own, the machine's, or Python's bundled one."""
        if _succeeds(str(self.python), "-m", "pip", "--version"):
            return [str(self.python), "-m", "pip"]
        if _machine_pip() >= OLDEST_PIP:
            return [sys.executable, "-m", "pip", "--python", str(self.python)]
        if importlib.util.find_spec("ensurepip") and _succeeds(str(self.python), "-m", "ensurepip"):
            return [str(self.python), "-m", "pip"]
        raise CannotError(PIP_IS_MISSING)


def ready(extra: str) -> Environment:
    """The clone's environment with everything for `extra` in it. Raises CannotError."""
    environment, wanted = Environment(ROOT / ".venv"), fingerprint()
    if not environment.is_filled(extra, wanted):
        environment.fill(extra, wanted)
    return environment


def fingerprint() -> str:
    """A hash of everything that an environment depends on."""
    contents = b"".join(file.read_bytes() for file in declared())
    return f"{hashlib.sha256(contents).hexdigest()} {sys.version_info.major}.{sys.version_info.minor}\n"


def declared() -> list[Path]:
    """The files on which an environment depends."""
    compiled = (path for folder in ("proxy", "plugins") for path in (ROOT / folder).rglob("*.[ch]"))
    return [ROOT / "pyproject.toml", *sorted(compiled)]


def say(what: str) -> None:
    """Print a line about the present step."""
    print(f"deploy: {what}", flush=True)


def _machine_pip() -> tuple[int, ...]:
    version = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, text=True, check=False)
    numbers = version.stdout.split()[1].split(".")[:2] if version.returncode == 0 else ()
    return tuple(int(number) for number in numbers if number.isdigit())


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
