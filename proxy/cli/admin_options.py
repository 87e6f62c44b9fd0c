"""The options of commands that speak to the admin side of a running proxy, and how its errors are shown.

Rules:
* A token is never an argument, since every user of the machine can see arguments. It comes from the environment or
  from a file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, TextIO

import click

from chaos.admin_answers import AdminError
from chaos.client import AdminClient
from proxy.cli import unreadable
from proxy.cli.ending import give_up
from proxy.cli.given import ReadFile, in_utf8
from proxy.text.bounded import read_bounded

DEFAULT = "http://127.0.0.1:9190"


def with_admin(command: Callable[..., Any], *, code: int = 1) -> Callable[..., Any]:
    """Have a command take `--url` and `--token-file`. It is called with an `AdminClient` as its first argument.

    An error of the admin side ends the command with this exit code, and with one line for each reason.
    """

    @click.option(
        "--url",
        default=DEFAULT,
        show_default=True,
        envvar="DOORKEEPER_ADMIN",
        show_envvar=True,
        help="The address of the proxy's admin side (`admin: bind`).",
    )
    @click.option(
        "--token-file",
        type=ReadFile(code=code),
        help="A file with the token (`admin: token`), - for standard input; or set DOORKEEPER_TOKEN.",
    )
    @click.option("--token", envvar="DOORKEEPER_TOKEN", hidden=True, expose_value=True, callback=_from_environment)
    @wraps(command)
    def with_client(url: str, token_file: TextIO | None, token: str | None, *args: Any, **said: Any) -> Any:
        try:
            admin = AdminClient(url, token if token_file is None else _read(token_file, code))
            return command(admin, *args, **said)
        except AdminError as error:
            give_up(told(error), code)

    return with_client


def _read(file: TextIO, code: int) -> str:
    try:
        with in_utf8(file, code):
            return read_bounded(file).strip()
    except OSError as error:
        give_up(unreadable(error), code)


def told(error: Exception) -> str:
    """What an error says, and how these commands take a token if it is about that."""
    if isinstance(error, AdminError) and error.status == HTTPStatus.UNAUTHORIZED:
        return "the token is missing or wrong; set DOORKEEPER_TOKEN, or give --token-file"
    return str(error)


def _from_environment(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    if context.get_parameter_source("token") is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("a token on the command line is seen by all; set DOORKEEPER_TOKEN, or use --token-file")
    return value
