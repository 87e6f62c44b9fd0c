"""What holds for all tests: long runs are left out, unless `-m` speaks of them."""

import signal

import pytest

collect_ignore = ["plugins/package"]  # has tests of its own, for an environment of its own


def pytest_configure(config: pytest.Config) -> None:
    # Whoever ends the run with SIGTERM (`timeout`, a build server) leaves no broker behind, as with Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "long" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
