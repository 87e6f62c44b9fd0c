"""Bearer tokens that a broker and the proxy might read in different ways, and forged ones."""

from __future__ import annotations

import base64
import json
import time

from tests.hostile.ground import Ground
from tests.hostile.identities import WANTED, not_served
from tests.hostile.logins import agree, judging, show
from tests.hostile.settings import SASL
from tests.hostile.trial import cases
from tests.plugins.sasl import bearer, jwt


def unsigned(claims: str) -> bytes:
    """An unsigned token with this text as its claims."""
    parts = [base64.urlsafe_b64encode(part.encode()).rstrip(b"=") for part in ('{"alg":"none"}', claims)]
    return b".".join(parts) + b"."


ALICES, ADMINS = jwt(sub="alice"), jwt(sub="admin")
BEARERS = {
    "two auth fields": f"n,,\x01auth=Bearer {ADMINS}\x01auth=Bearer {ALICES}\x01\x01".encode(),
    "two auth fields, the other way": f"n,,\x01auth=Bearer {ALICES}\x01auth=Bearer {ADMINS}\x01\x01".encode(),
    "an authorization id": f"n,a=admin,\x01auth=Bearer {ALICES}\x01\x01".encode(),
    "AUTH in capitals": f"n,,\x01AUTH=Bearer {ADMINS}\x01auth=Bearer {ALICES}\x01\x01".encode(),
    "two subjects": bearer(unsigned('{"sub":"admin","sub":"alice"}').decode()),
    "two subjects, the other way": bearer(unsigned('{"sub":"alice","sub":"admin"}').decode()),
    "a subject that is a list": bearer(unsigned('{"sub":["admin"]}').decode()),
    "a subject that is an object": bearer(unsigned('{"sub":{"admin":1}}').decode()),
    "a subject with an escape": bearer(unsigned('{"sub":"alice\\u0000"}').decode()),
    "four parts": bearer(ALICES + "." + ADMINS),
    "five parts": bearer("a.b.c.d.e"),
    "no parts": bearer("admin"),
    "a part that is no base64": bearer("e30.*admin*."),
    "something behind its end": bearer(ALICES) + b"\x01auth=Bearer " + ADMINS.encode() + b"\x01\x01",
    "a newline": bearer(ALICES).replace(b"\x01\x01", b"\nauth=Bearer " + ADMINS.encode() + b"\x01\x01"),
}


@cases({f"a bearer token with {what}: a broker judges": said for what, said in BEARERS.items()}, on=SASL)
def bearers(ground: Ground, said: bytes) -> str:
    """The broker accepts any token. Its principal is ambiguous, so the proxy must not treat the client as admin."""
    ground.stage.play = judging
    client = ground.stranger("passed")
    agree(client, "OAUTHBEARER")
    answer = show(client, said)
    client.send(WANTED)
    client.half_close()
    client.ends()
    came = answer is not None and answer.error_code == 0
    return f"came in: {came}; {not_served(ground, 'passed')}"


def _forged(header: dict[str, object], claims: dict[str, object], signature: bytes = b"x" * 64) -> str:
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


FORGED: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "no signature": ({"alg": "none"}, {}),
    "no signature, in capitals": ({"alg": "NONE"}, {}),
    "a signature of nothing": ({"alg": "ES256", "kid": "k1"}, {}),
    "the public key as a secret": ({"alg": "HS256", "kid": "k1"}, {}),
    "a key of its own": ({"alg": "ES256", "jwk": {"kty": "EC"}}, {}),
    "a key from elsewhere": ({"alg": "ES256", "jku": "http://127.0.0.1:9/keys", "kid": "k1"}, {}),
    "the path of a key": ({"alg": "HS256", "kid": "../../../../dev/null"}, {}),
    "a header that must be understood": ({"alg": "ES256", "kid": "k1", "crit": ["b64"], "b64": False}, {}),
    "a lifetime that is no number": ({"alg": "none"}, {"exp": "never"}),
    "a lifetime without end": ({"alg": "none"}, {"exp": 1e400}),
}


@cases({f"a forged token with {what}: the proxy judges": said for what, said in FORGED.items()}, on=SASL)
def forged(ground: Ground, said: tuple[dict[str, object], dict[str, object]]) -> str:
    header, more = said
    now = time.time()
    claims = {"sub": "admin", "iat": now, "exp": now + 3_600, "aud": "kafka", "iss": "https://issuer"} | more
    client = ground.stranger("clients")
    agree(client, "OAUTHBEARER")
    answer = show(client, bearer(_forged(header, claims)))
    assert answer is None or answer.error_code or answer.auth_bytes, "it came in"
    client.send(WANTED)
    client.half_close()
    client.ends()
    return not_served(ground, "clients")
