"""The pages are true: their links lead somewhere, their examples work, and README.md stays short."""

import configparser
import re
import shlex
from itertools import takewhile
from pathlib import Path

import click
import pytest

from proxy.cli import COMMANDS, main
from proxy.config import examine_text
from proxy.config.limit_options import LimitOptions
from proxy.net.worker_process import GRACE

ROOT = Path(__file__).parent.parent
FOLDERS = ("proxy", "rules", "plugins", "chaos", "deploy", "tests")
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")))
}
README = PAGES["README.md"]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    .+$", re.MULTILINE)
INLINE = re.compile(r"`[^`\n]+`")
TYPED = re.compile(r"(?:^ *(?:\$ )?|`|\| )doorkeeper ([a-z][^`\n]*)", re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")


def blocks(language: str) -> list[tuple[str, str]]:
    return [(name, block) for name, page in PAGES.items() for kind, block in FENCED.findall(page) if kind == language]


def anchors(page: str) -> set[str]:
    """The anchors that links can name in a page: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_is_read_in_ten_minutes() -> None:
    assert len(README.splitlines()) <= 150


def test_the_two_commands_come_before_everything_else() -> None:
    first, second = re.findall(r"^    (python3 -m deploy \w+)", README, re.MULTILINE)[:2]
    assert (first, second) == ("python3 -m deploy demo", "python3 -m deploy test")


def test_the_readme_leads_to_every_page() -> None:
    assert {target for target, _ in LINK.findall(README)} >= PAGES.keys() - {"README.md"}


@pytest.mark.parametrize("name", PAGES)
def test_every_relative_link_leads_somewhere(name: str) -> None:
    for target, anchor in LINK.findall(FENCED.sub("", PAGES[name])):
        place = (ROOT / name).parent / target if target else ROOT / name
        assert place.exists(), f"{name}: there is no {target}"
        if anchor:
            assert anchor in anchors(place.read_text(encoding="utf-8")), f"{name}: {target} has no #{anchor}"


@pytest.mark.parametrize("name", PAGES)
def test_every_command_that_a_page_shows_exists(name: str) -> None:
    page = PAGES[name]
    code = [block for _, block in FENCED.findall(page)] + INDENTED.findall(page) + INLINE.findall(page)
    shown = {command for text in code for command in re.findall(r"\bdoorkeeper ([a-z]+)", text)}
    assert shown <= COMMANDS.keys()


@pytest.mark.parametrize("name", PAGES)
def test_every_command_that_a_page_shows_is_taken_as_it_is_typed(name: str) -> None:
    page = PAGES[name]
    code = [block for _, block in FENCED.findall(page)] + INDENTED.findall(page) + INLINE.findall(page)
    for typed in (typed for text in code for typed in TYPED.findall(text)):
        words = _words(typed)
        command: click.Command = main
        while words and isinstance(command, click.Group):
            found = command.get_command(click.Context(command), words.pop(0))
            assert found is not None, f"{name}: doorkeeper {typed}"
            command = found
        _, left, _ = command.make_parser(click.Context(command)).parse_args(words)
        assert not left, f"{name}: doorkeeper {typed}: {left} are no arguments"


def _words(typed: str) -> list[str]:
    """The words of a command as a shell has them, without where its output goes."""
    words = shlex.shlex(typed, posix=True, punctuation_chars="|<>")
    words.whitespace_split = True
    return list(takewhile(lambda word: word not in ("|", "<", ">"), words))


def test_the_smallest_file_in_the_readme_is_right() -> None:
    (block,) = re.findall(r"Write `gateway.yaml`:\n\n```yaml\n(.*?)```", README, re.DOTALL)
    config, problems = examine_text(block, "gateway.yaml", {})
    assert not problems
    assert config is not None


@pytest.mark.parametrize(("name", "block"), [case for case in blocks("yaml") if case[1].startswith("clusters:")])
def test_every_whole_configuration_lacks_nothing_but_the_files_it_names(name: str, block: str) -> None:
    _, problems = examine_text(block, name, {"KAFKA_PASSWORD": "secret"})
    assert not [str(problem) for problem in problems if "there is no" not in str(problem)]


def test_the_unit_for_systemd_gives_the_proxy_the_time_that_it_needs_to_end() -> None:
    (text,) = [block for _, block in blocks("ini") if block.startswith("[Unit]")]
    unit = configparser.ConfigParser(interpolation=None)
    unit.read_string(text)
    assert unit["Service"].getint("TimeoutStopSec") > LimitOptions().drain + GRACE
    assert unit["Service"]["KillMode"] == "mixed"  # workers are told by the supervisor alone


@pytest.mark.parametrize(("name", "block"), blocks("python"))
def test_the_python_that_a_page_shows_does_what_it_says(name: str, block: str) -> None:
    exec(compile(block, name, "exec"), {})


def test_the_page_of_the_codec_shows_it_in_python() -> None:
    assert "proxy/protocol/README.md" in {name for name, _ in blocks("python")}


def test_what_the_design_says_of_where_things_live_is_there() -> None:
    for title in ("Where does X live\\?", "In more detail"):
        (part,) = re.findall(rf"^## {title}\n(.*?)^## ", PAGES["proxy/DESIGN.md"], re.MULTILINE | re.DOTALL)
        places = [place for place in re.findall(r"`([^`]+)`", part) if "/" in place]
        assert places
        assert not [place for place in places if not any(ROOT.glob(place))]


def test_the_design_names_every_module_of_the_core_and_of_the_network() -> None:
    design = PAGES["proxy/DESIGN.md"]
    modules = [path for layer in ("core", "net") for path in (ROOT / "proxy" / layer).rglob("[a-z]*.py")]
    assert sorted(path.name for path in modules if f"{path.stem}.py" not in design) == []
