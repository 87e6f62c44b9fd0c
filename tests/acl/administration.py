"""The calls of Java's newest admin client, and the resources that each is made for.

Rules:
* A call takes the client and a name on the wire; it gives one future or a list of futures.
* Calls that change something come after those that describe it, and calls that delete something come last.
* Calls about delegation tokens and ACLs are in the scenarios alone, since these do not belong to one scenario.
  abortTransaction is left out: it sends WriteTxnMarkers, which only brokers may send through a proxy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.acl.admin import Admin
from tests.acl.language import Given

MINE, SEEN, HIDDEN = "mine", "seen", "hidden"
PEOPLE = ("alice", "carol")  # alice has rights on some resources, carol on the cluster
LONG = 1 << 40  # py4j makes a Long of a number that does not fit an Integer
GIVEN = Given.model_validate(
    {
        "topics": (MINE, SEEN, HIDDEN),
        "records": {MINE: ("a", "b"), SEEN: ("a", "b"), HIDDEN: ("a", "b")},
        "offsets": {MINE: {MINE: 1, HIDDEN: 1}, SEEN: {MINE: 1}, HIDDEN: {MINE: 1}},
        "acls": (
            {"allow": "User:alice", "to": "All", "topics": MINE, "groups": MINE, "transactional_ids": MINE},
            {"allow": "User:alice", "to": "Describe", "topics": SEEN, "groups": SEEN, "transactional_ids": SEEN},
            {"allow": "User:carol", "to": "All", "cluster": True},
        ),
    }
)


class Call(NamedTuple):
    """A call of the client. `told`: its result can be compared; it has no values of one side or of other scenarios."""

    name: str
    make: Callable[[Admin, str], Any]
    told: bool = True


TOPICS = [
    Call("describeTopics", lambda a, t: a.admin.describeTopics([t], a.authorized("DescribeTopics")).allTopicNames()),
    Call("describeTopics by id", lambda a, t: a.admin.describeTopics(a.by_id(t)).allTopicIds()),
    Call("listOffsets", lambda a, t: a.admin.listOffsets({a.partition(t): a.said.OffsetSpec.latest()}).all()),
    Call("describeProducers", lambda a, t: a.admin.describeProducers([a.partition(t)]).all()),
    Call("describeConfigs", lambda a, t: a.admin.describeConfigs([a.java.resource("TOPIC", t)]).all()),
    Call("incrementalAlterConfigs", lambda a, t: a.settings("TOPIC", t, "retention.ms", "86400000")),
    Call("createTopics", lambda a, t: a.admin.createTopics([a.said.NewTopic(t, 1, 1)]).all()),
    Call(
        "createTopics that is not there", lambda a, t: a.admin.createTopics([a.said.NewTopic(t + "-new", 1, 1)]).all()
    ),
    Call("createPartitions", lambda a, t: a.admin.createPartitions({t: a.said.NewPartitions.increaseTo(2)}).all()),
    Call(
        "listPartitionReassignments", lambda a, t: a.admin.listPartitionReassignments({a.partition(t)}).reassignments()
    ),
    Call(
        "alterPartitionReassignments",
        lambda a, t: a.admin.alterPartitionReassignments({a.partition(t): a.java.jvm.java.util.Optional.empty()}).all(),
    ),
    Call(
        "electLeaders",
        lambda a, t: a.admin.electLeaders(a.common.ElectionType.PREFERRED, {a.partition(t)}).partitions(),
    ),
    Call("describeReplicaLogDirs", lambda a, t: a.admin.describeReplicaLogDirs([a.replica(t)]).all(), told=False),
    Call("alterReplicaLogDirs", lambda a, t: a.admin.alterReplicaLogDirs({a.replica(t): "/nowhere"}).all()),
]
GROUPS = [
    Call("describeConsumerGroups", lambda a, g: a.described("ConsumerGroups", g)),
    Call("describeClassicGroups", lambda a, g: a.described("ClassicGroups", g)),
    Call("describeShareGroups", lambda a, g: a.described("ShareGroups", g)),
    Call("describeStreamsGroups", lambda a, g: a.described("StreamsGroups", g)),
    Call("listConsumerGroupOffsets", lambda a, g: a.admin.listConsumerGroupOffsets(g).all()),
    Call(
        "listShareGroupOffsets",
        lambda a, g: a.admin.listShareGroupOffsets({g: a.said.ListShareGroupOffsetsSpec()}).all(),
    ),
    Call("describeConfigs of a group", lambda a, g: a.admin.describeConfigs([a.java.resource("GROUP", g)]).all()),
    Call(
        "incrementalAlterConfigs of a group",
        lambda a, g: a.settings("GROUP", g, "consumer.session.timeout.ms", "50000"),
    ),
    Call(
        "alterConsumerGroupOffsets",
        lambda a, g: a.admin.alterConsumerGroupOffsets(g, {a.partition(a.names.wire(MINE)): a.offset(2)}).all(),
    ),
    Call(
        "alterConsumerGroupOffsets of a hidden topic",
        lambda a, g: a.admin.alterConsumerGroupOffsets(g, {a.partition(a.names.wire(HIDDEN)): a.offset(2)}).all(),
    ),
    Call(
        "alterShareGroupOffsets",
        lambda a, g: a.admin.alterShareGroupOffsets(g, {a.partition(a.names.wire(MINE)): LONG}).all(),
    ),
    Call(
        "deleteConsumerGroupOffsets",
        lambda a, g: a.admin.deleteConsumerGroupOffsets(g, {a.partition(a.names.wire(MINE))}).all(),
    ),
    Call("deleteShareGroupOffsets", lambda a, g: a.admin.deleteShareGroupOffsets(g, {a.names.wire(MINE)}).all()),
    Call(
        "removeMembersFromConsumerGroup",
        lambda a, g: a.admin.removeMembersFromConsumerGroup(g, a.said.RemoveMembersFromConsumerGroupOptions()).all(),
    ),
]
TRANSACTIONS = [
    Call("describeTransactions", lambda a, x: a.admin.describeTransactions([x]).all()),
    Call("fenceProducers", lambda a, x: a.admin.fenceProducers([x]).all()),
    Call("describeTransactions once more", lambda a, x: a.admin.describeTransactions([x]).all()),
]
CLUSTER = [
    Call("describeCluster", lambda a, _: a.cluster()),
    Call(
        "listTopics", lambda a, _: a.admin.listTopics(a.options("ListTopics", listInternal=True)).listings(), told=False
    ),
    Call("listGroups", lambda a, _: a.admin.listGroups().all(), told=False),
    Call("listTransactions", lambda a, _: a.admin.listTransactions().all(), told=False),
    Call("listConfigResources", lambda a, _: a.admin.listConfigResources().all(), told=False),
    Call(
        "describeConfigs of a broker",
        lambda a, _: a.admin.describeConfigs([a.java.resource("BROKER", "1")]).all(),
        told=False,
    ),
    Call(
        "describeConfigs of its log",
        lambda a, _: a.admin.describeConfigs([a.java.resource("BROKER_LOGGER", "1")]).all(),
        told=False,
    ),
    Call(
        "incrementalAlterConfigs of a broker",
        lambda a, _: a.settings("BROKER", "1", "log.cleaner.threads", "1", validateOnly=True),
    ),
    Call(
        "incrementalAlterConfigs of its log",
        lambda a, _: a.settings("BROKER_LOGGER", "1", "kafka.server", "INFO", validateOnly=True),
    ),
    Call("describeLogDirs", lambda a, _: a.admin.describeLogDirs([1]).allDescriptions(), told=False),
    Call(
        "describeClientQuotas",
        lambda a, _: a.admin.describeClientQuotas(a.common.quota.ClientQuotaFilter.all()).entities(),
    ),
    Call("alterClientQuotas", lambda a, _: a.quota()),
    Call("describeUserScramCredentials", lambda a, _: a.admin.describeUserScramCredentials().all()),
    Call(
        "alterUserScramCredentials",
        lambda a, _: a.admin.alterUserScramCredentials(
            [a.said.UserScramCredentialDeletion("nobody", a.said.ScramMechanism.SCRAM_SHA_256)]
        ).all(),
    ),
    Call("describeFeatures", lambda a, _: a.admin.describeFeatures().featureMetadata()),
    Call("updateFeatures", lambda a, _: a.feature()),
    Call("describeMetadataQuorum", lambda a, _: a.admin.describeMetadataQuorum().quorumInfo(), told=False),
    Call("removeRaftVoter", lambda a, _: a.admin.removeRaftVoter(99, a.common.Uuid(1, 1)).all()),
    Call("unregisterBroker", lambda a, _: a.admin.unregisterBroker(99).all()),
    Call("expireDelegationToken", lambda a, _: a.admin.expireDelegationToken(bytearray(b"none")).expiryTimestamp()),
    Call("describeDelegationToken", lambda a, _: a.admin.describeDelegationToken().delegationTokens()),
]
LAST_OF_GROUPS = [
    Call("deleteShareGroups", lambda a, g: a.admin.deleteShareGroups([g]).all()),
    Call("deleteConsumerGroups", lambda a, g: a.admin.deleteConsumerGroups([g]).all()),
]
LAST_OF_TOPICS = [
    Call("deleteTopics by id", lambda a, t: a.admin.deleteTopics(a.by_id(t)).all()),
    Call("deleteTopics", lambda a, t: a.admin.deleteTopics([t]).all()),
]


def everything() -> Iterator[tuple[str, Call, str]]:
    """User, call and resource name of each call, in order."""
    for who in PEOPLE:
        for calls in (TOPICS, GROUPS, TRANSACTIONS):
            yield from ((who, call, name) for call in calls for name in (MINE, SEEN, HIDDEN))
        yield from ((who, call, "") for call in CLUSTER)
        yield from ((who, call, name) for call in LAST_OF_GROUPS for name in (HIDDEN, SEEN, MINE))
    for who in PEOPLE:
        yield from ((who, call, name) for call in LAST_OF_TOPICS for name in (HIDDEN, SEEN, MINE))
