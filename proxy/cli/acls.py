"""`doorkeeper acls`: Kafka's ACLs as a file of rules, and a file of rules as Kafka's ACLs."""

import sys
from collections.abc import Iterable
from typing import TextIO

import click
from click.core import ParameterSource

from proxy.cli.asked_acls import asked_acls
from proxy.cli.bootstrap import bootstrap_of
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_NAME, ReadFile, in_utf8
from proxy.text.bounded import read_bounded
from proxy.text.problems import BadFileError
from proxy.text.words import printable, shown
from rules import Snapshot, bindings, examine, kafka_acls, write
from rules.bindings import Binding
from rules.model import AclFile

IMPORT_EPILOG = """\b
Examples:
  kafka-acls --bootstrap-server kafka-1:9092 --list | doorkeeper acls import > acl.yaml
  doorkeeper acls import listing.txt --super-users 'User:admin;User:CN=broker' > acl.yaml
  doorkeeper acls import --bootstrap kafka-1:9092 > acl.yaml
  doorkeeper acls import --config gateway.yaml --cluster main > acl.yaml
\b
The ACLs alone are in a listing; the broker's settings super.users and allow.everyone.if.no.acl.found are not.
With --config the cluster is asked over the "tls" and as the "sasl" user that stand there for the proxy, who needs
the right to Describe the cluster. Without, it must be a cluster that asks its clients for neither.
\b
Exit code: 0 if all of it is in the file of rules; 1 if not, and then nothing is printed.
"""
EXPORT_EPILOG = """\b
Example:
  doorkeeper acls export acl.yaml --bootstrap kafka-1:9092 | sh
\b
Exit code: 0 if the commands say all that the rules say; 1 if not (lines on standard error say what is left out).
"""


@click.group("acls")
def command() -> None:
    """Make a file of rules of Kafka's ACLs, and Kafka's ACLs of a file of rules."""


@command.command("import", epilog=IMPORT_EPILOG)
@click.argument("listing", type=ReadFile(), default="-")
@click.option("--bootstrap", metavar="HOST:PORT,...", help="Ask a broker there, instead of reading a listing.")
@click.option("--config", metavar="FILE", type=FILE_NAME, help="Ask a cluster of this configuration instead.")
@click.option("--cluster", metavar="NAME", help="The name of the cluster, if the configuration has several.")
@click.option(
    "--super-users", metavar="PRINCIPALS", default="", help="The broker's super.users, separated by semicolons."
)
@click.option(
    "--unmatched",
    type=click.Choice(["deny", "allow"]),
    default="deny",
    help="What holds for a resource that no ACL names.",
)
def import_(
    listing: TextIO, bootstrap: str | None, config: str | None, cluster: str | None, super_users: str, unmatched: str
) -> None:
    """Print the LISTING of kafka-acls as a file of rules."""
    asked = bootstrap is not None or config is not None
    if bootstrap is not None and config is not None:
        raise click.UsageError("--bootstrap and --config both say whom to ask; leave one out")
    if cluster is not None and config is None:
        raise click.UsageError("--cluster is a name in a configuration; give --config too")
    if asked and click.get_current_context().get_parameter_source("listing") is not ParameterSource.DEFAULT:
        raise click.UsageError(f"{listing.name} is a listing, and a broker is asked instead; leave one out")
    principals = tuple(one.strip() for one in super_users.split(";") if one.strip())
    for principal in principals:
        if ":" not in principal:
            raise click.UsageError(f'"{principal}" has no type; give --super-users User:{principal}')
    found = asked_acls(bootstrap, config, cluster) if asked else _listed(listing)
    acls = tuple(bindings.rules(found))
    click.echo(f"# {len(set(found))} ACLs of Kafka's, in {len(acls)} rules.")
    file = AclFile.model_construct(super_users=principals, unmatched=unmatched, acls=acls)
    click.echo(write.file_text(file), nl=False)


def _listed(listing: TextIO) -> list[Binding]:
    if listing.isatty():
        raise click.UsageError("nothing to read; give a listing, --bootstrap, or standard input")
    try:
        with in_utf8(listing):  # read as text, a "\r" in a name would be a "\n"
            text = read_bounded(listing.buffer).decode("utf-8-sig")
        if not text.strip():  # so it is too if kafka-acls failed, and the rules would refuse everything
            give_up(f"{listing.name}: nothing is listed; if the cluster has no ACLs, ask it: --bootstrap or --config")
        return kafka_acls.listed(text, listing.name)
    except BadFileError as error:
        give_up(str(error))


@command.command("export", epilog=EXPORT_EPILOG)
@click.argument("rules", type=FILE_NAME)
@click.option(
    "--bootstrap", metavar="HOST:PORT,...", default="localhost:9092", help="The brokers that the commands name."
)
def export(rules: str, bootstrap: str) -> None:
    """Print the ACLs of the file RULES as kafka-acls commands."""
    brokers = ",".join(map(str, bootstrap_of(bootstrap)))
    snapshot, problems = examine(rules)
    for problem in problems:
        click.echo(problem, err=True)
    if snapshot is None:
        sys.exit(1)
    super_users, lost = _super_users(snapshot.file)
    for line in _settings(super_users, snapshot.file.unmatched):
        click.echo(printable(line))  # a second line would be a command
    sayable, complete = _sayable(snapshot, rules)
    lines, unsayable = kafka_acls.commands(sayable, brokers)
    for line in lines:
        click.echo(line)
    for one, why in unsayable:
        kind, _, principal, host, operation, permission = one
        acl = f"{permission.word} {principal} {operation.word} from {shown(host)} on {kind.word}"
        click.echo(printable(f"left out: {acl} {write.inline(one.pattern)}: {why}"), err=True)
    for principal in lost:
        why = 'in "super.users" a ";" ends a name, and the ends of each are trimmed; give this user another name'
        click.echo(printable(f"left out: super user {shown(principal)}: {why}"), err=True)
    sys.exit(0 if complete and not unsayable and not lost else 1)


def _super_users(file: AclFile) -> tuple[list[str], list[str]]:
    """The super users that a broker's `super.users` can name, and the others: it would give others the rights."""
    sayable = [one for one in file.super_users if ";" not in one and one == one.strip()]
    return sayable, [one for one in file.super_users if one not in sayable]


def _settings(super_users: list[str], unmatched: str) -> Iterable[str]:
    if super_users or unmatched == "allow":
        yield "# These belong into the configuration of the brokers:"
    if super_users:
        yield f"#   super.users={';'.join(super_users)}"
    if unmatched == "allow":
        yield "#   allow.everyone.if.no.acl.found=true"


def _sayable(snapshot: Snapshot, file: str) -> tuple[list[Binding], bool]:
    """The ACLs of the rules that Kafka's ACLs can express, and whether all rules are among them."""
    found: list[Binding] = []
    complete = True
    for rule in snapshot.rules:
        if rule.acl.ours:
            complete = False
            options = " and ".join(f'"{option}"' for option in rule.acl.ours)
            place = f"{file}:{rule.place.line}:{rule.place.column}"
            left_out = f"{place}: left out: Kafka's ACLs cannot say {options}; take it out of the rule"
            click.echo(printable(left_out), err=True)
        else:
            found += bindings.bindings(rule.acl)
    return found, complete
