"""What holds for all tests: long runs are left out, unless `-m` speaks of them, and no test fails for being slow."""

import signal
from pathlib import Path

import hypothesis
import pytest

# A machine that others use too takes long now and then: how long an example takes says nothing about the code.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

TESTS = Path(__file__).parent
# What waits for brokers runs beside what computes, in two processes (`--dist loadgroup`), and after them what looks how
# late a canary is, which is best alone.
COMPUTING, REAL, HOSTILE = range(3)
GROUPS = {TESTS / "real": REAL, TESTS / "hostile": HOSTILE}
collect_ignore = ["plugins/package"]  # has tests of its own, for an environment of its own


def pytest_configure(config: pytest.Config) -> None:
    # Whoever ends the run with SIGTERM (`timeout`, a build server) leaves no broker behind, as with Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))


@pytest.hookimpl(tryfirst=True)  # before groups are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # What other people's clients leave behind, a thread that draws from `random` for one, meets no generated test.
    items.sort(key=_group)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(str(_group(item))))
    if "long" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _group(item: pytest.Item) -> int:
    return next((group for folder, group in GROUPS.items() if folder in item.path.parents), COMPUTING)
