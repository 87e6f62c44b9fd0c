"""Kafka's own SASL servers, which tell the principal that a broker gives a client.

They run as in brokers, with the brokers' own callback handlers for names, passwords and tokens.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from proxy.core.sasl.name import ClaimError
from proxy.core.sasl.observed import ObservedExchange
from tests.proxy.auth.issuer import Issuer
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError

PASSWORD = "secret"
Say = bytes | Callable[[bytes], bytes]  # a token, or a function that makes one from the broker's last token


class Servers:
    """Makes a SASL server for each mechanism and client."""

    def __init__(self, kafka: Kafka, issuer: Issuer, folder: Path) -> None:
        self._kafka = kafka
        self._security = kafka.common.security
        self.passwords = kafka.java.util.HashMap()  # the options of a JAAS file; Kafka sees later additions
        self._handlers = {
            "PLAIN": self._plain(),
            "OAUTHBEARER": self._signed(issuer, folder),
            "unsecured": self._unsecured(),
        }
        self._scram: dict[str, tuple[Any, Any, Any]] = {}

    def server(self, mechanism: str) -> Any:
        """A server for one client. "unsecured" is OAUTHBEARER without signatures."""
        if mechanism == "PLAIN":
            return self._security.plain.internals.PlainSaslServer(self._handlers[mechanism])
        if mechanism.startswith("SCRAM"):
            known, _, handler = self._of_scram(mechanism)
            return self._security.scram.internals.ScramSaslServer(known, {}, handler)
        return self._security.oauthbearer.internals.OAuthBearerSaslServer(self._handlers[mechanism])

    def credential(self, mechanism: str) -> Any:
        """The stored SCRAM credential of the one password."""
        return self._of_scram(mechanism)[1].get("")

    def know(self, mechanism: str, user: str) -> None:
        """Add a user with the one password."""
        if mechanism == "PLAIN":
            self.passwords["user_" + user] = PASSWORD
        else:
            self._of_scram(mechanism)[1].put(user, self.credential(mechanism))

    def _plain(self) -> Any:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        handler = self._security.plain.internals.PlainServerCallbackHandler()
        handler.configure({}, "PLAIN", [self._entry(module, self.passwords)])
        return handler

    def _of_scram(self, mechanism: str) -> tuple[Any, Any, Any]:
        if mechanism not in self._scram:
            scram = self._security.scram.internals
            known = scram.ScramMechanism.forMechanismName(mechanism)
            kind = self._kafka.java.lang.Class.forName("org.apache.kafka.common.security.scram.ScramCredential")
            users = self._security.authenticator.CredentialCache().createCache(mechanism, kind)
            credential = scram.ScramFormatter(known).generateCredential(PASSWORD, 4096)
            users.put("", credential)
            handler = scram.ScramServerCallbackHandler(users, self._tokens(mechanism, credential))
            handler.configure({}, mechanism, [])
            self._scram[mechanism] = known, users, handler
        return self._scram[mechanism]

    def _tokens(self, mechanism: str, credential: Any) -> Any:
        """A cache with carol's delegation token "id7"."""
        token = self._security.token.delegation
        carol = self._security.auth.KafkaPrincipal("User", "carol")
        about = token.TokenInformation("id7", carol, [], 0, 1 << 60, 1 << 60)
        cache = token.internals.DelegationTokenCache([mechanism])
        cache.updateCache(token.DelegationToken(about, b"hmac"), {mechanism: credential})
        return cache

    def _signed(self, issuer: Issuer, folder: Path) -> Any:
        keys = folder / "keys.json"
        keys.write_text(issuer.jwks)
        self._kafka.java.lang.System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", keys.as_uri())
        package = "org.apache.kafka.common.security.oauthbearer."
        settings = {
            "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
            "sasl.oauthbearer.jwt.validator.class": package + "BrokerJwtValidator",
            "sasl.oauthbearer.expected.audience": ["kafka"],
            "sasl.oauthbearer.sub.claim.name": "sub",
            "sasl.oauthbearer.scope.claim.name": "scope",
        }
        handler = self._security.oauthbearer.OAuthBearerValidatorCallbackHandler()
        handler.configure(settings, "OAUTHBEARER", [self._entry(package + "OAuthBearerLoginModule", {})])
        return handler

    def _unsecured(self) -> Any:
        module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
        unsecured = self._security.oauthbearer.internals.unsecured
        handler = unsecured.OAuthBearerUnsecuredValidatorCallbackHandler()
        handler.configure({}, "OAUTHBEARER", [self._entry(module, {})])
        return handler

    def _entry(self, module: str, options: Any) -> Any:
        entry = self._kafka.gateway.jvm.javax.security.auth.login.AppConfigurationEntry
        return entry(module, entry.LoginModuleControlFlag.REQUIRED, options)


def talk(server: Any, exchange: ObservedExchange, tokens: Sequence[Say], met: Counter[str]) -> None:
    """Play one client, with the proxy's exchange between it and Kafka's server, and count the outcome in `met`."""
    answer = b""
    for each in tokens:
        token = each if isinstance(each, bytes) else each(answer)
        refused = False
        try:
            exchange.client(token)
        except ClaimError:
            refused = True
        try:
            answer = bytes(server.evaluateResponse(token))
        except KafkaRefusedError:
            met["refused by both" if refused else "refused by Kafka alone"] += 1
            return
        taken = str(server.getAuthorizationID()) if server.isComplete() else None
        if refused:
            met["refused here, and Kafka takes it" if taken is not None else "refused here alone"] += 1
            return
        ours = exchange.broker(answer)
        assert ours == (taken is not None), f"{tokens}: Kafka takes it for {taken!r}, we do not know"
        if taken is not None:
            assert exchange.claim is not None
            named = exchange.claim.user
            assert named in (None, taken), f"{tokens}: Kafka takes it for {taken!r}, we for {named!r}"
            met["nobody named" if named is None else "the same name"] += 1
            return
    met["not decided"] += 1


def mutated(dice: random.Random, data: bytes, alphabet: bytes) -> bytes:
    """Change, insert, drop or double some bytes; most of the time none."""
    changed = bytearray(data)
    for _ in range(dice.choice((0,) * 12 + (1, 1, 2, 3))):
        at = dice.randrange(len(changed) + 1)
        match dice.randrange(4):
            case 0:
                changed[at : at + 1] = bytes((dice.choice(alphabet),))
            case 1:
                changed[at:at] = bytes((dice.choice(alphabet),))
            case 2:
                del changed[at : at + dice.randrange(1, 4)]
            case _:
                until = at + dice.randrange(1, 12)
                changed[at:at] = changed[at:until]
    return bytes(changed)
