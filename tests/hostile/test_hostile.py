"""The proxy withstands every attack. The report at the end of the run shows its cost and the canary's latency."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.hostile.report import ROW, line
from tests.hostile.trial import Case, attempt
from tests.hostile.trials import Grounds, chosen

ALL = chosen()
Record = Callable[[str, object], None]
NAMES = [f"{case.group}: {case.name} ({case.on.name})" for case in ALL]


@pytest.fixture(scope="module")
def short() -> Iterator[Grounds]:
    with Grounds() as grounds:
        yield grounds


@pytest.fixture(scope="module")
def long() -> Iterator[Grounds]:
    with Grounds(long=True) as grounds:
        yield grounds


@pytest.mark.parametrize("case", ALL, ids=NAMES)
def test_it_holds(short: Grounds, case: Case, record_property: Record) -> None:
    _try(short, case, record_property)


@pytest.mark.long
@pytest.mark.parametrize("case", ALL, ids=NAMES)
def test_it_holds_when_it_is_larger(long: Grounds, case: Case, record_property: Record) -> None:
    _try(long, case, record_property)


def test_no_two_cases_have_the_same_name() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_there_are_enough_of_them() -> None:
    assert len(ALL) >= 120


def _try(grounds: Grounds, case: Case, record: Record) -> None:
    row = attempt(grounds.of(case), case)
    record(ROW, line(row))
    if row.wrong:
        pytest.fail("\n".join((*row.wrong, row.said)), pytrace=False)
