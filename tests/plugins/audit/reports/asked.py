"""One report, computed by Spark: its rows as plain Python, with times as a journal writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from plugins.audit.reports import tags
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, ordered
from rules import examine_text
from tests.plugins.audit.reports.people import SENSITIVE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RULES = """\
acls:
  - {allow: User:orders-app, to: [Write, Delete], topics: [orders, pay*]}
  - {allow: [User:warehouse, User:clinic], to: Read, topics: "*", groups: [warehouse-a, "clin*"]}
  - {allow: "User:*", to: Describe, topics: "*"}
  - {allow: User:admin, to: All, cluster: true, from: 10.0.0.2}
  - {allow: User:analyst, to: Read, topics: orders, client_id: notebook}
  - {deny: "User:*", to: Read, topics: patients}
"""
SNAPSHOT, _ = examine_text(RULES, "acl.yaml", {})
TAGGED = {"topics": {name: list(some) for name, some in SENSITIVE.items()}}
TAGS, _ = tags.FORM.examine(json.dumps(TAGGED), "tags.yaml", {}).result()
INPUTS = Inputs(JournalFacts("journal", is_verified=True), rules=SNAPSHOT, rules_file="acl.yaml", tags=TAGS)


def asked(report: AuditReport, events: DataFrame, inputs: Inputs = INPUTS) -> list[tuple[Any, ...]]:
    """The rows of a report, in order."""
    from pyspark.sql import functions as F

    found = ordered(report.rows(events, inputs), report)
    text = {"TIMESTAMP": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", "DATE": "yyyy-MM-dd"}
    shown = [F.date_format(one.name, text[one.type]) if one.type in text else one.name for one in report.columns]
    return [tuple(row) for row in found.select(*shown).collect()]
