"""U20: orders completed with what another service knows about the customer, many questions at a time.

Each question takes a while. Asked one after the other, they would hold the job up; asynchronously up to a hundred of a
subtask are on their way at once, and the orders still come out in their order. The service fails now and then: a
question that failed is asked again.

    penstock run examples/completed_orders.py
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random

from penstock.common import Time
from penstock.datastream import AsyncDataStream, AsyncFunction, DataStream, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.functions import AsyncRetryStrategy

CUSTOMERS = {1: "Ada", 2: "Grace", 3: "Barbara", 5: "Margaret", 8: "Frances"}


@dataclass(frozen=True)
class Order:
    number: int
    customer: int


@dataclass(frozen=True)
class Completed:
    number: int
    name: str


def generated(orders: int = 120, seed: int = 20) -> list[Order]:
    """One order in ten is of a customer that the service does not know."""
    random = Random(seed)
    return [Order(number, random.choice([*CUSTOMERS] * 2 + [13])) for number in range(orders)]


class Service:
    """Stands for a database or a web service: slow, and every seventh question fails."""

    def __init__(self) -> None:
        self._asked = 0

    async def name_of(self, customer: int) -> str | None:
        self._asked += 1
        failing = self._asked % 7 == 0
        await asyncio.sleep(0.002 * (customer % 5))  # later questions may be answered sooner
        if failing:
            raise ConnectionError("the service is busy")
        return CUSTOMERS.get(customer)


class WithName(AsyncFunction):
    """Gives a list of results for each order, here always one."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.service = Service()  # a connection is opened here: it cannot travel with the program

    async def async_invoke(self, order: Order) -> list[Completed]:
        name = await self.service.name_of(order.customer)
        return [Completed(order.number, name or "unknown")]

    def timeout(self, order: Order) -> list[Completed]:
        """Called instead if the answer, retries included, did not come in time. Without it the job would fail."""
        return [Completed(order.number, "no answer")]


def completed(orders: DataStream[Order]) -> DataStream[Completed]:
    """Every order with its customer's name, in the order in which they came."""
    again = AsyncRetryStrategy.fixed_delay(5, 10, None, lambda error: isinstance(error, ConnectionError))
    minute = Time.minutes(1)
    return AsyncDataStream.ordered_wait_with_retry(orders, WithName(), minute, again, 100).name("with name")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    completed(env.from_collection(generated())).print()
    env.execute("completed orders")


if __name__ == "__main__":
    main()
