"""The options, as declared."""

import pickle
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from proxy.config import Config, LimitOptions, examine
from proxy.text.file import Section
from proxy.text.quantities import seconds, size

SMALL = {
    "clusters": {"main": {"bootstrap": ["kafka:9092"]}},
    "listeners": {"b": {"cluster": "main", "bind": "h:1"}, "a": {"cluster": "main", "bind": "h:20"}},
}


def sections() -> list[type[BaseModel]]:
    return [Section, *Section.__subclasses__()]


@pytest.mark.parametrize("section", sections())
def test_every_option_has_a_description_and_an_example(section: type[BaseModel]) -> None:
    for name, option in section.model_fields.items():
        assert option.description, name
        assert option.examples, name


def test_the_example_of_a_limit_is_its_default() -> None:
    for name, option in LimitOptions.model_fields.items():
        if option.default is None:
            continue  # it depends on the machine
        example = (option.examples or [])[0]
        read = size if name == "frame" else seconds
        assert option.default == (read(example) if isinstance(example, str) else example), name


def test_brokers_may_be_dialled_elsewhere() -> None:
    main = {"bootstrap": ["kafka:9092"], "via": {"kafka:9092": "127.0.0.1:20001"}}
    cluster = Config.model_validate({**SMALL, "clusters": {"main": main}}).clusters["main"]
    assert cluster.detours == {("kafka", 9092): ("127.0.0.1", 20001)}


def test_a_configuration_never_changes() -> None:
    config = Config.model_validate(SMALL)
    with pytest.raises(ValidationError, match="frozen"):
        config.workers = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.listeners["c"] = config.listeners["a"]  # type: ignore[index]


def test_names_keep_the_order_of_the_file() -> None:
    assert list(Config.model_validate(SMALL).listeners) == ["b", "a"]


def test_a_configuration_can_be_handed_to_another_process() -> None:
    config = Config.model_validate(SMALL)
    assert pickle.loads(pickle.dumps(config)).model_dump() == config.model_dump()


def test_without_advertise_clients_are_given_the_host_they_can_reach() -> None:
    assert Config.model_validate(SMALL).listeners["a"].advertised_host == "h"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("workers: 100000000", '"workers" is 100000000; the most is 1024'),
        ("workers: 0", '"workers" is 0; the least is 1'),
        ("limits: {frame: 100}", '"frame" is 100; the least is 1024'),
        ("limits: {elements: 1}", '"elements" is 1; the least is 1000'),
        ("limits: {first_frame: 1ms}", '0.001 s is too short for anything to work; the least is "100ms"'),
        ("limits: {dial: 99 ms}", '0.099 s is too short for anything to work; the least is "100ms"'),
        ("limits: {memory: 512 KiB}", '"memory" is "512 KiB"; the least is 1048576'),
    ],
)
def test_a_number_that_nobody_means_is_said(tmp_path: Path, option: str, said: str) -> None:
    file = tmp_path / "gateway.yaml"
    around = "clusters: {main: {bootstrap: ['h:1']}}\nlisteners: {l: {cluster: main, bind: 'h:2'}}\n"
    file.write_text(f"{around}{option}\n")
    config, found = examine(file)
    assert config is None
    assert said in str(found[0])
