"""Fixtures of the plugin's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugins.acl.talk import Rules


@pytest.fixture
def rules(tmp_path: Path) -> Callable[..., Rules]:
    """Makes a rules file, and the plugin that applies it."""

    def made(text: str, *, shadow: bool = False) -> Rules:
        return Rules(tmp_path / "acl.yaml", text, shadow=shadow)

    return made
