"""The session of Spark: how one that does not start is told, and what is left of one that is interrupted."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.real.java import java

WITHIN = 20_000  # milliseconds
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


# A Java that is asked for its version, then for the command of Spark, and then to be Spark, which takes for ever.
SLOW_JAVA = """\
#!/bin/sh
case "$*" in
    *-version*) echo "java.specification.version = 17" >&2; echo "java.home = {home}" >&2 ;;
    *launcher.Main*) exec {java} "$@" ;;
    *) echo $$ > {begun}; exec sleep 600 ;;
esac
"""


def test_ctrl_c_while_spark_starts_leaves_no_java(tmp_path: Path) -> None:
    program, begun = tmp_path / "java" / "bin" / "java", tmp_path / "begun"
    program.parent.mkdir(parents=True)
    program.write_text(SLOW_JAVA.format(home=tmp_path / "java", java=java(), begun=begun))
    program.chmod(0o755)
    os.mkfifo(begun)
    environment = {**os.environ, "JAVA_HOME": str(tmp_path / "java")}
    with subprocess.Popen([sys.executable, "-c", STARTS], env=environment, stderr=subprocess.DEVNULL) as starts:
        number = int(begun.read_text())
        spark = os.pidfd_open(number)
        starts.send_signal(signal.SIGINT)
    assert starts.returncode == -signal.SIGINT
    ended = select.poll()
    ended.register(spark, select.POLLIN)
    try:
        assert ended.poll(WITHIN)
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(spark, signal.SIGKILL)
        os.close(spark)
