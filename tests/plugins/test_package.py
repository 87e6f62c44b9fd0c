"""Third-party plugins: a separate package, installed with pip into its own environment, and used."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from proxy.cli.demo.stage import HOST, addresses
from tests.real.ports import free_block, free_port

PACKAGE = Path(__file__).parent / "package"
ROOT = Path(__file__).parents[2]
SECONDS = 60.0

FILE = """\
clusters:
  main: {{bootstrap: ["{bootstrap}"]}}
listeners:
  clients: {{cluster: main, bind: "{host}:{port}", advertise: {host}}}
admin: {{bind: "{host}:{admin}"}}
workers: 2
plugins:
  - stamp: {{{options}}}
  - produced
  - stamp: {{text: again}}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which the package is installed, and Doorkeeper as it is in this clone."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    ours = sysconfig.get_paths()["purelib"]
    site = sysconfig.get_path("purelib", vars={"base": str(folder / "venv"), "platbase": str(folder / "venv")})
    Path(site, "doorkeeper.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    source = shutil.copytree(PACKAGE, folder / "package")
    install = ["install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", str(source)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True, timeout=SECONDS)
    return python


def doorkeeper(python: Path | str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-P", "-m", "proxy", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def written(folder: Path, options: str, **places: object) -> Path:
    """A configuration that uses the package's plugins."""
    file = folder / "gateway.yaml"
    file.write_text(
        FILE.format(**{"bootstrap": "kafka:9092", "host": HOST, "port": 9192, "admin": 9190} | places, options=options)
    )
    return file


def test_a_file_may_name_what_a_package_brings(python: Path, tmp_path: Path) -> None:
    result = doorkeeper(python, "check", str(written(tmp_path, "text: seen")))
    assert (result.returncode, result.stderr) == (0, "")


def test_its_options_are_checked_as_ours_are(python: Path, tmp_path: Path) -> None:
    file = written(tmp_path, "txt: seen")
    result = doorkeeper(python, "check", str(file))
    assert result.returncode == 1
    assert result.stdout + result.stderr == (
        f'{file}:8:13: unknown option "txt"; did you mean "text"?\n'
        f"{file}: further checks were left out for plugins.0 (stamp); mend that, and check again\n"
    )


def test_without_the_package_its_names_mean_nothing(tmp_path: Path) -> None:
    result = doorkeeper(sys.executable, "check", str(written(tmp_path, "text: seen")))
    assert result.returncode == 1
    assert 'unknown plugin "stamp"' in result.stdout + result.stderr


def test_its_own_tests_need_nothing_but_the_testing_kit(python: Path) -> None:
    tests = python.parents[2] / "package" / "tests"
    command = [str(python), "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
    result = subprocess.run(command, cwd=tests, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert result.returncode == 0, result.stdout
    assert "1 passed" in result.stdout


@contextmanager
def serving(python: Path, file: Path) -> Iterator[Path]:
    """Doorkeeper, until it listens and then to a clean end. Gives its log."""
    log = file.with_name("log")
    with log.open("wb") as output:
        command = [str(python), "-P", "-m", "proxy", "run", str(file), "--log", "text"]
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        until(lambda: "ready" in log.read_text(), log)
        yield log
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0, log.read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def until(done, log: Path) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


def test_a_proxy_runs_with_them_and_publishes_what_they_count(python: Path, tmp_path: Path) -> None:
    cluster = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    brokers = addresses(cluster)
    port, admin = free_block(3, HOST), free_port(HOST)  # broker 1 is served on port + 2
    file = written(tmp_path, "text: seen", bootstrap=next(iter(brokers.values())), port=port, admin=admin)
    with serving(python, file) as log:
        client = {"bootstrap.servers": f"{HOST}:{port}", "log_level": 0}
        producer = Producer(client)
        producer.produce("orders", b"value")
        assert producer.flush(SECONDS) == 0
        consumer = Consumer({**client, "group.id": "g", "auto.offset.reset": "earliest"})
        consumer.assign([TopicPartition("orders", number, 0) for number in range(4)])
        message = consumer.poll(SECONDS)
        assert message is not None
        assert message.headers() == [("stamp", b"seen"), ("stamp", b"again")]
        consumer.close()
        metrics = httpx.get(f"http://{HOST}:{admin}/metrics").text
    counted = re.findall(r'^doorkeeper_produced_requests_total\{.*worker="(\d)".*\} (\S+)$', metrics, re.MULTILINE)
    assert sorted(worker for worker, _ in counted) == ["0", "1"]
    assert sum(float(value) for _, value in counted) == 1
    for event in ("counting begins", "counting ends"):
        assert log.read_text().count(event) == 2, log.read_text()
    del cluster
