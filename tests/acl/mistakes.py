"""Mistakes in scenario files that concern more than one option, each with the path of the value to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.protocol.errors import ErrorCode
from proxy.protocol.schema import Struct, StructType
from proxy.text.places import KeyPath
from proxy.text.problems import Finding
from proxy.text.words import nearest, shown
from rules.model import AclRule
from rules.vocabulary import EVERYBODY, Operation
from tests.acl.language import CLOSED, FOR_VERSIONS, NOTHING, Told, When
from tests.acl.names import OWN


def mistakes(path: KeyPath, told: Told, *, closes: bool) -> Iterator[Finding]:
    """All mistakes in one scenario. `closes`: a resource is open to all until a rule names it, in any scenario."""
    yield from _findings(path, told)
    yield from _reaching(path, told, closes)


def _findings(path: KeyPath, told: Told) -> Iterator[Finding]:
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


def _reaching(path: KeyPath, told: Told, closes: bool) -> Iterator[Finding]:
    """Rules that would change the results of other scenarios."""
    yield from _far((*path, "given", "acls"), told.given.acls, closes)
    for index, step in enumerate(told.steps):
        yield from _far((*path, "steps", index, "acls"), step.acls or (), closes)


def _far(path: KeyPath, acls: tuple[AclRule, ...], closes: bool) -> Iterator[Finding]:
    for index, acl in enumerate(acls):
        writes = acl.allow is not None and acl.topics is not None and {Operation.WRITE, Operation.ALL} & set(acl.to)
        wide = any(kind not in OWN or pattern.is_every for kind, pattern in acl.resources())
        if wide and closes:
            fact = "without this rule everybody may, in every scenario"
            yield Finding((*path, index), f"{fact}; name topics, groups or transactional ids of this scenario")
        elif EVERYBODY in acl.principals and (writes or wide):
            fact = "this holds for everybody, in every scenario"  # Write on any topic is enough for InitProducerId
            yield Finding((*path, index), f"{fact}; say who, or let everybody only read topics of this scenario")


def _asked(path: KeyPath, when: When) -> Iterator[Finding]:
    versions = when.versions or range(when.api.newest, when.api.newest + 1)
    if versions.start > when.api.newest:
        fact = f"{when.api.name} has versions 0 to {when.api.newest}"
        yield Finding((*path[:-1], "versions"), f"{fact}; write one of these")
    yield from _unknown(path, when.api.request, when.request, f"{when.api.name} request")


def _unknown(path: KeyPath, struct: type[Struct], said: Any, where: str) -> Iterator[Finding]:
    """Unknown fields: no version of the request has them."""
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


def _expected(path: KeyPath, then: Any) -> Iterator[Finding]:
    """Unknown names of errors."""
    if then is None or (isinstance(then, str) and then in (CLOSED, NOTHING)):
        return
    for inner, word in _words((*path, "then"), then):
        if word not in ErrorCode.__members__:
            way_out = nearest(str(word), [*ErrorCode.__members__, CLOSED, NOTHING])
            yield Finding(inner, f"unknown error {shown(word)}; {way_out}")


def _words(path: KeyPath, then: Any) -> Iterator[tuple[KeyPath, Any]]:
    if not isinstance(then, dict):
        yield path, then
        return
    for key, value in then.items():
        if FOR_VERSIONS.fullmatch(key):
            yield from ((p, w) for p, w in _words((*path, key), value) if w not in (CLOSED, NOTHING))
        else:
            yield (*path, key), value
