"""SaslHandshake (key 17): DOC"""

from proxy.protocol.api import SASL_HANDSHAKE
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, array, string


class SaslHandshakeRequest(Request, api=SASL_HANDSHAKE):
    """DOC"""

    mechanism: string


class SaslHandshakeResponse(Response, api=SASL_HANDSHAKE):
    """DOC"""

    error_code: Error
    mechanisms: array[string]
