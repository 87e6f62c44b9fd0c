"""Frames and batches as bytes, for plugins whose fast path lets frames pass unread."""

# ruff: noqa: I001 (each name is imported as itself: so it is exported)

from proxy.core.context import (
    kept_bytes as kept_bytes,
)
from proxy.core.fast_path import (
    Beginning as Beginning,
    Certain as Certain,
    FastPath as FastPath,
)
from proxy.core.known_topics import (
    KnownTopics as KnownTopics,
)
from proxy.core.request_topics import (
    TOPICS as TOPICS,
    RequestTopics as RequestTopics,
)
from proxy.protocol.codec import (
    BAD_BYTES as BAD_BYTES,
    Spans as Spans,
    end_finder as end_finder,
    spans_finder as spans_finder,
    start_finder as start_finder,
)
from proxy.protocol.fixed_bytes import (
    fixed_bytes as fixed_bytes,
)
from proxy.protocol.frame import (
    HOLD as HOLD,
    REQUEST_HEAD as REQUEST_HEAD,
    Buffer as Buffer,
    Head as Head,
    Reader as Reader,
)
from proxy.protocol.records.batch import (
    HEADER as HEADER,
    MAGIC as MAGIC,
    MAGIC_AT as MAGIC_AT,
    TRANSACTIONAL as TRANSACTIONAL,
)
from proxy.protocol.records.write import (
    with_header as with_header,
)
from proxy.protocol.rollcall import (
    rollcall as rollcall,
)
from proxy.protocol.slices import (
    ELEMENTS as ELEMENTS,
)
from proxy.protocol.tally import (
    CompiledExchange as CompiledExchange,
    CompiledTally as CompiledTally,
    TrafficLayouts as TrafficLayouts,
    traffic as traffic,
)
