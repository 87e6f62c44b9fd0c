"""Bodies of requests: JSON, limited in size and time.

A body must have the content type `application/json`. A web page can make a browser send requests here, but not with
that type.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import trio
from starlette.requests import ClientDisconnect, Request

from proxy.admin.problems import HttpError
from proxy.text.plain import check_depth
from proxy.text.strict_json import strict_json
from proxy.text.yaml_document import DEEPEST

LARGEST = 1 << 20  # bytes
MOST = 50_000  # values: reading a megabyte of zeros stops this process for 30 ms, in whatever thread
WITHIN = 10.0  # seconds within which a body must arrive
CLOSE = {"connection": "close"}
# A megabyte takes a while, so it is read in a thread. Many threads would leave little time for the clients of Kafka.
_one_at_a_time = trio.CapacityLimiter(1)


async def read_json(request: Request) -> Any:
    """The value of a body. None if there is no body. Raises HttpError."""
    try:
        with trio.fail_after(WITHIN):
            body = bytes(await _read(request))
    except trio.TooSlowError:
        raise HttpError(408, f"the body did not come within {WITHIN:g} s", headers=CLOSE) from None
    except ClientDisconnect:  # nobody gets this answer; without one it would be a bug in the log
        raise HttpError(400, "the client left before the body was whole", headers=CLOSE) from None
    if not body:
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HttpError(415, 'the body must be JSON; send it with "Content-Type: application/json"')
    if body.count(b",") >= MOST:  # those in texts count too
        raise HttpError(413, f"the body has more than {MOST:,} values, or commas in its texts; send fewer at a time")
    try:
        return await trio.to_thread.run_sync(_parsed, body, limiter=_one_at_a_time)
    except RecursionError:
        raise HttpError(400, f"the body is nested more than {DEEPEST} levels deep") from None
    except UnicodeEncodeError:
        raise HttpError(400, "the body has half of a character, which no text may have: a \\ud800 alone") from None
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are subclasses
        raise HttpError(400, f"the body is no JSON: {error}") from None


def _parsed(body: bytes) -> Any:
    """The value of the JSON text. Raises RecursionError or ValueError."""
    value = strict_json(body.decode("utf-8-sig"))  # as bytes it might be UTF-16, or have halves of characters
    check_depth(value)
    if b"\\u" in body:
        json.dumps(value, ensure_ascii=False).encode()
    return value


async def _read(request: Request) -> bytearray:
    body = bytearray()  # it may arrive in very many pieces
    async with aclosing(request.stream()) as parts:
        async for part in parts:
            body += part
            if len(body) > LARGEST:
                raise HttpError(413, f"the body is larger than {LARGEST >> 20} MiB", headers=CLOSE)
    return body
