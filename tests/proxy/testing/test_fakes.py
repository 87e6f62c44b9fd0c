"""The fakes for tests of plugins."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.core.plugin import Plugin
from proxy.testing import FakeClock, FakeWorker, build
from proxy.text.problems import Reload


class Shadow(Plugin):
    """Has one option."""

    class Options(Plugin.Options):
        topic: str = "a"


def test_a_plugin_is_made_as_the_proxy_makes_it() -> None:
    worker = FakeWorker("shadow-2", FakeClock(5.0))
    plugin = build(Shadow, worker, topic="b")
    assert plugin.options.topic == "b"
    assert (plugin.services.name, plugin.services.clock.now) == ("shadow-2", 5.0)


def test_every_invalid_option_is_a_line() -> None:
    with pytest.raises(ValueError, match=r"^invalid options of Shadow:\ntopic: .* string\nother: .*$"):
        build(Shadow, topic=7, other="x")


def test_what_its_services_did_can_be_looked_at(tmp_path: Path) -> None:
    (file := tmp_path / "table").write_text("2")
    worker = FakeWorker()
    services = build(Shadow, worker).services
    services.counter("copied", "Records copied.").add()
    services.counter("copied", "Records copied.", topic="a").add(2)
    services.tell("copied a record", topic="a")
    services.every(5, print)
    services.watch("table", file, lambda name: int(Path(name).read_text()))
    assert worker.look() == []
    file.write_text("30")
    assert worker.look() == [Reload(str(file), True)]
    assert worker.counts == {"copied": 1, "copied{topic=a}": 2}
    assert worker.lines == [("copied a record", {"topic": "a"})]
    assert worker.works == [(5, print)]


def test_what_the_proxy_would_not_take_is_not_taken_here() -> None:
    services = build(Shadow).services
    with pytest.raises(ValueError, match="no counter can be called"):
        services.counter("Copied records", "Records copied.")
    with pytest.raises(ValueError, match="cannot be done every 0 s"):
        services.every(0, print)
