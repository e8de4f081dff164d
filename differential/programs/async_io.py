"""Async I/O: ordered, unordered, time-out, retry by result and by exception."""

from __future__ import annotations

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    RuntimeContext,
    async_retry_predicates,
)

from differential.programs.kit import MULTISET, Program

PROGRAM = Program()


def numbers(env, draw, count=20):
    return env.from_collection([draw.randint(0, 99) for _ in range(count)], Types.LONG())


class Ask(AsyncFunction):
    """The larger the number, the sooner the answer."""

    def open(self, runtime_context: RuntimeContext):
        self.opened = True

    async def async_invoke(self, value):
        await asyncio.sleep((100 - value) / 2000)
        return [value, -value] if value % 2 else [value]


@PROGRAM.stream()
def ordered(env, draw):
    return AsyncDataStream.ordered_wait(numbers(env, draw), Ask(), Time.seconds(20), 5, Types.LONG())


@PROGRAM.stream(MULTISET)
def unordered(env, draw):
    return AsyncDataStream.unordered_wait(numbers(env, draw), Ask(), Time.seconds(20), 5, Types.LONG())


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        if value % 3 == 0:
            await asyncio.sleep(60)
        return [("answer", value)]

    def timeout(self, value):
        return [("too late", value)]


@PROGRAM.stream()
def a_time_out_may_give_a_result(env, draw):
    return AsyncDataStream.ordered_wait(numbers(env, draw, 6), Slow(), Time.milliseconds(600), 20)


@PROGRAM.stream(MULTISET)
def a_time_out_unordered(env, draw):
    return AsyncDataStream.unordered_wait(numbers(env, draw, 6), Slow(), Time.milliseconds(600), 20)


class Flaky(AsyncFunction):
    """Fails, or answers nothing, the first times it is asked."""

    def __init__(self, fail):
        self.fail, self.asked = fail, {}

    async def async_invoke(self, value):
        number, times = value
        self.asked[number] = self.asked.get(number, 0) + 1
        if self.asked[number] <= times:
            if self.fail:
                raise ValueError(number)
            return []
        return [(number, self.asked[number])]

    def timeout(self, value):
        return [(value[0], "late")]


def flaky(env, draw):
    return env.from_collection([(n, draw.randint(0, 3)) for n in range(12)])


@PROGRAM.stream()
def retry_on_exceptions(env, draw):
    retry = AsyncRetryStrategy.fixed_delay(
        max_attempts=5,
        backoff_time_millis=10,
        result_predicate=None,
        exception_predicate=async_retry_predicates.has_exception_predicate,
    )
    return AsyncDataStream.ordered_wait_with_retry(flaky(env, draw), Flaky(True), Time.seconds(20), retry, 5)


@PROGRAM.stream(MULTISET)
def retry_on_empty_results(env, draw):
    retry = AsyncRetryStrategy.exponential_backoff(
        max_attempts=5,
        initial_delay=10,
        max_retry_delay=40,
        multiplier=2,
        result_predicate=async_retry_predicates.empty_result_predicate,
        exception_predicate=None,
    )
    return AsyncDataStream.unordered_wait_with_retry(flaky(env, draw), Flaky(False), Time.seconds(20), retry, 5)


@PROGRAM.stream()
def retries_come_to_an_end(env, draw):
    """After the last attempt an empty result is the result."""
    retry = AsyncRetryStrategy.fixed_delay(
        max_attempts=2,
        backoff_time_millis=10,
        result_predicate=async_retry_predicates.empty_result_predicate,
        exception_predicate=None,
    )
    return AsyncDataStream.ordered_wait_with_retry(flaky(env, draw), Flaky(False), Time.seconds(20), retry, 5)
