"""Checks across options."""

from proxy.config import checks
from proxy.config.checks import ROOM
from proxy.config.model import Config
from proxy.text.problems import Finding


def findings(config: Config) -> list[Finding]:
    return list(checks.findings(config, config.clusters))


def config(**listeners: str) -> Config:
    every = {name: {"cluster": "main", "bind": bind} for name, bind in listeners.items()}
    return Config.model_validate({"clusters": {"main": {"bootstrap": ["kafka:9092"]}}, "listeners": every})


def test_ports_that_keep_away_from_each_other_are_fine() -> None:
    assert not findings(config(one="127.0.0.1:9000", two=f"127.0.0.1:{9000 + ROOM + 1}"))


def test_the_same_port_on_two_addresses_is_fine() -> None:
    assert not findings(config(one="127.0.0.1:9000", two="127.0.0.2:9000"))


def test_the_port_of_a_likely_broker_is_a_warning_whichever_listener_comes_first() -> None:
    for listeners in ({"one": "h:9000", "two": "h:9010"}, {"two": "h:9010", "one": "h:9000"}):
        (finding,) = findings(config(**listeners))
        assert finding.warning
        assert 'listener "one" needs this port for a broker of id 9' in finding.message
        assert finding.path[1] == "two"


def test_each_listener_without_a_port_of_its_own_is_told_once() -> None:
    found = findings(config(a="h:9000", b="h:9000", c="0.0.0.0:9000", d="i:9000", e="i:9005"))
    about_ports = [it for it in found if it.message.startswith("listener")]
    assert [(it.path[1], it.message.split(" has ")[0].split(" needs ")[0]) for it in about_ports] == [
        ("b", 'listener "a"'),
        ("c", 'listener "b"'),
        ("d", 'listener "c"'),
        ("e", 'listener "d"'),
    ]


def test_one_host_has_several_notations() -> None:
    for one, two in (
        ("[::1]", "[0::1]"),
        ("kafka", "KAFKA"),
        ("127.0.0.1", "localhost"),
        ("[::0]", "kafka"),
        ("kafka", "0"),
    ):
        found = [it.message for it in findings(config(a=f"{one}:9000", b=f"{two}:9000")) if it.path[-1] == "bind"]
        assert 'listener "a" has port 9000 already; choose another, more than 10 away' in found


def test_a_bootstrap_address_that_is_a_listener_is_told_in_whatever_notation() -> None:
    def told(bind: str, bootstrap: str) -> bool:
        whole = config(clients=f"{bind}:9000").model_dump(exclude_unset=True)
        whole["clusters"]["main"]["bootstrap"] = [f"{bootstrap}:9000"]
        return any("is listener" in finding.message for finding in findings(Config.model_validate(whole)))

    for bind, bootstrap in (
        ("127.0.0.1", "localhost"),
        ("localhost", "127.0.0.1"),
        ("[::1]", "[0::1]"),
        ("kafka", "KAFKA"),
        ("0.0.0.0", "localhost"),
        ("0.0.0.0", "127.0.0.1"),
    ):
        assert told(bind, bootstrap), (bind, bootstrap)
    for bind, bootstrap in (("127.0.0.1", "127.0.0.2"), ("0.0.0.0", "kafka"), ("127.0.0.1", "kafka")):
        assert not told(bind, bootstrap), (bind, bootstrap)


def test_with_host_names_a_listener_needs_one_port_alone() -> None:
    shared = {"tls": {"hosts": "b{id}.kafka"}, "advertise": "kafka"}

    def told(**ports: int) -> list[str]:
        whole = config(**{name: f"h:{port}" for name, port in ports.items()}).model_dump(exclude_unset=True)
        whole["listeners"]["one"] |= shared
        whole["admin"] = {"bind": "h:9002"}
        found = findings(Config.model_validate(whole))
        return [it.message.partition(";")[0] for it in found if it.path[-1] == "bind"]

    assert not told(one=9000, two=9003)
    assert not told(one=65535)
    assert told(one=9000, two=9000)[0] == 'listener "one" has port 9000 already'
    assert told(two=8999, one=9000) == [
        'listener "two" needs this port for a broker of id 0',
        'listener "two" needs this port for a broker of id 2',
    ]


def test_an_admin_side_that_others_reach_wants_a_token_where_it_takes_faults() -> None:
    def told(bind: str, *plugins: str, **admin: str) -> list[str]:
        sections = {"plugins": [{name: {}} for name in plugins], "admin": {"bind": bind, **admin}}
        whole = config(one="h:9000").model_dump(exclude_unset=True) | sections
        found = findings(Config.model_validate(whole))
        assert all(it.warning and it.path == ("admin", "bind") for it in found)
        return [it.message for it in found]

    (message,) = told("0.0.0.0:8000", "faults")
    assert message == (
        "others reach 0.0.0.0:8000, so without a token nobody may add faults or see clients there;"
        ' add "token: ${DOORKEEPER_TOKEN}", or bind 127.0.0.1'
    )
    assert not told("0.0.0.0:8000")
    assert not told("0.0.0.0:8000", "faults", token="0123456789abcdef")
    for loopback in ("127.0.0.1", "127.9.9.9", "[::1]", "localhost"):
        assert not told(f"{loopback}:8000", "faults")


def test_a_plugin_may_only_name_a_cluster_that_there_is() -> None:
    def told(**topic: str) -> list[tuple[object, str]]:
        audit = {"journal": "/journal", "topic": {"name": "audit", **topic}}
        sections = {
            "clusters": {"main": {"bootstrap": ["kafka:9092"]}},
            "listeners": {"clients": {"cluster": "main", "bind": "127.0.0.1:9000"}},
            "plugins": [{"audit": audit}],
        }
        found = findings(Config.model_validate(sections))
        return [(finding.path, finding.message) for finding in found]

    assert not told()
    assert not told(cluster="main")
    path = ("plugins", 0, "audit", "topic", "cluster")
    assert told(cluster="mian") == [(path, 'unknown cluster "mian"; did you mean "main"?')]
