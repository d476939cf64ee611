"""Pools: where candidates live and how they are walked."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.pools.dense import DensePool as DensePool
    from serendip.pools.product import ProductRows as ProductRows
    from serendip.pools.sharded import ShardedPool as ShardedPool
    from serendip.pools.storage.mapped import mapped_pool as mapped_pool
    from serendip.pools.streamed import StreamedPool as StreamedPool
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
