"""Releases: the API versions that brokers of each Kafka release accept."""

import itertools

import pytest

from proxy.protocol.api import API_VERSIONS, APIS, ENVELOPE, FETCH, JOIN_GROUP, METADATA, PRODUCE, SASL_HANDSHAKE
from proxy.protocol.releases import accepted, accepted_apis, releases


def test_a_release_accepts_what_it_changed_and_what_it_inherited() -> None:
    assert accepted("4.1", PRODUCE.key) == range(3, 14)
    assert accepted("4.4", PRODUCE.key) == range(3, 14)
    assert accepted("0.10.1", FETCH.key) == range(4)


def test_what_a_release_does_not_have_is_none() -> None:
    assert accepted("0.9.0", API_VERSIONS.key) is None
    assert accepted("0.10.0", API_VERSIONS.key) == range(1)
    assert accepted("4.4", 1000) is None


def test_what_a_release_dropped_is_none() -> None:
    assert accepted("3.1", ENVELOPE.key) == range(1)
    assert accepted("3.2", ENVELOPE.key) is None


def test_a_release_that_is_not_listed_is_as_the_one_before_it() -> None:
    assert accepted("0.8.2.2", METADATA.key) == accepted("0.8.2", METADATA.key)
    assert accepted("3.9.2", FETCH.key) == accepted("3.9", FETCH.key) == range(18)
    assert accepted("5.1", FETCH.key) == accepted("4.4", FETCH.key)


def test_a_correction_within_a_release_is_seen() -> None:
    assert accepted("4.0.0", JOIN_GROUP.key) == range(2, 10)  # KAFKA-19444
    assert accepted("4.0.1", JOIN_GROUP.key) == range(10)


def test_zookeeper_and_kraft_are_two_lines() -> None:
    assert 4 in accepted_apis("3.4", zookeeper=True)
    assert 4 not in accepted_apis("3.4")


def test_a_release_before_kraft_needs_no_word_about_it() -> None:
    assert accepted_apis("2.7") == accepted_apis("2.7", zookeeper=True)


def test_releases_come_oldest_first() -> None:
    assert releases()[:2] == ["0.8.0", "0.8.1"]
    assert releases()[-1] == "4.4"
    assert releases(zookeeper=True)[-1] == "3.9"
    assert releases(zookeeper=False)[0] == "2.8"
    assert releases().index("0.10.0") > releases().index("0.9.0")


@pytest.mark.parametrize(
    ("release", "zookeeper", "complaint"),
    [
        ("4.0", True, "has no ZooKeeper"),
        ("0.7.2", False, "begins with 0.8.0"),
        ("latest", False, "no release of Kafka"),
    ],
)
def test_what_is_no_release_is_refused(release: str, zookeeper: bool, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        accepted_apis(release, zookeeper=zookeeper)


def test_no_release_accepts_what_never_shipped() -> None:
    for release, zookeeper in itertools.product(releases(), (False, True)):
        if zookeeper and release not in releases(zookeeper=True):
            continue
        for key, versions in accepted_apis(release, zookeeper=zookeeper).items():
            assert versions.stop <= APIS[key].newest + 1, (release, APIS[key])


def test_a_newer_release_never_knows_less_of_a_version_at_the_top() -> None:
    for zookeeper in (False, True):
        for older, newer in itertools.pairwise(releases(zookeeper=zookeeper)):
            now = accepted_apis(newer, zookeeper=zookeeper)
            for key, versions in accepted_apis(older, zookeeper=zookeeper).items():
                assert key not in now or now[key].stop >= versions.stop, (older, newer, APIS[key])


def test_sasl_began_with_0_10() -> None:
    assert accepted("0.9.0", SASL_HANDSHAKE.key) is None
    assert accepted("0.10.0", SASL_HANDSHAKE.key) == range(1)
