"""Another configuration comes into force on a connection: the plugin is removed, added, or gets another file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.plugin import Plugin
from proxy.protocol.api import PRODUCE
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import request_frame
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from tests.plugins.acl.talk import Rules, Talk
from tests.plugins.acl.test_fast_paths import LARGE, WRITES, produce, written
from tests.plugins.acl.test_fetch import READS, fetch, records

V = 12
S = 77  # a session
NOT_FOUND = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
Making = Callable[[str], Rules]


@pytest.fixture
def making(tmp_path: Path) -> Making:
    """Rules of one file or another, each with a plugin of the one name."""
    return lambda topics: Rules(tmp_path / f"{topics}.yaml", READS.format(topics))


def change(talk: Talk, *plugins: Plugin) -> None:
    assert talk.link.apply(Filters(plugins), Limits()) == []


def opened(talk: Talk, *topics: str) -> None:
    """A session of these topics, and a request that went on with it."""
    talk.ask(fetch(V, *topics, session=(0, 0)), V)
    assert talk.answer(records(V, session=S)).session_id == S
    went_on(talk, 1)


def went_on(talk: Talk, epoch: int) -> None:
    assert talk.ask(fetch(V, session=(S, epoch)), V) is None
    talk.answer(records(V, session=S))


def test_another_file_is_asked_about_the_next_request_of_a_session(making: Making) -> None:
    talk = Talk(making("a").acl)
    opened(talk, "a")
    for epoch in (2, 3):
        went_on(talk, epoch)  # like the one before: such a request passes unread
    change(talk, making("b").acl)
    assert talk.ask(fetch(V, session=(S, 4)), V) is None
    reached = talk.to_broker[-1]
    assert isinstance(reached, FetchRequest)
    assert [one.topic for one in reached.forgotten_topics_data] == ["a"]
    answer: FetchResponse = talk.answer(records(V, session=S))
    assert [one.partitions[0].error_code for one in answer.responses] == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]


def test_the_same_file_goes_on_with_the_session(making: Making) -> None:
    talk = Talk(making("a").acl)
    opened(talk, "a")
    change(talk, making("a").acl)
    went_on(talk, 2)
    assert isinstance(talk.to_broker[-1], FetchRequest)
    assert not talk.to_broker[-1].forgotten_topics_data


def test_an_answer_that_waits_is_judged_by_what_its_request_began_with(making: Making) -> None:
    talk = Talk(making("a").acl)
    talk.ask(fetch(V, "a", session=(0, 0)), V)
    change(talk, making("b").acl)
    answer: FetchResponse = talk.answer(records(V, "a", session=S))
    assert [one.partitions[0].error_code for one in answer.responses] == [0]
    assert talk.ask(fetch(V, session=(S, 1)), V) is None
    assert [one.topic for one in talk.to_broker[-1].forgotten_topics_data] == ["a"]


def test_what_a_session_became_while_nobody_looked_is_not_believed(making: Making) -> None:
    """Without the plugin a client may put what it likes into a session that the plugin knew before."""
    talk = Talk(making("a").acl)
    opened(talk, "a")
    change(talk)
    assert talk.ask(fetch(V, "secret", session=(S, 2)), V) is None
    talk.answer(records(V, "secret", session=S))
    change(talk, making("a").acl)
    assert talk.ask(fetch(V, session=(S, 2)), V).error_code == NOT_FOUND
    assert talk.ask(fetch(V, session=(S, 3)), V).error_code == NOT_FOUND


def test_a_session_that_was_opened_while_nobody_looked_is_not_known(making: Making) -> None:
    talk = Talk(making("a").acl)
    change(talk)
    talk.ask(fetch(V, "secret", session=(0, 0)), V)
    talk.answer(records(V, "secret", session=S))
    change(talk, making("a").acl)
    assert talk.ask(fetch(V, session=(S, 1)), V).error_code == NOT_FOUND


@pytest.mark.parametrize("is_known", [False, True])
def test_a_large_request_that_is_not_whole_yet_is_let_through_by_the_former_file_only_if_a_part_of_it_was(
    tmp_path: Path, is_known: bool
) -> None:
    """If the proxy has known one like it, a part of it has passed to the broker, and the rest follows."""
    former, present = Rules(tmp_path / "former.yaml", WRITES), Rules(tmp_path / "present.yaml", "acls: []")
    talk = Talk(former.acl)
    if is_known:
        talk.ask(produce(V, "mine"), V)
        talk.answer(written(V, "mine"))
    reached = len(talk.to_broker)
    frame = request_frame(produce(V, "mine", records=LARGE), V, 2, "app")
    talk.send(frame[:1000], PRODUCE, V)
    change(talk, present.acl)
    former.acl.replaced()
    talk.more(frame[1000:])
    assert len(talk.to_broker) == reached + is_known
    assert talk.closed is None
    if not is_known:
        (answer,) = talk.rest()
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_nothing_gathers_on_a_connection_that_sees_many_configurations(making: Making) -> None:
    rules = making("a")
    talk = Talk(rules.acl)
    opened(talk, "a")
    sizes = set()
    for turn in range(20):
        change(talk, *([rules.acl, Plugin()] if turn % 2 else [rules.acl]))  # other filters, the same plugin
        went_on(talk, 2 + 2 * turn)
        went_on(talk, 3 + 2 * turn)
        sizes.add(len(talk.connection.notes) + len(talk.connection.samples))
    for _ in range(20):
        change(talk)
        change(talk, making("a").acl)
        opened(talk, "a")
        went_on(talk, 2)
        went_on(talk, 3)
        sizes.add(len(talk.connection.notes) + len(talk.connection.samples))
    assert max(sizes) - min(sizes) <= 1
