"""`doorkeeper check`: everything wrong with a configuration, at once."""

import sys

import click

from proxy.config import examine
from proxy.text.words import printable

EPILOG = """\b
A problem is a line: where it is, what it is, and what to do.
  gateway.yaml:7:5: unknown option "advertize"; did you mean "advertise"?
\b
Exit code: 0 if every file is fine (warnings pass), 1 if not.
"""


@click.command("check", epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
def command(files: tuple[str, ...]) -> None:
    """Say everything that is wrong with a configuration FILE.

    References to the environment (${NAME}, ${NAME:-default}) are resolved as `run` would resolve them here and now.
    """
    fine = True
    for file in files:
        config, problems = examine(file)
        for problem in problems:
            click.echo(problem)
        if config is None:
            fine = False
        else:
            listeners, clusters = len(config.listeners), len(config.clusters)
            click.echo(printable(f"{file}: fine; {listeners} listener(s), {clusters} cluster(s)"))
    sys.exit(0 if fine else 1)
