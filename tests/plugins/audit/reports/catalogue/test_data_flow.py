"""The data flow map: the sentence on the page."""

from __future__ import annotations

from plugins.audit.reports.catalogue.data_flow import REPORT


def test_it_says_of_how_many_topics_nobody_read() -> None:
    read, unread = {"topic": "orders", "consumer": "User:a"}, {"topic": "logs", "consumer": None}
    assert REPORT.summary([read], 1) == "Data went through 1 topic. Somebody read each of them in this period."
    assert REPORT.summary([read, unread], 2) == "Data went through 2 topics. Nobody read 1 of them in this period."
