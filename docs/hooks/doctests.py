"""For the reference: doctests in docstrings become blocks of Python. Markdown would take `>>>` for a quotation."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

_DOCTEST = re.compile(r"(?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*", re.MULTILINE)


def fenced(text: str) -> str:
    """The docstring with a fence around each example, up to the next empty line."""
    return _DOCTEST.sub(lambda match: f"```python\n{match[0].rstrip()}\n```\n", text)


class FencedDoctests(Extension):
    """Called by griffe for everything it has read."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
