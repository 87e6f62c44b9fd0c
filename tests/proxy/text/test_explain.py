"""Errors of pydantic in plain words."""

from enum import StrEnum

import pytest
from pydantic import BaseModel, Field, ValidationError

from proxy.text.explain import explained
from proxy.text.yaml_document import MOST, read


class Level(StrEnum):
    NONE = "none"
    FULL = "full"


class Inner(BaseModel):
    level: Level = Field(examples=["full"])
    on: bool = True


class Outer(BaseModel):
    inners: list[Inner] = Field(default=[], min_length=1, examples=["[{level: full}]"])
    ratio: float = Field(default=0.5, ge=0, le=1, multiple_of=0.25, examples=[0.5])


def messages(text: str) -> list[str]:
    reading = read(text, {})
    try:
        Outer.model_validate(reading.value)
    except ValidationError as error:
        return [f"{place.line}:{place.column}: {message}" for place, message in explained(error, Outer, reading)]
    return []


def test_a_kind_of_error_without_words_of_ours_still_has_a_place_and_a_way_out() -> None:
    assert messages("ratio: 0.3\n") == ['1:8: "ratio": Input should be a multiple of 0.25; write e.g. "ratio: 0.5"']


def test_a_number_out_of_bounds_is_told_the_bound() -> None:
    assert messages("ratio: 3\n") == ['1:8: "ratio" is 3; the most is 1.0']
    assert messages("ratio: -1\n") == ['1:8: "ratio" is -1; the least is 0.0']


def test_an_option_inside_a_list_is_found_by_its_path() -> None:
    assert messages("inners:\n  - {level: half}\n  - {on: 7}\n") == [
        '2:13: unknown level "half"; known here: full, none',
        '3:5: "level" is missing; write e.g. "level: full"',
        '3:10: "on" is 7, not true or false; write e.g. "on: true"',
    ]


def test_an_item_of_the_wrong_kind_is_told_what_must_stand_in_it() -> None:
    assert messages("inners: [3]\n") == [
        '1:10: "inners" is 3, not a mapping of options; write e.g. "inners: {level: full}"'
    ]


def test_the_first_of_very_many_are_told_and_how_many_there_are() -> None:
    first, *others = messages("inners:\n" + "  - 3\n" * (MOST + 1))
    assert first == "1:1: these are the first 1,000 of 1,001 problems; mend them first"
    assert len(others) == MOST
    assert len(messages("inners:\n" + "  - 3\n" * MOST)) == MOST


class Strict(BaseModel, extra="forbid"):
    ratios: list[float] = []
    password: str = Field(examples=["${PASSWORD}"])


def test_what_is_misspelt_is_not_missing_though_very_many_problems_stand_between() -> None:
    text = "ratios:\n" + "  - x\n" * (MOST - 1) + "passwort: p\n"
    reading = read(text, {})
    with pytest.raises(ValidationError) as refused:
        Strict.model_validate(reading.value)
    assert refused.value.error_count() == MOST + 1
    assert not [message for _, message in explained(refused.value, Strict, reading) if "missing" in message]


class Login(BaseModel):
    password: str = Field(examples=["${PASSWORD}"])
    tries: int = Field(default=3, examples=[3])


def complaints(text: str, secret: bool = False) -> list[str]:
    reading = read(text, {})
    try:
        Login.model_validate(reading.value)
    except ValidationError as error:
        reading.problems += explained(error, Login, reading, secret=secret)
    return [message for _, message in reading.problems]


def test_the_value_of_an_option_that_sounds_secret_is_not_shown() -> None:
    assert complaints("password: 12345\n") == ['"password" is ***, not text; write e.g. "password: ${PASSWORD}"']


def test_no_value_of_a_secret_file_is_shown() -> None:
    assert complaints("password: a\ntries: hunter2\n") == [
        '"tries" is "hunter2", not a whole number; write e.g. "tries: 3"'
    ]
    assert complaints("password: a\ntries: hunter2\n", secret=True) == [
        '"tries" is ***, not a whole number; write e.g. "tries: 3"'
    ]
