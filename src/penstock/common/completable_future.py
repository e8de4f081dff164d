"""Public names on PyFlink's path `pyflink.common.completable_future`."""

from penstock.jobs.futures import CompletableFuture

__all__ = ["CompletableFuture"]
