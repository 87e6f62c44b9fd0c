"""Kept subscriptions: they match nothing, are read back as they were, and are shown as the member gave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st

from plugins.acl.kept_subscription import BEGIN, BETWEEN, END, LONGEST, NOTHING, read, written
from proxy.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from tests.plugins.acl.talk import Rules, Talk
from tests.plugins.acl.test_checked_request import described

TEXTS = st.text(alphabet="\\QE,-[]^(?i)#| a\n\0\N{PARTY POPPER}", max_size=12) | st.text(max_size=12)


@given(TEXTS, st.lists(TEXTS, max_size=3))
@example("\\E,\\Q", ["\\E\\\\E\\Q", "\\"])
@example("", [""])
def test_any_subscription_is_read_back_as_it_was_and_matches_nothing(expression: str, names: list[str]) -> None:
    text = written(expression, names)
    assert read(text) == (expression, sorted({*names}))
    compiled = re2.compile(text)
    for name in ("", "a", "a-1", expression, text, *names):
        assert compiled.search(name) is None


def test_equal_subscriptions_have_equal_texts() -> None:
    assert written("a-.*", ["b", "c", "b"]) == written("a-.*", ["c", "b"])


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "a-.*",
        NOTHING,
        BEGIN,
        written("a", [])[:-1],
        written("a", []) + "|b",
        "b|" + written("a", []),
        f"{BEGIN}a{END}|b{END}",
        f"{BEGIN}a{BETWEEN}c{BETWEEN}b{END}",
    ],
)
def test_another_expression_is_not_taken_for_one_that_is_kept(text: str | None) -> None:
    assert read(text) is None


def test_a_text_that_would_be_too_long_is_not_kept() -> None:
    room = LONGEST - len(written("", []))
    assert read(written("\N{LATIN SMALL LETTER E WITH ACUTE}" * (room // 2), []))
    assert written("\N{LATIN SMALL LETTER E WITH ACUTE}" * (room // 2 + 1), []) == ""


@pytest.mark.parametrize("shadow", [False, True])
@pytest.mark.parametrize("version", [0, 1])
def test_who_describes_a_group_is_shown_what_its_members_gave(
    rules: Callable[..., Rules], version: int, shadow: bool
) -> None:
    talk = Talk(rules("acls: [{allow: User:alice, to: Describe, groups: g}]", shadow=shadow).acl)
    talk.ask(ConsumerGroupDescribeRequest(group_ids=["g"], include_authorized_operations=False), version)
    group = described("g")
    group.members = [*group.members, *described("g").members, *described("g").members]
    subscriptions: list[tuple[list[str], str | None]] = [
        (["a-1", "b-1"], written("a-.*", ["b-1"])),
        (["b-1"], None),
        ([], "a-.*"),
    ]
    for member, subscription in zip(group.members, subscriptions, strict=True):
        member.subscribed_topic_names, member.subscribed_topic_regex = subscription
    answer: Any = talk.answer(ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=[group]))
    assert [(member.subscribed_topic_names, member.subscribed_topic_regex) for member in answer.groups[0].members] == [
        (["b-1"], "a-.*"),
        (["b-1"], None),
        ([], "a-.*"),
    ]
