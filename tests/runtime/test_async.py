"""Asynchronous calls: order, capacity, time-outs, retries (O5)."""

import asyncio
from typing import Any, ClassVar

import pytest

from penstock.common import Time
from penstock.core.errors import ProgramError, UserFunctionError
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.async_retry_predicates import empty_result_predicate, has_exception_predicate
from penstock.testing import At, Mark, ScriptedSource, collect, local_job, scripted_stream

PLENTY = Time.minutes(30)


class Nap(AsyncFunction):
    """Larger numbers come back sooner; `most` notes how many were under way at a time."""

    most: ClassVar[list[int]] = []

    def open(self, runtime_context: Any) -> None:
        self.under_way = 0

    async def async_invoke(self, value: int) -> list[Any]:
        self.under_way += 1
        Nap.most.append(self.under_way)
        await asyncio.sleep((10 - value) / 200)
        self.under_way -= 1
        return [value, -value] if value % 2 else []


class LargestFirst(AsyncFunction):
    """A call ends when those of all larger numbers have ended."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers

    def open(self, runtime_context: Any) -> None:
        self.ended: set[int] = set()

    async def async_invoke(self, value: int) -> list[Any]:
        while not self.ended.issuperset(n for n in self.numbers if n > value):
            await asyncio.sleep(0.001)
        self.ended.add(value)
        return [value]


def run(build: Any, items: list[Any], batches: tuple[int, ...] = ()) -> list[Any]:
    env = StreamExecutionEnvironment()
    collect(build(env.from_collection(items)), "out")
    job = local_job(env)
    job.run(batches)
    return job.results.get("out", [])


def test_ordered_results_leave_in_the_order_of_their_records() -> None:
    """O5"""
    found = run(lambda s: AsyncDataStream.ordered_wait(s, Nap(), PLENTY), [1, 2, 3, 9])
    assert found == [1, -1, 3, -3, 9, -9]


def test_unordered_results_leave_as_calls_end() -> None:
    """O5"""
    found = run(lambda s: AsyncDataStream.unordered_wait(s, LargestFirst((1, 5, 9)), PLENTY), [1, 5, 9])
    assert found == [9, 5, 1]


def test_no_more_calls_than_the_capacity_are_under_way() -> None:
    """O5"""
    Nap.most.clear()
    found = run(lambda s: AsyncDataStream.ordered_wait(s, Nap(), PLENTY, capacity=2), [9] * 7)
    assert len(found) == 14
    assert max(Nap.most) == 2


def test_results_never_pass_a_watermark() -> None:
    """O5, T2: what came before a watermark leaves before it, ordered or not."""

    class Clock(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value, ctx.timer_service().current_watermark(), ctx.timestamp()

    env = StreamExecutionEnvironment()
    source = ScriptedSource([[At(1, 1), At(2, 3), Mark(5), At(6, 9)]])
    stream = AsyncDataStream.unordered_wait(scripted_stream(env, source), Nap(), PLENTY)
    collect(stream.filter(lambda v: v > 0).process(Clock()), "out")
    job = local_job(env, settings=RuntimeSettings(per_record_watermarks=True))
    job.run()
    assert [(v, m == 5, t) for v, m, t in job.results["out"]] == [(1, False, 1), (3, False, 2), (9, True, 6)]


class Slow(AsyncFunction):
    def timeout(self, value: Any) -> list[Any]:
        return [("late", value)]

    async def async_invoke(self, value: Any) -> list[Any]:
        if value:  # one that does not wait cannot come too late, however busy the machine is
            await asyncio.sleep(value)
        return [value]


class SlowAndStrict(AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        if value:  # one that does not wait cannot come too late, however busy the machine is
            await asyncio.sleep(value)
        return [value]


def test_a_call_that_takes_too_long_gives_what_timeout_says() -> None:
    """O5"""
    found = run(lambda s: AsyncDataStream.ordered_wait(s, Slow(), Time.milliseconds(50)), [0, 30, 0])
    assert found == [0, ("late", 30), 0]


def test_a_time_out_fails_the_job_by_default_and_names_the_record() -> None:
    """O5, P9"""
    with pytest.raises(UserFunctionError, match=r"async_invoke of operator 'Async Wait'.*on record 30"):
        run(lambda s: AsyncDataStream.ordered_wait(s, SlowAndStrict(), Time.milliseconds(20)), [0, 30, 0])


class Flaky(AsyncFunction):
    """Fails, or brings nothing, the first `bad` times for each record."""

    def __init__(self, bad: int, raises: bool) -> None:
        self.bad, self.raises = bad, raises
        self.tries: dict[Any, int] = {}

    async def async_invoke(self, value: Any) -> list[Any]:
        self.tries[value] = tries = self.tries.get(value, 0) + 1
        if tries <= self.bad:
            if self.raises:
                raise OSError("flaky")
            return []
        return [(value, tries)]


RETRIES = {
    "fixed": AsyncRetryStrategy.fixed_delay(3, 1, empty_result_predicate, has_exception_predicate),
    "growing": AsyncRetryStrategy.exponential_backoff(3, 1, 4, 2.0, empty_result_predicate, has_exception_predicate),
}


@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize("kind", sorted(RETRIES))
def test_calls_are_made_again(raises: bool, kind: str) -> None:
    """O5"""
    found = run(
        lambda s: AsyncDataStream.ordered_wait_with_retry(s, Flaky(2, raises), PLENTY, RETRIES[kind]), ["a", "b"], (1,)
    )
    assert found == [("a", 3), ("b", 3)]


def test_after_the_last_retry_the_error_is_the_jobs() -> None:
    """O5"""
    with pytest.raises(UserFunctionError, match="flaky"):
        run(lambda s: AsyncDataStream.unordered_wait_with_retry(s, Flaky(9, True), PLENTY, RETRIES["fixed"]), ["a"])


def test_after_the_last_retry_an_empty_result_is_taken_as_it_is() -> None:
    """O5"""
    found = run(lambda s: AsyncDataStream.ordered_wait_with_retry(s, Flaky(9, False), PLENTY, RETRIES["fixed"]), ["a"])
    assert found == []


def test_the_time_out_covers_all_tries() -> None:
    """O5"""

    class Never(Slow):
        async def async_invoke(self, value: Any) -> list[Any]:
            raise OSError

    forever = AsyncRetryStrategy.fixed_delay(10**6, 10, None, has_exception_predicate)
    stream = lambda s: AsyncDataStream.ordered_wait_with_retry(s, Never(), Time.milliseconds(60), forever)  # noqa: E731
    assert run(stream, ["x"]) == [("late", "x")]


class NotAsync(AsyncFunction):
    def async_invoke(self, value: Any) -> list[Any]:  # type: ignore[override]
        return [value]


class Returns(AsyncFunction):
    def __init__(self, result: Any) -> None:
        self.result = result

    async def async_invoke(self, value: Any) -> Any:
        return self.result


class LateReturns(Returns):
    """Its calls take too long, so that `timeout` answers for them."""

    def timeout(self, value: Any) -> Any:
        return self.result

    async def async_invoke(self, value: Any) -> Any:
        await asyncio.Event().wait()


NOT_A_LIST = [
    (None, "The result of AsyncFunction cannot be none, but {where} returned None: return a list"),
    (7, r"The result of AsyncFunction should be of list type, but {where} returned 7 \(int\): return a list"),
    ("ab", r"The result of AsyncFunction should be of list type, but {where} returned 'ab' \(str\): return a list"),
]


@pytest.mark.parametrize(("result", "message"), NOT_A_LIST, ids=["none", "int", "str"])
@pytest.mark.parametrize("kind", [Returns, LateReturns])
@pytest.mark.parametrize("wait", [AsyncDataStream.ordered_wait, AsyncDataStream.unordered_wait])
def test_a_result_that_is_not_a_list_fails_the_job(wait: Any, kind: Any, result: Any, message: str) -> None:
    """O5, P9: the record must not vanish."""
    method = "async_invoke" if kind is Returns else "timeout"
    with pytest.raises(UserFunctionError, match=message.format(where=rf"{kind.__name__}\.{method}\(\)")):
        run(lambda s: wait(s, kind(result), Time.milliseconds(5)), [1])


@pytest.mark.parametrize("result", [[1, 2], (1, 2), iter([1, 2])], ids=["list", "tuple", "iterator"])
def test_any_iterable_of_records_is_a_result(result: Any) -> None:
    """O5: as in PyFlink."""
    assert run(lambda s: AsyncDataStream.ordered_wait(s, Returns(result), PLENTY), [1]) == [1, 2]


def test_mistakes_are_refused() -> None:
    """P9"""
    stream = StreamExecutionEnvironment().from_collection([1])
    with pytest.raises(ProgramError, match=r"NotAsync: .*'async def'"):
        AsyncDataStream.ordered_wait(stream, NotAsync(), PLENTY)
    with pytest.raises(ProgramError, match="capacity must be a whole number of at least 1, got 0"):
        AsyncDataStream.ordered_wait(stream, Nap(), PLENTY, 0)
    with pytest.raises(ProgramError, match="retries need a time-out"):
        AsyncDataStream.ordered_wait_with_retry(stream, Nap(), Time.seconds(0), RETRIES["fixed"])
