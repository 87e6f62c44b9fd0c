"""`doorkeeper users`: the credentials file of a listener that authenticates its clients itself.

Rules:
* A password is prompted for, or read from standard input where that is no terminal. It is never an argument, since
  every user of the machine can read arguments.
* FILE is locked from reading to writing it, so that no other change is lost. Nobody types while it is locked.
* Names go to standard output. Error messages go to standard error.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from proxy.auth.users import Users, load, save
from proxy.auth.verifiers import Verifier, verifiers
from proxy.cli import FULL
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_NAME
from proxy.core.sasl.name import LONGEST
from proxy.core.sasl.scram import ITERATIONS, MOST_ITERATIONS
from proxy.text.locked import LockedError, locked
from proxy.text.problems import BadFileError
from proxy.text.words import printable

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
@click.argument("file", type=FILE_NAME)
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
    if os.path.exists(file):  # what is bad is told before somebody types
        _load(file)
    elif not (folder := Path(os.path.realpath(file)).parent).is_dir():
        give_up(f"{file}: there is no folder {folder}; make it, or check the path")
    try:
        verified_by = verifiers(_password(name), iterations)
    except ValueError as error:
        give_up(f"no client could send this password ({error}); choose another")
    with _changing(file, create=True) as users:
        new = name not in users
        users[name] = verified_by
    click.echo(printable(f"{file}: {name} {'added' if new else 'has a new password'}"))


@command.command("rm")
@click.argument("file", type=FILE_NAME)
@click.argument("name")
def remove(file: str, name: str) -> None:
    """Remove the user NAME from FILE."""
    with _changing(file) as users:
        if name not in users:
            give_up(f"{file}: there is no user {name!r}; doorkeeper users list {file} shows all of them")
        del users[name]
    click.echo(printable(f"{file}: {name} removed"))


@command.command("list")
@click.argument("file", type=FILE_NAME)
def show(file: str) -> None:
    """Print the users of FILE, one a line."""
    for name in sorted(_load(file)):
        click.echo(name)


def _password(name: str) -> str:
    if sys.stdin.isatty():
        password = _typed(f"Password of {name}")
    else:
        password = sys.stdin.readline(LONGEST + 2).rstrip("\r\n")  # a longer one is refused
    if not password:
        give_up("an empty password is none; type one, or send one line to standard input")
    return password


def _typed(prompt: str) -> str:
    try:
        password: str = click.prompt(prompt, hide_input=True, confirmation_prompt=True)
    except click.Abort as error:  # click makes it of Ctrl-C and of the end of the input, which types nothing
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        return ""
    return password


def _load(file: str) -> Users:
    try:
        return load(file)
    except BadFileError as error:
        give_up(str(error))


@contextmanager
def _changing(file: str, *, create: bool = False) -> Iterator[dict[str, Mapping[str, Verifier]]]:
    """The users of a file, to change. They are saved at the end. `create`: there may be no such file yet."""
    folder = Path(os.path.realpath(file)).parent  # it is there before the file is, and stays the same
    try:
        with locked(folder):
            users = {} if create and not os.path.exists(file) else dict(_load(file))
            yield users
            save(file, users)
    except LockedError as error:
        give_up(str(error))
    except OSError as error:
        give_up(f"{file}: cannot be written ({error.strerror}); {_way_out(error)}")


def _way_out(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "check the path"
    return "make room on its disk" if error.errno in FULL else "check the folder's permissions"
