"""`doorkeeper users`: the credentials file of a listener that authenticates its clients itself.

Rules:
* A password is prompted for, or read from standard input where that is no terminal. It is never an argument, since
  every user of the machine can read arguments.
* Names go to standard output. Error messages go to standard error.
"""

import os
import sys

import click

from proxy.auth.users import Users, load, save
from proxy.auth.verifiers import verifiers
from proxy.cli.ending import give_up
from proxy.core.sasl.name import LONGEST
from proxy.core.sasl.scram import ITERATIONS, MOST_ITERATIONS
from proxy.text.problems import BadFileError

EPILOG = """\b
Examples:
  doorkeeper users add users.yaml alice                 asks for the password
  doorkeeper users add users.yaml app < password.txt    reads it from a file
  doorkeeper users list users.yaml
  doorkeeper users rm users.yaml alice
\b
A running proxy takes a change up within a second; clients that are connected stay.
"""
LONGEST_NAME = 255


@click.group("users", epilog=EPILOG)
def command() -> None:
    """Keep the users of a listener with `sasl: {credentials: FILE}`.

    FILE has no passwords, only what they can be checked by, for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
    """


@command.command("add")
@click.argument("file", type=click.Path())
@click.argument("name")
@click.option(
    "--iterations",
    type=click.IntRange(ITERATIONS, MOST_ITERATIONS),
    default=ITERATIONS,
    show_default=True,
    help="Rounds of hashing: more make guessing, and each authentication, slower.",
)
def add(file: str, name: str, iterations: int) -> None:
    """Add the user NAME to FILE, or give them a new password. A missing FILE is made."""
    if not name.isprintable() or not name.strip() or len(name) > LONGEST_NAME or name == "<<":
        raise click.UsageError(f"{name!r} is no name for a user; give 1 to {LONGEST_NAME} printable characters")
    users = dict(_load(file) if os.path.exists(file) else {})
    new = name not in users
    try:
        users[name] = verifiers(_password(name), iterations)
    except ValueError as error:
        give_up(f"no client could send this password ({error}); choose another")
    _save(file, users)
    click.echo(f"{file}: {name} {'added' if new else 'has a new password'}")


@command.command("rm")
@click.argument("file", type=click.Path())
@click.argument("name")
def remove(file: str, name: str) -> None:
    """Remove the user NAME from FILE."""
    users = dict(_load(file))
    if name not in users:
        give_up(f"{file}: there is no user {name!r}; doorkeeper users list {file} shows all of them")
    del users[name]
    _save(file, users)
    click.echo(f"{file}: {name} removed")


@command.command("list")
@click.argument("file", type=click.Path())
def show(file: str) -> None:
    """Print the users of FILE, one a line."""
    for name in sorted(_load(file)):
        click.echo(name)


def _password(name: str) -> str:
    if sys.stdin.isatty():
        password: str = click.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline(LONGEST + 2).rstrip("\r\n")  # a longer one is refused
    if not password:
        give_up("an empty password is none; type one, or send one line to standard input")
    return password


def _load(file: str) -> Users:
    try:
        return load(file)
    except BadFileError as error:
        give_up(str(error))


def _save(file: str, users: Users) -> None:
    try:
        save(file, users)
    except OSError as error:
        give_up(f"{file}: cannot be written ({error.strerror}); check the folder's permissions")
