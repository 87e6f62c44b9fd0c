"""Faults as a person gives them to `doorkeeper faults add`: a YAML file, or one fault as text.

    faults add faults.yaml                                   # what may stand at `faults: {rules: ...}`
    faults add '{match: {api: Produce}, do: {delay: 1s}}'    # one fault, as text or in a file
    faults add -                                             # either of them, from standard input

Rules:
* A problem that the admin side finds is shown at its place in the file.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Any

import yaml

from chaos.admin_answers import AdminError
from proxy.text.bounded import read_bounded
from proxy.text.file import Form, Section
from proxy.text.places import KeyPath, Place, Reading
from proxy.text.problems import BadFileError, Problem
from proxy.text.syntax import described
from proxy.text.yaml_document import read

FILE = Form(Section, "file of faults", "", largest=1 << 20)
_PARTS = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(frozen=True)
class SentFaults:
    """The faults in a text. `name` is what messages call the text."""

    name: str
    reading: Reading

    @property
    def faults(self) -> list[Any]:
        """The faults as they are sent."""
        value = self.reading.value
        return [*value["faults"]] if self._is_file else [value]

    @property
    def seed(self) -> Any:
        """The seed in the file, if it has one."""
        return self.reading.value.get("seed") if self._is_file else None

    @property
    def _is_file(self) -> bool:
        return isinstance(self.reading.value, dict) and "faults" in self.reading.value

    def explained(self, error: AdminError) -> str:
        """The problems in the admin side's error, one line for each, with its place in the text."""
        return "\n".join(str(Problem(self.name, self._place(place), message)) for place, message in error.problems)

    def _place(self, place: str) -> Place:
        path = _path(place)
        return self.reading.place(path if self._is_file else path[2:])


def sent_faults(said: str) -> SentFaults:
    """Read faults from a file, or from the text of one fault. Raises BadFileError with every problem."""
    name, text = _text(said)
    try:
        reading = read(text, os.environ)
    except yaml.YAMLError as error:
        raise BadFileError([Problem(name, *described(error, text))]) from None
    if reading.value is None and not reading.problems:
        reading.note(Place(1, 1), "there is no fault; write e.g. {match: {api: Produce}, do: {delay: 1s}}")
    if isinstance(reading.value, dict) and not isinstance(reading.value.get("faults", ()), tuple):
        reading.note(reading.place(("faults",)), '"faults" is no list; begin each fault with "- "')
    if reading.problems:
        raise BadFileError(Problem(name, place, message) for place, message in reading.problems)
    return SentFaults(name, reading)


def _text(said: str) -> tuple[str, str]:
    if said == "-":
        return "standard input", read_bounded(sys.stdin)
    if "{" in said or ": " in said:
        return "fault", said
    return said, FILE.text(said)


def _path(place: str) -> KeyPath:
    """The path behind its printed form, as in `faults[2].do.error`."""
    return tuple(int(number) if number else name for number, name in _PARTS.findall(place))
