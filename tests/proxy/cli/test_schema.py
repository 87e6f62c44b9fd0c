"""`doorkeeper schema`."""

import json

from click.testing import CliRunner

from proxy.cli import main
from proxy.config.schema import SHIPPED


def test_it_prints_the_schema_that_is_shipped() -> None:
    result = CliRunner().invoke(main, ["schema"])
    assert result.exit_code == 0
    assert result.output == SHIPPED.read_text(encoding="utf-8")
    assert json.loads(result.output)["required"] == ["clusters", "listeners"]
