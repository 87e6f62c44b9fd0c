"""Three real Kafka brokers: each a broker and a controller, in one quorum, on loopback.

Every broker has its own address (127.0.0.11, .12, .13), which no proxy advertises: a client that receives one of
these has seen a leak.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from tests.real.archive import CLUSTER_ID, UP, loaded
from tests.real.jars import classpath
from tests.real.java import java
from tests.real.ports import free_port
from tests.real.process import Program
from tests.real.way import Way

JARS = "kafka-4.3.1"
BROKERS = (1, 2, 3)
START = 120.0  # seconds until a broker must have started on a busy machine; 10 is usual
# One compiler tier and the serial collector: a broker is up in half the time and needs half the memory.
JVM = ("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")
# Warnings, and the one line that says that a broker is up.
LOGGING = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    UP,
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.showThreadName=false",
    "-Dorg.slf4j.simpleLogger.showShortLogName=true",
)

SETTINGS = """
process.roles=broker,controller
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
num.partitions=3
default.replication.factor=3
offsets.topic.num.partitions=5
offsets.topic.replication.factor=3
transaction.state.log.num.partitions=5
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=3
share.coordinator.state.topic.replication.factor=3
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.consumer.heartbeat.interval.ms=500
group.consumer.min.heartbeat.interval.ms=500
group.share.heartbeat.interval.ms=500
group.share.min.heartbeat.interval.ms=500
group.streams.heartbeat.interval.ms=500
group.streams.min.heartbeat.interval.ms=500
group.streams.initial.rebalance.delay.ms=0
# A dead broker is noticed, and its partitions led by others, within seconds.
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
replica.lag.time.max.ms=5000
controlled.shutdown.max.retries=1
# Little memory and few threads: three brokers share a small machine with their clients.
log.cleaner.dedupe.buffer.size=4194304
num.network.threads=2
num.io.threads=4
num.recovery.threads.per.data.dir=1
background.threads=2
"""


class Broker:
    """One broker: its address, settings and current process. `flags` are JVM options, `users` SCRAM credentials."""

    flags: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    def __init__(self, node_id: int, folder: Path) -> None:
        self.node_id = node_id
        self.folder = folder
        self.host = f"127.0.0.{10 + node_id}"
        self.port = free_port(self.host)
        self.controller_port = free_port(self.host)
        self.log = folder / "broker.log"
        self._program: Program | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def voter(self) -> str:
        return f"{self.node_id}@{self.host}:{self.controller_port}"

    @property
    def listeners(self) -> dict[str, str]:
        """The addresses of its listeners, by name."""
        return {"PLAINTEXT": self.address, "CONTROLLER": f"{self.host}:{self.controller_port}"}

    def settings(self, voters: str) -> str:
        """The text of its server.properties; where a setting occurs twice, the last one counts."""
        listeners = ",".join(f"{name}://{address}" for name, address in self.listeners.items())
        own = {
            "node.id": self.node_id,
            "controller.quorum.voters": voters,
            "listeners": listeners,
            "advertised.listeners": listeners,
            "log.dirs": self.folder / "data",
        }
        return "".join(f"{name}={value}\n" for name, value in own.items()) + SETTINGS

    def format(self, voters: str) -> None:
        """Write the settings, and prepare the empty disk."""
        self.folder.mkdir(parents=True)
        (self.folder / "server.properties").write_text(self.settings(voters))
        users = [argument for user in self.users for argument in ("--add-scram", user)]
        storage = self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, *users, "-c")
        if storage.wait(START):
            raise AssertionError(f"broker {self.node_id}: its disk was not formatted:\n{storage.tail()}")

    def start(self) -> None:
        """Start it, without waiting."""
        self._program = self._run("kafka.Kafka")

    def ready(self) -> None:
        """Wait until it serves."""
        self.program.expect("Kafka Server started", within=START)

    def stop(self) -> None:
        """Shut it down in good order."""
        self.program.stop()

    def kill(self) -> None:
        """Kill it at any moment (SIGKILL)."""
        self.program.kill()

    def restart(self) -> None:
        """Start it again with its old disk."""
        self.program.kill()
        self.start()
        self.ready()

    @property
    def running(self) -> bool:
        return self._program is not None and self._program.running

    @property
    def program(self) -> Program:
        assert self._program is not None, f"broker {self.node_id} was never started"
        return self._program

    def _run(self, main: str, *arguments: str) -> Program:
        command = [java(), *JVM, *loaded(JARS), *LOGGING, *self.flags, "-cp", classpath(JARS), main, *arguments]
        command.append(str(self.folder / "server.properties"))
        return Program(f"broker {self.node_id}", command, self.log)


class Cluster:
    """All brokers; a context that always stops them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.brokers = {node_id: self.broker(node_id, folder / f"broker-{node_id}") for node_id in BROKERS}

    def broker(self, node_id: int, folder: Path) -> Broker:
        """One of them, not started yet."""
        return Broker(node_id, folder)

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.address for broker in self.brokers.values())

    @property
    def endpoints(self) -> dict[tuple[str, int], int]:
        """Every address of a broker, with its node id."""
        places = {}
        for node_id, broker in self.brokers.items():
            places[broker.host, broker.port] = places[broker.host, broker.controller_port] = node_id
        return places

    @property
    def programs(self) -> list[Program]:
        """Every broker's current process."""
        return [broker.program for broker in self.brokers.values()]

    @property
    def way(self) -> Way:
        """The direct way from clients to the brokers."""
        return Way("direct", self.bootstrap, {f"{host}:{port}": node for (host, port), node in self.endpoints.items()})

    def __enter__(self) -> Cluster:
        voters = ",".join(broker.voter for broker in self.brokers.values())
        try:
            with ThreadPoolExecutor() as together:
                list(together.map(lambda broker: broker.format(voters), self.brokers.values()))
            for broker in self.brokers.values():
                broker.start()
            for broker in self.brokers.values():
                broker.ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def heal(self) -> None:
        """Restart every broker that a test killed."""
        for broker in self.brokers.values():
            if not broker.running:
                broker.restart()

    def stop(self) -> None:
        """End every broker and drop its data; the logs stay."""
        for broker in self.brokers.values():
            if broker.running:
                broker.kill()  # their data is not needed again, and a clean shutdown takes many seconds
            shutil.rmtree(broker.folder / "data", ignore_errors=True)
