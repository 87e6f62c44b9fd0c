"""The table: what each API is asked about, in the order in which brokers ask.

# An API that is not here is refused; a test holds that every API and version that clients may send is.
# FREE is what everybody may: who speaks, and how. Produce and Fetch have modules of their own.

Sources: kafka.server.KafkaApis and ControllerApis of 4.4 and what a 4.3 broker with StandardAuthorizer answers.
"""

from __future__ import annotations

from plugins.acl.answers import Assigned, Listed, ListedOfAll, Operations
from plugins.acl.checks import CLUSTER, GROUP, TOPIC, TRANSACTIONAL_ID, Check, Each, Every, Required, Whole
from plugins.acl.configs import Altered, Shown
from plugins.acl.coordinators import Coordinated
from plugins.acl.filters import Spelled
from plugins.acl.share import ShareAcknowledged, ShareFetched
from plugins.acl.subscriptions import TOPOLOGY, Streams, Subscribed, Wellformed
from plugins.acl.tokens import TokenMade, TokensShown, TokenUsed
from plugins.acl.topics import Deleted, Described, Grown, Made, Produced, Told
from plugins.acl.transactions import Added, Initialized
from proxy.protocol import api
from proxy.protocol.api import Api
from proxy.protocol.errors import ErrorCode
from rules import Operation

ALTER = Operation.ALTER
ALTER_CONFIGS = Operation.ALTER_CONFIGS
CLUSTER_ACTION = Operation.CLUSTER_ACTION
DELETE = Operation.DELETE
DESCRIBE = Operation.DESCRIBE
DESCRIBE_CONFIGS = Operation.DESCRIBE_CONFIGS
READ = Operation.READ
WRITE = Operation.WRITE

FREE: tuple[Check, ...] = ()
READS_GROUP = Whole(READ, GROUP)
NAMES_PROTOCOL = Required(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ("protocol_type", "protocol_name"), since=5)
NAMES_GROUP = Required(ErrorCode.INVALID_REQUEST, ("group_id",), since=0)
WRITES_TRANSACTION = Whole(WRITE, TRANSACTIONAL_ID)
ALTERS = (Whole(ALTER, CLUSTER),)
DESCRIBES = (Whole(DESCRIBE, CLUSTER),)
SUBSCRIBES = Every(DESCRIBE, TOPIC, ("subscribed_topic_names",))
ASSIGNED = "members.assignment.topic_partitions.topic_name"
DESCRIBED_TOPOLOGY = (
    "topology.subtopologies.source_topics",
    "topology.subtopologies.repartition_sink_topics",
    "topology.subtopologies.repartition_source_topics.name",
    "topology.subtopologies.state_changelog_topics.name",
)

OWN = frozenset({api.PRODUCE, api.FETCH})


def checks() -> dict[Api, tuple[Check, ...]]:
    """A fresh table: some checks remember what clients said."""
    shared = ShareFetched()
    return {
        api.LIST_OFFSETS: (Each(DESCRIBE, TOPIC),),
        api.METADATA: (Told(), Operations()),
        api.OFFSET_COMMIT: (READS_GROUP, Each(READ, TOPIC)),
        api.OFFSET_FETCH: (
            Whole(DESCRIBE, GROUP),
            Each(DESCRIBE, GROUP, kept=True),
            Each(DESCRIBE, TOPIC, anyway=True),
            ListedOfAll(DESCRIBE, TOPIC, "topics"),
            ListedOfAll(DESCRIBE, TOPIC, "groups.topics", ids_since=10),
        ),
        api.FIND_COORDINATOR: (Coordinated(),),
        api.JOIN_GROUP: (READS_GROUP,),
        api.HEARTBEAT: (READS_GROUP,),
        api.LEAVE_GROUP: (READS_GROUP,),
        api.SYNC_GROUP: (NAMES_PROTOCOL, READS_GROUP),
        api.DESCRIBE_GROUPS: (Each(DESCRIBE, GROUP), Operations()),
        api.LIST_GROUPS: (Listed(DESCRIBE, GROUP, or_cluster=DESCRIBE),),
        api.SASL_HANDSHAKE: FREE,
        api.API_VERSIONS: FREE,
        api.CREATE_TOPICS: (Made(),),
        api.DELETE_TOPICS: (Deleted(),),
        api.DELETE_RECORDS: (Each(DELETE, TOPIC),),
        api.INIT_PRODUCER_ID: (Initialized(),),
        api.OFFSET_FOR_LEADER_EPOCH: (Each(DESCRIBE, TOPIC, or_cluster=CLUSTER_ACTION),),
        api.ADD_PARTITIONS_TO_TXN: (Added(),),
        api.ADD_OFFSETS_TO_TXN: (WRITES_TRANSACTION, READS_GROUP),
        api.END_TXN: (WRITES_TRANSACTION,),
        api.TXN_OFFSET_COMMIT: (WRITES_TRANSACTION, READS_GROUP, Each(READ, TOPIC)),
        api.DESCRIBE_ACLS: (Spelled(), *DESCRIBES),
        api.CREATE_ACLS: (Spelled(), *ALTERS),
        api.DELETE_ACLS: (Spelled(), *ALTERS),
        api.DESCRIBE_CONFIGS: (Shown(),),
        api.ALTER_CONFIGS: (Altered(),),
        api.ALTER_REPLICA_LOG_DIRS: ALTERS,
        api.DESCRIBE_LOG_DIRS: DESCRIBES,
        api.SASL_AUTHENTICATE: FREE,
        api.CREATE_PARTITIONS: (Grown(),),
        api.CREATE_DELEGATION_TOKEN: (TokenMade(),),
        api.RENEW_DELEGATION_TOKEN: (TokenUsed(),),
        api.EXPIRE_DELEGATION_TOKEN: (TokenUsed(),),
        api.DESCRIBE_DELEGATION_TOKEN: (TokensShown(),),
        api.DELETE_GROUPS: (Each(DELETE, GROUP),),
        api.ELECT_LEADERS: ALTERS,
        api.INCREMENTAL_ALTER_CONFIGS: (Altered(),),
        api.ALTER_PARTITION_REASSIGNMENTS: ALTERS,
        api.LIST_PARTITION_REASSIGNMENTS: DESCRIBES,
        api.OFFSET_DELETE: (Whole(DELETE, GROUP), Each(READ, TOPIC)),
        api.DESCRIBE_CLIENT_QUOTAS: (Whole(DESCRIBE_CONFIGS, CLUSTER),),
        api.ALTER_CLIENT_QUOTAS: (Whole(ALTER_CONFIGS, CLUSTER),),
        api.DESCRIBE_USER_SCRAM_CREDENTIALS: DESCRIBES,
        api.ALTER_USER_SCRAM_CREDENTIALS: ALTERS,
        api.DESCRIBE_QUORUM: DESCRIBES,
        api.UPDATE_FEATURES: ALTERS,
        api.DESCRIBE_CLUSTER: (Operations(),),
        api.DESCRIBE_PRODUCERS: (Produced(),),
        api.UNREGISTER_BROKER: ALTERS,
        api.DESCRIBE_TRANSACTIONS: (
            Each(DESCRIBE, TRANSACTIONAL_ID, kept=True),
            Listed(DESCRIBE, TOPIC),
        ),
        api.LIST_TRANSACTIONS: (Listed(DESCRIBE, TRANSACTIONAL_ID),),
        api.CONSUMER_GROUP_HEARTBEAT: (READS_GROUP, SUBSCRIBES, Subscribed()),
        api.CONSUMER_GROUP_DESCRIBE: (
            Each(DESCRIBE, GROUP),
            Assigned((ASSIGNED, "members.target_assignment.topic_partitions.topic_name")),
            Operations(),
        ),
        api.GET_TELEMETRY_SUBSCRIPTIONS: FREE,
        api.PUSH_TELEMETRY: FREE,
        api.LIST_CONFIG_RESOURCES: (Whole(DESCRIBE_CONFIGS, CLUSTER),),
        api.DESCRIBE_TOPIC_PARTITIONS: (Described(), Operations()),
        api.SHARE_GROUP_HEARTBEAT: (READS_GROUP, SUBSCRIBES),
        api.SHARE_GROUP_DESCRIBE: (Each(DESCRIBE, GROUP), Assigned((ASSIGNED,)), Operations()),
        api.SHARE_FETCH: (NAMES_GROUP, READS_GROUP, shared),
        api.SHARE_ACKNOWLEDGE: (
            NAMES_GROUP,
            READS_GROUP,
            ShareAcknowledged(shared),
            Each(READ, TOPIC, anyway=True),
        ),
        api.ADD_RAFT_VOTER: ALTERS,
        api.REMOVE_RAFT_VOTER: ALTERS,
        api.STREAMS_GROUP_HEARTBEAT: (
            READS_GROUP,
            Wellformed(),
            Every(DESCRIBE, TOPIC, TOPOLOGY),
            Streams(),
        ),
        api.STREAMS_GROUP_DESCRIBE: (
            Each(DESCRIBE, GROUP),
            Assigned(
                DESCRIBED_TOPOLOGY, "The described group uses topics that the client is not authorized to describe."
            ),
            Operations(),
        ),
        api.DESCRIBE_SHARE_GROUP_OFFSETS: (
            Each(DESCRIBE, GROUP),
            Each(DESCRIBE, TOPIC, says=True),
            ListedOfAll(DESCRIBE, TOPIC, "groups.topics"),
        ),
        api.ALTER_SHARE_GROUP_OFFSETS: (READS_GROUP, Each(READ, TOPIC, says=True)),
        api.DELETE_SHARE_GROUP_OFFSETS: (
            Whole(DELETE, GROUP),
            Each(READ, TOPIC, says=True),
        ),
        api.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: (READS_GROUP,),
        api.UNREGISTER_CONTROLLER: ALTERS,
    }
