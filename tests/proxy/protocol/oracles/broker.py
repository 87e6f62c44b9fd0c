"""A real broker that denies everything to one user, and a client that asks what Kafka's own clients never would."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, cast

from proxy.protocol.codec import decode
from proxy.protocol.header import SIZE, read_response_header, request_frame
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.protocol.schema import Request, Response
from tests.real.cluster import CLUSTER_ID, JARS, JVM, LOGGING, START
from tests.real.jars import classpath
from tests.real.java import java
from tests.real.ports import free_block
from tests.real.process import Program

HOST = "127.0.0.1"
PATIENCE = 20.0  # seconds for an answer
SETTINGS = """
node.id=1
process.roles=broker,controller
controller.quorum.voters=1@{host}:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listeners=PLAINTEXT://{host}:{trusted},CONTROLLER://{host}:{controller},CLIENTS://{host}:{denied}
advertised.listeners=PLAINTEXT://{host}:{trusted},CLIENTS://{host}:{denied}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_PLAINTEXT
log.dirs={folder}/data
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
sasl.enabled.mechanisms=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_eve="secret";
group.coordinator.rebalance.protocols=classic,consumer,share,streams
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.cleaner.dedupe.buffer.size=4194304
"""


class DenyingBroker:
    """A broker where nobody may do anything, except who comes by the trusted port."""

    def __init__(self, folder: Path) -> None:
        self.trusted = free_block(3, HOST)
        self.denied, controller = self.trusted + 1, self.trusted + 2
        ports = {"trusted": self.trusted, "denied": self.denied, "controller": controller}
        self.settings = folder / "server.properties"
        self.settings.write_text(SETTINGS.format(host=HOST, folder=folder, **ports))
        format_disk = self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c")
        assert format_disk.wait(START) == 0, format_disk.tail()
        self._program = self._run("kafka.Kafka")

    def __enter__(self) -> DenyingBroker:
        try:
            self._program.expect("Kafka Server started", within=START)
        except BaseException:
            self._program.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._program.stop()

    def _run(self, main: str, *arguments: str) -> Program:
        command = [java(), *JVM, *LOGGING, "-cp", classpath(JARS), main, *arguments, str(self.settings)]
        return Program("denying broker", command, self.settings.with_name("broker.log"))


class Client:
    """One connection; one question at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=PATIENCE)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def log_in(self) -> None:
        self.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        answer = self.ask(SaslAuthenticateRequest(auth_bytes=b"\0eve\0secret"), 2)
        assert cast(SaslAuthenticateResponse, answer).error_code == 0, answer

    def ask(self, request: Request, version: int) -> Response:
        """The answer; EOFError where the broker closed instead."""
        self._socket.sendall(request_frame(request, version, 1, "test"))
        (size,) = SIZE.unpack(self._read(SIZE.size))
        frame = self._read(size)
        _, offset = read_response_header(request.api, version, frame)
        answer: Any = decode(request.api.response, version, frame[offset:])
        return cast(Response, answer)

    def _read(self, size: int) -> bytes:
        read = b""
        while len(read) < size:
            more = self._socket.recv(size - len(read))
            if not more:
                raise EOFError("the broker closed the connection")
            read += more
        return read
