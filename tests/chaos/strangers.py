"""Third-party projects in an environment with Doorkeeper installed from its wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "proxy", "rules", "plugins", "chaos")
SECONDS = 120.0


class Stranger:
    """A Python environment with Doorkeeper and its dependencies installed."""

    def __init__(self, python: Path) -> None:
        self.python = python

    def run(self, project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python in a project, without this clone on its path."""
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=project,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def tests(self, project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the tests of a project."""
        # A root of its own for temporary folders: other runs add and remove folders in the common one meanwhile.
        (root := project.parent / "temporary").mkdir(exist_ok=True)
        environment = {"PYTEST_DEBUG_TEMPROOT": str(root), **environment}
        quiet = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=60")
        return self.run(project, *quiet, *arguments, **environment)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of such a project's shell."""
        return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}


def installed(folder: Path) -> Stranger:
    """Build Doorkeeper from this clone, and install it into an environment in this folder."""
    source = folder / "source"
    source.mkdir()
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            shutil.copy(ROOT / name, source)
    build = ["wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    _pip(sys.executable, *build)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    base = str(folder / "venv")
    site = sysconfig.get_path("purelib", vars={"base": base, "platbase": base})
    Path(site, "what-it-needs.pth").write_text(sysconfig.get_paths()["purelib"])
    python = folder / "venv" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    _pip(str(python), "install", "--no-deps", "--no-index", str(wheel))
    return Stranger(python)


def _pip(python: str, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", python, *arguments]
    subprocess.run(command, check=True, timeout=SECONDS)
