"""After all tests of this folder: the log has no secret and no internal error."""

from __future__ import annotations

import base64

import pytest

from tests.real.secured.cluster import PASSWORDS
from tests.real.secured.guarding import PLAIN, Guarding

pytestmark = pytest.mark.real


def test_nothing_secret_is_in_the_log(guarding: Guarding) -> None:
    token = guarding.client("tokens", PLAIN, "OAUTHBEARER").password.split(".")
    written = (guarding.folder / "doorkeeper.log").read_text()
    assert '"listening"' in written
    secrets = [*PASSWORDS.values(), "wrong-password", "new-1", token[0], "BEGIN PRIVATE KEY"]
    for secret in secrets:
        assert secret not in written
        assert base64.b64encode(secret.encode()).decode().rstrip("=") not in written
    assert '"level": "error"' not in written
