"""The wire's vocabulary: primitive types, the meanings of fields, and how a struct is declared.

A message is declared as a class, one field a line, valid for all versions at once:

    class Broker(Struct):
        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = since(1, default=None)

Rules:
* A bare field is on the wire in every version of its message, and the constructor requires it.
* A field with `since()`, `until()` or `tagged()` has a default: the value that Kafka takes if the field is not on the
  wire. Reading a field that was never set gives that default, so that a version costs nothing for fields that it lacks.
* `X | None` may be null: in every version that has the field, or from `nullable=` on.
* A type says how a value is written (`int32`), and may also say what the value stands for (`BrokerId`). Code that looks
  for all topics of all APIs looks for a `Meaning`, not for names.

Source: Kafka's message definitions (KIP-482 for tagged fields).
"""

from enum import Enum, auto
from typing import Annotated, Any, NamedTuple


class Primitive(NamedTuple):
    """How one value is written. `fmt` is its `struct` letter, None if the size varies."""

    name: str
    fmt: str | None
    size: int  # in bytes; if it varies, the least size


class Meaning(Enum):
    """What a field stands for, whatever its name and API."""

    __hash__ = object.__hash__  # meanings are keys of caches: that of an Enum is Python, and takes 0.3 us

    AUTHORIZED_OPERATIONS = auto()
    BROKER_ID = auto()
    CLIENT_HOST = auto()
    CLIENT_ID = auto()
    CLUSTER_ID = auto()
    COORDINATOR_KEY = auto()  # a group, a transactional id or a share key, as the key type beside it says
    ERROR = auto()
    ERROR_MESSAGE = auto()
    GROUP_ID = auto()
    HOST = auto()  # with PORT in the same struct: where a broker or controller listens
    MEMBER_ID = auto()
    PARTITION = auto()  # its index, of the topic around it
    PORT = auto()
    PRINCIPAL = auto()
    PRODUCER_ID = auto()
    RECORDS = auto()
    REPLICA_ID = auto()  # of the fetcher: 0 and above marks a follower
    RESOURCE_NAME = auto()  # of the resource type beside it
    SECRET = auto()  # never shown: not in logs, not in dumps
    THROTTLE_TIME = auto()
    TOPIC_ID = auto()
    TOPIC_NAME = auto()
    TOPIC_REGEX = auto()
    TRANSACTIONAL_ID = auto()
    USER = auto()


BOOL = Primitive("bool", "?", 1)
INT8 = Primitive("int8", "b", 1)
INT16 = Primitive("int16", "h", 2)
UINT16 = Primitive("uint16", "H", 2)
INT32 = Primitive("int32", "i", 4)
INT64 = Primitive("int64", "q", 8)
FLOAT64 = Primitive("float64", "d", 8)
UUID = Primitive("uuid", "16s", 16)
STRING = Primitive("string", None, 1)
LEGACY_STRING = Primitive("legacy_string", None, 2)  # an int16 length also in flexible versions: the client id
BYTES = Primitive("bytes", None, 1)
RECORDS = Primitive("records", None, 1)

int8 = Annotated[int, INT8]
int16 = Annotated[int, INT16]
uint16 = Annotated[int, UINT16]
int32 = Annotated[int, INT32]
int64 = Annotated[int, INT64]
float64 = Annotated[float, FLOAT64]
uuid = Annotated[bytes, UUID]  # 16 bytes: hashable, comparable, and no object is built for one that only passes
string = Annotated[str, STRING]
legacy_string = Annotated[str, LEGACY_STRING]
Records = Annotated[bytes | memoryview, RECORDS, Meaning.RECORDS]
array = list  # array[X] on the wire is a list in memory

PLAIN: dict[Any, Primitive] = {bool: BOOL, bytes: BYTES}

AuthorizedOperations = Annotated[int, INT32, Meaning.AUTHORIZED_OPERATIONS]
BrokerId = Annotated[int, INT32, Meaning.BROKER_ID]
ClientAddress = Annotated[bytes, BYTES, Meaning.CLIENT_HOST]  # 4 or 16 bytes
ClientHost = Annotated[str, STRING, Meaning.CLIENT_HOST]
ClientId = Annotated[str, STRING, Meaning.CLIENT_ID]
ClusterId = Annotated[str, STRING, Meaning.CLUSTER_ID]
CoordinatorKey = Annotated[str, STRING, Meaning.COORDINATOR_KEY]
Error = Annotated[int, INT16, Meaning.ERROR]
ErrorMessage = Annotated[str, STRING, Meaning.ERROR_MESSAGE]
GroupId = Annotated[str, STRING, Meaning.GROUP_ID]
Host = Annotated[str, STRING, Meaning.HOST]
MemberId = Annotated[str, STRING, Meaning.MEMBER_ID]
PartitionIndex = Annotated[int, INT32, Meaning.PARTITION]
Port = Annotated[int, INT32, Meaning.PORT]
Port16 = Annotated[int, UINT16, Meaning.PORT]
Principal = Annotated[str, STRING, Meaning.PRINCIPAL]
PrincipalBytes = Annotated[bytes, BYTES, Meaning.PRINCIPAL]  # as a broker's principal serde writes it
ProducerId = Annotated[int, INT64, Meaning.PRODUCER_ID]
ReplicaId = Annotated[int, INT32, Meaning.REPLICA_ID]
ResourceName = Annotated[str, STRING, Meaning.RESOURCE_NAME]
SecretBytes = Annotated[bytes, BYTES, Meaning.SECRET]
ThrottleTime = Annotated[int, INT32, Meaning.THROTTLE_TIME]
TopicId = Annotated[bytes, UUID, Meaning.TOPIC_ID]
TopicName = Annotated[str, STRING, Meaning.TOPIC_NAME]
TopicRegex = Annotated[str, STRING, Meaning.TOPIC_REGEX]
TransactionalId = Annotated[str, STRING, Meaning.TRANSACTIONAL_ID]
User = Annotated[str, STRING, Meaning.USER]

NO_UUID = bytes(16)

# What a value is if nothing was read or set; of the primitives that are not here, 0.
ZERO: dict[Primitive, Any] = {
    BOOL: False,
    FLOAT64: 0.0,
    UUID: NO_UUID,
    STRING: "",
    LEGACY_STRING: "",
    BYTES: b"",
    RECORDS: b"",
}

LONGEST_STRING = 0x7FFF  # bytes, in every version: Kafka refuses to read or write a longer one
LONGEST_TOPIC = 249  # characters of a topic's name (org.apache.kafka.common.internals.Topic)

# Names of resources and of those who ask for them: authorization depends on these texts.
NAMES = frozenset(
    {
        Meaning.CLUSTER_ID,
        Meaning.COORDINATOR_KEY,
        Meaning.GROUP_ID,
        Meaning.MEMBER_ID,
        Meaning.PRINCIPAL,
        Meaning.RESOURCE_NAME,
        Meaning.TOPIC_NAME,
        Meaning.TOPIC_REGEX,
        Meaning.TRANSACTIONAL_ID,
        Meaning.USER,
    }
)
