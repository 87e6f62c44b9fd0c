"""Kafka's own command line tools, each run as a separate Java program."""

from __future__ import annotations

import subprocess
from typing import NamedTuple

from tests.real.archive import loaded
from tests.real.cluster import JARS
from tests.real.jars import classpath
from tests.real.java import java
from tests.real.way import Way

TOOLS = "org.apache.kafka.tools."
PLACES = {
    "ConfigCommand": "kafka.admin.",
    "ConsumerGroupCommand": TOOLS + "consumer.group.",
    "ShareGroupCommand": TOOLS + "consumer.group.",
    "ConsoleConsumer": TOOLS + "consumer.",
    "ConsoleShareConsumer": TOOLS + "consumer.",
    "ReassignPartitionsCommand": TOOLS + "reassign.",
}
# A tool runs for a second, so optimising compilation is not worth it.
JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
PATIENCE = 120.0


class Outcome(NamedTuple):
    """The result of a tool; `text` is its output, without parts that differ between the ways."""

    exit_code: int
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def tool(way: Way, name: str, *arguments: object, given: str = "") -> Outcome:
    """Run a tool against the cluster, with `given` on its standard input."""
    main = PLACES.get(name, TOOLS) + name
    asked = [str(argument) for argument in arguments]
    # Tools with subcommands expect the address before the subcommand, but one tool expects it after.
    place = 1 if name == "ClusterTool" else 0
    asked[place:place] = ["--bootstrap-server", way.bootstrap]
    command = [java(), *JVM, *loaded(JARS), QUIET, "-cp", classpath(JARS), main, *asked]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=PATIENCE)
    return Outcome(done.returncode, way.plain(done.stdout + done.stderr))


def works(way: Way, name: str, *arguments: object, given: str = "") -> Outcome:
    """Run a tool that must not fail."""
    outcome = tool(way, name, *arguments, given=given)
    assert outcome.exit_code == 0, f"{name} {arguments}:\n{outcome.text}"
    return outcome
