"""A real Spark cluster, with one master and two workers from pyspark's wheel, gives the same result as one machine.

Parquet files are compared by their rows, as CSV: each Java process lists the encodings of a file in an order
of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest

from plugins.audit.reports.pipeline.java import java_home
from plugins.audit.reports.pipeline.session import FEW_ROWS
from proxy.cli import report as report_command
from tests.plugins.audit.reports.journals import write_journal
from tests.plugins.audit.reports.months import DAY, MARCH, month
from tests.real.process import Program

SECONDS = 120.0
ONLY = ("access", "latency")  # sums and quantiles
ALSO = ("completeness", "data_flow")  # windows and joins
SPARK_CLASS = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
SUBMIT = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
DRIVER = ("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1")
SMALL = FEW_ROWS | {"SPARK_LOCAL_IP": "127.0.0.1"}  # on this machine alone


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The URL of a master with two workers."""
    environ = SMALL | {"SPARK_DAEMON_MEMORY": "256m", "JAVA_HOME": str(java_home(tmp_path / "java"))}
    with ExitStack() as stack:

        def started(name: str, kind: str, *arguments: str) -> Program:
            where = ("--host", "127.0.0.1", "--webui-port", "0")
            command = (SPARK_CLASS, f"org.apache.spark.deploy.{kind}", *where, *arguments)
            program = Program(name, command, tmp_path / f"{name}.log", environ)
            stack.callback(program.stop)
            return program

        master = started("master", "master.Master", "--port", "0")
        url = master.expect("Starting Spark master at", within=SECONDS).split()[-1]
        for number in (1, 2):
            folder = tmp_path / f"worker-{number}"
            limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder))
            worker = started(folder.name, "worker.Worker", *limits, url)
            worker.expect("Successfully registered with master", within=SECONDS)
        yield url


def report(
    journal: Path, out: Path, master: str, names: Sequence[str], *, submitted: bool = False
) -> tuple[dict[str, bytes], set[str]]:
    """The files of a page, and the names of the reports of which there is Parquet. `submitted`: by spark-submit."""
    only = [argument for name in names for argument in ("--only", name)]
    asked = [str(journal), "--out", str(out), *only]
    environ = os.environ | SMALL
    if submitted:
        environ |= {"JAVA_HOME": str(java_home(out.with_suffix(".java"))), "PYSPARK_PYTHON": sys.executable}
        command = [SUBMIT, "--master", master, *DRIVER, report_command.__file__, *asked]
    else:
        command = [sys.executable, "-m", "proxy", "report", "--master", master, *asked]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".html", ".csv", ".sha256")}
    return written, {path.stem for path in out.glob("*.parquet")}


@pytest.mark.parametrize("names", [ONLY, pytest.param(ONLY + ALSO, marks=pytest.mark.long)], ids=len)
def test_a_cluster_gives_the_same_bytes_as_one_machine_also_by_spark_submit(
    cluster: str, tmp_path: Path, names: Sequence[str]
) -> None:
    journal = tmp_path / "journal"
    days = [one for one in month(9, 100) if one.put < MARCH.timestamp() + 3 * DAY]
    write_journal(journal, days)
    pages, tables = report(journal, tmp_path / "many", cluster, names)
    assert tables == set(names)
    assert pages.keys() >= {"index.html", "inputs.sha256", *(f"{name}.csv" for name in names)}
    assert (pages, tables) == report(journal, tmp_path / "one", "local[*]", names)
    files, _ = report(journal, tmp_path / "submitted", cluster, ONLY[:1], submitted=True)
    assert files["access.csv"] == pages["access.csv"]
