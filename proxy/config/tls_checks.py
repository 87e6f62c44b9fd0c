"""Checks of TLS: the contents of the files, and options that have no effect without each other.

Rules:
* These problems are reported before anything is served. A certificate that expires soon, or a key that others can read,
  is a warning, because it works today.
"""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from proxy.config.certificates import exposed, identity, trusted
from proxy.config.certified import CertifiedKey, present
from proxy.config.model import Config
from proxy.config.tls import ID, ListenerTls, Pair, Trusting, UnusableError, broker_named
from proxy.text.places import KeyPath
from proxy.text.problems import Finding

SOON = timedelta(days=7)


def findings(config: Config) -> Iterator[Finding]:
    """Everything wrong with TLS, towards clients and towards brokers."""
    for name, listener in config.listeners.items():
        if listener.tls is not None:
            yield from _listener(("listeners", name, "tls"), listener.tls, listener.advertise)
    for name, cluster in config.clusters.items():
        if cluster.tls is not None:
            path: KeyPath = ("clusters", name, "tls")
            yield from _trusting(path, cluster.tls)
            yield from _pair(path, cluster.tls)[1]
            if cluster.tls.server_name is not None and not cluster.tls.verify_host:
                fact = '"server_name" is not looked at with "verify_host: false"'
                yield Finding((*path, "verify_host"), f"{fact}; leave one of the two out", warning=True)


def _listener(path: KeyPath, tls: ListenerTls, advertise: str | None) -> Iterator[Finding]:
    yield from _trusting(path, tls)
    found, problems = _pair(path, tls)
    yield from problems
    shown = [found] if found else []
    if not tls.given:
        example = 'write e.g. "{certificate: tls/server.pem, key: tls/server.key}"'
        yield Finding(path, f"a listener has no TLS without a certificate; {example}")
    for index, pair in enumerate(tls.certificates):
        place = (*path, "certificates", index)
        found, problems = _pair(place, pair)
        yield from problems
        shown += [found] if found else []
        if not pair.given:
            yield Finding(place, 'no certificate is named; give "certificate" and "key", or "keystore"')
    if tls.client_auth != "none" and tls.ca is None:
        fact = f'no authority is given for "client_auth: {tls.client_auth}"'
        yield Finding((*path, "client_auth"), f'{fact}; name the one that signs the clients\' certificates as "ca"')
    if tls.client_auth == "none" and tls.ca is not None:
        way_out = 'add "client_auth: required" (or requested), or leave it out'
        yield Finding((*path, "ca"), f"clients are not asked for a certificate; {way_out}", warning=True)
    if tls.hosts is not None:
        if advertise is None:
            way_out = 'add "advertise:" to the listener'
            yield Finding((*path, "hosts"), f"with host names, clients need one to begin at; {way_out}")
        elif (broker_id := broker_named(tls.hosts, advertise.lower())) is not None:
            fact = f'clients that begin at "{advertise}" ask for broker {broker_id} by this pattern'
            yield Finding((*path, "hosts"), f'{fact}; write another name as "advertise:"')
        if len(shown) == 1 + len(tls.certificates):
            yield from _coverage((*path, "hosts"), tls.hosts, advertise, shown)


def _coverage(path: KeyPath, hosts: str, advertise: str | None, shown: list[CertifiedKey]) -> Iterator[Finding]:
    for host in (advertise, hosts.replace(ID, "0")):
        if host is not None and not any(each.covers(host) for each in shown):
            way_out = "clients that verify host names will refuse it; add the name, or a wildcard, to a certificate"
            yield Finding(path, f'no certificate is valid for "{host}"; {way_out}', warning=True)


def _trusting(path: KeyPath, tls: Trusting) -> Iterator[Finding]:
    if tls.ca_password and tls.ca is None:
        yield Finding((*path, "ca_password"), 'there is no "ca"; name it, or leave the password out')
    try:
        trusted(tls)
    except UnusableError as error:
        yield Finding((*path, error.option), str(error))


def _pair(path: KeyPath, pair: Pair) -> tuple[CertifiedKey | None, list[Finding]]:
    """The certificate, if there is one, and what is wrong with it."""
    found = _contradictions(path, pair)
    if any(not finding.warning for finding in found):
        return None, found
    try:
        shown = identity(pair)
        if shown is not None:
            present(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), shown, pair)
    except UnusableError as error:
        return None, [*found, Finding((*path, error.option), str(error))]
    for option, file in (("key", pair.key or pair.certificate), ("keystore", pair.keystore)):
        if file is not None and exposed(file):
            fact = f'everybody on this machine can read the key in "{file}"'
            found.append(Finding((*path, option), f"{fact}; run: chmod o-r {file}", warning=True))
    if shown is not None and shown.not_after - datetime.now(UTC) < SOON:
        place = (*path, "keystore" if pair.keystore else "certificate")
        found.append(Finding(place, f"the certificate expires on {shown.not_after:%Y-%m-%d}; renew it", warning=True))
    return shown, found


def _contradictions(path: KeyPath, pair: Pair) -> list[Finding]:
    """Options that require or exclude each other."""
    if pair.keystore and (pair.certificate or pair.key):
        way_out = 'leave out "keystore", or "certificate" and "key"'
        return [Finding((*path, "keystore"), f"a store and files are named for one certificate; {way_out}")]
    if pair.key and not pair.certificate:
        return [Finding((*path, "key"), 'a key without its certificate; name the certificate as "certificate"')]
    if pair.keystore_password and not pair.keystore:
        return [Finding((*path, "keystore_password"), 'there is no "keystore"; name it, or leave the password out')]
    if pair.key_password and not pair.certificate:
        return [Finding((*path, "key_password"), 'there is no "key"; name it, or leave the password out')]
    return []
