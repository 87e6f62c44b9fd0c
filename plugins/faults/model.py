"""The file of faults: declared once, with every problem told at its place.

    seed: 7
    faults:
      - name: lost-ack
        match: {api: Produce, topic: orders, partition: 0}
        when: {after: 10, times: 2}
        do: {disconnect: after_broker}

What a fault does is one effect, by its name: alone (`do: hold`), with the one value that it cannot be without
(`do: {error: NOT_LEADER_OR_FOLLOWER}`), or with all its options (`do: {error: {code: ..., level: partition}}`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, StrictInt

from plugins.faults.effect import Effect
from plugins.faults.effects.connections import BrokerDown, RefuseConnection, ResetConnection
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
from plugins.faults.effects.hold import HoldFrame
from plugins.faults.effects.leader import FalseLeader
from plugins.faults.effects.mangle import MangleAnswer
from plugins.faults.effects.older import OlderBroker
from plugins.faults.effects.throttle import ThrottleClient
from proxy.plugin import Api, Finding, wrong
from proxy.plugin.files import Examined, Form, Section, nearest, shown
from rules.match import Match
from rules.values import Said, text
from rules.when import When


def _short(option: str) -> BeforeValidator:
    """One value may stand for the option that matters most; `name:` with nothing under it is all defaults."""

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
    leader: Annotated[FalseLeader | None, _short("who")] = Field(
        default=None, description="Metadata says another leader.", examples=["none"]
    )
    coordinator: Annotated[FalseCoordinator | None, BeforeValidator(_alone)] = Field(
        default=None, description="FindCoordinator names another broker.", examples=["{}"]
    )
    older: Annotated[OlderBroker | None, _short("release")] = Field(
        default=None, description="ApiVersions says what an older release knows.", examples=['"2.8"']
    )
    refuse: Annotated[RefuseConnection | None, BeforeValidator(_alone)] = Field(
        default=None, description="New connections are closed.", examples=["{}"]
    )
    reset: Annotated[ResetConnection | None, BeforeValidator(_alone)] = Field(
        default=None, description="New connections are reset.", examples=["{}"]
    )
    down: Annotated[BrokerDown | None, BeforeValidator(_alone)] = Field(
        default=None,
        description="New connections are reset, and old ones when they ask for something.",
        examples=["{}"],
    )

    @property
    def said(self) -> tuple[str, ...]:
        """The effects that are there: one, where the file is right."""
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def effect(self) -> Effect:
        found: Effect = getattr(self, self.said[0])
        return found


def _word(value: object) -> object:
    """`do: hold` says `do: {hold: {}}`."""
    if not isinstance(value, str):
        return value
    if value not in FaultAction.model_fields:
        raise wrong(f"unknown effect {shown(value)}", nearest(value, FaultAction.model_fields))
    return {value: None}


class FaultRule(Section):
    """One fault: of what, when, and what happens."""

    name: Said[Annotated[str, PlainValidator(lambda value: text(value, "name of a rule", "lost-ack"))]] = Field(
        default=None, description="What it is called, in the ledger and by other rules.", examples=["lost-ack"]
    )
    match: Match = Field(default=Match(), description="Of which requests or connections.", examples=["{api: Produce}"])
    when: When = Field(default=When(), description="When it fires; without it, always.", examples=["{times: 2}"])
    do: Annotated[FaultAction, BeforeValidator(_word)] = Field(
        description="What happens.", examples=["{error: NOT_LEADER_OR_FOLLOWER}"]
    )


def _left_empty(value: Any) -> Any:
    """`faults:` with nothing under it says that there are none."""
    return () if value is None else value


class FaultsFile(Section):
    """One file of faults."""

    seed: StrictInt = Field(
        default=0, description="What chance goes by: the same seed, the same faults.", examples=["7"]
    )
    faults: Annotated[tuple[FaultRule, ...], BeforeValidator(_left_empty)] = Field(
        default=(), description="The faults, in the order in which they are tried.", examples=["[{do: {delay: 200ms}}]"]
    )

    @cached_property
    def apis(self) -> frozenset[Api]:
        """The APIs whose requests may be meant."""
        return frozenset(api for fault in self.faults if fault.do.effect.of_requests for api in fault.match.apis)

    @cached_property
    def named(self) -> dict[str, FaultRule]:
        """The faults by their names; those without one are called by their number: "fault 2"."""
        return {fault.name or f"fault {number}": fault for number, fault in enumerate(self.faults, 1)}


# What can be known of a connection of which no request came yet.
OF_CONNECTIONS = frozenset({"broker", "from_", "listener", "during"})
OF_THINGS = ("topic", "partition", "group", "transactional_id")


def _check(examined: Examined[FaultsFile]) -> None:
    if examined.value is not None:
        for index, fault in enumerate(examined.value.faults):
            examined.note(_findings(("faults", index), fault, examined.value))


def _findings(path: tuple[str | int, ...], fault: FaultRule, file: FaultsFile) -> Iterator[Finding]:
    """Everything wrong with a fault whose options are each right."""
    if len(fault.do.said) != 1:
        several = " and ".join(f'"{name}"' for name in fault.do.said)
        known = ", ".join(FaultAction.model_fields)
        yield Finding(
            (*path, "do"),
            f"{several} stand in one fault; make two of it"
            if several
            else f"the fault does nothing; say one of {known}",
        )
        return
    name, effect = fault.do.said[0], fault.do.effect
    for option, said in effect.problems(fault.match.apis):
        yield Finding((*path, "do", name, *filter(None, (option,))), said)
    if effect.of_connections:
        for option in fault.match.model_fields_set - OF_CONNECTIONS:
            known = ", ".join(sorted(it.rstrip("_") for it in OF_CONNECTIONS))
            yield Finding((*path, "match", option), f'"{name}" is done to connections, of which only {known} are known')
    if sum(other.name == fault.name for other in file.faults) > 1 and fault.name is not None:
        yield Finding((*path, "name"), f'another fault is called "{fault.name}" too; give each its own name')
    for option, other in fault.when.others.items():
        if other not in file.named:
            yield Finding((*path, "when", option), f'no fault is called "{other}"; {nearest(other, file.named)}')
        elif file.named[other] is fault:
            yield Finding((*path, "when", option), "a fault cannot wait for itself; name another one")


START = 'begin with "faults:" (plugins/faults/README.md shows a whole file)'
FORM = Form(FaultsFile, "file of faults", START, largest=16 << 20, check=_check)
