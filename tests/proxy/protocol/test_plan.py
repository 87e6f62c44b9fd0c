"""Plans: the layout of one message in one version."""

from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.plan import Fixed, Many, Nested, Varying, plan


def fields(layout):
    return [step.field.name for step in layout.steps]


def test_a_plan_has_the_fields_of_its_version_in_order():
    assert fields(plan(MetadataResponse, 0)) == ["brokers", "topics"]
    assert fields(plan(MetadataResponse, 2)) == ["brokers", "cluster_id", "controller_id", "topics"]
    assert fields(plan(MetadataResponse, 13))[-1] == "error_code"


def test_tagged_fields_stand_apart_by_tag():
    topics = plan(FetchResponse, 17).steps[3].move
    assert isinstance(topics, Many)
    assert isinstance(topics.element, Nested)
    partitions = topics.element.plan.steps[-1].move
    assert isinstance(partitions, Many)
    assert isinstance(partitions.element, Nested)
    assert [step.field.tag for step in partitions.element.plan.tags] == [0, 1, 2]


def test_lengths_are_compact_from_the_first_flexible_version_on():
    for version, compact in ((8, False), (9, True)):
        (cluster_id,) = (step.move for step in plan(MetadataResponse, version).steps if step.field.name == "cluster_id")
        assert isinstance(cluster_id, Varying)
        assert (cluster_id.compact, cluster_id.nullable) == (compact, True)


def test_the_least_that_an_element_takes_is_known():
    brokers = plan(MetadataResponse, 12).steps[1].move
    assert isinstance(brokers, Many)
    # node id, length of the host, port, length of the rack, count of tags
    assert brokers.element.least == 4 + 1 + 4 + 1 + 1
    assert isinstance(plan(MetadataResponse, 12).steps[0].move, Fixed)
