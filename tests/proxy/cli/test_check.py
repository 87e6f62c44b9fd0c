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


def test_a_section_that_is_not_yet_checked_any_further_is_told_last(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(GOOD.replace("9192", "many"))
    first, last = check(file).output.splitlines()
    assert first.startswith(f"{file}:2:44: ")
    assert last == f"{file}: further checks were left out for listeners.clients; mend that, and check again"


def with_rules(folder: Path, options: str, rules: str | None) -> Path:
    """A configuration with the plugin `acl`, and the file of rules beside it."""
    file = folder / "gateway.yaml"
    file.write_text(GOOD + f"plugins:\n  - acl: {options}\n")
    if rules is not None:
        (folder / "acl.yaml").write_text(rules)
    return file


def test_every_problem_of_a_file_of_rules_is_told_at_its_own_place(tmp_path: Path) -> None:
    rules = "acls:\n  - {allow: User:a, to: Raed, topics: t}\n  - {allow: User:a, to: Read}\nunmatched: never\n"
    result = check(with_rules(tmp_path, "{rules: acl.yaml, shadwo: true}", rules))
    assert result.output.splitlines() == [
        f'{tmp_path}/gateway.yaml:4:28: unknown option "shadwo"; did you mean "shadow"?',
        f"{tmp_path}/gateway.yaml: further checks were left out for plugins.0 (acl); mend that, and check again",
    ]
    result = check(with_rules(tmp_path, "{rules: acl.yaml}", rules))
    assert result.output.splitlines() == [
        f'{tmp_path}/acl.yaml:2:25: unknown operation "Raed"; did you mean "Read"?',
        f'{tmp_path}/acl.yaml:3:5: the rule is about nothing; write e.g. "topics: orders"',
        f'{tmp_path}/acl.yaml:4:12: unknown unmatched "never"; known here: allow, deny',
    ]
    assert result.exit_code == 1


def test_rules_that_can_never_match_are_warnings(tmp_path: Path) -> None:
    rules = "super_users: [User:a]\nacls: [{allow: User:b, to: ClusterAction, groups: g}]\n"
    file = with_rules(tmp_path, "{rules: acl.yaml}", rules)
    result = check(file)
    warning, fine = result.output.splitlines()
    assert warning.startswith(f"{tmp_path}/acl.yaml:2:28: warning: no broker asks for ClusterAction of groups; ")
    assert fine == f"{file}: fine; 1 listener(s), 1 cluster(s)"
    assert result.exit_code == 0


def test_a_file_of_rules_that_is_missing_is_told_where_it_is_named(tmp_path: Path) -> None:
    result = check(with_rules(tmp_path, "{rules: acls.yaml}", "acls: []"))
    where = f"{tmp_path}/gateway.yaml:4:18"
    assert result.output == f"{where}: {tmp_path}/acls.yaml: there is no such file; check the path\n"
    assert result.exit_code == 1


def test_acls_that_nobody_may_change_are_warned_of(tmp_path: Path) -> None:
    file = with_rules(tmp_path, "{rules: acl.yaml, managed: true}", "acls: []\n")
    warning, _ = check(file).output.splitlines()
    assert warning.startswith(f"{file}:4:37: warning: nobody may change ACLs by these rules")


def test_no_file_is_a_usage_error() -> None:
    assert check().exit_code == 2


def test_a_name_of_a_file_moves_no_cursor(tmp_path: Path) -> None:
    good, bad = tmp_path / "a\x1b[2J.yaml", tmp_path / "b\x1b[2J.yaml"
    good.write_text(GOOD)
    bad.write_text("clusters: 7\n")
    lines = check(good, bad).output.splitlines()
    assert lines[0].endswith(r"a\x1b[2J.yaml: fine; 1 listener(s), 1 cluster(s)")
    assert all(line.isprintable() for line in lines)
