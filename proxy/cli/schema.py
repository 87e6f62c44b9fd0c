"""`doorkeeper schema`: the configuration's JSON Schema."""

import click

from proxy.config.schema import text

EPILOG = """\b
An editor with YAML support completes and checks a file that begins with:
  # yaml-language-server: $schema=gateway.schema.json
\b
after:
  doorkeeper schema > gateway.schema.json
"""


@click.command("schema", epilog=EPILOG)
def command() -> None:
    """Print the JSON Schema of the configuration, for editors."""
    click.echo(text(), nl=False)
