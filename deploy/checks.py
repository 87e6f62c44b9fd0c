"""The checks: what must hold before a change is good.

Tests come last, so that their closing line ends the output; only the names of checks that failed come after it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from deploy.environment import ROOT, Environment, say

# The fastest first. Each is a module, or a script of the environment, with its arguments.
STATIC = {
    "ruff": ("-m", "ruff", "check", "--quiet", "."),
    "mypy": ("-m", "mypy", "--no-error-summary"),
    "import-linter": (".venv/bin/lint-imports", "--no-logo"),
}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
AHEAD = ("-m", "tests.real.ahead")  # downloads for the tests, which take a minute or more
BESIDE = ("-n", "3")  # processes: one waits for brokers, one for Spark, and one computes; see tests/conftest.py
HEADERS = Path("/usr/include/openssl/ssl.h")
# Tools that pip cannot install. For each: whether it is there, what is not tested without it and how to install it, and
# pytest's option that leaves those tests out.
USEFUL: dict[str, tuple[Callable[[], object], str, str]] = {
    "gcc": (
        lambda: shutil.which("gcc"),
        "tests of the benchmark's C programs are left out; apt-get install gcc libc6-dev",
        "--ignore=tests/bench",
    ),
    "chromium": (
        lambda: any(map(shutil.which, CHROMIUM)),
        "the page of audit reports is not opened in a browser; apt-get install chromium",
        "--ignore=tests/plugins/audit/reports/render/test_chromium.py",
    ),
    "libssl-dev": (
        HEADERS.exists,
        "tests of the benchmark's clients with TLS are left out; apt-get install libssl-dev",
        "--ignore=tests/bench/test_sealed.py",
    ),
    "python3-dev": (
        lambda: any((ROOT / "proxy").rglob("*.so")),
        "what pip would have compiled is not tested, plain Python does the same; apt-get install gcc python3-dev, "
        "remove .venv, and run this again",
        "--ignore-glob=*/test_compiled_*.py",
    ),
}


def run(environment: Environment, arguments: Sequence[str]) -> int:
    """Run all checks and tests. Returns the exit code of the tests, or 1 if only a check failed."""
    with ExitStack() as stack:
        if all(argument.startswith("--") for argument in arguments):  # selected tests may need none of the downloads
            stack.enter_context(environment.beside(*AHEAD))
            arguments = (*BESIDE, *arguments)
        return _run(environment, arguments)


def _run(environment: Environment, arguments: Sequence[str]) -> int:
    failed = []
    for name, command in STATIC.items():
        say(name)
        if environment.run(*command):
            failed.append(name)
    left_out = []
    for name, (there, consequence, option) in USEFUL.items():
        if not there():
            say(f"{name} is missing: {consequence}")
            left_out.append(option)
    say("pytest")
    sys.stdout.flush()
    code = environment.run("-m", "pytest", *left_out, *arguments)
    if failed:
        say(f"failed: {', '.join(failed)}; what they found is said before the tests")
    return code or int(bool(failed))
