"""`doorkeeper check`: everything wrong with a configuration, at once."""

import sys

import click

from proxy.cli.given import FILE_NAME
from proxy.config.load import FORM
from proxy.config.sound import unchecked
from proxy.text.words import printable

EPILOG = """\b
A problem is a line: where it is, what it is, and what to do.
  gateway.yaml:7:5: unknown option "advertize"; did you mean "advertise"?
\b
Exit code: 0 if every file is fine (warnings pass), 1 if not.
"""


@click.command("check", epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE_NAME)
def command(files: tuple[str, ...]) -> None:
    """Say everything that is wrong with a configuration FILE.

    References to the environment (${NAME}, ${NAME:-default}) are resolved as `run` would resolve them here and now.
    """
    fine = True
    for file in files:
        examined = FORM.read(file)
        config, problems = examined.result()
        for problem in problems:
            click.echo(problem)
        if config is None:
            fine = False
            later = ", ".join(sorted(map(examined.reading.shown, unchecked(examined.wrong))))
            if later:
                click.echo(printable(f"{file}: further checks were left out for {later}; mend that, and check again"))
        else:
            listeners, clusters = len(config.listeners), len(config.clusters)
            click.echo(printable(f"{file}: fine; {listeners} listener(s), {clusters} cluster(s)"))
    sys.exit(0 if fine else 1)
