"""Changes: the differences between two configurations, and which of them cannot be applied while the proxy runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from proxy.config.model import Config
from proxy.config.plugins import unique_names
from proxy.config.values import HostPort
from proxy.text.problems import Finding

FIXED = ("workers", "admin")  # the supervisor is built from these


def fixed(running: Config, config: Config) -> Iterator[Finding]:
    """The differences that cannot be applied while the proxy runs."""
    for name in FIXED:
        before, after = getattr(running, name), getattr(config, name)
        if before != after:
            yield Finding((name,), f"{name} cannot change while the proxy runs; {_way_out(name, before)}")


def _way_out(name: str, before: Any) -> str:
    if before is None:
        return "leave it out, or restart the proxy"
    again = f": {before}" if name == "workers" else "" if before.token else f": {{bind: {_quoted(before.bind)}}}"
    return f'write "{name}{again}" as before, or restart the proxy'


def _quoted(bind: HostPort) -> str:
    return f"'{bind}'" if ":" in bind.host else str(bind)  # "[" begins a list in YAML


def changes(before: Config, after: Config) -> list[str]:
    """The paths of what differs. They come without values, since some values are secret."""
    one, other = _plugins(before), _plugins(after)
    found = [*_in_section("", before, after), *_in_mapping("plugins.", one, other)]
    if [name for name in one if name in other] != [name for name in other if name in one]:
        found.append("the order of plugins")
    return found


def _plugins(config: Config) -> dict[str, Any]:
    names = unique_names(config.plugins)
    return {name: use.options for name, use in zip(names, config.plugins, strict=True)}


def _in_section(path: str, before: BaseModel, after: BaseModel) -> Iterator[str]:
    for name in type(before).model_fields:
        one, other = getattr(before, name), getattr(after, name)
        if name != "plugins" or path:
            yield from _in_value(path + name, one, other)


def _in_mapping(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys((*before, *after)):
        if name not in before:
            yield f"{path}{name} added"
        elif name not in after:
            yield f"{path}{name} removed"
        else:
            yield from _in_value(path + name, before[name], after[name])


def _in_value(path: str, before: Any, after: Any) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, BaseModel) and type(before) is type(after):
        yield from _in_section(f"{path}.", before, after)
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _in_mapping(f"{path}.", before, after)
    else:
        yield path
