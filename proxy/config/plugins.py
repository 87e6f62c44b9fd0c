"""Plugins by name: the entries under `plugins:` in a file, and the class of each.

A plugin is a subclass of `proxy.plugin.Plugin`, and may have `Options` of its own. The plugins that come with the proxy
are in `BUILT_IN`. An installed package adds its own by an entry point in the group `doorkeeper.plugins`:

    [project.entry-points."doorkeeper.plugins"]
    shadow = "my_package.shadow:Shadow"

A name of ours stays ours: a package's plugin of the same name is told with a warning, and not used. A name that two
packages have is refused. A class is imported only when a file names it.

A plugin whose options name files may have `examine(options)`. It returns the problems with these files: at an option
(Finding), or in the file itself (Problem). A plugin whose options name clusters may have `clusters(options)`, which
gives their paths and names.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoints, entry_points
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, PlainValidator, ValidationInfo, WithJsonSchema, create_model

from proxy.core.failure import FAILURES, PluginFailure, raised_outside
from proxy.core.signatures import MADE, check_method
from proxy.text.problems import Finding, Problem
from proxy.text.words import nearest, shown, wrong

if TYPE_CHECKING:
    from proxy.core.plugin import Plugin

GROUP = "doorkeeper.plugins"
_BUGGY = "leave the plugin out, or mend it"
_RENAME = "give its entry point another name, or uninstall the package"
ALWAYS_THERE = frozenset({"address", "api_versions"})
BUILT_IN: dict[str, str] = {
    "acl": "plugins.acl:Acl",
    "audit": "plugins.audit:Audit",
    "faults": "plugins.faults:Faults",
}


class BrokenPluginError(ImportError):
    """A plugin whose class cannot be had. `way_out` says what helps against that."""

    def __init__(self, fact: str, way_out: str) -> None:
        super().__init__(fact)
        self.way_out = way_out


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

    def _failed(self, error: PluginFailure) -> Finding:
        return Finding((), f"{_failure(self.name, error)}; {_BUGGY}")

    @staticmethod
    def declaration(name: str) -> type[BaseModel]:
        """The options that may stand under a plugin's name in the file."""
        return plugin_class(name).Options


def _failure(name: str, error: PluginFailure) -> str:
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


def _known(installed: EntryPoints) -> Mapping[str, str]:
    """Every plugin that a file can name, and the place of its class (`module:Class`)."""
    return {point.name: point.value for point in installed} | BUILT_IN


def _packages(name: str, installed: EntryPoints) -> list[str]:
    """The installed packages that have a plugin of this name."""
    return sorted("?" if point.dist is None else point.dist.name for point in installed.select(name=name))


def plugin_class(name: str, installed: EntryPoints | None = None) -> type[Plugin]:
    """The class behind a name. `installed`: the plugins of packages, if they were looked up already.

    Raises KeyError for an unknown name, BrokenPluginError for a broken one, TypeError for no Plugin.
    """
    place = BUILT_IN.get(name) or _known(entry_points(group=GROUP) if installed is None else installed)[name]
    module, _, attribute = place.partition(":")
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        is_its_own = error.name is not None and f"{module}.".startswith(f"{error.name}.")
        way_out = f'correct its entry point "{place}"' if is_its_own else "install what it needs"
        raise BrokenPluginError(str(error), way_out) from error
    except ImportError as error:  # a module is there and lacks a name, or a library of the system
        raise BrokenPluginError(str(error), "install the versions that it needs, or leave it out") from error
    except SyntaxError as error:  # its text has the line
        raise BrokenPluginError(f"{type(error).__name__}: {error}", _BUGGY) from error
    except FAILURES as error:  # a package of somebody else's may raise anything while it is imported
        raise BrokenPluginError(f"{type(error).__name__}: {error} ({raised_outside(error)})", _BUGGY) from error
    found: object = getattr(imported, attribute, None)
    if found is None:
        raise BrokenPluginError(f'"{module}" has no "{attribute}"', f'correct its entry point "{place}"')
    from proxy.core.plugin import Plugin  # the import takes 0.1 s, which a file without plugins does not need

    if not (isinstance(found, type) and issubclass(found, Plugin)):
        raise TypeError(f"{place} is no subclass of proxy.plugin.Plugin")
    try:
        check_method(found, "__init__", found.__init__, MADE)
    except TypeError as error:
        raise BrokenPluginError(str(error), _BUGGY) from None
    return found


def _entry(value: object, info: ValidationInfo) -> PluginUse:
    """Read `{name: options}`, `{name: null}` or a bare `name`."""
    entry = {value: None} if isinstance(value, str) else value
    if not isinstance(entry, dict) or len(entry) != 1:
        raise wrong(f"{shown(value)} is not one plugin", 'write "- name: {options}", one plugin to each "-"')
    name, given = next(iter(entry.items()))
    installed = _installed(info)
    packages = _packages(str(name), installed)
    if name in ALWAYS_THERE:
        if packages:
            fact = f'"{name}" is always there, as the plugin of Doorkeeper; that of "{packages[0]}" cannot be used'
            raise wrong(fact, _RENAME)
        raise wrong(f'"{name}" is always there', "leave it out")
    if len(packages) > 1 and name not in BUILT_IN:
        both = " and ".join(f'"{package}"' for package in packages)
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
        raise wrong(_failure(name, error), _BUGGY) from None
    return PluginUse(name, plugin, getattr(under_name, name), tuple(packages) if name in BUILT_IN else ())


def _unknown_plugin(name: str, installed: EntryPoints) -> Exception:
    return wrong(f'unknown plugin "{name}"', nearest(name, _known(installed)) or "none is installed; leave it out")


# `schema` puts the schema of an entry together, since the plugins decide what it is.
PluginEntry = Annotated[PluginUse, PlainValidator(_entry), WithJsonSchema({"type": "object"})]
