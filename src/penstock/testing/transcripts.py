"""Transcripts: what goes in, what happens to it, what must come out, as YAML that runs on every host.

A file holds `functions` (Python text, run with the public names of the library in scope) and `cases`:

    - name: the later of two timers is deleted
      rules: [S4]
      inputs:
        in:                                  # a source; `channels:` instead of a list gives several
        - {at: 1, is: [a, 7]}                # record and timestamp; without `at`, none
        - {watermark: 10}                    # nothing at or before 10 will follow
      streams:
        out: [{from: in}, {key_by: "v[0]"}, {process: "Remind()"}]
      expect:
        out: [[a, 7]]                        # in any order
      in_order: {out: "v[0]"}                # … but in the order written for each value of this expression

Steps are the methods of a stream: `map`, `flat_map`, `filter`, `key_by` take an expression in `v`, `reduce` one in
`a` and `b`, `process` an expression that makes a function, `union` names of other streams, `side_output` a tag;
`sum`, `min`, `max`, `min_by`, `max_by` a position, `project` positions;
`connect: {with: other, process: "Both()"}`, with `key_by: [expression, expression]` or `broadcast: [state names]`;
`join`, `co_group`, `interval_join`, `regular_join` as `join_steps.py` says, `pattern` as `pattern_steps.py` does;
`parallelism` a number; `rebalance`, `rescale`, `shuffle`, `broadcast`, `global_`, `forward` nothing. A function class
may stand where an expression is expected. Lists stand for tuples.

`window` (and `window_all`) takes `{tumbling: 10}`, `{sliding: [10, 5]}`, `{session: 5}`, `{session_by: "v[2]"}`,
`{count: 3}`, `{count: [3, 2]}` or `{global: }`, with `offset: 3` and `processing: true` where they make sense, or an
expression. Options follow, `trigger` and `evictor` (expressions), `lateness` (ms), `late` (a tag); then `reduce`,
`aggregate`, `process` or `apply`, the first two with a list if a function is to be given their result.

`watermarks` beside `inputs`, or beside `channels` for one input alone, says how watermarks are made instead of taking
them from the script: `{delay: 5}` from timestamps, `{generator: Mine}` by generators of a class, each with
`idle: 50` if channels without records for so many milliseconds are idle; `ingestion`; `none` for records without
timestamps. As a step, `watermarks` assigns timestamps and watermarks in the midst of a stream, timestamps by the
expression `at` in `v` and `t` if there is one. `parallelism` beside `channels`: so many subtasks read them.

`{tick: 50}` in a channel: what follows comes 50 ms later, by a clock that moves when nothing else is left to read and
says 1000000 at first. Such a case has `hosts: local`, since other hosts' clocks cannot be moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from penstock.api.data_stream import DataStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.api.keyed_stream import KeyedStream
from penstock.core.config import Configuration
from penstock.core.config.options.job import HOST
from penstock.core.functions import base as functions
from penstock.core.functions import connected as co_functions
from penstock.core.functions import window as window_functions
from penstock.core.program import output_tag
from penstock.core.program.job import RuntimeSettings
from penstock.core.state import keyed as state
from penstock.core.time import spans as time
from penstock.core.time import watermarks as watermark
from penstock.core.time.clock import ManualClock
from penstock.core.time.spans import Duration
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.core.windows import assigners as window_assigners
from penstock.core.windows import evictors, triggers
from penstock.core.windows import window as windows
from penstock.testing.jobs import collect, local_job
from penstock.testing.join_steps import JOIN_VERBS, join_names, join_step
from penstock.testing.pattern_steps import pattern_names, pattern_step
from penstock.testing.scripted import EVERY_RECORD, At, Event, Mark, ScriptedSource, Tick, scripted_stream
from penstock.testing.window_steps import assigner, is_windowed, window_step

__all__ = ["Transcript", "load_transcripts", "run_local", "run_on_host"]

Results = Mapping[str, Sequence[Any]]

_SCOPE = (functions, co_functions, state, output_tag, watermark)
_WINDOWS = (windows, window_assigners, triggers, evictors, window_functions, time)

START_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Transcript:
    """One case of a file, with the functions of that file."""

    name: str
    inputs: Mapping[str, Any]
    streams: Mapping[str, Sequence[Mapping[str, Any]]]
    expect: Mapping[str, Sequence[Any]]
    in_order: Mapping[str, str]
    watermarks: Any
    local_only: bool
    scope: Mapping[str, Any]

    def build(self, env: StreamExecutionEnvironment, prefix: str = "") -> None:
        """Add the case to a program; results are collected under `prefix` + the stream's name."""
        made: dict[str, DataStream[Any]] = {n: self._source(env, n, events) for n, events in self.inputs.items()}
        for name, steps in self.streams.items():
            made[name] = self._stream(steps, made)
        for name in self.expect:
            collect(made[name], prefix + name)

    def problems(self, results: Results) -> list[str]:
        """The differences between the outputs and the expected ones, as lines of text."""
        return [p for name in self.expect for p in self._compare(name, [_tuples(v) for v in results.get(name, ())])]

    def _compare(self, name: str, found: list[Any]) -> list[str]:
        expected = [_tuples(v) for v in self.expect[name]]
        if Counter(found) != Counter(expected):
            missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
            return [f"{self.name}: {name}: missing {list(missing.elements())}, not expected {list(extra.elements())}"]
        if name in self.in_order:
            group = self._function("v", self.in_order[name])
            if _grouped(found, group) != _grouped(expected, group):
                return [f"{self.name}: {name}: in the wrong order: {found}"]
        return []

    # -- building ---------------------------------------------------------------------------------

    def sources(self) -> dict[str, ScriptedSource]:
        """The scripted sources of the inputs."""
        return {name: _scripted(given) for name, given in self.inputs.items()}

    def _source(self, env: StreamExecutionEnvironment, name: str, given: object) -> DataStream[object]:
        watermarks = given.get("watermarks", self.watermarks) if isinstance(given, dict) else self.watermarks
        if watermarks is None:
            return scripted_stream(env, _scripted(given), name)
        if any(isinstance(e, Mark) for channel in _events(given) for e in channel):
            raise ValueError(f"transcript {self.name!r}: {name} has watermarks in its script and makes its own")
        return env.from_source(_scripted(given), self._strategy(watermarks), name)

    def _strategy(self, given: Any) -> WatermarkStrategy:
        if given == "ingestion":
            return WatermarkStrategy.for_ingestion_time()
        strategy = WatermarkStrategy.no_watermarks()
        if given == "none":
            return strategy
        if "generator" in given:
            strategy = WatermarkStrategy.for_generator(self._made(given["generator"]))
        elif "delay" in given:
            strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(given["delay"]))
        if "idle" in given:
            strategy = strategy.with_idleness(Duration.of_millis(given["idle"]))
        return strategy.with_timestamp_assigner(self._function("v, t", given["at"])) if "at" in given else strategy

    def _stream(self, steps: Sequence[Mapping[str, Any]], made: Mapping[str, DataStream[Any]]) -> DataStream[object]:
        (start,) = [s["from"] for s in steps if "from" in s]
        stream = made[start]
        for step in steps:
            for verb, argument in step.items():
                if verb != "from":
                    stream = self._step(stream, verb, argument, made)
        return stream

    def _step(
        self, stream: DataStream[Any], verb: str, argument: Any, made: Mapping[str, DataStream[Any]]
    ) -> DataStream[Any]:
        if is_windowed(stream):
            stepped: DataStream[Any] = window_step(
                stream, verb, argument, lambda text: self._function("a, b", text), self._made
            )
            return stepped
        if verb in ("window", "window_all"):
            windows = assigner(argument, lambda text: self._function("v", text), self._made)
            return _called(stream, verb, windows)
        if verb in ("map", "flat_map", "filter", "key_by"):
            return _called(stream, verb, self._function("v", argument))
        if verb == "reduce":
            assert isinstance(stream, KeyedStream), "reduce needs key_by before it"
            return stream.reduce(self._function("a, b", argument))
        if verb == "process":
            return stream.process(self._made(argument))
        if verb == "union":
            return stream.union(*(made[n] for n in ([argument] if isinstance(argument, str) else argument)))
        if verb == "connect":
            return self._connected(stream, argument, made)
        if verb in JOIN_VERBS:
            return join_step(stream, made[argument["with"]], verb, argument, self._function, self._made)
        if verb == "pattern":
            return pattern_step(stream, argument, self._made)
        if verb == "side_output":
            return stream.get_side_output(output_tag.OutputTag(argument))
        if verb in ("sum", "min", "max", "min_by", "max_by"):
            return _called(stream, verb, argument)
        if verb == "project":
            return stream.project(*argument)
        if verb == "watermarks":
            return stream.assign_timestamps_and_watermarks(self._strategy(argument))
        if verb == "parallelism":
            return stream.set_parallelism(argument)
        return _called(stream, verb)

    def _connected(
        self, stream: DataStream[Any], given: Mapping[str, Any], made: Mapping[str, DataStream[Any]]
    ) -> DataStream[Any]:
        other, function = made[given["with"]], self._made(given["process"])
        if "broadcast" in given:
            states = [state.MapStateDescriptor(name) for name in given["broadcast"]]
            return stream.connect(other.broadcast(states[0], *states[1:])).process(function)
        joined = stream.connect(other)
        if "key_by" in given:
            first, second = (self._function("v", text) for text in given["key_by"])
            joined = joined.key_by(first, second)
        kind = "map" if isinstance(function, co_functions.CoMapFunction) else "process"
        kind = "flat_map" if isinstance(function, co_functions.CoFlatMapFunction) else kind
        return _called(joined, kind, function)

    def _function(self, parameters: str, text: str) -> Any:
        if text.partition("(")[0] in self.scope:
            return self._made(text)
        made: Callable[..., Any] = self._made(f"lambda {parameters}: {text}")
        return made

    def _made(self, text: str) -> Any:
        return eval(text, dict(self.scope))


def load_transcripts(path: str | Path) -> list[Transcript]:
    """The cases of a file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, where it was built
    data = yaml.load(Path(path).read_text(encoding="utf-8"), loader)
    scope: dict[str, Any] = {"__name__": f"transcript_{Path(path).stem}"}
    for module in (*_SCOPE, *_WINDOWS):
        scope.update({n: getattr(module, n) for n in module.__all__})
    scope.update(join_names() | pattern_names())
    exec(compile(data.get("functions", ""), str(path), "exec"), scope)
    return [_transcript(case, scope) for case in data["cases"]]


def _transcript(case: dict[str, Any], scope: Mapping[str, object]) -> Transcript:
    known = {"name", "rules", "inputs", "streams", "expect", "in_order", "watermarks", "hosts"}
    if unknown := set(case) - known:
        raise ValueError(f"transcript {case.get('name')!r}: unknown fields {sorted(unknown)}")
    made = Transcript(
        case["name"],
        case["inputs"],
        case.get("streams", {}),
        case["expect"],
        case.get("in_order", {}),
        case.get("watermarks"),
        case.get("hosts", "all") == "local",
        scope,
    )
    if not made.local_only and any(source.ticks() for source in made.sources().values()):
        raise ValueError(f"transcript {made.name!r}: ticks need a clock that can be moved: say `hosts: local`")
    return made


def run_local(
    transcript: Transcript,
    parallelism: int = 1,
    batch_sizes: Sequence[int] = (),
    restart_every_batch: bool = False,
    settings: RuntimeSettings | None = None,
) -> list[str]:
    """Run a case in the local host; what differs from what is expected.

    The clock moves on to the next tick whenever a batch found nothing to read.
    """
    env = StreamExecutionEnvironment()
    transcript.build(env)
    clock = ManualClock(START_MS)
    job = local_job(env, parallelism, settings=settings or RuntimeSettings(watermark_records=1), clock=clock)
    sizes = iter(batch_sizes)
    ticks = iter(sorted({at for source in transcript.sources().values() for at in source.ticks()}))
    while not job.finished:
        limit = next(sizes, 1 << 40)
        job.run_batch(limit)
        if restart_every_batch:
            job.restart()
        if limit and not job.progressed:
            clock.set_ms(next(ticks))
    return transcript.problems(job.results)


def run_on_host(
    transcripts: Sequence[Transcript], host: str, parallelism: int, conf: Mapping[str, str] | None = None
) -> list[str]:
    """Run cases as branches of one job on a host: `local`, `bounded` or `streaming`; what differs.

    Cases that are for the local host alone need a clock of their own: see `run_local`.
    """
    if alone := [t.name for t in transcripts if t.local_only]:
        raise ValueError(f"only run_local can run {alone}")
    settings = {HOST.key: host, EVERY_RECORD: "1", **(conf or {})}
    env = StreamExecutionEnvironment(Configuration(settings)).set_parallelism(parallelism)
    for number, transcript in enumerate(transcripts):
        transcript.build(env, f"{number}/")
    client = env.execute_async(f"transcripts on {host}")
    found = {
        (number, name): list(client.results(f"{number}/{name}"))
        for number, transcript in enumerate(transcripts)
        for name in transcript.expect
    }
    client.wait()
    return [
        problem
        for number, transcript in enumerate(transcripts)
        for problem in transcript.problems({n: found[number, n] for n in transcript.expect})
    ]


def _scripted(given: object) -> ScriptedSource:
    return ScriptedSource(_events(given), parallelism=given.get("parallelism") if isinstance(given, dict) else None)


def _events(given: Any) -> list[list[Event]]:
    return [list(_channel(events)) for events in (given["channels"] if isinstance(given, dict) else [given or []])]


def _channel(events: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
    now_ms = START_MS
    for event in events:
        if "tick" in event:
            now_ms += event["tick"]
            yield Tick(now_ms)
        elif "watermark" in event:
            yield Mark(event["watermark"])
        else:
            yield At(event.get("at"), _tuples(event["is"]))


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _grouped(values: Sequence[object], key: Callable[[Any], object]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def _called(on: object, verb: str, *arguments: object) -> DataStream[object]:
    """What a method of a stream, named by a transcript, gives."""
    made: DataStream[Any] = getattr(on, verb)(*arguments)
    return made
