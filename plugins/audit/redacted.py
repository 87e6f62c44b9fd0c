"""Redacted: an event as the rules of redaction let it be told, before it becomes a line.

Rules:
* What is redacted in an event, its `redacted` says.
* What is named in the text of a reason (`why`) is redacted there as well, and whom a refused certificate is about.
* With an address goes its port, with the name of a topic its id, with a principal the id of its delegation token.
* The name of something whose type is not known is redacted as the strictest of topics, groups and transactional ids.
* Events that share who they are of share that as it is redacted.
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
WITH = {"client_host": ("client_port",), "principal": ("delegation",)}  # go where this one is redacted
USER = "User:"
TOKEN = "delegation_token"
USERS = ("user", "user quota")  # names of these may be without their type
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
UNNAMED = frozenset({"cluster", "broker", "broker_logger", "client_metrics"})  # names of these are nobody's
ANY = ("topic", "group", "transactional_id")
OF_CERTIFICATE = ("principal", "tls_subject")
NO_TLS = "no TLS"
_QUOTED = re.compile('".*', re.DOTALL)  # to the end: a long reason is cut, and its last quote with it
OF_OFFSETS = ("reset offset", "delete offset")  # changes whose key is a topic
STRICTEST = (Method.LEAVE_OUT, Method.MASK, Method.HASH)

Fields = dict[str, Any]


def redactor(rules: Sequence[RedactionRule], key_file: Path) -> Redactor | None:
    """By these rules; None: there are none. Raises KeyFileError, OSError."""
    if not rules:
        return None
    is_hashed = any(rule.how is Method.HASH for rule in rules)
    return Redactor(Redaction(rules, pseudonyms(key_file, make=True) if is_hashed else None))


class _Names:
    """What is done to the names of one event of this principal."""

    def __init__(self, redaction: Redaction, principal: str | None) -> None:
        self._redaction = redaction
        self._principal = principal
        self.fields: set[str] = set()  # of which something is redacted
        self.instead: dict[str, str] = {}  # what stands in the place of which text

    def put(self, fields: Fields, where: str, *kinds: str) -> bool:
        """Redact the name that stands there, if one does. Gives whether something was."""
        name = fields.get(where)
        return name is not None and self.put_as(fields, where, name, *kinds)

    def put_as(self, fields: Fields, where: str, known: str | None, *kinds: str, type_: str = "") -> bool:
        """The same with the name that the rules are asked about; None: it is not known.

        `type_` is that of a principal whose name stands there without it.
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
        if text.startswith(USER):  # a reason may say it without its type
            self.instead[text.removeprefix(USER)] = (shown or MASK).removeprefix(USER)
        self.fields.add(found[how])
        return True


class Redactor:
    """Redacts the events of one journal."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self.said: Redacting = {"redaction": [str(rule) for rule in redaction.rules]}  # by each segment
        if redaction.pseudonyms is not None:
            self.said["pseudonyms"] = redaction.pseudonyms.id
        self._parties: WeakKeyDictionary[SharedFields, tuple[SharedFields, _Names]] = WeakKeyDictionary()

    def __call__(self, event: QueuedEvent) -> QueuedEvent:
        """The event as it may be told. It is not changed itself."""
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
        """The reason without what it quotes of a certificate: whose it is, nothing else in the event says."""
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
    """A text with something else in the place of names. A name within a longer one is not meant."""
    longest_first = sorted((name for name in instead if name and name in text), key=len, reverse=True)
    if not longest_first:
        return text
    pattern = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<![\w.-])(?:{pattern})(?![\w-])", lambda found: instead[found[0]], text)
