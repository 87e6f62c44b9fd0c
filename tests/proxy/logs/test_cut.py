"""A long text is cut in its middle, and its original length is noted there."""

from proxy.logs.cut import SHORT, cut


def test_what_fits_stays_as_it_is() -> None:
    assert cut("x" * SHORT) == "x" * SHORT


def test_what_is_too_long_keeps_its_beginning_and_its_end() -> None:
    assert cut("a" * 60 + "b" * 60, 40) == "a" * 30 + "…" + "b" * 10 + " (120 characters)"
