"""All jobs, in the order in which they are run."""

from benchmarks.job_empty_batch import EMPTY_BATCH
from benchmarks.job_events import FAILED_LOGINS, INTERVAL_JOIN, WINDOWS
from benchmarks.job_files import FILES
from benchmarks.job_growth import GROWTH
from benchmarks.job_latency import LATENCY
from benchmarks.job_long_list import LONG_LIST
from benchmarks.job_nexmark import NEXMARK
from benchmarks.job_patterns import PATTERNS
from benchmarks.job_running_sum import RUNNING_SUM
from benchmarks.job_runtime import RUNTIME
from benchmarks.job_start_up import START_UP
from benchmarks.job_window_runtime import WINDOW_RUNTIME
from benchmarks.job_word_count import WORD_COUNT

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
