from __future__ import annotations

import gc
import os
import sys
import weakref
from pathlib import Path

from proxy.config import Config
from proxy.net.machine import MOST, give_back, memory, memory_of_worker, resident
from tests.proxy.config.test_model import SMALL

MIB = 1 << 20
ALL = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def machine(root: Path, groups: str, **limits: str) -> Path:
    """A machine with these files."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, limit in limits.items():
        file = root / "sys/fs/cgroup" / name.replace("__", "/").replace("_max", ".max").replace("_bytes", "_in_bytes")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(limit)
    return root


def test_without_control_groups_there_is_what_the_machine_has(tmp_path: Path) -> None:
    assert memory(tmp_path) == ALL


def test_the_least_limit_of_a_group_and_those_around_it_counts(tmp_path: Path) -> None:
    limits = {"kube__memory_max": f"{64 * MIB}\n", "kube__pod__memory_max": "max\n"}
    assert memory(machine(tmp_path, "0::/kube/pod\n", **limits)) == 64 * MIB


def test_a_container_sees_its_own_group_as_the_topmost(tmp_path: Path) -> None:
    assert memory(machine(tmp_path, "0::/\n", memory_max=f"{32 * MIB}\n")) == 32 * MIB


def test_the_first_version_of_control_groups_is_known_too(tmp_path: Path) -> None:
    root = machine(tmp_path, "5:cpu:/\n4:memory:/docker/x\n")
    (root / "sys/fs/cgroup/memory").mkdir(parents=True)
    (root / "sys/fs/cgroup/memory/memory.limit_in_bytes").write_text(f"{16 * MIB}\n")
    assert memory(root) == 16 * MIB


def test_workers_share_a_quarter_and_the_configuration_has_the_last_word() -> None:
    one, many = Config.model_validate(SMALL), Config.model_validate({**SMALL, "workers": 1000})
    assert memory_of_worker(one) == min(memory() // 4, MOST)
    assert memory_of_worker(many) == min(memory() // 4000, MOST)
    assert memory_of_worker(Config.model_validate({**SMALL, "limits": {"memory": "2 GiB"}})) == 2 << 30


def test_what_is_free_can_be_given_back_at_any_time() -> None:
    kept = [bytes(1000) for _ in range(10_000)]
    del kept[::2]
    give_back()
    assert kept.count(bytes(1000)) == 5_000


def test_what_python_keeps_of_objects_that_are_no_more_is_given_back() -> None:
    give_back()
    tuples = [(i, i, i) for i in range(10_000)]
    full = sys.getallocatedblocks()
    del tuples[:]
    give_back()
    assert full - sys.getallocatedblocks() > 9_900, "Python kept 2,000 of them for later"


def test_giving_back_keeps_the_collector_from_nothing() -> None:
    """What is frozen for the moment is looked at again afterwards."""
    circle = Circle()
    gone = weakref.ref(circle)
    give_back()
    del circle
    gc.collect()
    assert gone() is None


class Circle:
    def __init__(self) -> None:
        self.me = self


def test_a_process_knows_how_much_memory_it_takes() -> None:
    before = resident()
    taken = bytearray(os.urandom(64 * MIB))
    assert 60 * MIB < resident() - before < 80 * MIB
    assert taken
