"""The index of ACLs: a filter finds what it matches, and looks at little else."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.acl.acl_filters import matching
from plugins.acl.acl_index import AclIndex, KnownAcls, SnapshotAcls
from rules import Operation, ResourceType, load
from rules.bindings import Binding
from rules.values import Pattern
from rules.vocabulary import PatternType, Permission
from tests.plugins.acl.asked import describe

names = st.sampled_from(["a", "ab", "abc", "*", "*a", ""])
principals = st.sampled_from(["User:a", "User:b"])
acls = st.builds(
    Binding,
    st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP]),
    st.builds(Pattern, st.sampled_from(PatternType), names),
    principals,
    st.just("*"),
    st.just(Operation.READ),
    st.just(Permission.ALLOW),
)


@given(st.frozensets(acls, max_size=20), st.none() | names, st.sampled_from([1, 2, 3, 4, 99]), st.none() | principals)
def test_a_filter_finds_the_same_as_a_look_at_every_acl(
    there: frozenset[Binding], name: str | None, pattern: int, who: str | None
) -> None:
    index, one = AclIndex(there), describe(name=name, pattern=pattern, who=who)
    found = list(matching(one, index.near(one)))
    assert len(found) == len(set(found))
    assert set(found) == set(matching(one, there))
    resources = [(acl.kind, acl.pattern) for acl in found]
    turns = [one for one, before in zip(resources, [None, *resources], strict=False) if one != before]
    assert len(turns) == len(set(turns)), "what is about one resource stands together"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "acl.yaml"
    of_all = "".join(f"  - {{allow: User:u{number}, to: Read, topics: [all, t{number}-*]}}\n" for number in range(100))
    file.write_text(f"acls:\n{of_all}  - {{allow: User:b, to: Read, topics: t, client_id: app}}\n")
    return file


@pytest.mark.parametrize(
    ("said", "looks"),
    [
        ({"name": "no"}, 0),
        ({"name": "t7-"}, 1),
        ({"name": "t7-x", "pattern": 2}, 1),
        ({"who": "User:no"}, 0),
        ({"who": "User:u7"}, 2),
        ({"who": "User:u7", "name": "all"}, 2),
        ({"who": "User:u7", "name": "t7-"}, 1),
        ({"host": "no"}, 200),
    ],
)
def test_a_filter_looks_only_at_acls_of_its_name_or_its_principal(file: Path, said: dict[str, Any], looks: int) -> None:
    assert len(SnapshotAcls(load(file).file).plain.near(describe(**said))) == looks


def test_the_acls_of_a_snapshot_are_known_as_long_as_it_is_in_use(file: Path) -> None:
    known, snapshot = KnownAcls(), load(file)
    there = weakref.ref(known.of(snapshot))
    assert known.of(snapshot) is there()
    assert known.of(load(file)) is not there()
    del snapshot
    gc.collect()
    assert there() is None


def test_what_has_a_condition_stands_apart_with_the_number_of_its_rule(file: Path) -> None:
    acls = SnapshotAcls(load(file).file)
    (conditioned,) = acls.conditioned.near(describe())
    assert (conditioned.principal, acls.conditions[conditioned]) == ("User:b", [0])
    assert conditioned not in acls.plain.near(describe())
