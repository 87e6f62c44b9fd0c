"""Keys and tokens fetched over HTTP, from a small local server."""

from __future__ import annotations

import gzip
import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trio
from pydantic import SecretStr
from structlog.testing import capture_logs

from proxy.auth.keys import LARGEST
from proxy.config.sasl import Oauthbearer, TokenClient
from proxy.net import fetching
from proxy.net.fetching import FetchedKeys, FetchedToken
from tests.certificates import Authority
from tests.proxy.auth.issuer import Issuer
from tests.real.ports import free_port

PATIENCE = 60.0


class Elsewhere(ThreadingHTTPServer):
    """Answers every request with `says`."""

    scheme = "http"
    says: Any = ""
    asked = 0
    body = ""
    authorization: str | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    server: Elsewhere

    def do_GET(self) -> None:
        self.server.asked += 1
        self.server.authorization = self.headers["Authorization"]
        self.server.body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        said = self.server.says
        self.send_response(200 if said else 500)
        if isinstance(said, bytes):
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(said if isinstance(said, bytes) else said.encode())

    do_POST = do_GET  # noqa: N815 - the names that http.server calls

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def until(condition: Any) -> None:
    with trio.fail_after(PATIENCE):
        while not condition():
            await trio.sleep(0.01)


async def test_keys_are_fetched_again_when_one_is_missing(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SOONEST", 0.05)
    elsewhere.says = Issuer("k1").jwks
    keys = FetchedKeys(elsewhere.url, Oauthbearer())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keys.watch)
        await until(lambda: [key.kid for key in keys.keys.keys] == ["k1"])
        elsewhere.says = Issuer("k2").jwks
        keys.missing()
        await until(lambda: [key.kid for key in keys.keys.keys] == ["k2"])
        elsewhere.says = "nonsense"
        asked = elsewhere.asked
        keys.missing()
        await until(lambda: elsewhere.asked > asked)
        assert [key.kid for key in keys.keys.keys] == ["k2"]
        nursery.cancel_scope.cancel()


def client(endpoint: str) -> TokenClient:
    return TokenClient(endpoint=endpoint, client_id="dk", client_secret=SecretStr("hunter2"), scope="kafka")


async def test_an_answer_that_is_too_large_is_not_read_further(elsewhere: Elsewhere) -> None:
    elsewhere.says = Issuer("k1").jwks.ljust(LARGEST + 1)
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(FetchedKeys(elsewhere.url, Oauthbearer()).watch)
            await until(lambda: logs)
            assert await FetchedToken(client(elsewhere.url))._fetch() is None
            nursery.cancel_scope.cancel()
    large = "the answer is larger than 1,024 KiB"
    assert [line["why"] for line in logs] == [large, large]


class Endless(socketserver.StreamRequestHandler):
    """Answers with `first`, and then with `again` every 20 ms, until nobody reads it any more."""

    server: EndlessServer

    def handle(self) -> None:
        self.rfile.readline()
        with suppress(OSError):
            self.wfile.write(self.server.first)
            while not self.server.ended.wait(0.02):
                self.wfile.write(self.server.again)
            return
        self.server.ended.set()


class EndlessServer(socketserver.ThreadingTCPServer):
    """An answer that does not end."""

    def __init__(self, first: bytes, again: bytes) -> None:
        self.first, self.again, self.ended = first, again, threading.Event()
        super().__init__(("127.0.0.1", 0), Endless)


class Once(socketserver.StreamRequestHandler):
    """Reads the head of a request, and answers with the bytes of its server."""

    server: OnceServer

    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        with suppress(OSError):
            self.wfile.write(self.server.answer)
            self.request.shutdown(socket.SHUT_WR)
            while self.rfile.read1():  # what is unread at the end would reset the connection
                pass


class OnceServer(socketserver.ThreadingTCPServer):
    """Answers each request with the same bytes."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        super().__init__(("127.0.0.1", 0), Once)


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """The URL of a server that answers with these bytes."""
    with OnceServer(answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
    ],
    ids=["nothing", "headers", "preliminary answers", "a body"],
)
async def test_an_answer_that_does_not_end_is_not_read_further_whatever_it_consists_of(
    first: bytes, again: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "WHOLE", 0.5)
    with EndlessServer(first, again) as server, capture_logs() as logs:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with trio.fail_after(PATIENCE):
                assert await FetchedToken(client(f"http://127.0.0.1:{server.server_address[1]}/"))._fetch() is None
            if again:
                await until(server.ended.is_set)
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
    assert [line["why"] for line in logs] == ["no whole answer within 0.5 s"]


async def test_an_answer_that_comes_compressed_all_the_same_is_not_expanded(elsewhere: Elsewhere) -> None:
    elsewhere.says = gzip.compress(Issuer("k1").jwks.encode())
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(FetchedKeys(elsewhere.url, Oauthbearer()).watch)
            await until(lambda: logs)
            nursery.cancel_scope.cancel()
    assert [line["event"] for line in logs] == ["keys not fetched"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"\r\n{\xff", "the keys (JWKS) are not UTF-8: 0xff at byte 1"),
        (b"X y\r\n\r\n", "a header of the answer is not valid"),
        (b"Content-Length: x\r\n\r\n", "the header Content-Length of the answer is not a number"),
        (b"Content-Length: 9\r\n\r\n{}", "the connection ended before the answer did"),
        (b"Transfer-Encoding: zip\r\n\r\n", "the answer is not valid HTTP/1.1"),
    ],
    ids=["not UTF-8", "a header without a colon", "no length", "a part", "an unknown coding"],
)
async def test_what_is_wrong_with_an_answer_is_said_in_our_words(answer: bytes, why: str) -> None:
    with answering(b"HTTP/1.1 200 OK\r\n" + answer) as url, capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(FetchedKeys(url, Oauthbearer()).watch)
            await until(lambda: logs)
            nursery.cancel_scope.cancel()
    assert [(line["event"], line["why"]) for line in logs] == [("keys not fetched", why)]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "the connection ended before the answer did"),
        (b"nonsense\r\n\r\n", "the answer does not begin with a status line of HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\n" + b"X" * 200_000, "the headers of the answer are too long"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://hunter2:x/\r\n\r\n",
            "the answer redirects to a URL that is not valid",
        ),
    ],
    ids=["nothing", "no HTTP", "long headers", "a redirect"],
)
async def test_what_is_wrong_with_an_answer_is_said_of_a_token_too(answer: bytes, why: str) -> None:
    with answering(answer) as url, capture_logs() as logs:
        assert await FetchedToken(client(url))._fetch() is None
    assert [(line["event"], line["why"]) for line in logs] == [("token not fetched", why)]


async def test_a_token_is_fetched_and_renewed_ahead_of_its_end(elsewhere: Elsewhere) -> None:
    elsewhere.says = json.dumps({"access_token": "first", "expires_in": 0.5})
    token = FetchedToken(client(elsewhere.url))
    assert token.current() is None
    async with trio.open_nursery() as nursery:
        await nursery.start(token.watch)
        assert token.current() == "first"
        assert "grant_type=client_credentials" in elsewhere.body
        assert "scope=kafka" in elsewhere.body
        elsewhere.says = json.dumps({"access_token": "second", "expires_in": 3600})
        await until(lambda: token.current() == "second")
        nursery.cancel_scope.cancel()


async def test_whom_we_trust_elsewhere_may_be_said(elsewhere: Elsewhere, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("elsewhere", "127.0.0.1"))
    elsewhere.socket = context.wrap_socket(elsewhere.socket, server_side=True)
    elsewhere.scheme = "https"
    elsewhere.says = Issuer("k1").jwks
    trusting = FetchedKeys(elsewhere.url, Oauthbearer(ca=str(authority.file)))
    unknown = FetchedKeys(elsewhere.url, Oauthbearer())
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trusting.watch)
            await until(lambda: len(trusting.keys.keys) == 1)
            nursery.start_soon(unknown.watch)
            await until(lambda: any(line["event"] == "keys not fetched" for line in lines))
            elsewhere.says = json.dumps({"access_token": "first", "expires_in": 60})
            token = FetchedToken(client(elsewhere.url).model_copy(update={"ca": str(authority.file)}))
            await nursery.start(token.watch)
            assert token.current() == "first"
            nursery.cancel_scope.cancel()
    (refused,) = (line for line in lines if line["event"] == "keys not fetched")
    assert refused["why"].startswith("no TLS: its certificate is not accepted: ")


async def test_nobody_there_is_said_to_be_nobody() -> None:
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            await nursery.start(FetchedToken(client(f"http://127.0.0.1:{free_port('127.0.0.1')}/")).watch)
            nursery.cancel_scope.cancel()
    assert [line["why"] for line in lines] == ["connection refused"]


ENDLESS = [f'{{"access_token": "first", "expires_in": {seconds}}}' for seconds in ("NaN", "1e999", '"nan"', "-1")]


HUGE = f'{{"access_token": "first", "expires_in": {"9" * 400}}}'
DEEP = "[" * 100_000


@pytest.mark.parametrize("answer", ["", "[]", "{}", '{"access_token": 7}', "no JSON", *ENDLESS, HUGE, DEEP])
async def test_no_token_is_said_without_secrets(elsewhere: Elsewhere, answer: str) -> None:
    elsewhere.says = answer
    token = FetchedToken(client(elsewhere.url))
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            await nursery.start(token.watch)
            nursery.cancel_scope.cancel()
    assert token.current() is None
    assert lines[0]["event"] == "token not fetched"
    assert "hunter2" not in str(lines)


async def test_a_question_that_cannot_be_asked_is_not_taken_for_an_answer(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "bogus://x")
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            await nursery.start(FetchedToken(client(elsewhere.url)).watch)
            nursery.cancel_scope.cancel()
    assert "bogus" in str(lines[0]["why"])


@pytest.mark.parametrize("url", ["http://dk:hunter2@127.0.0.1:{port}/t?key=hunter2", "http://127.0.0.1:1/?hunter2"])
async def test_what_may_be_secret_in_a_url_is_not_told(elsewhere: Elsewhere, url: str) -> None:
    url = url.format(port=elsewhere.server_port)
    keys = FetchedKeys(url, Oauthbearer())
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            await nursery.start(FetchedToken(client(url)).watch)
            nursery.start_soon(keys.watch)
            await until(lambda: any(line["event"] == "keys not fetched" for line in lines))
            nursery.cancel_scope.cancel()
    assert {line["event"] for line in lines} == {"token not fetched", "keys not fetched"}
    assert "127.0.0.1" in str(lines)
    assert "hunter2" not in str(lines)
