"""The summary of a journal, and the path of its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.audit.queue import QueuedEvent
from proxy.cli.demo.account import TopicAccount, account, page
from proxy.cli.demo.stage import NotSeen
from tests.plugins.audit.written import START, chain


def test_what_was_done_with_each_topic_is_counted(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    for api, resource, decisions in (
        ("Produce", {"name": "orders", "records": 5}, None),
        ("Fetch", {"name": "orders", "records": 3}, [{"handler": "faults", "decision": "delay", "rule": "slow"}]),
        ("Metadata", {"name": "secrets", "error": "TOPIC_AUTHORIZATION_FAILED"}, None),
    ):
        fields = {"api": api, "resources": [{"type": "topic", **resource}], "decisions": decisions}
        writer.add(QueuedEvent("request", START, None, fields))
    writer.flush()
    writer.end()
    told = account(tmp_path)
    assert told.events == 5
    assert told.topics == {"orders": TopicAccount(5, 3, 0, 1), "secrets": TopicAccount(0, 0, 1, 0)}


def test_a_journal_that_is_not_whole_is_no_account(tmp_path: Path) -> None:
    chain(tmp_path).abandon()
    with pytest.raises(NotSeen, match=r"a journal that is whole; of this one is said: .*it has no seal"):
        account(tmp_path)


def test_why_there_is_no_page_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(NotSeen, match=r"a page of reports: .*this is in the journal itself"):
        page(tmp_path, tmp_path / "out")
