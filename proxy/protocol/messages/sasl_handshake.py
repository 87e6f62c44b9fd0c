"""SaslHandshake (key 17): client and broker agree on a SASL mechanism (KIP-43).

After v0 come the mechanism's own tokens, each with a size before it but without Kafka's headers; after v1 they travel
inside SaslAuthenticate (KIP-152).
"""

from proxy.protocol.api import SASL_HANDSHAKE
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, array, string


class SaslHandshakeRequest(Request, api=SASL_HANDSHAKE):
    """I want to authenticate this way."""

    mechanism: string


class SaslHandshakeResponse(Response, api=SASL_HANDSHAKE):
    """Agreed; or not, and these are the ways there are."""

    error_code: Error
    mechanisms: array[string]
