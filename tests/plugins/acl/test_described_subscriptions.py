"""Described subscriptions: a coordinator is asked about a member once, and believed where its names agree."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugins.acl.described_subscriptions import COUNTS
from plugins.acl.kept_subscription import written
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.plugins.acl.talk import Rules
from tests.plugins.acl.test_subscriptions import SEES, Group

Making = Callable[..., Rules]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        written("a-1", []),  # names changed through a proxy that keeps nothing
        written("(", []),  # the client came past the proxy, and gave this itself
    ],
)
def test_where_no_true_expression_is_kept_a_member_keeps_its_names_and_is_asked_about_once(
    rules: Making, text: str | None
) -> None:
    talk = Group(rules(SEES))
    talk.names = {"m": ["a-1", "a-2"]}
    talk.texts = {} if text is None else {"m": text}
    for _ in range(3):
        talk.beat()
    assert talk.told == [(None, None)] * 3
    assert talk.questions == 1


def test_an_expression_that_the_coordinator_got_as_it_is_is_replaced_by_names_that_may_be_seen(rules: Making) -> None:
    """The member joined while there was no acl, or in shadow."""
    talk = Group(rules(SEES))
    talk.names, talk.texts = {"m": ["a-secret", "b-1"]}, {"m": "a-.*"}
    for _ in range(2):
        talk.beat()
    assert talk.told == [(["a-1", "a-2", "b-1"], None), (None, None)]
    assert talk.texts == {"m": written("a-.*", ["a-secret", "b-1"])}
    assert talk.questions == 1


def test_one_answer_counts_some_seconds_for_all_members_that_have_only_names(rules: Making) -> None:
    own = rules(SEES)
    first = Group(own)
    first.names = {"m": ["a-1"], "other": ["a-2"], "late": ["b-1"], "expressing": ["a-1"]}
    first.texts = {"expressing": written("a-1", [])}
    first.beat()
    others = {member_id: first.goes_on(own) for member_id in ("other", "expressing")}
    for member_id, group in others.items():
        group.beat(member_id=member_id)
    own.clock.time += COUNTS
    others["late"] = first.goes_on(own)
    for member_id, group in others.items():
        group.beat(member_id=member_id)
    assert {member_id: group.questions for member_id, group in others.items()} == {
        "other": 0,
        "expressing": 1,
        "late": 1,
    }


def test_of_a_member_that_joins_with_names_the_coordinator_is_not_asked(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_names=["b-1"])
    talk.beat()
    talk.beat(subscribed_topic_names=["a-1"])
    assert talk.questions == 0


def test_a_member_whose_heartbeats_have_no_expressions_yet_is_not_asked_about(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.ask(ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=1), 0)
    assert talk.questions == 0


@pytest.mark.parametrize(
    ("error", "questions"), [(ErrorCode.NOT_COORDINATOR, 2), (ErrorCode.GROUP_AUTHORIZATION_FAILED, 1)]
)
def test_a_coordinator_that_does_not_tell_is_asked_again_if_it_may_tell_later(
    rules: Making, error: int, questions: int
) -> None:
    talk = Group(rules(SEES))
    talk.tells = error
    for _ in range(2):
        talk.beat()
    assert talk.told == [(None, None)] * 2
    assert talk.questions == questions
