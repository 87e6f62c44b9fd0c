from __future__ import annotations

import click
import pytest

from proxy.cli.bootstrap import bootstrap_of
from proxy.config.values import HostPort


def test_addresses_have_commas_between_them() -> None:
    assert bootstrap_of("kafka-1:9092, [::1]:9093") == (HostPort("kafka-1", 9092), HostPort("::1", 9093))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", '--bootstrap is empty; write "host:port"'),
        ("kafka-1:9092,kafka-2", '--bootstrap: "kafka-2" has no port; write "kafka-2:9092"'),
        ("a\nrm:x", r'--bootstrap: "a\nrm" is not a host name; write "host:port", without a scheme or spaces'),
    ],
)
def test_a_wrong_one_is_wrong_usage_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(click.UsageError) as error:
        bootstrap_of(text)
    assert error.value.message == complaint
