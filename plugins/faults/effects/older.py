"""Older: the broker advertises the versions of another release.

Rules:
* Only versions that both the broker and the proxy really know are left, so that every request of a client is answered.
* A release before 3.3 is meant with ZooKeeper. Its brokers with KRaft were a preview: in 2.8 they had neither
  idempotent producers nor transactions nor ACLs.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, PlainValidator

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from proxy.plugin import API_VERSIONS, Decision, Forward, wrong
from proxy.plugin.files import nearest, shown
from proxy.plugin.schema import accepted, releases
from rules.trigger import Firing

KRAFT_READY = "3.3"  # KIP-833


def release(value: object) -> str:
    """Read a release of Kafka. YAML reads an unquoted 2.8 as a number."""
    name = str(value) if isinstance(value, float) else value
    if not isinstance(name, str) or name not in releases():
        raise wrong(f"unknown release {shown(value)}", nearest(str(value), releases()))
    return name


Release = Annotated[str, PlainValidator(release)]


class OlderBroker(AnswerEffect):
    """Advertise fewer versions."""

    apis: ClassVar = frozenset({API_VERSIONS})

    release: Release = Field(description="Of Kafka.", examples=['"2.8"'])

    def cannot(self, target: Target) -> str | None:
        return "it is a refusal" if target.message.error_code else None

    def apply(self, target: Target, firing: Firing) -> Decision:
        left, zookeeper = [], _is_before(self.release, KRAFT_READY)
        for said in target.message.api_keys:
            known = accepted(self.release, said.api_key, zookeeper=zookeeper)
            if known:
                said.min_version = max(said.min_version, known.start)
                said.max_version = min(said.max_version, known.stop - 1)
                if said.min_version <= said.max_version:
                    left.append(said)
        target.message.api_keys = left
        return Forward(target.message)


def _is_before(release: str, other: str) -> bool:
    known = releases()
    return known.index(release) < known.index(other)
