"""What a fault does: one of the effects, each an option by its name. `said_action.py` has the ways to write it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from plugins.faults.effect import Effect
from plugins.faults.effects.aborted import FalseAbortedTransactions
from plugins.faults.effects.bandwidth import Bandwidth
from plugins.faults.effects.batches import MisplacedBatches
from plugins.faults.effects.connections import BrokerDown, LateConnection, RefuseConnection, ResetConnection
from plugins.faults.effects.controller import FalseController
from plugins.faults.effects.coordinator import FalseCoordinator
from plugins.faults.effects.corrupt import CorruptRecords
from plugins.faults.effects.cut import CutFrame
from plugins.faults.effects.delay import DelayFrame
from plugins.faults.effects.disconnect import DisconnectClient
from plugins.faults.effects.drip import DripFrame
from plugins.faults.effects.drop import DropAnswer
from plugins.faults.effects.duplicate import DuplicateRequest
from plugins.faults.effects.empty import EmptyAnswer
from plugins.faults.effects.error import ErrorAnswer
from plugins.faults.effects.expel import ExpelMember
from plugins.faults.effects.fence import FenceProducer
from plugins.faults.effects.fenced import FencedClient
from plugins.faults.effects.hint import FalseHint
from plugins.faults.effects.hold import HoldFrame
from plugins.faults.effects.leader import FalseLeader
from plugins.faults.effects.leader_epoch import FalseLeaderEpoch
from plugins.faults.effects.long_poll import LongPoll
from plugins.faults.effects.lose import LoseRequest
from plugins.faults.effects.mangle import MangleAnswer
from plugins.faults.effects.missing import MissingInMetadata
from plugins.faults.effects.offset import FalseOffset
from plugins.faults.effects.older import OlderBroker
from plugins.faults.effects.partial import PartialFetch
from plugins.faults.effects.read_replica import FalseReadReplica
from plugins.faults.effects.rebalance import Rebalance
from plugins.faults.effects.recreated import RecreatedTopic
from plugins.faults.effects.stale import StaleMetadata
from plugins.faults.effects.throttle import ThrottleClient
from plugins.faults.effects.timestamps import ShiftTimestamps
from plugins.faults.effects.unstable import UnstableCoordinator
from proxy.plugin.files import Section


def _short(option: str) -> BeforeValidator:
    """A single value stands for the main option; `name:` with nothing under it has all defaults."""

    def read(value: object) -> object:
        if value is None:
            return {}
        return value if isinstance(value, dict | Effect) else {option: value}

    return BeforeValidator(read)


def _alone(value: object) -> object:
    """An effect without options."""
    return {} if value is None else value


class FaultAction(Section):
    """What a fault does: one of these."""

    error: Annotated[ErrorAnswer | None, _short("code")] = Field(
        default=None, description="The answer says an error.", examples=["NOT_LEADER_OR_FOLLOWER"]
    )
    disconnect: Annotated[DisconnectClient | None, _short("side")] = Field(
        default=None, description="The connection ends.", examples=["after_broker"]
    )
    delay: Annotated[DelayFrame | None, _short("time")] = Field(
        default=None, description="The request or its answer waits.", examples=["200ms"]
    )
    hold: Annotated[HoldFrame | None, _short("side")] = Field(
        default=None, description="It waits until it is released.", examples=["before_broker"]
    )
    long_poll: Annotated[LongPoll | None, _short("time")] = Field(
        default=None, description="A fetch waits longer than was asked.", examples=["30s"]
    )
    bandwidth: Annotated[Bandwidth | None, _short("rate")] = Field(
        default=None, description="A frame arrives at this speed.", examples=["64KiB"]
    )
    throttle: Annotated[ThrottleClient | None, _short("time")] = Field(
        default=None, description="The answer says that the client was throttled.", examples=["5s"]
    )
    cut: Annotated[CutFrame | None, _short("bytes")] = Field(
        default=None, description="A frame ends in the middle, and with it the connection.", examples=["10"]
    )
    drip: Annotated[DripFrame | None, _short("bytes")] = Field(
        default=None, description="A frame arrives piece by piece.", examples=["16"]
    )
    drop: Annotated[DropAnswer | None, BeforeValidator(_alone)] = Field(
        default=None, description="An answer never arrives.", examples=["{}"]
    )
    mangle: Annotated[MangleAnswer | None, _short("what")] = Field(
        default=None, description="The bytes of an answer are wrong.", examples=["correlation_id"]
    )
    duplicate: Annotated[DuplicateRequest | None, _short("times")] = Field(
        default=None, description="The broker gets a request several times.", examples=["2"]
    )
    corrupt: Annotated[CorruptRecords | None, _short("side")] = Field(
        default=None, description="Checksums of records do not fit.", examples=["after_broker"]
    )
    empty: Annotated[EmptyAnswer | None, BeforeValidator(_alone)] = Field(
        default=None, description="A fetch brings no records.", examples=["{}"]
    )
    timestamps: Annotated[ShiftTimestamps | None, _short("by")] = Field(
        default=None, description="Records are from another time.", examples=["1h"]
    )
    batches: Annotated[MisplacedBatches | None, _short("what")] = Field(
        default=None, description="A fetch drops, reorders or repeats a batch.", examples=["dropped"]
    )
    partial: Annotated[PartialFetch | None, BeforeValidator(_alone)] = Field(
        default=None, description="A fetch brings a part of the records.", examples=["{batches: 1}"]
    )
    aborted: Annotated[FalseAbortedTransactions | None, _short("what")] = Field(
        default=None, description="A fetch says other aborted transactions.", examples=["missing"]
    )
    offset: Annotated[FalseOffset | None, _short("by")] = Field(
        default=None, description="Answers say other offsets.", examples=["-100"]
    )
    read_replica: Annotated[FalseReadReplica | None, _short("who")] = Field(
        default=None, description="A fetch is sent to another broker.", examples=["other"]
    )
    hint: Annotated[FalseHint | None, _short("who")] = Field(
        default=None, description="A broker that does not lead names a false leader.", examples=["other"]
    )
    leader: Annotated[FalseLeader | None, _short("who")] = Field(
        default=None, description="Metadata says another leader.", examples=["none"]
    )
    coordinator: Annotated[FalseCoordinator | None, BeforeValidator(_alone)] = Field(
        default=None, description="FindCoordinator names another broker.", examples=["{}"]
    )
    leader_epoch: Annotated[FalseLeaderEpoch | None, _short("what")] = Field(
        default=None, description="Answers say another leader epoch.", examples=["older"]
    )
    controller: Annotated[FalseController | None, _short("who")] = Field(
        default=None, description="Another broker is said to be the controller.", examples=["none"]
    )
    missing: Annotated[MissingInMetadata | None, _short("what")] = Field(
        default=None, description="Topics, partitions or a broker are not there.", examples=["topic"]
    )
    stale: Annotated[StaleMetadata | None, BeforeValidator(_alone)] = Field(
        default=None, description="Metadata says again what it said first.", examples=["{}"]
    )
    recreated: Annotated[RecreatedTopic | None, BeforeValidator(_alone)] = Field(
        default=None, description="Topics have another id.", examples=["{}"]
    )
    rebalance: Annotated[Rebalance | None, _short("side")] = Field(
        default=None, description="Members are told to join again.", examples=["before_broker"]
    )
    fenced: Annotated[FencedClient | None, _short("who")] = Field(
        default=None, description="Members or producers are told that they are fenced.", examples=["member"]
    )
    unstable: Annotated[UnstableCoordinator | None, _short("what")] = Field(
        default=None, description="The coordinator moves, loads, or is not available.", examples=["any"]
    )
    expel: Annotated[ExpelMember | None, BeforeValidator(_alone)] = Field(
        default=None, description="The broker is told that the member leaves.", examples=["{}"]
    )
    fence: Annotated[FenceProducer | None, BeforeValidator(_alone)] = Field(
        default=None, description="Another producer takes the transactional id.", examples=["{}"]
    )
    lose: Annotated[LoseRequest | None, BeforeValidator(_alone)] = Field(
        default=None, description="The client is told that it is done, and the broker never sees it.", examples=["{}"]
    )
    older: Annotated[OlderBroker | None, _short("release")] = Field(
        default=None, description="ApiVersions says what an older release knows.", examples=['"2.8"']
    )
    refuse: Annotated[RefuseConnection | None, _short("how")] = Field(
        default=None, description="New connections end at once.", examples=["close"]
    )
    late: Annotated[LateConnection | None, _short("time")] = Field(
        default=None, description="New connections are served late.", examples=["2s"]
    )
    reset: Annotated[ResetConnection | None, BeforeValidator(_alone)] = Field(
        default=None, description="New connections are reset.", examples=["{}"]
    )
    down: Annotated[BrokerDown | None, _short("how")] = Field(
        default=None,
        description="New connections are reset, and old ones when they ask for something.",
        examples=["reset"],
    )

    @property
    def said(self) -> tuple[str, ...]:
        """The effects that are given: one, in a valid file."""
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def effect(self) -> Effect:
        found: Effect = getattr(self, self.said[0])
        return found
