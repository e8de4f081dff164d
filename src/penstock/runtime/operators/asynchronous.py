"""The operator of asynchronous calls: many run at a time, none when a batch ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Iterator
from itertools import repeat
from typing import Any

from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import AsyncSpec
from penstock.core.time.clock import pause_ms
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import describe, user_failure
from penstock.runtime.operators.process import Emitter
from penstock.runtime.values import Keys, Record, Records, Timestamps

__all__ = ["AsyncOperator"]


class _Failed(Exception):
    """Carries the record of a call that failed."""

    def __init__(self, record: object, error: Exception) -> None:
        super().__init__(record)
        self.record, self.error = record, error


class AsyncOperator(Emitter):
    """Waits for all calls of a chunk before it takes the next, so that no watermark overtakes a record."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, AsyncSpec)
        self._spec = desc.spec
        self._function = desc.spec.function
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Open the function and start the thread of the event loop."""
        self._function.open(LiveRuntimeContext(self.task, self.desc, keyed=False))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"async-{self.desc.name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the event loop, wait for its thread and close the function."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None
        self._function.close()

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Start a call for each record and wait for all of them; in ordered mode results keep the order of records."""
        stamps = list(timestamps) if timestamps is not None else list(repeat(None, len(values)))
        try:
            made = self._wait(self._all(values))
        except _Failed as failed:
            raise user_failure(
                self.desc.name, self.desc.uid, "async_invoke", failed.record, failed.error
            ) from failed.error
        for index, result in sorted(made, key=_index) if self._spec.ordered else made:
            if isinstance(result, _Failed):
                self.put_aside(values[index], stamps[index], result.error)
            else:
                self.take(result, stamps[index])
        self.flush()

    def _wait(self, work: Coroutine[Any, Any, list[tuple[int, Any]]]) -> list[tuple[int, Any]]:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _all(self, values: Records) -> list[tuple[int, Any]]:
        """Results with the index of their record, in the order in which the calls ended."""
        ended: list[tuple[int, Any]] = []
        todo = iter(enumerate(values))
        workers = min(self._spec.capacity, len(values))
        tasks = [asyncio.ensure_future(self._work(todo, ended)) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        return ended

    async def _work(self, todo: Iterator[tuple[int, object]], ended: list[tuple[int, Any]]) -> None:
        for index, value in todo:
            try:
                ended.append((index, await self._one(value)))
            except Exception as error:
                failed = _Failed(value, error)
                if self.poison is None:
                    raise failed from error
                ended.append((index, failed))

    async def _one(self, value: object) -> object:
        """Call for one record, with its retries, within the time-out."""
        limit_ms = self._spec.timeout_ms
        clock = asyncio.timeout(limit_ms / 1000 if limit_ms > 0 else None)
        try:
            async with clock:
                return self._checked("async_invoke", await self._tries(value))
        except TimeoutError:
            if not clock.expired():
                raise
        return self._checked("timeout", self._function.timeout(value))

    def _checked(self, method: str, result: object) -> Iterable[Record]:
        """Check that a result is a list of records. None is refused: it is most often a forgotten `return`."""
        if isinstance(result, Iterable) and not isinstance(result, str | bytes):
            return result
        where = f"{type(self._function).__name__}.{method}()"
        if result is None:
            raise TypeError(
                f"The result of AsyncFunction cannot be none, but {where} returned None: return a list of records, "
                "an empty one to emit nothing"
            )
        raise TypeError(
            f"The result of AsyncFunction should be of list type, but {where} returned {describe(result)} "
            f"({type(result).__name__}): return a list of records"
        )

    async def _tries(self, value: object) -> object:
        retry = self._spec.retry
        predicate = retry.get_retry_predicate()
        again_on_result, again_on_error = predicate.result_predicate(), predicate.exception_predicate()
        attempt = 1
        while True:
            try:
                result = await self._function.async_invoke(value)
                if again_on_result is None or not again_on_result(result) or not retry.can_retry(attempt):
                    return result
            except Exception as error:
                if again_on_error is None or not again_on_error(error) or not retry.can_retry(attempt):
                    raise
            await pause_ms(retry.get_backoff_time_millis(attempt))
            attempt += 1


def _index(pair: tuple[int, object]) -> int:
    return pair[0]
