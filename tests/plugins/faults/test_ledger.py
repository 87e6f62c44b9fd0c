"""The ledger keeps the last entries, and counts all."""

from plugins.faults.ledger import Ledger, LedgerEntry, Result


def test_its_memory_is_bounded_and_its_counts_are_not() -> None:
    ledger = Ledger(kept=3)
    for number in range(10):
        result = Result.FIRED if number % 2 else Result.NEAR_MISS
        ledger.note(LedgerEntry(0.0, "slow", result, "", "192.0.2.1:5", None, f"Fetch v12 #{number}"))
    assert [entry.request for entry in ledger] == ["Fetch v12 #7", "Fetch v12 #8", "Fetch v12 #9"]
    assert (ledger.count("slow", Result.FIRED), ledger.count("slow", Result.NEAR_MISS)) == (5, 5)
    assert len(ledger.of("slow")) == 3
    assert [entry.request for entry in ledger.of("slow", Result.NEAR_MISS)] == ["Fetch v12 #8"]
    assert ledger.of("other") == []


def test_an_entry_is_one_line_for_people() -> None:
    entry = LedgerEntry(0.0, "slow", Result.FIRED, "delay", "192.0.2.1:5", 2, "Fetch v12 #7", 4)
    assert str(entry) == "slow: fired at match 4: Fetch v12 #7 of 192.0.2.1:5 to broker 2: delay"
