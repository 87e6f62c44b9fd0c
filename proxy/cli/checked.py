"""Checked: options whose text a function converts. The command reports a wrong one in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def checked(read: Callable[[str], object]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback for click: `read` converts the text, and the message of its ValueError is shown to the user."""

    def callback(context: click.Context, option: click.Parameter, said: str | tuple[str, ...] | None) -> Any:
        try:
            return tuple(map(read, said)) if isinstance(said, tuple) else None if said is None else read(said)
        except ValueError as error:
            raise click.BadParameter(str(error), context, option) from None

    return callback
