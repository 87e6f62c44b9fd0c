"""The inputs of reports beside the events."""

from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs, WorkHours


def test_hours_of_work_are_told_as_people_say_them() -> None:
    assert str(WorkHours()) == "Mon, Tue, Wed, Thu, Fri 08:00 to 18:00"
    assert str(WorkHours((5,), 0, 90)) == "Sat 00:00 to 01:30"


def test_without_anything_said_all_of_a_journal_is_meant() -> None:
    inputs = Inputs(JournalFacts("journal", True))
    assert (inputs.since, inputs.until, inputs.principals, inputs.zone) == (None, None, (), "UTC")
