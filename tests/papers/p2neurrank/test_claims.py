"""Each claim of the P²NeurRank paper against invented tables: it must be able to come out every way."""

import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from judging import Judging, mirrored, moved, varied

from ol2r.experiments.claims import Contrast, Measure, NotMeasured
from ol2r.experiments.effects import time_mean
from ol2r.experiments.verdicts import judge, judge_all
from ol2r.papers.olranknet.claims import OFFLINE, SHARE, SKYLINE, SMALL, no_worse, weight
from ol2r.papers.p2neurrank.claims import (
    BIG,
    CLAIMS,
    DIAGONAL,
    FULL_FORMS,
    LARGE_NOISE,
    LINEAR,
    LINEAR_BASELINES,
    LINEAR_GREEDY,
    LINEAR_VARIANTS,
    MSLR,
    NEURAL,
    NEURAL_BASELINES,
    NEURAL_VARIANTS,
    NUMBERS_OF_RANKERS,
    OLRANKNET,
    OTHERS,
    PAIRRANK,
    PAIRRANK_DIAGONAL,
    PROTOCOL,
    RIVALS,
    SIXTEEN_DIAGONAL,
    SIXTEEN_FULL,
    SLIGHTLY,
    SMALL_NOISE,
    STAND_INS,
    TENTHS,
    TIMED,
    USERS,
    YAHOO,
    AtEqualCompute,
    Early,
    FirstFifth,
    Seconds,
    exploring,
    first_fifth,
    linear,
    neural,
    offline_linear,
    offline_neural,
    online_linear,
    online_neural,
    small_network,
    wrong,
    zoomed,
)
from ol2r.papers.pairrank.claims import COMPARABLE, DIFFERENCE, REFERENCE, above

JUDGING = Judging("ol2r.papers.p2neurrank", CLAIMS)
NUMBERS, BY_ID = JUDGING.numbers, JUDGING.by_id
verdicts, elsewhere, sides = JUDGING.verdicts, JUDGING.elsewhere, JUDGING.sides
OWN = (MSLR, YAHOO)

OFFLINES = {LINEAR[0]: 0.426, LINEAR[1]: 0.424, PAIRRANK: 0.418, PAIRRANK_DIAGONAL: 0.410}
OFFLINES |= {"PDGD": 0.38, "DBGD": 0.37, LINEAR_GREEDY: 0.36}
OFFLINES |= {NEURAL[0]: 0.430, NEURAL[1]: 0.427, OLRANKNET: 0.420}
OFFLINES |= {"neural PDGD": 0.38, "neural DBGD": 0.33, "neural epsilon-greedy": 0.36}
ONLINES = {LINEAR[0]: 0.391, LINEAR[1]: 0.390, PAIRRANK: 0.388, PAIRRANK_DIAGONAL: 0.350}
ONLINES |= {"PDGD": 0.36, "DBGD": 0.34, LINEAR_GREEDY: 0.33}
ONLINES |= {NEURAL[0]: 0.400, NEURAL[1]: 0.397, OLRANKNET: 0.390}
ONLINES |= {"neural PDGD": 0.35, "neural DBGD": 0.32, "neural epsilon-greedy": 0.34}
SMALL_NETWORKS = {SIXTEEN_FULL: 0.40, SIXTEEN_DIAGONAL: 0.39}
ZOOMED = {(0.1, 2): 0.43, (0.1, 5): 0.42, (0.1, 10): 0.41, (0.01, 2): 0.41, (0.01, 5): 0.42, (0.01, 10): 0.43}
TIMES = dict(zip(TIMED, (-5.0, -5.5, -6.0, -7.9, -7.6, -8.2), strict=True))
"""log₂ of the seconds of a round with the full covariance, in its three forms, with the diagonal, and N = 2 and 1."""
WRONGS = {name: {2: 0.30, 10: 0.20, 0: 0.15}[n] for name, n in (
    (linear(2), 2), (linear(10), 10), (PAIRRANK, 0), (neural(2), 2), (neural(10), 10), (OLRANKNET, 0)
)}  # fmt: skip
ENSEMBLES = tuple(of(n) for of in (linear, neural) for n in NUMBERS_OF_RANKERS)
BEST = 0.47
"""What offline RankNet and the skyline reach."""


def rounds_of(dataset, of_networks=False):
    """Checkpoints: networks are run for a fifth of the paper's rounds on other data."""
    last = 1000 if of_networks and dataset not in OWN else 5000
    return (0, *(last * i // 10 for i in range(1, 11)))


def scored(frame, offline, online, early=0.0):
    """Curves that are level, but for `early` in the first fifth, and 0.1 lower at the start."""
    last = frame.groupby("dataset")["round"].transform("max")
    rise = np.where(frame["round"] == 0, -0.1, 0.0) + early * (frame["round"] <= last / 5)
    frame = frame.assign(ndcg=offline + rise + frame["noise"])
    return frame.assign(cndcg=(online + frame["noise"]) * weight(frame["round"])).drop(columns="noise")


def simulated(invented_runs, datasets, right, noise, variants):
    """Learning curves of all linear or of all neural variants."""
    network = variants is NEURAL_VARIANTS
    places = {(d, u, v): rounds_of(d, network) for d, u, v in product(datasets, USERS, (*variants, SKYLINE))}
    if not network:
        places = {key: rounds for key, rounds in places.items() if key[2] != SKYLINE}
    frame = varied(invented_runs, places, ("dataset", "users", "variant"), noise)
    levels = []
    for scores in (OFFLINES, ONLINES):
        own = {name: scores[name] for name in variants}
        own = own if right else mirrored(own) | {variants[0]: min(own.values()) - 0.03}
        levels.append(frame["variant"].map(own | {SKYLINE: BEST}))
    early = np.where(frame["variant"] == variants[0], 0.01, 0.0) * (1 if right else -1)
    return scored(frame, *levels, early)


def zoom(invented_runs, datasets, right, noise, variance):
    places = {(d, "perfect", float(n), variance): rounds_of(d, True) for d, n in product(datasets, NUMBERS_OF_RANKERS)}
    frame = varied(invented_runs, places, ("dataset", "users", "rankers", "noise_"), noise)
    own = {n: ZOOMED[variance, n] for n in NUMBERS_OF_RANKERS}
    level = frame["rankers"].map(own if right else mirrored(own))
    return scored(frame, level, level).rename(columns={"noise_": "noise"})


def times(datasets, users, levels, noise):
    """Seconds up to every tenth of a run of two replicas; a round costs more and more."""
    lines = []
    for (d, u), (i, (variant, level)) in product(product(datasets, users), enumerate(levels.items())):
        last = rounds_of(d, variant not in LINEAR_VARIANTS)[-1]
        spread = noise * np.sin(1.7 * np.arange(TENTHS) + i)
        seconds = np.cumsum(2 ** (level + 0.1 * np.arange(TENTHS) + spread) * last / TENTHS)
        lines += [(d, u, variant, last * (k + 1) // TENTHS, 2 * s) for k, s in enumerate(seconds)]
    frame = pd.DataFrame(lines, columns=["dataset", "users", "variant", "round", "seconds"])
    shares = {"rank_seconds": frame["seconds"] / 4, "update_seconds": frame["seconds"] * 3 / 4}
    return frame.drop(columns="seconds").assign(fold=1, seed=0, replicas=2, cell=frame["variant"], **shares)


def histories(invented_runs, datasets, right, noise):
    """Shares of several quantities at several rounds, of ensembles at both ν² and of confidence sets."""
    levels, places = WRONGS if right else mirrored(WRONGS), {}
    for d, u, v, q in product(datasets, USERS, levels, ("false certain", "certain")):
        last = 1000 if d not in OWN else 5000
        for variance in (np.nan,) if v in RIVALS.values() else (LARGE_NOISE, SMALL_NOISE):
            places[d, u, v, q, variance] = (last // 100, last // 10, last)
    frame = varied(invented_runs, places, ("dataset", "users", "variant", "quantity", "noise_"), noise)
    last = frame.groupby("dataset")["round"].transform("max")
    meant = (frame["quantity"] == "false certain") & (frame["noise_"] != SMALL_NOISE) & (frame["round"] == last // 10)
    value = np.where(meant, frame["variant"].map(levels), 0.5) + frame["noise"]
    return frame.assign(value=value).drop(columns="noise").rename(columns={"noise_": "noise"})


def certainty(invented_runs, datasets, right, noise):
    places = {(d, u, v, n): rounds_of(d, True) for d, u, v, n in
              product(datasets, USERS, ENSEMBLES, (LARGE_NOISE, SMALL_NOISE))}  # fmt: skip
    frame = varied(invented_runs, places, ("dataset", "users", "variant", "noise_"), noise)
    many = frame["variant"].isin([linear(10), neural(10)]) == right
    meant = frame["noise_"] == LARGE_NOISE
    regret = np.where(meant & many, 0.8, 1.0) + frame["noise"]
    ndcg = np.where(meant & many, 0.42, 0.40) + frame["noise"]
    frame = frame.assign(ndcg=ndcg, misordered=regret * frame["round"] * 5)
    return frame.drop(columns="noise").rename(columns={"noise_": "noise"})


@pytest.fixture(scope="module")
def tables(invented_runs):
    """Every item's table; each is made once."""

    @cache
    def make(right, datasets, noise):
        asked = (datasets, right, noise)
        line, network = (simulated(invented_runs, *asked, each) for each in (LINEAR_VARIANTS, NEURAL_VARIANTS))
        small = {(d, "perfect", v): rounds_of(d, True) for d, v in product(datasets, SMALL_NETWORKS)}
        sixteen = varied(invented_runs, small, ("dataset", "users", "variant"), noise)
        level = sixteen["variant"].map(SMALL_NETWORKS if right else mirrored(SMALL_NETWORKS))
        costs = dict.fromkeys(RIVALS, -9.0) | dict.fromkeys(RIVALS.values(), -8.0)
        reference = pd.DataFrame(list(product(datasets, range(1, 6))), columns=["dataset", "fold"])
        return {
            "fig-2": line,
            "fig-3": line,
            "fig-4": network,
            "fig-5": network,
            "folds": network,
            "fig-6": scored(sixteen, level, level),
            "fig-7": zoom(invented_runs, *asked, LARGE_NOISE),
            "fig-8": zoom(invented_runs, *asked, SMALL_NOISE),
            "fig-9": times(datasets, ("perfect",), TIMES if right else mirrored(TIMES), min(noise, 6.0)),
            "timing": times(datasets, USERS, costs if right else mirrored(costs), 0.0),
            "histories": histories(invented_runs, *asked),
            "certainty": certainty(invented_runs, *asked),
            "reference": reference.assign(seed=0, test_ndcg=BEST, cell="reference"),
        }

    return make


@pytest.fixture
def made(tables, invented_results):
    """Results in which the paper is right, or wrong, about everything, on the given data sets."""

    def make(right=True, datasets=OWN, noise=0.001, tier="paper"):
        own = tables(right, datasets, noise)
        return {item: invented_results(table.copy(), tier) for item, table in own.items()}

    return make


def only(judged, part, label):
    """The sides of one contrast."""
    return {o.side for o in judged.tested if o.contrast in part.contrasts and o.contrast.label == label}


# All claims at once


def test_there_are_ten_claims_of_the_paper_and_three_beyond_it_in_order():
    assert [c.anchor for c in CLAIMS] == [
        *(f"p2neurrank-pp{i}" for i in range(1, 11)), *(f"p2neurrank-ppx{i}" for i in range(1, 4))
    ]  # fmt: skip


def test_every_claim_covers_the_cells_the_sheet_names():
    assert [len(c.cells) for c in CLAIMS] == [6, 6, 6, 6, 2, 2, 1, 1, 2, 2, 2, 6, 1]


def test_every_claim_reads_the_items_of_its_figures():
    read = {claim.id: sorted(claim.items) for claim in CLAIMS}
    assert read == {
        "PP1": ["fig-2", "fig-3", "reference"],
        **{name: ["fig-2", "fig-3"] for name in ("PP2", "PP3", "PP4")},
        "PP5": ["folds"],
        "PP6": ["fig-4", "fig-6"],
        "PP7": ["fig-7", "fig-8"],
        "PP8": ["fig-9"],
        **{name: ["fig-4", "fig-5"] for name in ("PP9", "PP10")},
        "PPX1": ["certainty", "histories"],
        "PPX2": ["fig-2", "fig-4", "timing"],
        "PPX3": ["fig-9"],
    }


def test_where_the_paper_is_right_its_own_data_at_its_protocol_reproduces_every_claim(made):
    assert verdicts(made()) == dict.fromkeys(BY_ID, "reproduced")


def test_where_the_paper_is_right_claims_carry_over_to_shorter_runs_on_other_data(made):
    results = made(datasets=tuple(one.data for one in STAND_INS))
    assert verdicts(results) == dict.fromkeys(BY_ID, "not testable")
    assert elsewhere(results) == {i: {"carries over"} for i in BY_ID}


def test_where_the_paper_is_wrong_no_claim_comes_out(made):
    assert verdicts(made(right=False)) == dict.fromkeys(BY_ID, "not reproduced")
    assert set.union(*elsewhere(made(right=False, datasets=("MQ2008",))).values()) <= {"does not carry over", "mixed"}


def test_where_runs_differ_too_much_nothing_is_decided(made):
    assert verdicts(made(noise=30.0)) == dict.fromkeys(BY_ID, "undecided")
    assert elsewhere(made(noise=30.0, datasets=("MQ2008",))) == {i: {"undecided"} for i in BY_ID}


def test_without_data_claims_cannot_be_tested():
    assert set(verdicts({}).values()) == {"not testable"}


def test_the_smoke_tier_judges_nothing(made):
    assert set(verdicts(made(tier="smoke")).values()) == {"not judged (smoke)"}


def test_shorter_runs_on_the_papers_data_decide_nothing(made):
    results = made()
    for item, each in results.items():
        if "round" in each.frame:
            results[item] = replace(each, frame=each.frame[each.frame["round"] <= 1000])
    results = {item: each for item, each in results.items() if item != "histories"}
    for claim in (BY_ID["PP1"], BY_ID["PP9"], BY_ID["PPX2"]):
        judged = judge(claim, results, NUMBERS)
        assert judged.verdict == "undecided" and "1,000 of 5,000 rounds" in judged.reason


def test_each_stand_in_is_judged_by_itself(made):
    results = made(datasets=("MQ2008", "MQ2007_partial85"))
    moved(results, "fig-4", "ndcg", -0.2, dataset="MQ2007_partial85", variant=[OLRANKNET])
    assert [(p.dataset, p.verdict) for p in judge(BY_ID["PP9"], results, NUMBERS).elsewhere] == [
        ("MQ2008", "carries over"), ("MQ2007_partial85", "mixed")
    ]  # fmt: skip


def test_only_any_lead_and_thresholds_have_no_margin():
    without = {c.scale.name for one in CLAIMS for p in one.parts for c in p.contrasts if c.scale.margin == 0}
    assert without == {
        "NDCG@10",
        "NDCG@10 of the shown lists",
        "NDCG@10 short of that",
        "doublings of the seconds a round",
        "doublings of the seconds a round short of that",
        "regret, 5 % taken off",
    }
    free = {one.id for one in CLAIMS for p in one.parts for c in p.contrasts
            if c.scale.margin == 0 and c.scale.name.startswith("NDCG@10")}  # fmt: skip
    assert free == {"PP2", "PP3", "PP10"}


def test_declaring_claims_loads_no_heavy_library():
    code = "import sys, ol2r.papers.p2neurrank.claims; assert not {'torch', 'numba', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_protocol_is_the_papers_in_rounds_and_seeds():
    assert (PROTOCOL.rounds, PROTOCOL.seeds) == (5000, 10)
    assert {one.protocol for one in CLAIMS if one.id not in ("PP8", "PPX3")} == {PROTOCOL}


# Measures


def test_measures_name_their_item_and_their_labels():
    assert [each("v").item for each in (offline_linear, online_linear, offline_neural, online_neural)] == [
        "fig-2", "fig-3", "fig-4", "fig-5"
    ]  # fmt: skip
    assert small_network("v") == Measure("fig-6", "ndcg", (("variant", "v"),))
    assert first_fifth("v") == FirstFifth("fig-2", "ndcg", (("variant", "v"),))
    assert exploring("v", "misordered") == Measure("certainty", "misordered", (("variant", "v"), ("noise", 0.1)))
    assert {zoomed(n, 2, online).item for n, online in product((0.1, 0.01), (True, False))} == {"fig-7", "fig-8"}
    assert ("noise", 0.1) in wrong(linear(2)).labels and "noise" not in dict(wrong(PAIRRANK).labels)
    assert set(TIMED) == {*FULL_FORMS, DIAGONAL, "P2NeurRank, N = 2", "P2NeurRank, N = 1"}


def test_the_first_fifth_is_a_share_of_the_data_sets_own_rounds(made):
    results = made(datasets=(MSLR, "MQ2008"))
    for dataset, item, last in ((MSLR, "fig-4", 5000), ("MQ2008", "fig-4", 1000), ("MQ2008", "fig-2", 5000)):
        frame = results[item].frame
        variant = NEURAL[0] if item == "fig-4" else LINEAR[0]
        found = FirstFifth(item, "ndcg", (("variant", variant),)).values(results, dataset, "perfect")
        rows = frame[(frame["dataset"] == dataset) & (frame["variant"] == variant) & (frame["users"] == "perfect")]
        for run, own in rows[rows["round"] <= last / 5].groupby(["fold", "seed"]):
            assert found[run] == pytest.approx(time_mean(own["ndcg"].to_numpy(), own["round"].to_numpy(float)))
    results["fig-4"] = replace(results["fig-4"], frame=results["fig-4"].frame.query("round != 200"))
    with pytest.raises(NotMeasured, match="no checkpoint at round 200"):
        FirstFifth("fig-4", "ndcg", (("variant", NEURAL[0]),)).values(results, "MQ2008", "perfect")


def test_early_is_a_tenth_of_the_history(made):
    results = made(datasets=("MQ2008",))
    frame = results["histories"].frame
    rows = frame[(frame["variant"] == neural(2)) & (frame["users"] == "perfect") & (frame["noise"] == LARGE_NOISE)]
    rows = rows[(rows["quantity"] == "false certain") & (rows["round"] == 100)].set_index(["fold", "seed"])["value"]
    found = wrong(neural(2)).values(results, "MQ2008", "perfect")
    pd.testing.assert_series_equal(found.sort_index(), rows.sort_index(), check_names=False)
    assert isinstance(wrong(neural(2)), Early)
    results["histories"] = replace(results["histories"], frame=frame[frame["round"] != 100])
    with pytest.raises(NotMeasured, match="no checkpoint at round 100"):
        wrong(neural(2)).values(results, "MQ2008", "perfect")


def test_seconds_of_a_round_are_those_of_each_tenth_of_one_replica(invented_results):
    rounds = np.arange(50, 1001, 50)
    frame = pd.DataFrame({"round": rounds, "rank_seconds": 1e-3 * rounds**2, "update_seconds": 3e-3 * rounds**2})
    frame = frame.assign(dataset="MQ2008", users="perfect", variant="a", replicas=4, fold=1, seed=0, cell="c")
    found = Seconds("fig-9", "a").values({"fig-9": invented_results(frame)}, "MQ2008", "perfect")
    ends = np.arange(0, 1001, 100)
    np.testing.assert_allclose(2**found, np.diff(1e-3 * ends**2.0) / 100)
    assert list(found.index) == [(1, i) for i in range(10)]
    twice = pd.concat([frame, frame.assign(seed=1, update_seconds=lambda f: 3 * f["update_seconds"])])
    again = Seconds("fig-9", "a").values({"fig-9": invented_results(twice)}, "MQ2008", "perfect")
    np.testing.assert_allclose(2 ** (again - found), (1 + 2.5) / 2)  # the mean of both measurements
    longer = pd.concat([frame, frame.assign(variant="b", round=2 * rounds, cell="d")])
    with pytest.raises(NotMeasured, match="no seconds of a at round 1,200"):
        Seconds("fig-9", "a").values({"fig-9": invented_results(longer)}, "MQ2008", "perfect")
    still = frame.assign(rank_seconds=0.0, update_seconds=0.0)
    with pytest.raises(NotMeasured, match="seconds of a in fig-9 do not grow"):
        Seconds("fig-9", "a").values({"fig-9": invented_results(still)}, "MQ2008", "perfect")


def test_tenths_are_no_seeds(made):
    contrast = BY_ID["PP8"].parts[0].contrasts[0]
    found = contrast.effect(made(datasets=("MQ2008",)), "MQ2008", "perfect")
    assert (found.seeds, found.folds, found.degrees) == (1, 1, pytest.approx(TENTHS - 1))
    assert found.estimate == pytest.approx(TIMES[FULL_FORMS[0]] - TIMES[neural(1)], abs=0.002)


@pytest.mark.parametrize("mean", [False, True])
def test_equal_compute_reads_the_slower_learner_at_an_earlier_round(invented_runs, invented_results, mean):
    keys = {("MQ2008", "perfect", name): 0.0 for name in ("fast", "slow")}
    shape = {"rounds": (0, 200, 1000), "deviation": 0.001, "seeds": 4, "folds": 2, "column": "noise"}
    scores = invented_runs(keys, ("dataset", "users", "variant"), **shape)
    scores["ndcg"] = scores["round"] / 2000 + scores["noise"]
    seconds = pd.DataFrame({"round": [100, 1000] * 2, "variant": ["fast"] * 2 + ["slow"] * 2})
    seconds = seconds.assign(dataset="MQ2008", users="perfect", fold=1, seed=0, cell="t", replicas=1)
    seconds["rank_seconds"] = seconds["round"] * 1e-3
    seconds["update_seconds"] = np.where(seconds["variant"] == "slow", 3e-3, 0.0) * seconds["round"]
    results = {"scores": invented_results(scores), "timing": invented_results(seconds)}

    def compared(a, b):
        of = [Measure("scores", "ndcg", (("variant", v),)) for v in (a, b)]
        spent = [Seconds("timing", v) for v in (a, b)]
        made = Contrast("", AtEqualCompute(*of, *spent, mean), OFFLINE)
        assert made.measures == (*of, *spent) and made.published(NUMBERS, "MQ2008", "perfect") is None
        return made.effect(results, "MQ2008", "perfect")

    # after one second the fast one has done all of its 1000 rounds and the slow one 250
    expected = (1000 - 250) / 2000 / (2 if mean else 1)
    assert compared("fast", "slow").estimate == pytest.approx(expected, abs=1e-9)
    assert compared("slow", "fast").estimate == pytest.approx(-expected, abs=1e-9)
    own = scores[scores["round"] == 0].set_index(["variant", "fold", "seed"])["noise"]
    difference = own["fast"] - own["slow"]
    deviation = difference.groupby("fold").var().mean() / 8
    assert compared("fast", "slow").standard_error == pytest.approx(deviation**0.5, rel=1e-6)
    results["timing"] = invented_results(seconds[seconds["round"] < 1000])
    with pytest.raises(NotMeasured, match="timing has the seconds of 100 of 1,000 rounds of fast"):
        compared("fast", "slow")


def test_no_worse_and_room_above_a_baseline_are_contrasts_of_two_measures():
    a, b = offline_linear("a"), offline_linear("b")
    lower = no_worse(a, b, "a − b", OFFLINE)
    assert lower.quantity == a - b and lower.scale.margin == -DIFFERENCE
    room = above(offline_linear, OFFLINE, "a", "b", REFERENCE, "the best")
    assert room.label == "a − b" and room.scale.margin == DIFFERENCE
    assert room.quantity == lower.quantity and room.most == REFERENCE - b
    assert room.where == "under {users} users, where b does not end 0.005 below the best"


# One claim at a time


@pytest.mark.parametrize("variant", [*LINEAR, PAIRRANK])
def test_a_lead_over_a_linear_baseline_must_be_half_a_point(made, variant):
    for lead, side in ((0.006, 1), (0.004, -1)):
        for item, column, part, levels in (("fig-2", "ndcg", 0, OFFLINES), ("fig-3", "cndcg", 1, ONLINES)):
            results = made(noise=1e-5)
            unit = weight(5000) if column == "cndcg" else 1.0
            by = (levels[variant] - lead - levels["PDGD"]) * unit
            moved(results, item, column, by, variant=["PDGD"], round=[5000])
            judged = judge(BY_ID["PP1"], results, NUMBERS)
            assert only(judged, BY_ID["PP1"].parts[part], f"{variant} − PDGD") == {side}


def test_where_a_baseline_is_at_the_best_ranker_there_is_no_room_above_it_but_for_clear_leads_and_reversals(made):
    for name, part, baseline, lead in (
        ("PP1", 0, "PDGD", f"{LINEAR[0]} − PDGD"),
        ("PP5", 0, OLRANKNET, f"{NEURAL[0]} − {OLRANKNET}"),
        ("PP9", 0, "neural PDGD", f"{OLRANKNET} − neural PDGD"),
    ):
        claim, (item, best) = BY_ID[name], {"PP1": ("fig-2", 0), "PP5": ("folds", 1), "PP9": ("fig-4", 1)}[name]
        leader = lead.split(" − ")[0]
        for gap, side in ((0.002, 0), (0.02, 1), (-0.02, -1)):
            results = made(noise=1e-5)
            level = OFFLINES[leader] - gap
            moved(results, item, "ndcg", level - OFFLINES[baseline], variant=[baseline])
            if best:
                moved(results, item, "ndcg", level + 0.003 - BEST, variant=[SKYLINE])
            else:
                moved(results, "reference", "test_ndcg", level + 0.003 - BEST, dataset=OWN)
            judged = judge(claim, results, NUMBERS)
            assert only(judged, claim.parts[part], lead) == {side}
            assert (f"{baseline} does not end 0.005 below" in judged.reason) == (side == 0)


def test_without_the_reference_only_clear_leads_and_reversals_count(made):
    lead = f"{LINEAR[0]} − PDGD"
    for gap, side in ((0.02, 1), (0.002, 0), (-0.02, -1)):
        results = made(noise=1e-5)
        del results["reference"]
        moved(results, "fig-2", "ndcg", OFFLINES[LINEAR[0]] - gap - OFFLINES["PDGD"], variant=["PDGD"])
        judged = judge(BY_ID["PP1"], results, NUMBERS)
        assert only(judged, BY_ID["PP1"].parts[0], lead) == {side}
        assert ("reference not computed" in judged.reason) == (side == 0)


def test_perturbation_maintains_a_lead_if_it_is_less_than_half_a_point_below_pairrank(made):
    for lower, side in ((0.004, 1), (0.006, -1)):
        results = made(noise=1e-5)
        moved(results, "fig-2", "ndcg", OFFLINES[PAIRRANK] - lower - OFFLINES[LINEAR[1]], variant=[LINEAR[1]])
        judged = judge(BY_ID["PP1"], results, NUMBERS)
        assert only(judged, BY_ID["PP1"].parts[2], f"{LINEAR[1]} − PairRank, offline") == {side}


@pytest.mark.parametrize("name", OTHERS)
def test_basically_the_worst_is_the_worst_in_four_of_six_cells(made, name):
    by = {"fig-2": ("ndcg", OFFLINES, 1.0), "fig-3": ("cndcg", ONLINES, weight(5000))}
    for (item, (column, levels, unit)), (cells, verdict) in product(
        by.items(), ((2, "reproduced"), (3, "not reproduced"))
    ):
        results = made()
        for dataset, users in list(product(OWN, USERS))[:cells]:
            down = (levels[LINEAR_GREEDY] - 0.01 - levels[name]) * unit
            moved(results, item, column, down, variant=[name], dataset=dataset, users=users, round=[5000])
        assert judge(BY_ID["PP2"], results, NUMBERS).verdict == verdict


def test_basically_the_worst_needs_two_of_three_users_elsewhere(made):
    for users, verdict in ((USERS[:1], "carries over"), (USERS[:2], "mixed")):
        results = made(datasets=("MQ2008",))
        moved(results, "fig-2", "ndcg", -0.03, variant=["DBGD"], users=users)
        assert {place.verdict for place in judge(BY_ID["PP2"], results, NUMBERS).elsewhere} == {verdict}


def test_a_diagonal_is_seriously_worse_online_and_mildly_worse_offline(made):
    claim = BY_ID["PP3"]
    for drop, side in ((COMPARABLE + 0.001, 1), (COMPARABLE - 0.001, -1)):
        results = made(noise=1e-5)
        by = (ONLINES[PAIRRANK] - drop - ONLINES[PAIRRANK_DIAGONAL]) * weight(5000)
        moved(results, "fig-3", "cndcg", by, variant=[PAIRRANK_DIAGONAL], round=[5000])
        label = f"PairRank − {PAIRRANK_DIAGONAL}, online"
        assert only(judge(claim, results, NUMBERS), claim.parts[1], label) == {side}
    for drop, mild, below in ((0.001, 1, 1), (0.019, 1, 1), (0.021, -1, 1), (-0.001, 1, -1)):
        results = made(noise=1e-5)
        by = OFFLINES[PAIRRANK] - drop - OFFLINES[PAIRRANK_DIAGONAL]
        moved(results, "fig-2", "ndcg", by, variant=[PAIRRANK_DIAGONAL], users=["perfect", "navigational"])
        judged = judge(claim, results, NUMBERS)
        assert only(judged, claim.parts[1], f"0.02 − (PairRank − {PAIRRANK_DIAGONAL})") == {mild}
        assert only(judged, claim.parts[0], f"PairRank − {PAIRRANK_DIAGONAL}, offline") == {1, below}


def test_under_informational_users_the_diagonal_must_drop_by_half_a_point_in_both(made):
    for drop, side in ((0.006, 1), (0.004, -1)):
        results = made(noise=1e-5)
        by = OFFLINES[PAIRRANK] - drop - OFFLINES[PAIRRANK_DIAGONAL]
        moved(results, "fig-2", "ndcg", by, variant=[PAIRRANK_DIAGONAL], users=["informational"])
        assert sides("PP3", results)[0] == [{1}, {1}, {1, side}, {1}]


def test_the_diagonal_is_compared_with_pdgd_on_one_data_set_and_not_under_navigational_users(made):
    results = made()
    up = 0.05 * weight(5000)
    moved(results, "fig-3", "cndcg", -up, variant=["PDGD"], dataset=YAHOO, round=[5000])
    moved(results, "fig-3", "cndcg", -up, variant=["PDGD"], users=["navigational"], round=[5000])
    assert judge(BY_ID["PP3"], results, NUMBERS).verdict == "reproduced"
    moved(results, "fig-3", "cndcg", -up, variant=["PDGD"], dataset=MSLR, users=["perfect"], round=[5000])
    assert sides("PP3", results)[0] == [{1}, {1}, {1}, {1, -1}]


def test_faster_is_a_higher_mean_over_the_first_fifth(made):
    for lead, side in ((0.006, 1), (0.004, -1)):
        results = made(noise=1e-5)
        early = OFFLINES[PAIRRANK] + lead - (OFFLINES[LINEAR[0]] + 0.01)
        moved(results, "fig-2", "ndcg", early, variant=[LINEAR[0]], round=[0, 500, 1000])
        moved(results, "fig-2", "ndcg", -0.004, variant=[LINEAR[0]], round=[5000])  # where it ends is of no account
        assert sides("PP4", results)[0] == [{side}, {1}]


def test_more_rankers_may_improve_in_some_cells(made):
    for item, column, unit in (("fig-2", "ndcg", 1.0), ("fig-3", "cndcg", weight(5000))):
        for cells, verdict in ((2, "reproduced"), (3, "not reproduced")):
            results = made()
            for dataset, users in list(product(OWN, USERS))[:cells]:
                moved(results, item, column, 0.01 * unit, variant=[LINEAR[1]], dataset=dataset, users=users,
                      round=[5000])  # fmt: skip
            assert judge(BY_ID["PP4"], results, NUMBERS).verdict == verdict


def test_outperforming_is_half_a_point_offline_and_online(made):
    for lead, side in ((0.006, 1), (0.004, -1)):
        results = made(noise=1e-5)
        moved(results, "folds", "ndcg", OFFLINES[NEURAL[0]] - lead - OFFLINES[OLRANKNET], variant=[OLRANKNET])
        assert sides("PP5", results)[0] == [{side}, {1}]
        by = (ONLINES[NEURAL[0]] - lead - ONLINES[OLRANKNET]) * weight(5000)
        moved(results, "folds", "cndcg", by, variant=[OLRANKNET], round=[5000])
        assert sides("PP5", results)[0] == [{side}, {side}]


def test_one_contrast_over_all_users_counts_their_mean_run_by_run(made):
    for down, side in ((0.011, 1), (0.016, -1)):  # of one kind of users; a third of it counts in a lead of a point
        results = made(noise=1e-5)
        moved(results, "folds", "ndcg", -down, variant=[NEURAL[0]], users=["informational"])
        assert sides("PP5", results)[0] == [{side}, {1}]
    results = made(noise=1e-5)
    frame = results["folds"].frame
    wave = 0.3 * np.sin(frame["fold"] + 7 * frame["seed"])  # what one kind gains in a run another loses in it
    turn = frame["users"].map({"perfect": 1, "navigational": -1, "informational": 0})
    frame.loc[frame["variant"] == NEURAL[0], "ndcg"] += (wave * turn)[frame["variant"] == NEURAL[0]]
    assert sides("PP5", results)[0] == [{1}, {1}]


def test_a_diagonal_of_a_small_network_hurts_by_half_a_point_where_there_is_room(made):
    for lead, side in ((0.006, 1), (0.004, -1), (-0.02, -1)):
        results = made(noise=1e-5)
        moved(results, "fig-6", "ndcg", 0.40 - lead - 0.39, variant=[SIXTEEN_DIAGONAL])
        assert sides("PP6", results)[0] == [{side}]
    results = made(noise=1e-5)
    moved(results, "fig-6", "ndcg", 0.008, variant=[SIXTEEN_DIAGONAL])
    moved(results, "fig-4", "ndcg", 0.40 - BEST, variant=[SKYLINE])
    found, judged = sides("PP6", results)
    assert found == [{0}] and f"{SIXTEEN_DIAGONAL} does not end 0.005 below {SKYLINE}" in judged.reason


@pytest.mark.parametrize(
    ("item", "part", "best", "noise"), [("fig-7", 0, 2.0, LARGE_NOISE), ("fig-8", 1, 10.0, SMALL_NOISE)]
)
def test_the_best_number_of_rankers_leads_both_others_in_both_scores(made, item, part, best, noise):
    for column, unit in (("ndcg", 1.0), ("cndcg", weight(5000))):
        for lead, side in ((0.006, 1), (0.004, -1)):
            results = made(noise=1e-5)
            by = (0.01 - lead) * unit
            moved(results, item, column, by, rankers=[5.0], round=[5000])
            found, _ = sides("PP7", results)
            assert found[part] == {1, side} and found[1 - part] == {1}
    assert {dict(c.measures[0].labels)["rankers"] for c in BY_ID["PP7"].parts[part].contrasts} == {best}
    assert {dict(c.measures[0].labels)["noise"] for c in BY_ID["PP7"].parts[part].contrasts} == {noise}


def slowed(results, variant, doublings):
    """Sets how much slower a variant's rounds are than those of N = 1, in every tenth."""
    frame = results["fig-9"].frame
    for column in ("rank_seconds", "update_seconds"):
        mine, base = ((frame["variant"] == name).to_numpy() for name in (variant, neural(1)))
        frame.loc[mine, column] = frame.loc[base, column].to_numpy() * 2**doublings


@pytest.mark.parametrize("form", FULL_FORMS)
def test_a_big_gap_is_more_than_twice_the_time_and_only_the_papers_form_is_the_papers(made, form):
    name, other = ("PP8", "PPX3") if form == FULL_FORMS[0] else ("PPX3", "PP8")
    for doublings, side in ((BIG + 0.05, 1), (BIG - 0.05, -1)):
        results = made()
        slowed(results, form, doublings)
        slowed(results, DIAGONAL, 0.01)
        slowed(results, neural(2), 0.02)
        _, judged = sides(name, results)
        part = BY_ID[name].parts[0]
        assert [only(judged, part, f"{form} ÷ {each}") for each in (neural(1), neural(2), DIAGONAL)] == [{side}] * 3
        assert sides(other, results)[0][0] == {1}
        assert judged.verdict == ("reproduced" if side == 1 else "not reproduced")


def test_slightly_slower_is_slower_by_less_than_half(made):
    for doublings, found in ((0.05, {1}), (SLIGHTLY - 0.05, {1}), (SLIGHTLY + 0.05, {1, -1}), (-0.05, {-1, 1})):
        results = made()
        slowed(results, neural(2), 0.3 + doublings)
        slowed(results, DIAGONAL, 0.3)
        assert sides("PP8", results)[0] == [{1}, found, {1}]
    assert 2**SLIGHTLY == pytest.approx(1.5)


def test_one_ranker_must_be_faster_than_two_and_than_the_diagonal(made):
    results = made()
    slowed(results, DIAGONAL, -0.05)
    slowed(results, neural(2), 0.3)
    judged = judge(BY_ID["PP8"], results, NUMBERS)
    part = BY_ID["PP8"].parts[2]
    assert only(judged, part, f"{DIAGONAL} ÷ {neural(1)}") == {-1}
    assert only(judged, part, f"{neural(2)} ÷ {neural(1)}") == {1}


def test_times_that_change_sides_within_a_run_decide_nothing(made):
    results = made()
    frame = results["fig-9"].frame
    rising = frame["variant"] == neural(2)
    for column in ("rank_seconds", "update_seconds"):
        base = frame.loc[frame["variant"] == DIAGONAL, column].to_numpy().reshape(-1, TENTHS)
        spent = np.diff(base, prepend=0) * 2 ** np.linspace(-1, 1, TENTHS)
        frame.loc[rising, column] = np.cumsum(spent, axis=1).ravel()
    found, judged = sides("PP8", results)
    assert found[1] == {0, 1} and judged.verdict == "undecided"


@pytest.mark.parametrize("baseline", NEURAL_BASELINES)
@pytest.mark.parametrize("variant", [OLRANKNET, *NEURAL])
def test_a_lead_over_a_neural_baseline_must_be_half_a_point(made, variant, baseline):
    results = made(noise=1e-5, datasets=("MQ2008",))
    for lead, side in ((0.006, 1), (0.004, -1)):
        moved(results, "fig-4", "ndcg", OFFLINES[variant] - lead - OFFLINES[baseline], variant=[baseline])
        judged = judge(BY_ID["PP9"], results, NUMBERS)
        assert only(judged, BY_ID["PP9"].parts[0], f"{variant} − {baseline}") == {side}
        moved(results, "fig-4", "ndcg", OFFLINES[baseline] - OFFLINES[variant] + lead, variant=[baseline])


def test_two_rankers_are_most_promising_if_not_half_a_point_below_five_and_not_sensitive_if_a_point_apart(made):
    part, other = BY_ID["PP10"].parts
    for gap, promising, close in ((-0.004, 1, 1), (-0.006, -1, 1), (-0.011, -1, -1), (0.009, 1, 1), (0.011, 1, -1)):
        for item, column, word, levels in (
            ("fig-4", "ndcg", "offline", OFFLINES), ("fig-5", "cndcg", "online", ONLINES)
        ):  # fmt: skip
            results = made(noise=1e-5)
            unit = weight(5000) if column == "cndcg" else 1.0
            by = (levels[NEURAL[0]] - gap - levels[NEURAL[1]]) * unit
            moved(results, item, column, by, variant=[NEURAL[1]], round=[5000])
            judged = judge(BY_ID["PP10"], results, NUMBERS)
            label = f"{NEURAL[0]} − {NEURAL[1]}, {word}"
            assert only(judged, part, label) == {promising}
            assert only(judged, other, f"{SMALL:g} − |{label}|") == {close}


def test_more_wrong_orders_are_one_in_twenty_more_than_with_ten_rankers_and_than_with_intervals(made):
    for variant, part in ((linear(10), 0), (neural(10), 0), (PAIRRANK, 1), (OLRANKNET, 1)):
        for more, side in ((SHARE + 0.005, 1), (SHARE - 0.005, -1)):
            results = made(noise=1e-5)
            by = WRONGS[linear(2)] - more - WRONGS[variant]
            moved(results, "histories", "value", by, variant=[variant], round=[500])
            assert sides("PPX1", results)[0][part] == {1, side}


def test_wrong_orders_count_at_the_large_noise_and_early_alone(made):
    results = made(noise=1e-5)
    frame = results["histories"].frame
    other = (frame["noise"] == SMALL_NOISE) | (frame["round"] != 500) | (frame["quantity"] != "false certain")
    frame.loc[other & frame["variant"].isin([linear(10), neural(10)]), "value"] += 0.4
    assert sides("PPX1", results)[0] == [{1}] * 4


def test_early_certainty_costs_if_the_ranker_is_worse_and_the_regret_larger(made):
    results = made(noise=1e-5)
    moved(results, "certainty", "ndcg", -0.016, variant=[neural(10)], noise=[LARGE_NOISE])
    assert sides("PPX1", results)[0] == [{1}, {1}, {1, -1}, {1}]
    for regret, side in ((0.94, 1), (0.96, -1)):
        results = made(noise=1e-5)
        frame = results["certainty"].frame
        here = (frame["noise"] == LARGE_NOISE) & (frame["variant"] == linear(10))
        frame.loc[here, "misordered"] *= regret / 0.8
        assert sides("PPX1", results)[0] == [{1}, {1}, {1}, {1, side}]


def test_early_certainty_is_judged_under_two_kinds_of_users(made):
    results = made()
    results["histories"] = replace(results["histories"], frame=results["histories"].frame.query("users == 'perfect'"))
    found, judged = sides("PPX1", results)
    assert found == [{1, 0}, {1, 0}, {1}, {1}] and judged.verdict == "undecided"


def test_a_lead_at_equal_rounds_can_be_lost_at_equal_compute(made):
    """P²NeurRank rises slowly, and is above olRankNet in the last rounds alone."""
    results = made(noise=1e-5)
    frame = results["fig-4"].frame
    slow = frame["variant"] == NEURAL[0]
    frame.loc[slow, "ndcg"] = 0.43 - 0.2 * (1 - frame["round"] / 5000)[slow] + 1e-5 * (frame["seed"] % 2)[slow]
    label = f"{NEURAL[0]} − {OLRANKNET}, at the end"
    part = BY_ID["PPX2"].parts[0]
    assert only(judge(BY_ID["PPX2"], results, NUMBERS), part, label) == {1}  # it costs half as much
    timed = results["timing"].frame
    dear = timed["variant"] == NEURAL[0]
    timed.loc[dear, ["rank_seconds", "update_seconds"]] *= 4
    assert only(judge(BY_ID["PPX2"], results, NUMBERS), part, label) == {-1}


def test_equal_compute_asks_for_seconds_under_the_same_users(made):
    results = made()
    frame = results["timing"].frame
    results["timing"] = replace(results["timing"], frame=frame[frame["users"] != "navigational"])
    found, judged = sides("PPX2", results)
    assert found == [{1, 0}, {1, 0}] and "navigational users" in judged.reason.partition("timing was not run on")[2]


def test_all_baselines_are_named_once():
    assert len(set(LINEAR_VARIANTS)) == 7 and len(set(NEURAL_VARIANTS)) == 6
    assert set(OTHERS) == set(LINEAR_VARIANTS) - {LINEAR_GREEDY} and LINEAR_GREEDY in LINEAR_BASELINES
    assert DIFFERENCE < SMALL < COMPARABLE
    assert not judge_all(CLAIMS, {}, NUMBERS)["PP1"].tested
