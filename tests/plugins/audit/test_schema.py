"""The schema: one declaration, from which all others come."""

from __future__ import annotations

import json
from pathlib import Path

from plugins.audit.columns import columns
from plugins.audit.schema import KINDS, VERSION, ddl, table
from tests.plugins.audit.declared import undeclared

GROWN = Path(__file__).with_name("schema.json")


def test_the_schema_only_grows() -> None:
    """What was once declared is in `schema.json`; a new field is added there, and nothing is changed."""
    now = {column.name: column.type for column in table()}
    now |= {f"{outer.name}.{column.name}": column.type for outer in table() for column in outer.inner}
    once = json.loads(GROWN.read_text(encoding="utf-8"))
    assert {name: kind for name, kind in now.items() if "STRUCT" not in kind} == once


def test_no_field_is_of_a_version_to_come() -> None:
    assert {one.since for outer in table() for one in (outer, *outer.inner)} <= set(range(1, VERSION + 1))


def test_every_field_of_every_kind_is_in_the_table_once_and_means_the_same() -> None:
    names = [column.name for column in table()]
    assert len(names) == len(set(names))
    by_name = {column.name: column for column in table()}
    for _, sections in KINDS.values():
        for column in columns(*sections):
            assert by_name[column.name] == column


def test_spark_gets_nested_types() -> None:
    assert "`time` TIMESTAMP" in ddl()
    assert "`errors` ARRAY<STRING>" in ddl()
    assert "`resources` ARRAY<STRUCT<`type`: STRING, `name`: STRING" in ddl()


def test_what_is_not_declared_is_noticed() -> None:
    stamp = {"schema": 1, "time": "", "instance": "", "worker": 0, "sequence": 1}
    event = stamp | {"kind": "request", "api": 3, "password": "x", "resources": [{"nmae": "orders"}]}
    said = ["api: 3 is no STRING", "password: not declared", "resources.nmae: not declared"]
    assert undeclared(event) == said
    assert undeclared({"kind": "journal_closed"})[0] == "schema: missing"
