"""`doorkeeper acls`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proxy.cli import main

LISTING = """\
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:
\t(principal=User:alice, host=*, operation=WRITE, permissionType=ALLOW)
\t(principal=User:alice, host=*, operation=READ, permissionType=ALLOW)

Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=payments-, patternType=PREFIXED)`:
\t(principal=User:alice, host=*, operation=READ, permissionType=ALLOW)
\t(principal=User:alice, host=*, operation=WRITE, permissionType=ALLOW)

Current ACLs for resource `ResourcePattern(resourceType=CLUSTER, name=kafka-cluster, patternType=LITERAL)`:
\t(principal=User:*, host=10.1.2.3, operation=ALTER, permissionType=DENY)

"""
RULES = """\
# 5 ACLs of Kafka's, in 2 rules.
super_users: [User:admin, User:root]
unmatched: allow
acls:
  - deny: User:*
    to: Alter
    cluster: true
    from: 10.1.2.3
  - allow: User:alice
    to: [Read, Write]
    topics: [orders, payments-*]
"""
SETTINGS = ("--super-users", "User:admin; User:root;", "--unmatched", "allow")


def acls(*arguments: object, given: str | None = None) -> Result:
    return CliRunner().invoke(main, ["acls", *map(str, arguments)], input=given)


def test_a_listing_becomes_rules(tmp_path: Path) -> None:
    (tmp_path / "listing").write_text(LISTING)
    for result in (acls("import", tmp_path / "listing", *SETTINGS), acls("import", *SETTINGS, given=LISTING)):
        assert result.output == RULES
        assert result.exit_code == 0


def test_a_listing_is_taken_as_it_is_to_the_byte(tmp_path: Path) -> None:
    listing = "\ufeff" + LISTING.replace("orders", "a\rb").replace("\n", "\r\n")
    (tmp_path / "listing").write_bytes(listing.encode())
    for result in (acls("import", tmp_path / "listing", *SETTINGS), acls("import", *SETTINGS, given=listing)):
        assert result.output == RULES.replace("orders", '"a\\U0000000db"')


@pytest.mark.parametrize("given", ["", "\n \n"])
def test_a_blank_listing_is_no_file_that_denies_everything(given: str) -> None:
    result = acls("import", given=given)
    way_out = "if the cluster has no ACLs, ask it: --bootstrap or --config"
    assert (result.stdout, result.stderr) == ("", f"<stdin>: nothing is listed; {way_out}\n")
    assert result.exit_code == 1


def test_a_listing_of_no_acls_is_a_file_that_denies_everything() -> None:
    result = acls("import", given="ACLs for principal `User:alice`\n")
    assert result.output == "# 0 ACLs of Kafka's, in 0 rules.\nunmatched: deny\nacls:\n"


def test_what_is_no_listing_prints_nothing_but_what_is_wrong_with_it() -> None:
    result = acls("import", given="topics:\n")
    assert result.stdout == ""
    assert result.stderr.startswith("<stdin>:1:1: this is no line of `kafka-acls --list`; ")
    assert result.exit_code == 1


def test_rules_become_commands(tmp_path: Path) -> None:
    (tmp_path / "acl.yaml").write_text(RULES)
    result = acls("export", tmp_path / "acl.yaml", "--bootstrap", "kafka-1:9092")
    start = "kafka-acls --bootstrap-server kafka-1:9092 --add"
    assert result.stdout.splitlines() == [
        "# These belong into the configuration of the brokers:",
        "#   super.users=User:admin;User:root",
        "#   allow.everyone.if.no.acl.found=true",
        f"{start} --allow-principal User:alice --operation Read --operation Write --topic orders",
        f"{start} --allow-principal User:alice --operation Read --operation Write --topic payments-"
        " --resource-pattern-type prefixed",
        f"{start} --deny-principal 'User:*' --deny-host 10.1.2.3 --operation Alter --cluster",
    ]
    assert result.exit_code == 0


def test_what_kafka_cannot_say_is_left_out_and_told(tmp_path: Path) -> None:
    file = tmp_path / "acl.yaml"
    file.write_text(
        "acls:\n"
        "  - {allow: User:a, to: Read, topics: t, from: 10.0.0.0/8, tls: true}\n"
        "  - {allow: User:a, to: [Write, Read], groups: g}\n"
        "  - {allow: User:a, to: Delete, cluster: true}\n"
    )
    result = acls("export", file)
    assert result.stdout == (
        "kafka-acls --bootstrap-server localhost:9092 --add --allow-principal User:a --operation Read --group g\n"
    )
    assert result.stderr.splitlines() == [
        f'{file}:2:5: left out: Kafka\'s ACLs cannot say "from" and "tls"; take it out of the rule',
        'left out: Allow User:a Write from "*" on Group g: kafka-acls refuses Write here, for no broker asks for it; '
        "it takes AlterConfigs, Delete, Describe, DescribeConfigs, Read",
        'left out: Allow User:a Delete from "*" on Cluster kafka-cluster: kafka-acls refuses Delete here, so create it '
        "through the Admin API; it takes Alter, AlterConfigs, ClusterAction, Create, Describe, DescribeConfigs, "
        "IdempotentWrite",
    ]
    assert result.exit_code == 1


def test_a_super_user_whom_brokers_would_take_for_others_is_left_out_and_told(tmp_path: Path) -> None:
    file = tmp_path / "acl.yaml"
    file.write_text("super_users: [User:admin, 'User:CN=a;User:b', 'User:c ']\n")
    result = acls("export", file)
    assert result.stdout.splitlines()[1:] == ["#   super.users=User:admin"]
    why = 'in "super.users" a ";" ends a name, and the ends of each are trimmed; give this user another name'
    assert [line for line in result.stderr.splitlines() if "warning" not in line] == [
        f'left out: super user "User:CN=a;User:b": {why}',
        f'left out: super user "User:c ": {why}',
    ]
    assert result.exit_code == 1


def test_a_bad_file_becomes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "acl.yaml"
    file.write_text("acls: 7\n")
    result = acls("export", file)
    assert result.stdout == ""
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--bootstrap", "kafka"), '"kafka" has no port; write "kafka:9092"'),
        (("--super-users", "admin"), '"admin" has no type; give --super-users User:admin'),
        (
            ("--bootstrap", "kafka:9092", "--config", "g"),
            "--bootstrap and --config both say whom to ask; leave one out",
        ),
        (("--cluster", "main"), "--cluster is a name in a configuration; give --config too"),
        (("--cluster", ""), "--cluster is a name in a configuration; give --config too"),
        (("--bootstrap", ""), '--bootstrap is empty; write "host:port"'),
        (("--config", ""), "--config is empty; name a configuration"),
        (("--bootstrap", "", "--config", ""), "--bootstrap and --config both say whom to ask; leave one out"),
        (("--bootstrap", "kafka:9092", "-"), "<stdin> is a listing, and a broker is asked instead; leave one out"),
        (("--config", "g", "-"), "<stdin> is a listing, and a broker is asked instead; leave one out"),
    ],
)
def test_bad_options_are_usage_errors(arguments: tuple[str, ...], complaint: str) -> None:
    result = acls("import", *arguments, given=LISTING)
    assert result.exit_code == 2
    assert complaint in result.output


def test_commands_may_name_several_brokers(tmp_path: Path) -> None:
    (tmp_path / "acl.yaml").write_text(RULES)
    result = acls("export", tmp_path / "acl.yaml", "--bootstrap", "kafka-1:9092,kafka-2:9092")
    assert "kafka-acls --bootstrap-server kafka-1:9092,kafka-2:9092 --add" in result.stdout


@pytest.mark.parametrize("bootstrap", ["", "kafka", "kafka\nrm x:9092", "\x1b[2J:9092"])
def test_commands_are_for_an_address(tmp_path: Path, bootstrap: str) -> None:
    (tmp_path / "acl.yaml").write_text(RULES)
    result = acls("export", tmp_path / "acl.yaml", "--bootstrap", bootstrap)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: --bootstrap" in result.stderr
    assert "\x1b" not in result.stderr


def test_what_is_told_of_names_is_one_line_each_and_moves_no_cursor(tmp_path: Path) -> None:
    file = tmp_path / "acl.yaml"
    name = r'"User:a\nrm\x9b"'
    file.write_text(f"super_users: {name}\nacls:\n  - {{allow: {name}, to: Read, topics: x}}\n")
    result = acls("export", file)
    assert result.stdout.split("\n") == [
        "# These belong into the configuration of the brokers:",
        r"#   super.users=User:a\nrm\x9b",
        "",
    ]
    *_, left_out, end = result.stderr.split("\n")
    assert left_out.startswith(r'left out: Allow User:a\nrm\x9b Read from "*" on Topic x: ')
    assert left_out.isprintable()
    assert end == ""


def test_a_name_that_a_terminal_does_not_show_is_left_out_and_told(tmp_path: Path) -> None:
    file = tmp_path / "acl.yaml"
    file.write_text('acls:\n  - {allow: [User:a, "User:b\\e[2J"], to: Read, topics: x}\n')
    result = acls("export", file)
    command = "kafka-acls --bootstrap-server localhost:9092 --add --allow-principal User:a --operation Read --topic x\n"
    assert result.stdout == command
    why = r'the text "User:b\x1b[2J" has characters that a terminal does not show; use the Admin API'
    warning, left_out = result.stderr.splitlines()
    assert warning.startswith(f"{file}:2:22: warning: ")
    assert left_out == rf'left out: Allow User:b\x1b[2J Read from "*" on Topic x: {why}'
    assert result.exit_code == 1
