"""`doorkeeper explain`: what rules answer to a question, why, and which change would turn the answer."""

import sys
import time
from typing import Any, TextIO, TypeVar

import click

from proxy.cli.ending import give_up
from proxy.cli.given import FILE_NAME, ReadFile, in_utf8
from proxy.cli.questions import Answered, QuestionError, answered, questions
from proxy.text.bounded import bounded_lines
from proxy.text.places import Place
from proxy.text.words import nearest, printable
from rules import AccessQuestion, Client, Snapshot, examine
from rules.explain import Explanation, explain
from rules.hosts import client_host
from rules.values import MECHANISMS
from rules.vocabulary import CLUSTER_NAME, Operation, ResourceType, Word, spoken

EPILOG = """\b
Examples:
  doorkeeper explain acl.yaml --principal User:alice --operation Write --topic orders
  doorkeeper explain acl.yaml --principal User:alice --operation Read --group g --host 10.1.2.3
  doorkeeper explain acl.yaml --principal User:alice --operation Alter --cluster
  doorkeeper explain acl.yaml --principal User:alice --operation Write --any topic
  doorkeeper explain acl.yaml --questions questions.jsonl
\b
A whole file of rules:
  super_users: [User:admin]
  unmatched: deny                      # or allow, for resources that no rule names
  acls:
    - allow: User:alice
      to: [Read, Describe]
      topics: [orders, payments-*]     # also groups, cluster, transactional_ids, delegation_tokens, users
      from: 10.0.0.0/8                 # also client_id, listener, mechanism, tls, during
    - deny: User:*
      to: All
      topics: secrets
\b
What is not said of the client is not known: a condition on it holds in a deny, and does not in an allow.
\b
Questions are lines of JSON, such as
  {"principal": "User:a", "host": "10.1.2.3", "operation": "Write", "resource_type": "topic", "name": "orders"}
and so are answers: {"allowed": true, "rule": "acl.yaml:4:5"}. Without a name it is asked whether any would do, as
brokers ask for idempotent producers. "client_id", "listener", "mechanism", "tls" and "at" (seconds since 1970) may
be said. A question with "allowed" says what the answer should be.
\b
Exit code: 0 if it is allowed, 1 if not; with --questions, 0 if all answers are as they should be. 1 for a bad file.
"""
W = TypeVar("W", bound=Word)
RESOURCES = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.TRANSACTIONAL_ID: "transactional_id",
    ResourceType.DELEGATION_TOKEN: "delegation_token",
    ResourceType.USER: "user",
}


@click.command("explain", epilog=EPILOG)
@click.argument("rules", type=FILE_NAME)
@click.option("--questions", "asked", type=ReadFile(), help="Lines of JSON; - is standard input.")
@click.option("--principal", metavar="TYPE:NAME", help="Who asks, e.g. User:alice.")
@click.option("--operation", metavar="OPERATION", help="Read, Write, Describe, ...")
@click.option("--topic", help="With this topic.")
@click.option("--group", help="With this group.")
@click.option("--transactional-id", help="With this transactional id.")
@click.option("--delegation-token", help="With the delegation token of this id.")
@click.option("--user", metavar="TYPE:NAME", help="With the delegation tokens of this user.")
@click.option("--cluster", is_flag=True, default=None, help="With the cluster itself.")
@click.option("--any", "any_of", metavar="TYPE", help="With any resource of this type.")
@click.option("--host", help="From this address.")
@click.option("--client-id", help="With this client id.")
@click.option("--listener", help="Through this listener.")
@click.option("--mechanism", type=click.Choice([*MECHANISMS, ""]), metavar="NAME", help='By SASL mechanism; "": none.')
@click.option("--tls/--no-tls", default=None, help="With TLS, or without.")
@click.option("--at", type=click.DateTime(), help="At this local time; without it, now.")
def command(rules: str, asked: TextIO | None, **said: Any) -> None:
    """Say what the file RULES answers to a question, why, and what would turn the answer."""
    if asked is not None:
        _must_be_alone(said)
    snapshot, problems = examine(rules)
    for problem in problems:
        click.echo(problem, err=True)
    if snapshot is None:
        sys.exit(1)
    if asked is not None:
        with in_utf8(asked):
            sys.exit(_all(snapshot, rules, asked))
    explanation = explain(snapshot, _question(said))
    click.echo(shown(explanation, rules))
    sys.exit(0 if explanation.decision.allowed else 1)


def _must_be_alone(said: dict[str, Any]) -> None:
    for option in click.get_current_context().command.params:
        if said.get(option.name or "") is not None:
            name = "/".join((option.opts[0], *option.secondary_opts))
            raise click.UsageError(f"with --questions, each line says all of a question; leave {name} out")


def _question(said: dict[str, Any]) -> AccessQuestion:
    for needed, example in (("principal", "User:alice"), ("operation", "Read")):
        if said[needed] is None:
            raise click.UsageError(f"--{needed} is missing; give e.g. --{needed} {example}")
    if ":" not in said["principal"]:
        raise click.UsageError(f'"{said["principal"]}" has no type; give --principal User:{said["principal"]}')
    about: list[tuple[ResourceType, str | None]]
    about = [(kind, said[option]) for kind, option in RESOURCES.items() if said[option] is not None]
    about += [(ResourceType.CLUSTER, CLUSTER_NAME)] if said["cluster"] else []
    about += [(_word(ResourceType, said["any_of"], "--any"), None)] if said["any_of"] is not None else []
    if len(about) != 1:
        raise click.UsageError("say what it is about, one of: --topic, --group, --cluster, ..., --any")
    ((kind, name),) = about
    try:
        host = None if said["host"] is None else client_host(said["host"])
    except ValueError as error:
        raise click.UsageError(f"--host: {error}") from None
    client = Client(said["principal"], host, said["client_id"], said["listener"], said["mechanism"], said["tls"])
    try:
        at = said["at"].timestamp() if said["at"] else time.time()
    except (ValueError, OverflowError):
        raise click.UsageError(
            f"--at {said['at']:%Y-%m-%d} is no time that a clock shows; give one since 1970"
        ) from None
    return AccessQuestion(client, _word(Operation, said["operation"], "--operation"), kind, name, at)


def _word(kind: type[W], text: str, option: str) -> W:
    word = spoken(kind, text)
    if not isinstance(word, kind):
        raise click.UsageError(f'unknown {option} "{text}"; {nearest(text, (known.word for known in kind))}')
    return word


def shown(explanation: Explanation, file: str) -> str:
    """An explanation as text for people."""
    question, decision, reason, changes, near = explanation
    allowed = decision.allowed
    what = f"any {question.noun}" if question.name is None else f'{question.noun} "{question.name}"'
    may = f"{question.client.principal} {'may' if allowed else 'may not'} {question.operation.word} {what}"
    lines = [f"{'allowed' if allowed else 'refused'}: {may}", f"  {_at(file, decision.place)}: {reason}"]
    if near:
        lines += ["nearly allowed by:", *(f"  {_at(file, place)}: {text}" for place, text in near)]
    if changes:
        lines += [f"to {'refuse' if allowed else 'allow'} it:"]
        lines += [f"  {_at(file, place)}: {text}" for place, text in changes]
    return "\n".join(map(printable, lines))


def _at(file: str, place: Place | None) -> str:
    return f"{file}:{place.line}:{place.column}" if place else file


def _all(snapshot: Snapshot, file: str, asked: TextIO) -> int:
    code, empty = 0, True
    for question in questions(bounded_lines(asked), asked.name):
        empty = False
        if isinstance(question, QuestionError):
            code = 1
            click.echo(Answered(False, None, str(question)).line)
            click.echo(question, err=True)
            continue
        answer = answered(question.question, snapshot, file)
        click.echo(answer.line)
        if question.expected not in (None, answer.allowed):
            code = 1
            fact = f"{'allowed' if answer.allowed else 'refused'} by {answer.rule or 'no rule'}"
            click.echo(printable(f"{question.label}: {fact}, which it should not be"), err=True)
    if empty:
        give_up(f"{asked.name}: there is no question in it; write one a line, as explain --help shows")
    return code
