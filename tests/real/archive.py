"""Kafka's classes as a JVM has them once it has loaded and verified them, kept for those that start later.

A broker loads nine thousand, which is half of what it takes to start. So one is started and ended before all others,
and leaves an archive (Java's class data sharing) beside the jars. A JVM that the archive does not fit does without, in
silence: another Java, other jars.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.real.jars import classpath, jars
from tests.real.java import java
from tests.real.ports import free_block
from tests.real.process import Program, ProgramError

HOST = "127.0.0.1"
CLUSTER_ID = "RG9vcmtlZXBlclJlYWwxMA"
ENDED = 128 + signal.SIGTERM  # by Java's own handler, once all is written
SECONDS = 120.0  # for each step on a busy machine; 5 are usual
UP = "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info"  # has a broker say that it is
JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", UP)
SETTINGS = """\
node.id=1
process.roles=broker,controller
controller.quorum.voters=1@{host}:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
log.cleaner.dedupe.buffer.size=4194304
"""


@cache
def loaded(name: str) -> tuple[str, ...]:
    """What `java` takes, besides the class path of the set `name`, to find its classes loaded."""
    folder = jars(name)
    version = subprocess.run([java(), "-version"], capture_output=True, check=False).stderr
    kept = folder.with_name(f"{name}-{hashlib.sha256(version).hexdigest()[:12]}.jsa")
    with (folder.parent / "archives").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            _keep(name, kept)
    # Where it does not fit, Java would say so among what the program says.
    return (f"-XX:SharedArchiveFile={kept}", "-Xshare:auto", "-Xlog:disable") if kept.exists() else ()


def _keep(name: str, kept: Path) -> None:
    """Start a broker and end it in good order. Where that fails there is no archive."""
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=kept.parent) as made:
        folder, port = Path(made), free_block(2, HOST)
        settings, archive = folder / "server.properties", folder / kept.name
        settings.write_text(SETTINGS.format(host=HOST, port=port, controller=port + 1, folder=folder))
        common = [*JVM, "-cp", classpath(name)]
        format_disk = [java(), *common, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(settings)]
        subprocess.run(format_disk, capture_output=True, check=False)
        broker = [java(), f"-XX:ArchiveClassesAtExit={archive}", *common, "kafka.Kafka", str(settings)]
        program = Program("broker for its archive", broker, folder / "broker.log")
        with suppress(ProgramError):
            program.expect("Kafka Server started", within=SECONDS)
            os.kill(program.pid, signal.SIGTERM)
            if program.wait(SECONDS) == ENDED and archive.exists():
                archive.rename(kept)
        program.kill()
