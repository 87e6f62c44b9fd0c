"""Kafka's words for who may do what: resource types, operations, pattern types and permissions, with their numbers.

Rules:
* The number of a word is the one on the wire; bit n of a set of operations stands for operation n.
* An ALLOW of Read, Write, Delete or Alter covers Describe too, and one of AlterConfigs covers DescribeConfigs. A DENY
  covers its own operation alone. `All` covers every operation.

Source: org.apache.kafka.common.acl and .resource, AclEntry.supportedOperations, StandardAuthorizerData.findResult.
"""

from enum import IntEnum
from functools import cache, lru_cache
from typing import Final


class Word(IntEnum):
    """A word of Kafka's. It is an int: the number on the wire."""

    @property
    def word(self) -> str:
        """The word as Kafka's tools write it: `DescribeConfigs`."""
        return self.name.title().replace("_", "")


class ResourceType(Word):
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Operation(Word):
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(Word):
    DENY = 2
    ALLOW = 3


class PatternType(Word):
    LITERAL = 3
    PREFIXED = 4


CLUSTER_NAME: Final = "kafka-cluster"
WILDCARD: Final = "*"  # as a LITERAL name and as a host; PREFIXED "*" is a prefix like any other
EVERYBODY: Final = "User:*"  # of every type: it stands for Group:x too


def _operations(names: str) -> frozenset[Operation]:
    return frozenset(Operation[name] for name in names.split())


IMPLIES_DESCRIBE: Final = _operations("READ WRITE DELETE ALTER")
# The operations for which a broker ever asks about a resource of each type.
ASKED: Final = {
    ResourceType.TOPIC: _operations("READ WRITE CREATE DELETE ALTER DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS"),
    ResourceType.GROUP: _operations("READ DELETE DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS"),
    ResourceType.CLUSTER: _operations(  # who may delete on the cluster may delete every topic
        "CREATE DELETE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE"
    ),
    ResourceType.TRANSACTIONAL_ID: _operations("WRITE DESCRIBE TWO_PHASE_COMMIT"),
    ResourceType.DELEGATION_TOKEN: _operations("DESCRIBE"),
    ResourceType.USER: _operations("CREATE_TOKENS DESCRIBE_TOKENS"),
}
EVERY_OPERATION: Final = sum(1 << operation for operation in Operation)


@cache
def answers(permission: Permission, operation: Operation) -> int:
    """The set of operations that an ACL of this operation covers."""
    if operation is Operation.ALL:
        return EVERY_OPERATION
    own = 1 << operation
    if permission is Permission.ALLOW and operation in IMPLIES_DESCRIBE:
        return own | 1 << Operation.DESCRIBE
    if permission is Permission.ALLOW and operation is Operation.ALTER_CONFIGS:
        return own | 1 << Operation.DESCRIBE_CONFIGS
    return own


@lru_cache(1024)
def spoken(kind: type[Word], text: str) -> Word | None:
    """The word that a text spells, in any of Kafka's spellings: `DescribeConfigs`, `DESCRIBE_CONFIGS`."""
    name = _plain(text)
    return next((word for word in kind if _plain(word.name) == name), None)


def _plain(text: str) -> str:
    return text.replace("_", "").replace("-", "").lower()
