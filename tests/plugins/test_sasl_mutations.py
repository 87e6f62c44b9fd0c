"""Mutated first messages: the proxy accepts no client without valid credentials, and never fails."""

from __future__ import annotations

import base64
from collections.abc import Callable
from random import Random

import pytest

from plugins.api_versions import ApiVersions
from plugins.sasl_inspected import SaslInspected
from plugins.sasl_terminated import SaslTerminated
from proxy.auth.authority import Failures, ListenerAuthority
from proxy.auth.identity import Identities, Password, log_in_later
from proxy.auth.passwords import PlainExchange, ScramExchange
from proxy.auth.tokens import BearerExchange, TokenValidator
from proxy.auth.verifiers import verifiers
from proxy.core.commands import Close, Emit, ToBroker, Wake
from proxy.core.context import Connection
from proxy.core.decisions import Steps
from proxy.core.events import Authenticated, HandlerFailed, Refused, StepsFailed, Undecodable
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.sasl.authority import Exchange, Rejected
from proxy.protocol import decode_request
from proxy.protocol.api import SASL_AUTHENTICATE
from proxy.protocol.header import KEY_AND_VERSION, read_request_header
from proxy.protocol.messages.api_versions import ApiVersionsRequest
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from proxy.testing import build, connection, from_broker, from_client
from proxy.testing.lending import performed
from tests.plugins.sasl import AP_REQ, WRAPPED, agreed, authenticate, bearer, handshake, jwt, no, raw, yes
from tests.proxy.auth.stepping import step
from tests.proxy.core.frames import asking, heartbeat, metadata

USERS = {"alice": verifiers("alice-secret")}
VERSIONS = asking(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 1, 3)
SCRAM = b"n,,n=alice,r=abcdefgh"
FLIGHTS = [
    [VERSIONS, handshake(2), authenticate(3, b"\0alice\0wrong!"), heartbeat(4)],
    [handshake(2, version=0), raw(b"\0alice\0wrong!"), heartbeat(3)],
    [handshake(2, "SCRAM-SHA-256"), authenticate(3, SCRAM), authenticate(4, b"c=biws,r=abc,p=AAAA"), metadata(5)],
    [handshake(2, "SCRAM-SHA-256", 0), raw(SCRAM), raw(b"c=biws,r=abcdefgh,p=AAAA"), metadata(3)],
    [handshake(2, "OAUTHBEARER"), authenticate(3, bearer(jwt(sub="alice", exp=9e9))), authenticate(4, b"\x01")],
    [raw(AP_REQ), raw(WRAPPED), heartbeat(1)],
    [heartbeat(1), metadata(2)],
]
EARLY = {17, 18, 36}
COUNTS = [400, pytest.param(100_000, marks=pytest.mark.long)]


def authority() -> ListenerAuthority:
    ways = {
        "PLAIN": lambda again: PlainExchange(lambda: USERS),
        "SCRAM-SHA-256": lambda again: ScramExchange(lambda: USERS, "SCRAM-SHA-256", again),
        "OAUTHBEARER": lambda again: BearerExchange(TokenValidator(lambda: KEYS)),
    }
    return ListenerAuthority(ways, 60.0, 30.0, Failures())  # type: ignore[arg-type]


def no_keys() -> object:
    from joserfc.jwk import KeySet

    return KeySet([])


KEYS: object = no_keys()


def mutated(dice: Random, flight: list[bytes]) -> bytes:
    """The frames in another order, with some bytes changed, inserted, dropped or cut off."""
    frames = [frame for frame in flight if dice.random() > 0.1]
    if dice.random() < 0.3:
        dice.shuffle(frames)
    data = bytearray(b"".join(frames))
    for _ in range(dice.choice((0, 1, 1, 2, 5))):
        if not data:
            break
        at = dice.randrange(len(data))
        match dice.randrange(4):
            case 0:
                data[at] = dice.randrange(256)
            case 1:
                data[at:at] = dice.randbytes(dice.randrange(1, 9))
            case 2:
                del data[at : at + dice.randrange(1, 9)]
            case _:
                data[at : at + 4] = dice.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x07"))
    return bytes(data)


def fly(dice: Random, plugins: Callable[[], list[Plugin]], answer: Callable[[bytes], bytes]) -> list[object]:
    """What the link wants done about one flight, cut into pieces, with a broker that answers and time that passes."""
    link = Link(connection(), ROUTES.setdefault(plugins, Filters(plugins())), Limits())
    done: list[object] = list(link.begin())
    data = mutated(dice, dice.choice(FLIGHTS))
    while data and not link.closed:
        size = dice.choice((1, 7, 30, 1000))
        chunk, data = data[:size], data[size:]
        waiting = [performed(link, from_client(link, bytearray(chunk)))]
        while waiting and not link.closed:
            for command in waiting.pop():
                done.append(bytes(command.data) if isinstance(command, ToBroker) else command)
                if isinstance(command, Wake) and command.seconds < 10 and not link.closed:
                    waiting.append(link.wake(command.token))
                elif isinstance(command, ToBroker) and not link.closed and dice.random() < 0.5:
                    waiting.append(from_broker(link, bytearray(answer(bytes(command.data)))))
    return done


ROUTES: dict[Callable[[], list[Plugin]], Filters] = {}


def terminated() -> list[Plugin]:
    return [build(SaslTerminated, authority=authority()), build(ApiVersions)]


def inspected() -> list[Plugin]:
    return [build(SaslInspected)]


@pytest.mark.parametrize("count", COUNTS)
def test_nobody_comes_in_by_changed_bytes(count: int) -> None:
    dice = Random(7)
    for _ in range(count):
        for command in fly(dice, terminated, lambda asked: b""):
            if isinstance(command, Emit):
                assert isinstance(command.event, Refused | Undecodable), command
            elif isinstance(command, bytes):  # went to the broker
                assert KEY_AND_VERSION.unpack_from(command, 4)[0] in EARLY
            elif isinstance(command, Close):
                assert command.reason is None or "secret" not in command.reason


@pytest.mark.parametrize("count", COUNTS)
def test_no_changed_bytes_make_what_passes_fail(count: int) -> None:
    dice = Random(8)
    answers = [agreed(2), agreed(2, version=0), yes(3), raw(b""), raw(b"r=abc"), b"\0", yes(3, b"v=x")]
    for _ in range(count):
        for command in fly(dice, inspected, lambda asked: dice.choice(answers)):
            if isinstance(command, Emit):
                assert not isinstance(command.event, HandlerFailed | StepsFailed), command.event
                if isinstance(command.event, Authenticated):
                    assert "wrong" not in str(command.event.principal)


class LoggingIn(Plugin):
    """Logs the proxy in at the broker."""

    def __init__(self, mechanism: str) -> None:
        self._identities = Identities(Password(mechanism, "alice", "alice-secret"), {})

    def connected(self, connection: Connection) -> Steps:
        connection.broker_versions = {SASL_AUTHENTICATE.key: (0, 2)}
        return log_in_later(self._identities, lambda: None, connection, "User:bob")


def answered(server: Exchange, asked: bytes) -> tuple[bytes, bytes | None]:
    """What a broker says, and the token in it."""
    header, body = read_request_header(asked[4:])
    request = decode_request(header.request_api_key, header.request_api_version, asked[4 + body :])
    if not isinstance(request, SaslAuthenticateRequest):
        return agreed(0), None
    outcome = step(server, bytes(request.auth_bytes))
    if isinstance(outcome, Rejected):
        return no(0, outcome.message), None
    return yes(0, outcome.token), outcome.token


def spoilt(dice: Random, answer: bytes) -> bytes:
    """Some bytes changed behind the head."""
    data = bytearray(answer)
    for _ in range(dice.choice((0, 0, 1, 1, 3))):
        data[dice.randrange(8, len(data))] = dice.choice((dice.randrange(256), *b",=rsiev0\xff"))
    return bytes(data)


@pytest.mark.parametrize("count", COUNTS)
def test_no_changed_answers_make_the_proxy_fail_or_take_a_broker_for_another(count: int) -> None:
    dice = Random(9)
    for _ in range(count):
        mechanism = dice.choice(("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"))
        server: Exchange = (
            PlainExchange(lambda: USERS) if mechanism == "PLAIN" else ScramExchange(lambda: USERS, mechanism, False)
        )
        link = Link(connection(), Filters([LoggingIn(mechanism)]), Limits())
        waiting, said = link.begin(), b""
        while not link.closed and any(isinstance(command, ToBroker) for command in waiting):
            (asked,) = (command for command in waiting if isinstance(command, ToBroker))
            answer, token = answered(server, bytes(asked.data))
            said = spoilt(dice, answer)
            waiting = performed(link, from_broker(link, bytearray(said)))
        for command in waiting:
            assert not isinstance(command, Emit), command
            assert not isinstance(command, Close) or "alice-secret" not in str(command.reason)
        if not link.closed and mechanism != "PLAIN":
            assert token is not None
            shown = said[said.index(b"v=") :][: len(token)]
            assert base64.b64decode(shown[2:]) == base64.b64decode(token[2:]), "it took another's signature"
