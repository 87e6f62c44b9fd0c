"""The actions of faults, as a file names them."""

import pytest

from plugins.faults.action import FaultAction
from plugins.faults.model import FORM


@pytest.mark.parametrize("name", FaultAction.model_fields)
def test_every_effect_is_read_as_its_example_says_it(name: str) -> None:
    (example,) = FaultAction.model_fields[name].examples or ()
    file = FORM.examine(f"faults: [{{do: {{{name}: {example}}}}}]", "faults.yaml", {})
    (problem,) = file.result()[1] or [None]
    assert problem is None
    assert file.usable().faults[0].do.said == (name,)
