"""DescribeUserScramCredentials (key 50): the SCRAM mechanisms by which users may log in (KIP-554).

It never tells salts or passwords.
"""

from proxy.protocol.api import DESCRIBE_USER_SCRAM_CREDENTIALS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, User, array, int8, int32


class DescribeUserScramCredentialsRequest(Request, api=DESCRIBE_USER_SCRAM_CREDENTIALS):
    """The users to describe."""

    class UserName(Struct):
        """One user."""

        name: User

    users: array[UserName] | None  # null or empty: all


class DescribeUserScramCredentialsResponse(Response, api=DESCRIBE_USER_SCRAM_CREDENTIALS):
    """Each user's SCRAM credentials, as far as they may be told."""

    class Result(Struct):
        """One user's credentials."""

        class CredentialInfo(Struct):
            """One credential."""

            mechanism: int8  # 1: SCRAM-SHA-256, 2: SCRAM-SHA-512
            iterations: int32

        user: User
        error_code: Error
        error_message: ErrorMessage | None
        credential_infos: array[CredentialInfo]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    results: array[Result] = field(mirrors="users")
