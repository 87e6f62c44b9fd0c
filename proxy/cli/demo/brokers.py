"""`python -m proxy.cli.demo.brokers 3`: three brokers on this machine, until the process is ended.

They are librdkafka's mock cluster. One line says where they are: `brokers 127.0.0.1:40001,127.0.0.1:40002,...`.
"""

from __future__ import annotations

import signal
import sys

MISSING = "brokers to test with need confluent-kafka; pip install confluent-kafka, or name a cluster of your own"


def main() -> None:
    """Serve until a signal comes."""
    try:
        from confluent_kafka import Producer
    except ImportError:
        sys.exit(MISSING)
    from proxy.cli.demo.stage import addresses

    # The mock cluster lives as long as this producer, which is used for nothing else.
    cluster = Producer({"test.mock.num.brokers": int(sys.argv[1]), "log_level": 0})
    print("brokers", ",".join(addresses(cluster).values()), flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
