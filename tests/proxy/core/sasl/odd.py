"""Tokens that the proxy must refuse and not pass to a broker: how each is odd, and why it is refused."""

from __future__ import annotations

import base64
import json

from proxy.core.sasl.bearer import LONGEST_TOKEN
from proxy.core.sasl.name import LONGEST

LONG = b"a" * (LONGEST + 1)
UNSEEN = "a name with characters that cannot be seen"
SPACED = "a name with white space at its ends"
TOO_LONG = "a name of 1,025 bytes, over the limit of 1,024"
NOT_UTF8 = "a name that is not UTF-8"
OTHER = "another authorization id than the user"

NAMES = [
    (b"", "an empty name"),
    (LONG, TOO_LONG),
    (b"ali\xffce", NOT_UTF8),
    (b"\xc0\x80", NOT_UTF8),
    (b"\xed\xa0\x80", NOT_UTF8),
    (b"alice\n", UNSEEN),
    (b"ali\x7fce", UNSEEN),
    ("ali\u0085ce".encode(), UNSEEN),
    ("ali\u00adce".encode(), UNSEEN),
    ("ali\u202ece".encode(), UNSEEN),
    ("\ufeffalice".encode(), UNSEEN),
    ("ali\u00a0ce".encode(), UNSEEN),
    ("ali\ufffdce\ue000".encode(), UNSEEN),
    (b" alice", SPACED),
    (b"alice ", SPACED),
    (b" ", SPACED),
]

PLAIN = [
    (b"", "1 fields where PLAIN has 3"),
    (b"alice", "1 fields where PLAIN has 3"),
    (b"\0alice", "2 fields where PLAIN has 3"),
    (b"\0alice\0secret\0", "4 fields where PLAIN has 3"),
    (b"\0alice\0secret\0admin", "4 fields where PLAIN has 3"),
    (b"alice\0\0secret", "an empty name"),
    (b"\0alice\0", "an empty password"),
    (b"\0alice\0\xff", "a password that is not UTF-8"),
    (b"bob\0alice\0secret", OTHER),
    (b"Alice\0alice\0secret", OTHER),
    (b"\0" * (480 << 10), "a message of 491,520 bytes"),
    *((b"\0%b\0secret" % name, why) for name, why in NAMES),
]

NOT_FIRST = "a message that is not SCRAM's first"
SCRAM = [
    *(
        (token, NOT_FIRST)
        for token in (
            b"",
            b"n,,",
            b"n=alice,r=abc",
            b"n,,r=abc",
            b"n,,n=,r=abc",
            b"n,,n=alice",
            b"n,,n=alice,r=",
            b"n,,r=abc,n=alice",
            b"n,,n=alice,n=bob,r=abc",
            b"n,,n=alice,r=abc,n=bob",
            b"n,,n=alice,r=abc,r=def",
            b"n,,n=alice,r=abc,",
            b"n,,n=alice,r=a\x7fc",
            "n,,n=alice,r=äbc".encode(),
            b"n,,n=alice,r=abc\n",
            b" n,,n=alice,r=abc",
            b"N,,n=alice,r=abc",
            b"y,,n=alice,r=abc",
            b"p=tls-unique,,n=alice,r=abc",
            b"n,a=,n=alice,r=abc",
            b"n,alice,n=alice,r=abc",
            b"n,,m=x,n=alice,r=abc",
            b"n,,n=ali=ce,r=abc",
            b"n,,n=ali=2cce,r=abc",
            b"n,,n=ali=3,r=abc",
            b"n,,n=ali=20ce,r=abc",
            b"n,,n=ali\0ce,r=abc",
            b"n,,n=alice,r=abc,x=1",
            b"n,,n=alice,r=abc,tokenauth=TRUE",
            b"n,,n=alice,r=abc,tokenauth=false",
            b"n,,n=alice,r=abc,Tokenauth=true",
            b"n,,n=alice,r=abc,tokenauth=true,tokenauth=false",
            b"n,,n=alice,r=abc,tokenauth=true,tokenauth=true",
            b"n,,n=alice,r=abc,tokenauth=true,x=1",
            b"n,,n=alice,r=abc,tokenauth=true ",
        )
    ),
    (b"n,a=bob,n=alice,r=abc", OTHER),
    (b"n,a=a=2Cb,n=alice,r=abc", OTHER),
    (b"n,,n=alice,r=" + LONG, "a nonce of 1,025 bytes, over the limit of 1,024"),
    (b"n,,n=%b,r=abc" % (b"a" * (480 << 10)), "a message of 491,531 bytes"),
    *((b"n,,n=%b,r=abc" % name, why) for name, why in NAMES if name),
]

PROOF = base64.b64encode(bytes(32))
NOT_FINAL = "a message that is not SCRAM's final"
ODD_PROOF = "a proof of another size, or in another base64"
SCRAM_FINAL = [  # after n,,n=alice,r=abc
    (b"", NOT_FINAL),
    (b"n,,n=bob,r=abc", NOT_FINAL),
    (b"r=abcdef,c=biws,p=" + PROOF, NOT_FINAL),
    (b"c=biws,r=abcdef", NOT_FINAL),
    (b"c=biws,r=abcdef,x=1,p=" + PROOF, NOT_FINAL),
    (b"c=biws,r=abcdef,p=%b,p=%b" % (PROOF, PROOF), NOT_FINAL),
    (b"c=biws,r=abcdef,p=%b,x=1" % PROOF, NOT_FINAL),
    (b"c=biws,c=biws,r=abcdef,p=" + PROOF, NOT_FINAL),
    (b"c=biws,r=abcdef,p=%b\n" % PROOF, NOT_FINAL),
    (b"c=eSws,r=abcdef,p=" + PROOF, "another header than that of the first message"),
    (b"c=biwt,r=abcdef,p=" + PROOF, "another header than that of the first message"),
    (b"c=biws,r=abc,p=" + PROOF, "another nonce than that of the first message"),
    (b"c=biws,r=xyzdef,p=" + PROOF, "another nonce than that of the first message"),
    (b"c=biws,r=abcdef,p=cHJvb2Y=", ODD_PROOF),
    (b"c=biws,r=abcdef,p=" + PROOF[:-2] + b"B=", ODD_PROOF),
    (b"c=biws,r=abcdef,p=" + PROOF.rstrip(b"="), ODD_PROOF),
    (b"c=biws,r=abcdef,p=" + PROOF + b"====", ODD_PROOF),
    (b"c=biws,r=abcdef,p=" + b"A" * (480 << 10), "a message of 491,538 bytes"),
]


def part(data: bytes) -> str:
    """One part of a token."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(payload: object, header: object = {"alg": "ES256"}, signature: str = "c2k") -> str:
    """A token with these two JSON objects, or with these bytes in place of them."""
    made = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in (header, payload)]
    return ".".join((*map(part, made), signature))


ALICE, ADMIN = token({"sub": "alice"}), token({"sub": "admin"})
NOT_JSON = "a token that is not JSON"
NO_OBJECT = "a token that is no JSON object"
TWICE = "a token with a member that is there twice"
OTHER_BASE64 = "a token in another base64url than the canonical one"
NO_NAME = 'a token without a name in its claim "sub"'
HEADER = "a token with a header that is not taken"

JWT = [
    ("", "a token that is no JWT"),
    ("e30.e30", "a token that is no JWT"),
    (ALICE + ".", "a token that is no JWT"),
    ("..", NOT_JSON),
    (ALICE.replace(".", ".AAA", 1), "a token that is not in base64url"),
    (ALICE[:-1] + "l", OTHER_BASE64),
    (ALICE.replace(part(b'{"sub": "alice"}'), part(b'{"sub": "alice"}')[:-1] + "R"), OTHER_BASE64),
    (ALICE + "=", "a token that is not in base64url"),
    (ALICE.replace(".", "+.", 1), "a token that is not in base64url"),
    (ALICE.replace(".", ". ", 1), "a token that is not in base64url"),
    (token(b'{"sub": "alice", "sub": "admin"}'), TWICE),
    (token(b'{"sub": "alice", "s\\u0075b": "admin"}'), TWICE),
    (token(b'{"sub": "alice", "x": {"y": 1, "y": 1}}'), TWICE),
    (token({"sub": "alice"}, b'{"alg": "none", "alg": "ES256"}'), TWICE),
    (token({"sub": "alice"}, b'{"alg": "ES256", "kid": "1", "kid": "2"}'), TWICE),
    (token({"sub": 7}), 'a token whose claim "sub" is no text'),
    (token({"sub": True}), 'a token whose claim "sub" is no text'),
    (token({"sub": None}), 'a token whose claim "sub" is no text'),
    (token({"sub": ["alice"]}), 'a token whose claim "sub" is no text'),
    (token({"sub": {"name": "alice"}}), 'a token whose claim "sub" is no text'),
    (token({}), NO_NAME),
    (token({"Sub": "alice"}), NO_NAME),
    (token({"sub": "alice", "exp": "1"}), 'a token whose claim "exp" is no time'),
    (token({"sub": "alice", "exp": True}), 'a token whose claim "exp" is no time'),
    (token({"sub": "alice", "nbf": -1}), 'a token whose claim "nbf" is no time'),
    (token({"sub": "alice", "iat": 10**400}), 'a token whose claim "iat" is no time'),
    (token(b'{"sub": "alice", "exp": 1e999}'), 'a token whose claim "exp" is no time'),
    (token({"sub": "alice", "iss": 1}), 'a token whose claim "iss" is no text'),
    (token({"sub": "alice", "aud": {"kafka": 1}}), 'a token whose claim "aud" is no text'),
    (token({"sub": "alice", "aud": ["kafka", 1]}), 'a token whose claim "aud" is no text'),
    (token(b'{"sub": "alice", "exp": NaN}'), "a token with a number that is none"),
    (token(b'{"sub": "alice", "x": [-Infinity]}'), "a token with a number that is none"),
    (token(b'{"sub": "alice", "x": %s}' % (b"9" * 5000)), NOT_JSON),
    (token(b'{"sub": "alice"} {"sub": "admin"}'), NOT_JSON),
    (token(b'{"sub": "alice",}'), NOT_JSON),
    (token(b'{"sub": "ali\nce"}'), NOT_JSON),
    (token(b'{"sub": "ali\\xce"}'), NOT_JSON),
    (token(b'{"sub": "ali\xffce"}'), NOT_JSON),
    (token(b"{'sub': 'alice'}"), NOT_JSON),
    (token(b'\xef\xbb\xbf{"sub": "alice"}'), NOT_JSON),
    (token('{"sub": "alice"}'.encode("utf-16")), NOT_JSON),
    (token(b"[" * 40_000), NOT_JSON),
    (token([{"sub": "alice"}]), NO_OBJECT),
    (token(ADMIN.encode(), {"alg": "ES256", "cty": "JWT"}), NOT_JSON),
    (token({"sub": "alice"}, {"alg": "ES256", "cty": "JWT"}), HEADER),
    (token({"sub": "alice"}, {"alg": "ES256", "b64": False, "crit": ["b64"]}), HEADER),
    (token({"sub": "alice"}, {"alg": "ES256", "crit": ["exp"]}), HEADER),
    (token({"sub": "alice"}, {"alg": "ES256", "zip": "DEF"}), HEADER),
    (token({"sub": "alice"}, {"alg": ["none"]}), HEADER),
    (token({"sub": "alice"}, {"typ": "JWT"}), HEADER),
    (token({"sub": "alice"}, []), NO_OBJECT),
    (token(b'{"sub": "\\ud800"}'), "a token with half a character in its name"),
    (token(b'{"sub": "alice\\u0000"}'), UNSEEN),
    *((token({"sub": name.decode()}), why) for name, why in NAMES if why not in (NOT_UTF8,)),
]

NOT_BEARER = "a message that is not OAUTHBEARER's first"
KEY_TWICE = "a key that is there twice, or that looks like another"
NO_TOKEN = "no bearer token"
BEARER = [
    *(
        (message, NOT_BEARER)
        for message in (
            b"",
            b"\x01",
            b"n,,",
            b"n,,\x01\x01",
            b"n,,\x01auth=Bearer abc",
            b"n,,\x01auth=Bearer abc\x01",
            b"n,,\x01auth=Bearer abc\x01\x01\x01",
            b"n,,\x01auth=Bearer abc\x01\x01auth=Bearer def\x01\x01",
            b"n,,auth=Bearer abc\x01\x01",
            b"y,,\x01auth=Bearer abc\x01\x01",
            b"p=tls-unique,,\x01auth=Bearer abc\x01\x01",
            b"n,a=,\x01auth=Bearer abc\x01\x01",
            b"n,a=b=20c,\x01auth=Bearer abc\x01\x01",
            b"n,,\x01auth=\x01\x01",
            b"n,,\x01auth\x01\x01",
            b"n,,\x01auth =Bearer abc\x01\x01",
            b"n,,\x01x-y=1\x01auth=Bearer abc\x01\x01",
            b"n,,\x01auth=Bearer abc\x01x=\xff\x01\x01",
            b"n,,\x01auth=Bearer ab\0c\x01\x01",
        )
    ),
    (b"n,,\x01auth=Bearer %b\x01auth=Bearer %b\x01\x01" % (ADMIN.encode(), ALICE.encode()), KEY_TWICE),
    (b"n,,\x01auth=Bearer abc\x01auth=Bearer abc\x01\x01", KEY_TWICE),
    (b"n,,\x01Auth=Bearer abc\x01auth=Bearer abc\x01\x01", KEY_TWICE),
    (b"n,,\x01auth=Bearer abc\x01x=1\x01x=2\x01\x01", KEY_TWICE),
    (b"n,,\x01host=kafka\x01\x01", NO_TOKEN),
    (b"n,,\x01auth=Basic abc\x01\x01", NO_TOKEN),
    (b"n,,\x01auth=abc\x01\x01", NO_TOKEN),
    (b"n,,\x01auth=Bearer  abc\x01\x01", NO_TOKEN),
    (b"n,,\x01auth= Bearer abc\x01\x01", NO_TOKEN),
    (b"n,,\x01auth=Bearer abc \x01\x01", NO_TOKEN),
    (b"n,,\x01auth=Bearer abc def\x01\x01", NO_TOKEN),
    (b"n,,\x01auth=Bearer\tabc\x01\x01", NO_TOKEN),
    (b"n,,\x01auth=Bearer abc=\x01\x01", NO_TOKEN),
    (b"n,,\x01auth=Bearer a,b\x01\x01", NO_TOKEN),
    (
        b"n,,\x01auth=Bearer %b\x01\x01" % (b"a" * (LONGEST_TOKEN + 1)),
        "a token of 65,537 bytes, over the limit of 65,536",
    ),
    (b"n,,\x01" + b"\x01" * (480 << 10), "a message of 491,524 bytes"),
]
