"""Pruning: segments deleted with the key are known as pruned, and segments deleted without it are reported missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.pruning import prune
from plugins.audit.recovery import recover
from plugins.audit.rotation import Rotation
from plugins.audit.segments import beside, segments
from plugins.audit.verify import verify
from tests.plugins.audit.written import KEY, START, Wall, chain, event

NOON = datetime.fromtimestamp(START, UTC) + timedelta(hours=4)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """One segment an hour, for three hours."""
    wall = Wall()
    writer = chain(tmp_path / "journal", wall=wall, rotation=Rotation())
    for hour in range(3):
        wall.now = START + hour * 3600
        writer.rotate(True)
        writer.add(event(hour, wall.now))
        writer.flush()
    writer.end()
    assert len(segments(tmp_path / "journal")) == 3
    return tmp_path / "journal"


def test_what_is_pruned_leaves_the_rest_verifiable(journal: Path) -> None:
    first, second, _ = segments(journal)
    pruned = list(prune(journal, datetime.fromtimestamp(START, UTC) + timedelta(hours=2), KEY, NOON))
    assert [one.path for one in pruned] == [first, second]
    assert len(segments(journal)) == 1
    verified = verify(journal, KEY.public_key())
    assert (verified.remarks, verified.pruned, verified.segments) == ([], 2, 1)


def test_a_torn_frame_goes_with_its_segment(tmp_path: Path) -> None:
    """It has the beginnings of events."""
    writer = chain(tmp_path)
    writer.abandon()
    (path,) = segments(tmp_path)
    path.write_bytes(path.read_bytes() + path.read_bytes()[:-1])
    recover(tmp_path, KEY)
    size = path.stat().st_size + beside(path, "torn").stat().st_size
    assert [one.freed for one in prune(tmp_path, NOON, KEY, NOON)] == [size]
    assert sorted(file.suffix for file in path.parent.iterdir()) == [".pruned", ".seal"]
    verified = verify(tmp_path, KEY.public_key())
    assert (verified.remarks, verified.pruned) == ([], 1)


def test_an_hour_that_is_not_over_stays(journal: Path) -> None:
    assert not list(prune(journal, datetime.fromtimestamp(START, UTC) + timedelta(minutes=59), KEY, NOON))


def test_what_is_deleted_without_the_key_is_missed(journal: Path) -> None:
    first, second, _ = segments(journal)
    list(prune(journal, datetime.fromtimestamp(START, UTC) + timedelta(hours=1), KEY, NOON))
    beside(second, "pruned").write_bytes(beside(first, "pruned").read_bytes())  # a statement about another one
    second.unlink()
    (remark,) = verify(journal, KEY.public_key()).remarks
    assert str(remark).endswith("the segment was deleted")


@pytest.mark.parametrize("content", [b"", b"{}\n\n", b"odd"])
def test_what_is_no_statement_proves_nothing(journal: Path, content: bytes) -> None:
    first = segments(journal)[0]
    first.unlink()
    beside(first, "pruned").write_bytes(content)
    assert not verify(journal, KEY.public_key()).is_intact


def test_what_another_key_sealed_stays_until_it_is_pruned_with_that(journal: Path) -> None:
    """The key of the journal was changed between two chains."""
    newer = Ed25519PrivateKey.generate()
    chain(journal, "a07be5d2", key=newer).end()
    first, second, *_ = segments(journal)
    nine = datetime.fromtimestamp(START, UTC) + timedelta(hours=1)
    assert [(one.path, bool(one.stays)) for one in prune(journal, nine, newer, NOON)] == [
        (first, True),
        (second, False),
    ]
    assert [(one.path, bool(one.stays)) for one in prune(journal, nine, KEY, NOON)] == [(first, False)]
    verified = verify(journal)
    assert (verified.remarks, verified.pruned, verified.segments) == ([], 2, 2)


def test_a_segment_whose_seal_was_altered_stays_and_keeps_no_other(journal: Path) -> None:
    first, second, third = segments(journal)
    seal = beside(first, "seal")
    seal.write_bytes(seal.read_bytes().replace(b"rotated", b"stopped"))
    stays, *deleted = prune(journal, NOON, KEY, NOON)
    assert stays.path == first
    assert stays.stays.startswith("its seal was altered: its signature is not that of what it says; see what")
    assert [one.path for one in deleted] == [second, third]
    assert segments(journal) == [first]


@pytest.mark.parametrize("is_sealed_late", [False, True])
def test_what_is_pruned_while_the_journal_is_verified_is_known_as_pruned(
    journal: Path, *, is_sealed_late: bool
) -> None:
    """The segment of a chain that is checked first is pruned at that moment, and so is the first one of the other."""
    chain(journal, "0first").end()
    seal = beside(segments(journal)[1], "seal")
    late = seal.read_bytes()
    if is_sealed_late:
        seal.unlink()

    @contextmanager
    def fetched(place: Path) -> Iterator[None]:
        if "0first" in place.name:
            seal.write_bytes(late)
            assert list(prune(journal, datetime.fromtimestamp(START, UTC) + timedelta(hours=1), KEY, NOON))
        yield

    verified = verify(journal, KEY.public_key(), fetched=fetched)
    assert (verified.remarks, verified.pruned, verified.segments) == ([], 2, 2)
