"""`doorkeeper faults shrink`: the few firings with which a command still fails."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plugins.faults.replay import ReplayedFiring, read_firings, write_firings
from proxy.cli.shrunk_faults import shrink

# A test of somebody: faults fire 30 times, and it fails where two of these come together.
PLANTED = """\
import json, os, sys
record, replay = os.environ.get("DOORKEEPER_FAULTS_RECORD"), os.environ.get("DOORKEEPER_FAULTS_REPLAY")
if record:
    with open(record, "w") as file:
        for match in range(1, 31):
            print(json.dumps({"fault": "lost" if match % 2 else "slow", "match": match}), file=file)
    sys.exit(1)
with open(replay) as file:
    fired = [(it["fault"], it["match"]) for it in map(json.loads, file)]
sys.exit({("lost", 5), ("slow", 24)} <= set(fired))
"""


def shrunk(folder: Path, program: str) -> tuple[Result, Path]:
    out = folder / "shrunk.ledger"
    return CliRunner().invoke(shrink, ["--out", str(out), "--", sys.executable, "-c", program]), out


def test_the_two_of_thirty_firings_that_matter_are_found(tmp_path: Path) -> None:
    result, out = shrunk(tmp_path, PLANTED)
    assert result.exit_code == 0, result.output
    assert read_firings(out) == [ReplayedFiring("lost", 5), ReplayedFiring("slow", 24)]
    assert "it fails with these 2 of 30 firings:\n  lost at match 5\n  slow at match 24\n" in result.output
    assert f"DOORKEEPER_FAULTS_REPLAY={out} " in result.output


# A test that waits for a child of its own once fewer than its 30 firings come.
HANGING = """\
if replay and 0 < len(fired) < 30:
    child = "import sys, time; sys.stdout = open(sys.argv[1], 'w', 1); print('x'); time.sleep(60); print('y')"
    subprocess.run([sys.executable, "-c", child, PIPE])
"""


def test_when_the_time_is_over_the_least_so_far_is_told_and_no_process_is_left(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    reads = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    program = PLANTED.replace("import json, ", "import json, subprocess, ")
    program = program.replace("sys.exit({", HANGING.replace("PIPE", repr(str(pipe))) + "sys.exit({")
    out = tmp_path / "shrunk.ledger"
    result = CliRunner().invoke(shrink, ["--out", str(out), "--within", "8s", "--", sys.executable, "-c", program])
    assert result.exit_code == 0, result.output
    assert "the time is over; fewer may be enough, which more time (--within) would show\n" in result.stderr
    assert result.stdout.startswith("it fails with these 30 of 30 firings:\n")
    assert len(read_firings(out)) == 30
    os.set_blocking(reads, True)
    with open(reads) as file:
        assert file.read() == "x\n"  # the end comes once no process has the pipe, and the child wrote no more


def test_a_command_that_takes_longer_than_it_may_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        shrink, ["--within", "100ms", "--", sys.executable, "-c", "import time; time.sleep(600)"]
    )
    assert result.exit_code == 1
    assert result.output == "the time was over before the search began; give it more with --within, or run less\n"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "the command does not fail; there is nothing to shrink\n"),
        ("raise SystemExit(1)", "the command fails, and no fault fired in it; "),
        (PLANTED + "sys.exit(1)", "the command fails without any fault, too\n"),
        (PLANTED.replace("<= set(fired)", "< set()"), "the command does not fail with the same firings once more"),
    ],
)
def test_what_cannot_be_shrunk_is_told_in_a_line(tmp_path: Path, program: str, said: str) -> None:
    if "<= set" in program and program.endswith("sys.exit(1)"):
        program = program.replace("sys.exit({", "({")
    result, out = shrunk(tmp_path, program)
    assert result.exit_code == 1
    assert said in result.output
    assert not out.exists()


def test_the_last_lines_of_a_command_that_fails_by_something_else_are_shown(tmp_path: Path) -> None:
    program = "import sys; print(*range(20000), sep=chr(10), flush=True); sys.exit('no such test')"
    result, _ = shrunk(tmp_path, program)
    assert result.exit_code == 1
    assert result.stderr.startswith("the command fails, and no fault fired in it; ")
    last = [str(number) for number in range(19991, 20000)]
    assert result.stderr.splitlines()[1:] == ["the command said last:", *last, "no such test"]


def test_a_place_that_cannot_be_written_is_told_before_the_runs(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = f"open({str(ran)!r}, 'w'); raise SystemExit(1)"
    for out, why in ((tmp_path, "Is a directory"), (tmp_path / "none" / "out", "No such file or directory")):
        result = CliRunner().invoke(shrink, ["--out", str(out), "--", sys.executable, "-c", program])
        assert result.output == f"{out}: cannot be written ({why}); name another file with --out\n"
        assert result.exit_code == 1
    assert not ran.exists()


def test_an_older_result_stays_until_there_is_a_new_one(tmp_path: Path) -> None:
    write_firings(tmp_path / "shrunk.ledger", [ReplayedFiring("lost", 1)])
    result, out = shrunk(tmp_path, "")
    assert result.exit_code == 1
    assert read_firings(out) == [ReplayedFiring("lost", 1)]


def test_what_is_found_is_printed_even_if_it_can_no_longer_be_written(tmp_path: Path) -> None:
    (folder := tmp_path / "folder").mkdir()
    result, out = shrunk(folder, f"import shutil; shutil.rmtree({str(folder)!r}, True)\n" + PLANTED)
    assert result.exit_code == 1
    assert "it fails with these 2 of 30 firings:\n  lost at match 5\n  slow at match 24\n" in result.stdout
    way_out = "name another file with --out"
    assert result.stderr.endswith(f"{out}: cannot be written (No such file or directory); {way_out}\n")


FIXTURE = """\
from confluent_kafka import Producer

def is_refused(bootstrap):
    told = []
    producer = Producer({"bootstrap.servers": bootstrap, "retries": 0, "log_level": 0})
    producer.produce("orders", b"x", on_delivery=lambda error, _: told.append(error))
    producer.flush(30)
    return told[0] is not None

def test_orders(kafka_faults):
    with kafka_faults.on("Produce", topic="orders").reply("TOPIC_AUTHORIZATION_FAILED"):
        refused = {number for number in range(1, SENT + 1) if is_refused(kafka_faults.bootstrap)}
    assert not PLANTED <= refused
"""


@pytest.mark.parametrize(("sent", "planted"), [(2, [2]), pytest.param(30, [5, 24], marks=pytest.mark.long)])
def test_what_matters_is_found_in_a_test_with_the_fixture(tmp_path: Path, sent: int, planted: list[int]) -> None:
    """Each run takes some seconds, most of which are its brokers and its proxy."""
    program = FIXTURE.replace("SENT", str(sent)).replace("PLANTED", repr(set(planted)))
    (tmp_path / "test_orders.py").write_text(program)
    command = [sys.executable, "-m", "pytest", "-p", "chaos.pytest_plugin", str(tmp_path / "test_orders.py")]
    out = tmp_path / "shrunk.ledger"
    result = CliRunner().invoke(shrink, ["--out", str(out), "--", *command])
    assert result.exit_code == 0, result.output
    assert [firing.match for firing in read_firings(out)] == planted


def test_a_command_that_is_not_there_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(shrink, ["--", str(tmp_path / "none")])
    assert result.exit_code == 1
    assert result.output == f"{tmp_path}/none: cannot be run (No such file or directory); check its name\n"
