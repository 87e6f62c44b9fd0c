"""The session: Spark as reports need it, on this machine (`local[*]`) or on a cluster (`spark://...`).

Rules:
* All times are UTC, so that figures do not depend on the machine.
* If Spark runs on this machine alone, it listens only on loopback.
* Spark logs errors alone: users of reports do not need the rest.
* Ctrl-C leaves no Java, at whatever moment it comes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from plugins.audit.reports.pipeline.java import java_home
from plugins.audit.reports.pipeline.place import java_says

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
LONGEST_LINE = 32 << 20  # bytes; lines of the journal are shorter
LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{1}: %m%n%throwable{short}
"""
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.hadoop.mapreduce.input.linerecordreader.line.maxlength": str(LONGEST_LINE),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
ON_THIS_MACHINE = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "8",  # a task costs more than the rows that it would have on a laptop
}

# The environment for a report on a small journal: compilation by Java and Spark pays off for millions of rows, and not
# for some hundred. All reports on 200 events took 36 s of CPU with this, and 88 s without.
FEW_ROWS = {
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "PYSPARK_SUBMIT_ARGS": "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN "
    "pyspark-shell",
}


class SparkMissingError(RuntimeError):
    """Spark is not installed, or does not start. The text is for people, with a way out."""


@contextmanager
def session(master: str | None, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A Spark session, within this context. `master` None: as spark-submit says.

    Raises SparkMissingError, NoJavaError.
    """
    try:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise SparkMissingError("reports need Spark; `pip install 'doorkeeper[reports]'`") from None
    with TemporaryDirectory(prefix="doorkeeper-report-") as folder:
        chosen = {**_chosen(master, Path(folder)), **(settings or {})}
        builder = SparkSession.builder.appName("doorkeeper report").config(map={**chosen})
        try:
            with _no_java_left():
                spark = builder.getOrCreate()
        except PySparkException as error:
            raise SparkMissingError(f"Spark does not start: {str(error).splitlines()[0]}") from None
        except Py4JJavaError as error:
            raise SparkMissingError(f"Spark does not start: {java_says(error)}; check --master") from None
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def _no_java_left() -> Iterator[None]:
    """If Ctrl-C comes within this, end what pyspark has started. Java that lost pyspark before they met never ends."""
    before = _children()
    try:
        yield
    except KeyboardInterrupt:
        for child in _children() - before:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        raise


def _children() -> set[int]:
    """The numbers of the processes that this one started. Some kernels do not tell them."""
    found: set[int] = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread has ended
            found.update(map(int, (thread / "children").read_text().split()))
    return found


def knows_zone(spark: SparkSession, zone: str) -> bool:
    """Whether Java knows this time zone too. Python's own list may have newer ones, and names as `localtime`."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    zones: Any = spark._jvm.java.time.ZoneId  # type: ignore[union-attr]
    try:
        return zones.of(zone, zones.SHORT_IDS) is not None  # as Spark finds it
    except (Py4JJavaError, PySparkException):  # pyspark converts some exceptions
        return False


def _chosen(master: str | None, folder: Path) -> dict[str, str]:
    if master is None:
        return SETTINGS
    os.environ["JAVA_HOME"] = str(java_home(folder / "java"))  # read by the script that starts Spark
    if sys.flags.utf8_mode:
        os.environ["LC_ALL"] = "C.UTF-8"  # in the locale C, Python has names of files in UTF-8, and Java in ASCII alone
    logging = folder / "log4j2.properties"
    logging.write_text(LOGGING, encoding="utf-8")
    chosen = SETTINGS | {
        "spark.master": master,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}",
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        chosen |= ON_THIS_MACHINE
    return chosen
