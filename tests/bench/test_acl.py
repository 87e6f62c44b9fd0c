"""The rules are in force in the contender that is measured with them. Nothing here is about time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bench.acl import Checked
from tests.bench.lane import Lane
from tests.bench.rig import RigError
from tests.bench.test_rig import few


@pytest.fixture(scope="module")
def lane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    with Lane(Checked(), tmp_path_factory.mktemp("bench")) as lane:
        yield lane


@pytest.mark.parametrize("api", ["produce", "fetch"])
@pytest.mark.parametrize("topics", [1, 100])
@pytest.mark.parametrize("mixed", [0, 1])
def test_what_the_rules_allow_passes(lane: Lane, api: str, topics: int, mixed: int) -> None:
    assert few(lane, api=api, topics=topics, connections=2, inflight=3) == 60
    assert few(lane, api=api, topics=topics, vary=16, mixed=mixed, connections=2, inflight=3) == 60


def test_fetches_of_a_session_are_in_turn(lane: Lane) -> None:
    assert few(lane, api="fetch", session=1, vary=16, connections=2, inflight=3) == 60


def test_what_they_do_not_allow_is_refused(lane: Lane) -> None:
    with pytest.raises(RigError, match=r"^bootstrap: topic secret: error code 29$"):
        few(lane, topic="secret")
