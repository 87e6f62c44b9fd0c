"""Checked: options whose text a function reads; what is wrong with one is told by the command in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def checked(read: Callable[[str], object]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A function makes a value of the text; its ValueError is what the person is told."""

    def callback(context: click.Context, option: click.Parameter, said: str | tuple[str, ...] | None) -> Any:
        try:
            return tuple(map(read, said)) if isinstance(said, tuple) else None if said is None else read(said)
        except ValueError as error:
            raise click.BadParameter(str(error), context, option) from None

    return callback
