"""Kafka's own perf tools, against three real brokers: directly, and through each proxy that rewrites addresses.

Here the brokers and the Java clients share the machine with the proxy and take most of the time, so shares are nearer
to one than with the dummy brokers. The CPU time is still the proxy's own.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median

from tests.bench.contenders import Contender
from tests.bench.lane import Proxy
from tests.bench.report import number, table
from tests.bench.rig import HOST, Address, RigError
from tests.bench.workloads import DIRECT
from tests.real.cluster import JARS, Cluster
from tests.real.jars import classpath
from tests.real.java import java
from tests.real.ports import free_block

RECORDS, SIZE, ROUNDS = 200_000, 1024, 3
GB = RECORDS * SIZE / 1e9
PATIENCE = 180.0
TOOLS = ("produce", "consume")


def measure(present: Sequence[Contender], say: Callable[[str], None]) -> str:
    """The table of MB/s, shares of direct, and CPU seconds a GB."""
    contenders = [each for each in present if each.rewrites]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="doorkeeper-bench-") as scratch:
        say("three real brokers are starting")
        with Cluster(Path(scratch, "cluster")) as cluster:
            upstream = {node: Address(broker.host, broker.port) for node, broker in cluster.brokers.items()}
            for turn in range(ROUNDS):
                for contender in contenders if turn % 2 else contenders[::-1]:
                    say(f"Kafka's perf tools: round {turn + 1} of {ROUNDS}, {contender.name}")
                    topic = f"bench-{contender.name}-{turn}"
                    create(cluster.bootstrap, topic)
                    for name, *figures in through(contender, Path(scratch, topic), upstream, topic):
                        found.setdefault((name, contender.name), []).append((figures[0], figures[1]))
    others = [each.name for each in contenders if each.name != DIRECT]
    rows = []
    for tool in TOOLS:
        rates = {each.name: [rate for rate, _ in found[tool, each.name]] for each in contenders}
        shares = [median(a / b for a, b in zip(rates[name], rates[DIRECT], strict=True)) for name in others]
        rows.append([f"{tool}, share", f"{number(median(rates[DIRECT]))} MB/s", *map(number, shares)])
        costs = [median(cost for _, cost in found[tool, name]) for name in others]
        rows.append([f"{tool}, CPU s a GB", "", *map(number, costs)])
    return table([f"perf tools, {RECORDS:,} records of {SIZE} B", DIRECT, *others], rows)


def through(
    contender: Contender, folder: Path, upstream: dict[int, Address], topic: str
) -> Iterable[tuple[str, float, float]]:
    """One round through one contender: tool, MB/s, CPU seconds a GB of the proxy."""
    proxy = Proxy(contender, folder, upstream, free_block(2 + max(upstream), HOST))
    try:
        proxy.wait(topic)
        for tool, run in zip(TOOLS, (produce, consume), strict=True):
            before = proxy.cpu_seconds
            rate = run(str(proxy.bootstrap), topic)
            yield tool, rate, (proxy.cpu_seconds - before) / GB
    finally:
        proxy.stop()


def produce(bootstrap: str, topic: str) -> float:
    options = ["--topic", topic, "--num-records", f"{RECORDS}", "--record-size", f"{SIZE}", "--throughput", "-1"]
    said = tool("ProducerPerformance", "--bootstrap-server", bootstrap, *options, "--command-property", "acks=1")
    return float(re.findall(r"\(([\d.]+) MB/sec\)", said)[-1])


def consume(bootstrap: str, topic: str) -> float:
    options = ["--topic", topic, "--num-records", f"{RECORDS}", "--timeout", "60000", "--hide-header"]
    said = tool("ConsumerPerformance", "--bootstrap-server", bootstrap, *options)
    figures = re.findall(r"^\d{4}-.*", said, re.MULTILINE)[-1].split(", ")
    if int(figures[4]) < RECORDS:
        raise RigError(f"the consumer got {figures[4]} of {RECORDS} records")
    return float(figures[8])  # MB/s of fetching, without the time to join the group


def create(bootstrap: str, topic: str) -> None:
    options = ["--topic", topic, "--partitions", "3", "--replication-factor", "1"]
    tool("TopicCommand", "--bootstrap-server", bootstrap, "--create", *options)


def tool(name: str, *arguments: str) -> str:
    command = [java(), "-Xmx256m", "-cp", classpath(JARS), f"org.apache.kafka.tools.{name}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise RigError(f"{name} failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout
