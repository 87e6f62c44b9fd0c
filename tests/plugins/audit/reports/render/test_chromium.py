"""The page in a real browser: Chromium shows it in light mode, in dark mode and on paper, without errors."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.checks import CHROMIUM
from tests.plugins.audit.reports.render.pages import write

OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("out"))


def chromium(page: Path, profile: Path, *options: str) -> str:
    """Open a page. Gives what stands in its console."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert found, "there is no Chromium here; apt-get install chromium"
    command = (found, *OPTIONS, f"--user-data-dir={profile}", "--enable-logging=stderr", *options, page.as_uri())
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return "\n".join(re.findall(r"CONSOLE.*", done.stderr))


@pytest.mark.parametrize("scheme", [(), ("--blink-settings=preferredColorScheme=0",)], ids=["day", "night"])
def test_the_page_has_no_error_in_its_console(page: Path, tmp_path: Path, scheme: tuple[str, ...]) -> None:
    picture = tmp_path / "page.png"
    assert chromium(page, tmp_path / "profile", f"--screenshot={picture}", "--window-size=1280,4000", *scheme) == ""
    assert picture.stat().st_size > 50_000  # something is there


def test_an_error_in_a_console_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<script>throw Error('seen')</script>")
    assert "seen" in chromium(page, tmp_path / "profile", f"--screenshot={tmp_path / 'page.png'}")


def test_it_prints_on_a4(page: Path, tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"
    assert chromium(page, tmp_path / "profile", f"--print-to-pdf={paper}", "--no-pdf-header-footer") == ""
    data = paper.read_bytes()
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    assert {(round(float(width)), round(float(height))) for width, height in sizes} == {(595, 842)}
    assert len(re.findall(rb"/Type /Page\b", data)) > 3
