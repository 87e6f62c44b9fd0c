"""The session of Spark: how one that does not start is told."""

from __future__ import annotations

import subprocess
import sys

STARTS = """
from plugins.audit.reports.pipeline.session import SparkMissingError, session
try:
    with session("local[x]"):
        pass
except SparkMissingError as error:
    print(error)
"""


def test_a_spark_that_does_not_start_is_told_with_its_reason() -> None:
    done = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, check=True)
    assert done.stdout == "Spark does not start: Could not parse Master URL: 'local[x]'; check --master\n"
