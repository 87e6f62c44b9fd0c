"""Found: the resources of one request, each once, in the order of the message; beyond a limit they are only counted."""

from __future__ import annotations

from collections.abc import Iterator

from plugins.audit.moved import NameOf
from plugins.audit.request_schema import Resource
from plugins.audit.shared import text_bytes
from plugins.audit.words import id_text
from proxy.plugin import ErrorCode

MOST = 10_000  # resources of one request
MOST_TEXT = 2 << 20  # bytes of their names: escaped in a line, each may take six times as many
SIZE = 400  # bytes of a resource in memory, beside the text of its name


class FoundResources:
    """The resources of a request. `unnamed` are the topics that have only an id in it, `names` those in its answer."""

    def __init__(self) -> None:
        self.left_out = 0
        self.unnamed: list[tuple[bytes, Resource]] = []
        self.names: dict[bytes, str] = {}
        self.by_key: dict[tuple[str, str, int | None], Resource] = {}  # by type, name or id, and partition
        self._named = 0  # bytes of names

    def __iter__(self) -> Iterator[Resource]:
        return iter(self.by_key.values())

    @property
    def held(self) -> int:
        """Bytes of memory that they take."""
        return SIZE * (len(self.by_key) + 1) + self._named

    def name(self, name_of: NameOf) -> None:
        """Add the names of topics that have only an id, as far as they are known."""
        for topic_id, resource in self.unnamed:
            name = self.names.get(topic_id) or name_of(topic_id)
            if name is not None:
                resource["name"] = name

    def put(
        self,
        kind: str,
        name: str | None,
        topic_id: bytes | None,
        partition: int | None,
        error: int | None,
        *,
        is_new: bool = True,
    ) -> Resource | None:
        """The resource of this name, added if `is_new`. None: there are too many, or it may not be added."""
        shown = None if topic_id is None else id_text(topic_id)
        key = kind, name or shown or "", partition
        resource = self.by_key.get(key)
        if resource is None and shown is not None:  # an answer may have the name beside the id
            resource = self.by_key.get((kind, shown, partition))
            if resource is not None and topic_id is not None and name is not None:
                self.names[topic_id] = name
        if resource is None:
            if not is_new:
                return None
            size = text_bytes(name)
            if len(self.by_key) >= MOST or self._named + size > MOST_TEXT:
                self.left_out += 1
                return None
            self._named += size
            resource = self.by_key[key] = {"type": kind}
            if name is not None:
                resource["name"] = name
            if topic_id is not None and shown is not None:
                resource["id"] = shown
                if name is None:
                    self.unnamed.append((topic_id, resource))
            if partition is not None:
                resource["partition"] = partition
        if error:
            resource["error"] = ErrorCode(error).name
        return resource
