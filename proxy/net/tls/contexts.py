"""Contexts: OpenSSL contexts from the TLS options, with certificates to present and authorities to trust.

Rules:
* The certificate is chosen by the name that the client asks for (SNI). If none is valid for it, the first is presented.
* With a host name for each broker, any other name is refused with an alert (`unrecognized_name`). So is no name.
* Every listener refuses a name that is no host name by RFC 6066, as Java does: for example one that ends with a dot.
* ALPN is ignored. Sessions are resumed by tickets. After a listener's files have changed, no old session is resumed.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable

from proxy.config.certificates import identity, trusted
from proxy.config.certified import CertifiedKey, present
from proxy.config.sasl import Elsewhere
from proxy.config.tls import ClusterTls, ListenerTls, Pair, Trusting

ASKED = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}

HOST = re.compile(r"(?!.*\.$)[-_.a-z0-9]{1,253}")  # with "_", which some container networks use

IsKnownName = Callable[[str | None], bool]


class Shaken(ssl.SSLObject):
    """A TLS object that remembers the name that the client asked for, and whether it was refused for that name."""

    asked: str | None = None
    unknown = False


def for_clients(tls: ListenerTls, known: IsKnownName) -> ssl.SSLContext:
    """The context of a listener. `known` says which names it answers to. Raises UnusableError."""
    identities = [found for pair in (tls, *tls.certificates) if (found := identity(pair))]
    authorities = trusted(tls)
    contexts = [_server(tls, each, authorities) for each in identities]
    first = contexts[0]

    def named(shaken: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        assert isinstance(shaken, Shaken)
        shaken.asked = name = name and name.lower()
        if (name is not None and HOST.fullmatch(name) is None) or not known(name):
            shaken.unknown = True
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        if name is not None and not identities[0].covers(name):
            fitting = (context for each, context in zip(identities, contexts, strict=True) if each.covers(name))
            shaken.context = next(fitting, first)
        return None

    first.sni_callback = named
    return first


def for_brokers(tls: ClusterTls) -> ssl.SSLContext:
    """The context for the brokers of a cluster. Raises UnusableError."""
    context = trusting(tls)
    context.check_hostname = tls.verify_host
    _versions(context, tls)
    own = identity(tls)
    if own is not None:
        present(context, own, tls)
    return context


def trusting(whom: ClusterTls | Elsewhere) -> ssl.SSLContext:
    """A client context that trusts these authorities. Raises UnusableError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authorities = trusted(whom)
    if authorities is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=authorities)
    return context


def files(tls: Trusting) -> list[str]:
    """All files that these options name."""
    pairs: list[Pair] = [tls, *(tls.certificates if isinstance(tls, ListenerTls) else ())]
    named = [tls.ca, *(file for pair in pairs for file in (pair.certificate, pair.key, pair.keystore))]
    return [file for file in named if file is not None]


def _server(tls: ListenerTls, shown: CertifiedKey, authorities: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslobject_class = Shaken
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.num_tickets = 1  # clients keep one session for each broker; a second ticket takes 12 us without use
    _versions(context, tls)
    present(context, shown, tls)
    context.verify_mode = ASKED[tls.client_auth]
    if authorities is not None and tls.client_auth != "none":
        context.load_verify_locations(cadata=authorities)
    return context


def _versions(context: ssl.SSLContext, tls: Trusting) -> None:
    spoken = [VERSIONS[version] for version in tls.versions]
    context.minimum_version, context.maximum_version = min(spoken), max(spoken)
