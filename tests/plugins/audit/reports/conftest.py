"""One Spark session for all tests of reports; other tests are not affected by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from py4j import java_gateway, protocol
from pyspark.errors.exceptions.captured import install_exception_handler

from plugins.audit.reports.pipeline.audit_topic import TopicAccess
from plugins.audit.reports.pipeline.session import FEW_ROWS, session
from tests.real.jars import kafka_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # Spark interprets plans here: it compiles them for millions of rows, which does not pay for a few.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(autouse=True)
def errors_of_spark() -> Iterator[None]:
    """Use Spark's conversion of Java errors only here: pyspark patches py4j for all tests, also those with Kafka's."""
    install_exception_handler()
    yield
    java_gateway.get_return_value = protocol.get_return_value


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local Spark session that can read topics."""
    jars = TopicAccess(jars=kafka_source())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", FEW_ROWS["JDK_JAVA_OPTIONS"])  # settings that `SMALL` cannot hold
        with session("local[2]", {**SMALL, **jars.of_spark}) as spark:
            patch.undo()
            yield spark
