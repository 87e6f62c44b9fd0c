"""Checks of SASL: which options belong together, and whether the files that they name can be used."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import SecretStr

from proxy.auth import users
from proxy.auth.identity import Password
from proxy.auth.keys import load_keys
from proxy.auth.speakers import LoginError
from proxy.config.model import Config
from proxy.config.sasl import BY_PASSWORD, ClusterSasl, Elsewhere, ListenerSasl
from proxy.config.tls import UnusableError
from proxy.text.places import KeyPath
from proxy.text.problems import BadFileError, Finding


def findings(config: Config) -> Iterator[Finding]:
    """Everything wrong between the options of SASL."""
    for name, cluster in config.clusters.items():
        if cluster.sasl is not None:
            yield from _cluster(("clusters", name, "sasl"), cluster.sasl)
    for name, listener in config.listeners.items():
        if listener.sasl is not None:
            path = ("listeners", name, "sasl")
            yield from _listener(path, listener.sasl)
            if "PLAIN" in listener.sasl.mechanisms and listener.tls is None and not _is_local(listener.bind.host):
                fact = "PLAIN without TLS shows passwords to whoever is on the way"
                yield Finding((*path, "mechanisms"), f'{fact}; add "tls:", or offer SCRAM alone', warning=True)


def _is_local(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _listener(path: KeyPath, sasl: ListenerSasl) -> Iterator[Finding]:
    twice = {name for name in sasl.mechanisms if sasl.mechanisms.count(name) > 1}
    for name in sorted(twice):
        yield Finding((*path, "mechanisms"), f"{name} stands here twice; keep one of the two")
    by_password = [name for name in sasl.mechanisms if name in BY_PASSWORD]
    if by_password and sasl.credentials is None:
        fact = f'{by_password[0]} needs "credentials"'
        yield Finding(path, f'{fact}; write "credentials: users.yaml", and run "doorkeeper users add users.yaml NAME"')
    if sasl.credentials is not None and not by_password:
        way_out = "leave them out, or add a mechanism: " + ", ".join(sorted(BY_PASSWORD))
        yield Finding((*path, "credentials"), f"no mechanism uses these credentials; {way_out}")
    yield from _tokens(path, sasl)
    if sasl.credentials is not None:
        yield from _credentials((*path, "credentials"), sasl.credentials)


def _tokens(path: KeyPath, sasl: ListenerSasl) -> Iterator[Finding]:
    tokens, offered = sasl.oauthbearer, "OAUTHBEARER" in sasl.mechanisms
    if tokens is None:
        if offered:
            yield Finding(path, 'OAUTHBEARER needs "oauthbearer"; write e.g. "oauthbearer: {jwks: keys.json}"')
        return
    path = (*path, "oauthbearer")
    yield from _elsewhere(path, tokens, tokens.jwks or "")
    if not offered:
        yield Finding(path, 'no mechanism uses this; leave it out, or add "OAUTHBEARER" to "mechanisms"')
    if tokens.unsecured and tokens.jwks is not None:
        yield Finding(
            (*path, "unsecured"), 'unsecured tokens have no signature to check by "jwks"; keep one of the two'
        )
    elif tokens.unsecured:
        yield Finding((*path, "unsecured"), "anybody can be anybody here; for tests only", warning=True)
    elif tokens.jwks is None:
        yield Finding(path, '"jwks" is missing; write a file or an "https://" URL of the issuer\'s public keys')
    elif tokens.jwks.startswith("http://"):
        yield Finding((*path, "jwks"), "keys over http can be changed on the way; write https", warning=True)
    elif "://" not in tokens.jwks:
        try:
            load_keys(tokens.jwks)
        except BadFileError as error:
            yield Finding((*path, "jwks"), str(error))
    if tokens.jwks is not None and not tokens.unsecured and not tokens.audience:
        yield Finding(path, 'tokens for anybody else count too; write "audience:"', warning=True)


def _elsewhere(path: KeyPath, section: Elsewhere, url: str) -> Iterator[Finding]:
    if section.ca is None:
        if section.ca_password:
            yield Finding((*path, "ca_password"), 'there is no "ca"; name it, or leave the password out')
        return
    if not url.startswith("https://"):
        yield Finding((*path, "ca"), 'nothing is fetched from an "https://" URL here; leave it out')
        return
    from proxy.config.certificates import trusted  # its import takes 10 MB, so only where certificates are read

    try:
        trusted(section)
    except UnusableError as error:
        yield Finding((*path, error.option), str(error))


def _cluster(path: KeyPath, sasl: ClusterSasl) -> Iterator[Finding]:
    for one, other in (("username", "password"), ("password", "username")):
        if getattr(sasl, one) is not None and getattr(sasl, other) is None:
            yield Finding((*path, one), f'"{one}" needs "{other}"; write both')
    for principal in sasl.identities or ():
        if not principal.startswith("User:"):
            fact = f'no client has the principal "{principal}"'
            yield Finding((*path, "identities", principal), f'{fact}; write "User:{principal}"')
    yield from _unsendable(path, sasl)
    if sasl.mechanism == "OAUTHBEARER":
        if sasl.oauthbearer is None:
            yield Finding(path, 'OAUTHBEARER needs "oauthbearer"; write where its tokens come from')
        else:
            yield from _elsewhere((*path, "oauthbearer"), sasl.oauthbearer, sasl.oauthbearer.endpoint)
            if sasl.oauthbearer.endpoint.startswith("http://"):
                place = (*path, "oauthbearer", "endpoint")
                yield Finding(place, "over http our secret can be read on the way; write https", warning=True)
        for option in ("username", "identities"):
            if getattr(sasl, option) is not None:
                yield Finding((*path, option), f'OAUTHBEARER has no use for "{option}"; leave it out')
    elif sasl.oauthbearer is not None:
        yield Finding((*path, "oauthbearer"), f"{sasl.mechanism} has no use for tokens; leave it out")
    elif sasl.username is None and sasl.password is None:
        yield Finding(path, f'{sasl.mechanism} needs "username" and "password"; discovery speaks with them')


def _unsendable(path: KeyPath, sasl: ClusterSasl) -> Iterator[Finding]:
    """The names and passwords that the mechanism cannot send."""
    given: list[tuple[KeyPath, str, SecretStr]] = []
    if sasl.username is not None and sasl.password is not None:
        given.append((path, sasl.username, sasl.password))
    for principal, one in (sasl.identities or {}).items():
        given.append(((*path, "identities", principal), one.username, one.password))
    for place, user, password in given if sasl.mechanism in BY_PASSWORD else ():
        try:
            Password(sasl.mechanism, user, password.get_secret_value()).speak()
        except LoginError as error:
            yield Finding(place, f"{error}; correct it")
            continue
        for option, text in (("username", user), ("password", password.get_secret_value())):
            if text.strip("\r\n") != text:
                told = f"the {option} begins or ends with a line break; remove it, unless it is a part of it"
                yield Finding((*place, option), told, warning=True)


def _credentials(path: KeyPath, file: str) -> Iterator[Finding]:
    try:
        known = users.load(file)
    except BadFileError as error:
        for problem in error.problems:
            message = str(problem)
            if "no such file" in message:
                message = f'{file}: there is no such file; run "doorkeeper users add {file} NAME"'
            yield Finding(path, message)
    else:
        if not known:
            fact = f"{file} has no users: nobody can authenticate"
            yield Finding(path, f'{fact}; run "doorkeeper users add {file} NAME"', warning=True)
