"""Lines: which are events, and which are set aside."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.pipeline.lines import STORED
from plugins.audit.reports.pipeline.values import table
from tests.plugins.audit.reports.frames import lines

EVENT: dict[str, Any] = {
    "kind": "request",
    "schema": 1,
    "time": "2026-03-01T23:59:59.999999Z",
    "instance": "3f9c2a71",
    "worker": 0,
    "sequence": 1,
    "api": "Produce",
    "errors": [],
    "resources": [{"type": "topic", "name": "orders", "partition": 3, "records": 5}],
}
CORRUPT = [
    "",
    "not JSON",
    "{}",
    "[]",
    json.dumps([EVENT]),
    json.dumps(EVENT)[:-1],
    json.dumps({**EVENT, "sequence": "one"}),
    json.dumps({**EVENT, "resources": "orders"}),
    json.dumps({**EVENT, "time": "yesterday"}),
    json.dumps({**EVENT, "time": "9999-12-31T00:00:00.000000Z"}),
    json.dumps({name: value for name, value in EVENT.items() if name != "instance"}),
    "[" * 10_000,
]


def test_an_event_has_its_fields_and_the_date_of_its_time(spark: SparkSession) -> None:
    (row,) = (
        lines(spark, [json.dumps(EVENT)])
        .selectExpr("*", "CAST(time AS STRING) at", "CAST(date AS STRING) day")
        .collect()
    )
    assert (row.at, row.day, row.line) == ("2026-03-01 23:59:59.999999", "2026-03-01", None)
    assert (row.kind, row.sequence, row.errors, row.resources[0].records) == ("request", 1, [], 5)
    assert row.principal is None


def test_what_is_no_event_is_kept_apart_with_its_beginning(spark: SparkSession) -> None:
    rows = lines(spark, CORRUPT).where("date IS NULL").collect()
    assert sorted(row.line for row in rows) == sorted(text[:200] for text in CORRUPT)
    assert {row.file for row in rows} == {"a segment"}


def test_an_event_of_a_newer_schema_is_one_with_the_fields_that_are_known(spark: SparkSession) -> None:
    (row,) = lines(spark, [json.dumps({**EVENT, "schema": 99, "mood": {"of": "the broker"}})]).collect()
    assert (row.schema, row.api, row.date is None) == (99, "Produce", False)


def test_the_columns_are_those_of_the_store(spark: SparkSession) -> None:
    assert lines(spark, []).dtypes == table(spark, [], STORED).dtypes


@pytest.mark.parametrize("text", ["é漢字🦊", "a\nb\ttab", '"quoted"', "\\"])
def test_names_are_what_the_client_called_itself(spark: SparkSession, text: str) -> None:
    (row,) = lines(spark, [json.dumps({**EVENT, "client_id": text})]).collect()
    assert row.client_id == text
