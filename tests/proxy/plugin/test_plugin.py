"""The module that plugins import."""

from __future__ import annotations

import ast
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pytest

import proxy.plugin as surface
import proxy.plugin.fetching
import proxy.plugin.files
import proxy.plugin.frames
import proxy.plugin.sasl
import proxy.plugin.schema
from proxy.core import decisions, decorators, plugin, services, topic_writer, wish
from proxy.protocol import api, messages


def test_every_message_and_every_api_is_there() -> None:
    for name in messages.__all__:
        assert getattr(surface, name) is getattr(messages, name)
    for name, value in vars(api).items():
        if isinstance(value, api.Api):
            assert getattr(surface, name) is value


EVER = (Path(__file__).parent / "names.txt").read_text(encoding="utf-8").split()
FORMER = {"Counting": surface.CounterFactory, "holders": surface.structs_with}
NOT_MEANT = {"TYPE_CHECKING", "annotations"}


def is_generated(name: str, value: object) -> bool:
    return name in messages.__all__ or isinstance(value, api.Api)


def test_every_name_that_plugins_could_ever_import_is_still_there() -> None:
    assert [name for name in EVER if name not in FORMER and not hasattr(surface, name)] == []
    for name, value in FORMER.items():
        with pytest.warns(DeprecationWarning, match=f"^proxy.plugin.{name} is called {value.__name__} now$"):
            assert getattr(surface, name) is value


def test_a_name_that_plugins_can_import_is_in_the_list_of_those_that_stay() -> None:
    public = {name: value for name, value in vars(surface).items() if not name.startswith(("_", "@"))}
    modules = {name for name, value in public.items() if isinstance(value, ModuleType)}
    generated = {name for name, value in public.items() if is_generated(name, value)}
    assert sorted(public.keys() - modules - generated - {*EVER, *NOT_MEANT}) == []


def test_the_arguments_of_a_connection_that_have_a_place_keep_it() -> None:
    tls = surface.Tls("TLSv1.3", "TLS_AES_256_GCM_SHA384")
    client = surface.Connection(
        ("10.0.0.1", 40000), "clients", "main", surface.Topology("proxy.test"), 1, tls, "User:alice"
    )
    assert (client.broker_id, client.tls, client.principal) == (1, tls, "User:alice")


OURS = {"Carrying", "check_counter", "check_repeated"}  # what those who make plugins use


@pytest.mark.parametrize(
    "module", [decisions, decorators, plugin, services, topic_writer, wish], ids=lambda module: module.__name__
)
def test_every_decision_step_mark_and_service_is_there(module: ModuleType) -> None:
    own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
    meant = {name for name, value in own.items() if not name.startswith("_") and not isinstance(value, TypeVar)}
    assert len(meant) > 1
    assert sorted(name for name in meant - OURS if not hasattr(surface, name)) == []


DEEPER = [proxy.plugin.fetching, proxy.plugin.files, proxy.plugin.frames, proxy.plugin.sasl, proxy.plugin.schema]


@pytest.mark.parametrize("module", DEEPER, ids=lambda module: module.__name__)
def test_what_lies_deeper_is_what_our_own_plugins_need_of_it(module: ModuleType) -> None:
    plugins = (Path(__file__).parents[3] / "plugins").rglob("*.py")
    nodes = (node for path in plugins for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == module.__name__)
    used = {alias.name for node in imports for alias in node.names}
    # pytest adds names with an "@", for assertions, to all modules of a package that has a plugin for it.
    assert {name for name in vars(module) if not name.startswith(("__", "@"))} == used


def test_a_function_of_the_surface_has_no_name_that_means_something_else_in_a_plugin() -> None:
    functions = {name for name, value in vars(surface).items() if isfunction(value)}
    assert "refuse" in functions
    assert functions & vars(surface.Plugin).keys() == set()
