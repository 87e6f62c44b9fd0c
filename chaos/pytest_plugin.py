"""The pytest plugin: the fixture `kafka_faults`, its marker, its options, and the report of a failed test.

Rules:
* A proxy is started for the first test that needs it, one for each cluster that tests ask for, and ends with the run.
* Only code in `chaos` runs in this process. Under xdist each worker has its own proxies.
* Each test begins without faults. It fails if a fault is still in force at its end and never fired.
* Faults end with the test itself, before fixtures do: one that closes a client would wait for what `hold()` holds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress

import pytest

from chaos.admin_answers import AdminError
from chaos.fixture.child import LaunchError
from chaos.fixture.faults import KafkaFaults
from chaos.fixture.proxies import FaultProxies
from chaos.fixture.reporting import TITLE, report
from chaos.fixture.security import MARKER, OPTIONS, SettingsError
from chaos.fixture.settings import add_options, settings

FAULTS = pytest.StashKey[KafkaFaults]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    options = "seed=0, strict=True, brokers=3, workers=1, bootstrap='', " + ", ".join(f"{name}=''" for name in OPTIONS)
    config.addinivalue_line("markers", f"{MARKER}({options}): what the fixture {MARKER} is for this test.")


@pytest.fixture(scope="session")
def _fault_proxies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultProxies]:
    proxies = FaultProxies(lambda: tmp_path_factory.mktemp(MARKER))
    yield proxies
    proxies.end()


@pytest.fixture
def kafka_faults(request: pytest.FixtureRequest, _fault_proxies: FaultProxies) -> Iterator[KafkaFaults]:
    """A Kafka cluster that fails as the test says (chaos/README.md)."""
    why = None
    try:
        wanted = settings(request.node)
        proxy = _fault_proxies.of(wanted.cluster)
    except (SettingsError, LaunchError) as error:
        why = str(error)
    if why is not None:  # outside of the except block, or pytest shows the error twice
        pytest.fail(why, pytrace=False)
    faults = KafkaFaults(proxy, wanted.seed, strict=wanted.strict)
    request.node.stash[FAULTS] = faults
    yield faults
    faults.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Remove the faults of a test when it is over. It fails if one of them never fired."""
    __tracebackhide__ = True
    faults = item.stash.get(FAULTS, None)
    if faults is None:
        return (yield)
    try:
        result = yield
        faults.check()
    except BaseException:
        with suppress(AdminError):  # the error of the test says more
            faults.stop()
        raise
    faults.stop()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the faults did to the report of a failed test, also if another fixture of the test failed."""
    made = yield
    if made.failed and FAULTS in item.stash:
        made.sections.append((TITLE, report(item.stash[FAULTS])))
    return made
