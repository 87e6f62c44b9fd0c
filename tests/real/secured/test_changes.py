"""Changes of certificates, CAs, passwords and sessions under load: no client loses a record or a connection."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import ExitStack

import pytest

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from tests.certificates import Authority
from tests.real.records import patiently
from tests.real.secured.clients import As, knock
from tests.real.secured.cluster import PASSWORDS
from tests.real.secured.guarding import HOST, PLAIN, TLS, Guarding
from tests.real.secured.load import JavaLoad, Load
from tests.real.secured.papers import show

pytestmark = pytest.mark.real

PROMPT = 3.0  # seconds until a change must be in force; half a second is usual


def shown(guarding: Guarding) -> bytes:
    """The certificate that the proxy presents now."""
    host, port = guarding.at("inspected", TLS).split(":")
    context = ssl.create_default_context(cafile=guarding.trusted.authority)
    with socket.create_connection((host, int(port))) as plain, context.wrap_socket(plain, server_hostname=HOST) as own:
        return own.getpeercert(True) or b""


@pytest.mark.parametrize("times", [10, pytest.param(100, marks=pytest.mark.long)])
def test_certificates_and_passwords_change_under_load(guarding: Guarding, times: int) -> None:
    """The proxy's certificates for clients and for brokers, and alice's password."""
    authority = guarding.cluster.authority
    known = {name: verifiers(password) for name, password in PASSWORDS.items()}
    loads = {
        "bob-inspected": Load(guarding.client("inspected", TLS, "SCRAM-SHA-512", "bob"), f"bob-changes-{times}"),
        "bob-terminated": Load(guarding.client("terminated", TLS, "PLAIN", "bob"), f"doorkeeper-changes-{times}"),
        "certified": JavaLoad(
            As(guarding.at("certified", TLS), None, papers=guarding.shown("Bob")), f"doorkeeper-certified-{times}"
        ),
    }
    slowest = 0.0
    try:
        with ExitStack() as stack:
            for load in loads.values():
                stack.enter_context(load)
            for number in range(times):
                with (
                    guarding.tells('"certificates reloaded"', '"clusters.certified-tls.tls"'),
                    guarding.tells('"credentials reloaded"'),
                ):
                    certificate, _ = authority.issue("server", HOST, "localhost")
                    authority.issue("doorkeeper", organization="Clients")
                    save(guarding.users, known | {"alice": verifiers(f"new-{number}")})
                    began = time.monotonic()
                    expected = ssl.PEM_cert_to_DER_cert(certificate.read_text())
                    for _ in patiently("the new certificate is shown", PROMPT):
                        if shown(guarding) == expected:
                            break
                slowest = max(slowest, time.monotonic() - began)
                alice = guarding.client("terminated", PLAIN, "PLAIN")
                assert knock(alice._replace(password=f"new-{number}")) is None
            assert knock(alice._replace(password="new-0")) is not None
    finally:
        save(guarding.users, known)
    print(f"{times} changes, each in force within {slowest:.2f} s")


def test_whom_we_trust_changes_under_load(guarding: Guarding) -> None:
    """A second CA is trusted for client certificates, and then it alone; existing connections stay."""
    first = guarding.cluster.authority
    folder = guarding.folder / "second"
    folder.mkdir()
    second = Authority(folder, "second")
    old = As(guarding.at("certified", TLS), None, papers=guarding.shown("Alice"))
    new = old._replace(papers=show(guarding.trusted, second, *second.issue("Alice", organization="Clients")))
    reread = ('"certificates reloaded"', '"listeners.certified-tls.tls"')
    file = guarding.clients_authority
    try:
        with JavaLoad(old, "doorkeeper-trusting"):
            assert (knock(old) is None, knock(new) is None) == (True, False)
            with guarding.tells(*reread):
                file.write_text(first.file.read_text() + second.file.read_text())
            assert (knock(old) is None, knock(new) is None) == (True, True)
            with guarding.tells(*reread):
                file.write_text(second.file.read_text())
            assert (knock(old) is None, knock(new) is None) == (False, True)
    finally:
        with guarding.tells(*reread):
            file.write_text(first.file.read_text())


@pytest.mark.parametrize("renewals", [2, pytest.param(20, marks=pytest.mark.long)])
def test_sessions_are_renewed_on_both_sides_under_load(guarding: Guarding, renewals: int) -> None:
    """Clients' sessions with the proxy or the brokers end after eight seconds, and so do the proxy's own sessions."""
    alice = {
        "renewed": guarding.client("renewed", PLAIN, "SCRAM-SHA-256"),
        "terminated": guarding.client("terminated", PLAIN, "SCRAM-SHA-512"),
        "tokens": guarding.client("tokens", TLS, "OAUTHBEARER"),
    }
    owner = {"renewed": "alice", "terminated": "doorkeeper", "tokens": "doorkeeper"}
    with ExitStack() as stack:
        loads: list[Load | JavaLoad] = [Load(who, f"{owner[way]}-renewals-{renewals}") for way, who in alice.items()]
        loads += [JavaLoad(alice[way], f"{owner[way]}-renewals-{renewals}") for way in ("renewed", "terminated")]
        for load in loads:
            stack.enter_context(load)
        for way in alice:
            stack.enter_context(guarding.tells('"client authenticated"', '"again": true', f'"listener": "{way}-'))
        for load in loads:
            if isinstance(load, JavaLoad):
                load.wait_renewed(renewals)  # the sum over its several connections
