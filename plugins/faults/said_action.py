"""Said action: the ways to write what a fault does.

An effect is written alone (`do: hold`), with its main option only (`do: {error: NOT_LEADER_OR_FOLLOWER}`), or with all
its options (`do: {error: {code: ..., level: partition}}`). An option beside its effect is a common mistake, which is
told with the place where it belongs.
"""

from __future__ import annotations

from typing import Any, get_args

from plugins.faults.action import FaultAction
from proxy.plugin import wrong
from proxy.plugin.files import nearest, shown


def action(value: object) -> object:
    """Read what a fault does: `do: hold` means `do: {hold: {}}`."""
    if isinstance(value, dict):
        _check_inside(value)
    if not isinstance(value, str):
        return value
    if value not in FaultAction.model_fields:
        raise wrong(f"unknown effect {shown(value)}", nearest(value, FaultAction.model_fields))
    return {value: None}


def _check_inside(said: dict[Any, Any]) -> None:
    """Raise where an option of the effect stands beside it: `do: {error: UNKNOWN_TOPIC_ID, side: after_broker}`."""
    known = [name for name in said if name in FaultAction.model_fields]
    if len(known) != 1:
        return
    effect = get_args(FaultAction.model_fields[known[0]].annotation)[0]
    for name in said:
        option = effect.model_fields.get(name)
        if option is not None and name != known[0]:
            way_out = f'write it there: "{known[0]}: {{{name}: {option.examples[0]}, ...}}"'
            raise wrong(f'"{name}" is an option of "{known[0]}"', way_out)
