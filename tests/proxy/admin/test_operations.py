"""A path accepts only its declared methods."""

from __future__ import annotations

from tests.proxy.admin.served import asked


async def test_a_method_that_a_path_has_not_is_told_those_that_it_has() -> None:
    async with asked() as client:
        answer = await client.patch("/faults/one")
        assert {it.strip() for it in answer.headers["allow"].split(",")} == {"GET", "HEAD", "PUT", "DELETE"}


async def test_a_head_is_a_get_without_its_body() -> None:
    async with asked() as client:
        answer = await client.head("/faults")
        assert (answer.status_code, answer.content) == (200, b"")
