"""Real clients that authenticate: each produces, and consumes in a group.

A client gives the values that it consumed, or its error in the words of its library.
"""

from __future__ import annotations

import asyncio
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.plugins.sasl import jwt
from tests.real.jars import jars
from tests.real.java_clients import JavaClients
from tests.real.records import JOINING, patiently
from tests.real.secured.papers import STORE_PASSWORD, Papers
from tests.real.way import Way

TOKEN_LIFETIME = 3600
REFUSED = ("uthentication", "SSL", "certificate")


class As(NamedTuple):
    """A client's credentials. With `papers` it uses TLS; without a `mechanism` it has only a certificate."""

    bootstrap: str
    mechanism: str | None
    user: str = ""
    password: str = ""
    papers: Papers | None = None

    @property
    def protocol(self) -> str:
        """Kafka's `security.protocol`."""
        return ("SASL_" if self.mechanism else "") + ("SSL" if self.papers or not self.mechanism else "PLAINTEXT")

    @property
    def signed(self) -> bool:
        """Is the password a signed token?"""
        return self.mechanism == "OAUTHBEARER" and self.password.count(".") == 2

    @property
    def token(self) -> str:
        """The password, or an unsigned token made here."""
        now = int(time.time())
        return self.password if self.signed else jwt(sub=self.user, iat=now, exp=now + TOKEN_LIFETIME)


Values = list[bytes]
Run = Callable[[As, str, Sequence[bytes]], Values | str]


def for_confluent(who: As) -> dict[str, Any]:
    """librdkafka's settings."""
    settings: dict[str, Any] = {
        "bootstrap.servers": who.bootstrap,
        "security.protocol": who.protocol,
        "log_level": 0,
    }
    if who.papers:
        settings["ssl.ca.location"] = str(who.papers.authority)
        if who.papers.certificate:
            settings["ssl.certificate.location"] = str(who.papers.certificate)
            settings["ssl.key.location"] = str(who.papers.key)
    if who.mechanism:
        settings["sasl.mechanism"] = who.mechanism
    if who.mechanism == "OAUTHBEARER":
        settings["oauth_cb"] = lambda _: (who.token, time.time() + TOKEN_LIFETIME, who.user, {})
    elif who.mechanism:
        settings |= {"sasl.username": who.user, "sasl.password": who.password}
    return settings


def confluent(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    """librdkafka."""
    from confluent_kafka import Consumer, Producer

    errors: list[str] = []
    settings = for_confluent(who) | {"error_cb": lambda error: errors.append(error.str())}
    producer = Producer(settings | {"message.timeout.ms": 60000})
    failed: list[str] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: failed.append(error.str()) if error else None)
    end = time.monotonic() + 60

    def refused() -> list[str]:
        return [error for error in errors if any(word in error for word in REFUSED)]

    while len(producer) and time.monotonic() < end and not refused():
        producer.poll(0.1)
    if refused() or failed or len(producer):
        producer.purge()
        producer.flush(1)
        return str((refused() or failed or errors)[0])
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


def for_kafka_python(who: As) -> dict[str, Any]:
    """kafka-python's settings."""
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class Token(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return who.token

    settings: dict[str, Any] = {"bootstrap_servers": who.bootstrap.split(","), "security_protocol": who.protocol}
    if who.papers:
        settings["ssl_cafile"] = str(who.papers.authority)
        if who.papers.certificate:
            settings |= {"ssl_certfile": str(who.papers.certificate), "ssl_keyfile": str(who.papers.key)}
    if who.mechanism:
        settings["sasl_mechanism"] = who.mechanism
    if who.mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = Token()
    elif who.mechanism:
        settings |= {"sasl_plain_username": who.user, "sasl_plain_password": who.password}
    return settings


def kafka_python(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    """kafka-python."""
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.errors import KafkaError

    settings = for_kafka_python(who)
    try:
        # Close it even where it is refused, or its thread runs on during the next tests.
        with closing(KafkaProducer(**settings, max_block_ms=60000)) as producer:
            for future in [producer.send(topic, value) for value in values]:
                future.get(60)
    except KafkaError as error:
        return f"{type(error).__name__}: {error}"
    consumer = KafkaConsumer(topic, **settings, group_id=f"{topic}-kp", auto_offset_reset="earliest")
    taken: Values = []
    for _ in patiently("what was produced is consumed"):
        taken += [record.value for batch in consumer.poll(JOINING).values() for record in batch]
        if len(taken) >= len(values):
            break
    consumer.close()
    return taken


def for_aiokafka(who: As) -> dict[str, Any]:
    """aiokafka's settings."""
    from aiokafka.abc import AbstractTokenProvider

    class Token(AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return who.token

    settings: dict[str, Any] = {"bootstrap_servers": who.bootstrap, "security_protocol": who.protocol}
    if who.papers:
        settings["ssl_context"] = context = ssl.create_default_context(cafile=who.papers.authority)
        if who.papers.certificate:
            context.load_cert_chain(who.papers.certificate, who.papers.key)
    if who.mechanism:
        settings["sasl_mechanism"] = who.mechanism
    if who.mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = Token()
    elif who.mechanism:
        settings |= {"sasl_plain_username": who.user, "sasl_plain_password": who.password}
    return settings


def aiokafka(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    """aiokafka."""
    return asyncio.run(_aiokafka(who, topic, values))


async def _aiokafka(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
    from aiokafka.errors import KafkaError

    settings = for_aiokafka(who)
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


RELEASES = ("4.4.0", "2.3.1", "1.0.2", "0.11.0.3")


def knock(who: As) -> str | None:
    """Connect with aiokafka, and disconnect; gives the error, if any."""
    from aiokafka import AIOKafkaProducer
    from aiokafka.errors import KafkaError

    async def come() -> str | None:
        producer = AIOKafkaProducer(**for_aiokafka(who))
        try:
            await producer.start()
        except KafkaError as error:
            return f"{type(error).__name__}: {error}"
        finally:
            await producer.stop()
        return None

    return asyncio.run(come())


FOR_TOKENS = ("jackson", "jose4j")  # dependencies of OAUTHBEARER clients that they do not have
STARTED: dict[str, JavaClients] = {}


def java(release: str) -> JavaClients:
    """The clients of a release, in a JVM that runs until `close`."""
    if release not in STARTED:
        needed = [jar for name in FOR_TOKENS for jar in jars("kafka-4.3.1").glob(f"{name}-*.jar")]
        STARTED[release] = JavaClients(release, *needed)
    return STARTED[release]


def close() -> None:
    """End the JVMs that were started."""
    while STARTED:
        STARTED.popitem()[1].close()


def for_java(who: As, token: Path | None = None) -> dict[str, Any]:
    """Settings of Kafka's own clients; `token` is the file of a signed token."""
    settings: dict[str, Any] = {"security_protocol": who.protocol}
    if who.papers:
        settings |= {
            "ssl_truststore_type": "PKCS12",
            "ssl_truststore_location": who.papers.truststore,
            "ssl_truststore_password": STORE_PASSWORD,
            "ssl_endpoint_identification_algorithm": "https",  # the oldest release checks no host names by default
        }
        if who.papers.keystore:
            settings |= {
                "ssl_keystore_type": "PKCS12",
                "ssl_keystore_location": who.papers.keystore,
                "ssl_keystore_password": STORE_PASSWORD,
                "ssl_key_password": STORE_PASSWORD,
            }
    if who.mechanism:
        module = {"PLAIN": "plain.Plain", "OAUTHBEARER": "oauthbearer.OAuthBearer"}.get(who.mechanism, "scram.Scram")
        options = f'username="{who.user}" password="{who.password}"'
        if token is not None:
            options = ""
            handler = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
            settings |= {
                "sasl_login_callback_handler_class": handler,
                "sasl_oauthbearer_token_endpoint_url": token.as_uri(),
            }
        elif who.mechanism == "OAUTHBEARER":
            options = f'unsecuredLoginStringClaim_sub="{who.user}"'
        settings |= {
            "sasl_mechanism": who.mechanism,
            "sasl_jaas_config": f"org.apache.kafka.common.security.{module}LoginModule required {options};",
        }
    return settings


ALLOWING = threading.Lock()


def allow(clients: JavaClients, file: Path) -> None:
    """Allow the JVM to read this file as a URL, beside those already allowed."""
    name, system = "org.apache.kafka.sasl.oauthbearer.allowed.urls", clients.jvm.System
    with ALLOWING:
        system.setProperty(name, ",".join(filter(None, (system.getProperty(name), file.as_uri()))))


def by_java(release: str) -> Run:
    """Kafka's own client of that release."""

    def run(who: As, topic: str, values: Sequence[bytes]) -> Values | str:
        clients = java(release)
        if not who.signed:
            return _java(clients, who, for_java(who), topic, values)
        with tempfile.NamedTemporaryFile("w", suffix=".jwt") as file:
            file.write(who.token)
            file.flush()
            token = Path(file.name)
            allow(clients, token)
            return _java(clients, who, for_java(who, token), topic, values)

    return run


def _java(clients: JavaClients, who: As, settings: dict[str, Any], topic: str, values: Sequence[bytes]) -> Values | str:
    from py4j.protocol import Py4JJavaError

    way = Way("secured", who.bootstrap, {})
    try:
        with clients.producer(way, max_block_ms=60000, **settings) as producer:
            for value in values:
                producer.send(clients.record(topic, value)).get()
    except Py4JJavaError as error:
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        return f"{cause.getClass().getSimpleName()}: {cause.getMessage()}"
    with clients.consumer(way, topic, topic, **settings) as consumer:
        return [bytes(record.value()) for record in clients.take(consumer, len(values))]


CLIENTS: dict[str, Run] = {
    "librdkafka": confluent,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
    **{f"java-{release}": by_java(release) for release in RELEASES},
}
# Mechanisms that old clients lack: releases before 2.0 have no OAUTHBEARER; before 3.1, only unsigned tokens.
UNSPOKEN = {("java-1.0.2", "OAUTHBEARER"), ("java-0.11.0.3", "OAUTHBEARER")}
UNSIGNED_ALONE = {"java-2.3.1"}
