"""A body that cannot be read is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import trio
import trio.testing
from starlette.requests import Request
from starlette.types import Message

from proxy.admin.bodies import WITHIN, read_json
from proxy.admin.problems import HttpError
from tests.proxy.admin.served import asked


def many_names_and_one_twice() -> bytes:
    """It takes minutes to count each name by itself."""
    names = ",".join(f'"{number:x}":0' for number in range(45_000))
    return f'{{{names},"z":0,"z":0}}'.encode()


@pytest.mark.parametrize(
    ("body", "kind", "status", "detail"),
    [
        (b"{", "application/json", 400, "the body is no JSON: "),
        (b"\xff", "application/json", 400, "the body is no JSON: "),
        (b'{"do": "hold", "do": "drop"}', "application/json", 400, '"do" stands in one object twice'),
        (many_names_and_one_twice(), "application/json", 400, '"z" stands in one object twice'),
        (b'{"do": NaN}', "application/json", 400, "NaN is no JSON"),
        (b"[" * 30 + b"]" * 30, "application/json", 400, "the body is nested more than 20 levels deep"),
        (b'{"name": "\\ud800", "do": "hold"}', "application/json", 400, "the body has half of a character"),
        (b'{"name": "\xed\xa0\x80", "do": "hold"}', "application/json", 400, "the body is no JSON: "),
        ('{"name": "x", "do": "hold"}'.encode("utf-16"), "application/json", 400, "the body is no JSON: "),
        (b'{"do": ' + b"9" * 5_000 + b"}", "application/json", 400, "the body is no JSON: "),
        (b"[" * 100_000, "application/json", 400, "the body is nested more than 20 levels deep"),
        (b"[" + b"0," * 50_000 + b"0]", "application/json", 413, "the body has more than 50,000 values"),
        (b'{"do": "hold"}', "text/plain", 415, "the body must be JSON"),
    ],
)
async def test_a_body_that_cannot_be_read_is_one_problem(body: bytes, kind: str, status: int, detail: str) -> None:
    async with asked() as client:
        answer = await client.post("/faults", content=body, headers={"content-type": kind})
        assert answer.status_code == status
        assert detail in answer.json()["detail"]
        assert (await client.get("/faults")).json()["faults"] == []


async def test_a_body_that_does_not_come_is_not_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    async def never() -> AsyncIterator[bytes]:
        yield b"{"
        await trio.sleep_forever()

    async with asked() as client:
        answer = await client.post("/faults", content=never(), headers={"content-type": "application/json"})
        assert answer.status_code == 408
        assert answer.headers["connection"] == "close"
    assert trio.current_time() == WITHIN


async def test_a_client_that_leaves_before_its_body_is_whole_is_no_bug() -> None:
    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def receive() -> Message:
        return next(messages)

    with pytest.raises(HttpError, match="the client left"):
        await read_json(Request({"type": "http", "headers": []}, receive))


async def test_json_may_say_its_characters() -> None:
    async with asked() as client:
        headers = {"content-type": "Application/JSON; charset=utf-8"}
        assert (await client.post("/faults", content=b'{"do": "hold"}', headers=headers)).status_code == 201
