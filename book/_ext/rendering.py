"""The same pages in less time.

For each `{numref}` Sphinx loads the whole stored page that it points to, which is much of its work. Here
each page is loaded once. Jupyter Book has no option for as many processes as there are cores, so pages are read and
written by one; here it is several. And a third of the time went to looking for garbage among millions of nodes, nearly
all of which are needed to the end; here Python does not look.
"""

import gc
from functools import cache
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment
from sphinx_proof.domain import ProofDomain

from ol2r import cores

UNDECLARED = {"sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"}
"""Extensions of Jupyter Book that do not say whether pages can be read side by side. They can: both act before pages
are read or after all of them are."""


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


class Proofs(ProofDomain):
    """Sphinx-proof's domain, which keeps nothing itself: its list of theorems is merged by an event of its own."""

    def merge_domaindata(self, docnames: Any, otherdata: Any) -> None:
        pass


def side_by_side(app: Sphinx) -> None:
    """Let as many processes read and write pages as there are cores."""
    app.parallel = cores.count()
    for name in UNDECLARED & app.extensions.keys():
        app.extensions[name].parallel_read_safe = True


def setup(app: Sphinx) -> dict[str, object]:
    gc.disable()
    app.connect("build-finished", lambda *_: gc.freeze())  # nor does it look before it exits
    app.add_domain(NumberedReferences, override=True)
    app.add_domain(Proofs, override=True)
    app.connect("builder-inited", side_by_side)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
