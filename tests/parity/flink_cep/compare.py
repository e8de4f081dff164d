"""Asks FlinkCEP itself: the same random patterns and streams, its automaton against Penstock's.

    python -m tests.parity.flink_cep.compare [COUNT]

Needs a JDK; the jars are those of PyFlink, in the environment of its own that the benchmarks use too. Patterns are
drawn from what both define alike; docs/cep.md says where they differ.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.envs import interpreter
from penstock.core.cep.patterns import Contiguity, NotStep, PatternSpec, Step
from tests.cep.random_patterns import random_pattern, random_stream
from tests.cep.test_oracle import match

HERE = Path(__file__).parent
_HOW = {
    None: "begin",
    Contiguity.STRICT: "next",
    Contiguity.RELAXED: "followed_by",
    Contiguity.ANY: "followed_by_any",
}
_INNER = {Contiguity.STRICT: ["consecutive"], Contiguity.ANY: ["allow_combinations"], Contiguity.RELAXED: []}


def words(spec: PatternSpec) -> str:
    """A pattern as `Ask.java` reads it."""
    name = spec.skip.get_pattern_name()
    skip = spec.skip.kind if name is None else f"{spec.skip.kind}:{name}"
    within = [] if spec.within_ms is None else [f"within:{spec.within_ms}"]
    return " ".join([skip, *_sequence(spec.steps), *within])


def _sequence(steps: Any) -> list[str]:
    return [word for step in steps for word in (_not(step) if isinstance(step, NotStep) else _step(step))]


def _not(step: NotStep) -> list[str]:
    how = "not_next" if step.direct else "not_followed_by"
    return [f"{how}:{step.name}", *_where(step.where, "where")]


def _step(step: Step) -> list[str]:
    how = step.quantifier
    named = f"{_HOW[step.contiguity]}:"
    found = [f"{named}(", *_sequence(step.body), ")"] if step.body else [f"{named}{step.name}"]
    found += _where(step.where, "where")
    if how.most is None:
        found.append(f"times_or_more:{how.least}")
    elif how.most != 1 or how.greedy:
        found.append(f"times:{how.least}:{how.most}")
    found += _INNER[how.inner] + ["greedy"] * how.greedy + ["optional"] * how.optional
    return found + _where(step.until, "until")


def _where(condition: Any, word: str) -> list[str]:
    return [] if condition is None else [f"{word}:{condition._call.wanted}"]


def shown(matches: list[Any]) -> Counter[str]:
    """Matches as `Ask.java` writes them."""
    return Counter(
        "".join(f"{name}={','.join(taken)};" for name, taken in sorted(events.items()))
        for timed_out, events, _ in matches
        if not timed_out
    )


def cases(count: int) -> list[tuple[PatternSpec, list[tuple[str, int]]]]:
    """Random patterns of letters, and streams."""
    found: list[Any] = []
    seed = 0
    while len(found) < count:
        random, seed = Random(seed), seed + 1
        spec = random_pattern(random).freeze()
        if _alike(spec.steps):
            found.append((spec, random_stream(random)))
    return found


def _alike(steps: Any) -> bool:
    """Whether FlinkCEP means the same; and conditions must be letters."""
    return all(_plain(step) for step in steps) and _nots_apart(steps)


def _plain(step: Any) -> bool:
    conditions = [step.where] if isinstance(step, NotStep) else [c for c in (step.where, step.until) if c is not None]
    letters_only = all(hasattr(getattr(c, "_call", None), "wanted") for c in conditions)
    if isinstance(step, NotStep):
        return letters_only and step.gap_ms is None
    how = step.quantifier
    plain = not step.body and step.gap_ms is None and how.gap_ms is None
    return letters_only and plain and not (how.greedy and step.until)


def _nots_apart(steps: Any) -> bool:
    """Nots whose letters no other pattern wants; they and greedy loops come before a pattern that must come."""
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        special = isinstance(step, NotStep) or step.quantifier.greedy
        if special and after is not None and (isinstance(after, NotStep) or after.nullable):
            return False
    others = {c for s in steps if isinstance(s, Step) for c in (s.where._call.wanted if s.where else "abc")}
    nots = {c for s in steps if isinstance(s, NotStep) and not s.direct for c in s.where._call.wanted}
    last = isinstance(steps[-1], NotStep) and len(steps) > 1 and getattr(steps[-2], "quantifier", None) is not None
    return not (others & nots) and not (last and steps[-2].quantifier.most != 1)


def flink_jars() -> Path:
    """What PyFlink brings; its environment is made if there is none."""
    environment = Path(interpreter("flink")).parents[1]
    return next(environment.glob("lib/python*/site-packages/pyflink/lib"))


def ask(jars: Path, lines: list[str]) -> list[str]:
    """FlinkCEP's answers."""
    path = ":".join(str(jar) for jar in sorted(jars.glob("*.jar")))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-nowarn", "-cp", path, "-d", folder, str(HERE / "Ask.java")], check=True)
        opens = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "time")]
        command = ["java", "-Xmx512m", *opens, "-cp", f"{folder}:{path}", "Ask"]
        done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    drawn = cases(count)
    lines = [f"{words(spec)}\t{' '.join(f'{v}@{t}' for v, t in stream)}" for spec, stream in drawn]
    wrong = 0
    for (spec, stream), line, answer in zip(drawn, lines, ask(flink_jars(), lines), strict=True):
        ours = shown(match(spec, stream)[0])
        theirs = Counter(answer.split("|") if answer else [])
        if ours != theirs:
            wrong += 1
            print(f"{line}\n  FlinkCEP: {dict(theirs - ours)}\n  Penstock: {dict(ours - theirs)}")
    print(f"{count - wrong} of {count} patterns are matched alike")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
