"""Delay: a request waits before it goes to the broker, or its answer before it goes to the client.

All later requests or answers of the connection wait too, as with a slow broker.
Random times depend on the seed, the rule and the match alone. Times below 0 become 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

from pydantic import Field, StrictFloat

from plugins.faults.effect import Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import Api, Options, Sleep, Steps
from proxy.plugin.files import Seconds
from rules.trigger import Firing
from rules.values import Given

LONGEST = 3600.0  # seconds, the limit of random times
_NARROW = 1e-12  # stands for a chance of 0, which has no value in a distribution without a lower end


class UniformDelay(Options):
    """Times between two bounds, all equally likely."""

    from_: Seconds = Field(alias="from", description="The shortest.", examples=["100ms"])
    to: Seconds = Field(description="The longest.", examples=["300ms"])

    def drawn(self, chance: float) -> float:
        """The time at this part of the distribution, from 0 to 1."""
        return self.from_ + (self.to - self.from_) * chance


class NormalDelay(Options):
    """Normally distributed times."""

    mean: Seconds = Field(description="The mean.", examples=["200ms"])
    deviation: Seconds = Field(description="The standard deviation.", examples=["50ms"])

    def drawn(self, chance: float) -> float:
        """The time at this part of the distribution, from 0 to 1."""
        return NormalDist(self.mean, self.deviation).inv_cdf(max(chance, _NARROW))


class LognormalDelay(Options):
    """Times that are mostly short and rarely very long, as those of real networks and disks."""

    median: Seconds = Field(description="Half of the times are shorter.", examples=["20ms"])
    sigma: StrictFloat = Field(
        gt=0, le=5, description="How far it reaches: 95 % are below median * e^(1.6 sigma).", examples=["0.5"]
    )

    def drawn(self, chance: float) -> float:
        """The time at this part of the distribution, from 0 to 1."""
        return self.median * math.exp(self.sigma * NormalDist().inv_cdf(max(chance, _NARROW)))


class DelayFrame(SidedEffect):
    """Have a request or its answer wait."""

    time: Given[Seconds] = Field(default=None, description="For this time.", examples=["200ms"])
    jitter: Given[Seconds] = Field(
        default=None, description="The time is up to so much shorter or longer, all as likely.", examples=["20ms"]
    )
    uniform: Given[UniformDelay] = Field(
        default=None, description="For a time between two.", examples=["{from: 100ms, to: 300ms}"]
    )
    normal: Given[NormalDelay] = Field(
        default=None, description="For a time about a mean.", examples=["{mean: 200ms, deviation: 50ms}"]
    )
    lognormal: Given[LognormalDelay] = Field(
        default=None, description="For a time that is rarely long.", examples=["{median: 20ms, sigma: 0.5}"]
    )

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        said = [name for name in ("time", "uniform", "normal", "lognormal") if getattr(self, name) is not None]
        if not said:
            yield "", 'the delay has no time; write e.g. "delay: 200ms"'
        for name in said[1:]:
            yield name, f'"{said[0]}" and "{name}" both say how long; keep one of the two'
        if said and self.jitter is not None and self.time is None:
            yield "jitter", 'it is of a time that is not there; write e.g. "{time: 100ms, jitter: 20ms}"'
        if self.uniform is not None and self.uniform.from_ > self.uniform.to:
            yield "uniform", "it ends before it begins; put the shorter time first"

    def seconds(self, chance: float) -> float:
        """The delay in seconds at this part of the distribution, from 0 to 1."""
        if self.time is not None:
            return max(self.time + (self.jitter or 0.0) * (2 * chance - 1), 0.0)
        distribution = self.uniform or self.normal or self.lognormal
        assert distribution is not None
        return min(max(distribution.drawn(chance), 0.0), LONGEST)

    def apply(self, target: Target, firing: Firing) -> Steps:
        yield Sleep(self.seconds(firing.chance("delay")))
        return None
