import itertools

import numpy as np
import pandas as pd
import pytest
from shown import line

from ol2r.papers.olranknet import audit_figures as figures
from ol2r.papers.olranknet import bounds

KIND = {"audit": "coverage", "bound": 1.0, "regularization": 1.0, "width": 100, "delta": 0.1, "round": 80}
RATIOS = dict.fromkeys((*bounds.PROBABLE, *bounds.CERTAIN, "log det by documents"), 0.2) | {"radius": 1.5}
RATIOS |= {"width needed": 0.5, "diagonal width needed": 0.25, "width": 10.0, "error": 0.02, "narrowing": 3.0}


@pytest.fixture
def frame():
    """Twenty worlds of three kinds whose ratio of Lemma 3.3 grows from .05 to 1; nothing is as assumed in the third."""
    lines = []
    for truth, users in (("tangent", "matched"), ("network", "matched"), ("network", "cascade")):
        for world in range(20):
            values = RATIOS | {"current": (world + 1) / 20, "diagonal": (world + 1) / 40}
            own = KIND | {"truth": truth, "users": users, "assumed": int(users == "matched"), "world": world}
            lines += [own | {"quantity": name, "value": value} for name, value in values.items()]
    for scale, t, world in itertools.product((1.0, 0.125), (10, 20), range(4)):
        own = {"audit": "regret", "scale": scale, "round": t, "world": world, "seed": 0}
        values = {"regret": t / 10 + world, "open": t / 2, "allowed": t * scale, "shown": t, "wide": t, "most": np.inf}
        values |= {"bound": 99.0} if t == 20 else {}
        lines += [own | {"quantity": name, "value": value} for name, value in values.items()]
    for init, n, world in itertools.product(("he", "symmetric"), (0, 30, 100), range(2)):
        own = {"audit": "typical widths", "init": init, "regularization": 0.1, "documents": 400, "round": n}
        values = {"full": 1 / (1 + n), "diagonal": 0.5, "narrower": 1.0, "alike": 0.3, "prior": 0.7 + 0.2 * world}
        lines += [own | {"world": world, "quantity": name, "value": value} for name, value in values.items()]
    for n, world in itertools.product((0, 100), range(3)):
        values = {"error": 0.3, "full": 0.01 * (world + 1), "diagonal": 2.0 + world, "narrower": 0.1}
        own = {"audit": "blind spot", "round": n, "world": world}
        lines += [own | {"quantity": name, "value": value} for name, value in values.items()]
    return pd.DataFrame(lines)


@pytest.fixture
def kernels():
    lines = [
        {"audit": "kernel", "parameters": "all", "depth": 2.0, "quantity": name, "round": m, "world": w, "value": v + w}
        for name, v in (("from H", 0.3), ("from H̃", 0.1))
        for m in (64, 8192)
        for w in (0, 1)
    ]
    all_ = pd.DataFrame(lines)
    return all_, all_.assign(parameters="own blocks")


def test_coverage_counts_worlds_within_the_scaled_bound(frame):
    table = bounds.coverage_table(frame).set_index(["truth", "users", "quantity", "scale"]).sort_index()
    found = table.loc[("network", "matched", "current")]
    assert found.loc[1.0, "covered"] == 20 and found.loc[0.5, "covered"] == 10
    assert found.loc[0.5, ["coverage", "nominal"]].tolist() == pytest.approx([0.5, 0.9])
    assert found.loc[0.5, "low"] < 0.5 < found.loc[0.5, "high"]
    # it could be divided until its ratio at rank 19 of 20 was 1, which still covers nine tenths
    assert found.loc[1.0, "factor"] == pytest.approx(1 / 0.95)
    radius = table.loc[("tangent", "matched", "radius", 1.0)]
    assert (radius["covered"], radius["nominal"], radius["factor"]) == (0, 1.0, pytest.approx(1 / 1.5))


def test_coverage_stands_left_where_labels_are_as_assumed_and_right_where_not(frame):
    left, right = figures.coverage_against_scale(bounds.coverage_figure(frame)).axes
    assert (left.get_title(), right.get_title()) == tuple(figures.ASSUMED.values())
    assert len(left.get_legend_handles_labels()[1]) == 4 and len(right.get_legend_handles_labels()[1]) == 2
    drawn = line(left, "h linear in the gradients, S = 1, λ = 1, m = 100, all of A")
    assert drawn.get_ydata()[-1] == 1.0 and drawn.get_ydata()[0] == 0.0
    assert [0.5, 0.5] in [list(each.get_xdata()) for each in left.lines]  # half of the radius is marked


def test_needed_constants_are_quantiles_over_worlds_and_slack_is_the_width_over_them(frame):
    found = bounds.needed_table(frame).iloc[0]
    assert (found["alpha"], found["full"], found["diagonal"], found["slack"]) == (10.0, 0.5, 0.25, 20.0)
    assert (found["error"], found["narrowing"], found["worlds"]) == (0.02, 3.0, 20)


def test_log_determinants_are_drawn_over_their_bounds_where_labels_are_as_assumed(frame):
    table = bounds.log_det_table(frame)
    assert (table["held"] == 20).all() and len(table) == 12
    (ax,) = figures.log_det_ratios(table).axes
    assert len(ax.get_yticklabels()) == 2
    assert list(line(ax, "printed, with H").get_xdata()) == [0.2, 0.2]


def test_kernels_have_a_panel_for_each_choice_of_parameters_and_a_line_for_each_limit(kernels):
    table = bounds.kernel_figure(*kernels)
    assert table["mean"].tolist() == pytest.approx([0.8, 0.8, 0.6, 0.6] * 2) and (table["draws"] == 2).all()
    fig = figures.kernel_against_width(table)
    assert [ax.get_title() for ax in fig.axes] == list(figures.PARAMETERS.values())
    assert list(line(fig.axes[0], "from H, L = 2").get_ydata()) == pytest.approx([0.8, 0.8])


def test_typical_pairs_have_a_panel_for_each_start_and_begin_after_the_first_pair(frame):
    table = bounds.typical_figure(frame)
    assert table["prior"].tolist() == pytest.approx([0.8] * 6)
    fig = figures.typical_pairs(table)
    assert [ax.get_title() for ax in fig.axes] == ["He, λ = 0.1", "symmetric, λ = 0.1"]
    assert list(line(fig.axes[0], "all of A").get_ydata()) == pytest.approx([1 / 31, 1 / 101])


def test_the_blind_spot_has_medians_and_the_worst_networks(frame):
    table = bounds.blind_figure(frame).set_index("labels")
    assert table.loc[100, ["full", "full_most", "diagonal", "diagonal_least"]].tolist() == [0.02, 0.03, 3.0, 2.0]
    (ax,) = figures.blind_spot(bounds.blind_figure(frame)).axes
    assert list(line(ax, "diagonal of A").get_ydata()) == [3.0]


def test_regret_has_a_panel_for_each_part_of_the_width_and_its_bound_only_at_the_whole(frame):
    table = bounds.regret_figure(frame)
    assert table.set_index(["scale", "round"])["bound"].dropna().to_dict() == {(1.0, 20): 99.0}
    fig = figures.regret_against_bounds(table)
    assert [ax.get_title() for ax in fig.axes] == ["theorem's α", "1/8 of it"]
    assert list(line(fig.axes[0], "mis-ordered").get_ydata()) == [2.5, 3.5]


def test_steps_of_the_proof_are_counted_world_by_world(frame):
    found = bounds.within_bounds(frame).set_index(["scale", "statement"])["held"]
    assert found[1.0, "regret ≤ open"] == 4 and found[1.0, "open ≤ allowed"] == 4
    assert found[0.125, "open ≤ allowed"] == 0 and found[0.125, "wide ≤ most"] == 4
