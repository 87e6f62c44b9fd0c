"""The OpenAPI document of the admin side (3.1), generated from its operations. It is served at `/openapi.json`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from proxy.admin.operations import HttpOperation
from proxy.admin.shapes import HttpShape, ProblemAnswer

JSON, PROBLEM = "application/json", "application/problem+json"
REFERENCE = "#/components/schemas/"
GUARDED = (401, 403)  # the guard's refusals


def with_document(operations: Sequence[HttpOperation]) -> list[HttpOperation]:
    """These operations, and one that returns the document about all of them."""

    @cache
    def made() -> JSONResponse:  # cached, since anyone who reaches the port may ask for it
        return JSONResponse(document(whole))

    async def answer(request: Request) -> Response:
        return made()

    whole = [*operations, HttpOperation("GET", "/openapi.json", answer, "This document", is_open=True)]
    return whole


def document(operations: Iterable[HttpOperation]) -> dict[str, Any]:
    """The document as plain values."""
    operations = list(operations)
    shapes: set[type[HttpShape]] = {ProblemAnswer}
    shapes.update(shape for it in operations for shape in (it.body, it.answer) if shape is not None)
    models = sorted(shapes, key=lambda shape: shape.__name__)
    _, schemas = models_json_schema([(shape, "validation") for shape in models], ref_template=f"{REFERENCE}{{model}}")
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "The admin side of Doorkeeper", "version": version("doorkeeper")},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: HttpOperation) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", operation.path)
    parameters = [_parameter(name, "path", "string", "The name of a fault.") for name in names]
    parameters += [_parameter(it.name, "query", it.type, it.description) for it in operation.parameters]
    said: dict[str, Any] = {"summary": operation.summary, "responses": _responses(operation)}
    if parameters:
        said["parameters"] = parameters
    if operation.body is not None:
        schema = _reference(operation.body)
        several = {"anyOf": [schema, {"type": "array", "items": schema}]}
        content = {JSON: {"schema": several if operation.takes_several else schema}}
        said["requestBody"] = {"required": bool(operation.body.model_json_schema().get("required")), "content": content}
    if not operation.is_open:
        said["security"] = [{"token": []}, {}]
    return said


def _responses(operation: HttpOperation) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": HTTPStatus(operation.status).phrase}
    if operation.answer is not None:
        answer["content"] = {JSON: {"schema": _reference(operation.answer)}}
    refused = {"description": "A problem", "content": {PROBLEM: {"schema": _reference(ProblemAnswer)}}}
    statuses = sorted({*operation.problems, *(() if operation.is_open else GUARDED)})
    return {str(operation.status): answer, **{str(status): refused for status in statuses}}


def _parameter(name: str, where: str, kind: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": where,
        "required": where == "path",
        "description": description,
        "schema": {"type": kind},
    }


def _reference(shape: type[HttpShape]) -> dict[str, Any]:
    return {"$ref": f"{REFERENCE}{shape.__name__}"}
