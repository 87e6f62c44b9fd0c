"""Sound sections: what the checks across options look at where some values of a file are wrong.

Rules:
* A section with a wrong value is left out whole, so that no check sees a part of it: a cluster, a listener, a plugin,
  or another option at the top of the file.
* A cluster that is left out is known by its name: a listener in front of it has no wrong name. Where the clusters as a
  whole are wrong, their names are not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ValidationError

from proxy.config.model import ClusterOptions, Config, ListenerOptions, Named, UniqueNames
from proxy.text.places import KeyPath

MANY = ("clusters", "listeners", "plugins")  # these have a section under each name or number


class _SoundConfig(Config):
    """A configuration that may have neither clusters nor listeners."""

    clusters: Annotated[Mapping[str, ClusterOptions], *UniqueNames] = Named({})
    listeners: Annotated[Mapping[str, ListenerOptions], *UniqueNames] = Named({})


@dataclass(frozen=True)
class SoundSections:
    """The sound sections of a file, as a configuration; and what is known of the file besides.

    `clusters`: the names of all its clusters; None: not known. `plugins`: the number in the file of each plugin here.
    """

    config: Config
    clusters: Collection[str] | None
    plugins: tuple[int, ...]

    def written(self, path: KeyPath) -> KeyPath:
        """The path in the file of what has this path here."""
        match path:
            case ("plugins", int(number), *rest):
                return ("plugins", self.plugins[number], *rest)
        return path

    @classmethod
    def of(cls, config: Config) -> SoundSections:
        """All sections, where none has a wrong value."""
        return cls(config, config.clusters, tuple(range(len(config.plugins))))


def unchecked(wrong: Iterable[KeyPath]) -> set[KeyPath]:
    """The sections that the checks across options would look at, and did not, since these values are wrong."""
    return {path for path in _sections(wrong) if path[:1] and path[0] in (*MANY, "admin")}


def _sections(paths: Iterable[KeyPath]) -> set[KeyPath]:
    return {path[:2] if path[:1] and path[0] in MANY else path[:1] for path in paths}


def sound_sections(
    values: Mapping[str, Any], wrong: Iterable[KeyPath], context: Mapping[str, Any]
) -> SoundSections | None:
    """The sections of a file with these values that have no wrong one. None: they cannot be told apart."""
    left_out = _sections(wrong)
    kept: dict[str, Any] = {name: value for name, value in values.items() if (name,) not in left_out}
    clusters, plugins = kept.get("clusters"), kept.get("plugins") or []
    for name in {"clusters", "listeners"} & kept.keys():
        kept[name] = {key: section for key, section in kept[name].items() if (name, key) not in left_out}
    numbers = tuple(number for number in range(len(plugins)) if ("plugins", number) not in left_out)
    kept["plugins"] = [plugins[number] for number in numbers]
    try:
        config = _SoundConfig.model_validate(kept, context=context)
    except ValidationError:  # a plugin's validator may look at a file that changes between two looks
        return None
    return SoundSections(config, clusters, numbers)
