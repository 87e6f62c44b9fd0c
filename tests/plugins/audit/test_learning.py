"""Learning topic names: `test_audit.py` tests conversations, and this file tests the limits of memory."""

from __future__ import annotations

from plugins.audit.learning import MOST_ASKED, MOST_WAITING, TopicLearner
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.testing import FakeWorker, connection


def test_nothing_is_asked_where_all_is_known() -> None:
    assert not TopicLearner(FakeWorker().services()).learn(connection(), [])


def test_each_id_is_asked_for_once_and_not_more_than_so_many() -> None:
    client = connection()
    Link(client, Filters([])).begin()
    learner = TopicLearner(FakeWorker().services())
    ids = [number.to_bytes(16) for number in range(1, MOST_ASKED + 10)]
    assert learner.learn(client, ids)
    assert len(learner._asked) == MOST_ASKED
    assert learner.learn(client, ids[:1]), "the answer is still to come"


def test_what_waits_for_a_name_is_bounded() -> None:
    learner, put = TopicLearner(FakeWorker().services()), list[int]()
    for number in range(MOST_WAITING + 1):
        learner.when_known(lambda number=number: put.append(number))
    assert len(put) == MOST_WAITING + 1
    learner.when_known(lambda: put.append(-1), MOST_WAITING)
    assert put[-1] == MOST_WAITING
    learner.when_known(lambda: put.append(-2))
    assert put[-2:] == [-1, -2], "an event of many resources takes more room"
