"""Config values: DescribeConfigs shows a broker's addresses as clients know them."""

import pytest

from plugins.config_values import MOST_VOTERS
from proxy.protocol.messages.describe_configs import DescribeConfigsResponse
from tests.plugins.shown import rewritten


def config(name, value):
    return DescribeConfigsResponse.Result.Config(name=name, value=value, read_only=True, is_sensitive=False)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("advertised.listeners", "PLAINTEXT://inside:9092", "PLAINTEXT://outside:9195"),
        (
            "listeners",
            "PLAINTEXT://:9092,CONTROLLER://inside:9093",
            "PLAINTEXT://outside:9195,CONTROLLER://outside:9195",
        ),
        ("controller.quorum.voters", "1@inside:9093,2@inside2:9093", "1@outside:9194,2@outside:9195"),
        ("controller.quorum.voters", "+1@inside:9093,00000000002@inside:1", "+1@outside:9194,00000000002@outside:9195"),
        ("controller.quorum.voters", "1@inside:9093,x@inside:9093,inside:9093", "1@outside:9194,outside:0,outside:0"),
        ("controller.quorum.voters", "", ""),
        ("controller.quorum.voters", "," * MOST_VOTERS, None),
        ("controller.quorum.bootstrap.servers", "inside:9093", "outside:9195"),
        ("advertised.host.name", "inside", "outside"),
        ("port", "9092", "9195"),
        ("zookeeper.connect", "inside:2181", None),
        ("log.dirs", "/inside", "/inside"),
    ],
)
def test_a_brokers_configuration_spells_out_what_clients_are_told(name, value, shown):
    described = config(name, value)
    described.synonyms = [DescribeConfigsResponse.Result.Config.Synonym(name=name, value=value, source=4)]
    result = DescribeConfigsResponse.Result(
        error_code=0, error_message=None, resource_type=4, resource_name="2", configs=[described]
    )
    seen, _ = rewritten(DescribeConfigsResponse(throttle_time_ms=0, results=[result]), 4)
    assert seen.results[0].configs[0].value == shown
    assert seen.results[0].configs[0].synonyms[0].value == shown


@pytest.mark.parametrize(
    ("name", "port"),
    [
        *(("+2", 9195), ("00000000002", 9195), ("0" * 5_000 + "2", 9195), ("\u0662", 9195), ("-0", 9193)),
        *(("", 0), ("-2", 0), ("x", 0), ("2 ", 0), ("9" * 5_000, 0), ("\U0001d7da", 0)),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_no_spelling_of_a_brokers_name_shows_its_address(name, port):
    described = [config("advertised.listeners", "PLAINTEXT://inside:9092"), config("host.name", "inside")]
    result = DescribeConfigsResponse.Result(
        error_code=0, error_message=None, resource_type=4, resource_name=name, configs=described
    )
    seen, _ = rewritten(DescribeConfigsResponse(throttle_time_ms=0, results=[result]), 4)
    assert [each.value for each in seen.results[0].configs] == [f"PLAINTEXT://outside:{port}", "outside"]


def test_a_topics_configuration_is_left_alone():
    result = DescribeConfigsResponse.Result(
        error_code=0, error_message=None, resource_type=2, resource_name="2", configs=[config("listeners", "x://y:1")]
    )
    seen, _ = rewritten(DescribeConfigsResponse(throttle_time_ms=0, results=[result]), 4)
    assert seen.results[0].configs[0].value == "x://y:1"
