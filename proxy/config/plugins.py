"""Plugins by name: the entries under `plugins:` in a file, with their options.

A name of ours stays ours: a package's plugin of the same name is told with a warning, and not used. A name that two
packages have is refused. A class is imported only when a file names it (`plugin_classes.py`).

A plugin whose options name files may have `examine(options)`. It returns the problems with these files: at an option
(Finding), or in the file itself (Problem). A plugin whose options name clusters may have `clusters(options)`, which
gives their paths and names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoints, entry_points
from typing import Annotated, Any

from pydantic import BaseModel, PlainValidator, ValidationInfo, WithJsonSchema, create_model

from proxy.config.plugin_classes import BUGGY, BUILT_IN, GROUP, BrokenPluginError, known, packages, plugin_class
from proxy.core.failure import FAILURES, AnyFailure
from proxy.text.problems import Finding, Problem
from proxy.text.words import nearest, shown, wrong

ALWAYS_THERE = frozenset({"address", "api_versions"})
_RENAME = "give its entry point another name, or uninstall the package"


@dataclass(frozen=True, slots=True)
class PluginUse:
    """One entry under `plugins:`. `plugin(options, services)` is the running plugin."""

    name: str
    plugin: type[Any]  # a Plugin subclass; a file without plugins does not import that class
    options: BaseModel
    hides: tuple[str, ...] = field(default=(), compare=False)  # packages whose plugin of our name is not used

    def examined(self) -> Iterator[Finding | Problem]:
        """The problems with the files that the options name. Their paths start at the options."""
        examine = getattr(self.plugin, "examine", None)
        try:
            yield from () if examine is None else examine(self.options)
        except FAILURES as error:  # a package of somebody else's may raise anything
            yield self._failed(error)

    def unknown_clusters(self, known: Iterable[str]) -> Iterator[Finding]:
        """The clusters that the options name and that are not known. Their paths start at the options."""
        named = getattr(self.plugin, "clusters", None)
        try:
            for path, cluster in () if named is None else named(self.options):
                if cluster not in known:
                    yield Finding(path, f'unknown cluster "{cluster}"; {nearest(cluster, known)}')
        except FAILURES as error:
            yield self._failed(error)

    def hidden(self) -> Iterator[Finding]:
        """A warning for each package that has a plugin with the name of this one, which is ours."""
        for package in self.hides:
            fact = f'"{self.name}" is the plugin of Doorkeeper; that of the package "{package}" is not used'
            yield Finding((), f"{fact}; {_RENAME}", warning=True)

    def _failed(self, error: AnyFailure) -> Finding:
        return Finding((), f"{_failure(self.name, error)}; {BUGGY}")

    @staticmethod
    def declaration(name: str) -> type[BaseModel]:
        """The options that may stand under a plugin's name in the file."""
        return plugin_class(name).Options


def _failure(name: str, error: AnyFailure) -> str:
    return f'plugin "{name}" failed with {type(error).__name__}: {error}'


def unique_names(uses: Iterable[PluginUse]) -> list[str]:
    """The name of each plugin while it runs. A second `acl` is `acl-2`."""
    names: dict[str, None] = {}
    for use in uses:
        name, number = use.name, 1
        while name in names:
            number += 1
            name = f"{use.name}-{number}"
        names[name] = None
    return list(names)


def _installed(info: ValidationInfo) -> EntryPoints:
    """The plugins of installed packages. They are kept with the reading of one file: the next one looks anew."""
    kept: dict[str, EntryPoints] = {} if info.context is None else info.context
    if GROUP not in kept:
        kept[GROUP] = entry_points(group=GROUP)
    return kept[GROUP]


def _entry(value: object, info: ValidationInfo) -> PluginUse:
    """Read `{name: options}`, `{name: null}` or a bare `name`."""
    entry = {value: None} if isinstance(value, str) else value
    if not isinstance(entry, dict) or len(entry) != 1:
        raise wrong(f"{shown(value)} is not one plugin", 'write "- name: {options}", one plugin to each "-"')
    name, given = next(iter(entry.items()))
    installed = _installed(info)
    owners = packages(str(name), installed)
    if name in ALWAYS_THERE:
        if owners:
            fact = f'"{name}" is always there, as the plugin of Doorkeeper; that of "{owners[0]}" cannot be used'
            raise wrong(fact, _RENAME)
        raise wrong(f'"{name}" is always there', "leave it out")
    if len(owners) > 1 and name not in BUILT_IN:
        both = " and ".join(f'"{package}"' for package in owners)
        raise wrong(f'the packages {both} each have a plugin "{name}"', "uninstall all but one of them")
    try:
        plugin = plugin_class(name, installed)
    except KeyError:
        raise _unknown_plugin(name, installed) from None
    except BrokenPluginError as error:
        raise wrong(f'plugin "{name}" cannot be loaded: {error}', error.way_out) from None
    except TypeError as error:
        raise wrong(f'"{name}" is no plugin: {error}', "install a version that is one, or leave it out") from None
    # Validated under its name, so that a problem's path leads through the file: plugins, 0, acl, rules.
    fields: dict[str, Any] = {name: (plugin.Options, ...)}
    model, options = create_model(name, **fields), {name: {} if given is None else given}
    try:
        under_name = model.model_validate(options, context=info.context)
    except ValueError:  # its problems
        raise
    except FAILURES as error:  # a validator of somebody else's may raise anything
        raise wrong(_failure(name, error), BUGGY) from None
    return PluginUse(name, plugin, getattr(under_name, name), tuple(owners) if name in BUILT_IN else ())


def _unknown_plugin(name: str, installed: EntryPoints) -> Exception:
    return wrong(f'unknown plugin "{name}"', nearest(name, known(installed)) or "none is installed; leave it out")


# `schema` puts the schema of an entry together, since the plugins decide what it is.
PluginEntry = Annotated[PluginUse, PlainValidator(_entry), WithJsonSchema({"type": "object"})]
