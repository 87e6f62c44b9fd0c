"""Java's admin client, with short methods for the calls that tests make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.acl.names import Names
from tests.real.java_clients import JavaClients


class Admin:
    """The admin client of one user on one side."""

    def __init__(self, java: JavaClients, admin: Any, names: Names, topic_id: Callable[[str], bytes]) -> None:
        self.java, self.admin, self.names, self._topic_id = java, admin, names, topic_id
        self.kafka = java.jvm.org.apache.kafka
        self.common, self.said = self.kafka.common, self.kafka.clients.admin

    def uuid(self, name: str) -> Any:
        raw = self._topic_id(name)
        high, low = (int.from_bytes(raw[at : at + 8], "big", signed=True) for at in (0, 8))
        return self.common.Uuid(high, low)

    def by_id(self, name: str) -> Any:
        return self.common.TopicCollection.ofTopicIds([self.uuid(name)])

    def partition(self, name: str) -> Any:
        return self.common.TopicPartition(name, 0)

    def replica(self, name: str) -> Any:
        return self.common.TopicPartitionReplica(name, 0, 1)

    def settings(self, kind: str, name: str, setting: str, value: str, **options: bool) -> Any:
        wanted = self.options("AlterConfigs", **options)
        change = self.java.setting(self.java.resource(kind, name), setting, value)
        return self.admin.incrementalAlterConfigs(change, wanted).all()

    def options(self, call: str, **options: Any) -> Any:
        made = getattr(self.said, f"{call}Options")()
        for name, value in options.items():
            made = getattr(made, name)(value)
        return made

    def offset(self, number: int) -> Any:
        return self.kafka.clients.consumer.OffsetAndMetadata(number)

    def authorized(self, call: str) -> Any:
        return self.options(call, includeAuthorizedOperations=True)

    def described(self, kind: str, group: str) -> Any:
        return getattr(self.admin, f"describe{kind}")([group], self.authorized(f"Describe{kind}")).all()

    def cluster(self) -> list[Any]:
        told = self.admin.describeCluster(self.authorized("DescribeCluster"))
        return [told.nodes(), told.controller(), told.clusterId(), told.authorizedOperations()]

    def feature(self) -> Any:
        update = self.said.FeatureUpdate(1, self.said.FeatureUpdate.UpgradeType.UPGRADE)
        wanted = self.options("UpdateFeatures", validateOnly=True)
        return self.admin.updateFeatures({"share.version": update}, wanted).all()

    def quota(self) -> Any:
        quota = self.common.quota
        entity = quota.ClientQuotaEntity({"client-id": self.names.wire("somebody")})
        change = quota.ClientQuotaAlteration(entity, [quota.ClientQuotaAlteration.Op("producer_byte_rate", 1e6)])
        return self.admin.alterClientQuotas([change], self.options("AlterClientQuotas", validateOnly=True)).all()
