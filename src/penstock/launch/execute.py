"""Launches a program: plans it, chooses its host, and lists the job while the host starts it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable

from penstock.core.config import Configuration
from penstock.core.config.compat import warn_about_settings
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.checkpoints import CHECKPOINT_DIR
from penstock.core.config.options.job import PLAN_ONLY
from penstock.core.config.table import check_source_settings
from penstock.core.program.job import JobPlan
from penstock.core.time.clock import SystemClock
from penstock.graph.stream_graph import StreamGraph
from penstock.jobs.client import JobClient
from penstock.jobs.host import Host
from penstock.jobs.registration import register, unregister
from penstock.jobs.starting_job import StartingJob
from penstock.launch.hosts import check_host, choose_host, find_host, job_needs
from penstock.launch.plan_options import plan_options
from penstock.launch.plans import PlannedOnly, planned
from penstock.plan.compile import compile_job
from penstock.plan.guarantees import guarantees_text

__all__ = ["WATCHERS", "launch"]

_LOG = logging.getLogger("penstock.job")

WATCHERS: list[Callable[[JobClient, JobPlan], None]] = []
"""Called with every job that starts in this process. The command line shows the job's progress this way."""


def launch(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> JobClient:
    """Plan a program, choose its host and start it; called by `execute()`. The client is returned once it has started.

    Mistakes in the program or its settings are raised before anything starts.
    """
    if conf.get(PLAN_ONLY):
        raise PlannedOnly(planned(graph, conf, parallelism, max_parallelism))
    warn_about_settings(conf)
    conf = with_newest_names(conf)
    host, needs = find_host(choose_host(graph, conf)), job_needs(graph, conf)
    options = plan_options(conf, host.name, parallelism, max_parallelism, needs.batch)
    check_host(host, needs)
    plan = compile_job(graph, options)
    check_source_settings(conf, [vertex.uid for vertex in plan.sources])
    _LOG.info(guarantees_text(graph))
    client = _start(host, plan, conf)
    for watcher in WATCHERS:
        watcher(client, plan)
    return client


def _start(host: Host, plan: JobPlan, conf: Configuration) -> JobClient:
    job_id = uuid.uuid4().hex
    return _start_listed(host, plan, conf, job_id) if host.capabilities.listed else host.start(plan, conf, job_id)


def _start_listed(host: Host, plan: JobPlan, conf: Configuration, job_id: str) -> JobClient:
    """Start a job that is listed, and can be canceled, from the first moment on: a host may take seconds to start."""
    starting = StartingJob(job_id)
    registration = register(starting, plan.name, host.name, "", SystemClock().now_ms())
    try:
        client = host.start(plan, conf, job_id)
    except BaseException:
        starting.failed()
        unregister(starting)
        raise
    checkpoint = conf.get(CHECKPOINT_DIR) if host.capabilities.durable else ""
    if registration is not None and checkpoint:
        registration.add_checkpoint(checkpoint)
    starting.become(client)
    return client
