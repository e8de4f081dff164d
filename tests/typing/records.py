"""Records and an environment for the programs in `right` and `wrong`, which are type-checked, never run."""

from dataclasses import dataclass

from penstock.datastream import DataStream, StreamExecutionEnvironment


@dataclass(frozen=True)
class Order:
    user: str
    cents: int
    at_ms: int


@dataclass(frozen=True)
class Payment:
    user: str
    cents: int


@dataclass(frozen=True)
class Refund(Payment):
    reason: str


env = StreamExecutionEnvironment.get_execution_environment()
orders: DataStream[Order] = env.from_collection([Order("ann", 100, 0)])
payments: DataStream[Payment] = env.from_collection([Payment("ann", 100)])
refunds: DataStream[Refund] = env.from_collection([Refund("ann", 100, "late")])
