"""The reference of options: it has all options, with their declarations' texts."""

from types import NoneType
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel, TypeAdapter

from proxy.config.model import Config
from proxy.config.plugin_classes import BUILT_IN, plugin_class
from proxy.config.reference import PAGE, Option, options, renewed, table

OPTIONS = {option.path: option for option in options()}


def declared(section: type[BaseModel] = Config, prefix: str = "") -> dict[str, Any]:
    """Every option by its path in the file, and its declaration."""
    found: dict[str, Any] = {}
    for name, option in section.model_fields.items():
        found[prefix + name] = option
        for kind, named in sections(option.annotation):
            found |= declared(kind, f"{prefix}{name}.{'NAME.' if named else ''}")
        if section is Config and name == "plugins":
            for plugin in BUILT_IN:
                found |= declared(plugin_class(plugin).Options, f"plugins.{plugin}.")
    return found


def sections(annotation: Any) -> list[tuple[type[BaseModel], bool]]:
    """The sections that an annotation allows, and whether they stand under names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [(annotation, False)]
    arguments = [argument for argument in get_args(annotation) if argument is not NoneType]
    return [(kind, named or str in arguments) for argument in arguments for kind, named in sections(argument)]


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run: python -m proxy.config.reference"


def test_it_has_every_option_that_is_declared_in_its_order() -> None:
    assert [option.path for option in options()] == list(declared())


@pytest.mark.parametrize("path", declared())
def test_it_says_what_the_declaration_says(path: str) -> None:
    declaration, option = declared()[path], OPTIONS[path]
    assert option.meaning == declaration.description
    assert (option.default == "required") == declaration.is_required()


@pytest.mark.parametrize("path", [path for path, option in OPTIONS.items() if option.default.startswith("`")])
def test_a_default_that_is_written_into_a_file_changes_nothing(path: str) -> None:
    declaration = declared()[path]
    kind: TypeAdapter[Any] = TypeAdapter(declaration.rebuild_annotation())
    assert kind.validate_python(yaml.safe_load(OPTIONS[path].default.strip("`"))) == declaration.default


def test_what_stands_above_the_table_is_left_alone() -> None:
    assert renewed("# By hand\n\n" + table().replace("clusters", "houses")) == "# By hand\n\n" + table()


def test_a_page_without_a_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no table of options"):
        renewed("# By hand\n")


def test_a_bar_in_a_meaning_ends_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.config.reference.options", lambda: [Option("path", "`1`", "this|that")])
    assert table().endswith("| `path` | `1` | this\\|that |\n")
