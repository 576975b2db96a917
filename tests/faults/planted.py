"""Faults planted into the library, one or two for each kind, that the suite must find: they show that its zeros could
have been otherwise."""

import contextlib
import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ol2r import saved
from ol2r.data import cache, own, sessions
from ol2r.data import letor as letor_module
from ol2r.experiments import publication, runner
from ol2r.experiments import store as store_module
from ol2r.experiments.blocks import StoreError
from ol2r.report import strip, tables

Plant = Callable[[object, str, object], None]
"""Puts something else in the place of an attribute, such as `setattr`."""


def _unchecked_results(plant: Plant) -> None:
    """A store that does not compare digests."""
    plant(store_module, "_check_digest", lambda content: None)


def _unchecked_states(plant: Plant) -> None:
    plant(store_module, "_digest", lambda file, place: store_module._digest_in_footer(file)[1])


def _unchecked_cache(plant: Plant) -> None:
    plant(cache, "_load", lambda path, digest: np.load(path, mmap_mode="c", allow_pickle=False))


def _half_of_a_stream(plant: Plant) -> None:
    """A reader that gives what it could decompress."""
    really = letor_module.read_bytes

    def read_bytes(path: Path):
        with contextlib.suppress(Exception):
            return really(path)
        return np.zeros(1, dtype=np.uint8)

    plant(letor_module, "read_bytes", read_bytes)
    from faults import flips

    plant(flips, "read_bytes", read_bytes)


def _forgotten_rows(plant: Plant) -> None:
    """A runner that takes its last job for stored."""
    really = runner.lacking
    plant(runner, "lacking", lambda jobs, store: really(list(jobs)[:-1], store))


def _replaced_results(plant: Plant) -> None:
    """A store that throws the files of other cells away when it writes one."""
    really = store_module.Store.write

    def write(self, cell, rows, frame, provenance):
        for path in self.scratch.glob("*/folds*.parquet"):
            path.unlink(missing_ok=True)
        return really(self, cell, rows, frame, provenance)

    plant(store_module.Store, "write", write)


def _parsed_though_damaged(plant: Plant) -> None:
    """A store that parses what it has not checked, and lets any error out."""
    plant(store_module, "_check_digest", lambda content: None)
    plant(store_module, "_damage_told", contextlib.nullcontext)


def _full_disk_told_at_length(plant: Plant) -> None:
    """A cache that tells in two lines that it cannot be written."""
    plant(cache, "_store", _with_a_second_line(cache._store))


def _with_a_second_line(really: Callable) -> Callable:
    def changed(*arguments):
        try:
            return really(*arguments)
        except OSError as error:
            raise OSError(f"{error}\nand more") from error

    return changed


def _another_code(plant: Plant) -> None:
    """A command that fails whatever happens; it is a process of its own, so its script is changed."""
    from faults import signals

    plant(signals, "COMMAND", signals.COMMAND.replace("sys.exit(cli.main())", "sys.exit(cli.main() or 3)"))


def _published_one_by_one(plant: Plant) -> None:
    """A publisher that puts each file into its place as soon as it is written."""

    def stage(self, name: str, content: bytes, *_) -> str:
        saved.publish(self.folder / name, lambda file: file.write(content), replace=True)
        time.sleep(0.1)
        return hashlib.sha256(content).hexdigest()

    plant(publication._Merge, "_stage", stage)


def _bad_disk_told_at_length(plant: Plant) -> None:
    """A publisher that tells in two lines that it cannot write."""
    really = publication._told

    @contextlib.contextmanager
    def told(folder: Path):
        try:
            with really(folder):
                yield
        except StoreError as error:
            raise StoreError(f"{error}\nand more") from error

    plant(publication, "_told", told)


def _unchecked_publication(plant: Plant) -> None:
    """A reader of published files that takes them whatever their digests are."""
    really = publication.Snapshot.content

    def content(self, name: str) -> bytes:
        try:
            return really(self, name)
        except ValueError:
            return (self.folder / name).read_bytes()

    plant(publication.Snapshot, "content", content)


def _prune_deletes_what_is_declared(plant: Plant) -> None:
    really = store_module.Store.prunable

    def prunable(self, declared, **named):
        return really(self, set(sorted(declared)[1:]), **named)

    plant(store_module.Store, "prunable", prunable)


def _changed_source_is_not_noticed(plant: Plant) -> None:
    """A cache that looks at a source's size only."""
    plant(cache, "stamp", lambda path: [path.stat().st_size, 0, 0, 0, 0])


def _errors_of_many_lines(plant: Plant) -> None:
    from ol2r import cli

    plant(cli, "printable", lambda text, lines=False: f"{text}\nand more")


def _unescaped_names(plant: Plant) -> None:
    plant(tables, "plain", lambda text: text)


def _names_as_labels(plant: Plant) -> None:
    """Data whose label is its file's name as it is; a chapter runs elsewhere, so its kernel does this first."""
    from faults import pages

    same = "SimpleNamespace(sub=lambda pattern, other, text: text)"
    plant(pages, "STARTUP", f"from types import SimpleNamespace\nfrom ol2r.data import own\nown.re = {same}\n")


def _unescaped_strips(plant: Plant) -> None:
    plant(strip, "_printable", lambda value: value)


def _deaf_to_signals(plant: Plant) -> None:
    """A command that a signal ends without a word; it is a process of its own, so its script is changed."""
    from faults import signals

    ends = "    sys.exit(cli.main())"
    deaf = f"    import contextlib\n    cli._ended_as_by_ctrl_c = lambda last: contextlib.nullcontext()\n{ends}"
    plant(signals, "COMMAND", signals.COMMAND.replace(ends, deaf))


def _digits_lost(plant: Plant) -> None:
    """A LETOR reader that loses the sign of small numbers."""
    really = letor_module.parse_letor

    def parse(*arguments, **options):
        found = really(*arguments, **options)
        return found._replace(features=abs(found.features))

    plant(letor_module, "parse_letor", parse)


def _clicks_moved(plant: Plant) -> None:
    really = sessions._session

    def session(text, where, positions):
        query, shown, clicked = really(text, where, positions)
        return query, shown, clicked[1:]

    plant(sessions, "_session", session)


def _positions_ignored(plant: Plant) -> None:
    really = own._sessions
    plant(own, "_sessions", lambda query, rows: really(query, rows.assign(position=range(len(rows)))))


def _any_probability(plant: Plant) -> None:
    really = sessions._fitted

    def fitted(value, columns, where):
        found = really(value, columns, where)
        return found._replace(attraction=found.attraction[::-1])

    plant(sessions, "_fitted", fitted)


def _no_message(plant: Plant) -> None:
    """A LETOR reader whose errors are not the project's own."""

    class Strange(Exception):
        pass

    plant(letor_module, "DataError", Strange)


PLANTED: dict[str, dict[str, Callable[[Plant], None]]] = {
    "kills": {"rows are forgotten": _forgotten_rows, "results are replaced": _replaced_results},
    "signals": {"a signal ends the command without a word": _deaf_to_signals},
    "results": {"digests are not compared": _unchecked_results},
    "states": {"digests are not compared": _unchecked_states},
    "cache": {"digests are not compared": _unchecked_cache},
    "compressed": {"half of a stream is read": _half_of_a_stream},
    "disks": {"rows are forgotten": _forgotten_rows, "results are replaced": _replaced_results},
    "full": {
        "rows are forgotten": _forgotten_rows,
        "a full disk is told in two lines": _full_disk_told_at_length,
    },
    "shared-memory": {"the command ends with another code": _another_code},
    "crowds": {
        "prune deletes what is declared": _prune_deletes_what_is_declared,
        "files are published one by one": _published_one_by_one,
    },
    "publishers": {"files are published one by one": _published_one_by_one},
    "publishers-on-bad-disks": {"a bad disk is told in two lines": _bad_disk_told_at_length},
    "publishers-on-full-disks": {"a bad disk is told in two lines": _bad_disk_told_at_length},
    "published": {"digests are not compared": _unchecked_publication},
    "builders": {"a changed source is not noticed": _changed_source_is_not_noticed},
    "races": {"damaged files are parsed": _parsed_though_damaged},
    "commands": {"errors have two lines": _errors_of_many_lines},
    "tables": {"names are not escaped": _unescaped_names},
    "pages": {"names are not escaped": _unescaped_names, "strips are not escaped": _unescaped_strips},
    "chapters": {"no label is made of a name": _names_as_labels},
    "letor": {"signs are lost": _digits_lost, "errors are not the project's": _no_message},
    "letor-of-known-width": {"signs are lost": _digits_lost},
    "session-log": {"a click is lost": _clicks_moved},
    "session-log-of-four-positions": {"a click is lost": _clicks_moved},
    "table-of-clicks": {"positions are ignored": _positions_ignored},
    "fitted-models": {"rows are turned round": _any_probability},
}
"""By fault of `run.FAULTS`: what breaks the library so that the suite must find something."""
