"""Joins of keyed streams that keep both sides, as a database does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Self

from penstock.api.connected import ConnectedStreams
from penstock.api.data_stream import DataStream
from penstock.api.joined_streams import join_call, same_environment
from penstock.api.keyed_stream import KeyedStream
from penstock.core.functions.base import Function, RuntimeContext
from penstock.core.functions.connected import KeyedCoProcessFunction
from penstock.core.functions.internal import Stamped
from penstock.core.functions.join import JoinFunction
from penstock.core.state.keyed import ListState, ListStateDescriptor, StateTtlConfig
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.core.types.row import RowKind
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import R, T, V

__all__ = ["RegularJoin"]


class RegularJoin(Generic[T, V]):
    """Every record of one stream with every record of the other that has its key, whatever came first.

    Made by `keyed.regular_join(other)`. Both sides stay in state, for ever unless `with_time_to_live` is called.
    Results carry the larger timestamp of the two records.

    >>> from penstock.api.environment import StreamExecutionEnvironment
    >>> from penstock.core.config import Configuration
    >>> env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    >>> people = env.from_collection(["ann", "bob"]).key_by(lambda v: v[0])
    >>> towns = env.from_collection(["aachen"]).key_by(lambda v: v[0])
    >>> sorted(people.regular_join(towns).inner(lambda p, t: (p, t)).execute_and_collect())
    [('ann', 'aachen')]
    """

    def __init__(self, left: KeyedStream[T, Any], right: KeyedStream[V, Any]) -> None:
        same_environment("regular_join()", left, right, KeyedStream)
        self._left, self._right = left, right
        self._ttl: StateTtlConfig | None = None

    def with_time_to_live(self, ttl_config: StateTtlConfig) -> Self:
        """Forget records after a time. What was emitted for them stays; what comes later does not meet them."""
        if not isinstance(ttl_config, StateTtlConfig):
            raise TypeError(f"with_time_to_live() takes a StateTtlConfig, got {type(ttl_config).__name__}")
        self._ttl = ttl_config
        return self

    def inner(
        self,
        join_function: Callable[[T, V], R] | JoinFunction[T, V, R],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """One result for each pair, as soon as both are there. Nothing is ever taken back."""
        return self._join("Inner Join", join_function, output_type, left=False)

    def left(
        self,
        join_function: Callable[[T, V | None], R] | JoinFunction[T, V | None, R],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[tuple[RowKind, R]]:
        """A changelog of `(RowKind, result)`: INSERT adds a result, DELETE takes an equal one back.

        A left record that has no match yet is joined with None; its first match takes that back. At any time the
        inserts without the deletes are the left join of what has come. In BATCH mode there are only inserts. The
        function may be called twice for the same records and must answer alike.
        """
        return self._join("Left Join", join_function, output_type, left=True)

    def _join(
        self, name: str, given: object, output_type: TypeInformation[object] | None, left: bool
    ) -> DataStream[Any]:
        call = join_call(f"{'left' if left else 'inner'}() of a regular join", given, (JoinFunction,))
        function = (_Left if left else _Inner)(given, call, self._ttl)
        joined = ConnectedStreams(self._left, self._right).process(function)
        return joined._typed(output_type).name(name)


Kept = tuple[object, int | None]
"""A record and its timestamp."""


class _Inner(KeyedCoProcessFunction[object, object, object, object]):
    """Keeps all records of both sides."""

    def __init__(self, function: object, call: Callable[[Any, Any], object], ttl: StateTtlConfig | None) -> None:
        self._function, self._call, self._ttl = function, call, ttl
        self._lefts: ListState[Kept]
        self._rights: ListState[Kept]

    def open(self, runtime_context: RuntimeContext) -> None:
        self._lefts = self._state("_left", runtime_context)
        self._rights = self._state("_right", runtime_context)
        if isinstance(self._function, Function):
            self._function.open(runtime_context)

    def close(self) -> None:
        if isinstance(self._function, Function):
            self._function.close()

    def _state(self, name: str, context: RuntimeContext) -> ListState[Kept]:
        descriptor = ListStateDescriptor[Kept](name)
        if self._ttl is not None:
            descriptor.enable_time_to_live(self._ttl)
        return context.get_list_state(descriptor)

    def process_element1(self, value: object, ctx: KeyedCoProcessFunction.Context) -> Iterator[object]:
        left = (value, ctx.timestamp())
        self._lefts.add(left)
        for right in self._rights.get():
            yield self._joined(left, right, left)

    def process_element2(self, value: object, ctx: KeyedCoProcessFunction.Context) -> Iterator[object]:
        right = (value, ctx.timestamp())
        self._rights.add(right)
        for left in self._lefts.get():
            yield self._joined(left, right, right)

    def _joined(self, left: Kept, right: Kept, newer: Kept) -> object:
        return _stamped(self._call(left[0], right[0]), newer, left if newer is right else right)


class _Left(_Inner):
    """Also keeps apart the left records that are out with None beside them."""

    def open(self, runtime_context: RuntimeContext) -> None:
        super().open(runtime_context)
        self._alone = self._state("_alone", runtime_context)
        self._batch = runtime_context.in_batch_mode()

    def process_element1(self, value: object, ctx: KeyedCoProcessFunction.Context) -> Iterator[object]:
        left, matched = (value, ctx.timestamp()), False
        for right in self._rights.get():
            matched = True
            yield self._joined(left, right, left)
        (self._lefts if matched else self._alone).add(left)
        if not matched and self._batch:
            ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)
        elif not matched:
            yield RowKind.INSERT, self._call(value, None)

    def process_element2(self, value: object, ctx: KeyedCoProcessFunction.Context) -> Iterator[object]:
        right = (value, ctx.timestamp())
        yield from super().process_element2(value, ctx)
        alone = list(self._alone.get())
        for left in alone:
            if not self._batch:
                yield _stamped((RowKind.DELETE, self._call(left[0], None)), right, left)
            yield self._joined(left, right, right)
        if alone:
            self._alone.clear()
            self._lefts.add_all(alone)

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[object]:
        """The end of the input, in BATCH mode: what nothing matched."""
        for value, stamp in self._alone.get():
            change = (RowKind.INSERT, self._call(value, None))
            yield change if stamp is None else Stamped(change, stamp)

    def _joined(self, left: Kept, right: Kept, newer: Kept) -> object:
        result = (RowKind.INSERT, self._call(left[0], right[0]))
        return _stamped(result, newer, left if newer is right else right)


def _stamped(result: object, newer: Kept, older: Kept) -> object:
    """With the larger timestamp; without one if the newer record has none."""
    at, then = newer[1], older[1]
    return Stamped(result, then) if at is not None and then is not None and then > at else result
