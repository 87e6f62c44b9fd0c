"""Questions to rules as lines of JSON, and their answers. They serve as unit tests for rules."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from proxy.text.strict_json import strict_json
from proxy.text.words import nearest, printable, printable_json, shown
from rules import AccessQuestion, Client, Operation, ResourceType, Snapshot
from rules.hosts import client_host
from rules.vocabulary import Word, spoken

BYTE_ORDER_MARK = "\ufeff"
NEEDED = ("principal", "operation", "resource_type")
TEXTS = ("principal", "host", "operation", "resource_type", "name", "client_id", "listener", "mechanism")
LAST = 253_370_764_800  # seconds since 1970: the year 9999, of which no zone has the end
KNOWN = (*TEXTS, "tls", "at", "allowed")


class QuestionError(Exception):
    """A line that is not a valid question: its place, and how to correct it."""


class QuestionLine(NamedTuple):
    """One question. `expected` is the answer that the line expects, if it names one."""

    label: str
    question: AccessQuestion
    expected: bool | None


class Answered(NamedTuple):
    """One answer. `rule` is the place of the rule that decided. An invalid question is denied, with an `error`."""

    allowed: bool
    rule: str | None
    error: str | None = None

    @property
    def line(self) -> str:
        said = {name: value for name, value in self._asdict().items() if name != "error" or value}
        return printable_json(json.dumps(said, ensure_ascii=False))


def questions(lines: Iterable[str], name: str) -> Iterator[QuestionLine | QuestionError]:
    """Every question, and an error in the place of each invalid line."""
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        if not text.strip():
            continue
        try:
            yield _asked(text, f"{name}:{number}")
        except QuestionError as error:
            yield QuestionError(printable(f"{name}:{number}: {error}"))


def answered(question: AccessQuestion, snapshot: Snapshot, file: str) -> Answered:
    """The answer of the rules in `file`."""
    decision = question.put(snapshot)
    place = decision.place
    return Answered(decision.allowed, f"{file}:{place.line}:{place.column}" if place else None)


def _asked(line: str, label: str) -> QuestionLine:
    try:
        value = strict_json(line)
    except (ValueError, RecursionError) as error:
        raise QuestionError(f"not JSON: {error}; correct this line") from None
    if not isinstance(value, dict):
        raise QuestionError('a question is {"principal": ..., "operation": ..., "resource_type": ..., "name": ...}')
    _check(value)
    client = Client(
        value["principal"],
        _host(value.get("host")),
        value.get("client_id"),
        value.get("listener"),
        value.get("mechanism"),
        value.get("tls"),
    )
    operation = Operation(_word(Operation, value["operation"], "operation"))
    kind = ResourceType(_word(ResourceType, value["resource_type"], "resource type"))
    return QuestionLine(
        label, AccessQuestion(client, operation, kind, value.get("name"), value.get("at")), value.get("allowed")
    )


def _host(text: str | None) -> str | None:
    try:
        return None if text is None else client_host(text)
    except ValueError as error:
        raise QuestionError(f'"host": {error}') from None


def _check(value: dict[str, Any]) -> None:
    for name in value:
        if name not in KNOWN:
            raise QuestionError(f'unknown field "{name}"; {nearest(name, KNOWN)}')
    for name in NEEDED:
        if value.get(name) is None:
            raise QuestionError(f'"{name}" is missing; add it')
    for name, kinds, what in (*((name, str, "text") for name in TEXTS), *OTHERS):
        given = value.get(name)
        if given is not None and (not isinstance(given, kinds) or (isinstance(given, bool) and kinds is not bool)):
            raise QuestionError(f'"{name}" is {shown(given)}, not {what}')
    if value.get("at") is not None and not 0 <= value["at"] < LAST:
        raise QuestionError(f'"at" is {shown(value["at"])}, not in the years 1970 to 9998; give seconds since 1970')
    if ":" not in value["principal"]:
        raise QuestionError(f'"{value["principal"]}" has no type; write "User:{value["principal"]}"')


OTHERS: tuple[tuple[str, Any, str], ...] = (
    ("tls", bool, "true or false"),
    ("allowed", bool, "true or false"),
    ("at", (int, float), "a number of seconds since 1970"),
)


def _word(kind: type[Word], text: str, what: str) -> Word:
    word = spoken(kind, text)
    if word is None:
        raise QuestionError(f'unknown {what} "{text}"; {nearest(text, (known.word for known in kind))}')
    return word
