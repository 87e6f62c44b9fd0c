"""The language of the scenarios: given rules and topics, when somebody asks something, then this is the answer.

    scenarios:
      - name: a producer without Write is refused topic by topic
        given:
          topics: [orders, secrets]
          acls:
            - {allow: User:alice, to: Write, topics: orders}
        when: {as: alice, api: Produce, versions: all, request: {topicData: [orders, secrets]}}
        then: {orders: NONE, secrets: TOPIC_AUTHORIZATION_FAILED}

# Names are a scenario's own: its `orders` and its `alice` are nobody else's. Only `admin`, a super user, is
# everybody's, and `nobody` has not said who they are.
# A story of several requests stands under `steps`, each with its own `then`; without one, no error may come.
# `then` is the error of everything that has one: one word for all, or one for each name; `closed` and `nothing` where
# no answer comes. `shows` are values by their paths.
# What differs by version stands under `v0-4` and `v5+`.
# Everything wrong with a file is told at once, each with its place and a way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator

from proxy.protocol.api import APIS, Api, api_named
from proxy.protocol.errors import ErrorCode
from proxy.protocol.schema import Struct, StructType
from proxy.text.file import Form, Section
from proxy.text.places import Path
from proxy.text.problems import BadFileError, Finding
from proxy.text.words import nearest, shown, wrong
from rules.checks import unsaid
from rules.model import Acl
from rules.vocabulary import EVERYBODY, Operation
from tests.acl.names import OWN

FOLDER = FilePath(__file__).parent / "scenarios"
SPAN = re.compile(r"v?(\d+)(?:(\+)|-(\d+))?")
FOR_VERSIONS = re.compile(r"v\d+(\+|-\d+)?")
CLOSED, NOTHING = "closed", "nothing"  # instead of an answer: the connection is closed; none comes, by agreement
NEWEST = 99


def span(text: str) -> range:
    """`3`, `0-4` or `5+`, also with a `v` before it."""
    found = SPAN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    first, open_end, last = int(found[1]), found[2], found[3]
    return range(first, (NEWEST if open_end else int(last or first)) + 1)


def _api(value: object) -> Api:
    api = api_named(str(value))
    if api is None:
        raise wrong(f"unknown API {shown(value)}", nearest(str(value), (api.name for api in APIS.values())))
    return api


def _versions(value: object) -> range | None:
    if value == "newest":
        return None
    if value == "all":
        return range(NEWEST + 1)
    try:
        return span(str(value))
    except ValueError:
        raise wrong(f"{shown(value)} are no versions", 'write "all", "3", "0-4" or "5+"') from None


def _topics(value: object) -> dict[str, int]:
    """Topics with one partition, or with as many as stand beside their names."""
    named = value if isinstance(value, dict) else dict.fromkeys(value, 1) if isinstance(value, tuple) else None
    if named is None or not all(isinstance(count, int) and count > 0 for count in named.values()):
        raise wrong(f"{shown(value)} is no list of topics", 'write e.g. "[orders]" or "{orders: 3}"')
    return named


class When(Section):
    """One request."""

    as_: str = Field(alias="as", description="Who asks.", examples=["alice"])
    from_: str = Field(default="127.0.0.1", alias="from", description="From which address.", examples=["127.0.0.5"])
    api: Annotated[Api, PlainValidator(_api)] = Field(description="What is asked.", examples=["Produce"])
    versions: Annotated[range | None, PlainValidator(_versions)] = Field(
        default=None, description="In which versions; each is asked in turn.", examples=["all"]
    )
    request: dict[str, Any] = Field(
        default_factory=dict,
        description="The request, in Kafka's JSON; what is left out has a value that makes sense.",
        examples=["{topicData: [orders]}"],
    )


class Step(When):
    """One request of several, and what it comes to."""

    keep: dict[str, str] = Field(
        default_factory=dict,
        description="Values of the answer, under names for later requests.",
        examples=["{member: memberId}"],
    )
    then: Any = Field(default=None, description="Every error of the answer.", examples=["{orders: NONE}"])
    shows: dict[str, Any] = Field(
        default_factory=dict,
        description="Values of the answer, by their paths.",
        examples=['{"topics[].name": [orders]}'],
    )
    acls: tuple[Acl, ...] | None = Field(
        default=None, description="The rules of the scenario from here on.", examples=["[]"]
    )
    patiently: bool = Field(
        default=False,
        description="Asked again until this comes: for what a cluster does a moment later.",
        examples=["true"],
    )
    compare: Literal["all", "errors"] = Field(
        default="all", description="What of the answer is the same on both sides.", examples=["errors"]
    )


class Given(Section):
    """What there is before."""

    topics: Annotated[dict[str, int], BeforeValidator(_topics)] = Field(
        default_factory=dict, description="Topics, and how many partitions they have.", examples=["[orders]"]
    )
    records: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Values of records in partition 0 of topics.", examples=["{orders: [a, b]}"]
    )
    offsets: dict[str, dict[str, int]] = Field(
        default_factory=dict, description="Offsets that groups have committed.", examples=["{workers: {orders: 1}}"]
    )
    acls: tuple[Acl, ...] = Field(
        default=(), description="Rules.", examples=["[{allow: User:alice, to: Read, topics: orders}]"]
    )


class Told(Section):
    """One scenario as it stands in a file."""

    name: str = Field(description="What it shows, as a sentence.", examples=["a reader may not write"])
    given: Given = Field(default_factory=Given, description="What there is before.", examples=["{topics: [orders]}"])
    when: When | None = Field(default=None, description="The one request.", examples=["{as: alice, api: Metadata}"])
    then: Any = Field(default=None, description="What comes of `when`.", examples=["TOPIC_AUTHORIZATION_FAILED"])
    shows: dict[str, Any] = Field(
        default_factory=dict, description="Values of the answer.", examples=['{"topics[].name": [orders]}']
    )
    steps: tuple[Step, ...] = Field(default=(), description="Several requests.", examples=["[{as: alice, api: Fetch}]"])


class Scenarios(Section):
    """A file of scenarios."""

    unmatched: Literal["deny", "allow"] = Field(
        default="deny", description="What holds for a resource that no rule names.", examples=["allow"]
    )
    scenarios: tuple[Told, ...] = Field(description="The scenarios.", examples=["[{name: a reader may not write}]"])


FORM = Form(Scenarios, "file of scenarios", 'begin with "scenarios:"', largest=4 << 20)


@dataclass(frozen=True)
class Scenario:
    """One scenario, and its number among all."""

    number: int
    theme: str  # the file that it stands in
    unmatched: str
    name: str
    given: Given
    steps: tuple[Step, ...]


def load(folder: FilePath = FOLDER) -> list[Scenario]:
    """All scenarios of a folder. Raises BadFileError with everything wrong in any of the files."""
    files = sorted(folder.glob("*.yaml"))
    problems, scenarios = [], []
    for file in files:
        try:
            told = examined(FORM.text(str(file)), file.name)
        except BadFileError as error:
            problems += error.problems
            continue
        for one in told.scenarios:
            steps = one.steps or (_only(one),)
            scenarios.append(Scenario(len(scenarios) + 1, file.stem, told.unmatched, one.name, one.given, steps))
    if problems:
        raise BadFileError(problems)
    return scenarios


UNSAID = {"keep": {}, "acls": None, "patiently": False, "compare": "all"}


def _only(told: Told) -> Step:
    assert told.when is not None
    return Step.model_construct(**dict(told.when), then=told.then, shows=told.shows, **UNSAID)


def examined(text: str, name: str) -> Scenarios:
    """What a text says. Raises BadFileError."""
    found = FORM.examine(text, name, {})
    raw = found.reading.value
    listed = raw.get("scenarios") if isinstance(raw, dict) else None
    for index, one in enumerate(listed if isinstance(listed, tuple) else ()):
        given = one.get("given") if isinstance(one, dict) else None
        found.note(Finding(("scenarios", index, "given", *path), message) for path, message, _ in unsaid(given))
    if found.value is not None:
        for index, told in enumerate(found.value.scenarios):
            found.note(_findings(("scenarios", index), told))
            found.note(_reaching(("scenarios", index), told, closes=found.value.unmatched == "allow"))
    file, problems = found.result()
    if file is None:
        raise BadFileError(problems)
    return file


def _findings(path: Path, told: Told) -> Iterator[Finding]:
    if (told.when is None) == (not told.steps):
        yield Finding(path, 'a scenario has either "when" or "steps"; write one of the two')
    if told.when is not None:
        yield from _asked((*path, "when", "request"), told.when)
        yield from _expected(path, told.then)
        if told.then is None and not told.shows:
            yield Finding(path, 'nothing is said to come of it; write "then" or "shows"')
    elif told.then is not None or told.shows:
        yield Finding(path, '"then" and "shows" belong to each of the steps; move them there')
    for index, step in enumerate(told.steps):
        yield from _asked((*path, "steps", index, "request"), step)
        yield from _expected((*path, "steps", index), step.then)


def _reaching(path: Path, told: Told, *, closes: bool) -> Iterator[Finding]:
    """Rules that would change what other scenarios come to; any does that `closes` what was open to all."""
    yield from _far((*path, "given", "acls"), told.given.acls, closes)
    for index, step in enumerate(told.steps):
        yield from _far((*path, "steps", index, "acls"), step.acls or (), closes)


def _far(path: Path, acls: tuple[Acl, ...], closes: bool) -> Iterator[Finding]:
    for index, acl in enumerate(acls):
        writes = acl.allow is not None and acl.topics is not None and {Operation.WRITE, Operation.ALL} & set(acl.to)
        wide = any(kind not in OWN or pattern.is_every for kind, pattern in acl.resources())
        if wide and closes:
            fact = "without this rule everybody may, in every scenario"
            yield Finding((*path, index), f"{fact}; name topics, groups or transactional ids of this scenario")
        elif EVERYBODY in acl.principals and (writes or wide):
            fact = "this holds for everybody, in every scenario"  # any topic to write is enough for InitProducerId
            yield Finding((*path, index), f"{fact}; say who, or let everybody only read topics of this scenario")


def _asked(path: Path, when: When) -> Iterator[Finding]:
    versions = when.versions or range(when.api.newest, when.api.newest + 1)
    if versions.start > when.api.newest:
        fact = f"{when.api.name} has versions 0 to {when.api.newest}"
        yield Finding((*path[:-1], "versions"), f"{fact}; write one of these")
    yield from _unknown(path, when.api.request, when.request, f"{when.api.name} request")


def _unknown(path: Path, struct: type[Struct], said: Any, where: str) -> Iterator[Finding]:
    """Fields that no version of a request has."""
    if not isinstance(said, dict):
        return
    fields = {field.json: field for field in struct.fields}
    for name, value in said.items():
        field = fields.get(name)
        if field is None:
            yield Finding((*path, name), f'{where} has no field "{name}"; {nearest(name, fields)}')
        elif isinstance(field.kind, StructType):
            inside = enumerate(value) if isinstance(value, tuple) else ((None, value),)
            for index, each in inside:
                deeper = (*path, name) if index is None else (*path, name, index)
                yield from _unknown(deeper, field.kind, each, f"{where}, {name}")


def _expected(path: Path, then: Any) -> Iterator[Finding]:
    """Words that are no errors."""
    if then is None or (isinstance(then, str) and then in (CLOSED, NOTHING)):
        return
    for inner, word in _words((*path, "then"), then):
        if word not in ErrorCode.__members__:
            way_out = nearest(str(word), [*ErrorCode.__members__, CLOSED, NOTHING])
            yield Finding(inner, f"unknown error {shown(word)}; {way_out}")


def _words(path: Path, then: Any) -> Iterator[tuple[Path, Any]]:
    if not isinstance(then, dict):
        yield path, then
        return
    for key, value in then.items():
        if FOR_VERSIONS.fullmatch(key):
            yield from ((p, w) for p, w in _words((*path, key), value) if w not in (CLOSED, NOTHING))
        else:
            yield (*path, key), value


def in_version(said: Any, version: int) -> Any:
    """What of `then` or `shows` is said of this version."""
    if not isinstance(said, dict):
        return said
    spans = {key: value for key, value in said.items() if FOR_VERSIONS.fullmatch(key)}
    always = {key: value for key, value in said.items() if key not in spans}
    for key, value in spans.items():
        if version in span(key):
            if not isinstance(value, dict):
                return value
            always |= value
    return always
