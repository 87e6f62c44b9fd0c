"""Real clients that say who they are: each produces, and consumes in a group.

A client gives what it consumed, and the error that it met in the words of its own library, where it met one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from tests.plugins.sasl import jwt
from tests.real.jars import jars
from tests.real.java_clients import JavaClients
from tests.real.records import patiently
from tests.real.way import Way

TOKEN_LIFETIME = 3600


class As(NamedTuple):
    """Who a client says it is, and how."""

    bootstrap: str
    mechanism: str
    user: str
    password: str

    @property
    def token(self) -> str:
        """A token of one's own making; for OAUTHBEARER the password may be a real one."""
        now = int(time.time())
        return self.password if self.password.count(".") == 2 else jwt(sub=self.user, iat=now, exp=now + TOKEN_LIFETIME)


Values = list[bytes]


def confluent(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    """librdkafka."""
    from confluent_kafka import Consumer, Producer

    errors: list[str] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": who.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": who.mechanism,
        "error_cb": lambda error: errors.append(error.str()),
        "log_level": 0,
    }
    if who.mechanism == "OAUTHBEARER":
        settings["oauth_cb"] = lambda _: (who.token, time.time() + TOKEN_LIFETIME, who.user, {})
    else:
        settings |= {"sasl.username": who.user, "sasl.password": who.password}
    producer = Producer(settings | {"message.timeout.ms": 15000})
    failed: list[str] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: failed.append(error.str()) if error else None)
    end = time.monotonic() + 20
    while len(producer) and time.monotonic() < end and not any("uthentication" in error for error in errors):
        producer.poll(0.1)
    refused = [error for error in errors if "uthentication" in error]
    if refused or failed or len(producer):
        producer.purge()
        producer.flush(1)
        return str((refused or failed or errors)[0])
    consumer = Consumer(settings | {"group.id": f"{topic}-rd", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    taken: Values = []
    for _ in patiently("what was produced is consumed"):
        message = consumer.poll(0.3)
        if message is not None and not message.error():
            taken.append(message.value())
        if len(taken) >= len(values):
            break
    consumer.close()
    return taken


def kafka_python(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    """kafka-python."""
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.errors import KafkaError
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class Token(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return who.token

    settings: dict[str, Any] = {
        "bootstrap_servers": who.bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": who.mechanism,
    }
    if who.mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = Token()
    else:
        settings |= {"sasl_plain_username": who.user, "sasl_plain_password": who.password}
    try:
        producer = KafkaProducer(**settings, max_block_ms=15000)
        for future in [producer.send(topic, value) for value in values]:
            future.get(20)
        producer.close()
    except KafkaError as error:
        return f"{type(error).__name__}: {error}"
    consumer = KafkaConsumer(topic, **settings, group_id=f"{topic}-kp", auto_offset_reset="earliest")
    taken: Values = []
    for _ in patiently("what was produced is consumed"):
        taken += [record.value for batch in consumer.poll(300).values() for record in batch]
        if len(taken) >= len(values):
            break
    consumer.close()
    return taken


def aiokafka(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    """aiokafka."""
    return asyncio.run(_aiokafka(who, topic, values))


async def _aiokafka(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
    from aiokafka.abc import AbstractTokenProvider
    from aiokafka.errors import KafkaError

    class Token(AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return who.token

    settings: dict[str, Any] = {
        "bootstrap_servers": who.bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": who.mechanism,
    }
    if who.mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = Token()
    else:
        settings |= {"sasl_plain_username": who.user, "sasl_plain_password": who.password}
    producer = AIOKafkaProducer(**settings)
    try:
        await producer.start()
        for value in values:
            await producer.send_and_wait(topic, value)
    except KafkaError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        await producer.stop()
    consumer = AIOKafkaConsumer(topic, **settings, group_id=f"{topic}-aio", auto_offset_reset="earliest")
    await consumer.start()
    try:
        return [(await asyncio.wait_for(consumer.getone(), 60)).value for _ in values]
    finally:
        await consumer.stop()


@cache
def java(release: str) -> JavaClients:
    """The clients of a release, in a JVM that lives as long as the run."""
    return JavaClients(release, *jars("kafka-4.3.1").glob("jackson-*.jar"))  # OAUTHBEARER needs them


def by_java(release: str) -> Callable[[As, str, Sequence[bytes]], Values | str]:
    """Kafka's own client of that release."""

    def run(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
        from py4j.protocol import Py4JJavaError

        clients = java(release)
        module = {"PLAIN": "plain.Plain", "OAUTHBEARER": "oauthbearer.OAuthBearer"}.get(who.mechanism, "scram.Scram")
        options = f'username="{who.user}" password="{who.password}"'
        if who.mechanism == "OAUTHBEARER":
            options = f'unsecuredLoginStringClaim_sub="{who.user}"'
        settings: dict[str, Any] = {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": who.mechanism,
            "sasl_jaas_config": f"org.apache.kafka.common.security.{module}LoginModule required {options};",
        }
        way = Way("sasl", who.bootstrap, {})
        try:
            with clients.producer(way, max_block_ms=15000, **settings) as producer:
                for value in values:
                    producer.send(clients.record(topic, value)).get()
        except Py4JJavaError as error:
            cause = error.java_exception
            while cause.getCause() is not None:
                cause = cause.getCause()
            return f"{cause.getClass().getSimpleName()}: {cause.getMessage()}"
        with clients.consumer(way, topic, topic, **settings) as consumer:
            return [bytes(record.value()) for record in clients.take(consumer, len(values))]

    return run


CLIENTS: dict[str, Callable[[As, str, Sequence[bytes]], Values | str]] = {
    "librdkafka": confluent,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
    "java-4.4.0": by_java("4.4.0"),
    "java-2.3.1": by_java("2.3.1"),
    "java-0.11.0.3": by_java("0.11.0.3"),  # tokens without headers after SaslHandshake v0
}


def close() -> None:
    """End the JVMs."""
    with suppress(Exception):
        for release in ("4.4.0", "2.3.1", "0.11.0.3"):
            java(release).close()
    java.cache_clear()
