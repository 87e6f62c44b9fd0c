"""The proposed rules: a valid file that allows all used rights and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plugins.audit.reports.catalogue.least_privilege import FILE, REPORT, files
from rules import Client, Operation, ResourceType, examine
from tests.plugins.audit.reports.asked import INPUTS
from tests.plugins.audit.reports.journals import stamped
from tests.plugins.audit.reports.months import month
from tests.plugins.audit.reports.recount.counted import in_order
from tests.plugins.audit.reports.recount.least_privilege import rows
from tests.plugins.audit.reports.recount.rights import asked

Asked = tuple[Client, Operation, ResourceType, str]


def _asked(principal: str, operation: str, kind: str, name: str) -> Asked:
    (wanted,) = (one for one in Operation if one.word == operation)
    return Client(principal, host="10.0.0.1"), wanted, ResourceType[kind.upper()], name


def _proposed(events: list[dict[str, Any]]) -> str:
    found = [dict(zip(REPORT.names, row, strict=True)) for row in in_order(REPORT, rows(events, INPUTS))]
    return files(found, INPUTS)[FILE]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_file_that_is_right_and_refuses_nothing_that_was_used(tmp_path: Path, seed: int) -> None:
    events = stamped(month(seed))
    file = tmp_path / FILE
    file.write_text(_proposed(events), encoding="utf-8")
    snapshot, problems = examine(file, {})
    assert snapshot is not None, problems
    used = {right[:4] for right in asked(events) if not right.refused}
    assert used
    assert not [right for right in used if not snapshot.decide(*_asked(*right)).allowed]


@pytest.mark.parametrize("seed", range(5))
def test_what_was_only_refused_stays_refused(tmp_path: Path, seed: int) -> None:
    events = stamped(month(seed))
    file = tmp_path / FILE
    file.write_text(_proposed(events), encoding="utf-8")
    snapshot, _ = examine(file, {})
    assert snapshot is not None
    used = {right[:4] for right in asked(events) if not right.refused}
    implied = {
        (who, "Describe", *what) for who, operation, *what in used if operation in ("Read", "Write", "Alter", "Delete")
    }
    refused = {right[:4] for right in asked(events)} - used - implied
    assert not [right for right in refused if snapshot.decide(*_asked(*right)).allowed]


@pytest.mark.parametrize(("principal", "name"), [("User:mallory", "*"), ("User:*", "mine")])
def test_a_name_that_a_client_chose_does_not_become_a_pattern_for_all(
    tmp_path: Path, principal: str, name: str
) -> None:
    row = {"principal": principal, "operation": "Read", "resource_type": "group", "resource_name": name}
    file = tmp_path / FILE
    file.write_text(files([row], INPUTS)[FILE], encoding="utf-8")
    snapshot, problems = examine(file, {})
    assert snapshot is not None, problems
    for group in ("mine", "another"):
        assert not snapshot.decide(*_asked("User:mallory", "Read", "group", group)).allowed
    assert "1 rights are left out" in file.read_text()


def test_nothing_used_is_a_file_that_allows_nothing() -> None:
    assert _proposed([]).splitlines()[1:] == ["unmatched: deny", "acls:"]
