"""Plugin classes: the class behind the name of a plugin.

A plugin is a subclass of `proxy.plugin.Plugin`, and may have `Options` of its own. The plugins that come with the proxy
are in `BUILT_IN`. An installed package adds its own by an entry point in the group `doorkeeper.plugins`:

    [project.entry-points."doorkeeper.plugins"]
    shadow = "my_package.shadow:Shadow"
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import EntryPoints, entry_points
from typing import TYPE_CHECKING

from proxy.core.failure import FAILURES, raised_outside
from proxy.core.signatures import MADE, check_method

if TYPE_CHECKING:
    from proxy.core.plugin import Plugin

GROUP = "doorkeeper.plugins"
BUGGY = "leave the plugin out, or mend it"
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


def known(installed: EntryPoints) -> Mapping[str, str]:
    """Every plugin that a file can name, and the place of its class (`module:Class`)."""
    return {point.name: point.value for point in installed} | BUILT_IN


def packages(name: str, installed: EntryPoints) -> list[str]:
    """The installed packages that have a plugin of this name."""
    return sorted("?" if point.dist is None else point.dist.name for point in installed.select(name=name))


def plugin_class(name: str, installed: EntryPoints | None = None) -> type[Plugin]:
    """The class behind a name. `installed`: the plugins of packages, if they were looked up already.

    Raises KeyError for an unknown name, BrokenPluginError for a broken one, TypeError for no Plugin.
    """
    place = BUILT_IN.get(name) or known(entry_points(group=GROUP) if installed is None else installed)[name]
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
        raise BrokenPluginError(f"{type(error).__name__}: {error}", BUGGY) from error
    except FAILURES as error:  # a package of somebody else's may raise anything while it is imported
        raise BrokenPluginError(f"{type(error).__name__}: {error} ({raised_outside(error)})", BUGGY) from error
    found: object = getattr(imported, attribute, None)
    if found is None:
        raise BrokenPluginError(f'"{module}" has no "{attribute}"', f'correct its entry point "{place}"')
    from proxy.core.plugin import Plugin  # the import takes 0.1 s, which a file without plugins does not need

    if not (isinstance(found, type) and issubclass(found, Plugin)):
        raise TypeError(f"{place} is no subclass of proxy.plugin.Plugin")
    try:
        check_method(found, "__init__", found.__init__, MADE)
    except TypeError as error:
        raise BrokenPluginError(str(error), BUGGY) from None
    return found
