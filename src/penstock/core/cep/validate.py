"""What can only be judged when the whole pattern is there."""

from __future__ import annotations

from penstock.core.cep.errors import MalformedPatternException
from penstock.core.cep.patterns import NotStep, PatternSpec, Step, every_step, names_of

__all__ = ["check_pattern"]


def check_pattern(spec: PatternSpec) -> None:
    """Refuse what FlinkCEP refuses, and what could never end."""
    _unique_names(spec)
    _not_at_the_end(spec)
    _limits(spec)
    _skip_target(spec)
    for step in every_step(spec.steps):
        _group(step)


def _unique_names(spec: PatternSpec) -> None:
    seen: set[str] = set()
    for name in names_of(spec.steps):
        if name in seen:
            raise MalformedPatternException(f"Duplicate pattern name: {name}. Names must be unique")
        seen.add(name)


def _not_at_the_end(spec: PatternSpec) -> None:
    for last in reversed(spec.steps):
        if isinstance(last, Step) and not last.nullable:
            return
        if isinstance(last, NotStep) and not last.direct and spec.within_ms is None and last.gap_ms is None:
            raise MalformedPatternException(
                f"Pattern '{last.name}': not_followed_by() as the last part of a pattern needs within(): "
                "without it one would have to wait for ever"
            )


def _limits(spec: PatternSpec) -> None:
    for step in every_step(spec.steps):
        gaps = [step.gap_ms, step.quantifier.gap_ms] if isinstance(step, Step) else [step.gap_ms]
        for gap_ms in gaps:
            if gap_ms is not None and spec.within_ms is not None and gap_ms > spec.within_ms:
                raise MalformedPatternException(
                    f"Pattern '{step.name}': the time between the previous and the current event ({gap_ms} ms) "
                    f"is longer than that between the first and the last event of the pattern ({spec.within_ms} ms)"
                )
        _useless_limit(spec, step)


def _useless_limit(spec: PatternSpec, step: Step | NotStep) -> None:
    if step.gap_ms is None:
        return
    if isinstance(step, NotStep) and (step.direct or step is not spec.steps[-1]):
        raise MalformedPatternException(
            f"Pattern '{step.name}': within() between previous and current event says nothing of a not-pattern, "
            "unless it is a not_followed_by() at the end: give it to the pattern after it"
        )
    if step is spec.steps[0] and isinstance(step, Step) and step.quantifier.most == 1:
        raise MalformedPatternException(f"Pattern '{step.name}': the first pattern has no previous event to count from")


def _skip_target(spec: PatternSpec) -> None:
    name = spec.skip.get_pattern_name()
    positive = [s.name for s in every_step(spec.steps) if isinstance(s, Step) and not s.body]
    if name is not None and name not in positive:
        raise MalformedPatternException(
            f"The pattern name '{name}' that {spec.skip} skips to is not in the pattern; there are {positive}"
        )


def _group(step: Step | NotStep) -> None:
    if not isinstance(step, Step) or not step.body:
        return
    if isinstance(step.body[-1], NotStep):
        raise MalformedPatternException(
            f"Pattern '{step.name}': a group cannot end with a not-pattern: put '{step.body[-1].name}' behind the group"
        )
    if step.quantifier.most != 1 and all(getattr(s, "nullable", True) for s in step.body):
        raise MalformedPatternException(
            f"Pattern '{step.name}': a repeated group must take at least one event: "
            "make one of its members not optional"
        )
