"""The table: the checks of each API, in the order in which brokers make them.

Rules:
* An API that is not here is refused; a test holds that every API and version that clients may send is here.
* FREE APIs need no right: authentication, versions and telemetry. Produce and Fetch have modules of their own.

Sources: kafka.server.KafkaApis and ControllerApis of 4.4 and what a 4.3 broker with StandardAuthorizer answers.
"""

from __future__ import annotations

from plugins.acl.acl_filters import AclWordsCheck
from plugins.acl.answers import AssignedTopicsCheck, AuthorizedOperationsCheck, ListAllFilter, ListFilter
from plugins.acl.checks import AllOrNothingCheck, Check, ElementCheck, RequestCheck, RequiredFieldsCheck
from plugins.acl.configs import AlterConfigsCheck, DescribeConfigsCheck
from plugins.acl.coordinators import FindCoordinatorCheck
from plugins.acl.errors import CLUSTER, GROUP, TOPIC, TRANSACTIONAL_ID
from plugins.acl.kept_subscription import ShownSubscriptionsCheck
from plugins.acl.metadata import DescribeTopicPartitionsCheck, MetadataCheck
from plugins.acl.share_fetch import ShareAcknowledgeCheck, ShareFetchCheck
from plugins.acl.streams import TOPOLOGY, InternalTopicsCheck, TopologyNamesCheck
from plugins.acl.subscriptions import SubscribedTopicsCheck
from plugins.acl.tokens import CreateTokenCheck, DescribeTokensCheck, UseTokenCheck
from plugins.acl.topics import CreatePartitionsCheck, CreateTopicsCheck, DeleteTopicsCheck, DescribeProducersCheck
from plugins.acl.transactions import AddPartitionsToTxnCheck, InitProducerIdCheck
from proxy.plugin import Api, ErrorCode, api
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
READS_GROUP = RequestCheck(READ, GROUP)
NAMES_PROTOCOL = RequiredFieldsCheck(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ("protocol_type", "protocol_name"), since=5)
NAMES_GROUP = RequiredFieldsCheck(ErrorCode.INVALID_REQUEST, ("group_id",), since=0)
WRITES_TRANSACTION = RequestCheck(WRITE, TRANSACTIONAL_ID)
ALTERS = (RequestCheck(ALTER, CLUSTER),)
DESCRIBES = (RequestCheck(DESCRIBE, CLUSTER),)
SUBSCRIBES = AllOrNothingCheck(DESCRIBE, TOPIC, ("subscribed_topic_names",))
TOPOLOGY_REFUSED = "The described group uses topics that the client is not authorized to describe."

OWN = frozenset({api.PRODUCE, api.FETCH})


def checks() -> dict[Api, tuple[Check, ...]]:
    """A fresh table: some checks keep state of clients."""
    return {
        api.LIST_OFFSETS: (ElementCheck(DESCRIBE, TOPIC),),
        api.METADATA: (MetadataCheck(), AuthorizedOperationsCheck()),
        api.OFFSET_COMMIT: (READS_GROUP, ElementCheck(READ, TOPIC)),
        api.OFFSET_FETCH: (
            RequestCheck(DESCRIBE, GROUP),
            ElementCheck(DESCRIBE, GROUP, ordered=True),
            ElementCheck(DESCRIBE, TOPIC, anyway=True),
            ListAllFilter(DESCRIBE, TOPIC, ids_since=10),
        ),
        api.FIND_COORDINATOR: (FindCoordinatorCheck(),),
        api.JOIN_GROUP: (READS_GROUP,),
        api.HEARTBEAT: (READS_GROUP,),
        api.LEAVE_GROUP: (READS_GROUP,),
        api.SYNC_GROUP: (NAMES_PROTOCOL, READS_GROUP),
        api.DESCRIBE_GROUPS: (ElementCheck(DESCRIBE, GROUP), AuthorizedOperationsCheck()),
        api.LIST_GROUPS: (ListFilter(DESCRIBE, GROUP, or_cluster=DESCRIBE),),
        api.SASL_HANDSHAKE: FREE,
        api.API_VERSIONS: FREE,
        api.CREATE_TOPICS: (CreateTopicsCheck(),),
        api.DELETE_TOPICS: (DeleteTopicsCheck(),),
        api.DELETE_RECORDS: (ElementCheck(DELETE, TOPIC),),
        api.INIT_PRODUCER_ID: (InitProducerIdCheck(),),
        api.OFFSET_FOR_LEADER_EPOCH: (ElementCheck(DESCRIBE, TOPIC, or_cluster=CLUSTER_ACTION),),
        api.ADD_PARTITIONS_TO_TXN: (WRITES_TRANSACTION, AddPartitionsToTxnCheck()),
        api.ADD_OFFSETS_TO_TXN: (WRITES_TRANSACTION, READS_GROUP),
        api.END_TXN: (WRITES_TRANSACTION,),
        api.TXN_OFFSET_COMMIT: (WRITES_TRANSACTION, READS_GROUP, ElementCheck(READ, TOPIC)),
        api.DESCRIBE_ACLS: (AclWordsCheck(), *DESCRIBES),
        api.CREATE_ACLS: (AclWordsCheck(), *ALTERS),
        api.DELETE_ACLS: (AclWordsCheck(), *ALTERS),
        api.DESCRIBE_CONFIGS: (DescribeConfigsCheck(),),
        api.ALTER_CONFIGS: (AlterConfigsCheck(),),
        api.ALTER_REPLICA_LOG_DIRS: ALTERS,
        api.DESCRIBE_LOG_DIRS: DESCRIBES,
        api.SASL_AUTHENTICATE: FREE,
        api.CREATE_PARTITIONS: (CreatePartitionsCheck(),),
        api.CREATE_DELEGATION_TOKEN: (CreateTokenCheck(),),
        api.RENEW_DELEGATION_TOKEN: (UseTokenCheck(),),
        api.EXPIRE_DELEGATION_TOKEN: (UseTokenCheck(),),
        api.DESCRIBE_DELEGATION_TOKEN: (DescribeTokensCheck(),),
        api.DELETE_GROUPS: (ElementCheck(DELETE, GROUP),),
        api.ELECT_LEADERS: ALTERS,
        api.INCREMENTAL_ALTER_CONFIGS: (AlterConfigsCheck(),),
        api.ALTER_PARTITION_REASSIGNMENTS: ALTERS,
        api.LIST_PARTITION_REASSIGNMENTS: DESCRIBES,
        api.OFFSET_DELETE: (RequestCheck(DELETE, GROUP), ElementCheck(READ, TOPIC, anyway=True)),
        api.DESCRIBE_CLIENT_QUOTAS: (RequestCheck(DESCRIBE_CONFIGS, CLUSTER),),
        api.ALTER_CLIENT_QUOTAS: (RequestCheck(ALTER_CONFIGS, CLUSTER),),
        api.DESCRIBE_USER_SCRAM_CREDENTIALS: DESCRIBES,
        api.ALTER_USER_SCRAM_CREDENTIALS: ALTERS,
        api.DESCRIBE_QUORUM: DESCRIBES,
        api.UPDATE_FEATURES: ALTERS,
        api.DESCRIBE_CLUSTER: (AuthorizedOperationsCheck(),),
        api.DESCRIBE_PRODUCERS: (DescribeProducersCheck(),),
        api.UNREGISTER_BROKER: ALTERS,
        api.DESCRIBE_TRANSACTIONS: (
            ElementCheck(DESCRIBE, TRANSACTIONAL_ID, ordered=True),
            ListFilter(DESCRIBE, TOPIC),
        ),
        api.LIST_TRANSACTIONS: (ListFilter(DESCRIBE, TRANSACTIONAL_ID),),
        api.CONSUMER_GROUP_HEARTBEAT: (READS_GROUP, SUBSCRIBES, SubscribedTopicsCheck()),
        api.CONSUMER_GROUP_DESCRIBE: (
            ElementCheck(DESCRIBE, GROUP),
            AssignedTopicsCheck(),
            ShownSubscriptionsCheck(),
            AuthorizedOperationsCheck(),
        ),
        api.GET_TELEMETRY_SUBSCRIPTIONS: FREE,
        api.PUSH_TELEMETRY: FREE,
        api.LIST_CONFIG_RESOURCES: (RequestCheck(DESCRIBE_CONFIGS, CLUSTER),),
        api.DESCRIBE_TOPIC_PARTITIONS: (DescribeTopicPartitionsCheck(), AuthorizedOperationsCheck()),
        api.SHARE_GROUP_HEARTBEAT: (READS_GROUP, SUBSCRIBES),
        api.SHARE_GROUP_DESCRIBE: (
            ElementCheck(DESCRIBE, GROUP),
            AssignedTopicsCheck(),
            AuthorizedOperationsCheck(),
        ),
        api.SHARE_FETCH: (NAMES_GROUP, READS_GROUP, ShareFetchCheck()),
        api.SHARE_ACKNOWLEDGE: (
            NAMES_GROUP,
            READS_GROUP,
            ShareAcknowledgeCheck(),
            ElementCheck(READ, TOPIC, anyway=True),
        ),
        api.ADD_RAFT_VOTER: ALTERS,
        api.REMOVE_RAFT_VOTER: ALTERS,
        api.STREAMS_GROUP_HEARTBEAT: (
            READS_GROUP,
            TopologyNamesCheck(),
            AllOrNothingCheck(DESCRIBE, TOPIC, TOPOLOGY),
            InternalTopicsCheck(),
        ),
        api.STREAMS_GROUP_DESCRIBE: (
            ElementCheck(DESCRIBE, GROUP),
            AssignedTopicsCheck(TOPOLOGY_REFUSED),
            AuthorizedOperationsCheck(),
        ),
        api.DESCRIBE_SHARE_GROUP_OFFSETS: (
            ElementCheck(DESCRIBE, GROUP),
            ElementCheck(DESCRIBE, TOPIC, says=True),
            ListAllFilter(DESCRIBE, TOPIC),
        ),
        api.ALTER_SHARE_GROUP_OFFSETS: (READS_GROUP, ElementCheck(READ, TOPIC, says=True, anyway=True)),
        api.DELETE_SHARE_GROUP_OFFSETS: (
            RequestCheck(DELETE, GROUP),
            ElementCheck(READ, TOPIC, says=True, anyway=True),
        ),
        api.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: (READS_GROUP,),
        api.UNREGISTER_CONTROLLER: ALTERS,
    }
