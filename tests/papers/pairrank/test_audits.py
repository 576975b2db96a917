from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from ol2r.experiments.cells import Context, Job, Row
from ol2r.papers.pairrank import audits
from ol2r.papers.pairrank import bounds as tables
from ol2r.papers.pairrank.audits import GENTLE, SMALL, STEEP, Confidence, Run, confidence_audits
from ol2r.random import generator
from ol2r.theory import confidence

COVERAGE = Confidence("coverage", GENTLE, "matched", "whole", "random", "constant", 0.1, worlds=60, rounds=50)
REGRET = Confidence("regret", SMALL, "matched", "whole", "conservative", "Lemma 2", 1.0, worlds=6, rounds=60)


def run(cell: Confidence, *seeds: int) -> pd.DataFrame:
    job = Job(cell, cell.rows(None, seeds or (0,)))
    return Confidence.run_group([job], Context())[0]


def labelled(*cells: Confidence) -> pd.DataFrame:
    return pd.concat([run(cell).assign(**cell.labels()) for cell in cells], ignore_index=True)


def after(cell: Confidence, rounds: int) -> Run:
    state = Run(cell, seed=0)
    for _ in range(rounds):
        state.step()
    return state


@pytest.mark.parametrize("world", [GENTLE, STEEP, SMALL])
def test_worlds_are_as_declared(world):
    drawn = audits.draw(world, 7, seed=3)
    np.testing.assert_allclose(np.linalg.norm(drawn.truth, axis=1), world.bound)
    assert np.linalg.norm(drawn.documents, axis=-1).max() <= world.norm * (1 + 1e-6)
    assert np.linalg.norm(drawn.x, axis=-1).max() <= 2 * world.norm * (1 + 1e-6)
    assert np.abs(drawn.preference - 0.5).min() >= world.gap
    assert confidence.slope(np.einsum("rqed,rd->rqe", drawn.x, drawn.truth)).min() >= world.least
    # of two documents of which one was clicked it was the first with probability σ(x·θ*)
    p, q = drawn.click[..., drawn.upper], drawn.click[..., drawn.lower]
    np.testing.assert_allclose(p * (1 - q) / (p * (1 - q) + q * (1 - p)), drawn.preference)
    assert (p * (1 - q) + q * (1 - p)).min() >= world.compared * (world.documents - 1)


def test_a_world_that_cannot_be_is_an_error():
    with pytest.raises(ValueError, match="apart"):
        audits.draw(replace(SMALL, documents=12), 1, seed=0)


@given(st.integers(0, 10_000), st.integers(2, 7), st.sampled_from(["adjacent", "matched", "all"]))
def test_pairs_of_wholly_examined_lists_differ_in_clicks_and_but_for_all_of_them_are_disjoint(seed, v, rule):
    rng = generator("pairs", seed)
    clicks = rng.random((5, v)) < 0.5
    pairs, labels = audits.whole_pairs(clicks, rule, rng.random((5, v)))
    for row, own, said in zip(clicks, pairs, labels, strict=True):
        there = own[own[:, 0] >= 0]
        assert (there[:, 0] < there[:, 1]).all() and (row[there[:, 0]] != row[there[:, 1]]).all()
        assert (said[own[:, 0] >= 0] == row[there[:, 0]]).all() and not said[own[:, 0] < 0].any()
        few = min(row.sum(), v - row.sum())
        if rule == "all":
            assert len(there) == row.sum() * (v - row.sum())
        else:
            assert len(np.unique(there)) == 2 * len(there)
        if rule == "matched":
            assert len(there) == few
        if rule == "adjacent":
            assert (there[:, 0] % 2 == 0).all() and (there[:, 1] == there[:, 0] + 1).all()


@given(st.integers(0, 10_000))
def test_labels_of_matched_pairs_are_bernoulli_given_which_pairs_were_matched(seed):
    # all lists of clicks on four documents, and all orders in which the clicked are matched with the others
    rng = generator("bernoulli", seed)
    scores, base = rng.standard_normal(4), rng.standard_normal()
    p = special.expit(scores + base)
    cases = list(product(product((False, True), repeat=4), permutations(range(4))))
    clicks, orders = (np.array(each) for each in zip(*cases, strict=True))
    chance: dict[tuple, dict[tuple, float]] = {}
    for row, slots, said in zip(clicks, *audits.whole_pairs(clicks, "matched", orders / 4), strict=True):
        found = sorted(
            (*pair, label) for pair, label in zip(slots.tolist(), said.tolist(), strict=True) if pair[0] >= 0
        )
        matched, labels = tuple(pair[:2] for pair in found), tuple(pair[2] for pair in found)
        left = tuple(row[sorted({0, 1, 2, 3} - {i for pair in matched for i in pair})].tolist())
        table = chance.setdefault((matched, left), {})
        table[labels] = table.get(labels, 0.0) + float(np.prod(np.where(row, p, 1 - p)))
    assert max(len(matched) for matched, _ in chance) == 2
    for (matched, _), table in chance.items():
        total = sum(table.values())
        for labels, weight in table.items():
            up = [special.expit(scores[i] - scores[j]) for i, j in matched]
            expected = np.prod([one if label else 1 - one for one, label in zip(up, labels, strict=True)])
            assert weight / total == pytest.approx(expected)


@pytest.mark.parametrize("examination", audits.EXAMINATIONS)
@pytest.mark.parametrize("pairs", ["adjacent", "matched"])
def test_what_the_audit_counts_is_what_the_learner_learned(examination, pairs):
    state = after(replace(COVERAGE, worlds=8, examination=examination, pairs=pairs), 25)
    counts = state.counts.reshape(8, -1)
    x, preference = state.worlds.x.reshape(8, counts.shape[1], -1), state.worlds.preference.reshape(8, -1)
    gram = np.einsum("rn,rnd,rne->rde", counts, x, x) + np.eye(5)
    np.testing.assert_allclose(np.linalg.inv(gram), state.learner.covariance.inverse, atol=1e-6)
    np.testing.assert_allclose(np.linalg.slogdet(gram)[1], state.log_det, atol=1e-5)
    np.testing.assert_allclose(counts.sum(axis=1), state.sums["labels"])
    # g(θ̃) = Σ y x = S + Σ σ(x·θ*) x
    reached = confidence.estimating_function(state.theta, x, counts, 1.0)
    said = state.martingale + np.einsum("rn,rn,rnd->rd", counts, preference, x)
    np.testing.assert_allclose(reached, said, atol=0.02)


def test_the_learner_explores_by_the_width_of_theory():
    state = after(replace(REGRET, alpha=0.5), 20)
    np.testing.assert_allclose(state.learner.width.numpy(), 0.5 * state.alpha, rtol=1e-6)


def test_inference_adds_nothing_to_adjacent_pairs_of_lists_that_are_seen_to_their_end():
    whole, inferred = (run(replace(COVERAGE, pairs="adjacent", examination=e)) for e in ("whole", "inferred"))
    pd.testing.assert_frame_equal(whole, inferred)


@pytest.fixture(scope="module")
def assumed():
    return labelled(COVERAGE, replace(COVERAGE, world=STEEP, pairs="adjacent"))


def test_bounds_hold_where_their_assumptions_do_and_the_audit_could_have_said_otherwise(assumed):
    table = tables.coverage_table(assumed)
    assert tables.covers(table), table.to_string()
    assert tables.has_power(table), table.to_string()
    critical = tables.critical_scales(table).set_index(["bound", "quantity"])
    assert critical.loc[(0.5, "martingale"), "scale"] == 0.5
    assert (critical["scale"] < 1.01 / critical["factor"]).all()  # at larger scales the bound covers enough


@pytest.mark.parametrize(
    ("name", "divided", "quantity"),
    [
        ("martingale_radius", 2, "martingale"),
        ("potential_bound", 2, "potential"),
        ("width", 16, "interval"),
    ],
)
def test_an_audit_reports_a_bound_that_is_too_small(monkeypatch, name, divided, quantity):
    right = getattr(confidence, name)
    monkeypatch.setattr(confidence, name, lambda *a, **k: right(*a, **k) / divided)
    table = tables.coverage_table(labelled(COVERAGE))
    assert not tables.covers(table)
    assert not tables.covers(table, [quantity])


def test_an_audit_reports_labels_of_another_truth(monkeypatch):
    class Liar(Run):
        def __init__(self, cell, seed):
            super().__init__(cell, seed)
            self.worlds = self.worlds._replace(click=1 - self.worlds.click)

    monkeypatch.setattr(audits, "Run", Liar)
    assert not tables.covers(tables.coverage_table(labelled(replace(COVERAGE, world=STEEP))), ["martingale"])


def test_only_examination_that_depends_on_clicks_biases_labels():
    cells = [
        replace(COVERAGE, examination=examination, pairs=pairs)
        for examination in audits.EXAMINATIONS
        for pairs in ("matched", "adjacent")
    ]
    bias = tables.bias_table(labelled(*cells))
    assert (bias.loc[bias["assumed"] == 1, "z"].abs() < 4).all()
    assert (bias.loc[bias["assumed"] == 0, "z"].abs() > 4).all()
    cascade = bias["examination"] == "cascade"
    assert (bias.loc[cascade, "bias"] > 0).all() and (bias.loc[cascade, "examined"] < 0.9).all()
    assert (bias.loc[~cascade, "examined"] == 1).all()


def test_violated_assumptions_are_shown_and_never_judged():
    frame = labelled(replace(COVERAGE, examination="cascade"))
    table = tables.coverage_table(frame)
    assert (table["assumed"] == 0).all() and len(table)
    with pytest.raises(ValueError, match="assumptions"):
        tables.covers(table)


def test_the_constant_of_the_experiments_covers_little(assumed):
    table = tables.coverage_table(assumed, [1.0]).set_index(["bound", "quantity"])
    assert table.loc[(0.5, "constant"), "high"] < 0.9
    assert table.loc[(0.5, "interval"), "coverage"] == 1


def test_the_width_figure_has_theory_above_what_is_needed_and_the_constant_below(assumed):
    drawn = tables.width_figure(assumed)
    assert set(drawn["bound"]) == {0.5}  # matched pairs only
    assert (drawn["theoretical"] > drawn["needed"]).all() and (drawn["needed"] >= drawn["needed_now"] - 1e-9).all()
    assert drawn["constant"].iloc[-1] < drawn["needed"].iloc[-1]
    assert drawn["round"].is_monotonic_increasing and drawn["round"].iloc[-1] == COVERAGE.rounds


def test_the_coverage_figure_rises_with_the_scale(assumed):
    drawn = tables.coverage_figure(assumed)
    for _, own in drawn.groupby(["bound", "quantity"]):
        assert own["coverage"].is_monotonic_increasing and own["coverage"].iloc[-1] == 1


VARIANTS = [
    replace(REGRET, width=width, alpha=alpha, shuffle=shuffle)
    for width, alpha in (("Lemma 2", 1.0), ("Lemma 2", 0.5), ("constant", 0.1))
    for shuffle in ("random", "conservative")
]


@pytest.fixture(scope="module")
def regrets():
    return labelled(*VARIANTS)


def test_regret_and_open_orders_stay_within_what_is_proved(regrets):
    table = tables.within_bounds(regrets)
    assert set(table["statement"]) == {"regret ≤ open", "open ≤ allowed", "compared", "regret ≤ bound"}
    assert table.loc[table["assumed"] == 1, "holds"].all(), table.to_string()
    assert set(table.loc[table["assumed"] == 1, "alpha"]) == {1.0}
    assert table.loc[table["statement"] == "regret ≤ bound", "vacuous"].all()  # at so few rounds, and it says so


def test_where_users_stop_nothing_is_promised_and_what_is_said_of_whole_lists_stays():
    whole, stopping = (labelled(replace(REGRET, examination=who)) for who in ("whole", "cascade"))
    frame = pd.concat([whole, stopping], ignore_index=True)
    table = tables.within_bounds(frame).set_index(["examination", "statement"])
    assert (table.loc["cascade", "assumed"] == 0).all() and (table.loc["whole", "assumed"] == 1).all()
    for made in (tables.regret_figure, tables.growth, tables.within_bounds, tables.uncertain_figure):
        alone = made(whole)
        both = made(frame)
        pd.testing.assert_frame_equal(both[both["examination"] == "whole"].reset_index(drop=True), alone)
    pd.testing.assert_frame_equal(tables.settling(frame), tables.settling(whole))


@pytest.mark.parametrize(
    ("shares", "holds"),
    [([1, 1, 1, 1, 1, 0.6], True), ([3, 3, 3, 0.1, 0.1, 0.1], True), ([0.5, 0.5, 0.5, 0.5, 0.5, 0.6], False)],
)
def test_chance_decides_what_held_but_slack_is_of_plain_means(regrets, shares, holds):
    # compared pairs of six worlds as multiples of q ΣN
    frame = regrets[(regrets["width"] == "Lemma 2") & (regrets["alpha"] == 1.0)].copy()
    frame.loc[(frame["quantity"] == "open") & (frame["world"] >= 0), "value"] = 100.0
    mine = (frame["quantity"] == "compared") & (frame["world"] >= 0)
    frame.loc[mine, "value"] = 100.0 * SMALL.compared * frame.loc[mine, "world"].map(dict(enumerate(shares)))
    found = tables.within_bounds(frame).set_index("statement").loc["compared"]
    assert found["slack"].tolist() == pytest.approx([np.mean(shares)] * 2)
    assert found["holds"].tolist() == [holds] * 2


def test_an_audit_reports_a_learner_that_explores_less_than_it_says(monkeypatch):
    wide = confidence.width
    monkeypatch.setattr(confidence, "width", lambda *a, **k: wide(*a, **k) / 200)  # theory's, not the learner's
    table = tables.within_bounds(labelled(REGRET)).set_index("statement")
    assert not table.loc["open ≤ allowed", "holds"]


def test_the_regret_figure_counts_every_pair_and_bounds_only_what_theory_covers(regrets):
    drawn = tables.regret_figure(regrets)
    last = drawn[drawn["round"] == 60]
    assert (last["everything"] == 60 * 3).all()
    assert (drawn["regret"] <= drawn["everything"]).all() and (drawn["open"] <= drawn["everything"]).all()
    assert (last["bound"].notna() == (last["alpha"] == 1)).all()  # neither half of Lemma 2's width nor a constant
    assert (last["bound"].dropna() > last.loc[last["bound"].notna(), "regret"]).all()
    assert drawn.groupby(["shuffle", "width", "alpha"])["regret"].apply(lambda r: r.is_monotonic_increasing).all()
    wide = last.pivot(index=["width", "alpha"], columns="shuffle")  # noqa: PD010 (refuses doubles)
    assert wide["more", "random"].to_numpy() == pytest.approx(
        (wide["regret", "random"] - wide["regret", "conservative"]).to_numpy()
    )
    assert (wide["more_error", "random"] > 0).all() and wide["more", "conservative"].isna().all()


def test_settling_says_when_theory_would_speak(regrets):
    line = tables.settling(regrets).iloc[0]
    assert line["gap"] >= SMALL.gap
    assert line["pairs"] < line["explicit_pairs"] < line["corrected_pairs"]
    assert line["bound_pays"] > 60


def invented(regret) -> pd.DataFrame:
    rounds = np.array([125, 250, 500, 1000])
    rng = generator("invented", 0)
    parts = []
    for world in range(6):
        values = regret(rounds) * (1 + 0.01 * rng.standard_normal())
        part = pd.DataFrame({"round": rounds, "value": values, "world": world})
        parts.append(
            part.assign(
                quantity="regret",
                audit="regret",
                seed=0,
                examination="whole",
                shuffle="random",
                width="constant",
                alpha=0.1,
            )
        )
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("regret", "exponent", "slower"),
    [(lambda t: 3 * np.log(t) ** 2, 2, 1.0), (lambda t: np.log(t) ** 6, 6, 0.0)],
)
def test_growth_recovers_an_exponent_and_compares_it_with_four(regret, exponent, slower):
    line = tables.growth(invented(regret)).iloc[0]
    assert (line["since"], line["round"]) == (125, 1000)
    assert line["exponent"] == pytest.approx(exponent, abs=1e-6)
    assert line["exponent_low"] <= exponent + 1e-9 and line["exponent_high"] >= exponent - 1e-9
    assert line["slower"] == slower


def test_growth_that_scatters_too_much_is_left_open():
    rng = generator("scatter", 0)
    frame = invented(lambda t: np.log(t) ** 4 * (1 + 0.3 * rng.standard_normal(len(t))))
    assert np.isnan(tables.growth(frame)["slower"].iloc[0])


def test_the_uncertain_figure_is_about_the_rounds_of_each_window():
    frame = labelled(replace(REGRET, shuffle="random"))
    drawn = tables.uncertain_figure(frame)
    assert (drawn["round"].diff().dropna() > 0).all()
    assert (drawn[["uncertain", "allowed", "printed"]] <= 1).all().all()
    own = frame[(frame["world"] >= 0) & frame["quantity"].isin(["open", "shown"])]
    sums = own.pivot_table(index="round", columns="quantity", values="value", aggfunc="sum")
    windows = sums.diff().fillna(sums.iloc[:1])
    np.testing.assert_allclose(drawn["uncertain"], windows["open"] / windows["shown"])


def test_a_row_is_the_same_alone_and_in_company_and_other_seeds_differ():
    cell = replace(COVERAGE, worlds=5, rounds=12)
    together, alone = run(cell, 0, 1), run(cell, 1)
    pd.testing.assert_frame_equal(together[together["seed"] == 1].reset_index(drop=True), alone)
    assert list(together.columns) == ["fold", "seed", "world", "round", "quantity", "value"]
    one, other = (together[together["seed"] == seed]["value"].to_numpy() for seed in (0, 1))
    assert (one != other).any()


@pytest.mark.parametrize("wrong", [{"panel": "cover"}, {"examination": "partial"}, {"width": "Lemma 3"}])
def test_an_unknown_word_is_an_error(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        replace(COVERAGE, **wrong)


def test_cells_are_distinct_the_same_lines_at_every_tier_and_named_by_their_labels():
    named = ("audit", "examination", "pairs", "shuffle", "width", "alpha", "bound", "assumed")
    lines = {}
    for tier in ("smoke", "laptop", "paper"):
        cells = confidence_audits(tier)
        assert len({cell.key for cell in cells}) == len(cells)
        assert all(cell.rows(None, [0]) == (Row(1, 0),) for cell in cells)
        lines[tier] = [tuple(cell.labels()[name] for name in named) for cell in cells]
        assert len(set(lines[tier])) == len(cells)
    assert lines["smoke"] == lines["laptop"] == lines["paper"]
