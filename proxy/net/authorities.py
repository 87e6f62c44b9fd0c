"""Authorities: the authority that checks a listener's clients, and the proxy's identities at a cluster.

Credential files and fetched keys keep their name when another configuration comes. A file that two listeners name is
read once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from proxy.auth.authority import Begin, Failures, ListenerAuthority
from proxy.auth.identity import BearerIdentity, Identities, Password
from proxy.config.sasl import ClusterSasl, ListenerSasl, Oauthbearer
from proxy.core.sasl.authority import Exchange
from proxy.net.building import Building
from proxy.text.watched import WatchedFile

# The code that checks passwords and tokens, and that fetches, takes 25 MB. It is imported only where it is needed.
if TYPE_CHECKING:
    from proxy.auth.tokens import TokenValidator
    from proxy.auth.users import Users
    from proxy.net.fetching import FetchedToken

CREDENTIALS, KEYS = "credentials", "keys"  # kinds of built things: files, and fetched keys


def authority(building: Building, name: str, sasl: ListenerSasl, patience: float) -> ListenerAuthority:
    """The authority of a listener. Raises BadFileError."""
    failures = building.get(("failures",), None, Failures)
    ways = _ways(building, sasl)
    return building.get(
        ("authority", name), (sasl, patience), lambda: ListenerAuthority(ways, sasl.session, patience, failures)
    )


def _ways(building: Building, sasl: ListenerSasl) -> dict[str, Begin]:
    ways: dict[str, Begin] = {}
    for mechanism in sasl.mechanisms:
        if mechanism == "OAUTHBEARER":
            assert sasl.oauthbearer is not None, "a checked configuration has it"
            ways[mechanism] = partial(_bearer, _validator(building, sasl.oauthbearer))
        else:
            assert sasl.credentials is not None, "a checked configuration has them"
            ways[mechanism] = partial(_password, mechanism, _users(building, sasl.credentials))
    return ways


def _validator(building: Building, tokens: Oauthbearer) -> TokenValidator:
    from proxy.auth.keys import load_keys
    from proxy.auth.tokens import TokenValidator
    from proxy.net.fetching import FetchedKeys

    validator = TokenValidator(None, tokens.issuer, tokens.audience, tokens.scope, tokens.skew, tokens.principal_claim)
    if tokens.jwks is None:
        return validator
    if "://" in tokens.jwks:
        url = tokens.jwks
        fetched = building.get((KEYS, tokens), None, lambda: FetchedKeys(url, tokens))
        return replace(validator, keys=lambda: fetched.keys, missing=fetched.missing)
    file = _read(building, tokens.jwks, load_keys)
    return replace(validator, keys=lambda: file.value)


def _users(building: Building, file: str) -> WatchedFile[Users]:
    from proxy.auth import users

    return _read(building, file, users.load)


def _read(building: Building, file: str, load: Callable[[str], Any]) -> WatchedFile[Any]:
    return building.get((CREDENTIALS, file), load, lambda: WatchedFile(file, load))


class UpstreamIdentity(NamedTuple):
    """The proxy's identities at a cluster, and its token, if that is fetched."""

    identities: Identities
    token: FetchedToken | None


def upstream_identity(sasl: ClusterSasl) -> UpstreamIdentity:
    """The proxy's identities at a cluster, made of its options."""
    if sasl.oauthbearer is None:
        return UpstreamIdentity(_identities(sasl), None)
    from proxy.net.fetching import FetchedToken

    token = FetchedToken(sasl.oauthbearer)
    return UpstreamIdentity(Identities(BearerIdentity(token.current), {}), token)


def _identities(sasl: ClusterSasl) -> Identities:
    usual = None
    if sasl.username is not None and sasl.password is not None:
        usual = Password(sasl.mechanism, sasl.username, sasl.password.get_secret_value())
    mapped = {
        principal: Password(sasl.mechanism, one.username, one.password.get_secret_value())
        for principal, one in (sasl.identities or {}).items()
    }
    return Identities(usual, mapped)


def _bearer(validator: TokenValidator, again: bool) -> Exchange:
    from proxy.auth.tokens import BearerExchange

    return BearerExchange(validator, again)


def _password(mechanism: str, file: WatchedFile[Users], again: bool) -> Exchange:
    from proxy.auth.passwords import PlainExchange, ScramExchange

    def known() -> Users:
        return file.value

    return PlainExchange(known, again) if mechanism == "PLAIN" else ScramExchange(known, mechanism, again)
