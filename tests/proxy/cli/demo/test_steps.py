"""The demo, as a person sees it: with real brokers, a real proxy and a real client."""

import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from proxy.cli import main
from proxy.cli.demo.steps import MESSAGES


def test_the_demo_shows_every_step_and_ends_with_a_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "proxy", "demo", "--report", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""
    rows = re.findall(r"^ +broker (\d) +(\S+:\d+) +(\S+:\d+)$", result.stdout, re.MULTILINE)
    assert [node_id for node_id, _, _ in rows] == ["1", "2", "3"]
    assert not {real for _, real, _ in rows} & {told for _, _, told in rows}
    assert f"{MESSAGES} came back" in result.stdout
    assert "The client is told TOPIC_AUTHORIZATION_FAILED" in result.stdout
    assert re.search(r"duplicate: payments-\d offset 1\n", result.stdout)
    assert "None went to a broker's own address." in result.stdout
    assert re.search(rf"orders +{MESSAGES} +\d+ +0 +0\n", result.stdout)
    assert re.search(r"secrets +0 +0 +[1-9]\d* +0\n", result.stdout)
    assert f"The page: {(tmp_path / 'index.html').as_uri()}\n" in result.stdout
    assert "payments" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert not (tmp_path / "work").exists()


def test_a_page_that_is_asked_for_and_not_wanted_is_a_usage_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["demo", "--report", str(tmp_path), "--no-report"])
    assert result.exit_code == 2
    assert "--report and --no-report exclude each other" in result.stderr
