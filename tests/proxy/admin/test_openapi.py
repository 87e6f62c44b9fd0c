"""The OpenAPI document is true: it has every path and method, and responses match its schemas."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from proxy.admin import shapes
from proxy.admin.shapes import HttpShape
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving
from tests.proxy.admin.served import OneWorker, asked

DENIED = {"name": "denied", "match": {"api": "Produce"}, "when": {"times": 1}, "do": {"error": "KAFKA_STORAGE_ERROR"}}
BODIES: dict[tuple[str, str], Any] = {
    ("post", "/faults"): [{"do": "hold"}],
    ("put", "/faults/{name}"): {"do": "hold"},
    ("post", "/populate"): {"seed": 7, "faults": [{"name": "denied", "do": "hold"}]},
    ("post", "/reset"): {"seed": 7},
}


@pytest.fixture
async def client(tmp_path: Any) -> AsyncIterator[httpx.AsyncClient]:
    """An admin side over a worker in which a fault fired, and one did not."""
    faults = FaultFile(tmp_path, "faults: [{name: of the file, match: {api: Produce}, do: {delay: 1ms}}]")
    async with asked(OneWorker(faults.plugin)) as client:
        await client.post("/faults", json=DENIED)
        talk = FaultTalk(faults, serving)
        for _ in range(2):
            talk.ask(produce("orders"), 9)
        yield client


async def documented(client: httpx.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get("/openapi.json")).json()
    return found


async def test_it_is_openapi_and_every_reference_leads_somewhere(client: httpx.AsyncClient) -> None:
    answer = await client.get("/openapi.json")
    document = answer.json()
    assert document["openapi"] == "3.1.0"
    references = set(re.findall(r"#/components/schemas/(\w+)", answer.text))
    assert references <= document["components"]["schemas"].keys()
    assert {"FaultAnswer", "ProblemAnswer", "EntryAnswer"} <= references


async def test_what_is_answered_has_the_shape_that_it_says(client: httpx.AsyncClient) -> None:
    seen = 0
    for path, operations in (await documented(client))["paths"].items():
        for method, operation in operations.items():
            body = BODIES.get((method, path))
            assert (body is not None) == ("requestBody" in operation)
            said = {} if body is None else {"json": body}
            answer = await client.request(method, path.replace("{name}", "denied"), **said)
            responses = operation["responses"]
            assert str(answer.status_code) in responses, (method, path, answer.text)
            if answer.status_code == 404:
                continue  # it was deleted above
            content = responses[str(answer.status_code)].get("content", {}).get("application/json")
            if content is not None:
                shape: type[HttpShape] = getattr(shapes, content["schema"]["$ref"].rpartition("/")[2])
                shape.model_validate(answer.json(), strict=True)
                seen += 1
    assert seen >= 6


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/faults", {"do": "hld"}),
        ("POST", "/faults", b"{"),
        ("POST", "/populate", {"faults": 7}),
        ("POST", "/reset", []),
        ("PUT", "/faults/none", {"do": "hold"}),
        ("PUT", "/faults/of%20the%20file", {"do": "hold"}),
        ("DELETE", "/faults/none", None),
        ("GET", "/ledger?limit=many", None),
    ],
)
async def test_what_is_refused_is_a_problem_that_it_speaks_of(
    client: httpx.AsyncClient, method: str, path: str, body: Any
) -> None:
    content = {"content": body, "headers": {"content-type": "application/json"}} if isinstance(body, bytes) else {}
    answer = await client.request(method, path, **(content or ({} if body is None else {"json": body})))
    template = re.sub(r"^/faults/[^/]+", "/faults/{name}", path.partition("?")[0])
    responses = (await documented(client))["paths"][template][method.lower()]["responses"]
    assert responses[str(answer.status_code)]["content"].keys() == {"application/problem+json"}
    shapes.ProblemAnswer.model_validate(answer.json(), strict=True)


async def test_every_path_and_method_that_is_answered_is_in_it(client: httpx.AsyncClient) -> None:
    paths = (await documented(client))["paths"]
    for path, operations in paths.items():
        refused = await client.request("TRACE", path.replace("{name}", "denied"))
        allowed = {it.strip().lower() for it in refused.headers["allow"].split(",")} - {"head"}
        assert allowed == operations.keys()
    assert paths.keys() == {
        "/connections",
        "/faults",
        "/faults/{name}",
        "/faults/{name}/release",
        "/health",
        "/ledger",
        "/metrics",
        "/openapi.json",
        "/populate",
        "/reset",
    }
