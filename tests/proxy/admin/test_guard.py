"""Who may change faults: only requests with the token."""

from __future__ import annotations

import re

import pytest

from proxy.config.model import Admin
from tests.proxy.admin.served import asked

TOKEN = "0123456789abcdef"
WITH_TOKEN = {"authorization": f"Bearer {TOKEN}"}


async def test_nobody_is_sent_to_another_address() -> None:
    async with asked(token=TOKEN) as client:
        answer = await client.get("/faults/", headers={"host": "evil.example.com"})
        assert (answer.status_code, answer.headers.get("location")) == (404, None)


@pytest.mark.parametrize(
    ("options", "headers", "status"),
    [
        ({}, {}, 200),
        ({}, {"host": "localhost:9190"}, 200),
        ({}, {"host": "[::1]:9190"}, 200),
        ({}, {"host": ""}, 200),
        ({}, {"host": "[::1"}, 403),
        ({}, {"host": "127.0.0.1.example.com:9190"}, 403),
        ({}, {"host": "evil.example.com"}, 403),
        ({}, {"host": "LOCALHOST."}, 200),
        ({}, {"host": "evil.example.com@127.0.0.1"}, 403),
        ({}, {"host": "127.0.0.1#evil.example.com"}, 403),
        ({}, {"host": "127.0.0.1/evil.example.com"}, 403),
        ({}, {"host": "127.0.0.1?evil.example.com"}, 403),
        ({}, {"host": "[::1]evil.example.com"}, 403),
        ({}, {"host": "localhost:x"}, 403),
        ({}, {"origin": "http://evil.example.com"}, 403),
        ({}, {"sec-fetch-site": "cross-site"}, 403),
        ({}, {"sec-fetch-site": "same-site"}, 403),
        ({}, {"sec-fetch-site": "none"}, 200),
        ({"token": TOKEN}, {**WITH_TOKEN, "sec-fetch-site": "cross-site"}, 200),
        ({"bind": "0.0.0.0:9190"}, {}, 403),
        ({"bind": "0.0.0.0:9190"}, WITH_TOKEN, 403),
        ({"bind": "0.0.0.0:9190", "token": TOKEN}, WITH_TOKEN, 200),
        ({"bind": "0.0.0.0:9190", "token": TOKEN}, {}, 401),
        ({"token": TOKEN}, {}, 401),
        ({"token": TOKEN}, {"authorization": f"Basic {TOKEN}"}, 401),
        ({"token": TOKEN}, {"authorization": f"Bearer {TOKEN}0"}, 401),
        ({"token": TOKEN}, {"authorization": f"bearer {TOKEN}"}, 200),
        ({"token": TOKEN}, {"authorization": TOKEN}, 401),
        ({"token": TOKEN}, {**WITH_TOKEN, "host": "admin.example.com"}, 200),
    ],
)
async def test_a_token_or_loopback_lets_pass(options: dict[str, str], headers: dict[str, str], status: int) -> None:
    async with asked(**options) as client:
        answer = await client.get("/faults", headers=headers)
        assert answer.status_code == status
        assert (answer.headers.get("www-authenticate") == "Bearer") == (status == 401)
        assert TOKEN not in answer.text
        assert (await client.get("/health", headers=headers)).status_code == 200


@pytest.mark.parametrize("options", [{"bind": "0.0.0.0:9190"}, {}])
async def test_who_is_refused_without_a_token_is_told_an_option_that_there_is(options: dict[str, str]) -> None:
    async with asked(**options) as client:
        said = (await client.get("/faults", headers={"origin": "http://evil.example.com"})).json()["detail"]
    (option,) = re.findall(r'give "admin:" a "(\w+):"', said)
    assert option in Admin.model_fields
