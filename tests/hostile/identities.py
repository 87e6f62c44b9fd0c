"""SASL: clients that try to be another user. `admin` may do everything, and no attack may be served as admin.

Each attack is tried on a listener where the proxy verifies credentials, and on one where SASL passes to a broker.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from proxy.protocol.api import APIS
from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest
from proxy.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from proxy.protocol.messages.sasl_handshake import SaslHandshakeResponse
from tests.hostile.client import Client
from tests.hostile.ground import Ground
from tests.hostile.logins import PASSWORDS, agree, handshake, judging, plain, raw, scram, token
from tests.hostile.requests import metadata, produce, resized
from tests.hostile.settings import SASL
from tests.hostile.stage import Peer
from tests.hostile.trial import case, cases
from tests.plugins.sasl import AP_REQ, WRAPPED

WANTED = metadata(["secrets"], 9) + produce(["secrets"], 10)
VERSIONS = request_frame(ApiVersionsRequest(client_software_name="h", client_software_version="1"), 3, 1, "hostile")
ALICE = b"\0alice\0" + PASSWORDS["alice"].encode()
ADMIN = b"\0admin\0" + PASSWORDS["alice"].encode()
BOTH = {"the proxy judges": "clients", "a broker judges": "passed"}


FLIGHTS = {
    "no word of who it is": [],
    "versions, then a request": [VERSIONS],
    "a token before a mechanism": [token(ADMIN)],
    "two handshakes": [handshake(), handshake(), token(ADMIN)],
    "a wrong password": [handshake(), token(ADMIN)],
    "no password": [handshake(), token(b"\0admin\0")],
    "no name": [handshake(), token(b"\0\0" + PASSWORDS["admin"].encode())],
    "four fields": [handshake(), token(ALICE + b"\0admin")],
    "two fields": [handshake(), token(b"admin\0" + PASSWORDS["alice"].encode())],
    "acting for admin": [handshake(), token(b"admin" + ALICE)],
    "a name that is not UTF-8": [handshake(), token(b"\0admin\xff\0" + PASSWORDS["alice"].encode())],
    "wide letters": [handshake(), token("\0\uff41dmin\0of-admin".encode())],
    "a name of 400 KB": [handshake(), token(b"\0" + b"a" * 400_000 + b"\0x")],
    "an empty token": [handshake(), token(b"")],
    "alice, then admin without a handshake": [handshake(), token(ALICE), token(ADMIN)],
    "alice, then a handshake alone": [handshake(), token(ALICE), handshake()],
    "alice, then admin's handshake and a wrong password": [handshake(), token(ALICE), handshake(), token(ADMIN)],
    "alice, then admin with the right password": [
        handshake(), token(ALICE), handshake(), token(b"\0admin\0" + PASSWORDS["admin"].encode()),
    ],
    "alice, then another mechanism": [handshake(), token(ALICE), handshake("SCRAM-SHA-256"), token(b"n,,n=admin,r=a")],
    "admin's claim, then alice's token": [handshake(), token(ADMIN), handshake(), token(ALICE)],
    "bare tokens, with a wrong password": [handshake(version=0), raw(ADMIN)],
    "bare tokens, alice's, with a request behind": [handshake(version=0), raw(ALICE)],
    "bare tokens, two of them": [handshake(version=0), raw(ADMIN), raw(ALICE)],
    "a bare token after a handshake that knows better": [handshake(), raw(ADMIN)],
    "a bare token of GSSAPI first": [raw(b"\x60\x10" + b"admin" * 4)],
    "a mechanism in small letters": [handshake("plain"), token(ADMIN)],
    "a mechanism of 30,000 letters": [handshake("PLAIN" * 6_000), token(ADMIN)],
    "channel binding": [handshake("SCRAM-SHA-256-PLUS"), token(b"p=tls-unique,,n=admin,r=abc")],
    "a final message first": [handshake("SCRAM-SHA-256"), token(b"c=biws,r=abc,p=AAAA")],
    "two first messages": [handshake("SCRAM-SHA-256"), token(b"n,,n=alice,r=abc"), token(b"n,,n=admin,r=abc")],
    "100,000 attributes": [handshake("SCRAM-SHA-256"), token(b"n,,n=admin" + b",x=y" * 100_000)],
}  # fmt: skip


@cases({f"{name}: {who}": (BOTH[who], flight) for name, flight in FLIGHTS.items() for who in BOTH}, on=SASL)
def flights(ground: Ground, said: tuple[str, list[bytes]]) -> str:
    """Send the parts all at once, and one after the other: in neither way is the client served as admin."""
    listener, flight = said
    ground.stage.play = judging
    at_once, in_turn = ground.stranger(listener), ground.stranger(listener)
    at_once.send(b"".join(flight) + WANTED)
    at_once.half_close()
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(_in_turn, in_turn, flight)
        at_once.ends()
        one.result()
    return not_served(ground, listener)


def _in_turn(client: Client, flight: list[bytes]) -> None:
    for part in flight:
        if not client.ask_quietly(part):
            return
    client.send(WANTED)
    client.half_close()
    client.ends()


def not_served(ground: Ground, listener: str) -> str:
    """No request that only admin may send reached a broker."""
    assert b"secrets" not in ground.stage.heard, "it was served as admin"
    told = f"{len(ground.stage.heard)} bytes came to the broker"
    return told if listener == "passed" else f"{told}, none of them about secrets"


FIRST = {
    "an authorization id": "n,a=admin,n=alice,r=abcdef",
    "two names": "n,,n=admin,n=alice,r=abcdef",
    "an extension before the name": "n,,m=x,n=alice,r=abcdef",
    "an extension behind the nonce": "n,,n=alice,r=abcdef,n=admin",
    "a token's extension": "n,,n=alice,r=abcdef,tokenauth=true",
    "a name with an escape": "n,,n=alic=65,r=abcdef",
    "a claim of channel binding": "y,,n=alice,r=abcdef",
    "no nonce": "n,,n=alice,r=",
}


@cases({f"SCRAM with {what}: {who}": (BOTH[who], first) for what, first in FIRST.items() for who in BOTH}, on=SASL)
def scrams(ground: Ground, said: tuple[str, str]) -> str:
    """alice authenticates with a valid proof, but her first message might name another user."""
    listener, first = said
    ground.stage.play = judging
    client = ground.stranger(listener)
    came = scram(client, first)
    client.send(WANTED)
    client.half_close()
    client.ends()
    return f"came in: {came}; {not_served(ground, listener)}"


HERS = "n,,n=alice,r=abcdef"
FINAL = {"another nonce": ("", "{}0"), "an extension": ("", "x=y,{}"), "another header": ("n,a=admin,", "{}")}


@cases({f"SCRAM's proof with {what}: {who}": (BOTH[who], *how) for what, how in FINAL.items() for who in BOTH}, on=SASL)
def proofs(ground: Ground, said: tuple[str, str, str]) -> str:
    listener, binding, final = said
    ground.stage.play = judging
    client = ground.stranger(listener)
    came = scram(client, HERS, binding=binding, final=final)
    client.send(WANTED)
    client.half_close()
    client.ends()
    return f"came in: {came}; {not_served(ground, listener)}"


@cases({f"SCRAM with the wrong password: {who}": listener for who, listener in BOTH.items()}, on=SASL)
def wrong_proof(ground: Ground, listener: str) -> str:
    ground.stage.play = judging
    client = ground.stranger(listener)
    assert not scram(client, "n,,n=admin,r=abcdef"), "it came in"
    client.send(WANTED)
    client.half_close()
    client.ends()
    return not_served(ground, listener)


@cases({f"alice asks for what is admin's: {who}": listener for who, listener in BOTH.items()}, on=SASL)
def alice(ground: Ground, listener: str) -> str:
    """A client that is authenticated as alice: the requests that she may send pass, and admin's do not."""
    ground.stage.play = judging
    for mechanism in ("PLAIN", "SCRAM"):
        client = ground.stranger(listener)
        came = scram(client, HERS) if mechanism == "SCRAM" else plain(client, "alice", PASSWORDS["alice"])
        assert came, f"alice did not come in by {mechanism}"
        client.send(metadata(["orders"], 9) + WANTED)
        for _ in range(3):
            client.frame()
    passed = ground.stage.heard.count(b"orders")
    assert passed >= 2, f"what she may was passed {passed} times"
    return not_served(ground, listener)


@cases({f"admin is served, which shows that it would be seen: {who}": where for who, where in BOTH.items()}, on=SASL)
def admin(ground: Ground, listener: str) -> str:
    ground.stage.play = judging
    client = ground.stranger(listener)
    assert plain(client, "admin", PASSWORDS["admin"]), "admin did not come in"
    client.send(WANTED)
    for _ in range(2):
        client.frame()
    assert ground.stage.heard.count(b"secrets") == 2, "what only admin may did not pass"
    return "served"


UNKNOWN = resized(SIZE.pack(0) + (max(APIS) + 1).to_bytes(2, "big") + bytes(6) + b"\xff\xff" + b"secrets" * 5)
BARE = {
    "at once": ("GSSAPI", []),
    "behind a first token of GSSAPI": ("GSSAPI", [AP_REQ]),
    "behind all tokens of GSSAPI": ("GSSAPI", [AP_REQ, WRAPPED]),
    "behind a token of a mechanism that nobody knows": ("OF-ONES-OWN", [b"me"]),
}


@cases(
    {f"an API that nobody knows, between tokens without headers: {where}": how for where, how in BARE.items()}, on=SASL
)
def hidden(ground: Ground, how: tuple[str, list[bytes]]) -> str:
    """A newer broker may serve an API for which there are no rules. No request of it passes for a token."""

    def play(peer: Peer) -> None:
        """The broker takes any mechanism, and any token."""
        for frame in peer.frames():
            if frame[:4] == b"\0\x11\0\0":
                agreed = SaslHandshakeResponse(error_code=0, mechanisms=[mechanism])
                peer.send(response_frame(agreed, 0, int.from_bytes(frame[4:8], "big")))

    mechanism, tokens = how
    ground.stage.play = play
    client = ground.stranger("passed")
    client.ask_quietly(handshake(mechanism, 0))
    client.send(b"".join(map(raw, tokens)) + UNKNOWN)
    client.half_close()
    client.ends()
    assert b"secrets" not in ground.stage.heard, "the broker got the request"
    return f"{len(ground.stage.heard)} bytes came to the broker"


@case("a token of 50 MiB, where a broker judges", on=SASL)
def long_token(ground: Ground) -> str:
    """Brokers take tokens of up to 512 KiB. A longer one is refused when its length is known."""
    ground.stage.play = judging
    client = ground.stranger("passed")
    agree(client)
    taken = client.push(token(bytes(50 << 20)))
    client.ends()
    assert taken < 20 << 20, f"{taken >> 20} MiB of it were taken"
    return f"closed after {taken >> 20} MiB"


@cases({f"a token for a user of another type, whose text is the same: {who}": BOTH[who] for who in BOTH}, on=SASL)
def same_text(ground: Ground, listener: str) -> str:
    """`User` and `al:ice` asks for a token of `User:al` and `ice`, for which she has no right."""
    ground.stage.play = judging
    client = ground.stranger(listener)
    assert plain(client, "al:ice", PASSWORDS["al:ice"]), "she did not come in"
    asked = CreateDelegationTokenRequest(
        owner_principal_type="User:al", owner_principal_name="ice", renewers=[], max_lifetime_ms=-1
    )
    answer = client.ask(asked, 3, 3)
    assert b"User:al" not in ground.stage.heard, "the broker was asked for it"
    return f"error {answer.error_code}"
