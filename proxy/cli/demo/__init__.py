"""`doorkeeper demo`: brokers, the proxy and a real client on this machine, and what passed between them.

# Nothing is claimed that was not seen in this run: each step looks, says what it saw, and raises `NotSeen` otherwise.
# Everything is on loopback, in memory and in a temporary folder, and gone when the demo ends.
"""

import sys

import click

EPILOG = """\b
It starts three brokers (librdkafka's mock cluster, inside this process), `doorkeeper run` in front of them on free
ports, and confluent-kafka as the client. Nothing is left behind.
\b
Exit code: 0 if every step was seen to work, 1 if not.
"""


@click.command("demo", epilog=EPILOG)
def command() -> None:
    """See it work: brokers, the proxy and a client, all on this machine."""
    try:
        import confluent_kafka as _  # noqa: F401 - the extra [demo]
    except ImportError:
        click.echo("the demo needs a Kafka client; pip install confluent-kafka", err=True)
        sys.exit(1)
    from proxy.cli.demo.stage import NotSeen
    from proxy.cli.demo.steps import play

    try:
        play(click.echo)
    except NotSeen as missing:
        click.echo(f"\nNot seen: {missing}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
