"""The checks: what must hold before a change is good. Tests come last, so that their closing line ends the output."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from deploy.environment import Environment, say

# In order of how fast they find something; each a module, or a script of the environment, and its arguments.
STATIC = {
    "ruff": ("-m", "ruff", "check", "--quiet", "."),
    "mypy": ("-m", "mypy", "--no-error-summary"),
    "import-linter": (".venv/bin/lint-imports", "--no-logo"),
}
# Programs that some tests use where the machine has them -> what is left out without, and how to get it.
USEFUL = {
    "gcc": "the load generator of tests/bench is not built and its tests are skipped; apt-get install gcc libc6-dev",
}


def run(environment: Environment, arguments: Sequence[str]) -> int:
    """Every check and all tests; gives the exit code of the tests, or 1 where they passed and a check did not."""
    failed = []
    for name, command in STATIC.items():
        say(name)
        if environment.run(*command):
            failed.append(name)
    for program, consequence in USEFUL.items():
        if shutil.which(program) is None:
            say(f"{program} is missing: {consequence}")
    if failed:
        say(f"failed: {', '.join(failed)}")
    say("pytest")
    sys.stdout.flush()
    code = environment.run("-m", "pytest", *arguments)
    return code or int(bool(failed))
