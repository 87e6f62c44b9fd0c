"""The one import of a plugin: `from proxy.plugin import Plugin, on_request, ProduceRequest, Forward`.

`plugins/README.md` teaches how to write a plugin. This module has everything that a plugin is made of:

* `Plugin`, its `Options`, and its `Services`; `PluginError` says why it cannot begin, `StateError` why it cannot take
  a state.
* Decorators that mark handlers: `on_request`, `on_response`, `carrying`, `observe`, `observe_topics`, `on_outcome`,
  `before_answer`, `on_event`, `on_unsupported`, `on_unreadable`.
* Arguments: a handler is given a `Context` with its `Connection`, an observer an `Outcome`, `accepted` an `Arrival`,
  and `not_served` a `NotServed`, which says why there is no connection.
* The result of a handler (a `Decision`), and the steps for which it may wait before (`Steps`); `StepDriver` takes
  steps of another function one at a time.
* Every API's constant (`PRODUCE`) and classes (`ProduceRequest`, `ProduceResponse`), `ErrorCode`, `refuse`.
* The messages of consumers to each other in JoinGroup and SyncGroup: `read_embedded`, `write_embedded`.
* Records: `rewrite_records`; `batches`, `rewrite_batch`, `write_batch`.
* Walks over messages by what their fields mean: `Meaning`, `values`, `structs_with`, `leading`, `turns`.
* For options: `FilePath`, `wrong`; for problems that `examine` finds in files: `Finding`, `Problem`.

The modules beside this one reach deeper: `schema`, how messages are declared; `frames`, frames and batches as bytes;
`fetching`, fetch sessions; `files`, files that people write; `sasl`, who a client is. Our own plugins use these
modules and `rules`, the language of rules, and nothing else. The names here stay from one version to the next: a former
name is still there, and importing it warns. Everything deeper may change.
"""

# ruff: noqa: I001 (each name is imported as itself: so it is exported)

from typing import TYPE_CHECKING

from proxy.core.addresses import (
    unusable as unusable,
)
from proxy.core.arrival import (
    Arrival as Arrival,
    NotServed as NotServed,
)
from proxy.core.context import (
    Connection as Connection,
    Context as Context,
    HandlerDecided as HandlerDecided,
)
from proxy.core.counting import (
    RequestCounting as RequestCounting,
)
from proxy.core.decisions import (
    TURN as TURN,
    Alone as Alone,
    Ask as Ask,
    Call as Call,
    Cut as Cut,
    Decision as Decision,
    Disconnect as Disconnect,
    Drip as Drip,
    Forward as Forward,
    How as How,
    Raw as Raw,
    Reply as Reply,
    Sleep as Sleep,
    Step as Step,
    Steps as Steps,
    Wait as Wait,
)
from proxy.core.decorators import (
    before_answer as before_answer,
    observe as observe,
    observe_topics as observe_topics,
    on_event as on_event,
    on_outcome as on_outcome,
    on_request as on_request,
    on_response as on_response,
    on_unreadable as on_unreadable,
    on_unsupported as on_unsupported,
)
from proxy.core.driving import (
    StepDriver as StepDriver,
)
from proxy.core.events import (
    AclsChanged as AclsChanged,
    AclsNotChanged as AclsNotChanged,
    Authenticated as Authenticated,
    Closed as Closed,
    Connected as Connected,
    Denied as Denied,
    Refused as Refused,
)
from proxy.core.fetch_topics import (
    FetchTopics as FetchTopics,
)
from proxy.core.node_ids import (
    read_node_id as read_node_id,
)
from proxy.core.outcome import (
    By as By,
    Holder as Holder,
    Outcome as Outcome,
)
from proxy.core.plugin import (
    Options as Options,
    Plugin as Plugin,
)
from proxy.core.request_topics import (
    Topics as Topics,
)
from proxy.core.services import (
    Count as Count,
    CounterFactory as CounterFactory,
    Dice as Dice,
    LogLevel as LogLevel,
    LineWriter as LineWriter,
    PluginClock as PluginClock,
    PluginError as PluginError,
    Repeating as Repeating,
    Services as Services,
    SharedRows as SharedRows,
    Watching as Watching,
)
from proxy.core.signal import (
    Signal as Signal,
)
from proxy.core.state import (
    StateError as StateError,
)
from proxy.core.tls import (
    Tls as Tls,
)
from proxy.core.topic_names import (
    TopicNames as TopicNames,
)
from proxy.core.topic_writer import (
    TopicError as TopicError,
    TopicWriter as TopicWriter,
    TopicWriting as TopicWriting,
)
from proxy.core.topology import (
    Endpoint as Endpoint,
    Topology as Topology,
)
from proxy.core.wish import (
    Handler as Handler,
    Wish as Wish,
    carrying as carrying,
)
from proxy.protocol import (
    messages as messages,
)
from proxy.protocol import (
    api as api,
)
from proxy.protocol.api import *  # noqa: F403
from proxy.protocol.consumer_protocol import (
    ConsumerAssignment as ConsumerAssignment,
    ConsumerSubscription as ConsumerSubscription,
    read_embedded as read_embedded,
    write_embedded as write_embedded,
)
from proxy.protocol.errors import (
    ErrorCode as ErrorCode,
)
from proxy.protocol.fiber import (
    turn as turn,
    turns as turns,
)
from proxy.protocol.messages import *  # noqa: F403
from proxy.protocol.problem import (
    ProtocolError as ProtocolError,
)
from proxy.protocol.records import (
    CompressionType as CompressionType,
    Header as Header,
    MessageSet as MessageSet,
    MessageSetError as MessageSetError,
    Record as Record,
    RecordBatch as RecordBatch,
    batches as batches,
    rewrite_batch as rewrite_batch,
    rewrite_records as rewrite_records,
    write_batch as write_batch,
)
from proxy.protocol.refuse import (
    refuse as refuse,
)
from proxy.protocol.schema import (
    Message as Message,
    Request as Request,
    Response as Response,
    Struct as Struct,
)
from proxy.protocol.walk import (
    leading as leading,
    structs_with as structs_with,
    values as values,
)
from proxy.protocol.wire import (
    Meaning as Meaning,
)
from proxy.text.former import (
    former_names as _former_names,
)
from proxy.text.interpreter import (
    give_way as give_way,
)
from proxy.text.paths import (
    FilePath as FilePath,
)
from proxy.text.problems import (
    Finding as Finding,
    Problem as Problem,
)
from proxy.text.words import (
    wrong as wrong,
)

if not TYPE_CHECKING:  # a type checker reports a former name as unknown
    __getattr__ = _former_names(__name__, {"Counting": "CounterFactory", "holders": "structs_with"})
