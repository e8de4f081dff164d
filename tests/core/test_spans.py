"""A timedelta is taken wherever a Time or a Duration is (P7)."""

from datetime import timedelta
from typing import Any

import pytest

from penstock.cep import Pattern
from penstock.common import Configuration, Duration, Time, WatermarkStrategy
from penstock.core.program.specs import AsyncSpec, WindowSpec
from penstock.core.time.spans import duration_of
from penstock.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSource, StreamFormat
from penstock.datastream.state import StateTtlConfig
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountOrTimeoutTrigger,
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeEvictor,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)


class Echo(AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        return [value]


def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration())


def keyed() -> Any:
    return env().from_collection([1]).key_by(lambda v: v)


def lateness(span: Any) -> Any:
    windowed = keyed().window(TumblingEventTimeWindows.of(Time.seconds(9))).allowed_lateness(span)
    spec = windowed.reduce(lambda a, b: a)._transformation.spec
    assert isinstance(spec, WindowSpec)
    return spec.lateness_ms


def timeout(span: Any) -> Any:
    spec = AsyncDataStream.ordered_wait(env().from_collection([1]), Echo(), span)._transformation.spec
    assert isinstance(spec, AsyncSpec)
    return spec.timeout_ms


def intervals(stream: Any, span: Any) -> Any:
    return stream.interval_join(stream).between(span, span)._settings.sides()


def watching(span: Any) -> Any:
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/data")
    return source.monitor_continuously(span)._interval


TAKERS: dict[str, Any] = {
    "tumbling": lambda span: repr(TumblingEventTimeWindows.of(Time.days(1), span)),
    "tumbling processing time": lambda span: repr(TumblingProcessingTimeWindows.of(span)),
    "sliding": lambda span: repr(SlidingEventTimeWindows.of(span, Time.days(1), span)),
    "sliding processing time": lambda span: repr(SlidingProcessingTimeWindows.of(span, span)),
    "session": lambda span: repr(EventTimeSessionWindows.with_gap(span)),
    "session processing time": lambda span: repr(ProcessingTimeSessionWindows.with_gap(span)),
    "time_window": lambda span: repr(keyed().time_window(span, span).reduce(min)._transformation.spec.assigner),
    "continuous": lambda span: ContinuousEventTimeTrigger.of(span).interval,
    "continuous processing time": lambda span: ContinuousProcessingTimeTrigger.of(span).interval,
    "count or timeout": lambda span: CountOrTimeoutTrigger.of(1, span)._timeout_ms,
    "evictor": lambda span: TimeEvictor.of(span)._span_ms,
    "lateness": lateness,
    "async": timeout,
    "watermark delay": lambda span: WatermarkStrategy.for_bounded_out_of_orderness(span).generator,
    "idleness": lambda span: WatermarkStrategy.no_watermarks().with_idleness(span).idle_timeout_ms,
    "ttl": lambda span: StateTtlConfig.new_builder(span).build().get_ttl().to_milliseconds(),
    "set_ttl": lambda span: StateTtlConfig.new_builder(Time.days(1)).set_ttl(span).build().get_ttl().to_milliseconds(),
    "within": lambda span: Pattern.begin("a").within(span).freeze().within_ms,
    "repetitions": lambda span: Pattern.begin("a").times(2, span).explain(),
    "one or more": lambda span: Pattern.begin("a").one_or_more(span).explain(),
    "interval join": lambda span: intervals(keyed(), span),
    "watched files": watching,
    "auto watermark": lambda span: env().get_config().set_auto_watermark_interval(span).get_auto_watermark_interval(),
    "checkpoints": lambda span: env().enable_checkpointing(span).get_checkpoint_interval(),
    "buffer time-out": lambda span: env().set_buffer_timeout(span).get_buffer_timeout(),
    "checkpoint pause": lambda span: (
        env().get_checkpoint_config().set_min_pause_between_checkpoints(span).get_min_pause_between_checkpoints()
    ),
    "alignment": lambda span: (
        env().get_checkpoint_config().set_alignment_timeout(span).get_alignment_timeout().to_milliseconds()
    ),
}


TAKE_NUMBERS = {"lateness", "auto watermark", "checkpoints", "buffer time-out", "checkpoint pause", "repetitions"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TAKERS)
def test_a_span_means_the_same_in_every_form(name: str) -> None:
    """P7: a Time, a Duration, and Python's own timedelta."""
    take = TAKERS[name]
    forms = (Time.milliseconds(2500), Duration.of_millis(2500), timedelta(milliseconds=2500))
    assert len({str(take(form)) for form in forms}) == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(set(TAKERS) - TAKE_NUMBERS))
def test_a_bare_number_is_not_a_span(name: str) -> None:
    """P9: it would have no unit."""
    with pytest.raises((TypeError, ValueError), match=r"a Time|a Duration|a timedelta"):
        TAKERS[name](2500)


def test_what_is_not_a_span_is_named() -> None:
    with pytest.raises(TypeError, match="a Time, a Duration or a timedelta is needed, got str: '1 s'"):
        duration_of("1 s")  # type: ignore[arg-type]
