"""aiokafka as a client: each job is one run of an event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import aiokafka
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, for_code

from proxy.protocol.errors import ErrorCode
from tests.acl.clients import COMMITTED, POLL, Client, Poll, Sent, Told
from tests.acl.names import Names
from tests.real.secured.clients import As, for_aiokafka

logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


class Aiokafka(Client):
    """aiokafka."""

    errors = KafkaError

    def __init__(self, who: As, names: Names) -> None:
        super().__init__(who, names)
        self.settings = for_aiokafka(who)

    def told(self, error: Any) -> Told:
        return Told.of(ErrorCode(error.errno).name, str(error))

    def produce(self, sent: Sent) -> None:
        asyncio.run(self._produce(sent))

    async def _produce(self, sent: Sent) -> None:
        topic = self.names.wire(sent.topic)
        more: dict[str, Any] = {"transactional_id": self.names.wire(sent.transaction)} if sent.transaction else {}
        more |= {"enable_idempotence": sent.idempotent or bool(sent.transaction)}
        producer = aiokafka.AIOKafkaProducer(**self.settings, **more)
        try:
            await producer.start()
            if sent.transaction:
                await producer.begin_transaction()
            await producer.send_and_wait(topic, sent.value.encode())
            if sent.group:
                offsets = {aiokafka.TopicPartition(topic, 0): COMMITTED}
                await producer.send_offsets_to_transaction(offsets, self.names.wire(sent.group))
            if sent.transaction:
                await producer.commit_transaction()
        finally:
            await producer.stop()

    @contextmanager
    def consuming(
        self, group: str, topics: list[str], assigned: bool = False, matching: bool = False, **more: Any
    ) -> Iterator[Poll]:
        more |= {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": not assigned}
        with asyncio.Runner() as loop:
            consumer = loop.run(self._consumer(topics, assigned, matching, more))

            def poll() -> list[bytes]:
                taken = loop.run(consumer.getmany(timeout_ms=POLL))
                return [record.value for batch in taken.values() for record in batch]

            try:
                loop.run(consumer.start())
                yield poll
            finally:
                loop.run(consumer.stop())

    async def _consumer(self, topics: Sequence[str], assigned: bool, matching: bool, more: Mapping[str, Any]) -> Any:
        """Make a consumer; aiokafka needs a running event loop for it."""
        named = () if assigned or matching else topics
        consumer = aiokafka.AIOKafkaConsumer(*named, **self.settings, **more)
        if matching:
            consumer.subscribe(pattern=topics[0])
        elif assigned:
            consumer.assign([aiokafka.TopicPartition(topic, 0) for topic in topics])
        return consumer

    def _admin(self, ask: Any) -> Any:
        async def asked() -> Any:
            admin = AIOKafkaAdminClient(**self.settings)
            try:
                await admin.start()
                return await ask(admin)
            finally:
                await admin.close()

        return asyncio.run(asked())

    def topics(self) -> list[str]:
        return self.own(self._admin(lambda admin: admin.list_topics()))

    def groups(self) -> list[str]:
        return self.own([group for group, _ in self._admin(lambda admin: admin.list_consumer_groups())])

    def create(self, topic: str) -> None:
        new = NewTopic(self.names.wire(topic), 1, 1)
        self._checked(self._admin(lambda admin: admin.create_topics([new])).topic_errors)

    def delete(self, topic: str) -> None:
        self._checked(self._admin(lambda admin: admin.delete_topics([self.names.wire(topic)])).topic_error_codes)

    def describe(self, group: str) -> None:
        name = self.names.wire(group)
        for answer in self._admin(lambda admin: admin.describe_consumer_groups([name])):
            self._checked([(told, code) for code, told, *_ in answer.groups])

    def alter(self, name: str, setting: str, value: str) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, self.names.wire(name), {setting: value})
        for answer in self._admin(lambda admin: admin.alter_configs([resource])):
            self._checked([(name, code, words) for code, words, *_ in answer.resources])

    def _checked(self, answers: list[tuple[Any, ...]]) -> None:
        for _, code, *words in answers:
            if code:
                raise for_code(code)(*words)
