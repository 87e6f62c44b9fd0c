"""After all tests of this folder: the log has no secret and no internal error."""

from __future__ import annotations

import base64

import pytest

from tests.real.secured.cluster import PASSWORDS
from tests.real.secured.guarding import PLAIN, Guarding

pytestmark = pytest.mark.real

HALF_REPLACED = '"event": "certificates not reloaded", "why": "the key does not fit the certificate'


def test_nothing_secret_is_in_the_log(guarding: Guarding) -> None:
    token = guarding.client("tokens", PLAIN, "OAUTHBEARER").password.split(".")
    written = (guarding.folder / "doorkeeper.log").read_text()
    assert '"listening"' in written
    secrets = [*PASSWORDS.values(), "wrong-password", "new-1", token[0], "BEGIN PRIVATE KEY"]
    for secret in secrets:
        assert secret not in written
        assert base64.b64encode(secret.encode()).decode().rstrip("=") not in written
    # A certificate and its key are two files: the proxy may see the first of them replaced before the second is.
    errors = [line for line in written.splitlines() if '"level": "error"' in line and HALF_REPLACED not in line]
    assert not errors
