"""Clients: what a connection says of its software holds for all of its requests."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue.clients import REPORT
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.asked import asked
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.pipeline.test_lines import EVENT


def test_a_client_that_says_its_software_late_is_one_client(spark: SparkSession) -> None:
    """It says so with its second request, in ApiVersions. The other connection never does."""

    def request(connection: int, api: str, version: int, software: str | None) -> dict[str, Any]:
        asked = {"connection": connection, "api": api, "api_version": version, "client_software": software}
        return {**EVENT, "kind": "request", "client_host": "10.0.0.1", "client_id": "app", **asked}

    events = [
        request(1, "Metadata", 0, None),
        request(1, "ApiVersions", 3, "lib 9"),
        request(1, "Produce", 2, "lib 9"),
        request(2, "Metadata", 9, None),
    ]
    numbered = [{**event, "sequence": number} for number, event in enumerate(events, 1)]
    found = asked(REPORT, clean(spark, numbered), Inputs(JournalFacts("journal", True)))
    assert [row[1:7] for row in found] == [
        ("app", "lib 9", 1, 3, 1, "Produce v2"),
        ("app", None, 1, 1, 0, ""),
    ]
