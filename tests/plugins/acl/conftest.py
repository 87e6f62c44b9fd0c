"""What the tests of the plugin share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugins.acl.talk import Rules


@pytest.fixture
def rules(tmp_path: Path) -> Callable[..., Rules]:
    """Rules in a file, and the plugin that goes by them."""

    def made(text: str, *, shadow: bool = False) -> Rules:
        return Rules(tmp_path / "acl.yaml", text, shadow=shadow)

    return made
