"""Operations on faults: `/faults`, `/populate`, `/reset`, `/ledger`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from proxy.admin.bodies import read_json
from proxy.admin.merged_ledger import MergedLedger
from proxy.admin.operations import HttpOperation, QueryParameter
from proxy.admin.problems import HttpError
from proxy.admin.run_time_faults import FaultsAtRunTime
from proxy.admin.shapes import FaultAnswer, FaultBody, FaultsAnswer, LedgerAnswer, NamesAnswer, PopulateBody, ResetBody
from proxy.core.state import PluginStates, StateError
from proxy.text.problems import Finding
from proxy.text.words import nearest, shown

MOST_ENTRIES = 1_000
LONGEST_WAIT = 30.0  # seconds
LARGEST_SEED = 2**63 - 1

# The error statuses of operations: of all, of those on one fault by name, and of those with a body.
ASKED = (409, 503)
NAMED = (*ASKED, 404)
SENT = (*ASKED, 400, 408, 413, 415, 422)
SENT_NAMED = (*SENT, 404)
PAGED = (*ASKED, 400)
PAGE = (
    QueryParameter("since", "integer", "Entries after that number; from the first one without it."),
    QueryParameter("limit", "integer", f"So many at the most; {MOST_ENTRIES:,} without it."),
    QueryParameter("wait", "number", f"Seconds to wait for a first one; {LONGEST_WAIT:g} at the most."),
)


class FaultOperations:
    """The operations on the faults of all workers."""

    def __init__(self, states: PluginStates) -> None:
        self._faults = FaultsAtRunTime(states)
        self._ledger = MergedLedger(self._faults.query)

    @property
    def operations(self) -> list[HttpOperation]:
        """All operations of this group."""
        it, one = HttpOperation, "/faults/{name}"
        add = it("POST", "/faults", self._add, "Add faults, all or none", NamesAnswer, 201, FaultBody, SENT)
        return [
            it("GET", "/faults", self._list, "All faults", FaultsAnswer, problems=ASKED),
            replace(add, takes_several=True),
            it("GET", one, self._one, "One fault", FaultAnswer, problems=NAMED),
            it("PUT", one, self._replace, "Put another in its place", FaultAnswer, 200, FaultBody, SENT_NAMED),
            it("DELETE", one, self._remove, "Take it away, and see its last numbers", FaultAnswer, problems=NAMED),
            it("POST", f"{one}/release", self._release, "Let go on what it holds", None, 204, problems=NAMED),
            it("POST", "/populate", self._populate, "Have exactly these", NamesAnswer, 200, PopulateBody, SENT),
            it("POST", "/reset", self._reset, "Have none, and count anew", None, 204, ResetBody, SENT),
            it("GET", "/ledger", self._page, "What faults did", LedgerAnswer, 200, None, PAGED, PAGE),
        ]

    async def _list(self, request: Request) -> Response:
        return JSONResponse(await self._faults.listed())

    async def _add(self, request: Request) -> Response:
        sent = await read_json(request)
        return JSONResponse({"names": await self._faults.add(sent if isinstance(sent, list) else [sent])}, 201)

    async def _one(self, request: Request) -> Response:
        return JSONResponse(await self._faults.one(request.path_params["name"]))

    async def _replace(self, request: Request) -> Response:
        name = request.path_params["name"]
        await self._faults.replace(name, await read_json(request))
        return JSONResponse(await self._faults.one(name))

    async def _remove(self, request: Request) -> Response:
        return JSONResponse(await self._faults.remove(request.path_params["name"]))

    async def _release(self, request: Request) -> Response:
        found = await self._faults.one(request.path_params["name"])
        await self._faults.query("release", {"name": found["name"]})
        return Response(status_code=204)

    async def _populate(self, request: Request) -> Response:
        sent = _object(await read_json(request), {"seed", "faults"})
        faults = sent.get("faults", [])
        if not isinstance(faults, list):
            raise StateError([Finding(("faults",), "the faults are an array")])
        return JSONResponse({"names": await self._faults.populate(faults, _seed(sent))})

    async def _reset(self, request: Request) -> Response:
        seed = _seed(_object(await read_json(request), {"seed"}))
        await self._ledger.begin_anew(lambda: self._faults.reset(seed))
        return Response(status_code=204)

    async def _page(self, request: Request) -> Response:
        _has_only(request, [it.name for it in PAGE])
        since = int(_number(request, "since", 0, 2**53))
        limit = int(_number(request, "limit", MOST_ENTRIES, MOST_ENTRIES))
        return JSONResponse(await self._ledger.page(since, limit, _number(request, "wait", 0, LONGEST_WAIT)))


def _object(sent: Any, known: set[str]) -> dict[str, Any]:
    """An object with these values and no others. No body means an empty object."""
    if sent is None:
        return {}
    if not isinstance(sent, dict):
        raise HttpError(422, "the body must be an object; nothing was changed")
    unknown = sent.keys() - known
    if unknown:
        raise StateError(Finding((name,), f"only {' and '.join(sorted(known))} may stand here") for name in unknown)
    return sent


def _seed(sent: dict[str, Any]) -> int | None:
    seed = sent.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or abs(seed) > LARGEST_SEED):
        raise StateError([Finding(("seed",), "the seed is a whole number of 64 bits; write e.g. 7")])
    return seed


def _has_only(request: Request, known: Sequence[str]) -> None:
    """Raise HttpError if the query has another parameter: a misspelt one would be as if it were left out."""
    for name in request.query_params:
        if name not in known:
            raise HttpError(400, f"unknown parameter {shown(name)}; {nearest(name, known)}")


def _number(request: Request, name: str, default: float, most: float) -> float:
    """A number in the query. Raises HttpError."""
    said = request.query_params.get(name)
    if said is None:
        return default
    try:
        found = float(said)
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise HttpError(400, f'"{name}" is "{said[:60]}"; it is a number from 0 to {most:g}')
    return found
