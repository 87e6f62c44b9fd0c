"""Anomalies are reported by kind, in short."""

from chaos.anomalies import Anomalies, Anomaly, AnomalyKind


def anomaly(kind: AnomalyKind, offset: int) -> Anomaly:
    return Anomaly(kind, f"orders-0 offset {offset}", ("#1 producer sent order to orders",))


def test_only_the_first_few_of_a_kind_are_told() -> None:
    found = Anomalies([anomaly(AnomalyKind.LOST_WRITE, offset) for offset in range(100)])
    assert str(found).startswith("100 x lost write\nlost write: orders-0 offset 0\n    #1 producer sent")
    assert str(found).endswith("... and 97 more of lost write")
    assert len(str(found).splitlines()) == 8


def test_kinds_can_be_picked_and_left_out() -> None:
    found = Anomalies([anomaly(AnomalyKind.LOST_WRITE, 1), anomaly(AnomalyKind.UNSENT, 2)])
    assert found.kinds == {AnomalyKind.LOST_WRITE, AnomalyKind.UNSENT}
    assert [it.place for it in found.of(AnomalyKind.UNSENT)] == ["orders-0 offset 2"]
    assert not found.without(*found.kinds)
    assert str(found.without(*found.kinds)) == "no anomalies"
