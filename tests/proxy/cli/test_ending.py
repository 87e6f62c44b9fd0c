"""A subcommand that gives up says why, line by line, and nothing that a terminal would obey."""

from __future__ import annotations

import pytest

from proxy.cli.ending import give_up


def test_a_subcommand_has_its_own_exit_code_for_that() -> None:
    with pytest.raises(SystemExit) as ended:
        give_up("not played", 2)
    assert ended.value.code == 2


def test_each_line_is_told_on_standard_error_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        give_up("acl.yaml:1:2: no\nacl.yaml:3:4: \x1b[2J")
    assert ended.value.code == 1
    told = capsys.readouterr()
    assert told.out == ""
    first, second = told.err.splitlines()
    assert first == "acl.yaml:1:2: no"
    assert second.startswith("acl.yaml:3:4: ")
    assert "\x1b" not in second
