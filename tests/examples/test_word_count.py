"""U14: word count."""

from collections import Counter

import pytest

from examples.word_count import LINES, word_count
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import collect, local_job


@pytest.mark.parametrize("parallelism", [1, 3])
def test_every_word_is_counted_as_it_comes(parallelism: int) -> None:
    """Each word's counts run from 1 to its total, without a gap (U14, O2)."""
    env = StreamExecutionEnvironment.get_execution_environment()
    collect(word_count(env.from_collection(LINES)), "counts")
    job = local_job(env, parallelism)
    job.run([1, 1])
    counts: dict[str, list[int]] = {}
    for word, count in job.results["counts"]:
        counts.setdefault(word, []).append(count)
    expected = Counter(" ".join(LINES).split())
    assert counts == {word: list(range(1, total + 1)) for word, total in expected.items()}
