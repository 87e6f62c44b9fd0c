"""The command `doorkeeper`: one module a subcommand.

Rules:
* Exit codes: 0 success; 1 the answer is no (an invalid file, bytes that are no message); 2 wrong usage; 130 ended by
  Ctrl-C, as shells have it: that is no answer, and nothing is told.
* Results go to standard output. Logs and error messages go to standard error.
* An input that cannot be read at all is one line, whichever subcommand reads it. In what serves it would be a bug.
  An output that cannot be written is one line too, `--help` included.
* A subcommand's module is imported when it runs, so that `--help` and completion answer at once.
"""

import errno
import importlib
from difflib import get_close_matches
from typing import Any, NoReturn

import click

from proxy.cli.streams import standard_streams

COMMANDS = {
    "run": "Stand between clients and brokers, as a configuration says.",
    "check": "Say everything that is wrong with a configuration.",
    "explain": "Say who may do what by a file of rules, why, and what would change it.",
    "acls": "Make a file of rules of Kafka's ACLs, and Kafka's ACLs of a file of rules.",
    "users": "Keep the users that a listener authenticates itself.",
    "decode": "Show what bytes of the Kafka protocol say.",
    "faults": "Add faults to a running proxy, see what they did, and take them away.",
    "audit": "Verify, search and follow the journal of an audit.",
    "report": "Make a page and tables of what a journal of an audit says.",
    "demo": "See it work: brokers, proxy and a client, all on this machine.",
    "schema": "Print the JSON Schema of the configuration, for editors.",
    "completion": "Print the script that completes this command in a shell.",
}

SERVING = ("run", "demo")
INTERRUPTED = 130
FULL = (errno.ENOSPC, errno.EDQUOT)

EPILOG = """\b
Examples:
  doorkeeper demo                      see it work, nothing else needed
  doorkeeper check gateway.yaml        is this configuration right?
  doorkeeper run gateway.yaml          stand in front of a cluster
  doorkeeper explain acl.yaml --principal User:alice --operation Write --topic orders
  doorkeeper decode 00000015...        what do these bytes say?
  eval "$(doorkeeper completion bash)" complete commands and options
"""


def unreadable(error: OSError | UnicodeError | RecursionError) -> str:
    """What is wrong with an input that cannot be read or an output that cannot be written, and a way out."""
    if isinstance(error, UnicodeDecodeError):
        return f"the input is not UTF-8 ({error.reason} at byte {error.start}); give text in UTF-8"
    if isinstance(error, UnicodeEncodeError) and error.encoding not in ("utf-8", "idna"):
        return f"the output has characters that {error.encoding} has not; set the locale to UTF-8, as by LC_ALL=C.UTF-8"
    if isinstance(error, UnicodeError):
        return f"what was given has bytes that are no text ({error}); correct it"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply; give it in a flat form"
    where = f"{error.filename!a}: " if error.filename is not None else ""
    way_out = "make room for the output" if error.errno in FULL else "check what was given"
    return f"{where}{error.strerror or error}; {way_out}"


def _end(error: OSError | UnicodeError | RecursionError) -> NoReturn:
    from proxy.cli.ending import give_up  # --help needs none of it

    give_up(unreadable(error))


class OneLineCommand(click.Command):
    """A command whose `--help` and `--version` end in one line if they cannot be printed."""

    def make_context(self, *args: Any, **named: Any) -> click.Context:
        try:
            return super().make_context(*args, **named)  # this prints them
        except BrokenPipeError:
            raise
        except (OSError, UnicodeError, RecursionError) as error:
            _end(error)


class Commands(OneLineCommand, click.Group):
    """The subcommands. The module of each has its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in COMMANDS:
            close = get_close_matches(cmd_name, COMMANDS, 1)
            way_out = f'did you mean "{close[0]}"?' if close else "doorkeeper --help shows all of them"
            raise click.UsageError(f'No such command "{cmd_name}"; {way_out}')
        command: click.Command = importlib.import_module(f"proxy.cli.{cmd_name}").command
        return command

    def main(self, *args: Any, **named: Any) -> Any:
        with standard_streams():
            return super().main(*args, **named)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (OSError, UnicodeError, RecursionError) as error:
            if ctx.invoked_subcommand in SERVING:
                raise
            _end(error)
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="doorkeeper", prog_name="doorkeeper")
def main() -> None:
    """Doorkeeper stands between Kafka clients and Kafka brokers, and speaks the protocol of both.

    Clients connect to it as to a cluster, and are given its own addresses instead of the brokers'. Whatever
    nobody asked it to change passes unread.
    """
