"""DescribeUserScramCredentials (key 50): DOC"""

from proxy.protocol.api import DESCRIBE_USER_SCRAM_CREDENTIALS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, User, array, int8, int32


class DescribeUserScramCredentialsRequest(Request, api=DESCRIBE_USER_SCRAM_CREDENTIALS):
    """DOC"""

    class UserName(Struct):
        """DOC"""

        name: User

    users: array[UserName] | None


class DescribeUserScramCredentialsResponse(Response, api=DESCRIBE_USER_SCRAM_CREDENTIALS):
    """DOC"""

    class DescribeUserScramCredentialsResult(Struct):
        """DOC"""

        class CredentialInfo(Struct):
            """DOC"""

            mechanism: int8
            iterations: int32

        user: User
        error_code: Error
        error_message: ErrorMessage | None
        credential_infos: array[CredentialInfo]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    results: array[DescribeUserScramCredentialsResult]
