"""The commands of a strip say which results are meant, and the command line understands them."""

import shlex
from types import SimpleNamespace

import pytest
from fakes import Fake, Loose, Timing, job

from ol2r import cli
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store
from ol2r.report import commands


def chapter(**changed):
    return SimpleNamespace(**({"name": "nsgd", "tier": "paper", "seeds": None, "datasets": None} | changed))


def parsed(command: str):
    program, *words = shlex.split(command)
    assert program == "ol2r"
    return cli.parser().parse_args(words)


CHOSEN = [
    ({}, ("paper", None, None, None)),
    ({"tier": "laptop", "seeds": 3}, ("laptop", 3, None, None)),
    ({"datasets": ["MQ2008", "a name"]}, ("paper", None, ["MQ2008", "a name"], None)),
    ({"datasets": ["own-0123456789ab", "MQ2008"]}, ("paper", None, ["MQ2008"], ["PATH"])),
]


@pytest.mark.parametrize(("changed", "chosen"), CHOSEN)
def test_commands_choose_the_chapter_s_results(changed, chosen):
    drawn = parsed(commands.draw(chapter(**changed), "nsgd-fig-2", is_table=False))
    rows = parsed(commands.export(chapter(**changed), "fig-2"))
    for arguments in (drawn, rows):
        assert (arguments.tier, arguments.seeds, arguments.datasets, arguments.data) == chosen
    assert (drawn.paper, drawn.anchor, drawn.output, drawn.csv) == (
        "nsgd", "nsgd-fig-2", "nsgd-fig-2.svg", "nsgd-fig-2.csv",
    )  # fmt: skip
    assert (rows.paper, rows.item, rows.output) == ("nsgd", "fig-2", "fig-2-rows.csv")


def test_a_table_is_drawn_as_a_page():
    assert parsed(commands.draw(chapter(), "nsgd-table-2", is_table=True)).output == "nsgd-table-2.html"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results", tmp_path / "scratch")


def test_a_cell_is_verified_by_the_beginning_of_its_key(store):
    (command,) = commands.verify(chapter(store=store), [Fake()])
    arguments = parsed(command)
    assert arguments.paper == "nsgd" and arguments.cell == Fake().key[:12]


def test_the_cell_to_verify_is_one_that_repeats_bit_for_bit_and_the_quickest_of_these(store):
    slow, quick, loose = Fake(name="slow", seconds_a_row=9.0), Fake(name="quick"), Loose(seconds_a_row=0.001)
    run([job(loose)], store)

    def chosen(*cells):
        return [command.split()[-1] for command in commands.verify(chapter(store=store), cells)]

    assert chosen(Timing(), loose, slow, quick) == [quick.key[:12]]
    assert chosen(Timing(), loose) == [loose.key[:12]]


def test_nothing_is_verified_of_timings_and_of_means_over_few_rows(store):
    few = Loose(n_folds=4)
    run([job(few, n_seeds=1)], store)
    assert commands.verify(chapter(store=store), [Timing(), few]) == []
