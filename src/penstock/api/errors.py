"""The root of the exception tree, for those who know the api only."""

from penstock.core.errors import ConfigurationError, JobNotFoundError, PenstockError

__all__ = ["ConfigurationError", "JobNotFoundError", "PenstockError"]
