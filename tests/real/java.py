"""Java for Kafka: the machine's own where it is new enough, else the one from a Python package."""

from __future__ import annotations

from functools import cache

from plugins.audit.reports.pipeline.java import installed, packaged


@cache
def java() -> str:
    """The `java` to run Kafka with; NoJavaError where there is none."""
    own = installed()
    return own.program if own else packaged() or ""
