"""`doorkeeper completion`: prints the script by which a shell completes this command."""

import click
from click.shell_completion import get_completion_class

EPILOG = """\b
For this shell only:
  eval "$(doorkeeper completion bash)"
  eval "$(doorkeeper completion zsh)"
  doorkeeper completion fish | source
\b
For every shell to come, put that line into ~/.bashrc or ~/.zshrc, or:
  doorkeeper completion fish > ~/.config/fish/completions/doorkeeper.fish
"""


@click.command("completion", epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes this command in a SHELL."""
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(context.find_root().command, {}, "doorkeeper", "_DOORKEEPER_COMPLETE").source())
