"""Clients with TLS: frames over TLS come back whole, and sessions are resumed. Nothing here is about time.

This part of the suite needs OpenSSL's headers beside a C compiler.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bench.contenders import Direct
from tests.bench.lane import Lane
from tests.bench.rig import RigError
from tests.bench.sealed import SealedDoorkeeper
from tests.bench.test_rig import few


@pytest.fixture(scope="module")
def lane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    with Lane(SealedDoorkeeper(), tmp_path_factory.mktemp("bench"), brokers=2) as lane:
        yield lane


def test_frames_of_any_size_pass_sealed(lane: Lane) -> None:
    assert few(lane, connections=6, inflight=5, tls=1) == 60
    assert few(lane, api="produce", connections=2, inflight=3, size=1 << 20, tls=1) == 60
    assert few(lane, api="fetch", connections=2, inflight=3, size=1 << 20, tls=1) == 60


@pytest.mark.parametrize("resume", [0, 1])
def test_a_connection_for_every_request_begins_with_a_handshake(lane: Lane, resume: int) -> None:
    assert few(lane, api="apiversions", connections=3, tls=1, anew=1, resume=resume) == 60


def test_who_does_not_speak_tls_is_told_apart(lane: Lane, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(RigError, match=r"^bootstrap: "):
        few(lane)
    with (
        Lane(Direct(), tmp_path_factory.mktemp("plain")) as plain,
        pytest.raises(RigError, match=r"^(send|bootstrap): "),
    ):
        few(plain, tls=1)
