"""SASL and the gate, for plugins that say who a client is."""

# ruff: noqa: I001 (each name is imported as itself: so it is exported)

from proxy.core.token_stream import (
    LONGEST_TOKEN as LONGEST_TOKEN,
)
from proxy.core.sasl.authority import (
    ALREADY_AUTHENTICATED as ALREADY_AUTHENTICATED,
    AGREED as AGREED,
    TABLE as TABLE,
    Accepted as Accepted,
    Authority as Authority,
    SaslInput as SaslInput,
    SaslAction as SaslAction,
    Exchange as Exchange,
    Rejected as Rejected,
    Rejecting as Rejecting,
    SaslState as SaslState,
    StepResult as StepResult,
    other_mechanism as other_mechanism,
    other_principal as other_principal,
    rejected as rejected,
)
from proxy.core.sasl.gssapi import (
    FIRST_BYTE as FIRST_BYTE,
)
from proxy.core.sasl.jwt import (
    SUBJECT as SUBJECT,
)
from proxy.core.sasl.name import (
    ClaimError as ClaimError,
)
from proxy.core.sasl.observed import (
    GSSAPI as GSSAPI,
    ObservedExchange as ObservedExchange,
    following as following,
    observed_exchange as observed_exchange,
)
