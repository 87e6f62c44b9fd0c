"""Kafka's own message classes, called from Python: they define the wire format.

A `Kafka` is a Java virtual machine with one release of kafka-clients. py4j turns bytes into byte[] and back.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, get_field, launch_gateway
from py4j.protocol import Py4JJavaError

from proxy.protocol.api import Api
from proxy.protocol.schema import Message
from tests.real.jars import classpath, jars
from tests.real.java import java

NEWEST, OLDER = "clients-4.4.0", "clients-3.9.1"
JACKSON = "kafka-4.3.1"  # kafka-clients lacks the dependencies of its JSON converters; the broker's jars have them

KafkaRefusedError = Py4JJavaError


class Kafka:
    """A JVM with one release of kafka-clients. `with Kafka(NEWEST) as kafka: kafka.common.message...`"""

    def __init__(self, clients: str) -> None:
        (py4j_jar,) = Path(pyspark.__file__).parent.glob("jars/py4j-*.jar")
        jackson = [str(jar) for jar in jars(JACKSON).glob("jackson-*.jar")]
        port = launch_gateway(
            classpath=os.pathsep.join([classpath(clients), *jackson]),
            jarpath=str(py4j_jar),
            java_path=java(),
            javaopts=["-Xmx256m", "-XX:+UseSerialGC", "-Dslf4j.internal.verbosity=ERROR"],
            redirect_stderr=None,
            die_on_exit=True,
        )
        self.gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
        self.newest = clients == NEWEST
        self.java: Any = self.gateway.jvm.java
        self.common: Any = self.gateway.jvm.org.apache.kafka.common
        # Each name of a class or package is asked of the JVM, so those that are used often are asked once.
        self._buffer = self.java.nio.ByteBuffer
        self._accessor = self.common.protocol.ByteBufferAccessor
        self._kinds: dict[Api, Any] = {}
        self._converters: dict[str, Any] = {}

    def __enter__(self) -> Kafka:
        return self

    def __exit__(self, *_: object) -> None:
        self.gateway.shutdown()

    def kind(self, api: Api) -> Any:
        """Kafka's declaration of an API."""
        if api not in self._kinds:
            self._kinds[api] = self.common.message.ApiMessageType.fromApiKey(api.key)
        return self._kinds[api]

    def message(self, cls: type[Message]) -> Any:
        """A new instance of Kafka's class for this message; None where this release has none."""
        assert cls.api is not None
        try:
            kind = self.kind(cls.api)
            return kind.newRequest() if cls.side == "request" else kind.newResponse()
        except Py4JJavaError:
            return None

    def versions(self, cls: type[Message]) -> range:
        """The versions that Kafka's class for this message reads and writes."""
        message = self.message(cls)
        if message is None:
            return range(0)
        return range(message.lowestSupportedVersion(), message.highestSupportedVersion() + 1)

    def read(self, cls: type[Message], version: int, body: bytes) -> Any:
        """Kafka's message from this body, all of which must be read."""
        message = self.message(cls)
        self.fill(message, version, body)
        return message

    def fill(self, message: Any, version: int, body: bytes) -> None:
        """Let Kafka's message read this body, to its end."""
        end = self.fill_from(message, version, body)
        assert end == len(body), f"Kafka left {len(body) - end} bytes of v{version} unread"

    def fill_from(self, message: Any, version: int, body: bytes) -> int:
        """Let Kafka's message read from the start of this body. Gives the position of its end."""
        buffer = self._buffer.wrap(body)
        message.read(self._accessor(buffer), version)
        return int(buffer.position())

    def write(self, message: Any, version: int) -> bytes:
        """The bytes of Kafka's message."""
        protocol = self.common.protocol
        size, cache = protocol.MessageSizeAccumulator(), protocol.ObjectSerializationCache()
        message.addSize(size, cache, version)
        buffer = self._buffer.allocate(size.totalSize())
        message.write(self._accessor(buffer), cache, version)
        return bytes(buffer.array())

    def refuse(self, api: Api, version: int, body: bytes, error: int) -> bytes:
        """The body of Kafka's error response to the request with this body."""
        protocol, requests = self.common.protocol, self.common.requests
        data = self._buffer.wrap(body)
        if self.newest:
            data = self._accessor(data)
        parsed = requests.AbstractRequest.parseRequest(protocol.ApiKeys.forId(api.key), version, data)
        request = get_field(parsed, "request")
        response = request.getErrorResponse(0, protocol.Errors.forCode(error).exception())
        return self.write(response.data(), version)

    def to_json(self, message: Any, version: int) -> str:
        """The message in JSON, as in Kafka's request log."""
        return str(self._converter(message).write(message, version).toString())

    def from_json(self, cls: type[Message], text: str, version: int) -> Any:
        """Kafka's message from this JSON."""
        node = self._jackson().readTree(text)
        return self._converter(self.message(cls)).read(node, version)

    def _converter(self, message: Any) -> Any:
        name = str(message.getClass().getSimpleName())
        if name not in self._converters:
            self._converters[name] = getattr(self.common.message, f"{name}JsonConverter")
        return self._converters[name]

    def _jackson(self) -> Any:
        return self.gateway.jvm.com.fasterxml.jackson.databind.ObjectMapper()
