"""Works whose authors and year read alike get a letter after the year, as in [Jia and Wang, 2022a].

The letter stands in the text and in the bibliography; `references.bib` keeps plain years.
"""

from collections import defaultdict
from collections.abc import Mapping
from string import ascii_lowercase

from pybtex.database import Entry
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def names(entry: Entry) -> tuple[str, ...]:
    """The names of a work's authors as a citation has them: of more than two the first, and "al."."""
    last = [" ".join(person.last_names) for person in entry.persons.get("author", ())]
    return tuple(last) if len(last) <= 2 else (last[0], "al.")


def letter(entries: Mapping[str, Entry]) -> None:
    """Put a letter after the year of all works that a citation could not tell apart, in the order of their titles."""
    alike = defaultdict(list)
    for entry in entries.values():
        alike[names(entry), entry.fields.get("year")].append(entry)
    for (_, year), same in alike.items():
        for mark, entry in zip(ascii_lowercase, sorted(same, key=lambda own: own.fields["title"]), strict=False):
            if len(same) > 1 and year:
                entry.fields["year"] = year + mark


def before_reading(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    letter(env.get_domain("cite").bibdata.data.entries)  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("env-before-read-docs", before_reading)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
