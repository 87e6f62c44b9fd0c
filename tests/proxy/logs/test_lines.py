"""One line for each event, whatever untrusted text it contains."""

from __future__ import annotations

import json
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy import logs
from proxy.logs.cut import LONG
from proxy.logs.lines import FRAMES, LONGEST
from tests.proxy.logs.written import Written

FORMS: list[Any] = ["text", "json"]


def test_a_line_is_json_where_nobody_watches() -> None:
    out = Written()
    structlog.get_logger().bind(listener="clients", broker=1).info("client connected", client="10.0.0.1:5")
    (line,) = out.lines
    event = json.loads(line)
    assert list(event)[:3] == ["timestamp", "level", "event"]
    del event["timestamp"]
    about = {"listener": "clients", "broker": 1, "client": "10.0.0.1:5"}
    assert event == {"level": "info", "event": "client connected", **about}


def test_a_line_is_readable_on_a_terminal() -> None:
    out = Written(terminal=True)
    structlog.get_logger().bind(listener="clients").warning("broker does not answer")
    assert "broker does not answer" in out.text
    assert "{" not in out.text


def test_json_can_be_asked_for_on_a_terminal_and_text_elsewhere() -> None:
    out = Written("json", terminal=True)
    structlog.get_logger().info("started")
    assert json.loads(out.text)["event"] == "started"
    out = Written("text")
    structlog.get_logger().info("started")
    assert out.text.rstrip().endswith("started")


def test_a_secret_is_never_written() -> None:
    out = Written()
    log = structlog.get_logger().bind(password="hunter2")
    log.info("x", sasl_auth_bytes=b"hunter2", ssl_privateKey="hunter2", token="hunter2")
    assert "hunter2" not in out.text
    assert out.text.count("***") == 4


class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_what_is_no_plain_value_is_written_as_text_and_never_fails() -> None:
    out = Written()
    structlog.get_logger().info("x", error=ValueError("no"), data=b"\xff", odd=Unspeakable(), names={"a": ("b", 1)})
    event = json.loads(out.text)
    assert event["error"] == "no"
    assert event["data"] == "b'\\xff'"
    assert event["odd"] == "<Unspeakable>"
    assert event["names"] == {"a": ["b", 1]}


def test_what_a_client_says_cannot_write_to_the_terminal() -> None:
    out = Written(terminal=True)
    structlog.get_logger().info("x", client_id="a\n\x1b[2Jb", names=["c\x1b[2Jd"], other="\N{SNOWMAN}")
    assert "\\n\\x1b[2Jb" in out.text
    assert "\x1b[2J" not in out.text
    assert len(out.text.splitlines()) == 1
    assert "\N{SNOWMAN}" in out.text


@pytest.mark.parametrize("form", FORMS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.text(st.characters(), max_size=50))
def test_no_control_character_of_anybody_is_written(form: logs.Format, said: str) -> None:
    out = Written(form)
    try:
        raise ValueError(said)
    except ValueError:
        structlog.get_logger().exception(said, name=said, names=[said, {said: said}], error=ValueError(said))
    for line in out.text.split("\n"):
        assert line.isprintable()
    _, *traceback = out.text.splitlines()
    assert form == "text" or not traceback
    assert all(line.startswith("    ") for line in traceback)


@pytest.mark.parametrize("form", FORMS)
def test_a_line_is_bounded_whatever_is_in_it(form: logs.Format) -> None:
    def fall(depth: int) -> None:
        if depth:
            fall(depth - 1)
        raise ValueError("y" * 1_000_000)

    out = Written(form)
    try:
        fall(200)
    except ValueError:
        structlog.get_logger().exception("x", name="x" * 1_000_000, names=["x"] * 1_000_000)
    assert len(out.text) < LONG + LONGEST + 200 * FRAMES + 2000
    assert "(1000000 characters)" in out.text
    assert "(1000000 items)" in out.text.encode().decode("unicode_escape")


def test_debug_lines_are_for_those_who_ask() -> None:
    out = Written()
    structlog.get_logger().debug("detail")
    assert out.text == ""
    out = Written(verbose=True)
    structlog.get_logger().debug("detail")
    assert "detail" in out.text


def test_an_exception_stays_on_one_line_of_json() -> None:
    out = Written()
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        structlog.get_logger().exception("handler failed")
    (line,) = out.lines
    assert "\n" not in line
    assert json.loads(line)["exception"][0]["exc_value"] == "broken"


@pytest.mark.parametrize("form", FORMS)
def test_the_variables_of_a_traceback_are_not_written(form: logs.Format) -> None:
    out = Written(form)

    def log_in(password: str) -> None:
        raise RuntimeError("broken")

    try:
        log_in("hunter" + str(2))
    except RuntimeError:
        structlog.get_logger().exception("handler failed")
    assert "log_in" in out.text
    assert "hunter2" not in out.text
