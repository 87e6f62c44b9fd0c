"""Playing a scenario on one side: the outcome of each request, and whether it is the one in the file."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from proxy.protocol.api import OFFSET_COMMIT, PRODUCE, Api
from proxy.protocol.schema import Request, Struct
from tests.acl.answers import ANSWER, Telling
from tests.acl.compare import at
from tests.acl.language import CLOSED, NOTHING, Step, in_version
from tests.acl.load import Scenario
from tests.acl.names import NOBODY, SUPER_USER, Names, in_versions, versioned
from tests.acl.prepare import checked
from tests.acl.requests import Asking
from tests.acl.side import Side
from tests.acl.wire import Wire

# Errors that clients retry: a coordinator is not ready yet, or a transaction is about to end.
AGAIN = {"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS"}
PATIENCE = 60.0


class Outcome(NamedTuple):
    """The outcome of one request in one version: errors by name and the converted response, or how it ended without."""

    step: int
    api: Api
    version: int
    end: str | None
    errors: dict[str, str]
    told: Any

    @property
    def title(self) -> str:
        return f"step {self.step + 1}, {self.api.name} v{self.version}"


def versions(step: Step, spoken: Mapping[int, range]) -> list[int]:
    """The versions of a step that clients may send; all versions of an API that clients may not send."""
    served = spoken.get(step.api.key, step.api.versions)
    if step.versions is None:
        return [served[-1]]
    return [version for version in served if version in step.versions]


class Player:
    """One scenario on one side."""

    def __init__(self, scenario: Scenario, side: Side, spoken: Mapping[int, range]) -> None:
        self.scenario, self.side, self.spoken = scenario, side, spoken
        self.names = Names(scenario.number)
        self.kept: dict[str, Any] = {}
        self.asking = Asking(self.names, side.ids, self.kept)
        self.telling = Telling(self.names, side.ids)
        self._wires: dict[tuple[str, str], Wire] = {}

    def play(self) -> list[Outcome]:
        """Prepare what is given, then play all steps."""
        try:
            self._prepare()
            return list(self._play())
        finally:
            for wire in self._wires.values():
                wire.close()
            if any(step.acls is not None for step in self.scenario.steps):
                self.side.change(self.scenario.number, self.names.rules(self.scenario.given.acls))

    def _prepare(self) -> None:
        given = self.scenario.given
        for topic, values in given.records.items():
            for name in in_versions(topic):
                self._write(name, values)
        for group, offsets in given.offsets.items():
            for name in in_versions(group):
                self._commit(name, offsets)

    def _write(self, topic: str, values: tuple[str, ...]) -> None:
        partition = {"index": 0, "records": {"values": values}}
        said = {"topicData": [{"name": topic, "partitionData": [partition]}]}
        checked(self.side.trusted.ask(self.asking.request(PRODUCE, 12, said), 12))

    def _commit(self, group: str, offsets: Mapping[str, int]) -> None:
        topics = [
            {"name": topic, "partitions": [{"partitionIndex": 0, "committedOffset": offset}]}
            for topic, offset in offsets.items()
        ]
        said = {"groupId": group, "generationIdOrMemberEpoch": -1, "topics": topics}
        self._settled(self.side.trusted, self.asking.request(OFFSET_COMMIT, 9, said), 9)

    def _play(self) -> Iterator[Outcome]:
        for index, step in enumerate(self.scenario.steps):
            if step.acls is not None:
                self.side.change(self.scenario.number, self.names.rules(step.acls))
            chosen = versions(step, self.spoken)
            assert chosen, f"step {index + 1}: no version of {step.api.name} that it speaks of is served"
            for version in chosen:
                yield self._patiently(index, step, version) if step.patiently else self._ask(index, step, version)

    def _patiently(self, index: int, step: Step, version: int) -> Outcome:
        end = time.monotonic() + PATIENCE
        while True:
            outcome = self._ask(index, step, version)
            if mismatch(step, outcome) is None or time.monotonic() > end:
                return outcome

    def _ask(self, index: int, step: Step, version: int) -> Outcome:
        wire = self._wire(step)
        request = self.asking.request(step.api, version, step.request)
        self.telling.named = frozenset(re.findall(r"\b__\w+", str(step.request)))
        if step.api is PRODUCE and getattr(request, "acks", None) == 0:
            wire.send(request, version)
            end = NOTHING if wire.is_silent() else CLOSED
            if end == CLOSED:
                self._drop(step)
            return Outcome(index, step.api, version, end, {}, None)
        try:
            answer, errors = self._settled(wire, request, version)
        except EOFError:
            self._drop(step)
            return Outcome(index, step.api, version, CLOSED, {}, None)
        told = self.telling.tell(answer, version)
        for name, path in step.keep.items():
            self.kept[name] = at(plain(answer), path)
        return Outcome(index, step.api, version, None, errors, told)

    def _settled(self, wire: Wire, request: Request, version: int) -> tuple[Any, dict[str, str]]:
        """Send the request until its response has no error that clients retry."""
        end = time.monotonic() + PATIENCE
        while True:
            answer = wire.ask(request, version)
            errors = self.telling.errors(answer, version)
            if not AGAIN & set(errors.values()) or time.monotonic() > end:
                return answer, errors

    def _wire(self, step: Step) -> Wire:
        if step.as_ == SUPER_USER:
            return self.side.admin
        key = step.as_, step.from_
        if key not in self._wires:
            user = None if step.as_ == NOBODY else self.names.wire(step.as_)
            self._wires[key] = Wire(self.side.port, user, step.from_)
        return self._wires[key]

    def _drop(self, step: Step) -> None:
        self._wires.pop((step.as_, step.from_)).close()


def plain(struct: Any) -> Any:
    """A message as plain values under Kafka's names, not converted."""
    if isinstance(struct, list):
        return [plain(each) for each in struct]
    if not isinstance(struct, Struct):
        return struct
    return {field.json: plain(getattr(struct, field.name)) for field in struct.fields}


def mismatch(step: Step, outcome: Outcome) -> str | None:
    """The difference between an outcome and the file's expectation; None where they agree."""
    then = in_version(step.then, outcome.version)
    if isinstance(then, str) and then in (CLOSED, NOTHING):
        return None if outcome.end == then else f"not {then}, but {outcome.end or outcome.errors}"
    if outcome.end is not None:
        return f"{outcome.end}, without an answer"
    found = {name: error for name, error in outcome.errors.items() if " " not in name or error != "NONE"}
    if then is None:
        then = None if step.shows else "NONE"
    if isinstance(then, str):
        wrong = {name: error for name, error in found.items() if error != then}
        if wrong or (not found and then != "NONE"):
            return f"not {then} for all, but {found}"
    elif then is not None:
        wanted = {versioned(name, outcome.version): error for name, error in then.items()}
        if ANSWER not in wanted and found.get(ANSWER) == "NONE":
            del found[ANSWER]
        if found != wanted:
            return f"not {wanted}, but {found}"
    for path, value in in_version(step.shows, outcome.version).items():
        try:
            shown = at(outcome.told, versioned(path, outcome.version))
        except KeyError as error:
            return str(error.args[0])
        wanted = listed(value, outcome.version)
        if shown != wanted:
            return f"{path}: not {wanted!r}, but {shown!r}"
    return None


def listed(value: Any, version: int) -> Any:
    if isinstance(value, tuple):
        return [listed(each, version) for each in value]
    return versioned(value, version) if isinstance(value, str) else value
