"""Nothing secret is written: secrets are planted wherever the proxy handles any, and all its output is searched.

The output is: the log at its most verbose level, responses of the admin API, the output of commands, the command lines
of its processes, and every new file.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import trio

from proxy.auth.identity import Password
from proxy.auth.speakers import Speaker
from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.config.load import examine_text
from proxy.core.decisions import Call
from proxy.protocol.header import request_frame
from proxy.protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from proxy.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from proxy.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.protocol.schema import Request
from tests.certificates import Authority
from tests.plugins.sasl import bearer, raw
from tests.proxy.auth.issuer import Issuer
from tests.proxy.net.scripted import LOOPBACK, Client, read_frame
from tests.proxy.net.test_fetching import Elsewhere, Handler
from tests.real.ports import free_block, free_port
from tests.real.process import Program
from tests.secrets.broker import SecretBroker
from tests.secrets.planted import Planted
from tests.secrets.spy import ENTRY_POINT

ROOT = Path(__file__).parents[2]
LONG = 60.0
PATIENCE = 20.0

CONFIGURATION = """\
clusters:
  plain:
    bootstrap: ["127.0.0.1:{broker}"]
    sasl: {{mechanism: PLAIN, username: doorkeeper, password: "${{BROKER_PASSWORD}}"}}
  scram:
    bootstrap: ["127.0.0.1:{broker}"]
    sasl: {{mechanism: SCRAM-SHA-512, username: {user}, password: "{password}"}}
  token:
    bootstrap: ["127.0.0.1:{broker}"]
    sasl:
      mechanism: OAUTHBEARER
      oauthbearer:
        endpoint: http://dk:{url_password}@127.0.0.1:{endpoint}/token?key={url_key}
        client_id: dk
        client_secret: ${{CLIENT_SECRET}}
  bare: {{bootstrap: ["127.0.0.1:{broker}"]}}
listeners:
  judged:
    cluster: plain
    bind: 127.0.0.1:{ports[0]}
    tls: {{certificate: server.pem, key: server.key, key_password: "${{KEY_PASSWORD}}"}}
    sasl:
      mechanisms: [PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER]
      credentials: users.yaml
      oauthbearer: {{jwks: keys.json, audience: kafka}}
  stored:
    cluster: scram
    bind: 127.0.0.1:{ports[1]}
    tls: {{keystore: server.p12, keystore_password: {store_password}}}
  tokens: {{cluster: token, bind: "127.0.0.1:{ports[2]}"}}
  passed: {{cluster: bare, bind: "127.0.0.1:{ports[3]}"}}
  falling: {{cluster: bare, bind: "127.0.0.1:{ports[4]}"}}
plugins: [spy, faults: {{}}]
admin: {{bind: "127.0.0.1:{admin}", token: "${{ADMIN_TOKEN}}"}}
workers: {workers}
"""
LISTENERS = ("judged", "stored", "tokens", "passed", "falling")
NEEDED = 8  # ports of a listener


class Stage:
    """A folder with everything that a proxy needs, with secrets planted in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.planted = plant = Planted()
        self.issuer = Issuer()
        self.hmac = plant.data("HMAC of a delegation token")
        self.alice, self.spied = plant.text("password of alice"), plant.text("password of spied")
        self.doorkeeper = plant.text("password of the proxy")
        self.admin_token = plant.text("token of the admin side")
        self.known = {
            "alice": verifiers(self.alice),
            "spied": verifiers(self.spied),
            "doorkeeper": verifiers(self.doorkeeper),
        }
        for user, kept in self.known.items():
            for mechanism, verifier in kept.items():
                plant.add(f"stored key of {user} for {mechanism}", verifier.stored_key)
                plant.add(f"server key of {user} for {mechanism}", verifier.server_key)
        save(folder / "users.yaml", self.known)
        (folder / "keys.json").write_text(self.issuer.jwks)
        authority = Authority(folder)
        self.key_password, self.store_password = plant.text("password of the key"), plant.text("password of the store")
        authority.issue("server", LOOPBACK, password=self.key_password)
        authority.store("server", LOOPBACK, password=self.store_password)
        self.trusting = ssl.create_default_context(cafile=str(authority.file))
        self.broker = SecretBroker(self.known, self.hmac)
        self.environment = {
            "ADMIN_TOKEN": self.admin_token,
            "BROKER_PASSWORD": self.doorkeeper,
            "CLIENT_SECRET": plant.text("client secret"),
            "KEY_PASSWORD": self.key_password,
        }
        package = folder / "spy-1.dist-info"
        package.mkdir()
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1\n")
        (package / "entry_points.txt").write_text(ENTRY_POINT)

    def configure(self, endpoint: int, workers: int = 1, user: str = "doorkeeper") -> Path:
        """Write the configuration: with a token endpoint at this port, and this user for the proxy at one cluster."""
        self.ports = [free_block(NEEDED, LOOPBACK) for _ in LISTENERS]
        self.admin = free_port(LOOPBACK)
        file = self.folder / "gateway.yaml"
        file.write_text(
            CONFIGURATION.format(
                broker=self.broker.port,
                endpoint=endpoint,
                user=user,
                password=self.doorkeeper,
                url_password=self.planted.text("a password in a URL"),
                url_key=self.planted.text("a key in a URL"),
                store_password=self.store_password,
                ports=self.ports,
                admin=self.admin,
                workers=workers,
            )
        )
        return file

    def at(self, listener: str) -> int:
        return self.ports[LISTENERS.index(listener)]

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "proxy", *arguments]

    @property
    def surroundings(self) -> dict[str, str]:
        return {"PYTHONPATH": f"{ROOT}:{self.folder}", "PYTHONFAULTHANDLER": "1", **self.environment}

    def said(self, *arguments: str, stdin: bytes = b"", **more: str) -> bytes:
        """All output of a command."""
        whole = {**os.environ, **self.surroundings, **more}
        done = subprocess.run(self.command(*arguments), input=stdin, capture_output=True, env=whole, timeout=LONG)
        assert b"Traceback" not in done.stderr
        return done.stdout + done.stderr


def frame(request: Request, version: int, number: int = 1) -> bytes:
    return request_frame(request, version, number, "a-client")


def handshake(mechanism: str, version: int = 1) -> bytes:
    return frame(SaslHandshakeRequest(mechanism=mechanism), version)


def token(data: bytes) -> bytes:
    return frame(SaslAuthenticateRequest(auth_bytes=data), 2, 2)


def plain(user: str, password: str) -> bytes:
    return b"\0" + user.encode() + b"\0" + password.encode()


def altered(salted: bytes) -> bytes:
    upsertion = AlterUserScramCredentialsRequest.Upsertion(
        name="bob", mechanism=1, iterations=4096, salt=salted[:16], salted_password=salted
    )
    return frame(AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion]), 0)


def configured(value: str) -> bytes:
    resource = IncrementalAlterConfigsRequest.Resource
    config = resource.Config(name="ssl.keystore.password", config_operation=0, value=value)
    change = resource(resource_type=4, resource_name="1", configs=[config])
    return frame(IncrementalAlterConfigsRequest(resources=[change], validate_only=False), 1)


async def converse(stage: Stage, listener: str, flight: Sequence[bytes]) -> None:
    """Send these parts, and after each wait for a response or the end of the connection."""
    with trio.move_on_after(PATIENCE), suppress(trio.BrokenResourceError, ssl.SSLError):
        stream = await trio.open_tcp_stream(LOOPBACK, stage.at(listener))
        async with stream:
            client = Client(stream)
            if listener in ("judged", "stored") and flight[0][:4] != b"GET ":
                sealed = trio.SSLStream(stream, stage.trusting, server_hostname=LOOPBACK, https_compatible=True)
                client = Client(sealed)  # type: ignore[arg-type]
            for part in flight:
                await client.send(part)
                if not await read_frame(client.stream):
                    break


async def scram(stage: Stage, listener: str, mechanism: str, password: str, at_all: bool) -> None:
    """Authenticate by SCRAM; with `at_all` this must succeed."""
    async with await trio.open_tcp_stream(LOOPBACK, stage.at(listener)) as stream:
        sealed = trio.SSLStream(stream, stage.trusting, server_hostname=LOOPBACK, https_compatible=True)
        client = Client(sealed if listener == "judged" else stream)  # type: ignore[arg-type]
        speaker: Speaker = Password(mechanism, "alice", password).speak()
        said: bytes | None = speaker.first()
        await client.send(handshake(mechanism))
        await read_frame(client.stream)
        while said is not None:
            answer = await client.ask(SaslAuthenticateRequest(auth_bytes=said), SaslAuthenticateResponse, 2)
            assert not (at_all and answer.error_code), answer.error_message
            reply = None if answer.error_code else speaker.answer(bytes(answer.auth_bytes))
            said = bytes(reply.work()) if isinstance(reply, Call) else reply


def flights(stage: Stage) -> list[tuple[str, list[bytes]]]:
    """Valid and broken conversations that contain secrets, each with its listener."""
    plant, now = stage.planted, time.time()
    wrong, unknown, typed = (plant.text(f"a {kind} password") for kind in ("wrong", "nobody's", "wrongly placed"))
    good, expired = stage.issuer.token(now), stage.issuer.token(now - 9000)
    damaged = stage.issuer.token(now, aud="others")[:-9] + plant.text("a damaged signature")
    for name, jwt in (("good", good), ("expired", expired)):
        plant.add(f"signature of the {name} token", jwt.rpartition(".")[2].encode())
    salted, config = plant.data("a salted password"), plant.text("a config of a broker")
    cut = token(plain("alice", stage.alice))
    everywhere: list[list[bytes]] = [
        [handshake("PLAIN"), token(plain("alice", stage.alice)), frame(MetadataRequest(topics=[]), 4)],
        [handshake("PLAIN"), token(plain("alice", wrong))],
        [handshake("PLAIN"), token(plain("nobody", unknown))],
        [handshake("PLAIN"), token(plain(typed, "x"))],
        [handshake("PLAIN"), token(plain("alice", stage.alice) + b"\xff")],
        [handshake("PLAIN"), token(b"\xff" + plain("alice", stage.alice)), token(b"again " + stage.alice.encode())],
        [handshake("PLAIN", 0), raw(plain("alice", stage.alice)), frame(MetadataRequest(topics=[]), 4)],
        [handshake("PLAIN", 0), raw(plain("alice", wrong) + b"\0\0")],
        [handshake("SCRAM-SHA-256"), token(b"n,,n=alice,r=" + wrong.encode()), token(b"c=biws,r=" + wrong.encode())],
        [handshake("OAUTHBEARER"), token(bearer(good)), frame(MetadataRequest(topics=[]), 4)],
        [handshake("OAUTHBEARER"), token(bearer(expired)), token(b"\x01")],
        [handshake("OAUTHBEARER"), token(bearer(damaged)), token(b"\x01")],
        [handshake("OAUTHBEARER"), token(b"auth=Bearer " + good.encode())],
        [token(plain("alice", stage.alice))],
        [handshake("PLAIN"), cut[:-9] + b"\x7f" + cut[-8:]],
        [handshake("PLAIN"), b"\0\0\0\x28" + cut[4:44]],
        [handshake("PLAIN"), cut[:12] + b"\xff\xff" + cut[14:]],
        [stage.alice.encode() + b"\r\n"],
        [b"\0\0\0\x18" + stage.alice.encode()],
        [b"GET /?password=" + stage.alice.encode() + b" HTTP/1.1\r\n\r\n"],
    ]
    spied: list[list[bytes]] = [
        [handshake("PLAIN"), token(plain("spied", stage.spied))],
        [frame(RenewDelegationTokenRequest(hmac=stage.hmac, renew_period_ms=-1), 2)],
        [frame(CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), 2)],
        [altered(salted)],
        [configured(config)],
        [frame(MetadataRequest(topics=[]), 4)],
    ]
    found = [(listener, flight) for listener in ("judged", "passed") for flight in everywhere]
    found += [("passed", flight) for flight in spied]
    return [*found, ("falling", [b"\0"]), ("stored", spied[-1]), ("tokens", spied[-1])]


def processes(program: Program) -> bytes:
    """The command lines of a program and of its child processes."""
    children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
    return b"\n".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (program.pid, *children))


@pytest.mark.parametrize("form", [bytes, base64.b64encode, bytes.hex, repr, quote, str, json.dumps])
@pytest.mark.parametrize("around", [0, 1, 2, 3])
def test_a_secret_is_known_again_in_any_form(form: Callable[[Any], Any], around: int) -> None:
    planted = Planted()
    text, data = planted.text("text").encode(), planted.data("data")
    for name, value in (("text", text), ("data", data)):
        shown = form((b"<" * around + value + b">" * around).decode("latin-1") if form is json.dumps else value)
        if form is base64.b64encode:
            shown = form(b"<" * around + value + b">" * around)
        assert planted.found(shown if isinstance(shown, bytes) else shown.encode()) == {name}
    assert planted.found(b"nothing of it") == set()


@pytest.fixture
def endpoint() -> Iterator[Elsewhere]:
    """The token endpoint of the proxy."""
    server = Elsewhere((LOOPBACK, 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def says(program: Program, *texts: str) -> None:
    await trio.to_thread.run_sync(partial(program.expect, *texts, within=LONG))


@asynccontextmanager
async def running(stage: Stage, form: str, file: Path) -> AsyncIterator[Program]:
    command = stage.command("run", "--verbose", "--log", form, str(file))
    program = Program("doorkeeper", command, stage.folder / "proxy.log", env=stage.surroundings)
    try:
        yield program
    finally:
        await trio.to_thread.run_sync(program.stop)


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("form", "workers"), [("text", 1), ("json", 2)])
async def test_nothing_secret_is_written_while_it_serves(
    tmp_path: Path, endpoint: Elsewhere, form: str, workers: int
) -> None:
    stage = Stage(tmp_path)
    written: list[bytes] = []
    endpoint.says = json.dumps({"access_token": stage.planted.text("an access token"), "expires_in": 3600})
    flown = flights(stage)
    async with trio.open_nursery() as nursery:
        await nursery.start(stage.broker.serve)
        file, before = stage.configure(endpoint.server_port, workers), files(tmp_path)
        async with running(stage, form, file) as program:
            for listener in LISTENERS:
                await says(program, "listening", listener)
            written.append(processes(program))
            await scram(stage, "judged", "SCRAM-SHA-256", stage.alice, True)
            await scram(stage, "passed", "SCRAM-SHA-512", stage.alice, True)
            await scram(stage, "judged", "SCRAM-SHA-512", stage.planted.text("a guess"), False)
            async with trio.open_nursery() as sky:
                for listener, flight in flown:
                    sky.start_soon(converse, stage, listener, flight)
            async with httpx.AsyncClient() as asking:
                for path in ("health", "metrics", "nothing"):
                    answer = await asking.get(f"http://{LOOPBACK}:{stage.admin}/{path}?key={stage.alice}")
                    written.append(answer.content)
                written += [content async for content in admin_answers(asking, stage)]
            spoil(stage)
            await says(program, "credentials not reloaded")
            await says(program, "certificates not reloaded")
        nursery.cancel_scope.cancel()
    log = (tmp_path / "proxy.log").read_bytes()
    for said in ("client authenticated", "authentication failed", "handler failed", "no TLS", "access granted"):
        assert said.encode() in log, f"the flights did not come to {said!r}"
    assert {"doorkeeper", "alice"} <= set(stage.broker.knew)
    assert b"Spy._fall" in log
    assert b"Traceback" not in log
    written += [path.read_bytes() for path in files(tmp_path) - before]
    assert stage.planted.found(b"\n".join(written)) == set()


async def admin_answers(asking: httpx.AsyncClient, stage: Stage) -> AsyncIterator[bytes]:
    """Responses of the admin API to a client with its token, and to one with a wrong token."""
    for token, status in ((stage.admin_token, 200), (stage.planted.text("a wrong token of the admin side"), 401)):
        headers = {"authorization": f"Bearer {token}"}
        for path in ("faults", "ledger", "connections"):
            answer = await asking.get(f"http://{LOOPBACK}:{stage.admin}/{path}", headers=headers)
            assert answer.status_code == status
            yield answer.content + str(answer.headers).encode()


def spoil(stage: Stage) -> None:
    """Break the files that the proxy reloads."""
    users, key = stage.folder / "users.yaml", stage.folder / "server.key"
    spoilt = stage.planted.text("a password in the credentials file")
    users.write_text(users.read_text().replace("    SCRAM-SHA-256: {", f"    SCRAM-SHA-256: {spoilt} {{", 1))
    key.write_bytes(key.read_bytes().replace(b"\n", b"\nx", 3))


@pytest.mark.parametrize("form", ["text", "json"])
async def test_nothing_secret_is_written_where_nobody_takes_our_word(
    tmp_path: Path, endpoint: Elsewhere, form: str
) -> None:
    stage = Stage(tmp_path)
    async with trio.open_nursery() as nursery:
        await nursery.start(stage.broker.serve)
        file, before = stage.configure(endpoint.server_port, user="nobody"), files(tmp_path)
        async with running(stage, form, file) as program:
            await says(program, "token not fetched")
            await says(program, "upstream unreachable", "scram")
            await says(program, "upstream unreachable", "token")
        nursery.cancel_scope.cancel()
    written = [path.read_bytes() for path in files(tmp_path) - before]
    assert stage.planted.found(b"\n".join(written)) == set()


BROKEN = [
    "password: {}",
    "password:{}",
    "password {}",
    "password={}",
    "password: [{}]",
    "password: {{{}: 1}}",
    "password: *{}",
    "password: !{} x",
    "password: &{} x",
    "password: '{}",
    'password: "{}\\q"',
    "password: @{}",
    "password: {}: x",
    "password: {}, password: {}",
    "passwort: {}",
    "secret: {}",
    "password: x, mechanism: ${{MY_SECRET}}",
    "password: x, identities: ${{MY_SECRET}}",
    "password: x, tls: ${{MY_SECRET}}",
]
FILE = """\
clusters:
  main:
    bootstrap: [kafka-1:9092]
    tls: {{key_password: 1{number}, keystore_password: [{secret}], ca_password: {{{secret}: 1}}}}
    sasl: {{mechanism: PLANE, username: a, {broken}}}
listeners: {{clients: {{cluster: main, bind: "${{MY_SECRET}}:9092", advertise: "x ${{MY_SECRET}}"}}}}
workers: ${{MY_SECRET}}
limits: {{idle: "${{MY_SECRET}}", frame: "5 ${{MY_SECRET}}"}}
"""


@pytest.mark.parametrize("broken", BROKEN)
def test_nothing_secret_is_said_of_a_broken_configuration(broken: str) -> None:
    planted = Planted()
    secret, of_environment = planted.text("one in the file"), planted.text("one of the environment")
    planted.add("a number", number := b"1234567890123")
    text = FILE.format(number=number[1:].decode(), secret=secret, broken=broken.format(*[secret] * 2))
    config, problems = examine_text(text, "gateway.yaml", {"MY_SECRET": of_environment})
    assert config is None
    assert planted.found("\n".join(map(str, problems)).encode()) == set()


def test_nothing_secret_is_printed_by_commands(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.broker.port = free_port(LOOPBACK)  # no broker listens
    file = stage.configure(free_port(LOOPBACK))
    frames = b"".join(part for _, flight in flights(stage) for part in flight)
    (tmp_path / "frames.bin").write_bytes(frames)
    whole = [part for _, flight in flights(stage) for part in flight if part[4:8] == b"\0\x24\0\2"]
    (tmp_path / "tokens.bin").write_bytes(b"".join(whole))
    before = files(tmp_path)
    written = [
        stage.said("check", str(file)),
        stage.said("check", str(file), KEY_PASSWORD=stage.planted.text("not the password of the key")),
        stage.said("users", "add", str(tmp_path / "users.yaml"), "bob", stdin=stage.alice.encode() + b"\n"),
        stage.said("users", "list", str(tmp_path / "users.yaml")),
        stage.said("users", "list", str(tmp_path / "server.key")),
        stage.said("acls", "import", "--config", str(file), "--cluster", "plain"),
        stage.said("decode", "--file", str(tmp_path / "frames.bin")),
        stage.said("decode", "--file", str(tmp_path / "tokens.bin")),
        stage.said("decode", "--json", stdin=b"".join(whole)),
        stage.said("decode", "x" + whole[0].hex()),
        stage.said("decode", whole[0].hex()[:-3]),
        *(stage.said(*name, "--help") for name in ((), ("run",), ("check",), ("users", "add"), ("decode",))),
    ]
    assert b"***" in b"".join(written)
    written += [path.read_bytes() for path in files(tmp_path) - before]
    assert stage.planted.found(b"\n".join(written)) == set()
