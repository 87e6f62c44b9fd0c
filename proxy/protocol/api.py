"""The APIs of the Kafka protocol: key, name, versions, and which headers they travel under.

Rules:
* A request travels under header v2 from its first flexible version on, under v1 before; a response under v1 and v0.
* ControlledShutdown v0 has no client id (header v0). An ApiVersions answer is always under header v0: whoever reads it
  cannot know yet what the broker speaks (KIP-511).
* `inter_broker` APIs are what brokers and controllers say among themselves: no client has business with them.

Source: Kafka's message definitions, 0.8.0 to 4.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proxy.protocol.schema import Request, Response

APIS: dict[int, Api] = {}


class Api:
    """One kind of question and its answer, in all versions from 0 to `newest`."""

    __slots__ = ("flexible", "inter_broker", "key", "name", "newest", "request", "response")

    # The message classes put themselves here when `proxy.protocol.messages` is imported.
    request: type[Request]
    response: type[Response]

    def __init__(
        self, key: int, name: str, newest: int, *, flexible: int | None = None, inter_broker: bool = False
    ) -> None:
        self.key = key
        self.name = name
        self.newest = newest
        self.flexible = flexible
        self.inter_broker = inter_broker
        if newest >= 0:
            APIS[key] = self

    @classmethod
    def unknown(cls, key: int) -> Api:
        """An API that is not among `APIS`: it has no versions and no messages."""
        return cls(key, f"Unknown({key})", -1)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _api, (self.key,)

    @property
    def versions(self) -> range:
        """Every version that ever shipped."""
        return range(self.newest + 1)

    def is_flexible(self, version: int) -> bool:
        """Does this version write compact lengths and tagged fields (KIP-482)?"""
        return self.flexible is not None and version >= self.flexible

    def request_header(self, version: int) -> int:
        """The version of the header before a request."""
        if self is CONTROLLED_SHUTDOWN and version == 0:
            return 0
        return 2 if self.is_flexible(version) else 1

    def response_header(self, version: int) -> int:
        """The version of the header before a response."""
        return 1 if self.is_flexible(version) and self is not API_VERSIONS else 0


def _api(key: int) -> Api:
    return APIS[key]


def api_named(name: str) -> Api | None:
    """The API of this name, in any case of letters: `Produce`, `produce`."""
    return next((api for api in APIS.values() if api.name.lower() == name.lower()), None)


PRODUCE = Api(0, "Produce", 13, flexible=9)
FETCH = Api(1, "Fetch", 18, flexible=12)
LIST_OFFSETS = Api(2, "ListOffsets", 11, flexible=6)
METADATA = Api(3, "Metadata", 13, flexible=9)
LEADER_AND_ISR = Api(4, "LeaderAndIsr", 7, flexible=4, inter_broker=True)
STOP_REPLICA = Api(5, "StopReplica", 4, flexible=2, inter_broker=True)
UPDATE_METADATA = Api(6, "UpdateMetadata", 8, flexible=6, inter_broker=True)
CONTROLLED_SHUTDOWN = Api(7, "ControlledShutdown", 3, flexible=3, inter_broker=True)
OFFSET_COMMIT = Api(8, "OffsetCommit", 10, flexible=8)
OFFSET_FETCH = Api(9, "OffsetFetch", 10, flexible=6)
FIND_COORDINATOR = Api(10, "FindCoordinator", 6, flexible=3)
JOIN_GROUP = Api(11, "JoinGroup", 9, flexible=6)
HEARTBEAT = Api(12, "Heartbeat", 4, flexible=4)
LEAVE_GROUP = Api(13, "LeaveGroup", 5, flexible=4)
SYNC_GROUP = Api(14, "SyncGroup", 5, flexible=4)
DESCRIBE_GROUPS = Api(15, "DescribeGroups", 6, flexible=5)
LIST_GROUPS = Api(16, "ListGroups", 5, flexible=3)
SASL_HANDSHAKE = Api(17, "SaslHandshake", 1)
API_VERSIONS = Api(18, "ApiVersions", 5, flexible=3)
CREATE_TOPICS = Api(19, "CreateTopics", 7, flexible=5)
DELETE_TOPICS = Api(20, "DeleteTopics", 6, flexible=4)
DELETE_RECORDS = Api(21, "DeleteRecords", 2, flexible=2)
INIT_PRODUCER_ID = Api(22, "InitProducerId", 6, flexible=2)
OFFSET_FOR_LEADER_EPOCH = Api(23, "OffsetForLeaderEpoch", 4, flexible=4)
ADD_PARTITIONS_TO_TXN = Api(24, "AddPartitionsToTxn", 5, flexible=3)
ADD_OFFSETS_TO_TXN = Api(25, "AddOffsetsToTxn", 4, flexible=3)
END_TXN = Api(26, "EndTxn", 5, flexible=3)
WRITE_TXN_MARKERS = Api(27, "WriteTxnMarkers", 2, flexible=1, inter_broker=True)
TXN_OFFSET_COMMIT = Api(28, "TxnOffsetCommit", 6, flexible=3)
DESCRIBE_ACLS = Api(29, "DescribeAcls", 3, flexible=2)
CREATE_ACLS = Api(30, "CreateAcls", 3, flexible=2)
DELETE_ACLS = Api(31, "DeleteAcls", 3, flexible=2)
DESCRIBE_CONFIGS = Api(32, "DescribeConfigs", 4, flexible=4)
ALTER_CONFIGS = Api(33, "AlterConfigs", 2, flexible=2)
ALTER_REPLICA_LOG_DIRS = Api(34, "AlterReplicaLogDirs", 2, flexible=2)
DESCRIBE_LOG_DIRS = Api(35, "DescribeLogDirs", 5, flexible=2)
SASL_AUTHENTICATE = Api(36, "SaslAuthenticate", 2, flexible=2)
CREATE_PARTITIONS = Api(37, "CreatePartitions", 3, flexible=2)
CREATE_DELEGATION_TOKEN = Api(38, "CreateDelegationToken", 3, flexible=2)
RENEW_DELEGATION_TOKEN = Api(39, "RenewDelegationToken", 2, flexible=2)
EXPIRE_DELEGATION_TOKEN = Api(40, "ExpireDelegationToken", 2, flexible=2)
DESCRIBE_DELEGATION_TOKEN = Api(41, "DescribeDelegationToken", 3, flexible=2)
DELETE_GROUPS = Api(42, "DeleteGroups", 3, flexible=2)
ELECT_LEADERS = Api(43, "ElectLeaders", 2, flexible=2)
INCREMENTAL_ALTER_CONFIGS = Api(44, "IncrementalAlterConfigs", 1, flexible=1)
ALTER_PARTITION_REASSIGNMENTS = Api(45, "AlterPartitionReassignments", 1, flexible=0)
LIST_PARTITION_REASSIGNMENTS = Api(46, "ListPartitionReassignments", 0, flexible=0)
OFFSET_DELETE = Api(47, "OffsetDelete", 0)
DESCRIBE_CLIENT_QUOTAS = Api(48, "DescribeClientQuotas", 1, flexible=1)
ALTER_CLIENT_QUOTAS = Api(49, "AlterClientQuotas", 1, flexible=1)
DESCRIBE_USER_SCRAM_CREDENTIALS = Api(50, "DescribeUserScramCredentials", 0, flexible=0)
ALTER_USER_SCRAM_CREDENTIALS = Api(51, "AlterUserScramCredentials", 0, flexible=0)
VOTE = Api(52, "Vote", 2, flexible=0, inter_broker=True)
BEGIN_QUORUM_EPOCH = Api(53, "BeginQuorumEpoch", 1, flexible=1, inter_broker=True)
END_QUORUM_EPOCH = Api(54, "EndQuorumEpoch", 1, flexible=1, inter_broker=True)
DESCRIBE_QUORUM = Api(55, "DescribeQuorum", 2, flexible=0)
ALTER_PARTITION = Api(56, "AlterPartition", 3, flexible=0, inter_broker=True)
UPDATE_FEATURES = Api(57, "UpdateFeatures", 2, flexible=0)
ENVELOPE = Api(58, "Envelope", 0, flexible=0, inter_broker=True)
FETCH_SNAPSHOT = Api(59, "FetchSnapshot", 1, flexible=0, inter_broker=True)
DESCRIBE_CLUSTER = Api(60, "DescribeCluster", 2, flexible=0)
DESCRIBE_PRODUCERS = Api(61, "DescribeProducers", 0, flexible=0)
BROKER_REGISTRATION = Api(62, "BrokerRegistration", 4, flexible=0, inter_broker=True)
BROKER_HEARTBEAT = Api(63, "BrokerHeartbeat", 2, flexible=0, inter_broker=True)
UNREGISTER_BROKER = Api(64, "UnregisterBroker", 0, flexible=0)
DESCRIBE_TRANSACTIONS = Api(65, "DescribeTransactions", 0, flexible=0)
LIST_TRANSACTIONS = Api(66, "ListTransactions", 2, flexible=0)
ALLOCATE_PRODUCER_IDS = Api(67, "AllocateProducerIds", 0, flexible=0, inter_broker=True)
CONSUMER_GROUP_HEARTBEAT = Api(68, "ConsumerGroupHeartbeat", 1, flexible=0)
CONSUMER_GROUP_DESCRIBE = Api(69, "ConsumerGroupDescribe", 1, flexible=0)
CONTROLLER_REGISTRATION = Api(70, "ControllerRegistration", 0, flexible=0, inter_broker=True)
GET_TELEMETRY_SUBSCRIPTIONS = Api(71, "GetTelemetrySubscriptions", 0, flexible=0)
PUSH_TELEMETRY = Api(72, "PushTelemetry", 0, flexible=0)
ASSIGN_REPLICAS_TO_DIRS = Api(73, "AssignReplicasToDirs", 0, flexible=0, inter_broker=True)
LIST_CONFIG_RESOURCES = Api(74, "ListConfigResources", 1, flexible=0)
DESCRIBE_TOPIC_PARTITIONS = Api(75, "DescribeTopicPartitions", 0, flexible=0)
SHARE_GROUP_HEARTBEAT = Api(76, "ShareGroupHeartbeat", 1, flexible=0)
SHARE_GROUP_DESCRIBE = Api(77, "ShareGroupDescribe", 1, flexible=0)
SHARE_FETCH = Api(78, "ShareFetch", 2, flexible=0)
SHARE_ACKNOWLEDGE = Api(79, "ShareAcknowledge", 2, flexible=0)
ADD_RAFT_VOTER = Api(80, "AddRaftVoter", 1, flexible=0)
REMOVE_RAFT_VOTER = Api(81, "RemoveRaftVoter", 0, flexible=0)
UPDATE_RAFT_VOTER = Api(82, "UpdateRaftVoter", 0, flexible=0, inter_broker=True)
INITIALIZE_SHARE_GROUP_STATE = Api(83, "InitializeShareGroupState", 0, flexible=0, inter_broker=True)
READ_SHARE_GROUP_STATE = Api(84, "ReadShareGroupState", 0, flexible=0, inter_broker=True)
WRITE_SHARE_GROUP_STATE = Api(85, "WriteShareGroupState", 1, flexible=0, inter_broker=True)
DELETE_SHARE_GROUP_STATE = Api(86, "DeleteShareGroupState", 0, flexible=0, inter_broker=True)
READ_SHARE_GROUP_STATE_SUMMARY = Api(87, "ReadShareGroupStateSummary", 1, flexible=0, inter_broker=True)
STREAMS_GROUP_HEARTBEAT = Api(88, "StreamsGroupHeartbeat", 1, flexible=0)
STREAMS_GROUP_DESCRIBE = Api(89, "StreamsGroupDescribe", 1, flexible=0)
DESCRIBE_SHARE_GROUP_OFFSETS = Api(90, "DescribeShareGroupOffsets", 1, flexible=0)
ALTER_SHARE_GROUP_OFFSETS = Api(91, "AlterShareGroupOffsets", 0, flexible=0)
DELETE_SHARE_GROUP_OFFSETS = Api(92, "DeleteShareGroupOffsets", 0, flexible=0)
STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE = Api(93, "StreamsGroupTopologyDescriptionUpdate", 0, flexible=0)
UNREGISTER_CONTROLLER = Api(94, "UnregisterController", 0, flexible=0)
