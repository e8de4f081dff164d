"""Public names on PyFlink's path `pyflink.common.completable_future`."""

from penstock.core.futures import CompletableFuture

__all__ = ["CompletableFuture"]
