"""Given files: the types of arguments and options that name a file, and one line for a file that cannot be read.

Rules:
* A file is not judged before it is read: click would tell three lines about the usage of the command.
* What cannot be read ends the command with exit code 1, or with the one that the command has for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

import click

from proxy.cli import unreadable
from proxy.cli.ending import give_up
from proxy.text.regular import why_unread
from proxy.text.words import printable

FILE_NAME = click.Path(readable=False)
FILE_PATH = click.Path(path_type=Path, readable=False)


class ReadFile(click.File):
    """A file that is open for reading; `-` is standard input. If it cannot be opened, the exit code is `code`."""

    def __init__(self, mode: str = "r", *, code: int = 1) -> None:
        super().__init__(mode, encoding=None if "b" in mode else "utf-8")
        self.code = code

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-" or ctx is None:
            return super().convert(value, param, ctx)
        try:
            return ctx.with_resource(open(value, self.mode, encoding=self.encoding))
        except OSError as error:
            _end(error, self.code)


@contextmanager
def in_utf8(file: IO[Any], code: int = 1) -> Iterator[None]:
    """While this file is read: one that is not UTF-8 ends the command with one line that names it."""
    try:
        yield
    except UnicodeDecodeError as error:
        give_up(printable(f"{file.name}: {unreadable(error)}"), code)


@contextmanager
def reading() -> Iterator[None]:
    """An OSError about a file ends the command with one line that names it."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise  # it is about the output: its disk is full, or its reader closed its end
        _end(error)


def _end(error: OSError, code: int = 1) -> NoReturn:
    name = error.filename or '""'  # as of a variable of the shell that is not set
    give_up(printable(f"{name}: {why_unread(error)}"), code)
