"""Sizes and durations as a person writes them: "100 MiB", "30s".

Each is one string that includes its unit, so that a number in a file never needs a comment.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from proxy.text.words import shown, wrong

SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

# An editor checks the file before the environment is put in: "${NAME}" may stand for any value.
FROM_ENVIRONMENT = r"\$\{[^}]*\}"

_QUANTITY = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)")
LONGEST = 36_500 * DURATION_UNITS["d"]  # a century: more milliseconds than fit into 64 bits cannot be sent
AT_ONCE = re.compile(rf"0+(?:\.0+)?\s*(?:{'|'.join(DURATION_UNITS)})")


def size(value: object) -> int:
    """A size in bytes: "100 MiB", "64 KiB", "1 GB"; a bare number is bytes."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value} B"
    return int(_quantity(value, SIZE_UNITS, "size", "100 MiB"))


def seconds(value: object) -> float:
    """A duration in seconds: "500ms", "10s", "5m"; it must say its unit."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise wrong(f"{value} has no unit", f'write e.g. "{value}s"; units are {", ".join(DURATION_UNITS)}')
    found = _quantity(value, DURATION_UNITS, "duration", "10s")
    if found > LONGEST:
        raise wrong(f"{shown(value)} is longer than anything lasts", 'the most is "36500d"')
    return found


def moment(value: object) -> float:
    """Seconds after some beginning: "10s", "500ms"; "0s" is at once."""
    at_once = isinstance(value, str) and AT_ONCE.fullmatch(value.strip())
    return 0.0 if at_once else seconds(value)


def at_least(least: str) -> AfterValidator:
    """Refuse shorter durations than this one. For an option with which nothing would work if its unit were wrong."""

    def validate(value: float) -> float:
        if value < seconds(least):
            raise wrong(f"{value:g} s is too short for anything to work", f'the least is "{least}"')
        return value

    return AfterValidator(validate)


def at_most(most: str) -> AfterValidator:
    """Refuse longer durations than this one."""

    def validate(value: float) -> float:
        if value > seconds(most):
            raise wrong(f"{value:,.10g} s is too long", f'the most is "{most}"')
        return value

    return AfterValidator(validate)


def _quantity(value: object, units: Mapping[str, float], kind: str, example: str) -> float:
    match = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise wrong(f"{shown(value)} is not a {kind}", f'write e.g. "{example}"')
    number, unit = float(match[1]), match[2]
    if unit not in units:
        raise wrong(f'unknown unit "{unit}"', f"units are {', '.join(units)}")
    if number <= 0:
        raise wrong(f"a {kind} of 0 lets nothing through", f'write e.g. "{example}"')
    return number * units[unit]


def _written_as(*kinds: str, units: Iterable[str]) -> WithJsonSchema:
    pattern = rf"^([0-9.]+ ?({'|'.join(units)})|.*{FROM_ENVIRONMENT}.*)$"
    return WithJsonSchema({"type": list(kinds) if len(kinds) > 1 else kinds[0], "pattern": pattern})


Size = Annotated[int, BeforeValidator(size), _written_as("string", "integer", units=SIZE_UNITS)]
Moment = Annotated[float, BeforeValidator(moment), _written_as("string", units=DURATION_UNITS)]
Seconds = Annotated[float, BeforeValidator(seconds), _written_as("string", units=DURATION_UNITS)]
