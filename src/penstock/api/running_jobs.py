"""Jobs that run on this machine, and how to speak to them, for those who know the api only."""

from penstock.core.mailbox import Mailbox, Request
from penstock.core.running_jobs import RunningJob, announcements, find_job, jobs_folder

__all__ = ["Mailbox", "Request", "RunningJob", "announcements", "find_job", "jobs_folder"]
