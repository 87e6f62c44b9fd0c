"""The language of the scenarios: given rules and topics, when a user sends a request, then this is the response.

    scenarios:
      - name: a producer without Write is refused topic by topic
        given:
          topics: [orders, secrets]
          acls:
            - {allow: User:alice, to: Write, topics: orders}
        when: {as: alice, api: Produce, versions: all, request: {topicData: [orders, secrets]}}
        then: {orders: NONE, secrets: TOPIC_AUTHORIZATION_FAILED}

Rules:
* Names belong to one scenario: no other has its `orders` or its `alice`. All scenarios share `admin`, a super user,
  and `nobody`, a client that does not authenticate.
* A scenario of several requests has `steps`, each with its own `then`; without a `then` there must be no error.
* `then` gives every error of the response: one word for all, or one for each name; `closed` or `nothing` where there
  is no response. `shows` gives values by their paths.
* Expectations that differ by version are under `v0-4` and `v5+`.
* All mistakes in a file are reported at once, each with its place and a way out.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator

from proxy.protocol.api import APIS, Api, api_named
from proxy.text.file import Section
from proxy.text.words import nearest, shown, wrong
from rules.model import AclRule

SPAN = re.compile(r"v?(\d+)(?:(\+)|-(\d+))?")
FOR_VERSIONS = re.compile(r"v\d+(\+|-\d+)?")
CLOSED, NOTHING = "closed", "nothing"  # instead of a response: the connection is closed; the API has none (acks=0)
NEWEST = 99


def span(text: str) -> range:
    """`3`, `0-4` or `5+`, also with a `v` before it."""
    found = SPAN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    first, open_end, last = int(found[1]), found[2], found[3]
    return range(first, (NEWEST if open_end else int(last or first)) + 1)


def in_version(said: Any, version: int) -> Any:
    """The part of `then` or `shows` for this version."""
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
    """Topics with one partition each, or with the number beside each name."""
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
    acls: tuple[AclRule, ...] | None = Field(
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
    acls: tuple[AclRule, ...] = Field(
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
