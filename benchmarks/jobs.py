"""All jobs, in the order in which they are run."""

from benchmarks.job_empty_batch import EMPTY_BATCH
from benchmarks.job_growth import GROWTH
from benchmarks.job_long_list import LONG_LIST
from benchmarks.job_patterns import PATTERNS
from benchmarks.job_running_sum import RUNNING_SUM
from benchmarks.job_runtime import RUNTIME

JOBS = {job.name: job for job in (RUNTIME, PATTERNS, EMPTY_BATCH, RUNNING_SUM, LONG_LIST, GROWTH)}
