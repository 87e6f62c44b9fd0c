"""Plugins by name."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path

import pytest
from pydantic import BaseModel, field_validator

from proxy.config import plugins
from proxy.config.load import examine_text
from proxy.core.plugin import Plugin
from proxy.text.places import Place
from proxy.text.problems import Finding, Problem

FILE = """\
clusters: {main: {bootstrap: [kafka:9092]}}
listeners: {clients: {cluster: main, bind: h:9192}}
plugins:
"""


class Delay(Plugin):
    """A plugin for these tests."""

    class Options(Plugin.Options):
        seconds: int = 1

        @field_validator("seconds")
        @classmethod
        def _without_bugs(cls, seconds: int) -> int:
            if seconds == 0:
                raise KeyError("no such delay")
            return seconds

    @staticmethod
    def clusters(options: BaseModel) -> Iterator[tuple[tuple[str, ...], str]]:
        """As if the options named one."""
        if options.model_dump()["seconds"] == 4:
            raise RuntimeError("no cluster has four")
        yield ("seconds",), "main"

    @staticmethod
    def examine(options: BaseModel) -> Iterator[Finding | Problem]:
        """As if the delays came from a file."""
        seconds = options.model_dump()["seconds"]
        if seconds < 0:
            raise RuntimeError("less than none")
        if seconds > 5:
            yield Problem("delays", Place(2, 1), "too long", warning=seconds < 10)
            yield Finding(("seconds",), "is long", warning=seconds < 10)


class Plain(Plugin):
    """One without options."""


@pytest.fixture(autouse=True)
def delay_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plugins.BUILT_IN, "delay", f"{__name__}:Delay")
    monkeypatch.setitem(plugins.BUILT_IN, "plain", f"{__name__}:Plain")
    monkeypatch.setitem(plugins.BUILT_IN, "text", "json:dumps")
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])


def problems(lines: str) -> list[str]:
    return [str(problem) for problem in examine_text(FILE + lines, "g", {})[1]]


@pytest.mark.parametrize(
    ("entry", "expected"), [("delay", 1), ("delay:", 1), ("delay: {}", 1), ("delay: {seconds: 5}", 5)]
)
def test_a_plugin_stands_by_its_name_with_its_options(entry: str, expected: int) -> None:
    config, found = examine_text(f"{FILE}  - {entry}\n", "g", {})
    assert not found
    assert config is not None
    (use,) = config.plugins
    assert use.name == "delay"
    assert use.plugin.__name__ == "Delay"
    assert use.options.model_dump() == {"seconds": expected}


@pytest.mark.parametrize("entry", ["plain", "plain: {}"])
def test_a_plugin_without_options_has_none(entry: str) -> None:
    config, found = examine_text(f"{FILE}  - {entry}\n", "g", {})
    assert not found
    assert config is not None
    assert config.plugins[0].options == Plain.Options()
    assert problems("  - plain: {seconds: 1}\n") == ['g:4:13: unknown option "seconds"; there are none here']


def test_each_plugin_has_a_name_of_its_own() -> None:
    config, _ = examine_text(f"{FILE}  - delay\n  - plain\n  - delay\n  - delay\n", "g", {})
    assert config is not None
    assert plugins.unique_names(config.plugins) == ["delay", "plain", "delay-2", "delay-3"]


def test_what_is_no_plugin_is_said_to_be_none() -> None:
    fact = '"text" is no plugin: json:dumps is no subclass of proxy.plugin.Plugin'
    assert problems("  - text\n") == [f"g:4:5: {fact}; install a version that is one, or leave it out"]


def test_a_wrong_option_is_found_at_its_place() -> None:
    assert problems("  - delay: {seconds: soon, sconds: 3}\n") == [
        'g:4:22: "seconds" is "soon", not a whole number; write e.g. "seconds: 1"',
        'g:4:28: unknown option "sconds"; did you mean "seconds"?',
    ]


def test_what_a_plugin_finds_in_its_files_is_told_after_all_else() -> None:
    first, second, third = problems("  - delay: {seconds: 9}\nadmin: {bind: h:9193}\n")
    assert first == "g:4:22: warning: is long"
    assert second.startswith("g:5:15: warning: ")
    assert third == "delays:2:1: warning: too long"


@pytest.mark.parametrize(("seconds", "fine"), [(9, True), (10, False)])
def test_a_problem_of_a_plugins_file_is_one_of_the_configuration(seconds: int, fine: bool) -> None:
    config, found = examine_text(f"{FILE}  - delay: {{seconds: {seconds}}}\n", "g", {})
    assert (config is not None) == fine
    assert len(found) == 2


def test_a_plugin_whose_check_has_a_bug_is_named_and_so_are_all_other_problems() -> None:
    assert problems("  - delay: {seconds: -1}\n  - delay: {seconds: 10}\n") == [
        'g:4:12: plugin "delay" failed with RuntimeError: less than none; leave the plugin out, or mend it',
        "g:5:22: is long",
        "delays:2:1: too long",
    ]


def test_a_plugin_that_cannot_say_which_clusters_it_uses_is_named() -> None:
    assert problems("  - delay: {seconds: 4}\n") == [
        'g:4:12: plugin "delay" failed with RuntimeError: no cluster has four; leave the plugin out, or mend it'
    ]


def test_a_plugin_whose_options_have_a_bug_is_named() -> None:
    assert problems("  - delay: {seconds: 0}\n") == [
        "g:4:5: plugin \"delay\" failed with KeyError: 'no such delay'; leave the plugin out, or mend it"
    ]


def test_a_misspelt_plugin_is_told_the_nearest() -> None:
    assert problems("  - dealy: {}\n") == ['g:4:5: unknown plugin "dealy"; did you mean "delay"?']


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The module of a plugin called `failing`, which is not written yet."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(plugins.BUILT_IN, "failing", "failing:Failing")
    yield tmp_path / "failing.py"
    sys.modules.pop("failing", None)


def cannot_be_loaded(why: str) -> list[str]:
    return [f'g:4:5: plugin "failing" cannot be loaded: {why}']


def test_a_plugin_that_lacks_a_module_is_to_get_it(failing: Path) -> None:
    failing.write_text("import never_written")
    assert problems("  - failing\n") == cannot_be_loaded("No module named 'never_written'; install what it needs")


def test_a_plugin_that_lacks_a_name_of_a_module_is_to_get_another_version_of_it(failing: Path) -> None:
    failing.write_text("from json import never_written")
    (line,) = problems("  - failing\n")
    assert "cannot import name 'never_written' from 'json'" in line
    assert line.endswith("; install the versions that it needs, or leave it out")


@pytest.mark.parametrize("text", [None, "class Other: pass"])
def test_an_entry_point_that_leads_nowhere_is_to_be_corrected(failing: Path, text: str | None) -> None:
    if text is not None:
        failing.write_text(text)
    fact = "No module named 'failing'" if text is None else '"failing" has no "Failing"'
    assert problems("  - failing\n") == cannot_be_loaded(f'{fact}; correct its entry point "failing:Failing"')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('it is broken')", "RuntimeError: it is broken"),
        ("raise KeyError('x')", "KeyError: 'x'"),
        ("import sys\nsys.exit('no licence')", "SystemExit: no licence"),
        ("misspelt", "NameError: name 'misspelt' is not defined"),
        ("import json\njson.misspelt", "AttributeError: module 'json' has no attribute 'misspelt'"),
    ],
)
def test_a_plugin_whose_import_fails_by_its_own_mistake_says_where_and_is_to_be_mended(
    failing: Path, text: str, said: str
) -> None:
    failing.write_text(text)
    where = f"{failing}:{len(text.splitlines())}"
    assert problems("  - failing\n") == cannot_be_loaded(f"{said} ({where}); leave the plugin out, or mend it")


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (
            "@on_request(MetadataRequest)\n    def asked(self, ctx): ...",
            "TypeError: Failing.asked takes (self, ctx), and is called with (ctx, request); "
            "write asked(self, ctx, request) (FILE:3); leave the plugin out, or mend it",
        ),
        (
            "@on_request(MetadataRequest, fields='topic')\n    def asked(self, ctx, request): ...",
            "TypeError: @on_request: MetadataRequest has no field 'topic'; did you mean 'topics'? (FILE:4); "
            "leave the plugin out, or mend it",
        ),
        (
            "def __init__(self, options): ...",
            "Failing.__init__ takes (self, options), and is called with (options, services); "
            "write __init__(self, options, services); leave the plugin out, or mend it",
        ),
    ],
)
def test_a_mistake_in_a_declaration_is_told_with_its_line_in_the_plugin(failing: Path, method: str, said: str) -> None:
    names = "MetadataRequest, Plugin, on_request"
    failing.write_text(f"from proxy.plugin import {names}\n\nclass Failing(Plugin):\n    {method}\n")
    assert problems("  - failing\n") == cannot_be_loaded(said.replace("FILE", str(failing)))


def test_a_plugin_that_is_no_python_says_where_and_is_to_be_mended(failing: Path) -> None:
    failing.write_text("class Failing(\n")
    why = "SyntaxError: '(' was never closed (failing.py, line 1); leave the plugin out, or mend it"
    assert problems("  - failing\n") == cannot_be_loaded(why)


def package(folder: Path, name: str, plugin: str, place: str) -> None:
    """Install a package that has a plugin into a folder of modules."""
    about = folder / f"{name}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[doorkeeper.plugins]\n{plugin} = {place}\n")


RENAME = "give its entry point another name, or uninstall the package"


def test_a_package_whose_plugin_has_a_name_of_ours_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package(tmp_path, "other-delay", "delay", "json:dumps")
    fact = '"delay" is the plugin of Doorkeeper; that of the package "other-delay" is not used'
    assert problems("  - delay: {seconds: 2}\n") == [f"g:4:12: warning: {fact}; {RENAME}"]
    config, _ = examine_text(f"{FILE}  - delay\n", "g", {})
    assert config is not None
    assert config.plugins[0].plugin.__name__ == "Delay"


def test_a_package_whose_plugin_has_the_name_of_one_that_is_always_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert problems("  - address\n") == ['g:4:5: "address" is always there; leave it out']
    monkeypatch.syspath_prepend(tmp_path)
    package(tmp_path, "other-address", "address", "json:dumps")
    fact = '"address" is always there, as the plugin of Doorkeeper; that of "other-address" cannot be used'
    assert problems("  - address\n") == [f"g:4:5: {fact}; {RENAME}"]


def test_a_name_that_two_packages_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("one", "another"):
        package(tmp_path, name, "twice", f"{__name__}:Delay")
    fact = 'the packages "another" and "one" each have a plugin "twice"'
    assert problems("  - twice\n") == [f"g:4:5: {fact}; uninstall all but one of them"]


def test_the_installed_packages_are_looked_through_once_for_a_file_and_anew_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def counted(**said: str) -> EntryPoints:
        looks.append(said)
        return entry_points(**said)

    monkeypatch.setattr(plugins, "entry_points", counted)
    monkeypatch.syspath_prepend(tmp_path)
    lines = "  - delay\n  - plain\n  - later\n"
    assert problems(lines)[0].startswith('g:6:5: unknown plugin "later"; ')
    assert len(looks) == 2  # the sound sections of a file with a problem are read once more
    package(tmp_path, "brings-later", "later", f"{__name__}:Delay")
    assert problems(lines) == []
    assert len(looks) == 3


def test_every_built_in_plugin_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for name in plugins.BUILT_IN:
        assert issubclass(plugins.plugin_class(name).Options, BaseModel)
