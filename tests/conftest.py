"""Settings of all tests: long runs are left out unless `-m` names `long`, and no test fails for being slow."""

import gc
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

from tests.real.process import running

# A shared machine is slow at times, so the duration of an example says nothing about the code.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

SHOWN = 6  # lines of each running program that a failure shows
TESTS = Path(__file__).parent
REAL = TESTS / "real"
SECURED = REAL / "secured"
# Run by several processes (-n), the tests of each of these stay together, and so do all others: the first wait for
# brokers most of the time, the second for Spark, and the others compute.
BESIDE = ("real", "acl"), ("plugins", "chaos"), ("hostile",)
collect_ignore = ["plugins/package"]  # has tests of its own, for an environment of its own


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Objects are freed by reference counting alone."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    # A run that is ended with SIGTERM (by `timeout` or a build server) stops its brokers, as with Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    # A shell has what it runs in the background ignore Ctrl-C, and so would the programs under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Tests with real clients run last: leftovers of client libraries, such as a thread that draws from `random`, would
    # disturb generated tests. Among them the folder `secured` runs first: its brokers end before the shared ones start.
    items.sort(key=lambda item: (REAL in item.path.parents, SECURED not in item.path.parents))
    if "long" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:  # what was seen once, on another machine, must be found by its report alone
        report.sections += [(f"last lines of {program.name}", program.tail(SHOWN)) for program in running]
    return report


class _Parts(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A process has one part after the other, each in its order."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.split("/", 2)[1]
        return next((part[0] for part in BESIDE if folder in part), "others")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _Parts:
    return _Parts(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    # Fourteen thousand tests and their imports live until the end: the garbage collector need not scan them again.
    gc.collect()
    gc.freeze()
