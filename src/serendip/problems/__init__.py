"""From a table or a pool folder to a pool and a model: `Columns`, `frame_problem`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.problems.folders.opening import PoolFolder as PoolFolder
    from serendip.problems.folders.opening import open_folder as open_folder
    from serendip.problems.framing import Columns as Columns
    from serendip.problems.framing import frame_problem as frame_problem
    from serendip.problems.label_kinds import LabelKind as LabelKind
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
