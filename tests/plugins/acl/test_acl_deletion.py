"""A deletion of ACLs: filters have their results, and what they match and look at together is limited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from plugins.acl.acl_deletion import AclDeletion, TooManyError
from plugins.acl.acl_filters import Filter
from plugins.acl.acl_index import AclIndex, SnapshotAcls
from rules import Snapshot, load
from rules.bindings import Binding
from rules.store import Changed, StoreError
from tests.plugins.acl.asked import delete


class Looks:
    """ACLs that note the filters that look at them."""

    def __init__(self) -> None:
        self.of: list[Filter] = []

    def acls(self, snapshot: Snapshot) -> SnapshotAcls:
        noting = SnapshotAcls(snapshot.file)
        noting.plain = self._noted(noting.plain)
        return noting

    def _noted(self, index: AclIndex) -> AclIndex:
        looks = self

        class Noting(AclIndex):
            def near(self, one: Filter) -> Sequence[Binding]:
                looks.of.append(one)
                return index.near(one)

        return Noting(())


@pytest.fixture
def looks() -> Looks:
    return Looks()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "acl.yaml"


def rules(file: Path, topics: int, condition: str = "") -> Snapshot:
    names = ", ".join(f"t{number}" for number in range(topics))
    file.write_text(f"acls:\n  - {{allow: User:a, to: Read, topics: [{names}]{condition}}}\n")
    return load(file)


def deletion(looks: Looks, file: Path, *filters: dict[str, Any]) -> AclDeletion:
    return AclDeletion(delete(*filters).filters, looks.acls, file)


def test_as_many_acls_as_a_controller_deletes_at_once_are_deleted_and_no_more(looks: Looks, file: Path) -> None:
    assert len(deletion(looks, file, {}).decide(rules(file, 10_000)).removed) == 10_000
    with pytest.raises(TooManyError, match=r"^Cannot remove more than 10000 acls in a single delete operation"):
        deletion(looks, file, {}).decide(rules(file, 10_001))


@pytest.mark.parametrize("condition", ["", ", client_id: x"])
def test_what_several_filters_match_counts_each_time_and_the_search_ends_at_the_limit(
    looks: Looks, file: Path, condition: str
) -> None:
    several = deletion(looks, file, *[{} for _ in range(500)])
    with pytest.raises(TooManyError):
        several.decide(rules(file, 1_000, condition))
    assert len(looks.of) == 11
    (result, *_) = several.results(TooManyError("too many"))
    assert (result.error_code, result.error_message, result.matching_acls) == (42, "too many", [])


def test_filters_look_at_so_many_acls_together_whatever_they_match(
    looks: Looks, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.acl.acl_deletion.LOOKS", 370)
    there = rules(file, 100)
    assert deletion(looks, file, *[{"host": "no"}] * 3, *[{"name": "no"}] * 30).decide(there).removed == set()
    with pytest.raises(TooManyError, match="give fewer filters, or a name or a principal in each"):
        deletion(looks, file, *[{"host": "no"}] * 4).decide(there)


def test_each_filter_looks_once_also_for_its_results(looks: Looks, file: Path) -> None:
    there = rules(file, 3)
    twice = deletion(looks, file, {"name": "t1"}, {"who": "User:a"})
    removed = frozenset(twice.decide(there).removed)
    results = twice.results(Changed(there, frozenset(), removed))
    assert [[acl.resource_name for acl in result.matching_acls] for result in results] == [["t1"], ["t0", "t1", "t2"]]
    assert looks.of == twice.filters


def test_the_last_decision_is_told(looks: Looks, file: Path) -> None:
    again = deletion(looks, file, {})
    again.decide(rules(file, 2))
    removed = frozenset(again.decide(rules(file, 3)).removed)
    (result,) = again.results(Changed(load(file), frozenset(), removed))
    assert len(result.matching_acls) == 3


def test_a_rule_with_a_condition_is_told_by_its_place_after_the_change(looks: Looks, file: Path) -> None:
    one = deletion(looks, file, {})
    before = rules(file, 1, ", client_id: x")
    assert one.decide(before).removed == set()
    file.write_text("# moved\n" + file.read_text())
    ((kept,),) = [result.matching_acls for result in one.results(Changed(load(file), frozenset(), frozenset()))]
    assert kept.error_code == 44
    assert str(kept.error_message).startswith(f'{file}:3:5: not deleted: Kafka\'s ACLs cannot say "client_id"')


def test_a_change_that_was_not_made_is_the_result_of_every_filter_but_of_those_that_are_refused(
    looks: Looks, file: Path
) -> None:
    results = deletion(looks, file, {}, {"to": 99}).results(StoreError("locked"))
    assert [(each.error_code, each.error_message) for each in results] == [(-1, "locked"), (42, "Unknown entryFilter.")]
