"""`python3 -m deploy`."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.environment import ROOT


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["dmeo"], 2), (["--help"], 0)])
def test_it_says_what_it_can_do(arguments: list[str], code: int) -> None:
    command = [sys.executable, "-m", "deploy", *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == code
    shown = result.stderr if code else result.stdout
    assert shown.startswith("usage: python3 -m deploy COMMAND")


@pytest.mark.parametrize("module", sorted((ROOT / "deploy").glob("*.py")), ids=lambda path: path.name)
def test_it_imports_nothing_that_would_have_to_be_installed(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names | {"deploy"}, name


def test_an_old_python_can_read_the_line_that_says_so() -> None:
    ast.parse((ROOT / "deploy" / "__main__.py").read_text(), feature_version=(3, 7))
