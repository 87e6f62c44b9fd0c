"""Sayings: TLS errors in words, for OpenSSL's reasons and for alerts of the peer."""

from __future__ import annotations

import ssl

SAYINGS = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "it showed no certificate, and must (client_auth)",
    "UNSUPPORTED_PROTOCOL": "it speaks no version of TLS that is allowed here (versions)",
    "NO_SHARED_CIPHER": "no cipher is known to both sides",
    "TLSV1_ALERT_UNKNOWN_CA": "it does not trust the authority of our certificate",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "it does not accept our certificate",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it does not accept our certificate, or wants one",  # Java 17 means both
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "it takes our certificate for expired",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "it wants a certificate of ours, or a cipher or version that we have not",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it wants a certificate of ours",
    "TLSV1_UNRECOGNIZED_NAME": "it knows no host of this name",
    "WRONG_VERSION_NUMBER": "it does not speak TLS",
    "HTTPS_PROXY_REQUEST": "it speaks HTTP, not TLS",
    "HTTP_REQUEST": "it speaks HTTP, not TLS",
    "RECORD_LAYER_FAILURE": "it does not speak TLS",
}


class TlsError(OSError):
    """TLS ended, and why: by an alert of the peer, or because its data cannot be decrypted."""


class BarrenError(TlsError):
    """The peer sends nothing but records without data: a limit."""


def described(error: ssl.SSLError, began: bytes) -> str:
    """The error in words. `began`: the first bytes from the peer."""
    if began[:1] == b"\0":
        return "it speaks Kafka without TLS; let it use SSL (security.protocol), or a listener without tls"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    reason = error.reason or ""
    return SAYINGS.get(reason, reason.replace("_", " ").lower() or str(error))
