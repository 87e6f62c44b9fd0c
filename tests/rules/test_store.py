"""The file as a store: each change is atomic, also with several writers and with people who edit it."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from proxy.text.problems import Reload
from proxy.text.watched import WatchedFile
from rules import Client, Operation, ResourceType, Snapshot, load
from rules.bindings import Binding
from rules.edit import said
from rules.store import AclChange, Store, StoreError
from rules.values import Pattern
from rules.vocabulary import PatternType, Permission

TEXT = "# by hand\nacls:\n  - {allow: User:a, to: Read, topics: t}  # one\n"


def acl(topic: str) -> Binding:
    pattern = Pattern(PatternType.LITERAL, topic)
    return Binding(ResourceType.TOPIC, pattern, "User:a", "*", Operation.READ, Permission.ALLOW)


def adding(*topics: str) -> Callable[[Snapshot], AclChange]:
    return lambda there: AclChange(added=[acl(topic) for topic in topics])


def watched(file: Path, environment: dict[str, str]) -> WatchedFile[Snapshot]:
    """The rules of a file that changes."""
    return WatchedFile(file, partial(load, environment=environment), lambda snapshot: snapshot.warnings)


def may_read(rules: WatchedFile[Snapshot], topic: str) -> bool:
    return rules.value.decide(Client("User:a"), Operation.READ, ResourceType.TOPIC, topic).allowed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "acl.yaml"
    file.write_text(TEXT)
    return file


def test_a_change_is_in_the_file_and_in_force_at_once(file: Path) -> None:
    store = Store(watched(file, {}), {})
    changed = store.change(adding("u", "t"))
    assert (changed.added, changed.removed) == ({acl("u")}, set())
    assert changed.rules is store.watched.value
    assert file.read_text() == TEXT + "  - allow: User:a\n    to: Read\n    topics: u\n"
    assert may_read(store.watched, "u")
    assert store.watched.look() == Reload(str(store.watched.file), True)
    assert store.watched.look() is None
    assert [path.name for path in file.parent.iterdir()] == ["acl.yaml"]


def test_others_see_it_when_they_look(file: Path) -> None:
    other = watched(file, {})
    Store(watched(file, {}), {}).change(adding("u"))
    assert other.look() == Reload(str(file), True)
    assert may_read(other, "u")


def test_what_changes_nothing_writes_nothing(file: Path) -> None:
    inode = file.stat().st_ino
    Store(watched(file, {}), {}).change(adding("t"))
    assert file.stat().st_ino == inode


def test_a_change_is_decided_on_the_file_as_it_is_now(file: Path) -> None:
    store = Store(watched(file, {}), {})
    file.write_text(TEXT.replace("topics: t", "topics: v"))
    changed = store.change(lambda there: AclChange(removed=[acl("t"), acl("v")]))
    assert (changed.added, changed.removed) == (set(), {acl("v")})
    assert file.read_text() == "# by hand\nacls:\n  # one\n"


def test_what_a_person_saved_meanwhile_is_not_lost(file: Path) -> None:
    store = Store(watched(file, {}), {})
    seen: list[set[Binding]] = []

    def decide(there: Snapshot) -> AclChange:
        seen.append(said(there.file))
        if len(seen) == 1:
            file.write_text("# somebody was faster\n" + TEXT.replace("topics: t", "topics: [t, v]"))
        return AclChange(added=[acl("u")])

    store.change(decide)
    assert seen == [{acl("t")}, {acl("t"), acl("v")}]
    assert file.read_text().startswith("# somebody was faster\n")
    assert said(store.watched.value.file) == {acl("t"), acl("u"), acl("v")}


def test_somebody_who_never_stops_saving_ends_it(file: Path) -> None:
    def decide(there: Snapshot) -> AclChange:
        file.write_text(TEXT)
        return AclChange(added=[acl("u")])

    with pytest.raises(StoreError, match="changed by somebody else again and again"):
        Store(watched(file, {}), {}).change(decide)
    assert file.read_text() == TEXT
    assert [path.name for path in file.parent.iterdir()] == ["acl.yaml"]


def test_many_at_once_lose_nothing(file: Path) -> None:
    stores = [Store(watched(file, {}), {}) for _ in range(4)]
    topics = [f"{number}-{turn}" for number in range(4) for turn in range(8)]

    def change(number: int) -> None:
        for topic in topics[number * 8 :][:8]:
            stores[number].change(adding(topic))

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said(watched(file, {}).value.file) == {acl(topic) for topic in [*topics, "t"]}


def test_mode_and_owner_stay(file: Path) -> None:
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
    before = file.stat()
    Store(watched(file, {}), {}).change(adding("u"))
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino


def test_a_link_stays_one(file: Path) -> None:
    link = file.with_name("link.yaml")
    link.symlink_to(file.name)
    store = Store(watched(link, {}), {})
    store.change(adding("u"))
    assert link.is_symlink()
    assert "topics: u" in file.read_text()
    assert store.watched.look() == Reload(str(store.watched.file), True)
    assert store.watched.look() is None


def test_a_file_with_a_mistake_is_left_as_it_is_and_the_mistake_is_told(file: Path) -> None:
    store = Store(watched(file, {}), {})
    file.write_text("acls: [")
    with pytest.raises(StoreError, match=rf"^{file} cannot be changed: {file}:1:8: "):
        store.change(adding("u"))
    assert file.read_text() == "acls: ["
    assert may_read(store.watched, "t")


def test_a_file_that_is_gone_is_not_written_anew(file: Path) -> None:
    store = Store(watched(file, {}), {})
    file.unlink()
    with pytest.raises(StoreError, match="No such file"):
        store.change(adding("u"))
    assert not file.exists()


def test_a_file_that_cannot_be_replaced_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    store = Store(watched(file, {}), {})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=rf"^{file} cannot be written: No space left on device$"):
        store.change(adding("u"))
    assert file.read_text() == TEXT
    assert [path.name for path in file.parent.iterdir()] == ["acl.yaml"]
    assert not may_read(store.watched, "u")


def test_a_file_grows_no_larger_than_can_be_read(file: Path) -> None:
    file.write_text(TEXT + f"# {'x' * (16 << 20)}"[: (16 << 20) - len(TEXT)])
    with pytest.raises(StoreError, match="more than 16 MiB; take rules out"):
        Store(watched(file, {}), {}).change(adding("u"))


def test_as_many_acls_as_a_controller_creates_at_once_are_added_and_no_more(file: Path) -> None:
    topics = [f"u{number}" for number in range(10_001)]
    store = Store(watched(file, {}), {})
    with pytest.raises(StoreError, match="more than 10000 ACLs would be added at once; add fewer"):
        store.change(adding(*topics))
    assert file.read_text() == TEXT
    assert len(store.change(adding("t", *topics[1:])).added) == 10_000


def test_a_lock_that_is_never_given_back_is_not_waited_for_without_end(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.text.locked.PATIENCE", 0.05)
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="is locked by another program"):
            Store(watched(file, {}), {}).change(adding("u"))
    assert file.read_text() == TEXT
