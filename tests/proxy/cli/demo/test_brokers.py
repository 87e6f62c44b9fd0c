"""Brokers in a separate process."""

from __future__ import annotations

import subprocess
import sys

from confluent_kafka import Producer

from proxy.cli.demo.brokers import MISSING
from proxy.cli.demo.stage import addresses

SECONDS = 30.0
WITHOUT = "import sys; sys.modules['confluent_kafka'] = None; from proxy.cli.demo.brokers import main; main()"


def test_it_says_where_they_are_and_they_answer() -> None:
    with subprocess.Popen([sys.executable, "-m", "proxy.cli.demo.brokers", "2"], stdout=subprocess.PIPE) as brokers:
        try:
            assert brokers.stdout is not None
            said = brokers.stdout.readline().decode().removeprefix("brokers ").strip().split(",")
            assert list(addresses(Producer({"bootstrap.servers": said[0]})).values()) == said
            assert len(said) == 2
        finally:
            brokers.kill()


def test_without_confluent_kafka_it_says_what_to_install() -> None:
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (result.returncode, result.stderr) == (1, f"{MISSING}\n")
