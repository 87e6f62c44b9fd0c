"""`python3 -m deploy demo|test`: everything from a clean clone to seeing it work, or to all tests passing.

Rules:
* Standard library only: this runs before anything is installed.
* Nothing outside the clone is changed: packages go into .venv, downloads of the tests into .cache.
* If the machine lacks something that this cannot install, one line says what, and how to install it.
"""

from __future__ import annotations

import sys

OLDEST = (3, 11)
USAGE = """\
usage: python3 -m deploy COMMAND

  demo            see it work: brokers, the proxy, a client and an audit report, all on this machine
  test [ARGS...]  run all checks and tests; ARGS go to pytest (e.g. -k config)

The first run makes .venv and installs what is needed; later runs only do so when pyproject.toml changed.
"""


def main(arguments: list[str]) -> int:
    """Run a command. Returns the exit code: 0 success, 1 failure, 2 wrong usage."""
    if sys.version_info < OLDEST:
        print(
            f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed, and this is {sys.version.split()[0]}; "
            "try e.g.: apt-get install python3.11 && python3.11 -m deploy demo",
            file=sys.stderr,
        )
        return 1
    from deploy import checks, environment

    command, *rest = arguments or [""]
    try:
        if command == "demo":
            return _demo(rest)
        if command == "test":
            return checks.run(environment.ready("test"), rest)
    except environment.CannotError as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(USAGE, end="", file=sys.stdout if command in ("-h", "--help", "help") else sys.stderr)
    return 0 if command in ("-h", "--help", "help") else 2


def _demo(arguments: list[str]) -> int:
    from deploy import environment

    ready = environment.ready("demo")
    if "--no-report" not in arguments:
        try:
            environment.ready("reports")
        except environment.CannotError as problem:  # the demo says what it lacks
            print(problem, file=sys.stderr)
    return ready.run("-m", "proxy", "demo", *arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
