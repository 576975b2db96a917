"""The same pages in less time.

For each `{numref}` Sphinx loads the whole stored page that it points to, which is much of its work. Here
each page is loaded once. And Jupyter Book has no option for as many processes as there are cores, so pages are written
by one; here they are written by several. (They are still read by one, because an extension of Jupyter Book does not
say whether it could be otherwise.)
"""

import os
from functools import cache
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment


class StoredPages:
    """An environment that loads each stored page once, for those who only read it."""

    def __init__(self, env: BuildEnvironment):
        self._env = env
        self.get_doctree = cache(env.get_doctree)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


class NumberedReferences(StandardDomain):
    """Sphinx's standard domain; it looks up the target of a reference in `StoredPages`."""

    def resolve_xref(self, env: BuildEnvironment, *arguments: Any) -> Any:
        if not hasattr(self, "_pages"):
            self._pages = StoredPages(env)
        return super().resolve_xref(self._pages, *arguments)


def write_side_by_side(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Let as many processes write pages as there are cores, once all pages are read."""
    app.parallel = os.cpu_count() or 1
    return []


def setup(app: Sphinx) -> dict[str, object]:
    app.add_domain(NumberedReferences, override=True)
    app.connect("env-updated", write_side_by_side)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
