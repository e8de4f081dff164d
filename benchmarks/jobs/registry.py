"""All jobs, in the order in which they are run."""

from benchmarks.jobs.empty_batch import EMPTY_BATCH
from benchmarks.jobs.events import FAILED_LOGINS, INTERVAL_JOIN, WINDOWS
from benchmarks.jobs.files import FILES
from benchmarks.jobs.growth import GROWTH
from benchmarks.jobs.latency import LATENCY
from benchmarks.jobs.long_list import LONG_LIST
from benchmarks.jobs.nexmark import NEXMARK
from benchmarks.jobs.patterns import PATTERNS
from benchmarks.jobs.running_sum import RUNNING_SUM
from benchmarks.jobs.runtime import RUNTIME
from benchmarks.jobs.start_up import START_UP
from benchmarks.jobs.window_runtime import WINDOW_RUNTIME
from benchmarks.jobs.word_count import WORD_COUNT

JOBS = {
    job.name: job
    for job in (
        RUNTIME,
        PATTERNS,
        WINDOW_RUNTIME,
        EMPTY_BATCH,
        WINDOWS,
        INTERVAL_JOIN,
        FAILED_LOGINS,
        NEXMARK,
        WORD_COUNT,
        START_UP,
        LATENCY,
        FILES,
        RUNNING_SUM,
        LONG_LIST,
        GROWTH,
    )
}
