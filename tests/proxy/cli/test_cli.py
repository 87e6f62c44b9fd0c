"""The command line interface as a user sees it."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from proxy.cli import COMMANDS, main


def test_without_arguments_it_teaches() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in result.output
    assert "doorkeeper demo" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_a_misspelt_command_is_a_usage_error_that_names_the_nearest() -> None:
    result = CliRunner().invoke(main, ["rum"])
    assert result.exit_code == 2
    assert 'No such command "rum"; did you mean "run"?' in result.output


def test_the_module_is_the_command() -> None:
    result = subprocess.run([sys.executable, "-m", "proxy", "--help"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("Usage: doorkeeper ")


def test_help_does_not_import_what_it_does_not_need() -> None:
    script = "import sys, proxy.cli; sys.exit(bool({'trio', 'pydantic', 'structlog'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
