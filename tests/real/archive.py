"""An archive of Kafka's loaded and verified classes, with which JVMs start faster (Java's class data sharing).

A broker loads nine thousand classes, which takes half of its start. So one broker is started and ended before all
others, and leaves an archive beside the jars. A JVM that the archive does not fit (another Java, other jars) silently
starts without it.
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
ENDED = 128 + signal.SIGTERM  # the exit code of Java's own SIGTERM handler, which writes the archive first
SECONDS = 120.0  # for each step on a busy machine; 5 is usual
UP = "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info"  # lets a broker log that it has started
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
    """The options of `java` for the archive of the set `name`; none where there is no archive."""
    folder = jars(name)
    version = subprocess.run([java(), "-version"], capture_output=True, check=False).stderr
    kept = folder.with_name(f"{name}-{hashlib.sha256(version).hexdigest()[:12]}.jsa")
    with (folder.parent / "archives").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            _keep(name, kept)
    # Without the last option Java would print a warning into the program's output where the archive does not fit.
    return (f"-XX:SharedArchiveFile={kept}", "-Xshare:auto", "-Xlog:disable") if kept.exists() else ()


def _keep(name: str, kept: Path) -> None:
    """Start a broker and shut it down cleanly, to write the archive. Where that fails there is no archive."""
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
