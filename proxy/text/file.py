"""A file that a person writes: its text, its values by declared sections, and everything wrong with it at once.

Rules:
* Reading goes on after a problem, so that all problems are reported together; a file with a problem gives no value.
* A problem stands where the person has to change something. Warnings pass.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Annotated, Any, Generic, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from proxy.text import syntax
from proxy.text.environment import Variables, hidden
from proxy.text.explain import explained
from proxy.text.places import KeyPath, Place, Reading
from proxy.text.problems import BadFileError, Finding, Problem
from proxy.text.regular import open_regular, why_unread
from proxy.text.scarce import is_scarce
from proxy.text.yaml_document import read


class Section(BaseModel):
    """A mapping with known options; any other key is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _left_empty(value: object) -> object:
    """`faults:` with nothing under it means the same as no `faults:` at all."""
    return () if value is None else value


T = TypeVar("T")
Items = Annotated[tuple[T, ...], BeforeValidator(_left_empty)]  # a list that may be left empty
Root = TypeVar("Root", bound=Section)


@dataclass
class Examined(Generic[Root]):
    """The result of reading a text."""

    name: str
    reading: Reading = field(default_factory=Reading)
    value: Root | None = None
    problems: list[Problem] = field(default_factory=list)
    wrong: set[KeyPath] = field(default_factory=set)  # the paths of values that are wrong by themselves

    @property
    def context(self) -> dict[str, Any]:
        """What validators are told beside the values: the folder of the file."""
        return {"folder": FilePath(self.name).parent}

    def note(self, findings: Iterable[Finding | Problem]) -> None:
        """Add problems, by the paths of the values to change; or problems of another file, which this one names."""
        for found in findings:
            if isinstance(found, Finding):
                found = Problem(self.name, self.reading.place(found.path), found.message, found.warning)
            self.problems.append(found)

    def result(self) -> tuple[Root | None, list[Problem]]:
        """The value, unless the file cannot be used, and all problems and warnings in the order of the file.

        Problems of other files come after its own, in the order in which they were noted.
        """
        secrets = self.reading.secrets
        self.problems = [it._replace(message=hidden(it.message, secrets)) for it in self.problems]
        self.problems.sort(
            key=lambda it: (False, it.place or Place(0, 0)) if it.file == self.name else (True, Place(0, 0))
        )
        usable = all(problem.warning for problem in self.problems)
        return self.value if usable else None, self.problems

    def usable(self) -> Root:
        """The value. Raises BadFileError with every problem if the file cannot be used; warnings pass."""
        value, problems = self.result()
        if value is None:
            raise BadFileError(problem for problem in problems if not problem.warning)
        return value


def _nothing(examined: Examined[Root]) -> None:
    """Nothing to check beyond the single options."""


@dataclass(frozen=True)
class Form(Generic[Root]):
    """One kind of file: what it declares, what people call it, how it begins, and its largest size in bytes.

    `check` notes problems that no single option can see. It also runs for a text with problems, whose `value` may be
    None. `secret`: no value of the file is ever shown.
    """

    root: type[Root]
    what: str
    start: str
    largest: int
    check: Callable[[Examined[Root]], None] = _nothing
    secret: bool = False

    def load(self, file: str | os.PathLike[str], environment: Variables = os.environ) -> Root:
        """The value of a file. Raises BadFileError with every problem of the file; warnings pass."""
        return self.read(file, environment).usable()

    def read(self, file: str | os.PathLike[str], environment: Variables = os.environ) -> Examined[Root]:
        """The result of reading a file. Raises OSError if it could not be read now, but may be soon."""
        name = os.fspath(file)
        try:
            text = self.text(name)
        except BadFileError as error:
            return Examined(name, problems=list(error.problems))
        return self.examine(text, name, environment)

    def text(self, name: str) -> str:
        """The text of a file. Raises BadFileError with the one reason why there is none; OSError if that may pass."""
        if not name:  # as of a variable of the shell that is not set
            raise _refused('""', None, f"no file is named; give the path of a {self.what}")
        try:
            with open_regular(name) as opened:
                content = opened.read(self.largest + 1)
        except IsADirectoryError:
            inside = sorted(found.name for pattern in ("*.yaml", "*.yml") for found in FilePath(name).glob(pattern))
            instead = f'did you mean "{FilePath(name) / inside[0]}"?' if inside else "give the path of a YAML file"
            raise _refused(name, None, f"this is a folder; {instead}") from None
        except OSError as error:
            if is_scarce(error):
                raise
            raise _refused(name, None, why_unread(error)) from None
        if len(content) > self.largest:
            fact = f"larger than {self.largest >> 20} MiB"
            raise _refused(name, None, f"{fact}; this is no {self.what}, check the path")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            place = syntax.place_after(error.object[: error.start].decode())  # it counts without a byte order mark
            raise _refused(name, place, "not UTF-8 text; save the file as UTF-8") from None

    def examine(self, text: str, name: str, environment: Variables = os.environ) -> Examined[Root]:
        """The values of a text that was read before, and its problems, in which the file is called `name`."""
        examined: Examined[Root] = Examined(name)
        self._read_values(examined, text, environment)
        self.check(examined)
        return examined

    def _read_values(self, examined: Examined[Root], text: str, environment: Variables) -> None:
        name = examined.name
        try:
            reading = examined.reading = read(text, environment)
        except yaml.YAMLError as error:
            examined.problems.append(Problem(name, *syntax.described(error, text)))
            return
        if reading.value is None and not reading.problems:
            reading.note(Place(1, 1), f"the file is empty; {self.start}")
        elif reading.is_whole:
            examined.value = self._validated(examined)
            examined.wrong |= {path for path, place in reading.places.items() if place in reading.without_value}
        examined.problems += [Problem(name, place, message) for place, message in reading.problems]

    def _validated(self, examined: Examined[Root]) -> Root | None:
        reading = examined.reading
        if not isinstance(reading.value, dict):
            reading.note(Place(1, 1), f"the file is no mapping of options; {self.start}")
            return None
        try:
            return self.root.model_validate(reading.value, context=examined.context)
        except ValidationError as error:
            examined.wrong = {details["loc"] for details in error.errors(include_url=False)}
            reading.problems += explained(error, self.root, reading, secret=self.secret)
            return None


def _refused(name: str, place: Place | None, message: str) -> BadFileError:
    return BadFileError([Problem(name, place, message)])
