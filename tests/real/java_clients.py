"""Java clients, driven from Python: one JVM for each version of `kafka-clients`, reached by py4j.

Nothing is compiled: objects are made and called by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from tests.real.jars import classpath, pyspark_jar
from tests.real.java import java
from tests.real.records import patiently
from tests.real.way import Way

JVM = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
BYTES = "org.apache.kafka.common.serialization.ByteArray"


def each(iterable: Any) -> Iterator[Any]:
    """Iterate over a Java Iterable; py4j itself converts only lists, sets and maps."""
    return iter(iterable.iterator())


class JavaClients:
    """The clients of one Kafka release, in a JVM of their own."""

    def __init__(self, release: str, *more: Path) -> None:
        """`more`: further jars for the class path."""
        self.release = release
        port = launch_gateway(
            classpath=":".join((classpath(f"clients-{release}"), *map(str, more))),
            jarpath=str(pyspark_jar("py4j-*.jar")),
            java_path=java(),
            javaopts=JVM,
            die_on_exit=True,
        )
        self._gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
        self.jvm: Any = self._gateway.jvm

    def close(self) -> None:
        self._gateway.shutdown()

    @property
    def clients(self) -> Any:
        """The package `org.apache.kafka.clients`."""
        return self.jvm.org.apache.kafka.clients

    def settings(self, way: Way, more: Mapping[str, Any]) -> Any:
        """A client's Properties; Python's `linger_ms=5` is Kafka's `linger.ms`."""
        properties = self.jvm.java.util.Properties()
        properties.setProperty("bootstrap.servers", way.bootstrap)
        for name, value in more.items():
            properties.setProperty(
                name.replace("_", "."), str(value).lower() if isinstance(value, bool) else str(value)
            )
        return properties

    @contextmanager
    def producer(self, way: Way, **more: Any) -> Iterator[Any]:
        more = {"key_serializer": BYTES + "Serializer", "value_serializer": BYTES + "Serializer", **more}
        producer = self.clients.producer.KafkaProducer(self.settings(way, more))
        try:
            yield producer
        finally:
            producer.close()

    @contextmanager
    def consumer(
        self, way: Way, group: str, topic: str | None = None, share: bool = False, **more: Any
    ) -> Iterator[Any]:
        """A consumer that has subscribed to `topic`; without a topic the caller subscribes."""
        more = {
            "key_deserializer": BYTES + "Deserializer",
            "value_deserializer": BYTES + "Deserializer",
            "group_id": way.unique(group),
            **more,
        }
        if not share:
            more = {"auto_offset_reset": "earliest", **more}
        kind = self.clients.consumer.KafkaShareConsumer if share else self.clients.consumer.KafkaConsumer
        consumer = kind(self.settings(way, more))
        try:
            if topic:
                consumer.subscribe([topic])
            yield consumer
        finally:
            consumer.close()

    @contextmanager
    def admin(self, way: Way, **more: Any) -> Iterator[Any]:
        admin = self.clients.admin.AdminClient.create(self.settings(way, more))
        try:
            yield admin
        finally:
            admin.close()

    def resource(self, kind: str, name: str) -> Any:
        """A ConfigResource: a `TOPIC`, a `GROUP` or a `BROKER`."""
        resource = self.jvm.org.apache.kafka.common.config.ConfigResource
        return resource(getattr(resource.Type, kind), name)

    def setting(self, resource: Any, name: str, value: str) -> dict[Any, list[Any]]:
        """The argument of incrementalAlterConfigs that gives one setting of a resource this value."""
        change = self.clients.admin.AlterConfigOp
        return {resource: [change(self.clients.admin.ConfigEntry(name, value), change.OpType.SET)]}

    def record(self, topic: str, value: bytes | None, key: bytes | None = None, partition: int | None = None) -> Any:
        return self.clients.producer.ProducerRecord(topic, partition, key, value)

    def poll(self, consumer: Any, milliseconds: int = 300) -> list[Any]:
        time = (
            milliseconds
            if self.release.startswith(("0.", "1."))
            else self.jvm.java.time.Duration.ofMillis(milliseconds)
        )
        return list(each(consumer.poll(time)))

    def take(self, consumer: Any, count: int) -> list[Any]:
        """Poll for at least `count` records."""
        records: list[Any] = []
        for _ in patiently(f"{count} records"):
            records += self.poll(consumer)
            if len(records) >= count:
                break
        return records
