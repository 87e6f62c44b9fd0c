"""`doorkeeper faults run` and `scenarios`: incidents, played against a running proxy or against one started for them.

Rules:
* Exit codes of `run`: 0 all expectations were met, 1 one was not, 2 the scenario could not be played.
* On a terminal the last line is updated in place: it shows how often each fault in force has fired.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Mapping
from functools import partial

import click
from click.core import ParameterSource

from chaos.admin_answers import AdminError
from chaos.client import AdminClient
from proxy.cli.admin_options import told, with_admin
from proxy.cli.ending import give_up
from proxy.text.words import printable

RUN_EPILOG = """\b
Examples:
  doorkeeper faults scenarios                              which are shipped
  doorkeeper faults run leader-flap --seed 7 --set topic=orders
  doorkeeper faults run mine.yaml --url http://127.0.0.1:9190
  doorkeeper faults run broker-down --bootstrap kafka-1:9092   with a proxy of its own, for as long as it takes
\b
The proxy's counters begin anew, and faults that were added to it are gone.
Exit code: 0 if all came as expected, 1 if not, 2 if it could not be played.
"""
CLEAR = "\r\x1b[K"
NOT_PLAYED = 2


class _Screen:
    """The output while a scenario is played."""

    def __init__(self) -> None:
        self._is_live = sys.stdout.isatty()

    def said(self, at: float, label: str, what: str) -> None:
        """Print a line that stays."""
        click.echo(f"{CLEAR if self._is_live else ''}{at:6.1f}s  {printable(label)}: {printable(what)}")

    def ticked(self, at: float, fired: Mapping[str, int]) -> None:
        """Replace the live line at the end."""
        if self._is_live:
            now = ", ".join(f"{printable(name)} fired {many}" for name, many in fired.items())
            click.echo(f"{CLEAR}{at:6.1f}s  {now[:100]}", nl=False)

    def over(self) -> None:
        if self._is_live:
            click.echo(CLEAR, nl=False)


def _settings(context: click.Context, option: click.Parameter, said: tuple[str, ...]) -> dict[str, str]:
    wrong = next((setting for setting in said if "=" not in setting), None)
    if wrong is not None:
        raise click.UsageError(f'"{wrong}" sets nothing; write e.g. --set topic=orders')
    settings: dict[str, str] = {}
    for name, _, value in (setting.partition("=") for setting in said):
        if settings.setdefault(name, value) != value:
            raise click.UsageError(f'"{name}" is set to "{settings[name]}" and to "{value}"; keep one of the two')
    return settings


@click.command("run", epilog=RUN_EPILOG)
@click.argument("scenario")
@click.option("--seed", type=int, help="The seed of the random numbers, instead of the scenario's own.")
@click.option(
    "--set", "setting", multiple=True, metavar="NAME=VALUE", callback=_settings, help="A parameter of the scenario."
)
@click.option("--bootstrap", metavar="HOST:PORT,...", help="Start a proxy for it, in front of the cluster there.")
@partial(with_admin, code=NOT_PLAYED)
def run(admin: AdminClient, scenario: str, seed: int | None, setting: dict[str, str], bootstrap: str | None) -> None:
    """Play SCENARIO: a file, or the name of one that is shipped."""
    from proxy.cli.bootstrap import bootstrap_of
    from proxy.scenarios.own_gateway import OwnGatewayError, own_gateway
    from proxy.scenarios.play import FaultsRemovedError
    from proxy.scenarios.reading import find, read_scenario

    is_told = click.get_current_context().get_parameter_source("url") is ParameterSource.COMMANDLINE
    if bootstrap is not None and is_told:
        raise click.UsageError(
            '"--url" is a running proxy, and "--bootstrap" starts another one; leave one of the two out'
        )
    brokers = None if bootstrap is None else bootstrap_of(bootstrap)
    try:
        file = find(scenario)
        read, problems = read_scenario(file, setting).result()
    except (LookupError, OSError) as error:
        give_up(str(error.args[0] if isinstance(error, LookupError) else error), NOT_PLAYED)
    for problem in problems:
        click.echo(problem, err=True)
    if read is None:
        sys.exit(NOT_PLAYED)
    _interrupt_at((signal.SIGTERM, signal.SIGHUP))
    try:
        if brokers is None:
            sys.exit(_play(admin, read, seed))
        with own_gateway(brokers) as gateway:
            click.echo(f"clients may connect to {gateway.bootstrap}")
            sys.exit(_play(gateway.admin, read, seed))
    except OwnGatewayError as error:
        give_up(f"--bootstrap {bootstrap}: {error}", NOT_PLAYED)
    except (AdminError, FaultsRemovedError) as error:
        give_up(told(error), NOT_PLAYED)
    except KeyboardInterrupt:
        give_up("interrupted; it did not begin", NOT_PLAYED)


def _interrupt_at(signals: Iterable[signal.Signals]) -> None:
    """Have these signals do the same as Ctrl-C, so that faults are removed then, too."""
    for number in signals:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, signal.default_int_handler)


def _play(admin: AdminClient, scenario: object, seed: int | None) -> int:
    """Play the scenario. Returns the exit code."""
    from proxy.scenarios.model import ScenarioFile
    from proxy.scenarios.play import Progress, ScenarioPlay

    assert isinstance(scenario, ScenarioFile)
    screen = _Screen()
    play = ScenarioPlay(scenario, admin, Progress(screen.said, screen.ticked))
    try:
        play.play(seed)
    except KeyboardInterrupt:
        screen.over()
        gone = "its faults are gone"
        left = "some of its faults may be left; doorkeeper faults reset removes them"
        give_up(f"interrupted; {gone if play.is_clean else left}", NOT_PLAYED)
    screen.over()
    for line in play.unmet:
        click.echo(f"not as expected: {printable(line)}", err=True)
    return 1 if play.unmet else 0


@click.command("scenarios")
def scenarios() -> None:
    """Print the shipped scenarios and their parameters."""
    from proxy.scenarios.reading import read_scenario, shipped

    for name, file in shipped().items():
        scenario = read_scenario(file).usable()
        setting = ", ".join(f"{option}={value}" for option, value in scenario.parameters.items())
        click.echo(f"{name:24} {scenario.about}{f' ({setting})' if setting else ''}")
