"""SCRAM messages: what they contain, and what is refused."""

import base64

import pytest
from scramp import ScramClient

from proxy.core.sasl.name import ClaimError
from proxy.core.sasl.scram import ClientFinal, ClientFirst, final, first
from tests.proxy.core.sasl.odd import SCRAM, SCRAM_FINAL

ALICE = ClientFirst("alice", False, b"abc", b"n,,", b"n=alice,r=abc")


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"n,,n=alice,r=abc", ALICE),
        (b"n,a=alice,n=alice,r=abc", ALICE._replace(header=b"n,a=alice,")),
        (b"n,,n=a=2Cb=3Dc=3D2C,r=a=b", ClientFirst("a,b=c=2C", False, b"a=b", b"n,,", b"n=a=2Cb=3Dc=3D2C,r=a=b")),
        (b"n,,n=id7,r=abc,tokenauth=true", ClientFirst("id7", True, b"abc", b"n,,", b"n=id7,r=abc,tokenauth=true")),
        ("n,,n=zoë,r=abc".encode(), ClientFirst("zoë", False, b"abc", b"n,,", "n=zoë,r=abc".encode())),
    ],
)
def test_the_first_message_says_who_it_is(token: bytes, said: ClientFirst) -> None:
    assert first(token) == said


@pytest.mark.parametrize(("token", "why"), SCRAM)
def test_an_odd_first_message_is_refused(token: bytes, why: str) -> None:
    with pytest.raises(ClaimError) as raised:
        first(token)
    assert str(raised.value) == why


@pytest.mark.parametrize(("mechanism", "size"), [("SCRAM-SHA-256", 32), ("SCRAM-SHA-512", 64)])
def test_the_final_message_goes_on_from_the_first(mechanism: str, size: int) -> None:
    proof = bytes(range(size))
    message = b"c=biws,r=abcdef,p=" + base64.b64encode(proof)
    assert final(message, ALICE, mechanism) == ClientFinal(b"abcdef", proof, b"c=biws,r=abcdef")


@pytest.mark.parametrize(("token", "why"), SCRAM_FINAL)
def test_an_odd_final_message_is_refused(token: bytes, why: str) -> None:
    with pytest.raises(ClaimError) as raised:
        final(token, ALICE, "SCRAM-SHA-256")
    assert str(raised.value) == why


def test_a_header_with_an_authorization_id_is_repeated_too() -> None:
    begun = first(b"n,a=alice,n=alice,r=abc")
    proof = base64.b64encode(bytes(32))
    with pytest.raises(ClaimError):
        final(b"c=biws,r=abcdef,p=" + proof, begun, "SCRAM-SHA-256")
    channel = base64.b64encode(b"n,a=alice,")
    assert final(b"c=%b,r=abcdef,p=%b" % (channel, proof), begun, "SCRAM-SHA-256").nonce == b"abcdef"


@pytest.mark.parametrize("user", ["alice", "a,b=c", "zoë"])
def test_what_a_client_library_says_is_taken(user: str) -> None:
    client = ScramClient(["SCRAM-SHA-512"], user, "secret")
    begun = first(client.get_client_first().encode())
    assert begun.user == user
    client.set_server_first(f"r={begun.nonce.decode()}more,s={base64.b64encode(bytes(16)).decode()},i=4096")
    assert final(client.get_client_final().encode(), begun, "SCRAM-SHA-512").nonce == begun.nonce + b"more"
