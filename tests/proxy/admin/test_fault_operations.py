"""Operations on faults over HTTP: responses and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from plugins.faults import Faults
from plugins.faults.ledger import LedgerEntry, Result
from proxy.testing import FakeWorker, build
from tests.proxy.admin.served import OneWorker, asked

HOLD = {"match": {"api": "Produce"}, "do": "hold"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    file = tmp_path / "faults.yaml"
    file.write_text("seed: 7\nfaults: [{name: of the file, match: {api: Fetch}, do: {delay: 1ms}}]")
    async with asked(OneWorker(build(Faults, FakeWorker(name="faults"), rules=str(file)))) as client:
        yield client


async def names(client: httpx.AsyncClient) -> list[str]:
    return [fault["name"] for fault in (await client.get("/faults")).json()["faults"]]


async def test_faults_are_added_behind_those_of_the_file(client: httpx.AsyncClient) -> None:
    answer = await client.post("/faults", json=[{"name": "one", **HOLD}, HOLD])
    assert (answer.status_code, answer.json()) == (201, {"names": ["one", "api-1"]})
    assert (await client.get("/faults")).json() == {
        "seed": 7,
        "resets": 0,
        "faults": [
            {
                "name": "of the file",
                "source": "file",
                "fault": {"name": "of the file", "match": {"api": "Fetch"}, "do": {"delay": "1ms"}},
                "matched": 0,
                "fired": 0,
                "ends": None,
            },
            {"name": "one", "source": "api", "fault": {"name": "one", **HOLD}, "matched": 0, "fired": 0, "ends": None},
            {
                "name": "api-1",
                "source": "api",
                "fault": {"name": "api-1", **HOLD},
                "matched": 0,
                "fired": 0,
                "ends": None,
            },
        ],
    }


async def test_names_that_are_made_are_none_that_are_there(client: httpx.AsyncClient) -> None:
    await client.post("/faults", json={"name": "api-1", **HOLD})
    assert (await client.post("/faults", json=[{"name": "api-2", **HOLD}, HOLD])).json() == {
        "names": ["api-2", "api-3"]
    }


async def test_names_that_are_made_are_none_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(
        "faults: [{name: api-1, match: {api: Fetch}, do: hold}, {name: api-3, match: {api: Fetch}, do: hold}]"
    )
    async with asked(OneWorker(build(Faults, FakeWorker(name="faults"), rules=str(file)))) as client:
        assert (await client.post("/faults", json=[HOLD, HOLD])).json() == {"names": ["api-2", "api-4"]}
        assert (await client.post("/populate", json={"faults": [HOLD]})).json() == {"names": ["api-5"]}


async def test_one_is_shown_replaced_in_its_place_and_removed(client: httpx.AsyncClient) -> None:
    await client.post("/faults", json=[{"name": "one", **HOLD}, {"name": "two", **HOLD}])
    answer = await client.put("/faults/one", json={"do": {"delay": "2ms"}})
    assert answer.json() == (await client.get("/faults/one")).json()
    assert answer.json()["fault"] == {"name": "one", "do": {"delay": "2ms"}}
    assert await names(client) == ["of the file", "one", "two"]
    assert (await client.delete("/faults/one")).json()["name"] == "one"
    assert await names(client) == ["of the file", "two"]


class FiresWhileItChanges(OneWorker):
    """A fault fires when its removal is already under way."""

    async def change(self, plugin: str, state: Any) -> None:
        for result in (Result.NOT_NOW, Result.FIRED):
            self.plugin.ledger.note(LedgerEntry(0.0, "one", result, "", "192.0.2.1:5", 1))
        await super().change(plugin, state)


async def test_what_is_removed_is_shown_with_all_that_it_did(tmp_path: Path) -> None:
    async with asked(FiresWhileItChanges()) as client:
        await client.post("/faults", json={"name": "one", **HOLD})
        removed = (await client.delete("/faults/one")).json()
    assert (removed["matched"], removed["fired"]) == (4, 2)


async def test_populate_has_exactly_these_and_reset_none(client: httpx.AsyncClient) -> None:
    await client.post("/faults", json={"name": "one", **HOLD})
    answer = await client.post("/populate", json={"seed": 9, "faults": [{"name": "two", **HOLD}]})
    assert (answer.status_code, answer.json()) == (200, {"names": ["two"]})
    assert await names(client) == ["of the file", "two"]
    assert (await client.get("/faults")).json()["seed"] == 9
    await client.post("/populate", json={"faults": [{"name": "two", **HOLD}]})
    assert (await client.get("/faults")).json()["seed"] == 9, "it was not said, and stays"
    assert (await client.post("/reset")).status_code == 204
    assert await names(client) == ["of the file"]
    assert (await client.get("/faults")).json()["seed"] == 7
    assert (await client.post("/reset", json={"seed": 8})).status_code == 204
    assert (await client.get("/faults")).json()["resets"] == 2
    assert (await client.get("/faults")).json()["seed"] == 8


Refused = tuple[str, str, Any, int, str, list[tuple[str, str]]]
REFUSED: dict[str, Refused] = {
    "a name that is taken": (
        *("POST", "/faults", [HOLD, {"name": "taken", **HOLD}], 409, "a name is taken; nothing was changed"),
        [("faults[1].name", 'another fault is called "taken" too; give each its own name')],
    ),
    "a name of the file": (
        *("POST", "/populate", {"faults": [{"name": "of the file", **HOLD}]}, 409, "a name is taken"),
        [("faults[0].name", 'another fault is called "of the file" too; give each its own name')],
    ),
    "a name twice": (
        *("POST", "/faults", [{"name": "a", **HOLD}, {"name": "a", **HOLD}], 409, "a name is taken"),
        [("faults[1].name", 'another fault is called "a" too; give each its own name')],
    ),
    "a wrong fault": (
        *("POST", "/faults", [HOLD, HOLD, {"do": {"error": "NOT_LEADER_OR_FOLOWER"}}], 422, "nothing was changed"),
        [("faults[2].do.error", 'unknown error "NOT_LEADER_OR_FOLOWER"; did you mean "NOT_LEADER_OR_FOLLOWER"?')],
    ),
    "a wrong fault alone": (
        *("PUT", "/faults/taken", {"do": "hld"}, 422, "nothing was changed"),
        [("faults[0].do", 'unknown effect "hld"; did you mean "hold"?')],
    ),
    "another name": (
        *("PUT", "/faults/taken", {"name": "other", **HOLD}, 422, "nothing was changed"),
        [("faults[0].name", 'it is called "taken" here; leave its name out')],
    ),
    **{
        f"no name: {name!r}": (
            *("POST", "/faults", {"name": name, **HOLD}, 422, "nothing was changed"),
            [
                (
                    "faults[0].name",
                    'a name is printable text of at the most 200 characters, without "/"; e.g. "lost-ack"',
                )
            ],
        )
        for name in ("", "a/b", ".", "..", "a\nb", "\x1b[31mred", "\0", "\u202e", "a" * 201, 7)
    },
    "no fault": (
        *("POST", "/faults", [7], 422, "nothing was changed"),
        [("faults[0]", 'a fault is an object; send e.g. {"do": "hold"}')],
    ),
    "no body": (
        *("POST", "/faults", None, 422, "nothing was changed"),
        [("faults[0]", 'a fault is an object; send e.g. {"do": "hold"}')],
    ),
    "a large fault": (
        *("POST", "/faults", {"match": {"topic": ["a" * 9000]}, "do": "hold"}, 422, "nothing was changed"),
        [("faults[0]", "the fault is larger than 8 KiB; make several of it")],
    ),
    "no list": (
        "POST",
        "/populate",
        {"faults": {}},
        422,
        "nothing was changed",
        [("faults", "the faults are an array")],
    ),
    "no seed": (
        "POST",
        "/reset",
        {"seed": "7"},
        422,
        "nothing",
        [("seed", "the seed is a whole number of 64 bits; write e.g. 7")],
    ),
    "nothing known": ("POST", "/reset", {"sed": 7}, 422, "nothing", [("sed", "only seed may stand here")]),
    "no object": ("POST", "/reset", [], 422, "the body must be an object", []),
    "of the file": (
        "DELETE",
        "/faults/of%20the%20file",
        None,
        403,
        "stands in the file of faults; change it there",
        [],
    ),
    "of the file, replaced": ("PUT", "/faults/of%20the%20file", HOLD, 403, "stands in the file", []),
    "unknown": ("DELETE", "/faults/none", None, 404, 'no fault is called "none"', []),
    "unknown, shown": ("GET", "/faults/none", None, 404, 'no fault is called "none"', []),
    "unknown, replaced": ("PUT", "/faults/none", HOLD, 404, 'no fault is called "none"', []),
    "unknown, released": ("POST", "/faults/none/release", None, 404, 'no fault is called "none"', []),
    "waited for": ("DELETE", "/faults/taken", None, 409, '"waits" waits for "taken"; remove that first', []),
    "a wrong number": ("GET", "/ledger?limit=-1", None, 400, '"limit" is "-1"; it is a number from 0 to 1000', []),
    "a misspelt one": ("GET", "/ledger?sinc=7", None, 400, 'unknown parameter "sinc"; did you mean "since"?', []),
    "no number": ("GET", "/ledger?wait=nan", None, 400, '"wait" is "nan"; it is a number from 0 to 30', []),
}


@pytest.mark.parametrize(("method", "path", "body", "status", "detail", "problems"), REFUSED.values(), ids=REFUSED)
async def test_what_is_refused_changes_nothing_and_is_one_problem(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    body: Any,
    status: int,
    detail: str,
    problems: list[tuple[str, str]],
) -> None:
    there = [{"name": "taken", **HOLD}, {"name": "waits", **HOLD, "when": {"after_rule": "taken"}}]
    await client.post("/faults", json=there)
    before = (await client.get("/faults")).json()
    answer = await client.request(method, path, json=body) if body is not None else await client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert said["status"] == status
    assert detail in said["detail"]
    assert [(it["place"], it["message"]) for it in said["problems"]] == problems
    assert (await client.get("/faults")).json() == before


async def test_more_faults_than_there_may_be_are_refused_before_they_are_looked_at(client: httpx.AsyncClient) -> None:
    answer = await client.post("/faults", json=[0] * 1_001)
    assert answer.status_code == 422
    assert answer.json()["problems"] == [
        {"place": "faults", "message": "1,001 faults; 1,000 are the most that there may be"}
    ]


async def test_of_very_many_problems_the_first_are_told(client: httpx.AsyncClient) -> None:
    said = (await client.post("/faults", json=[0] * 1_000)).json()
    assert len(said["problems"]) == 100
    assert said["detail"] == "nothing was changed; these are the first 100 of 1,000 problems"
