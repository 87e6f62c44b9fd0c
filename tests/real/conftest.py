"""Shared by all real tests: one cluster and one Doorkeeper for the whole run, and the two ways to the brokers."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pprint import pformat

import pytest

from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.faulted import faulty
from tests.real.process import Program
from tests.real.way import Way

# The programs that run beside a test.
PROGRAMS = pytest.StashKey[Callable[[], list[Program]]]()


@pytest.fixture(autouse=True, scope="module")
def swept() -> Iterator[None]:
    """Collect sockets that clients left open at the end of this module, whose tests ignore the warnings."""
    yield
    gc.collect()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("real"):
            # kafka-python and aiokafka leave sockets of broken connections to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Cluster]:
    """Three brokers, started once."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        pytestconfig.stash[PROGRAMS] = lambda: cluster.programs
        yield cluster


@pytest.fixture(scope="session")
def doorkeeper(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Doorkeeper]:
    """Doorkeeper in front of them, started once."""
    with Doorkeeper(tmp_path_factory.mktemp("doorkeeper"), cluster) as doorkeeper:
        pytestconfig.stash[PROGRAMS] = lambda: [*cluster.programs, doorkeeper.program]
        yield doorkeeper


@pytest.fixture(scope="module")
def faulted(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Doorkeeper]:
    """Doorkeeper with the `FAULTS` of the module."""
    with faulty(tmp_path_factory.mktemp("faults"), cluster, request.module.FAULTS) as doorkeeper:
        yield doorkeeper


@pytest.fixture(params=["direct", "proxy"])
def way(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Way]:
    """The way of this run to the brokers; afterwards no client may have received a broker's own address."""
    if request.param == "direct":
        yield cluster.way
        return
    doorkeeper: Doorkeeper = request.getfixturevalue("doorkeeper")
    leaks = doorkeeper.relay.leaks
    leaks.clear()
    yield doorkeeper.way
    assert not leaks, f"clients were told brokers' own addresses, {len(leaks)} times; first: {leaks[0]!r}"


@pytest.fixture
def same(request: pytest.FixtureRequest, outcomes: dict[str, object]) -> Callable[[object], None]:
    """Call it with a scenario's outcome: it must equal the outcome of the other way."""
    scenario = request.node.nodeid.partition("[")[0]
    variant = request.node.name.replace("direct", "").replace("proxy", "")

    def compare(outcome: object) -> None:
        other = outcomes.setdefault(f"{scenario} {variant}", outcome)
        if outcome != other:
            one, two = pformat(other, width=200).splitlines(), pformat(outcome, width=200).splitlines()
            pytest.fail("not the same both ways:\n" + "\n".join(unified_diff(one, two, n=0)), pytrace=False)

    return compare


@pytest.fixture(scope="session")
def outcomes() -> dict[str, object]:
    return {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """Where a test fails, show the last log lines of the brokers and of Doorkeeper."""
    report = yield
    if report.failed:
        for program in item.config.stash.get(PROGRAMS, list)():
            report.sections.append((f"{program.name}: {program.log}", program.tail()))
    return report
