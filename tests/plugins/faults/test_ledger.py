"""The ledger keeps the last entries, and counts all."""

from plugins.faults.ledger import FORGOTTEN, Ledger, LedgerEntry, NotedRequest, Result


def fetch(number: int) -> NotedRequest:
    return NotedRequest("Fetch", 12, number, connection=1)


def entry(number: int, fault: str = "slow") -> LedgerEntry:
    return LedgerEntry(0.0, fault, Result.FIRED, "delay", "192.0.2.1:5", 2, fetch(number))


def test_its_memory_is_bounded_and_its_counts_are_not() -> None:
    ledger = Ledger(kept=3)
    for number in range(10):
        result = Result.FIRED if number % 2 else Result.NEAR_MISS
        ledger.note(LedgerEntry(0.0, "slow", result, "", "192.0.2.1:5", None, fetch(number)))
    assert [entry.request for entry in ledger] == [fetch(7), fetch(8), fetch(9)]
    assert (ledger.count("slow", Result.FIRED), ledger.count("slow", Result.NEAR_MISS)) == (5, 5)
    assert len(ledger.of("slow")) == 3
    assert [entry.request for entry in ledger.of("slow", Result.NEAR_MISS)] == [fetch(8)]
    assert ledger.of("other") == []


def test_an_entry_is_one_line_for_people() -> None:
    told = LedgerEntry(0.0, "slow", Result.FIRED, "delay", "192.0.2.1:5", 2, fetch(7), 4)
    assert str(told) == "slow: fired at match 4: Fetch v12 #7 of 192.0.2.1:5 to broker 2: delay"


def test_it_is_read_on_from_a_number() -> None:
    ledger = Ledger(kept=3)
    for number in range(10):
        ledger.note(entry(number))
    assert [number for number, _ in ledger.after(0, 2)] == [8, 9]
    assert ledger.after(9, 2) == [(10, entry(9))]
    assert ledger.after(10, 2) == []


def test_what_it_forgets_it_counts_from_0_again_and_numbers_go_on() -> None:
    ledger = Ledger()
    for fault in ("slow", "lost"):
        ledger.note(entry(1, fault))
    ledger.forget(["slow"])
    assert (ledger.numbers("slow"), ledger.numbers("lost")) == ((0, 0), (1, 1))
    assert (ledger.last_numbers("slow"), ledger.last_numbers("lost")) == ((1, 1), (0, 0))
    ledger.begin_anew()
    assert (list(ledger), ledger.count("lost", Result.FIRED)) == ([], 0)
    ledger.note(entry(1))
    assert [number for number, _ in ledger.after(0, 9)] == [3]


def test_last_numbers_of_faults_that_are_gone_are_kept_of_so_many() -> None:
    ledger = Ledger()
    names = [f"fault {number}" for number in range(FORGOTTEN + 1)]
    for name in names:
        ledger.note(entry(1, name))
        ledger.forget([name])
    assert [ledger.last_numbers(name) for name in names] == [(0, 0), *[(1, 1)] * FORGOTTEN]
