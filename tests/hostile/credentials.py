"""Credentials: many clients at one moment whose passwords or tokens take long to check, and sessions without end."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode

from tests.hostile.ground import Ground
from tests.hostile.logins import handshake, plain, raw, token
from tests.hostile.settings import SESSIONS
from tests.hostile.trial import case, cases
from tests.hostile.watch import MIB
from tests.plugins.sasl import bearer

CLIENTS = 256
WRONG = b"\0alice\0wrongp"
EMPTY_OBJECTS = b'{"a":[' + b",".join([b"{}"] * 15_500) + b"]}"
LARGE = bearer(
    b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in (b'{"alg":"none"}', EMPTY_OBJECTS, b"")).decode()
)
AT_ONCE = {
    "wrong passwords in bare tokens": handshake(version=0) + raw(WRONG),
    "wrong passwords in SaslAuthenticate": handshake() + token(WRONG),
    "wrong tokens of 62 KB": handshake("OAUTHBEARER") + token(LARGE) + token(b"\x01"),
}


@cases({f"{CLIENTS} {what}, at one moment": said for what, said in AT_ONCE.items()}, on=SESSIONS)
def at_once(ground: Ground, said: bytes) -> str:
    """All come from one address, and others may log in meanwhile."""
    address = f"127.2.0.{ground.number()}"
    for _ in range(ground.times(1, 3)):
        clients = [ground.client(source=address) for _ in range(CLIENTS)]
        ground.canary(0)  # from here on its latency counts
        for client in clients:
            client.send(said)
        for client in clients:
            client.ends()
        ground.leave()
    return f"{CLIENTS} refused"


@case("sessions that are renewed as often as is allowed", on=SESSIONS)
def renewed(ground: Ground) -> str:
    """Memory does not grow with the number of renewals."""
    clients = [ground.client(source=f"127.2.1.{n % 200 + 1}") for n in range(300)]
    memory: list[int] = []
    for _ in range(ground.times(8, 30)):
        for client in clients:
            assert plain(client, "alice", "of-alice"), "alice was refused"
        time.sleep(1.1)  # a broker takes one renewal a second, and so does the proxy
        memory.append(ground.watch.look().memory)
    grown = memory[-1] - memory[2]
    assert grown < 3 * MIB, f"{grown / MIB:.1f} MiB for {len(memory) - 3} renewals on {len(clients)} connections"
    return f"{grown / MIB:+.1f} MiB for {len(memory) - 3} renewals on {len(clients)} connections"
