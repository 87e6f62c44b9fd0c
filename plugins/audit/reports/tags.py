"""Tags: one YAML file says which topics hold sensitive data.

    # tags.yaml
    topics:
      payments-*: [pci]          # a trailing * is a prefix, a lone "*" every name
      patients: [phi, gdpr]

A topic has the tags of every pattern that matches it.
"""

from __future__ import annotations

import os
import re
from typing import Annotated

from pydantic import Field, PlainValidator

from proxy.plugin import wrong
from proxy.plugin.files import Form, Section, shown
from rules.values import OneOrMany, Pattern, pattern

_TAG = re.compile(r"[\w.:/-]{1,64}")


def tag(value: object) -> str:
    """Read a tag."""
    if not isinstance(value, str) or not _TAG.fullmatch(value):
        raise wrong(f"{shown(value)} is no tag", "write a word of letters, digits and . _ : / -, e.g. pci")
    return value


class Tags(Section):
    """One file of tags."""

    topics: dict[Annotated[Pattern, PlainValidator(pattern)], OneOrMany[Annotated[str, PlainValidator(tag)]]] = Field(
        min_length=1,
        description="The tags of topics, by their names or the beginnings of these.",
        examples=["{payments-*: [pci]}"],
    )

    @property
    def pairs(self) -> tuple[tuple[Pattern, str], ...]:
        """Each pattern with each of its tags, in the order of the tags."""
        found = {(pattern, tag) for pattern, tags in self.topics.items() for tag in tags}
        return tuple(sorted(found, key=lambda pair: (pair[1], pair[0].name, pair[0].type)))


FORM = Form(Tags, "file of tags", 'begin with "topics:"', largest=1 << 20)


def load(file: str | os.PathLike[str]) -> Tags:
    """The tags in a file. Raises BadFileError with every problem of the file."""
    return FORM.load(file, {})
