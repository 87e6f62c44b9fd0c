"""From a file to a `Config`: read, validate, check, and say everything that is wrong at once."""

import os
from pathlib import Path as FilePath

import yaml
from pydantic import ValidationError

from proxy.config import checks, syntax
from proxy.config.environment import Environment
from proxy.config.explain import explained
from proxy.config.model import Config
from proxy.config.places import Place, Reading, read
from proxy.config.problems import ConfigError, Problem

LARGEST = 1 << 20
START = 'begin with "clusters:" and "listeners:" (doorkeeper run --help shows a whole file)'


def load(file: str | os.PathLike[str], environment: Environment = os.environ) -> Config:
    """The configuration in a file. Raises ConfigError with every problem of the file; warnings pass."""
    config, found = examine(file, environment)
    if config is None:
        raise ConfigError(problem for problem in found if not problem.warning)
    return config


def examine(file: str | os.PathLike[str], environment: Environment = os.environ) -> tuple[Config | None, list[Problem]]:
    """The configuration in a file, unless it cannot be used, and all problems and warnings in the order of the file."""
    name = os.fspath(file)
    try:
        text = _text(name)
    except ConfigError as error:
        return None, list(error.problems)
    return examine_text(text, name, environment)


def examine_text(text: str, name: str, environment: Environment) -> tuple[Config | None, list[Problem]]:
    """As `examine`, for a text that is already there; `name` stands for the file in the problems."""
    try:
        reading = read(text, environment)
    except yaml.YAMLError as error:
        return None, [Problem(name, *syntax.described(error, text))]
    if reading.value is None and not reading.problems:
        return None, [Problem(name, Place(1, 1), f"the file is empty; {START}")]
    config = _validated(reading)
    found = [Problem(name, place, message) for place, message in reading.problems]
    if config is not None:
        findings = checks.findings(config)
        found += [Problem(name, reading.place(path), message, warning) for path, message, warning in findings]
    found.sort(key=lambda problem: problem.place or Place(0, 0))
    usable = all(problem.warning for problem in found)
    return config if usable else None, found


def _validated(reading: Reading) -> Config | None:
    if not isinstance(reading.value, dict):
        reading.note(Place(1, 1), f"the file is no mapping of options; {START}")
        return None
    try:
        return Config.model_validate(reading.value)
    except ValidationError as error:
        reading.problems += explained(error, Config, reading)
        return None


def _text(name: str) -> str:
    try:
        with open(name, "rb") as opened:
            content = opened.read(LARGEST + 1)
    except FileNotFoundError:
        raise _refused(name, None, "there is no such file; check the path") from None
    except IsADirectoryError:
        inside = sorted(found.name for pattern in ("*.yaml", "*.yml") for found in FilePath(name).glob(pattern))
        way_out = f'did you mean "{FilePath(name) / inside[0]}"?' if inside else "give the path of a YAML file"
        raise _refused(name, None, f"this is a folder; {way_out}") from None
    except OSError as error:
        raise _refused(name, None, f"cannot be read ({error.strerror}); check its permissions") from None
    if len(content) > LARGEST:
        raise _refused(name, None, "larger than 1 MiB; this is no configuration, check the path")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = syntax.place_after(content[: error.start].decode("utf-8-sig"))
        raise _refused(name, place, "not UTF-8 text; save the file as UTF-8") from None


def _refused(name: str, place: Place | None, message: str) -> ConfigError:
    return ConfigError([Problem(name, place, message)])
