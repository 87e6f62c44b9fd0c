"""TLS: handshakes that are garbage, that stall, or that have wrong names or certificates."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import suppress

from proxy.core.addresses import LAST_NODE_ID
from proxy.protocol.messages.metadata import MetadataRequest
from tests.certificates import Authority
from tests.hostile.canary import HOST, REAL
from tests.hostile.client import Client, NotHeldError, connect
from tests.hostile.ground import Ground
from tests.hostile.requests import BEAT, beat, metadata
from tests.hostile.settings import TLS
from tests.hostile.trial import case, cases

RECORD = b"\x16\x03\x01"
ALERT = b"\x15"
HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(200)
FIRST = {
    "plain Kafka": beat(),
    "HTTP": b"GET / HTTP/1.1\r\n\r\n",
    "zeros": bytes(20_000),
    "0xff": b"\xff" * 20_000,
    "a hello that means nothing": HELLO,
    "a record of 64 KiB": RECORD + b"\xff\xff" + bytes(65_535),
    "an alert": b"\x15\x03\x01\x00\x02\x02\x28",
    "a heartbeat record": b"\x18\x03\x02\x00\x03\x01\x40\x00",
    "SSLv2": b"\x80\x2e\x01\x00\x02" + bytes(43),
    "data before a handshake": b"\x17\x03\x03\x00\x20" + bytes(32),
    "a change of cipher first": b"\x14\x03\x03\x00\x01\x01" * 1_000,
    "a hello of 16 MiB, in small records": (RECORD + b"\x00\x10" + b"\x01\xff\xff\xff" + bytes(12)) * 100,
}


@cases({f"{name} on a TLS port": said for name, said in FIRST.items()}, on=TLS)
def begins_with(ground: Ground, said: bytes) -> str:
    """No handshake succeeds; each connection is closed."""
    many = [ground.client() for _ in range(ground.times(10, 80))]
    for client in many:
        client.send(said)
    for client in many:
        client.ends()
    return f"{len(many)} times: closed"


STALLED = {"nothing": b"", "half a record's head": RECORD, "half a hello": HELLO[:50]}


@cases({f"{name}, then silence, on a TLS port": said for name, said in STALLED.items()}, on=TLS)
def stalls(ground: Ground, said: bytes) -> str:
    """A handshake may take one second."""
    before = ground.met("handshake")
    many = [ground.client() for _ in range(ground.times(20, 80))]
    for client in many:
        client.send(said)
    for client in many:
        client.ends()
    by_limit = ground.met("handshake") - before
    assert by_limit == len(many), f"{by_limit} of {len(many)} were closed by limits.handshake"
    return f"{len(many)} closed by limits.handshake"


def trusting(ground: Ground, own: str = "") -> ssl.SSLContext:
    """The TLS context of a client that trusts the proxy's CA, with a certificate of its own if `own` names one."""
    context = ssl.create_default_context(cafile=str(ground.folder / "ca.pem"))
    if own:
        context.load_cert_chain(ground.folder / f"{own}.pem", ground.folder / f"{own}.key")
    return context


def sealed(
    ground: Ground, context: ssl.SSLContext, name: str = HOST, listener: str = "clients", node: int = 2
) -> Client:
    """A TLS connection. Raises OSError where the handshake fails."""
    client = Client(context.wrap_socket(connect(ground.port(listener, node)), server_hostname=name))
    ground.clients.append(client)
    return client


def comes_in(client: Client) -> bool:
    """Whether a request is answered."""
    with suppress(OSError, EOFError):
        client.ask(BEAT, 4)
        return True
    return False


@cases({"TLS 1.0": ssl.TLSVersion.TLSv1, "TLS 1.1": ssl.TLSVersion.TLSv1_1}, on=TLS)
def old(ground: Ground, version: ssl.TLSVersion) -> str:
    context = trusting(ground)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with_warning(lambda: setattr(context, "minimum_version", version))
    with_warning(lambda: setattr(context, "maximum_version", version))
    return _refused(lambda: sealed(ground, context))


def with_warning(do: Callable[[], None]) -> None:
    """Silence Python's warnings about old versions, which these cases use on purpose."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        do()


def _refused(come: Callable[[], Client]) -> str:
    try:
        client = come()
    except OSError as error:
        return f"no handshake: {getattr(error, 'reason', None) or type(error).__name__}"
    if comes_in(client):
        raise NotHeldError("it was let in")
    return "closed after the handshake"


@case("a cipher without encryption", on=TLS)
def without_cipher(ground: Ground) -> str:
    context = trusting(ground)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("NULL:@SECLEVEL=0")
    return _refused(lambda: sealed(ground, context))


UNKNOWN_NAME = "TLSV1_UNRECOGNIZED_NAME"
NAMES = {
    "nobody's": "nobody.example",
    "of a broker that does not exist": "broker-77.kafka.example",
    "of broker 2^31": "broker-2147483648.kafka.example",
    "of broker -1": "broker--1.kafka.example",
    "of broker 01": "broker-01.kafka.example",
    "of 250 letters": "a" * 60 + "." + "b" * 60 + "." + "c" * 60 + "." + "d" * 60,
    "with a star": "*.kafka.example",
    "an address": "127.0.0.9",
}


@cases({f"a name (SNI) {what}": name for what, name in NAMES.items()}, on=TLS)
def names(ground: Ground, name: str) -> str:
    """Where SNI selects the broker, an unknown name leads to no broker."""
    context = trusting(ground)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        sealed(ground, context, name, "named", -1)
    except ssl.SSLError as error:
        if error.reason != UNKNOWN_NAME:
            raise NotHeldError(f"refused for something else: {error}") from None
        return "no handshake"
    raise NotHeldError("a handshake came about")


@case("a name (SNI) of the broker with the greatest id, which a client was given", on=TLS)
def greatest_id(ground: Ground) -> str:
    """Each broker that clients are told of is one that they can ask for."""
    ground.stage.told = {**ground.stage.told, LAST_NODE_ID: (REAL, ground.stage.port)}
    context = trusting(ground)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    told = sealed(ground, context, "broker-2.kafka.example", "named", -1).ask(MetadataRequest(topics=None), 9)
    (host,) = (broker.host for broker in told.brokers if broker.node_id == LAST_NODE_ID)
    assert comes_in(sealed(ground, context, host, "named", -1)), f"{host} leads to nobody"
    return f"{host} is served"


RAW = {"is not ASCII": b"k\xc3\xa9fka", "has a NUL": b"kafka\0.example", "is empty": b"", "is no UTF-8": b"\xff" * 3}


@cases({f"a name (SNI) that {what}": name for what, name in RAW.items()}, on=TLS)
def raw_names(ground: Ground, name: bytes) -> str:
    """A handmade ClientHello, with a name that no library would send."""
    entry = b"\0" + len(name).to_bytes(2, "big") + name
    listed = len(entry).to_bytes(2, "big") + entry
    extension = b"\0\0" + len(listed).to_bytes(2, "big") + listed
    extension += bytes.fromhex("000a00040002001d") + bytes.fromhex("000d000400020403")
    body = b"\x03\x03" + bytes(32) + b"\0" + b"\0\4\xc0\x2b\xc0\x2f" + b"\1\0"
    body += len(extension).to_bytes(2, "big") + extension
    hello = b"\1" + len(body).to_bytes(3, "big") + body
    client = ground.client("named", None)
    client.send(RECORD + len(hello).to_bytes(2, "big") + hello)
    client.half_close()
    client.ends()
    assert bytes(client.told[:1]) in (b"", ALERT), "a handshake goes on"
    return f"{len(client.told)} bytes, then closed"


def _issued(ground: Ground, name: str, **more: object) -> str:
    authority: Authority = ground.kept["authority"]
    authority.issue(name, **more)  # type: ignore[arg-type]
    return name


SHOWN: dict[str, Callable[[Ground], str]] = {
    "none": lambda ground: "",
    "one that is over": lambda ground: _issued(ground, "over", days=(-9, -1)),
    "one that is not yet": lambda ground: _issued(ground, "early", days=(1, 9)),
    "one of another authority": lambda ground: _stranger(ground),
}


@cases({f"a client's certificate: {what}": show for what, show in SHOWN.items()}, on=TLS)
def certificates(ground: Ground, own: Callable[[Ground], str]) -> str:
    """Clients without a valid certificate are refused where one is required."""
    context = trusting(ground, own(ground))
    return _refused(lambda: sealed(ground, context, listener="mutual"))


def _stranger(ground: Ground) -> str:
    folder = ground.folder / "elsewhere"
    folder.mkdir(exist_ok=True)
    Authority(folder, "ca").issue("stranger")
    for end in ("pem", "key"):
        (ground.folder / f"stranger.{end}").write_bytes((folder / f"stranger.{end}").read_bytes())
    return "stranger"


ODD = {"admin,CN=alice": "a comma", "User:admin": "a principal's form", "a" * 64: "64 letters", 'a"+<>;=\\': "signs"}


@cases({f"a certificate whose name has {what}": name for name, what in ODD.items()}, on=TLS)
def odd_names(ground: Ground, name: str) -> str:
    """The client is authenticated under its own name, and not as the super user `User:admin`."""
    authority: Authority = ground.kept["authority"]
    certificate, key = authority.issue(name) if "/" not in name and len(name) < 60 else authority.issue("long")
    context = trusting(ground)
    context.load_cert_chain(certificate, key)
    client = sealed(ground, context, listener="mutual")
    client.send(metadata(["secrets"]))
    client.frame()
    assert b"secrets" not in ground.stage.heard, "it was taken for a super user"
    return "came in as itself"
