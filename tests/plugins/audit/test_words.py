"""Words of the journal."""

from plugins.audit.words import config_type, id_text


def test_a_type_that_is_not_known_is_told_by_its_number() -> None:
    assert (config_type(2), config_type(99)) == ("topic", "type 99")


def test_ids_are_told_as_kafka_prints_them() -> None:
    assert id_text(bytes(range(16))) == "AAECAwQFBgcICQoLDA0ODw"
