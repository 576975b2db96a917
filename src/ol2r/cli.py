"""The `ol2r` command: run and look after experiments, judge claims, manage data sets.

It parses, calls and prints; everything it does can be done from Python as well. Rooms are imported by the command that
needs them, so that `ol2r --help` is instant.
"""

import argparse
import contextlib
import io
import json
import math
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import ol2r
from ol2r.errors import DataError, ExperimentError, Failed, one_of, printable

if TYPE_CHECKING:

    from ol2r.experiments.cells import Cell, Job, Row
    from ol2r.experiments.chapter import Chapter
    from ol2r.experiments.paper import Paper
    from ol2r.experiments.runner import Workers
    from ol2r.experiments.store import Store
    from ol2r.experiments.verdicts import Judgement

TIERS = ("smoke", "laptop", "paper")


def _papers(name: str | None) -> "list[Paper]":
    from ol2r.papers import NAMES, paper

    return [paper(each) for each in (NAMES if name is None else [name])]


def _declared(papers: "Sequence[Paper]") -> "list[Job]":
    """All jobs that the papers declare at any tier, and the jobs that these depend on."""
    from ol2r.experiments.cells import with_needs

    items = [item for paper in papers for item in paper.items.values()]
    return with_needs(job for item in items for tier in TIERS for job in item.jobs(tier))


def papers(arguments: argparse.Namespace) -> int:
    """List the papers that have a chapter, one per line."""
    from ol2r.papers import NAMES

    print("\n".join(NAMES))
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Compute the missing results of a paper's figures and tables, or without a paper those that are queued."""
    from ol2r.data.own import take_in
    from ol2r.experiments.origins import AtHand, check_data, names_of
    from ol2r.experiments.runner import Clock, check_device, end_processes, expected_seconds, lacking, resolve_engine
    from ol2r.experiments.runner import run as run_jobs
    from ol2r.experiments.store import Store

    if arguments.dask and (arguments.jobs or arguments.device != "cpu" or arguments.minutes):
        raise ExperimentError(
            "--dask computes on the CPUs of the scheduler's workers: leave out --jobs, --device and --minutes"
        )
    clock = Clock(60 * arguments.minutes) if arguments.minutes else None
    tier = arguments.tier or ("laptop" if arguments.paper else "paper")
    resolve_engine(arguments.engine, check_device(arguments.device))
    if arguments.split and not arguments.data:
        raise ExperimentError("--split says how the folds of your own data are made: give its path with --data")
    own = [take_in(path, arguments.split).name for path in arguments.data or ()]
    steps = []
    for paper, items, named in _asked(arguments):
        chosen = [paper.items[one_of(item, paper.items, "item", paper.name)] for item in items]
        where = " ".join([paper.name, *(arguments.item or ())])
        datasets = names_of([*named, *own], chosen, tier, where) or None
        steps.append([job for item in chosen for job in item.jobs(tier, arguments.seeds, datasets)])
    at_hand = AtHand()
    absent = sorted({data for jobs in steps for job in jobs if (data := at_hand.missing(job.cell))})
    steps = [[job for job in jobs if at_hand.missing(job.cell) is None] for jobs in steps]
    store = Store.open()
    todo = lacking([job for jobs in steps for job in jobs], store)
    with _workers(arguments.dask) as workers:
        n_jobs = arguments.jobs if workers is None else len(workers)
        minutes = expected_seconds(todo, n_jobs, arguments.device) / 60
        for data in absent:
            print(f"{data} is not at hand: its cells are left out (`ol2r data info {data}` says where to get it)")
        print(f"{sum(len(job.rows) for job in todo)} rows of {len(todo)} cells to compute, about {minutes:.1f} minutes")
        if arguments.dry_run:
            for job in todo:
                seconds = job.cost(arguments.device).whole
                print(f"  {job.cell.key[:12]} {job.cell.describe()}: {len(job.rows)} rows, {seconds:.0f} s")
            return 0
        check_data(todo)
        how = {"device": arguments.device, "engine": arguments.engine, "n_jobs": arguments.jobs, "workers": workers}
        try:
            n_rows = sum(run_jobs(jobs, store, clock=clock, **how) for jobs in steps)
        finally:
            end_processes()
    print(f"{n_rows} rows stored in {store.scratch}")
    if clock and (left := sum(len(job.rows) for job in lacking([job for jobs in steps for job in jobs], store))):
        print(f"{left} rows are left: nothing more of them fits into {arguments.minutes:g} minutes")
    return 0


def _asked(arguments: argparse.Namespace) -> "list[tuple[Paper, Sequence[str], Sequence[str]]]":
    """Which items of which papers to run, and on which data sets (none: all), in this order: those of the paper that is
    named, or what is queued.

    Raises:
        ExperimentError: no paper is named, and an item or data is.
    """
    from ol2r.papers import paper
    from ol2r.papers.queue import QUEUE

    if arguments.paper is not None:
        (asked,) = _papers(arguments.paper)
        return [(asked, arguments.item or tuple(asked.items), arguments.datasets or ())]
    if arguments.item or arguments.datasets or arguments.data:
        raise ExperimentError("without a paper all that is queued is run: leave out --item, --datasets and --data")
    return [(paper(each.paper), (each.item,), each.datasets or ()) for each in QUEUE]


def _workers(address: str | None) -> "contextlib.AbstractContextManager[Workers | None]":
    """The workers of a Dask scheduler while a block runs, or None where no scheduler is named."""
    if address is None:
        return contextlib.nullcontext()
    from ol2r.experiments.cluster import connected

    return connected(address)


def draw(arguments: argparse.Namespace) -> int:
    """Make a figure or table of the book again from what is stored: the drawing and its data."""
    from pathlib import Path

    from ol2r.report import redraw

    page, parameters = redraw.page_of(arguments.paper, arguments.anchor), _parameters(arguments)
    if arguments.dry_run:
        n_rows = redraw.stored(page, parameters)
        print(f"{page.name} draws {arguments.anchor}; the {n_rows} rows that it reads are stored")
        return 0
    drawn = redraw.draw(arguments.paper, arguments.anchor, parameters)
    files = drawn.write(Path(arguments.output)) if arguments.output else []
    if arguments.csv:
        drawn.strip.write(Path(arguments.csv))
        files.append(Path(arguments.csv))
    print(f"{arguments.anchor} in {', '.join(map(str, files)) or 'no file: name one with -o or --csv'}")
    return 0


def export(arguments: argparse.Namespace) -> int:
    """Write all stored rows of a figure or table to a CSV file, each with its cell's key and labels, fold and seed."""
    results = _stored(arguments).results(arguments.item)
    frame = results.frame.rename(columns={"cell": "key"})
    if frame.empty:
        raise ExperimentError(f"{arguments.paper} {arguments.item} has no rows to export")
    frame.to_csv(arguments.output, index=False, lineterminator="\n")
    print(f"{len(frame)} lines of {len(results.cells)} cells in {arguments.output}")
    return 0


def cost(arguments: argparse.Namespace) -> int:
    """Say what a run of each learner would take on data that is not at hand."""
    from ol2r import frames
    from ol2r.experiments import projected
    from ol2r.papers.comparison.grid import COMPARED, SETTINGS, setting

    given = arguments.queries, arguments.documents, arguments.features
    elsewhere = projected.ELSEWHERE
    if any(given):
        if not all(given):
            raise ExperimentError("give all of --queries, --documents and --features, or none")
        elsewhere = {"your data": (projected.Elsewhere(*given), 5000)}
    if arguments.rounds:
        elsewhere = {name: (there, arguments.rounds) for name, (there, _) in elsewhere.items()}
    settings = {name: (SETTINGS[name][0], setting("MQ2008", name)) for name in COMPARED}
    lines = projected.table(settings, elsewhere)
    for name, (there, rounds) in elsewhere.items():
        print(
            f"{name}: {there.queries:,} queries, {there.documents:,} documents, {there.features} features "
            f"({projected.size(there.bytes)}); a run of {rounds:,} rounds on one core:"
        )
        for line in frames.rows(lines[lines["data"] == name]):
            print(f"  {line.variant:20} {projected.duration(line.seconds):>12}, state {projected.size(line.bytes)}")
    return 0


def _stored(arguments: argparse.Namespace) -> "Chapter":
    """The chapter at the tier, seeds and data that were asked for; it reads what is stored and computes nothing."""
    from ol2r.experiments.chapter import Chapter, checked
    from ol2r.experiments.store import Store

    (paper,) = _papers(arguments.paper)
    return Chapter(paper, checked(paper, _parameters(arguments)), Store.open(), never=True)


def _parameters(arguments: argparse.Namespace) -> dict[str, object]:
    """The chapter's parameters that a command was given."""
    datasets = [*(arguments.datasets or ()), *(arguments.data or ())] or None
    return {"tier": arguments.tier, "seeds": arguments.seeds, "datasets": datasets}


def status(arguments: argparse.Namespace) -> int:
    """Count stored and declared rows of every figure and table at every tier, and unfinished shards."""
    from ol2r.experiments.origins import AtHand
    from ol2r.experiments.store import Store

    store, at_hand = Store.open(), AtHand()
    keys = store.keys()
    missing = cache(at_hand.missing)  # items and tiers share cells

    @cache
    def held(cell: "Cell") -> "tuple[set[Row], int]":
        """The rows of a cell that are stored, and the number of its shards that are half done."""
        return (store.listed(cell), store.n_unfinished(cell)) if cell.key in keys else (set(), 0)

    for paper in _papers(arguments.paper):
        width = max(map(len, paper.items), default=0)
        print(f"{paper.name:{width + 2}}" + "".join(f"{tier:>16}" for tier in TIERS) + "   rows stored / declared")
        for item, declared in paper.items.items():
            counts, absent, cells = [], set(), set()
            for tier in TIERS:
                jobs = declared.jobs(tier)
                cells.update(job.cell for job in jobs)
                stored = sum(len(rows.intersection(job.rows)) for job in jobs if (rows := held(job.cell)[0]))
                counts.append(f"{stored}/{sum(len(job.rows) for job in jobs)}")
                absent |= {data for job in jobs if (data := missing(job.cell))}
            note = f"   not at hand: {', '.join(sorted(absent))}" if absent else ""
            if n_unfinished := sum(held(cell)[1] for cell in cells):
                note += f"   unfinished: {n_unfinished} shard{'s' * (n_unfinished > 1)}"
            print(f"  {item:{width}}" + "".join(f"{count:>16}" for count in counts) + note)
    return 0


def publish(arguments: argparse.Namespace) -> int:
    """Merge what the scratch store has of declared cells into results/; with --drop, delete what is not declared."""
    from ol2r.experiments.publication import few
    from ol2r.experiments.publication import publish as merge
    from ol2r.experiments.store import Store

    jobs, how = _to_publish()
    if not jobs:
        raise ExperimentError("no paper declares anything: nothing is published")
    store = Store.open()
    done = merge(store, jobs, **how, drop=arguments.drop, dry_run=arguments.dry_run)
    if done.refused:
        why = "no clean commit made them, or their columns do not fit"
        print(f"{len(done.refused)} blocks stay in {store.scratch} ({why}): {few(done.refused)}")
    if arguments.dry_run and done.dropped:
        print(f"dropped if you say --drop: {few(done.dropped)}")
    if done.files:
        print(f"files: {few(done.files)}")
    would = "would be " if arguments.dry_run else ""
    counts = f"{done.added} blocks {would}added, {len(done.dropped)} dropped, {len(done.files)} files of"
    print(f"{counts} {store.published} {'to change' if would else 'changed'}")
    return 0


def _to_publish() -> "tuple[list[Job], dict[str, Any]]":
    """All declared jobs with their needs, and what `publication.publish` is told of them beside."""
    from ol2r.experiments.cells import with_needs

    jobs: dict[bool, list[Job]] = {True: [], False: []}  # by whether they were made for tuning
    names: dict[bool, dict[str, set[str]]] = {True: {}, False: {}}  # of their items, by key
    for paper in _papers(None):
        for name, item in paper.items.items():
            tunes = any(name in tuned.steps for tuned in (paper.tuned, paper.by_users) if tuned is not None)
            for job in (job for tier in TIERS for job in item.jobs(tier)):
                jobs[tunes].append(job)
                names[tunes].setdefault(job.cell.key, set()).add(f"{paper.name}/{name}")
    shown, tried = (with_needs(jobs[tunes]) for tunes in (False, True))
    shown_in = {key: " ".join(sorted(own)) for key, own in (names[True] | names[False]).items()}
    tuning = {job.cell.key for job in tried} - {job.cell.key for job in shown}
    return [*shown, *tried] if shown else [], {"tuning": tuning, "shown_in": shown_in}


def verify(arguments: argparse.Namespace) -> int:
    """Recompute stored results drawn at random; exit with 1 if one differs or none could be compared."""
    from ol2r.experiments.provenance import code_digest
    from ol2r.experiments.store import Store
    from ol2r.experiments.verify import plans
    from ol2r.experiments.verify import verify as checks

    if arguments.quick:
        return _verify_quick(arguments)
    seed = arguments.seed or code_digest(("ol2r",))[:12]
    jobs = [job for job in _declared(_papers(arguments.paper)) if job.cell.key.startswith(arguments.cell)]
    if not jobs:
        raise ExperimentError(f"no declared cell has a key that begins with {arguments.cell!r}")
    store, asked = Store.open(), bool(arguments.cell)
    how = {"minutes": arguments.minutes, "seed": seed, "asked": asked}
    if arguments.dry_run:
        planned = list(plans(jobs, store, **how))
        n_blocks, minutes = sum(bool(plan.tries) for plan in planned), sum(plan.seconds for plan in planned) / 60
        print(*planned, f"{n_blocks} blocks to recompute, about {minutes:.1f} minutes", sep="\n")
        return 0
    if asked:
        for job in jobs:
            _print_numbers(job.cell, store)
    counts = {True: 0, False: 0, None: 0}
    different = []
    for check in checks(jobs, store, **how):
        counts[check.passed] += 1
        print(check, flush=True)
        if check.passed is False:
            different.append(check)
        if asked and check.numbers is not None:
            print(check.numbers.to_string(float_format="{:.6g}".format))
    for check in different:
        print(check)  # again, below what may be hundreds of lines
    print(f"blocks drawn with seed {seed}: {counts[True]} the same, {counts[False]} different, {counts[None]} skipped")
    if not counts[True]:
        print("nothing was verified", file=sys.stderr)
    return 0 if counts[True] and not counts[False] else 1


def _print_numbers(cell: "Cell", store: "Store") -> None:
    """Print the means of what is stored of a cell over all rows after the last round, as figures show them."""
    from ol2r.experiments.verify import means

    frame = store.read(cell, sorted(store.listed(cell))).frame
    if frame is None:
        return
    n_rows = len(frame[["fold", "seed"]].drop_duplicates())
    last = f" after round {frame['round'].max():.0f}" if "round" in frame else ""
    print(f"{cell.key[:12]} {cell.describe()}: means over {n_rows} rows{last}")
    print(means(frame).to_string(float_format="{:.6g}".format))


def _verify_quick(arguments: argparse.Namespace) -> int:
    from ol2r.experiments.store import Store
    from ol2r.experiments.verify import inspect

    if arguments.paper or arguments.cell or arguments.dry_run:
        raise ExperimentError("--quick looks at all of results/: name no paper, no cell and no --dry-run")
    n_checked = n_damaged = 0
    store = Store.open()
    for name, damage in inspect(_declared(_papers(None)), store):
        n_checked += 1
        if damage is not None:
            n_damaged += 1
            print(f"damaged   {name}: {damage}", flush=True)
    print(f"{n_checked} blocks, {n_damaged} damaged")
    if store.publication and not n_damaged:
        unclean = sum(record.get("dirty") is not False for record in store.publication.records())
        print(f"{unclean} of them were made by code with changes that are not committed, or without its commit")
    if not n_checked:
        print("nothing was verified", file=sys.stderr)
    return 0 if n_checked and not n_damaged else 1


def prune(arguments: argparse.Namespace) -> int:
    """Delete scratch results of cells that no paper declares, damaged files, and what killed runs left behind."""
    from ol2r.experiments.origins import awaits_data
    from ol2r.experiments.store import Store

    declared = {job.cell.key for job in _declared(_papers(None))}
    if not declared:
        raise ExperimentError("no paper declares anything: nothing is deleted")
    store = Store.open()
    files = [path for path in store.prunable(declared) if not awaits_data(path)]
    folder = store.scratch
    if not files:
        print(f"nothing to delete in {folder}")
        return 0
    for path in files:
        print(f"  {path.parent.name[:12]}/{path.name}")
    if not arguments.yes:
        try:
            answer = input(f"delete these {len(files)} files of {folder}? [y/N] ")
        except (EOFError, RuntimeError) as error:  # the end of the input, or none at all
            raise ExperimentError("nobody is there to answer: nothing is deleted without --yes") from error
        if answer.strip().lower() != "y":
            return 0
    for path in files:
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty, or another process was first
            path.parent.rmdir()
    print(f"{len(files)} files deleted")
    return 0


def claims(arguments: argparse.Namespace) -> int:
    """Judge every claim of the papers by the stored results."""
    from ol2r.experiments.claims import label
    from ol2r.experiments.store import Store
    from ol2r.papers import PAPERS
    from ol2r.papers import judgements as judged

    published = Store.open().published
    judgements: list[Judgement] = []
    claiming = [paper for paper in _papers(arguments.paper) if paper.claims or paper.name in PAPERS]
    if not claiming:  # the comparison of learners
        print("[]" if arguments.json else f"{arguments.paper} claims nothing")
        return 0
    for paper in claiming:
        if found := judged(paper.name, arguments.tier):
            judgements += found.values()
        else:
            advice = "" if published else ", or set OL2R_RESULTS to the results/ of a clone or an archive"
            told = f"no results of {paper.name} are stored: run `ol2r run {paper.name}` first{advice}"
            print(f"ol2r: {told}", file=sys.stderr)
    if not judgements:
        return 1
    if arguments.json:
        print(json.dumps([judgement.to_json() for judgement in judgements], indent=1, ensure_ascii=False))
        return 0
    for judgement in judgements:
        indent = f"{'':{len(judgement.paper) + 7}}"
        print(f"{judgement.paper} {judgement.id:5} {judgement.verdict:18} {judgement.statement}")
        for place in judgement.elsewhere:
            print(f"{indent}on {label(place.dataset)}: {place.verdict} ({place.counts})")
        for reading, other in judgement.readings.items():
            answers = [other.verdict, *(f"{label(place.dataset)}: {place.verdict}" for place in other.elsewhere)]
            print(f"{indent}read as {reading!r}: {', '.join(answers)}")
        print(f"{indent}{judgement.reason}")
    return 0


def data(arguments: argparse.Namespace) -> int:
    """Show or add data sets."""
    from ol2r.data import commands

    try:
        if arguments.action == "list":
            print(commands.list_datasets())
        elif arguments.action == "info":
            print(commands.describe(arguments.name))
        else:
            print(commands.add(arguments.path))
    except ValueError as error:
        raise ExperimentError(str(error)) from error
    return 0


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def _processes(text: str) -> int:
    value = _positive(text)
    if value > 256:
        raise argparse.ArgumentTypeError("at most 256")
    return value


def _minutes(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError("a finite number above 0")
    return value


def parser() -> argparse.ArgumentParser:
    """The parser of the command line, with all subcommands and their options."""
    top = argparse.ArgumentParser(prog="ol2r", description="Five papers on online learning to rank, made to run.")
    top.add_argument("--version", action="version", version=f"ol2r {ol2r.__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(function, **options) -> argparse.ArgumentParser:
        summary = function.__doc__.partition("\n")[0]
        added = commands.add_parser(function.__name__, help=summary, description=summary, **options)
        added.set_defaults(function=function)
        return added

    command(papers)

    def choice(added: argparse.ArgumentParser, tier: str | None) -> None:
        """Add the options that say which of a paper's rows are meant."""
        added.add_argument("--tier", choices=TIERS, default=tier)
        added.add_argument("--seeds", type=_positive, help="number of seeds (as declared)")
        added.add_argument("--datasets", nargs="+", help="data sets (all declared ones, or none with --data)")
        added.add_argument("--data", nargs="+", metavar="PATH", help="your own LETOR files, folders or patterns")

    add = command(run)
    add.add_argument("paper", nargs="?", help="(without one: what is queued, in order of worth)")
    add.add_argument("--item", action="append", help="a figure or table, such as fig-2; may be repeated (all)")
    choice(add, tier=None)
    how = "folds of --data: the folder's own train, vali and test files, or cut anew (its own, where it has them)"
    add.add_argument("--split", choices=("given", "cut"), help=how)
    add.add_argument("--jobs", type=_processes, help="worker processes (one per core)")
    add.add_argument("--dask", metavar="ADDRESS", help="compute on the workers of this Dask scheduler, tcp://HOST:PORT")
    add.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    add.add_argument("--engine", choices=("numba", "torch"), help="numba on the CPU, torch on a GPU")
    add.add_argument("--minutes", type=_minutes, help="begin nothing that is expected to end later")
    add.add_argument("--dry-run", action="store_true", help="say what would be computed, and stop")

    add = command(draw)
    add.add_argument("paper")
    add.add_argument("anchor", help="the end of its address in the book, such as nsgd-fig-2")
    add.add_argument("-o", "--output", metavar="FILE", help="a figure as .svg, .pdf or .png, a table as .html or .csv")
    add.add_argument("--csv", metavar="FILE", help="where to write the numbers shown")
    choice(add, tier="paper")
    add.add_argument("--dry-run", action="store_true", help="say which page draws it and whether its rows are stored")

    add = command(export)
    add.add_argument("paper")
    add.add_argument("item", help="a figure or table, such as fig-2")
    add.add_argument("-o", "--output", required=True, metavar="FILE", help="the CSV file to write")
    choice(add, tier="paper")

    add = command(status)
    add.add_argument("paper", nargs="?")

    add = command(publish)
    add.add_argument("--drop", action="store_true", help="delete results of cells that no paper declares any more")
    add.add_argument("--dry-run", action="store_true", help="say what would be added, refused and dropped, and stop")

    add = command(verify)
    add.add_argument("paper", nargs="?")
    add.add_argument("--cell", metavar="KEY", default="", help="only this key's cell (or its beginning), with numbers")
    add.add_argument("--minutes", type=_minutes, default=3.0)
    add.add_argument("--dry-run", action="store_true", help="say what would be recomputed, and how long it takes")
    add.add_argument("--quick", action="store_true", help="check that every block is whole, and recompute nothing")
    add.add_argument("--seed", metavar="TEXT", help="what the draw depends on (a digest of the code)")

    add = command(prune)
    add.add_argument("--yes", action="store_true", help="do not ask")

    add = command(claims)
    add.add_argument("paper", nargs="?")
    add.add_argument("--tier", choices=TIERS, help="(for each item the largest that is stored)")
    add.add_argument("--json", action="store_true", help="a list with one object for each claim")

    add = command(cost)
    add.add_argument("--queries", type=_positive, help="of your data, with --documents and --features")
    add.add_argument("--documents", type=_positive, help="of all queries together")
    add.add_argument("--features", type=_positive)
    add.add_argument("--rounds", type=_positive, help="of a run (5,000, and a million on the log)")

    actions = command(data).add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="all data sets and whether they are at hand")
    actions.add_parser("info", help="one data set: source, licence, how to get it").add_argument("name")
    actions.add_parser("add", help="make a downloaded folder known").add_argument("path")
    return top


@contextlib.contextmanager
def _ended_as_by_ctrl_c(*, last: bool) -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt as Ctrl-C does, so that workers end and their shared memory is released.

    If the process does nothing more after the block, it heeds these signals no longer: how it ends tells what was done.
    """
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ends = [end for end in ends if signal.getsignal(end) == signal.SIG_DFL]  # nohup stays nohup
    try:
        for end in ends:
            signal.signal(end, signal.default_int_handler)
        yield
    finally:
        for end in ends:
            signal.signal(end, signal.SIG_IGN if last else signal.SIG_DFL)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0 if it is done, 1 if something failed on the way, 2 if the request cannot be met.

    Args:
        argv: the command's words (None: those of this process, which ends with the command).
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # print an escape for a character that the terminal lacks
            stream.reconfigure(errors="backslashreplace")
    arguments = parser().parse_args(argv)
    try:
        with _ended_as_by_ctrl_c(last=argv is None):
            code = _main(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
            return code
    except BrokenPipeError:  # the reader has closed the pipe, so nothing more can be written, not even at exit
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        stored = "what had ended is stored, run again to go on"
        said = "a verification stores nothing, and begins again" if arguments.function is verify else stored
        print(f"ol2r: interrupted; {said}", file=sys.stderr)
        return 1


def _main(arguments: argparse.Namespace) -> int:
    from ol2r.papers import NAMES

    try:
        if getattr(arguments, "paper", None):  # before the command loads all that it needs
            one_of(arguments.paper, NAMES, "paper")
        return arguments.function(arguments)
    except BrokenPipeError:
        raise
    except Failed as error:
        trace = "\n".join(getattr(error, "__notes__", ()))
        print(f"{trace}ol2r: {printable(str(error), lines=True)}", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"ol2r: not enough memory{f' ({error})' if str(error) else ''}", file=sys.stderr)
        return 1
    except (ExperimentError, DataError, OSError) as error:
        print(f"ol2r: {printable(str(error))}", file=sys.stderr)
        return 2
