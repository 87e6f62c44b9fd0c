"""A journal on a remote file system: HDFS, served by a name node and a data node on this machine.

The reports are the same as those of a local copy, its seals included.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.plugins.audit.reports.journals import write_journal
from tests.plugins.audit.reports.months import DAY, MARCH, month
from tests.real.jars import classpath
from tests.real.java import java
from tests.real.process import Program

SECONDS = 120.0
HADOOP = "org.apache.hadoop"
ADDRESSES = (
    "dfs.namenode.http-address",
    "dfs.datanode.address",
    "dfs.datanode.http.address",
    "dfs.datanode.ipc.address",
)
ONLY = ("access", "completeness", "integrity")


class Hdfs:
    """A file system of one name node and one data node."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = "hdfs://127.0.0.1:0"
        self._configure()

    def start(self, stack: ExitStack) -> None:
        """Both, until the stack ends."""
        self.run(f"{HADOOP}.hdfs.server.namenode.NameNode", "-format", "-nonInteractive")
        name_node = self._started("namenode.NameNode", stack)
        said = name_node.expect("RPC up at", within=SECONDS).rstrip().rstrip(".")
        self.url = f"hdfs://127.0.0.1:{said.rpartition(':')[2]}"
        self._configure()
        self._started("datanode.DataNode", stack)
        name_node.expect("Processing first storage report", within=SECONDS)

    def run(self, program: str, *arguments: str) -> None:
        """Run a program of it, to its end."""
        done = subprocess.run(self._command(program, *arguments), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def _configure(self) -> None:
        settings = {
            "fs.defaultFS": self.url,
            "dfs.namenode.name.dir": str(self._folder / "names"),
            "dfs.datanode.data.dir": str(self._folder / "data"),
            "dfs.replication": "1",
            **dict.fromkeys(ADDRESSES, "127.0.0.1:0"),
        }
        each = (f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items())
        text = f"<configuration>{''.join(each)}</configuration>"
        for name in ("core-site.xml", "hdfs-site.xml"):  # what only the first says of HDFS gives way to its defaults
            (self._folder / name).write_text(text, encoding="utf-8")

    def _command(self, program: str, *arguments: str) -> tuple[str, ...]:
        return java(), "-Xmx256m", "-cp", f"{self._folder}:{classpath('hdfs-3.5.0')}", program, *arguments

    def _started(self, name: str, stack: ExitStack) -> Program:
        program = Program(name, self._command(f"{HADOOP}.hdfs.server.{name}"), self._folder / f"{name}.log")
        stack.callback(program.stop)
        return program


@pytest.fixture
def hdfs(tmp_path: Path) -> Iterator[Hdfs]:
    """A file system that is empty."""
    folder = tmp_path / "hdfs"
    folder.mkdir()
    with ExitStack() as stack:
        one = Hdfs(folder)
        one.start(stack)
        yield one


def report(journal: str, out: str, *more: str) -> subprocess.CompletedProcess[str]:
    only = (argument for name in ONLY for argument in ("--only", name))
    command = (sys.executable, "-m", "proxy", "report", journal, "--out", out, *only, *more)
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.long  # two minutes, with nothing else on the machine
def test_a_journal_on_a_remote_file_system_is_listed_read_and_kept_there_for_the_next_run(
    hdfs: Hdfs, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    write_journal(journal, [one for one in month(9, 60) if one.put < MARCH.timestamp() + 3 * DAY])
    hdfs.run(f"{HADOOP}.fs.FsShell", "-put", str(journal), "/journal")
    here = report(str(journal), str(tmp_path / "here"))
    assert here.returncode == 0, here.stderr
    for _ in range(2):  # the second time it is read from what the first left
        there = report(f"{hdfs.url}/journal", str(tmp_path / "there"), "--work", f"{hdfs.url}/work")
        assert there.returncode == 0, there.stderr
        for name in ONLY:
            written = (tmp_path / "there" / f"{name}.csv").read_bytes()
            assert written == (tmp_path / "here" / f"{name}.csv").read_bytes()
            assert written.count(b"\n") > 1
        page = (tmp_path / "there" / "index.html").read_text(encoding="utf-8")
        assert "The signatures of the journal were verified. Nothing was altered." in page
    assert not (tmp_path / "there" / "work").exists()
    nothing = report(f"{hdfs.url}/nothing", str(tmp_path / "nothing"))
    assert nothing.returncode == 1
    assert nothing.stderr.splitlines()[-1] == (
        f"{hdfs.url}/nothing: there is no segment of a journal; give the folder with date=... in it"
    )
