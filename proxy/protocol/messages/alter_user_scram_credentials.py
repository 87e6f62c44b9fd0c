"""AlterUserScramCredentials (key 51): DOC"""

from proxy.protocol.api import ALTER_USER_SCRAM_CREDENTIALS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ErrorMessage, SecretBytes, ThrottleTime, User, array, int8, int32


class AlterUserScramCredentialsRequest(Request, api=ALTER_USER_SCRAM_CREDENTIALS):
    """DOC"""

    class ScramCredentialDeletion(Struct):
        """DOC"""

        name: User
        mechanism: int8

    class ScramCredentialUpsertion(Struct):
        """DOC"""

        name: User
        mechanism: int8
        iterations: int32
        salt: SecretBytes
        salted_password: SecretBytes

    deletions: array[ScramCredentialDeletion]
    upsertions: array[ScramCredentialUpsertion]


class AlterUserScramCredentialsResponse(Response, api=ALTER_USER_SCRAM_CREDENTIALS):
    """DOC"""

    class AlterUserScramCredentialsResult(Struct):
        """DOC"""

        user: User
        error_code: Error
        error_message: ErrorMessage | None

    throttle_time_ms: ThrottleTime
    results: array[AlterUserScramCredentialsResult]
