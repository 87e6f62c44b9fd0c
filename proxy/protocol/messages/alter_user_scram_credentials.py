"""AlterUserScramCredentials (key 51): set or remove SCRAM credentials (KIP-554).

Salts and salted passwords are secrets: anyone who has them can impersonate the user.
"""

from proxy.protocol.api import ALTER_USER_SCRAM_CREDENTIALS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, SecretBytes, ThrottleTime, User, array, int8, int32


class AlterUserScramCredentialsRequest(Request, api=ALTER_USER_SCRAM_CREDENTIALS):
    """Credentials to remove and to set."""

    class Deletion(Struct):
        """A credential to remove."""

        name: User
        mechanism: int8  # 1: SCRAM-SHA-256, 2: SCRAM-SHA-512

    class Upsertion(Struct):
        """A credential to set."""

        name: User
        mechanism: int8  # 1: SCRAM-SHA-256, 2: SCRAM-SHA-512
        iterations: int32
        salt: SecretBytes
        salted_password: SecretBytes

    deletions: array[Deletion]
    upsertions: array[Upsertion]


class AlterUserScramCredentialsResponse(Response, api=ALTER_USER_SCRAM_CREDENTIALS):
    """One result for each user, whatever the number of changes."""

    class Result(Struct):
        """One user's result."""

        user: User
        error_code: Error
        error_message: ErrorMessage | None

    throttle_time_ms: ThrottleTime
    results: array[Result] = field(mirrors=("deletions", "upsertions"))
