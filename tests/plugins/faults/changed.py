"""Every response that an effect changes or makes: each effect on each API and version that it applies to."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from types import GeneratorType
from typing import Any, NamedTuple

from plugins.faults import about
from plugins.faults.effect import Effect, FaultSide, Target
from plugins.faults.model import FORM
from proxy.core.context import Context
from proxy.core.decisions import Ask, Forward, Reply
from proxy.core.topology import Endpoint, Topology
from proxy.protocol.api import API_VERSIONS, DESCRIBE_TOPIC_PARTITIONS, INIT_PRODUCER_ID, METADATA, Api
from proxy.protocol.levels import errors
from proxy.protocol.records import Record, write_batch
from proxy.protocol.schema import Response
from proxy.testing import connection
from rules.match import Match
from rules.trigger import Firing
from tests.proxy.protocol.generate import some, structs_of

DOING = (
    *("aborted: missing", "aborted: added"),
    *("batches: dropped", "batches: reordered", "batches: repeated"),
    *("controller: none", "controller: other", "coordinator", "empty"),
    *("corrupt: {what: checksum}", "corrupt: {what: codec}", "corrupt: {what: compression}", "corrupt: {what: count}"),
    *("corrupt: {what: length}", "corrupt: {what: magic}", "corrupt: {what: value}"),
    *("fenced: instance", "fenced: member", "fenced: producer"),
    *("hint: older", "hint: other", "hint: unknown"),
    *("leader: none", "leader: other", "leader_epoch: newer", "leader_epoch: older", "lose"),
    *("missing: partition", "missing: topic", "missing: {broker: 2}"),
    *("offset: -100", "offset: none", "older: '2.8'"),
    *("partial: {batches: 1}", "partial: {bytes: 100}", "partial: {partitions: 1}"),
    *("read_replica: other", "read_replica: unknown", "rebalance", "recreated", "stale", "throttle: 5s"),
    *("timestamps: 1h", "timestamps: {by: 1h, into: future}"),
    *("unstable", "unstable: loading", "unstable: moved", "unstable: unavailable"),
    *("{rebalance: after_broker}", "{fenced: {who: member, side: after_broker}}", "{unstable: {side: after_broker}}"),
)
RECORDS = b"".join(
    write_batch(
        [Record(b"key", b"value", timestamp=9_000_000), Record(b"key", b"other", timestamp=9_500_000)],
        base_offset=at,
        **more,
    )
    for at, more in ((0, {"producer_id": 7, "transactional": True}), (2, {}), (4, {}))
)


class Changed(NamedTuple):
    """One case: the response before and after the effect; or the reason why the effect does not apply."""

    do: str
    version: int
    before: Any
    answer: Any
    why: str | None


def effect_of(do: str) -> Effect:
    """The effect of this text in a file."""
    said = do if ":" not in do or do.startswith("{") else f"{{{do}}}"
    return FORM.examine(f"faults: [{{do: {said}}}]", "faults.yaml", {}).usable().faults[0].do.effect


def changed(api: Api) -> Iterator[Changed]:
    """All cases of one API."""
    for do in DOING:
        effect = effect_of(do)
        if api in effect.apis:
            for version in api.versions:
                yield _changed(api, version, do, effect)


def answer_of(api: Api, version: int, first: int = 1000) -> Any:
    """A response without errors and with records, to which all effects for its version apply."""
    answer = some(api.response, version, count(first))
    for struct in structs_of(answer):
        for field in errors(type(struct), version):
            setattr(struct, field.name, 0)
        if "records" in type(struct).__slots__:
            struct.records = RECORDS  # type: ignore[attr-defined]
    if hasattr(answer, "brokers") and answer.brokers:
        setattr(answer.brokers[0], "node_id" if api is METADATA else "broker_id", 2)
    if api in (DESCRIBE_TOPIC_PARTITIONS, METADATA):
        answer.topics[0].partitions[0].leader_id = 2
    if api is API_VERSIONS:
        answer.api_keys[0].api_key, answer.api_keys[0].min_version, answer.api_keys[0].max_version = 0, 3, 13
    return answer


def context(api: Api, version: int) -> Context:
    """A request to the first of two brokers."""
    known = Topology(lambda node_id: Endpoint("proxy", 9000 + node_id))
    for node_id in (1, 2):
        known.learn(node_id, f"kafka-{node_id}", 9092)
    ctx = Context(connection(), api, version, 1)
    ctx.connection.topology, ctx.connection.broker_id = known, 1
    return ctx


def named(topic_id: bytes) -> str:
    return "a topic"


def _changed(api: Api, version: int, do: str, effect: Effect) -> Changed:
    request = some(api.request, version, count(1))
    if "acks" in type(request).__slots__:
        request.acks = 1
    before = answer_of(api, version)
    on_answer = effect.at is FaultSide.AFTER_BROKER
    ctx = context(api, version)
    things = tuple(about.of_request(request, version, named))
    message: Any = deepcopy(before) if on_answer else request
    subject = about.subject(request, version, named)
    memory: dict[Any, Any] = {}
    target = Target(ctx, message, Match(), subject, named, lambda: True, things, memory=memory)
    earlier = answer_of(api, version, 5000)
    if do == "stale":
        for topic, now in zip(earlier.topics, before.topics, strict=True):
            topic.name = now.name  # the same topics, with other values
    effect.remember(Target(ctx, earlier, Match(), subject, named, lambda: True, memory=memory))
    why = effect.cannot(target)
    if why is not None:
        return Changed(do, version, before, None, why)
    decision = effect.apply(target, Firing("rule", 1, 0))
    if isinstance(decision, GeneratorType):
        decision = _answered(decision)
    assert isinstance(decision, Forward | Reply), do
    answer: Any = decision.message
    assert isinstance(answer, Response), do
    return Changed(do, version, before, answer, None)


def _answered(steps: Any) -> Any:
    """The result of steps that ask a broker for Metadata."""
    try:
        step = next(steps)
        while True:
            assert isinstance(step, Ask)
            assert step.request.api in (METADATA, INIT_PRODUCER_ID)
            step = steps.send(metadata())
    except StopIteration as end:
        return end.value


def metadata() -> Any:
    """A Metadata response with all partitions that the requests here name."""
    answer = answer_of(METADATA, 12)
    for place, broker in enumerate(answer.brokers, 1):
        broker.node_id = place
    answer.topics[0].name = "a topic"
    partition = answer.topics[0].partitions[0]
    answer.topics[0].partitions = []
    for index in range(200):
        other = deepcopy(partition)
        other.partition_index, other.leader_id, other.leader_epoch = index, 1, 7
        answer.topics[0].partitions.append(other)
    return answer
