"""The two clusters of one node each: one with Kafka's own authorizer, and one without an authorizer.

Clients authenticate by SASL PLAIN, all with the same password; clients of the trusted port may do everything.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from tests.acl.names import SUPER_USER
from tests.real.archive import CLUSTER_ID, loaded
from tests.real.cluster import JARS, JVM, LOGGING, START
from tests.real.jars import classpath
from tests.real.java import java
from tests.real.ports import free_block
from tests.real.process import Program

HOST = "127.0.0.1"
PASSWORD = "secret"
SETTINGS = """
node.id=1
process.roles=broker,controller
controller.quorum.voters=1@{host}:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=TRUSTED
listeners=TRUSTED://{host}:{trusted},CONTROLLER://{host}:{controller},CLIENTS://{host}:{clients}
advertised.listeners=TRUSTED://{host}:{trusted},CLIENTS://{host}:{clients}
listener.security.protocol.map=TRUSTED:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_PLAINTEXT
log.dirs={folder}/data
sasl.enabled.mechanisms=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required {users};
delegation.token.secret.key=secret
group.coordinator.rebalance.protocols=classic,consumer,share,streams
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.cleaner.enable=false
log.index.size.max.bytes=65536
num.network.threads=2
num.io.threads=2
background.threads=2
"""
AUTHORIZER = f"""
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:{SUPER_USER}
"""
UNMATCHED = {"deny": "", "allow": "allow.everyone.if.no.acl.found=true\n"}


class Node:
    """One broker that is its own controller; a context that ends it."""

    def __init__(self, folder: Path, users: Iterable[str], more: str = "") -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.trusted = free_block(3, HOST)
        self.clients, controller = self.trusted + 1, self.trusted + 2
        self.settings = folder / "server.properties"
        text = SETTINGS.format(
            host=HOST,
            folder=folder,
            trusted=self.trusted,
            clients=self.clients,
            controller=controller,
            users=" ".join(f'user_{name}="{PASSWORD}"' for name in users),
        )
        self.settings.write_text(text + more)
        format_disk = self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c")
        assert format_disk.wait(START) == 0, format_disk.tail()
        self.program = self._run("kafka.Kafka")

    def __enter__(self) -> Self:
        try:
            self.program.expect("Kafka Server started", within=START)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.program.kill()  # its data is not needed again
        shutil.rmtree(self.folder / "data", ignore_errors=True)

    def _run(self, main: str, *arguments: str) -> Program:
        flags = [*JVM, *loaded(JARS), *LOGGING]
        command = [java(), *flags, "-cp", classpath(JARS), main, *arguments, str(self.settings)]
        return Program(self.folder.name, command, self.settings.with_name("broker.log"))
