"""The JSON Schema of the configuration, from the same declarations. Editors complete and check a file by it.

It is shipped as `proxy/gateway.schema.json`. `doorkeeper schema > proxy/gateway.schema.json` renews it, and a test
fails when it is stale. Any value may come from the environment, so wherever a number may stand, "${NAME}" may too.
"""

import json
from pathlib import Path
from typing import Any

from proxy.config.model import Config
from proxy.config.plugin_classes import BUILT_IN, plugin_class
from proxy.text.quantities import FROM_ENVIRONMENT

SHIPPED = Path(__file__).parent.parent / "gateway.schema.json"


def schema() -> dict[str, Any]:
    """The schema as plain Python values."""
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema()}
    if BUILT_IN:
        entries = {name: _entry(name, whole["$defs"]) for name in sorted(BUILT_IN)}
        bare = [name for name, entry in entries.items() if "null" in entry["properties"][name]["type"]]
        whole["properties"]["plugins"]["items"] = {"anyOf": [*entries.values(), {"enum": bare}]}
    for name in ("plugins", "limits"):  # these sections may be left empty: "plugins:" and nothing after it
        option = whole["properties"][name]
        about = {key: option.pop(key) for key in ("description", "default")}
        whole["properties"][name] = {**about, "anyOf": [option, {"type": "null"}]}
    result: dict[str, Any] = _with_environment(whole)
    return result


def _entry(name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    options = plugin_class(name).Options.model_json_schema()
    definitions |= options.pop("$defs", {})
    if not options.get("required"):
        options["type"] = ["object", "null"]  # "- faults:" and nothing after it
    return {"type": "object", "properties": {name: options}, "required": [name], "additionalProperties": False}


def text() -> str:
    """The schema as it is shipped and printed."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _with_environment(part: Any) -> Any:
    if isinstance(part, list):
        return [_with_environment(item) for item in part]
    if not isinstance(part, dict):
        return part
    result = {key: _with_environment(value) for key, value in part.items() if key not in ("title", "examples")}
    if result.get("type") in ("integer", "number", "boolean"):
        number = {key: result.pop(key) for key in ("type", "minimum", "maximum") if key in result}
        result["anyOf"] = [number, {"type": "string", "pattern": FROM_ENVIRONMENT}]
    default = result.get("default")
    if isinstance(default, dict):
        del result["default"]
    elif isinstance(default, int | float) and not isinstance(default, bool):
        result["default"] = part["examples"][0]  # in the file's notation: "10s", not 10.0
    return result
