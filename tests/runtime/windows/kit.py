"""Windows of records (key, value) in a harness."""

from collections.abc import Iterable, Iterator
from typing import Any

from penstock.datastream import OutputTag, ProcessWindowFunction
from penstock.datastream.window import Evictor, Trigger, WindowAssigner
from penstock.testing import WindowHarness

LATE = OutputTag("late")


class Values(ProcessWindowFunction):
    """The values of a window, in order of arrival."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        yield [value for _, value in elements]


def windows(
    assigner: WindowAssigner,
    trigger: Trigger | None = None,
    evictor: Evictor | None = None,
    lateness: int = 0,
    function: Any = None,
    **options: Any,
) -> WindowHarness:
    """A harness whose windows show their values, or what `function` makes of them."""

    def attach(keyed: Any) -> Any:
        windowed = keyed.window(assigner).allowed_lateness(lateness).side_output_late_data(LATE)
        windowed = windowed if trigger is None else windowed.trigger(trigger)
        windowed = windowed if evictor is None else windowed.evictor(evictor)
        return windowed.process(function or Values())

    return WindowHarness(attach, lambda v: v[0], tags=[LATE], **options)


def fed(harness: WindowHarness, *values: Any, at: int | None = 1) -> list[Any]:
    """What the harness gives out when values of key "a" come, all with one timestamp."""
    return seen(harness, [(("a", value), at) for value in values])


def seen(harness: WindowHarness, records: Iterable[tuple[Any, int | None]] = ()) -> list[Any]:
    """What the harness gives out for records, taken away."""
    harness.push_all(records)
    return taken(harness)


def taken(harness: WindowHarness) -> list[Any]:
    """What the harness gave out since it was last asked."""
    out = harness.output()
    harness.clear_output()
    return out
