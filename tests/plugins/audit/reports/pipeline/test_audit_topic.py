"""The address of an audit topic, and the reader's credentials for its cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.pipeline.audit_topic import PACKAGE, AuditTopicPlace, TopicAccess, client_settings
from plugins.audit.reports.pipeline.place import PlaceError


def test_a_topic_is_named_by_brokers_and_its_name() -> None:
    place = AuditTopicPlace.of("kafka://kafka-1:9092,10.0.0.2:9093/doorkeeper.audit-1")
    assert place == ("kafka-1:9092,10.0.0.2:9093", "doorkeeper.audit-1")
    assert str(place) == "kafka://kafka-1:9092,10.0.0.2:9093/doorkeeper.audit-1"


@pytest.mark.parametrize("name", ["/var/journal", "s3a://bucket/journal", "kafka", "./kafka:x"])
def test_any_other_place_is_no_topic(name: str) -> None:
    assert AuditTopicPlace.of(name) is None


@pytest.mark.parametrize(
    "name",
    ["kafka://", "kafka:topic", "kafka://host/topic", "kafka://host:9092", "kafka://host:9092/a/b", "kafka://h:1/"],
)
def test_a_name_that_lacks_something_is_an_error_with_a_way_out(name: str) -> None:
    with pytest.raises(PlaceError, match="this names no topic; write it as kafka://kafka-1:9092/doorkeeper-audit"):
        AuditTopicPlace.of(name)


def test_settings_are_those_that_tools_of_kafka_take(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text('# who reads\n\nsecurity.protocol = SASL_SSL\nsasl.jaas.config=a.Module required x="y=z";\n! no\n')
    settings = client_settings(file)
    assert settings == {"security.protocol": "SASL_SSL", "sasl.jaas.config": 'a.Module required x="y=z";'}
    assert TopicAccess(settings).of_source["kafka.security.protocol"] == "SASL_SSL"


def test_a_setting_may_go_on_in_the_next_line_as_kafka_writes_a_login(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        '# a comment does not \\\nsasl.jaas.config=a.Module required \\\n  x="y" \\\n  z="w";\na=b\nnonsense'
    )
    with pytest.raises(PlaceError, match=r"client\.properties:6: this is no setting"):
        client_settings(file)
    file.write_text(file.read_text().removesuffix("nonsense"))
    assert client_settings(file) == {"sasl.jaas.config": 'a.Module required x="y" z="w";', "a": "b"}


@pytest.mark.parametrize(
    "text",
    [
        'sasl.jaas.config=a.Module required password="a\\\\b";',
        "ssl.key.password=\\u00e4\\:\\=\\#\\t.",
        "ssl.key.password=ends\\\\\nsecurity.protocol=SSL",
        "ssl.key.password=goes\\\\\\\n  on\nsecurity.protocol=SSL",
    ],
)
def test_a_backslash_means_what_it_means_to_tools_of_kafka(spark: SparkSession, tmp_path: Path, text: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(text)
    jvm: Any = spark._jvm
    theirs = jvm.java.util.Properties()
    theirs.load(jvm.java.io.StringReader(text))
    assert client_settings(file) == dict(theirs)


def test_a_file_of_settings_that_cannot_be_used_is_an_error_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    with pytest.raises(PlaceError, match="cannot be read"):
        client_settings(file)
    file.write_text("a=b\nnonsense\n")
    with pytest.raises(PlaceError, match=r"client\.properties:2: this is no setting; write it as"):
        client_settings(file)
    file.write_text("group.id=g\n")
    with pytest.raises(PlaceError, match=r"client.properties:1: group.id is not for this file; leave it out"):
        client_settings(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(PlaceError, match="is no text"):
        client_settings(file)


def test_jars_that_are_given_are_taken_and_else_a_package_is_fetched(tmp_path: Path) -> None:
    assert TopicAccess().of_spark == {"spark.jars.packages": PACKAGE}
    jar = tmp_path / "source.jar"
    with pytest.raises(PlaceError, match=r"source\.jar: there is no such file; give --jars those of"):
        TopicAccess(jars=(jar,)).check()
    jar.touch()
    TopicAccess(jars=(jar,)).check()
    assert TopicAccess(jars=(jar,)).of_spark == {"spark.jars": str(jar)}
