"""The declaration of a file of faults. Every problem in a file is reported at its place.

    seed: 7
    faults:
      - name: lost-ack
        match: {api: Produce, topic: orders, partition: 0}
        when: {after: 10, times: 2}
        do: {disconnect: after_broker}

`action.py` declares what stands under `do`, `said_action.py` how it may be written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainValidator, StrictInt

from plugins.faults import about
from plugins.faults.action import FaultAction
from plugins.faults.said_action import action
from proxy.plugin import Api, Finding
from proxy.plugin.files import Examined, Form, Items, Section, nearest
from rules.match import Match
from rules.values import Given, text
from rules.when import When


class FaultRule(Section):
    """One fault: which requests it is about, when it fires, and what it does."""

    name: Given[Annotated[str, PlainValidator(lambda value: text(value, "name of a rule", "lost-ack"))]] = Field(
        default=None, description="The name of the fault, for the ledger and for other rules.", examples=["lost-ack"]
    )
    match: Match = Field(
        default=Match(),
        description="The requests or connections that it applies to; without it, all.",
        examples=["{api: Produce}"],
    )
    when: When = Field(default=When(), description="When it fires; without it, always.", examples=["{times: 2}"])
    do: Annotated[FaultAction, BeforeValidator(action)] = Field(
        description="The effect.", examples=["{error: NOT_LEADER_OR_FOLLOWER}"]
    )

    @property
    def apis(self) -> frozenset[Api]:
        """The APIs that it may be about: those of its effect whose messages have all the things that it names."""
        meant = self.do.effect.apis & self.match.apis if self.do.effect.of_requests else frozenset()
        return frozenset(api for api in meant if about.tells(api).issuperset(self.match.of_things))


class FaultsFile(Section):
    """One file of faults."""

    seed: StrictInt = Field(
        default=0, description="The seed of the random numbers: the same seed gives the same faults.", examples=["7"]
    )
    faults: Items[FaultRule] = Field(
        default=(), description="The faults, in the order in which they are tried.", examples=["[{do: {delay: 200ms}}]"]
    )

    @cached_property
    def named(self) -> dict[str, FaultRule]:
        """The faults by their names. A fault without a name is named by its number: "fault 2"."""
        return dict(zip(self.names, self.faults, strict=True))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the faults, in order."""
        return tuple(fault.name or f"fault {number}" for number, fault in enumerate(self.faults, 1))


# The options that can be compared before a connection's first request.
OF_CONNECTIONS = frozenset({"broker", "from_", "listener", "during"})
NAMED = 6  # APIs named in one message
FaultPath = tuple[str | int, ...]


def _check(examined: Examined[FaultsFile]) -> None:
    if examined.value is not None:
        named = Counter(examined.value.names)
        for index, fault in enumerate(examined.value.faults):
            path = ("faults", index)
            examined.note(findings(path, fault))
            if fault.name is not None and named[fault.name] > 1:
                twice = f'another fault is called "{fault.name}" too; give each its own name'
                examined.note([Finding((*path, "name"), twice)])
            examined.note(unknown_others(path, fault, examined.value.named))


def findings(path: FaultPath, fault: FaultRule) -> Iterator[Finding]:
    """Everything that is wrong with a fault whose single options are all valid."""
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
    problems = list(effect.problems(fault.match.apis))
    meant = effect.apis & fault.match.apis
    if effect.of_requests and not meant and not problems:
        problems.append(("", f'"{name}" is not done to {_listed(fault.match.apis)}; name {_listed(effect.apis)}'))
    for option, said in problems:
        yield Finding((*path, "do", name, *filter(None, (option,))), said)
    if effect.of_requests and meant and not any(map(fault.match.is_of_version, _versions(meant))):
        yield Finding((*path, "match", "version"), f"no request is in such a version; {_spoken(meant)}")
    if effect.of_requests and meant and not fault.apis:
        of_things = " and ".join(option.replace("_", " ") for option in fault.match.of_things)
        yield Finding((*path, "match"), f"no request of {_listed(meant)} is about a {of_things}")
    when = fault.when
    if when.last is not None and when.after is not None and when.last <= when.after:
        way_out = f'name a match after number {when.after}, or leave "after" out'
        yield Finding((*path, "when", "nth"), f'"after" leaves out all of these matches, so it never fires; {way_out}')
    if effect.of_connections:
        for option in fault.match.model_fields_set - OF_CONNECTIONS:
            known = ", ".join(sorted(it.rstrip("_") for it in OF_CONNECTIONS))
            fact = f'"{name}" is done to connections, of which only {known} are known'
            yield Finding((*path, "match", option), f'{fact}; leave "{option}" out')


def unknown_others(path: FaultPath, fault: FaultRule, named: Mapping[str, FaultRule]) -> Iterator[Finding]:
    """Problems with the other faults that it depends on: unknown ones, and itself."""
    for option, other in fault.when.others.items():
        if other not in named:
            way_out = nearest(other, (name for name, it in named.items() if it is not fault)) or "add one of that name"
            yield Finding((*path, "when", option), f'no fault is called "{other}"; {way_out}')
        elif named[other] is fault:
            yield Finding((*path, "when", option), "a fault cannot wait for itself; name another one")


def _versions(apis: Iterable[Api]) -> Iterator[int]:
    return (version for api in apis for version in api.versions)


def _spoken(apis: Iterable[Api]) -> str:
    """The versions of some APIs, for people."""
    known = [f"{api.name} has {api.versions[0]}-{api.versions[-1]}" for api in sorted(apis, key=lambda api: api.name)]
    return ", ".join(known[:NAMED]) + (f" and {len(known) - NAMED} more have theirs" if len(known) > NAMED else "")


def _listed(apis: Iterable[Api]) -> str:
    """The names of APIs, for a message."""
    names = sorted(api.name for api in apis)
    return ", ".join(names[:NAMED]) + (f" or {len(names) - NAMED} more" if len(names) > NAMED else "")


START = 'begin with "faults:" (plugins/faults/README.md shows a whole file)'
FORM = Form(FaultsFile, "file of faults", START, largest=16 << 20, check=_check)
