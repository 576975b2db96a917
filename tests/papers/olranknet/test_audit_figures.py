import pytest
from shown import line

from ol2r.papers.olranknet import audit_figures as figures
from ol2r.papers.olranknet import bounds


def test_coverage_counts_worlds_within_the_scaled_bound(audited):
    table = bounds.coverage_table(audited).set_index(["truth", "users", "quantity", "scale"]).sort_index()
    found = table.loc[("network", "matched", "current")]
    assert found.loc[1.0, "covered"] == 20 and found.loc[0.5, "covered"] == 10
    assert found.loc[0.5, ["coverage", "nominal"]].tolist() == pytest.approx([0.5, 0.9])
    assert found.loc[0.5, "low"] < 0.5 < found.loc[0.5, "high"]
    # it could be divided until its ratio at rank 19 of 20 was 1, which still covers nine tenths
    assert found.loc[1.0, "factor"] == pytest.approx(1 / 0.95)
    radius = table.loc[("tangent", "matched", "radius", 1.0)]
    assert (radius["covered"], radius["nominal"], radius["factor"]) == (0, 1.0, pytest.approx(1 / 1.5))


def test_coverage_stands_left_where_labels_are_as_assumed_and_right_where_not(audited, picture):
    picture(figures.coverage_against_scale(bounds.coverage_figure(audited)))


def test_needed_constants_are_quantiles_over_worlds_and_slack_is_the_width_over_them(audited):
    found = bounds.needed_table(audited).iloc[0]
    assert (found["alpha"], found["full"], found["diagonal"], found["slack"]) == (10.0, 0.5, 0.25, 20.0)
    assert (found["error"], found["narrowing"], found["worlds"]) == (0.02, 3.0, 20)


def test_log_determinants_are_drawn_over_their_bounds_where_labels_are_as_assumed(audited):
    table = bounds.log_det_table(audited)
    matched, every = (table[table["pairs"] == pairs] for pairs in ("matched", "all"))
    assert (matched["held"] == 20).all() and len(matched) == 12
    assert every["held"].tolist() == [4, 3, 0, 4, 4, 0] and every["worlds"].tolist() == [4] * 6
    fig = figures.log_det_ratios(table)
    assert "0.2 to 0.2 (printed, with H)" in fig.alt and "1.2 to 1.2 (printed, with H)" in fig.alt
    (ax,) = fig.axes
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(names) == 4 and {len(name.split("\n")) for name in names} == {2}  # narrow enough for a phone
    assert list(line(ax, "printed, with H").get_xdata()) == [0.2, 0.2, 1.2, 1.2]


def test_kernels_have_a_panel_for_each_choice_of_parameters_and_a_line_for_each_limit(kernel_audits, picture):
    table = bounds.kernel_figure(*kernel_audits)
    assert table["mean"].tolist() == pytest.approx([0.8, 0.8, 0.6, 0.6] * 2) and (table["draws"] == 2).all()
    picture(figures.kernel_against_width(table))


def test_typical_pairs_have_a_panel_for_each_start_and_begin_after_the_first_pair(audited, picture):
    table = bounds.typical_figure(audited)
    assert table["prior"].tolist() == pytest.approx([0.8] * 6)
    picture(figures.typical_pairs(table))


def test_the_blind_spot_has_medians_and_the_worst_networks(audited, picture):
    table = bounds.blind_figure(audited).set_index("labels")
    assert table.loc[100, ["full", "full_most", "diagonal", "diagonal_least"]].tolist() == [0.02, 0.03, 3.0, 2.0]
    picture(figures.blind_spot(bounds.blind_figure(audited)))


def test_regret_has_a_panel_for_each_part_of_the_width_and_its_bound_only_at_the_whole(audited, picture):
    table = bounds.regret_figure(audited)
    assert table.set_index(["scale", "round"])["bound"].dropna().to_dict() == {(1.0, 20): 99.0}
    picture(figures.regret_against_bounds(table))


def test_steps_of_the_proof_are_counted_world_by_world(audited):
    table = bounds.within_bounds(audited).set_index(["truth", "scale", "statement"]).loc["tangent"]
    found, able = table["held"], table["able"]
    assert found[1.0, "regret ≤ open"] == 4 and found[1.0, "open ≤ allowed"] == 4
    assert found[0.125, "open ≤ allowed"] == 0 and found[0.125, "wide ≤ most"] == 4
    # as many as all pairs are allowed at the theorem's α, and by what is infinite or 99 of 20
    assert able[1.0, "open ≤ allowed"] == able[0.125, "wide ≤ most"] == able[1.0, "regret ≤ bound"] == 0
    assert able[1.0, "regret ≤ open"] == able[0.125, "open ≤ allowed"] == 4


def test_open_orders_have_a_panel_for_each_part_of_the_width_and_the_printed_share_at_the_whole(audited, picture):
    table = bounds.open_figure(audited).set_index(["scale", "labels"])
    assert table.loc[(1.0, 1000), ["open", "allowed", "printed"]].tolist() == [0.0, 0.25, 0.75]
    assert table["broken"].tolist() == [0, 0, 0, 4] and table["able"].tolist() == [0, 4, 0, 4]
    assert table.loc[0.125, "printed"].isna().all() and (table["worlds"] == 4).all()
    picture(figures.open_against_labels(bounds.open_figure(audited)))
