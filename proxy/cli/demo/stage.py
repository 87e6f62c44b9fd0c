"""The stage: three brokers, and the proxy in front of them as a process of its own, as a user would run it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer

from chaos.ports import HOST, RANGE, free_blocks

BROKERS = 3
SECONDS_TO_START = 30.0
SECONDS_TO_STOP = 15.0
SECONDS_BETWEEN_LOOKS = 0.05

JOURNAL = "journal"  # its folder, beside the configuration
CONFIGURATION = """\
clusters:
  main: {{bootstrap: [{bootstrap}]}}
listeners:
  clients:
    cluster: main
    bind: {host}:{port}
    advertise: {host}
plugins:
  - acl: {{rules: acl.yaml}}
  - faults: {{rules: faults.yaml}}
  - audit: {{journal: journal}}
"""
RULES = """\
unmatched: allow
acls:
  - {deny: User:*, to: All, topics: secrets}
"""
FAULTS = """\
faults:
  - name: lost-ack
    match: {api: Produce, topic: payments}
    when: {times: 1}
    do: {disconnect: after_broker}
"""


class NotSeen(Exception):  # noqa: N818 - the word of this demo
    """Something that should have happened in this run, and did not."""


class Stage(NamedTuple):
    """What is running: the brokers' own addresses, the proxy's address, its configuration, and its files."""

    brokers: dict[int, str]
    proxy: str
    configuration: str
    rules: str
    faults: str


@contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    """Run brokers and proxy for the length of a `with` block. Their files stay. Raises NotSeen."""
    # The mock cluster lives as long as this producer, which is used for nothing else.
    cluster = Producer({"test.mock.num.brokers": BROKERS, "log_level": 0})
    brokers = addresses(cluster)
    port = free_port()
    text = CONFIGURATION.format(bootstrap=next(iter(brokers.values())), host=HOST, port=port)
    file = folder / "gateway.yaml"
    file.write_text(text)
    file.with_name("acl.yaml").write_text(RULES)
    file.with_name("faults.yaml").write_text(FAULTS)
    with _proxy(file, port):
        yield Stage(brokers, f"{HOST}:{port}", text, RULES, FAULTS)
    del cluster


def addresses(client: Producer) -> dict[int, str]:
    """The brokers' addresses as this client learns them. Raises NotSeen."""
    try:
        known = client.list_topics(timeout=SECONDS_TO_START).brokers
    except Exception as error:
        raise NotSeen(f"an answer to Metadata: {error}") from None
    return {node_id: f"{broker.host}:{broker.port}" for node_id, broker in sorted(known.items())}


def free_port() -> int:
    """A port that is free, together with the ports on which the brokers will be served. Raises NotSeen."""
    for port in free_blocks(2 + BROKERS):  # broker N, counted from 1, is served on port + 1 + N
        return port
    raise NotSeen(f"free ports on this machine from {RANGE.start} to {RANGE.stop}; end what uses them")


@contextmanager
def _proxy(file: Path, port: int) -> Iterator[None]:
    log = file.with_name("doorkeeper.log")
    command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "text"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        _until_it_answers(process, port, log)
        yield
        process.send_signal(signal.SIGTERM)
        if process.wait(SECONDS_TO_STOP) != 0:
            raise NotSeen(f"a clean end of the proxy; it said:\n{log.read_text()}")
    except subprocess.TimeoutExpired:
        raise NotSeen(f"an end of the proxy within {SECONDS_TO_STOP:g} s; it said:\n{log.read_text()}") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _until_it_answers(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        else:
            return
    raise NotSeen(f"the proxy listening on port {port}; it said:\n{log.read_text()}")
