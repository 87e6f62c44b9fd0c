"""`doorkeeper check`."""

from pathlib import Path

from click.testing import CliRunner, Result

from proxy.cli import main

GOOD = """\
clusters: {main: {bootstrap: [kafka:9092]}}
listeners: {clients: {cluster: main, bind: 127.0.0.1:9192}}
"""


def check(*files: Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, files)])


def test_a_good_file_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(GOOD)
    result = check(file)
    assert result.exit_code == 0
    assert result.output == f"{file}: fine; 1 listener(s), 1 cluster(s)\n"


def test_a_warning_does_not_fail(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(GOOD + "admin: {bind: 127.0.0.1:9193}\n")
    result = check(file)
    assert result.exit_code == 0
    assert f"{file}:3:15: warning: " in result.output


def test_all_problems_of_all_files_are_told_and_the_exit_code_is_1(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.yaml", tmp_path / "good.yaml"
    bad.write_text(GOOD + "worker: 1\nlimits: {frame: big}\n")
    good.write_text(GOOD)
    result = check(bad, good, tmp_path / "none.yaml")
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        f'{bad}:3:1: unknown option "worker"; did you mean "workers"?',
        f'{bad}:4:17: "big" is not a size; write e.g. "100 MiB"',
        f"{good}: fine; 1 listener(s), 1 cluster(s)",
        f"{tmp_path}/none.yaml: there is no such file; check the path",
    ]


def test_no_file_is_a_usage_error() -> None:
    assert check().exit_code == 2
