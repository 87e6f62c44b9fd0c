"""`doorkeeper completion`."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from proxy.cli import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_DOORKEEPER_COMPLETE" in result.output


def test_the_shell_is_told_what_fits() -> None:
    asked = {"_DOORKEEPER_COMPLETE": "bash_complete", "COMP_WORDS": "doorkeeper de", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "proxy"]
    result = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["plain,decode", "plain,demo"]
