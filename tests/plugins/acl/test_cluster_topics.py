"""The topics of the cluster, and names that no topic can have."""

from __future__ import annotations

import pytest

from plugins.acl.cluster_topics import misnamed, missing
from proxy.core.topic_names import MOST_ASKED
from tests.plugins.acl.talk import metadata_of, topic_id
from tests.proxy.core.test_topic_names import KNOWN, answer, asked


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("orders.v1_x-Y", None),
        ("a" * 249, None),
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("a" * 250, f"the length of '{'a' * 250}' is longer than the max allowed length 249"),
        ("ä", "'ä' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("a\n", "'a\n' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
    ],
)
def test_why_no_topic_can_be_called_so_is_said_in_kafkas_words(name: str, why: str | None) -> None:
    assert misnamed(name) == (None if why is None else f"Topic name is invalid: {why}")


def test_what_is_not_asked_for_any_more_is_taken_for_missing() -> None:
    topics = [f"topic-{number:05}" for number in range(MOST_ASKED + 2)]
    _, gone = asked(missing(topics, 4), dict.fromkeys(topics, topic_id("t")))
    assert gone == set(topics[MOST_ASKED:])


def test_a_topic_that_is_missing_is_found_out_without_making_it() -> None:
    steps = missing(["a", "x"], 7)
    question = next(steps)
    assert (question.version, question.request.allow_auto_topic_creation) == (7, False)
    assert answer(steps, metadata_of(KNOWN, question.request)) == {"x"}
