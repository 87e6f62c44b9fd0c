"""The topic: an audit topic as reports name it, `kafka://HOST:PORT,HOST:PORT/TOPIC`, and how Spark reads it.

Rules:
* Spark's wheel lacks its Kafka source. Spark fetches it as a package from Maven Central, unless its jars are given.
* A topic that is deleted and created again has the same name and another id. Brokers before 2.8 give no ids.
* The settings with which clients authenticate are in a file, as Kafka's own tools take it (`--command-config`), so that
  no password is on the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from plugins.audit.reports.pipeline.place import PlaceError, java_says

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"  # works with Spark 4.1 to 4.3, which tests show for the last
)
SCHEME = "kafka:"
_PLACE = re.compile(r"kafka://(?P<brokers>[^/@?#\s]+:\d+(?:,[^/@?#\s]+:\d+)*)/(?P<topic>[A-Za-z0-9._-]{1,249})")
COMMENTS = ("#", "!")
LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
OURS = ("bootstrap.servers", "group.id", "key.deserializer", "value.deserializer", "auto.offset.reset")


class AuditTopicPlace(NamedTuple):
    """A topic, and some brokers of its cluster as host:port, joined by commas."""

    brokers: str
    topic: str

    @staticmethod
    def of(text: str) -> AuditTopicPlace | None:
        """Read a topic's URL; None if the text is no `kafka:` URL. Raises PlaceError."""
        if not text.startswith(SCHEME):
            return None
        found = _PLACE.fullmatch(text)
        if found is None:
            raise PlaceError(f"{text}: this names no topic; write it as kafka://kafka-1:9092/doorkeeper-audit")
        return AuditTopicPlace(found["brokers"], found["topic"])

    def not_read(self, why: str) -> PlaceError:
        """The error that it cannot be read."""
        return PlaceError(f"{self}: cannot be read ({why}); check the address, the topic and its rights")

    def __str__(self) -> str:
        return f"kafka://{self.brokers}/{self.topic}"


class TopicAccess(NamedTuple):
    """How a topic is read: settings of Kafka's clients, and jars of Spark's Kafka source instead of its package."""

    settings: Mapping[str, str] = {}
    jars: tuple[Path, ...] = ()
    package: str = PACKAGE

    def check(self) -> None:
        """Check that all jars are there. Raises PlaceError."""
        for jar in self.jars:
            if not jar.is_file():
                raise PlaceError(f"{jar}: there is no such file; give --jars those of {self.package} and what it needs")

    @property
    def of_spark(self) -> dict[str, str]:
        """The settings for a Spark session."""
        if self.jars:
            return {"spark.jars": ",".join(str(jar.absolute()) for jar in self.jars)}
        return {"spark.jars.packages": self.package}

    @property
    def way_out(self) -> str:
        """The way out in the message when no session can be begun with these settings."""
        if self.jars:
            return f"are --jars those of {self.package} and what it needs?"
        return f"could it fetch {self.package}? --packages names another version, --jars gives its jars"

    @property
    def of_source(self) -> dict[str, str]:
        """The options for Spark's Kafka source."""
        return {f"kafka.{name}": value for name, value in self.settings.items()}


PLAIN = TopicAccess()


def topic_id(spark: SparkSession, place: AuditTopicPlace, access: TopicAccess) -> str:
    """The id that the topic has now, as the client in Spark's Kafka source learns it. Raises PlaceError."""
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark._jvm
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create({"bootstrap.servers": place.brokers, **access.settings})
        try:
            described = admin.describeTopics([place.topic]).allTopicNames().get()
            return str(described[place.topic].topicId())
        finally:
            admin.close()
    except Py4JJavaError as error:
        raise place.not_read(java_says(error)) from None


def client_settings(file: Path) -> dict[str, str]:
    """The settings in a properties file, as `security.protocol=SASL_SSL`. Raises PlaceError."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise PlaceError(f"{file}: cannot be read ({error.strerror}); check its path and permissions") from None
    except UnicodeDecodeError:
        raise PlaceError(f"{file}: is no text; write lines like security.protocol=SASL_SSL") from None
    settings = {}
    for number, line in _whole_lines(text):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not name or name.startswith(COMMENTS):
            continue
        if not equals:
            raise PlaceError(f"{file}:{number}: this is no setting; write it as security.protocol=SASL_SSL")
        if name in OURS:
            raise PlaceError(f"{file}:{number}: {name} is not for this file; leave it out")
        settings[name] = _ESCAPED.sub(_meant, value)
    return settings


def _meant(escaped: re.Match[str]) -> str:
    """What stands for this after a backslash in Java's properties."""
    what = escaped[1]
    return chr(int(what[1:], 16)) if len(what) > 1 else LETTERS.get(what, what)


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with the number at which it begins. A line that ends with a backslash continues in the next."""
    whole, began = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        whole += line.strip()
        is_open = (len(whole) - len(whole.rstrip("\\"))) % 2  # two backslashes are one of the value
        if is_open and not whole.startswith(COMMENTS):
            whole = whole[:-1]
            continue
        yield began, whole
        whole, began = "", number + 1
    if whole:
        yield began, whole
