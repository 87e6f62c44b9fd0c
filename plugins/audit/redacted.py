"""Redacted: applies the rules of redaction to an event, before it becomes a line.

Rules:
* The field `redacted` of an event lists what is redacted in it.
* Redacted names are replaced in the text of a reason (`why`) as well. So is the subject of a refused certificate.
* With an address its port is left out, with a topic's name its id, with a principal the id of its delegation token.
* A name whose type is not known is redacted by the strictest rule for topics, groups and transactional ids.
* Events that share a party share the redacted party too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.queue import QueuedEvent
from plugins.audit.redaction import MASK, Method, Redaction, RedactionRule
from plugins.audit.schema import Redacting
from plugins.audit.shared import SharedFields

OF_PARTY = ("principal", "client_host", "client_id", "tls_subject")
WITH = {"client_host": ("client_port",), "principal": ("delegation",)}  # fields left out with the redacted one
USER = "User:"
TOKEN = "delegation_token"
USERS = ("user", "user quota")  # their names may lack the type of the principal
KINDS = {
    "topic": "topic",
    "group": "group",
    "share_group": "group",
    "transactional_id": "transactional_id",
    "user": "principal",
    TOKEN: "principal",
    "user quota": "principal",
    "client-id quota": "client_id",
    "ip quota": "client_host",
}
UNNAMED = frozenset(  # their names identify no person
    {"cluster", "broker", "broker_logger", "client_metrics", "controller", "voter", "feature"}
)
ANY = ("topic", "group", "transactional_id")
OF_CERTIFICATE = ("principal", "tls_subject")
NO_TLS = "no TLS"
_QUOTED = re.compile('".*', re.DOTALL)  # to the end: in a long reason the closing quote may be cut off
OF_OFFSETS = ("reset offset", "delete offset")  # changes whose key is a topic
STRICTEST = (Method.LEAVE_OUT, Method.MASK, Method.HASH)

Fields = dict[str, Any]


def redactor(rules: Sequence[RedactionRule], key_file: Path) -> Redactor | None:
    """The redactor of these rules; None without rules. Raises KeyFileError, OSError."""
    if not rules:
        return None
    is_hashed = any(rule.how is Method.HASH for rule in rules)
    return Redactor(Redaction(rules, pseudonyms(key_file, make=True) if is_hashed else None))


class _Names:
    """Redacts the names in one event of this principal, and notes what was replaced."""

    def __init__(self, redaction: Redaction, principal: str | None) -> None:
        self._redaction = redaction
        self._principal = principal
        self.fields: set[str] = set()  # the kinds of names that were redacted
        self.instead: dict[str, str] = {}  # replacements by the replaced text

    def put(self, fields: Fields, where: str, *kinds: str) -> bool:
        """Redact the name in the field `where`, if it has one. Returns whether it was redacted."""
        name = fields.get(where)
        return name is not None and self.put_as(fields, where, name, *kinds)

    def put_as(self, fields: Fields, where: str, known: str | None, *kinds: str, type_: str = "") -> bool:
        """As `put`, with the name that the rules are asked about; None: it is not known.

        `type_`: the type of a principal, where the field has only the name.
        """
        found = {self._redaction.how(kind, known, self._principal): kind for kind in kinds}
        how = next((one for one in STRICTEST if one in found), None)
        if how is None:
            return False
        text = fields.pop(where)
        shown = self._redaction.shown(how, found[how], type_ + text)
        shown = shown and shown.removeprefix(type_)
        if shown is not None:
            fields[where] = shown
        if shown == text:
            return False
        self.instead[text] = shown or MASK
        if text.startswith(USER):  # a reason may have the name without its type
            self.instead[text.removeprefix(USER)] = (shown or MASK).removeprefix(USER)
        self.fields.add(found[how])
        return True


class Redactor:
    """Redacts the events of one journal."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self.said: Redacting = {
            "redaction": [str(rule) for rule in redaction.rules]
        }  # for the first event of each segment
        if redaction.pseudonyms is not None:
            self.said["pseudonyms"] = redaction.pseudonyms.id
        self._parties: WeakKeyDictionary[SharedFields, tuple[SharedFields, _Names]] = WeakKeyDictionary()

    def __call__(self, event: QueuedEvent) -> QueuedEvent:
        """The redacted event. The given event is not changed."""
        fields = dict(event.fields)
        shared, party = (None, None) if event.shared is None else self._party(event.shared)
        principal = fields.get("claimed") if event.shared is None else event.shared.fields.get("principal")
        names = _Names(self._redaction, principal or fields.get("claimed"))
        names.put(fields, "claimed", "principal")
        if "resource_name" in fields:
            self._named(names, fields, "resource_name", fields.get("resource_type"))
        if fields.get("resources"):
            fields["resources"] = [self._resource(names, one) for one in fields["resources"]]
        if fields.get("changes"):
            fields["changes"] = [self._change(names, one) for one in fields["changes"]]
        instead = names.instead | ({} if party is None else party.instead)
        if instead and fields.get("why"):
            fields["why"] = _replaced(fields["why"], instead)
        if event.kind == "connection_failed" and fields.get("why"):
            fields["why"] = self._unquoted(fields["why"], names)
        if redacted := names.fields | (set() if party is None else party.fields):
            fields["redacted"] = sorted(redacted)
        return event._replace(fields=fields, shared=shared)

    def _unquoted(self, why: str, names: _Names) -> str:
        """The reason without its quotation of a certificate, whose subject stands nowhere else in the event."""
        kinds = [kind for kind in OF_CERTIFICATE if self._redaction.how(kind, None, None) is not Method.KEEP]
        told = _QUOTED.sub(f'"{MASK}"', why) if kinds and why.startswith(NO_TLS) else why
        if told != why:
            names.fields.update(kinds)
        return told

    def _party(self, shared: SharedFields) -> tuple[SharedFields, _Names]:
        found = self._parties.get(shared)
        if found is None:
            fields = dict(shared.fields)
            names = _Names(self._redaction, fields.get("principal"))
            for where in OF_PARTY:
                if names.put(fields, where, where):
                    for beside in WITH.get(where, ()):
                        fields.pop(beside, None)
            found = self._parties[shared] = SharedFields(fields), names
        return found

    def _named(self, names: _Names, fields: Fields, where: str, kind: str | None) -> bool:
        if kind in UNNAMED:
            return False
        name = fields.get(where)
        if name is None:
            return False
        is_bare = kind in USERS and not name.startswith(USER)
        known, type_ = (USER + name, USER) if is_bare else (None if kind == TOKEN else name, "")
        return names.put_as(fields, where, known, *((KINDS[kind],) if kind in KINDS else ANY), type_=type_)

    def _resource(self, names: _Names, resource: Mapping[str, Any]) -> Fields:
        told = dict(resource)
        if self._named(names, told, "name", told.get("type")):
            told.pop("id", None)
        elif "id" in told and "name" not in told:
            names.put_as(told, "id", None, "topic")
        return told

    def _change(self, names: _Names, change: Mapping[str, Any]) -> Fields:
        told = dict(change)
        self._named(names, told, "name", told.get("type"))
        names.put(told, "principal", "principal")
        names.put(told, "host", "client_host")
        if told.get("change") in OF_OFFSETS:
            names.put(told, "key", "topic")
        return told


def _replaced(text: str, instead: Mapping[str, str]) -> str:
    """A text with names replaced. A name within a longer one is not replaced."""
    longest_first = sorted((name for name in instead if name and name in text), key=len, reverse=True)
    if not longest_first:
        return text
    pattern = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<![\w.-])(?:{pattern})(?![\w-])", lambda found: instead[found[0]], text)
