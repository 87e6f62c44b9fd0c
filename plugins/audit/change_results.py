"""Results of changes: each error in an answer is recorded with the changes that it prevented.

Rules:
* A result belongs to the changes of its resource. That of a group's offset stands beside the topic. An error of a
  resource as a whole is that of all its partitions.
* ACLs that are created have their results in the order of the request.
* Quotas have a result for each entity, in any order; features have one for each name.
* An error of the whole answer belongs to every change without an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from plugins.audit.request_schema import AdminChange, Resource
from plugins.audit.words import quota_part
from proxy.plugin import ErrorCode, turns

ResultPlace = tuple[str, str | None, int | None]  # the type, name and partition of a resource


def tell_of_resources(changes: Iterable[AdminChange], resources: Iterable[Resource]) -> None:
    """Tell the errors of these resources with the changes that have no error of their own."""
    failed: dict[ResultPlace, str] = {}
    for resource in resources:
        if "error" in resource:
            for name in (resource.get("name"), resource.get("id")):
                failed[resource["type"], name, resource.get("partition")] = resource["error"]
    for change in changes if failed else ():
        error = next((failed[place] for place in _places(change) if place in failed), None)
        if error is not None:
            change.setdefault("error", error)


def _places(change: AdminChange) -> Iterator[ResultPlace]:
    """Where an error of this change may stand, the nearest place first."""
    partition = change.get("partition")
    if change["type"] == "group" and "key" in change:
        yield "topic", change["key"], partition
        yield "topic", change["key"], None
    yield change["type"], change.get("name"), partition
    yield change["type"], change.get("name"), None


def tell_in_order(changes: Iterable[AdminChange], results: Iterable[Any]) -> None:
    """Tell the errors of results that are in the order of the changes."""
    for change, result in zip(changes, results, strict=False):
        if result.error_code:
            change["error"] = ErrorCode(result.error_code).name


def tell_of_features(changes: Iterable[AdminChange], results: Iterable[Any]) -> None:
    """Tell the errors of features by their names."""
    failed = {one.feature: ErrorCode(one.error_code).name for one in turns(results) if one.error_code}
    for change in changes:
        if change["name"] in failed:
            change["error"] = failed[change["name"]]


def tell_of_all(changes: Iterable[AdminChange], error: int) -> None:
    """Tell the error of a whole answer, if it has one."""
    for change in changes if error else ():
        change.setdefault("error", ErrorCode(error).name)


class QuotaResults:
    """The results of one request that changes quotas."""

    def __init__(self) -> None:
        self._sizes: list[int] = []  # the number of changes of each entity, in the order of the changes

    def asked(self, request: Any, most: int) -> None:
        """Note which of its changes, of which the first `most` are kept, are about one entity."""
        self._sizes = [len(entry.ops) * len(entry.entity) for entry in islice(turns(request.entries), most)]

    def tell(self, changes: Sequence[AdminChange], answer: Any) -> None:
        """Tell the errors of an answer with the changes of their entities."""
        failed = {
            frozenset(quota_part(part) for part in entry.entity): ErrorCode(entry.error_code).name
            for entry in turns(answer.entries)
            if entry.error_code
        }
        at = 0
        for size in self._sizes if failed else ():
            of_entity, at = changes[at : at + size], at + size
            error = failed.get(frozenset((change["type"], change["name"]) for change in of_entity))
            if error is not None:
                for change in of_entity:
                    change["error"] = error
