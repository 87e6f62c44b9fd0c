"""Kafka's Java clients of one release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError

from tests.acl.clients import COMMITTED, POLL, Client, Poll, Sent, Told
from tests.acl.names import Names
from tests.real.java_clients import each
from tests.real.secured.clients import As, for_java, java
from tests.real.way import Way


class JavaClient(Client):
    """Kafka's Java client of one release."""

    errors = Py4JJavaError

    def __init__(self, release: str, who: As, names: Names) -> None:
        super().__init__(who, names)
        self.java = java(release)
        self.way = Way("", who.bootstrap, {})
        self.settings = for_java(who)

    def told(self, error: Any) -> Told:
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        name = self.java.jvm.org.apache.kafka.common.protocol.Errors.forException(cause).name()
        return Told.of(name, f"{cause.getClass().getSimpleName()}: {cause.getMessage()}")

    def produce(self, sent: Sent) -> None:
        more: dict[str, Any] = {"transactional_id": self.names.wire(sent.transaction)} if sent.transaction else {}
        more |= {"enable_idempotence": sent.idempotent or bool(sent.transaction), "acks": "all", "max_block_ms": 15_000}
        with self.java.producer(self.way, **self.settings, **more) as producer:
            record = self.java.record(self.names.wire(sent.topic), sent.value.encode())
            if not sent.transaction:
                producer.send(record).get()
                return
            producer.initTransactions()
            producer.beginTransaction()
            try:
                producer.send(record).get()
                if sent.group:
                    consumer = self.java.clients.consumer
                    offsets = {self._partition(record.topic()): consumer.OffsetAndMetadata(COMMITTED)}
                    producer.sendOffsetsToTransaction(offsets, self._metadata(self.names.wire(sent.group)))
            except self.errors:
                producer.abortTransaction()  # old releases take half a minute to close without it
                raise
            producer.commitTransaction()

    def _partition(self, topic: str) -> Any:
        return self.java.jvm.org.apache.kafka.common.TopicPartition(topic, 0)

    def _metadata(self, group: str) -> Any:
        """The consumer group of a transaction; old releases take only its name."""
        return group if self.java.release < "2.5" else self.java.clients.consumer.ConsumerGroupMetadata(group)

    @contextmanager
    def consuming(
        self, group: str, topics: list[str], assigned: bool = False, matching: bool = False, **more: Any
    ) -> Iterator[Poll]:
        more |= {"group_id": group} | ({"enable_auto_commit": False} if assigned else {})
        with self.java.consumer(self.way, group, **self.settings, **more) as consumer:
            if assigned:
                consumer.assign([self._partition(topic) for topic in topics])
            elif matching:
                consumer.subscribe(*self._expression(topics[0], "group_protocol" in more))
            else:
                consumer.subscribe(topics)
            yield lambda: [bytes(record.value()) for record in self.java.poll(consumer, POLL)]

    def _expression(self, text: str, resolved_by_the_broker: bool) -> list[Any]:
        """The arguments to subscribe by expression; the oldest release needs a rebalance listener too."""
        if resolved_by_the_broker:
            return [self.java.clients.consumer.SubscriptionPattern(text)]
        compiled = self.java.jvm.java.util.regex.Pattern.compile(text)
        if self.java.release < "1":
            return [compiled, self.java.clients.consumer.internals.NoOpConsumerRebalanceListener()]
        return [compiled]

    @contextmanager
    def _admin(self) -> Iterator[Any]:
        with self.java.admin(self.way, **self.settings) as admin:
            yield admin

    def topics(self) -> list[str]:
        with self._admin() as admin:
            return self.own([*each(admin.listTopics().names().get())])

    def groups(self) -> list[str]:
        with self._admin() as admin:
            return self.own([listed.groupId() for listed in each(admin.listConsumerGroups().all().get())])

    def create(self, topic: str) -> None:
        new = self.java.clients.admin.NewTopic(self.names.wire(topic), 1, 1)
        with self._admin() as admin:
            admin.createTopics([new]).all().get()

    def delete(self, topic: str) -> None:
        with self._admin() as admin:
            admin.deleteTopics([self.names.wire(topic)]).all().get()

    def describe(self, group: str) -> None:
        with self._admin() as admin:
            admin.describeConsumerGroups([self.names.wire(group)]).all().get()

    def configs(self, topic: str) -> None:
        with self._admin() as admin:
            admin.describeConfigs([self.java.resource("TOPIC", self.names.wire(topic))]).all().get()

    def alter(self, name: str, setting: str, value: str) -> None:
        kind = "GROUP" if setting.startswith("share.") else "TOPIC"
        resource = self.java.resource(kind, self.names.wire(name))
        with self._admin() as admin:
            admin.incrementalAlterConfigs(self.java.setting(resource, setting, value)).all().get()

    def rules(self) -> None:
        with self._admin() as admin:
            admin.describeAcls(self.java.jvm.org.apache.kafka.common.acl.AclBindingFilter.ANY).values().get()

    def allow(self, topic: str) -> None:
        with self._admin() as admin:
            admin.createAcls([self._rule(topic)]).all().get()

    def disallow(self, topic: str) -> None:
        with self._admin() as admin:
            admin.deleteAcls([self._rule(topic).toFilter()]).all().get()

    def _rule(self, topic: str) -> Any:
        common = self.java.jvm.org.apache.kafka.common
        pattern = common.resource.ResourcePattern(
            common.resource.ResourceType.TOPIC, self.names.wire(topic), common.resource.PatternType.LITERAL
        )
        entry = common.acl.AccessControlEntry(
            "User:bob", "*", common.acl.AclOperation.READ, common.acl.AclPermissionType.ALLOW
        )
        return common.acl.AclBinding(pattern, entry)
