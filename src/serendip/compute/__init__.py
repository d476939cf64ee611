"""Where folds and runs are carried out: `Engine`, `run_all`, processes, a Ray cluster, a GPU."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.compute.engines import Engine as Engine
    from serendip.compute.engines import sharded_pool as sharded_pool
    from serendip.compute.parallel import run_all as run_all
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
