"""One line an event."""

import io
import json
from collections.abc import Iterator

import pytest
import structlog

from proxy import logs


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_a_line_is_json_where_nobody_watches() -> None:
    out = io.StringIO()
    logs.configure(stream=out)
    structlog.get_logger().bind(listener="clients", broker=1).info("client connected", client="10.0.0.1:5")
    (line,) = out.getvalue().splitlines()
    event = json.loads(line)
    assert list(event)[:3] == ["timestamp", "level", "event"]
    del event["timestamp"]
    about = {"listener": "clients", "broker": 1, "client": "10.0.0.1:5"}
    assert event == {"level": "info", "event": "client connected", **about}


def test_a_line_is_readable_on_a_terminal() -> None:
    out = Terminal()
    logs.configure(stream=out)
    structlog.get_logger().bind(listener="clients").warning("broker does not answer")
    assert "broker does not answer" in out.getvalue()
    assert "{" not in out.getvalue()


def test_json_can_be_asked_for_on_a_terminal_and_text_elsewhere() -> None:
    terminal, file = Terminal(), io.StringIO()
    logs.configure("json", stream=terminal)
    structlog.get_logger().info("started")
    assert json.loads(terminal.getvalue())["event"] == "started"
    logs.configure("text", stream=file)
    structlog.get_logger().info("started")
    assert file.getvalue().rstrip().endswith("started")


def test_a_secret_is_never_written() -> None:
    out = io.StringIO()
    logs.configure(stream=out)
    log = structlog.get_logger().bind(password="hunter2")
    log.info("x", sasl_auth_bytes=b"hunter2", ssl_privateKey="hunter2", token="hunter2")
    assert "hunter2" not in out.getvalue()
    assert out.getvalue().count("***") == 4


def test_what_json_cannot_write_is_written_as_text() -> None:
    out = io.StringIO()
    logs.configure(stream=out)
    structlog.get_logger().info("x", error=ValueError("no"), data=b"\\xff")
    assert "no" in json.loads(out.getvalue())["error"]


def test_what_a_client_says_cannot_write_to_the_terminal() -> None:
    out = Terminal()
    logs.configure(stream=out)
    structlog.get_logger().info("x", client_id="a\n\x1b[2Jb", other="\N{SNOWMAN}")
    assert "\\n\\x1b[2Jb" in out.getvalue()
    assert out.getvalue().count("\n") == 1
    assert "\N{SNOWMAN}" in out.getvalue()


def test_debug_lines_are_for_those_who_ask() -> None:
    out = io.StringIO()
    logs.configure(stream=out)
    structlog.get_logger().debug("detail")
    assert out.getvalue() == ""
    logs.configure(verbose=True, stream=out)
    structlog.get_logger().debug("detail")
    assert "detail" in out.getvalue()


def test_an_exception_stays_on_one_line_of_json() -> None:
    out = io.StringIO()
    logs.configure(stream=out)
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        structlog.get_logger().exception("handler failed")
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["exception"][0]["exc_value"] == "broken"


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_variables_of_a_traceback_are_not_written(form: logs.Format) -> None:
    out = io.StringIO()
    logs.configure(form, stream=out)

    def log_in(password: str) -> None:
        raise RuntimeError("broken")

    try:
        log_in("hunter" + str(2))
    except RuntimeError:
        structlog.get_logger().exception("handler failed")
    assert "log_in" in out.getvalue()
    assert "hunter2" not in out.getvalue()
