"""From a file to a `Config`: read, validate, check, and report all problems at once.

The checks across options are also made where some values are wrong, as far as they do not depend on these.
"""

import os
from collections.abc import Callable, Iterable, Iterator

from proxy.config import checks
from proxy.config.model import Config
from proxy.config.sound import SoundSections, sound_sections
from proxy.text.environment import Variables
from proxy.text.file import Examined, Form
from proxy.text.places import KeyPath
from proxy.text.problems import Finding, Problem


def _check(examined: Examined[Config]) -> None:
    sound = _sound(examined)
    if sound is None:
        return
    examined.note(_written(sound, checks.findings(sound.config, sound.clusters)))
    for index, use in enumerate(sound.config.plugins):
        examined.note(_written(sound, _beneath(("plugins", index, use.name), use.examined())))


def _sound(examined: Examined[Config]) -> SoundSections | None:
    """The sections that can be checked; None: there are none."""
    if examined.value is not None and not examined.wrong:
        return SoundSections.of(examined.value)
    values = examined.reading.value
    if not examined.reading.is_whole or not isinstance(values, dict):
        return None
    return sound_sections(values, examined.wrong, examined.context)


def _written(sound: SoundSections, found: Iterable[Finding | Problem]) -> Iterator[Finding | Problem]:
    """What was found, with paths as they are in the file."""
    for one in found:
        yield one if isinstance(one, Problem) else one._replace(path=sound.written(one.path))


def _beneath(path: KeyPath, found: Iterable[Finding | Problem]) -> Iterator[Finding | Problem]:
    """What was found in a section of the file. Its paths are made to start at the top of the file."""
    for one in found:
        yield one if isinstance(one, Problem) else one._replace(path=(*path, *one.path))


START = 'begin with "clusters:" and "listeners:" (doorkeeper run --help shows a whole file)'
FORM = Form(Config, "configuration", START, largest=1 << 20, check=_check)
load = FORM.load


def _nothing(config: Config) -> Iterable[Finding]:
    return ()


def examine(
    file: str | os.PathLike[str],
    also: Callable[[Config], Iterable[Finding]] = _nothing,
    environment: Variables = os.environ,
) -> tuple[Config | None, list[Problem]]:
    """The configuration in a file, or None if it cannot be used, and all problems and warnings in the file's order.

    The problems of files that it names follow after its own. `also` is a further check, which may find more.
    """
    examined = FORM.read(file, environment)
    if examined.value is not None:
        examined.note(also(examined.value))
    return examined.result()


def examine_text(text: str, name: str, environment: Variables) -> tuple[Config | None, list[Problem]]:
    """As `examine`, for a text that is already in memory. `name` stands for the file in the problems."""
    return FORM.examine(text, name, environment).result()
