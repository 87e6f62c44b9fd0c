"""Alike: frames with the same layout. A frame that equals an earlier one in every layout byte ends as that one did.

Rules:
* A walk over a frame looks at lengths, counts and tags, and at nothing else. `Looked` notes where, once. After that,
  one comparison of numbers says whether a walk over a frame of the same length would see the same: 0.5 us instead of
  1.3.
* The first layout that was remembered for a length stays. A frame with another layout is walked.
* Comparing takes 3 ns a byte, walking 80 ns a place: if a walk has little to look at (records), walking is faster.
"""

from __future__ import annotations

from collections.abc import Callable

LONGEST = 8 << 10  # bytes of a frame that is remembered
DENSE = 20  # the most bytes of a frame for each place that a walk looks at
MOST = 64  # lengths that are remembered


class Looked:
    """Bytes that note which of them were looked at."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.places: set[int] = set()

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> int:
        self.places.add(place)
        return self.data[place]


class Alike:
    """Layouts by length of frame: which bytes a walk looked at (as a mask), and their values."""

    __slots__ = ("_layouts",)

    def __init__(self) -> None:
        self._layouts: dict[int, tuple[int, int] | None] = {}  # None: walking is faster

    def knows(self, data: memoryview, start: int, stop: int) -> bool:
        """Have the bytes from `start` to `stop` the layout that was remembered?"""
        layout = self._layouts.get(stop - start)
        return layout is not None and int.from_bytes(data[start:stop]) & layout[0] == layout[1]

    def remember(self, data: memoryview, start: int, stop: int, walk: Callable[[Looked, int], int]) -> None:
        """Remember the layout of these bytes: `walk` goes over them."""
        if stop - start > LONGEST or stop - start in self._layouts or len(self._layouts) == MOST:
            return
        looked = Looked(data[start:stop])
        walk(looked, 0)
        if stop - start > DENSE * len(looked.places):
            self._layouts[stop - start] = None
            return
        mask = bytearray(stop - start)
        for place in looked.places:
            mask[place] = 255
        seen = int.from_bytes(mask)
        self._layouts[stop - start] = seen, int.from_bytes(looked.data) & seen
