"""Tables that people send in: kept, and read in a process that can be ended."""

import asyncio
import io
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from fastapi import UploadFile

from serendip.core.errors import InvalidInput, SerendipError
from serendip.web.server import work
from serendip.web.server.lanes import Ended, Lane, Limits
from serendip.web.server.settings import MEGABYTE, ServeSettings
from serendip.web.server.uploads import Uploads

if TYPE_CHECKING:
    import pandas as pd

_LIMITS = Limits(seconds=120.0, memory=6000 * MEGABYTE)
_MOST_FRAMES = 8
_Wanted = tuple[str, tuple[str, ...], tuple[str, ...]]


class Tables:
    """The tables sent in for one store. No method but `path` touches the disk in the event loop."""

    def __init__(self, settings: ServeSettings, folder: Path) -> None:
        self._uploads = Uploads(folder, settings.max_upload)
        self._most = settings.max_unpacked
        self._lane = Lane("read", _LIMITS)
        self._frames: OrderedDict[_Wanted, pd.DataFrame] = OrderedDict()

    async def keep(self, name: str, source: UploadFile | bytes) -> str:
        """The id of a table that was sent in, once it is known to be one."""
        id = await self._kept(name, source)
        try:
            await self.frame(id)
        except SerendipError:
            await asyncio.to_thread(self._uploads.forget, id)
            raise
        return id

    async def _kept(self, name: str, source: UploadFile | bytes, apart: bool = False) -> str:
        data: BinaryIO = io.BytesIO(source) if isinstance(source, bytes) else source.file
        return await asyncio.to_thread(self._uploads.keep, name, data, apart)

    def path(self, id: str) -> Path:
        """Where a table is kept."""
        return self._uploads.path(id)

    async def frame(
        self, id: str, names: tuple[str, ...] = (), labels: tuple[str, ...] = ()
    ) -> "pd.DataFrame":
        """A table that is kept; not to be changed, for others get the same.

        Args:
            id: Of the table.
            names: Columns of names, where they are known.
            labels: Columns of labels, likewise.
        """
        path = await asyncio.to_thread(self._uploads.path, id)
        wanted = (id, names, labels)
        if wanted not in self._frames:
            future, _ = self._lane.submit(work.table, path, self._most, names, labels)
            try:
                self._frames[wanted] = await asyncio.wrap_future(future)
            except Ended as problem:
                raise InvalidInput(f"{path.name} is too large to be read. {problem}") from None
            while len(self._frames) > _MOST_FRAMES:
                self._frames.popitem(last=False)
        self._frames.move_to_end(wanted)
        return self._frames[wanted]

    async def read_once(
        self, name: str, source: UploadFile | bytes, names: tuple[str, ...], labels: tuple[str, ...]
    ) -> "pd.DataFrame":
        """A table that is read and not kept, such as one of results."""
        id = await self._kept(name, source, apart=True)
        try:
            return await self.frame(id, names, labels)
        finally:
            self._frames.pop((id, names, labels), None)
            await asyncio.to_thread(self._uploads.forget, id)

    async def settled(self, path: Path) -> Path:
        """The same file where it stays for good."""
        return await asyncio.to_thread(self._uploads.settled, path)

    def tidy(self) -> None:
        """Removes tables that no campaign has begun with for a week."""
        self._uploads.tidy()

    def close(self) -> None:
        """Ends the process that reads."""
        self._lane.close()
