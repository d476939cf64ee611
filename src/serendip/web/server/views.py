"""What is computed from a campaign, in another process, and kept until the campaign changes."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from serendip.core.errors import SerendipError
from serendip.web.server import work
from serendip.web.server.lanes import Lane
from serendip.web.server.together import Together
from serendip.web.server.waits import Kind, Waits

T = TypeVar("T")

_MOST = 24
_Key = tuple[str, Callable[..., Any], tuple[Any, ...]]


@dataclass(slots=True, eq=False)
class _View:
    compute: Together[None, Any]
    tip: str = ""
    """The hash of the log's end that the value takes into account. A version would not do: it may
    come twice, where a backup of the store was put in its place."""
    value: Any = field(default=None)


class Views:
    """Functions of campaigns, each computed once a change, whoever asks for it."""

    def __init__(self, store: str, lane: Callable[[str], Lane], waits: Waits) -> None:
        """Begins with nothing known.

        Args:
            store: The address of the store.
            lane: The lane for a campaign of this name.
            waits: Hears how far the work is.
        """
        self._waits = waits
        self._store = store
        self._lane = lane
        self._views: OrderedDict[_Key, _View] = OrderedDict()

    async def get(
        self, name: str, tip: str, function: Callable[..., T], args: tuple[Any, ...]
    ) -> T:
        """What the function makes of the campaign at the end of its log, or later.

        Args:
            name: Of the campaign.
            tip: The hash of the last event that must be taken into account.
            function: Of a module; takes the campaign and the arguments, and writes nothing.
            args: That can be compared.
        """
        key = (name, function, args)
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = _View(Together(lambda asked: self._compute(key, asked)))
            self._forget()
        self._views.move_to_end(key)
        if view.tip == tip:
            value: T = view.value
            return value
        return await view.compute(None)  # type: ignore[no-any-return]  # what the function gave

    def known(
        self, name: str, tip: str, function: Callable[..., Any], args: tuple[Any, ...] = ()
    ) -> bool:
        """Whether `get` would answer at once."""
        view = self._views.get((name, function, args))
        return view is not None and view.tip == tip

    async def _compute(self, key: _Key, asked: Sequence[None]) -> Sequence[Any | SerendipError]:
        name, function, args = key
        heard = self._waits.hear(name, Kind.view)
        future, _ = self._lane(name).submit(
            work.view, self._store, name, function, args, heard=heard
        )
        self._waits.until(future, name, Kind.view)
        tip, value = await asyncio.wrap_future(future)
        if key in self._views:
            self._views[key].tip, self._views[key].value = tip, value
        return [value] * len(asked)

    def _forget(self) -> None:
        """Those that were not wanted for longest."""
        for key in [key for key, view in self._views.items() if not view.compute.busy]:
            if len(self._views) <= _MOST:
                break
            del self._views[key]
