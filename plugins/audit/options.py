"""Options: the options of the plugin `audit`.

Rules:
* The two files with keys are beside the journal, unless a path says otherwise.
* The file of levels is checked with the configuration, and its problems have their own places in it.
* So are the journal and the keys, as far as they are there: a check makes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from plugins.audit.keyfile import KeyFileError
from plugins.audit.levels import FORM
from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.redaction import Method, RedactionRule
from plugins.audit.signing import signing_key
from plugins.audit.topic import AuditTopic
from proxy.plugin import FilePath, Finding, Plugin, Problem
from proxy.plugin.files import Seconds, Size


class AuditOptions(Plugin.Options):
    """Where the journal lies, and how it is cut into segments."""

    journal: FilePath = Field(
        description="The folder of the journal, made if it is missing. A path is relative to this file.",
        examples=["/var/lib/doorkeeper/journal"],
    )
    key: FilePath | None = Field(
        default=None,
        description="The PEM file with the Ed25519 key that signs the journal; it is made if it is missing. "
        "Without it: the path of the journal, with `.key` behind it.",
    )
    levels: FilePath | None = Field(
        default=None,
        description="The file that says how much is recorded of which requests, read again when it changes. "
        "Without it, all are recorded in full.",
        examples=["audit.yaml"],
    )
    policy: Literal["best_effort", "required"] = Field(
        default="best_effort",
        description="`best_effort`: clients never wait for the journal. `required`: no answer leaves before its "
        "event is on disk, and there are no summaries.",
        examples=["required"],
    )
    patience: Seconds = Field(
        default=10.0,
        examples=["10s"],
        description="With the policy `required`: how long an answer waits for a journal that cannot be written, "
        "before its connection ends.",
    )
    topic: AuditTopic | None = Field(
        default=None,
        description="A topic to which all events are sent too, as CloudEvents. The proxy does not create it. "
        "Clients never wait for it.",
        examples=["{name: doorkeeper-audit}"],
    )
    segment: Size = Field(
        default=16 << 20,
        examples=["16 MiB"],
        description="Bytes on disk after which a segment of the journal is followed by another.",
    )
    redact: tuple[RedactionRule, ...] = Field(
        default=(),
        description="Which names are hidden, and how: the first rule that matches decides.",
        examples=["[{fields: principal, how: hash}]"],
    )
    pseudonyms: FilePath | None = Field(
        default=None,
        description="The file with the key of names that are hashed, 32 bytes or more; it is made where there is "
        "none. Without it: the path of the journal, with `.pseudonyms` behind it.",
        examples=["/etc/doorkeeper/pseudonyms"],
    )
    sealed: Seconds = Field(
        default=900.0,
        examples=["15m"],
        description="How long a segment is written before it is sealed, if it is not full earlier.",
    )

    @property
    def key_path(self) -> Path:
        """The path of the key that signs the journal."""
        return self._beside("key") if self.key is None else Path(self.key)

    @property
    def pseudonyms_path(self) -> Path:
        """The path of the key with which names are hashed."""
        return self._beside("pseudonyms") if self.pseudonyms is None else Path(self.pseudonyms)

    def _beside(self, ending: str) -> Path:
        folder = Path(self.journal)
        return folder.with_name(f"{folder.name}.{ending}")

    def problems(self) -> Iterator[Finding | Problem]:
        """Everything that is wrong with the place of the journal, with its keys, and with the file of levels."""
        if not Path(self.journal).name:
            yield Finding(("journal",), f'the journal cannot be "{self.journal}"; name a folder below it')
        elif (there := _nearest(Path(self.journal))) is not None and not there.is_dir():
            yield Finding(("journal",), f'"{there}" is no folder; name another place for the journal')
        else:
            yield from self._key_problems()
        if self.levels is not None:
            for problem in FORM.read(self.levels).result()[1]:
                if problem.place is None:
                    yield Finding(("levels",), f"{self.levels}: {problem.message}", problem.warning)
                else:
                    yield problem

    def _key_problems(self) -> Iterator[Finding]:
        """What is wrong with the files of the keys, or with the folders in which they will be made."""
        keys: list[tuple[str, Path, Callable[[Path], object]]] = [("key", self.key_path, signing_key)]
        if any(rule.how is Method.HASH for rule in self.redact):
            if _is_same(self.key_path, self.pseudonyms_path):
                why = "whoever may test names would be able to forge seals"
                fact = f'"{self.pseudonyms_path}" is the key that signs the journal'
                yield Finding(("pseudonyms",), f"{fact}: {why}; name another file")
                return
            keys.append(("pseudonyms", self.pseudonyms_path, pseudonyms))
        for option, file, read in keys:
            try:
                if file.exists():
                    read(file)
                elif not (file.parent.is_dir() or Path(self.journal).is_relative_to(file.parent)):
                    yield Finding((option,), f'there is no folder "{file.parent}", and so no place for a key; make it')
            except KeyFileError as error:
                yield Finding((option,), str(error))
            except OSError as error:
                yield Finding((option,), f"{file}: cannot be read ({error.strerror}); name a file that can be")


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, which need not be there yet."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, RuntimeError):
        return False


def _nearest(path: Path) -> Path | None:
    """What is there of a path."""
    return next((each for each in (path, *path.parents) if os.path.lexists(each)), None)
