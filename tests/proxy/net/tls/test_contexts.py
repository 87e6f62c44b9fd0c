"""TLS contexts: which certificates are presented, and which are trusted."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography import x509

from proxy.config.tls import ClusterTls, ListenerTls, Pair
from proxy.net.tls.contexts import Shaken, for_brokers, for_clients
from tests.certificates import Authority
from tests.proxy.net.tls.pairs import ends, read_all, shaken


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def shown(authority: Authority, name: str, *hosts: str) -> Pair:
    certificate, key = authority.issue(name, *hosts)
    return Pair(certificate=str(certificate), key=str(key))


def listener(authority: Authority, **more: object) -> ListenerTls:
    own = shown(authority, "server", "kafka.example.com")
    return ListenerTls.model_validate(own.model_dump() | more)


def anybody(name: str | None) -> bool:
    return True


def client(authority: Authority, own: Pair | None = None, **more: object) -> ssl.SSLContext:
    given = own.model_dump() if own else {}
    return for_brokers(ClusterTls.model_validate({"ca": str(authority.file), **given, **more}))


@pytest.mark.parametrize("host", ["kafka.example.com", "KAFKA_1", "localhost", "a" * 63 + ".b"])
async def test_a_host_name_is_taken_whatever_its_case(authority: Authority, host: str) -> None:
    one, two = ends(for_clients(listener(authority), anybody), client(authority, verify_host=False), host)
    assert await shaken(one, two) == []
    assert isinstance(one.tls, Shaken)
    assert one.tls.asked == host.lower()


@pytest.mark.parametrize("host", ["kafka.example.com.", "a b", "a\nb", "a\x1b[2J", "a/b", "a:1", "%00", "a@b"])
async def test_what_is_no_host_name_is_refused(authority: Authority, host: str) -> None:
    one, two = ends(for_clients(listener(authority), anybody), client(authority, verify_host=False), host)
    assert await shaken(one, two)
    assert isinstance(one.tls, Shaken)
    assert one.tls.unknown


async def test_a_client_that_must_show_a_certificate_and_does_is_known(authority: Authority) -> None:
    server = for_clients(listener(authority, client_auth="required", ca=str(authority.file)), anybody)
    one, two = ends(server, client(authority, shown(authority, "alice")))
    assert await shaken(one, two) == []
    der = one.tls.getpeercert(True)
    assert der is not None
    assert x509.load_der_x509_certificate(der).subject.rfc4514_string() == "CN=alice"


async def test_a_client_that_must_show_a_certificate_and_does_not_is_refused(authority: Authority) -> None:
    server = for_clients(listener(authority, client_auth="required", ca=str(authority.file)), anybody)
    assert await shaken(*ends(server, client(authority))) == ["it showed no certificate, and must (client_auth)"]


async def test_a_foreign_or_expired_certificate_is_refused(authority: Authority, tmp_path: Path) -> None:
    server = for_clients(listener(authority, client_auth="requested", ca=str(authority.file)), anybody)
    (tmp_path / "foreign").mkdir()
    foreign = shown(Authority(tmp_path / "foreign", "elsewhere"), "mallory")
    (why,) = await shaken(*ends(server, client(authority, foreign)))
    assert "its certificate is not accepted" in why
    assert await shaken(*ends(server, client(authority))) == []


async def test_a_server_is_refused_that_is_not_whom_the_client_asked_for(authority: Authority) -> None:
    server = for_clients(listener(authority), anybody)
    problems = await shaken(*ends(server, client(authority), "other.example.com"))
    assert any("Hostname mismatch" in problem for problem in problems)
    assert await shaken(*ends(server, client(authority, verify_host=False), "other.example.com")) == []


async def test_the_certificate_is_chosen_by_name(authority: Authority) -> None:
    other = shown(authority, "other", "*.other.example.com")
    server = for_clients(listener(authority, certificates=(other.model_dump(),)), anybody)
    for host in ("kafka.example.com", "b-1.other.example.com"):
        one, two = ends(server, client(authority), host)
        assert await shaken(one, two) == []
        assert isinstance(one.tls, Shaken)
        assert one.tls.asked == host


async def test_an_unknown_name_is_refused_as_tls_refuses_it(authority: Authority) -> None:
    server = for_clients(listener(authority), lambda name: name == "kafka.example.com")
    assert await shaken(*ends(server, client(authority))) == []
    problems = await shaken(*ends(server, client(authority), "nobody.example.com"))
    assert "it knows no host of this name" in problems


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
async def test_sessions_are_resumed_and_the_client_is_still_known(authority: Authority, version: str) -> None:
    options = {"client_auth": "required", "ca": str(authority.file), "versions": (version,)}
    server, own = for_clients(listener(authority, **options), anybody), client(authority, shown(authority, "alice"))
    one, two = ends(server, own)
    assert await shaken(one, two) == []
    one.send(b"x")
    assert read_all(two) == b"x"  # and the tickets of TLS 1.3
    session = two.tls.session
    one, two = ends(server, own)
    two.tls.session = session
    assert await shaken(one, two) == []
    assert one.tls.session_reused
    assert one.tls.getpeercert(True)
    assert one.tls.version() == version


async def test_what_is_not_allowed_is_not_spoken(authority: Authority) -> None:
    server = for_clients(listener(authority, versions=("TLSv1.3",)), anybody)
    problems = await shaken(*ends(server, client(authority, versions=("TLSv1.2",))))
    assert any("versions" in problem for problem in problems)


async def test_a_store_serves_like_files(authority: Authority) -> None:
    store = authority.store("stored", "kafka.example.com")
    server = for_clients(ListenerTls(keystore=str(store), keystore_password="secret"), anybody)
    assert await shaken(*ends(server, client(authority))) == []
