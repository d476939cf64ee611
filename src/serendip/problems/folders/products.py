"""`serendip pool product`: combinations of reagents, of which only the tables are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np

from serendip.core.arrays import Ints
from serendip.core.errors import InvalidInput
from serendip.pools.product import ProductRows, item_at, places
from serendip.problems.folders.finishing import Watch, finish, finished, plan_of, unseen
from serendip.problems.folders.manifest import PRODUCT, Manifest
from serendip.problems.folders.names import STREAM_END, read_texts, stream_start, text_batch
from serendip.problems.folders.writing import workplace
from serendip.tables import encode_features, ids_of, read_table

_BETWEEN = " + "
"""Joins the names of the parts."""


def make_product(
    paths: Sequence[Path],
    out: Path,
    *,
    id: str | None = None,
    ignore: Sequence[str] = (),
    interactions: bool = False,
    watch: Watch = unseen,
) -> Manifest:
    """A pool folder of all combinations of one row from each table.

    Args:
        paths: Two tables or more, one reagent a row.
        out: The folder to make.
        id: The column that names the reagents, in each of the tables; by default their rows.
        ignore: Columns to leave out, where a table has them.
        interactions: Whether products of a feature of one part and one of another are features.
        watch: Shows how far it is.
    """
    if len(paths) < 2:
        raise InvalidInput(f"A product needs at least two tables; got {len(paths)}.")
    titles = [path.stem for path in paths]
    if len(set(titles)) < len(titles):
        raise InvalidInput(
            f"The tables of a product need different names; got {', '.join(titles)}. Copy one "
            "under another name."
        )
    tables = [read_table(path, names=(id,)) for path in paths]
    options = {"id": id, "ignore": list(ignore), "interactions": interactions}
    plan = plan_of("product", paths, options)
    done = finished(out, plan)
    if done is not None:
        return done
    parts = []
    for title, table in zip(titles, tables, strict=True):
        ids = ids_of(table, id)
        left_out = [name for name in (id, *ignore) if name and name in table.columns]
        encoded = encode_features(table, ignore=left_out)
        wrong = next((name for name in ids if _BETWEEN in name), None)
        if wrong is not None:
            raise InvalidInput(
                f"Names of combinations are joined by {_BETWEEN!r}, which {wrong!r} of {title} "
                "holds already; rename it."
            )
        parts.append((encoded, ids))
    rows = ProductRows(tuple(encoded.x for encoded, _ in parts), interactions)
    names: list[str] = []
    with workplace(out, plan) as place:
        for at, (encoded, ids) in enumerate(parts, start=1):
            np.save(out / f"part{at}.npy", encoded.x.astype(np.float32))
            stream = stream_start(("id",)) + text_batch([ids], ("id",)) + STREAM_END
            (out / f"part{at}.arrows").write_bytes(stream)
            names += [f"part{at}.npy", f"part{at}.arrows"]
        own = [
            [f"{title}: {name}" for name in encoded.names]
            for title, (encoded, _) in zip(titles, parts, strict=True)
        ]
        crossed = [
            f"{one} × {other}"
            for first, second in (combinations(own, 2) if interactions else ())
            for one in first
            for other in second
        ]
        manifest = Manifest(
            kind=PRODUCT,
            n=prod(rows.sizes),
            d=rows.width,
            dtype="float32",
            features=(*(name for part in own for name in part), *crossed, "constant"),
            encodings=tuple({"kind": "part", "name": title} for title in titles),
            options=options,
            notes=tuple(
                f"{title}: {note}"
                for title, (encoded, _) in zip(titles, parts, strict=True)
                for note in encoded.notes
            ),
            id=None,
            kept=tuple(titles),
            label=None,
            n_labels=0,
            finite=True,
            sources=(),
            files=(),
        )
        return finish(place, manifest, names, plan, rows.sizes, watch)


def product_rows(folder: Path, manifest: Manifest) -> ProductRows:
    """The combinations of a folder; its tables are small and held in memory."""
    tables = [np.load(folder / f"part{at}.npy") for at in range(1, len(manifest.encodings) + 1)]
    return ProductRows(tuple(tables), bool(manifest.options["interactions"]))


@dataclass(frozen=True, slots=True, eq=False)
class ProductNames:
    """Names of combinations: those of the parts, joined."""

    titles: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, folder: Path, manifest: Manifest) -> "ProductNames":
        """The names in a folder."""
        titles = tuple(str(one["name"]) for one in manifest.encodings)
        count = range(1, len(titles) + 1)
        return cls(titles, tuple(tuple(read_texts(folder / f"part{at}.arrows")) for at in count))

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(part) for part in self.parts)

    def __len__(self) -> int:
        return prod(self._sizes)

    def __getitem__(self, item: int) -> str:
        found = places(np.array([item]), self._sizes)
        return _BETWEEN.join(
            part[int(place[0])] for part, place in zip(self.parts, found, strict=True)
        )

    def place(self, name: str) -> int | None:
        """Looks up each part."""
        words = name.split(_BETWEEN)
        if len(words) != len(self.parts):
            return None
        found = [
            part.index(word) if word in part else None
            for part, word in zip(self.parts, words, strict=True)
        ]
        known = [place for place in found if place is not None]
        return item_at(known, self._sizes) if len(known) == len(found) else None

    def beside(self, items: Ints) -> dict[str, list[str]]:
        """The parts, each in a column of its own."""
        return {
            title: [part[place] for place in found.tolist()]
            for title, part, found in zip(
                self.titles, self.parts, places(items, self._sizes), strict=True
            )
        }
