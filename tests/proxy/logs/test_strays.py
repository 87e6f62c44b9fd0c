"""Messages of libraries and of the interpreter become lines of the log."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proxy.logs.cut import LONG
from proxy.logs.strays import BURST, Library, Strays, Text
from tests.proxy.logs.written import Written

ROOT = Path(__file__).parents[3]


def said(code: str) -> list[dict[str, Any]]:
    """The lines of a process that logs, and does this."""
    program = f"from proxy import logs\nlogs.begin('json', worker=3)\n{code}\n"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    return [json.loads(line) for line in done.stderr.splitlines()]


@pytest.mark.parametrize(
    ("code", "event", "level", "contains"),
    [
        ("raise ValueError('a\\nb')", "ended by an error that nobody handled: a bug of the proxy", "critical", "a\\nb"),
        (
            "import threading; threading.Thread(target=lambda: 1 / 0).start()",
            "a thread ended by an error",
            "error",
            "/",
        ),
        ("class A:\n def __del__(self): raise ValueError('x')\nA()", "an error that nobody can handle", "error", "A"),
        ("import warnings; warnings.warn('mind this')", "a library says", "warning", "mind this"),
        ("import logging; logging.getLogger('h').error('%s\\n', 'odd')", "a library says", "error", "odd"),
        (
            "import logging; logging.getLogger('h').info('quiet'); print('x', file=__import__('sys').stderr)",
            "written to standard error",
            "warning",
            "x",
        ),
    ],
)
def test_it_is_one_line_with_what_stands_in_all_lines(code: str, event: str, level: str, contains: str) -> None:
    (line,) = said(code)
    assert (line["event"], line["level"], line["worker"]) == (event, level, 3)
    assert contains in json.dumps(line)


def test_the_last_line_is_written_before_the_process_ends() -> None:
    lines = said("import structlog\nfor n in range(500): structlog.get_logger().info('x', n=n)")
    assert [line["n"] for line in lines] == list(range(500))


def test_a_text_without_an_end_does_not_fill_the_memory() -> None:
    out, text = Written(), Text(Strays())
    for _ in range(100):
        text.write("x" * 1000)
    text.write("\n")
    (line,) = out.lines
    assert json.loads(line)["said"].endswith(f"({LONG} characters)")


def test_a_library_that_says_too_much_is_throttled_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("proxy.logs.bucket.time.monotonic", lambda: now)
    out, strays = Written(), Strays()
    text, library = Text(strays), Library(strays)
    for number in range(500):
        text.write(f"line {number}\nand ")
        library.handle(logging.LogRecord("h", 25, "", 1, "%d", ("no number",), None))
    assert len(out.lines) == BURST
    now = 1.0
    text.write("more\n")
    last = json.loads(out.lines[-1])
    assert last["said"] == "and more"
    assert last["left_out"] == 1000 - BURST
