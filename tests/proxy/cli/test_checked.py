"""Options that a function reads."""

from __future__ import annotations

import click
from click.testing import CliRunner

from proxy.cli.checked import checked


@click.command()
@click.option("--one", callback=checked(int))
@click.option("--many", multiple=True, callback=checked(int))
def command(one: int | None, many: tuple[int, ...]) -> None:
    click.echo(f"{one} {many}")


def test_each_text_is_read_and_what_is_wrong_is_said() -> None:
    invoke = CliRunner().invoke
    assert invoke(command, ["--one", "3", "--many", "4", "--many", "5"]).output == "3 (4, 5)\n"
    assert invoke(command, []).output == "None ()\n"
    refused = invoke(command, ["--many", "x"])
    assert (refused.exit_code, "'--many': invalid literal" in refused.output) == (2, True)
