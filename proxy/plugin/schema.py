"""How messages are declared, for plugins that treat messages of many APIs alike."""

# ruff: noqa: I001 (each name is imported as itself: so it is exported)

from proxy.protocol.levels import (
    TOP as TOP,
    errors as errors,
    level as level,
    levels as levels,
)
from proxy.protocol.mirror import (
    IDENTITY as IDENTITY,
    IDENTITY_NAMES as IDENTITY_NAMES,
)
from proxy.protocol.refused_elements import (
    RefusalWriter as RefusalWriter,
    RefusedElement as RefusedElement,
)
from proxy.protocol.refusal_shapes import (
    LEFT as LEFT,
)
from proxy.protocol.refuse import (
    Refusal as Refusal,
    usual_level as usual_level,
)
from proxy.protocol.releases import (
    accepted as accepted,
    releases as releases,
)
from proxy.protocol.schema import (
    NEWEST as NEWEST,
    Field as Field,
    StructType as StructType,
    blank as blank,
)
from proxy.protocol.walk import (
    Array as Array,
    StructChain as StructChain,
    Element as Element,
    arrays as arrays,
    paths as paths,
)
from proxy.protocol.wire import (
    LONGEST_TOPIC as LONGEST_TOPIC,
    NO_UUID as NO_UUID,
)
