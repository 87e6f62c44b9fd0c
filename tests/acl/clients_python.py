"""The Python clients confluent-kafka, which is librdkafka, and kafka-python."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
)
from kafka.errors import KafkaError as KafkaPythonError
from kafka.errors import NoError

from proxy.protocol.errors import ErrorCode
from tests.acl.clients import COMMITTED, PATIENCE, POLL, Client, Poll, Sent, Told
from tests.acl.names import Names
from tests.real.records import JOINING
from tests.real.secured.clients import As, for_confluent, for_kafka_python

logging.getLogger("kafka").setLevel(logging.CRITICAL)


class Librdkafka(Client):
    """confluent-kafka."""

    errors = KafkaException

    def __init__(self, who: As, names: Names) -> None:
        super().__init__(who, names)
        self.settings = for_confluent(who)
        self.admin = AdminClient(self.settings)

    def told(self, error: Any) -> Told:
        (told,) = error.args
        return Told.of(told.name(), told.str())

    def produce(self, sent: Sent) -> None:
        more: dict[str, Any] = {"transactional.id": self.names.wire(sent.transaction)} if sent.transaction else {}
        producer = Producer(self.settings | more | {"enable.idempotence": sent.idempotent or bool(sent.transaction)})
        failed: list[KafkaError] = []
        if sent.transaction:
            producer.init_transactions(PATIENCE)
            producer.begin_transaction()
        producer.produce(
            self.names.wire(sent.topic),
            sent.value,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
        assert producer.flush(PATIENCE) == 0
        if sent.group:
            offset = TopicPartition(self.names.wire(sent.topic), 0, COMMITTED)
            producer.send_offsets_to_transaction([offset], self._metadata(self.names.wire(sent.group)), PATIENCE)
        if sent.transaction:
            producer.commit_transaction(PATIENCE)
        if failed:
            raise KafkaException(failed[0])

    def _metadata(self, group: str) -> Any:
        """The consumer group of a transaction."""
        consumer = Consumer(self.settings | {"group.id": group})
        try:
            return consumer.consumer_group_metadata()
        finally:
            consumer.close()

    @contextmanager
    def consuming(
        self, group: str, topics: list[str], assigned: bool = False, matching: bool = False, **more: Any
    ) -> Iterator[Poll]:
        more = {name.replace("_", "."): value for name, value in more.items()}
        more |= {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": not assigned}
        consumer = Consumer(self.settings | more)
        if assigned:
            consumer.assign([TopicPartition(topic, 0) for topic in topics])
        else:
            consumer.subscribe([f"^{topics[0]}"] if matching else topics)

        def poll() -> list[bytes]:
            message = consumer.poll(POLL / 1000)
            if message is None:
                return []
            if message.error():
                raise KafkaException(message.error())
            return [message.value()]

        try:
            yield poll
        finally:
            consumer.close()

    def topics(self) -> list[str]:
        return self.own([*self.admin.list_topics(timeout=PATIENCE).topics])

    def groups(self) -> list[str]:
        listed = self.admin.list_consumer_groups().result()
        assert not listed.errors
        return self.own([group.group_id for group in listed.valid])

    def create(self, topic: str) -> None:
        name = self.names.wire(topic)
        self.admin.create_topics([NewTopic(name, 1, 1)])[name].result()

    def delete(self, topic: str) -> None:
        name = self.names.wire(topic)
        self.admin.delete_topics([name])[name].result()

    def describe(self, group: str) -> None:
        name = self.names.wire(group)
        self.admin.describe_consumer_groups([name])[name].result()

    def configs(self, topic: str) -> None:
        resource = ConfigResource(ResourceType.TOPIC, self.names.wire(topic))
        self.admin.describe_configs([resource])[resource].result()

    def alter(self, name: str, setting: str, value: str) -> None:
        change = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, self.names.wire(name), incremental_configs=[change])
        self.admin.incremental_alter_configs([resource])[resource].result()

    def rules(self) -> None:
        anything = AclBindingFilter(
            ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
        )
        self.admin.describe_acls(anything).result()

    def allow(self, topic: str) -> None:
        (told,) = self.admin.create_acls([AclBinding(*self._rule(topic))]).values()
        told.result()

    def disallow(self, topic: str) -> None:
        (told,) = self.admin.delete_acls([AclBindingFilter(*self._rule(topic))]).values()
        told.result()

    def _rule(self, topic: str) -> tuple[Any, ...]:
        about = (ResourceType.TOPIC, self.names.wire(topic), ResourcePatternType.LITERAL)
        return *about, "User:bob", "*", AclOperation.READ, AclPermissionType.ALLOW


class KafkaPython(Client):
    """kafka-python."""

    errors = KafkaPythonError

    def __init__(self, who: As, names: Names) -> None:
        super().__init__(who, names)
        self.settings = for_kafka_python(who)

    def told(self, error: Any) -> Told:
        return Told.of(ErrorCode(error.errno).name, str(error))

    def produce(self, sent: Sent) -> None:
        more: dict[str, Any] = {"transactional_id": self.names.wire(sent.transaction)} if sent.transaction else {}
        more |= {"enable_idempotence": sent.idempotent or bool(sent.transaction), "max_block_ms": 15_000}
        with closing(kafka.KafkaProducer(**self.settings, **more)) as producer:
            if sent.transaction:
                producer.init_transactions()
                producer.begin_transaction()
            producer.send(self.names.wire(sent.topic), sent.value.encode()).get(PATIENCE)
            if sent.group:
                offset = {
                    kafka.TopicPartition(self.names.wire(sent.topic), 0): kafka.OffsetAndMetadata(COMMITTED, "", -1)
                }
                producer.send_offsets_to_transaction(offset, self.names.wire(sent.group))
            if sent.transaction:
                producer.commit_transaction()

    @contextmanager
    def consuming(
        self, group: str, topics: list[str], assigned: bool = False, matching: bool = False, **more: Any
    ) -> Iterator[Poll]:
        more |= {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": not assigned}
        with closing(kafka.KafkaConsumer(**self.settings, **more)) as consumer:
            if assigned:
                consumer.assign([kafka.TopicPartition(topic, 0) for topic in topics])
            elif matching:
                consumer.subscribe(pattern=topics[0])
            else:
                consumer.subscribe(topics)
            yield lambda: [record.value for batch in consumer.poll(JOINING).values() for record in batch]

    @contextmanager
    def _admin(self) -> Iterator[Any]:
        with closing(kafka.KafkaAdminClient(**self.settings)) as admin:
            yield admin

    def topics(self) -> list[str]:
        with self._admin() as admin:
            return self.own(admin.list_topics())

    def groups(self) -> list[str]:
        with self._admin() as admin:
            return self.own([group["group_id"] for group in admin.list_groups()])

    def create(self, topic: str) -> None:
        with self._admin() as admin:
            admin.create_topics([self.names.wire(topic)])

    def delete(self, topic: str) -> None:
        with self._admin() as admin:
            admin.delete_topics([self.names.wire(topic)])

    def describe(self, group: str) -> None:
        with self._admin() as admin:
            admin.describe_groups([self.names.wire(group)])

    def rules(self) -> None:
        about = ResourcePatternFilter(kafka.admin.ResourceType.ANY, None, ACLResourcePatternType.ANY)
        with self._admin() as admin:
            admin.describe_acls(ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, about))

    def allow(self, topic: str) -> None:
        with self._admin() as admin:
            for error in admin.create_acls([self._rule(topic)])["failed"]:
                raise error

    def disallow(self, topic: str) -> None:
        with self._admin() as admin:
            for _, _, error in admin.delete_acls([self._rule(topic)]):
                if error is not NoError:
                    raise error

    def _rule(self, topic: str) -> ACL:
        about = ResourcePattern(kafka.admin.ResourceType.TOPIC, self.names.wire(topic))
        return ACL("User:bob", "*", ACLOperation.READ, ACLPermissionType.ALLOW, about)
