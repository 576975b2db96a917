"""Speed of the learners of networks as the olRankNet chapter runs them: one replica a core, each with one thread.

A whole run of 1,000 rounds counts, with its last evaluation, on as many cores as the machine has. `*_gap` is what the
last refit leaves of what it could win over θ₀, as the chapter's figure of the gap has it. L-BFGS makes fewer passes
than Adam; it counts where it leaves no more than Adam or less than a hundredth. `*.bound` is how many rounds a second
there would be if a run did nothing but the products of matrices of its passes. `*.drift` is how far the growing
Cholesky factor of the dual form has come from one that is made afresh, as the largest relative error of a width.
`*.folded` is by how much the primal form is faster with folded gradients than with all their entries. `*.bytes` is what
the dual form of one run keeps after the paper's 5,000 rounds, in which some 12,000 pairs are labelled.

`long.*` are runs of the paper's length, one at a time, on documents whose grades come from a network: P²NeurRank has
two hidden layers. They count seconds of the processor, which what else the machine does lengthens less than time.
`*_share` is the share of the limit: the operations of the products of all passes, at the float32 peak of the core in
the same run, over the seconds of the whole run. `*_two_over_one` is the time of two rankers over that of one, and
`*_bytes` the most memory that the process of a run had, Python and torch included.
"""

import math
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from typing import NamedTuple
from unittest.mock import patch

import torch
from joblib import Parallel, delayed

from ol2r import data
from ol2r.clicks import users
from ol2r.cores import count
from ol2r.face import compare
from ol2r.learners import LEARNERS
from ol2r.learners.refitted import RefittedNetwork
from ol2r.networks import Dual, Explicit, Full, Network, NetworkFit
from ol2r.networks.covariance import BLOCK
from ol2r.networks.problem import CompiledProblem
from ol2r.papers.olranknet.grid import SETTINGS, tuned
from ol2r.papers.p2neurrank import grid as p2neurrank
from ol2r.random import Streams, replica_key
from ol2r.simulation import Evaluation, Replica, make_streams, simulate

ROUNDS = 1000
MQ, MSLR = "MQ2008", "synthetic-mslr"
LBFGS = {"refit": "lbfgs", "passes": 4}
ENOUGH = 0.01
"""A gap below which a refit has all but reached the optimum."""
TO_THE_OPTIMUM = 400
"""Passes of L-BFGS after which what is left to win counts as nothing."""
MEASURED: dict[str, tuple[str, str]] = {
    "olranknet": ("olRankNet", MQ),
    "olranknet_full": ("olRankNet, full", MQ),
    "olranknet_mslr": ("olRankNet", MSLR),
    "olranknet_full_mslr": ("olRankNet, full", MSLR),
    "neuralpdgd": ("neural PDGD", MQ),
}
"""By family: the chapter's variant, and the data set. Refitted learners count with the faster of their two refits whose
gap is no larger than Adam's, or below `ENOUGH`."""
PUBLIC = {
    "olranknet_mslr.rounds_per_s": 18.0,  # with its bound vectorised; 0.6 as it is
    "neuralpdgd.rounds_per_s": 2300.0,  # at the shape of MQ2007, whose lists are twice as long as MQ2008's
}
TARGET = {
    "olranknet.rounds_per_s": 300.0,
    "olranknet_full.rounds_per_s": 250.0,
    "olranknet_mslr.rounds_per_s": 80.0,
    "olranknet_full_mslr.rounds_per_s": 45.0,
    "neuralpdgd.rounds_per_s": 3000.0,
    "olranknet_full.bytes": float(2**30),  # a limit
    "compare.olranknet_share": 0.5,
}


class Spent(NamedTuple):
    """What a run took.

    Args:
        seconds: of the run; products: of the products of matrices of its passes alone.
        gap: what its last refit leaves of what there was to win over θ₀; NaN of a learner that does not refit.
    """

    seconds: float
    products: float
    gap: float


def run(variant: str, dataset: str, seed: int, rounds: int, changed: dict[str, object]) -> Spent:
    """One replica's run under perfect users, on one thread."""
    torch.set_num_threads(1)
    there = data.load(dataset)
    learner, setting = SETTINGS[variant]
    replicas = [Replica(1, seed, users("perfect", there.n_grades))]
    streams = make_streams(there, replicas)
    batch = LEARNERS[learner](there.n_features, setting | tuned(dataset, variant) | changed, streams)
    conventions = Evaluation(
        k=10, split="test", gain="exponential", empty="skip", ties="expected", gamma=0.9995, checkpoints=(rounds,)
    )
    with counting() as passes:
        start = time.perf_counter()
        simulate(there, replicas, batch, conventions)
        spent = time.perf_counter() - start
    left = gap(batch) if isinstance(batch, RefittedNetwork) and rounds == ROUNDS else math.nan
    return Spent(spent, products(there.n_features, int(setting["width"]), passes), left)


@contextmanager
def counting() -> Iterator[Counter[int]]:
    """Counts the passes over each number of documents, those of several networks apart."""
    forward, passes = CompiledProblem._forward, Counter[int]()

    def counted(problem, theta, reweigh):
        passes[problem.n_documents] += len(theta)
        forward(problem, theta, reweigh)

    with patch.object(CompiledProblem, "_forward", counted):
        yield passes


def gap(learner: RefittedNetwork) -> float:
    """What the last refit of a single replica leaves of what there was to win over θ₀."""

    def objective(theta: torch.Tensor, passes: int) -> float:
        pull = learner.precise["regularization"]
        fit = NetworkFit(learner.network, theta, learner.theta0.to(theta.dtype), pull, method="lbfgs", passes=passes)
        if passes > 2:
            fit.refit(learner.history, torch.ones(1, dtype=torch.bool))
        return float(fit.expand(learner.history).value)

    reached, start = objective(learner.fit.theta, 2), objective(learner.theta0, 2)
    best = min(objective(each.double(), TO_THE_OPTIMUM) for each in (learner.fit.theta, learner.theta0))
    return (reached - best) / (start - best)


def products(features: int, width: int, passes: Counter[int], repeats: int = 5) -> float:
    """Seconds of the two products of matrices in each pass of a network with one hidden layer, the first and the last
    of every refit's steps alike.

    Args:
        passes: how many passes there were over each number of documents. Of ten numbers one is measured, by the fastest
            of some repeats.
    """
    total, sizes = 0.0, sorted(passes)
    for some in (sizes[at : at + 10] for at in range(0, len(sizes), 10)):
        documents = torch.rand(1, some[len(some) // 2], features)
        w, units = torch.rand(1, width, features), torch.empty(1, documents.shape[1], width)
        made, fastest = torch.empty(1, features, width), math.inf
        for _ in range(repeats):
            start = time.perf_counter()
            torch.bmm(documents, w.mT, out=units)
            torch.bmm(documents.mT, units, out=made)
            fastest = min(fastest, time.perf_counter() - start)
        total += fastest * sum(passes[each] for each in some)
    return total


LONG, LONG_ON = 5000, "synthetic-mq-net"
"""Rounds of the paper's runs, and the data set of `long`."""


class Long(NamedTuple):
    """What a run of the paper's length took.

    Args:
        seconds: of the processor; share: of the limit; bytes: the most that the process had.
        gap: as of `Spent`.
    """

    seconds: float
    share: float
    bytes: float
    gap: float


def long_run(learner: str, setting: dict[str, object], rounds: int) -> Long:
    """One replica under perfect users; to be run in a process of its own."""
    torch.set_num_threads(1)
    there = data.load(LONG_ON)
    replicas = [Replica(1, 0, users("perfect", there.n_grades))]
    conventions = Evaluation(
        k=10, split="test", gain="exponential", empty="skip", ties="expected", gamma=0.9995, checkpoints=(rounds,)
    )

    def batch():
        return LEARNERS[learner](there.n_features, setting, make_streams(there, replicas))

    simulate(there, replicas, batch(), replace(conventions, checkpoints=(3,)))  # compiles
    made = batch()
    with counting() as passes:
        start = time.process_time()
        simulate(there, replicas, made, conventions)
        spent = time.process_time() - start
    m, deeper = int(made.choice["width"]), int(made.choice["depth"]) - 2
    each = 2 * (2 * there.n_features * m + 3 * deeper * m * m)  # operations for a document in a pass
    least = sum(n * documents for documents, n in passes.items()) * each / peak()
    left = gap(made) if learner == "olRankNet" else math.nan
    return Long(spent, least / spent, 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, left)


def peak(n: int = 1024, repeats: int = 20) -> float:
    """Operations in float32 that a core does in a second at best, in a product of matrices."""
    a, b, out, fastest = torch.rand(n, n), torch.rand(n, n), torch.empty(n, n), math.inf
    for _ in range(repeats):
        start = time.process_time()
        torch.mm(a, b, out=out)
        fastest = min(fastest, time.process_time() - start)
    return 2 * n**3 / fastest


def long(rounds: int) -> dict[str, float]:
    """The figures of runs of the paper's length; see the module."""
    pair = SETTINGS["olRankNet"][1] | tuned(LONG_ON, "olRankNet")
    ensemble = p2neurrank.SETTINGS[p2neurrank.neural(2)][1] | p2neurrank.tuned(LONG_ON, p2neurrank.neural(2))
    measured = {
        "olranknet": ("olRankNet", pair),
        "p2neurrank": ("P2NeurRank", ensemble | {"depth": 3, "rankers": 2}),
        "p2neurrank_one": ("P2NeurRank", ensemble | {"depth": 3, "rankers": 1}),
    }
    found: dict[str, float] = {}
    for refit, changed in {"adam": {}, "lbfgs": LBFGS}.items():
        runs: dict[str, Long] = {}
        for name, (learner, setting) in measured.items():
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                runs[name] = alone.submit(long_run, learner, setting | changed, rounds).result()
            one, told = runs[name], f"long.{name}.{refit}"
            found |= {f"{told}_rounds_per_s": rounds / one.seconds, f"{told}_share": one.share}
            found[f"{told}_bytes"] = one.bytes
        found[f"long.olranknet.{refit}_gap"] = runs["olranknet"].gap
        ratio = runs["p2neurrank"].seconds / runs["p2neurrank_one"].seconds
        found[f"long.p2neurrank.{refit}_two_over_one"] = ratio
    return found


class Rate(NamedTuple):
    """Rounds per second of all cores together, how many there would be with the products alone, and the mean gap."""

    rounds: float
    bound: float
    gap: float


def rate(variant: str, dataset: str) -> dict[str, Rate]:
    """The speed by refit."""
    cores, found = count(), {}
    refitted = "refit" in SETTINGS[variant][1]
    for name, changed in {"adam": {}, **({"lbfgs": LBFGS} if refitted else {})}.items():
        with Parallel(n_jobs=cores) as pool:
            pool(delayed(run)(variant, dataset, seed, 3, changed) for seed in range(cores))  # compiles
            spent = pool(delayed(run)(variant, dataset, seed, ROUNDS, changed) for seed in range(cores))
        whole, alone, left = zip(*spent, strict=True)
        bound = sum(ROUNDS / each if each else math.inf for each in alone)
        found[name] = Rate(sum(ROUNDS / each for each in whole), bound, sum(left) / cores)
    return found


def family(name: str) -> dict[str, float]:
    """The figures of a family: of both refits, and the faster; of refitted networks the bound of the latter as well."""
    found = rate(*MEASURED[name])
    if len(found) == 1:
        return {f"{name}.rounds_per_s": found["adam"].rounds}
    each = {f"{name}.{refit}_rounds_per_s": one.rounds for refit, one in found.items()}
    each |= {f"{name}.{refit}_gap": one.gap for refit, one in found.items()}
    best = max(one for one in found.values() if one.gap <= max(found["adam"].gap, ENOUGH))
    return each | {f"{name}.rounds_per_s": best.rounds, f"{name}.bound": best.bound}


def refits(found: dict[str, float], key: str) -> dict[str, dict[str, float]]:
    """By refit its speed and its gap, of the family that a figure belongs to; empty where it has one refit."""
    name = key.removesuffix(".rounds_per_s")
    return {
        refit: {"rounds_per_s": float(f"{found[speed]:.4g}"), "gap": float(f"{found[f'{name}.{refit}_gap']:.2g}")}
        for refit in ("adam", "lbfgs")
        if (speed := f"{name}.{refit}_rounds_per_s") in found
    }


def drift(pairs: int = 2000, features: int = 46, documents: int = 20) -> dict[str, float]:
    """The largest relative error of a width after so many pairs, against a factor made of them all at once."""
    network = Network(features, 100)
    streams = Streams([replica_key("drift", 1, 0)])
    theta = network.initial(streams).double()
    rows = torch.rand(1, 2 * pairs, features, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    tangent = network.tangent(theta, network.forward(theta, rows).activations)
    penalty = torch.tensor([0.1], dtype=torch.float64)
    growing, fresh = Dual(network, penalty), Dual(network, penalty)
    both = torch.arange(2 * pairs).view(1, pairs, 2)
    for start in range(0, pairs, 2):
        growing.add(tangent, both[:, start : start + 2])
    fresh.add(tangent, both)
    shown = torch.rand(1, documents, features, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    seen = network.tangent(theta, network.forward(theta, shown).activations)
    wide = [_widths(each.gram(seen)) for each in (growing, fresh)]
    off = ~torch.eye(documents, dtype=torch.bool)
    return {"olranknet_full.drift": float(((wide[0] - wide[1]).abs() / wide[1])[0][off].max())}


def folded(features: int = 46, documents: int = 20, rounds: int = 5) -> dict[str, float]:
    """Time of rounds of the primal form with all entries of a symmetric network's gradients, over that of folded ones.

    A network that is not symmetric and reads doubled inputs has all entries.
    """
    x = torch.rand(1, documents, features, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    symmetric, plain = Network(features, 100, init="symmetric-raw"), Network(2 * features, 100)
    inputs = symmetric.inputs(x)
    theta = symmetric.initial(Streams([replica_key("folded", 1, 0)])).double()
    tangent = symmetric.tangent(theta, symmetric.forward(theta, inputs).activations)
    pairs = torch.arange(4).view(1, 2, 2)
    spent = []
    for network in (plain, symmetric):
        covariance = Explicit(network, torch.tensor([0.1], dtype=torch.float64), full=True)
        covariance.add(tangent, pairs)
        start = time.perf_counter()
        for _ in range(rounds):
            covariance.gram(tangent)
            covariance.add(tangent, pairs)
        spent.append(time.perf_counter() - start)
    return {"olranknet_full.folded": spent[0] / spent[1]}


def kept(rows: int = 12_000, features: int = 136) -> dict[str, float]:
    """Bytes that the dual form keeps of so many random pairs, by default in the shape of MSLR-WEB10K.

    Raises:
        ValueError: there are so many pairs that the library would take the primal form.
    """
    network = Network(features, 100, init="symmetric-raw")
    theta = network.initial(Streams([replica_key("kept", 1, 0)])).double()
    covariance = Full(network, torch.tensor([0.1], dtype=torch.float64))
    rng = torch.Generator().manual_seed(0)
    for start in range(0, rows, BLOCK):
        at_once = min(BLOCK, rows - start)
        inputs = network.inputs(torch.rand(1, 2 * at_once, features, generator=rng, dtype=torch.float64))
        tangent = network.tangent(theta, network.forward(theta, inputs).activations)
        covariance.add(tangent, torch.arange(2 * at_once).view(1, at_once, 2))
    if not covariance.is_dual:
        raise ValueError(f"{rows} pairs are kept in the primal form")
    return {"olranknet_full.bytes": float(covariance.nbytes)}


def _widths(gram: torch.Tensor) -> torch.Tensor:
    diagonal = gram.diagonal(dim1=1, dim2=2)
    return (diagonal[:, :, None] + diagonal[:, None] - 2 * gram).clamp_min(0).sqrt()


def olranknet_by_compare(seeds: int = 2) -> dict[str, float]:
    """Rounds a second of a core that `ol2r.compare` gives olRankNet on MQ2008, as a share of what one run alone
    has here; both refit by Adam and have perfect users. Seconds of cores count, of runs that are warm."""
    there = data.load(MQ)
    learner, setting = SETTINGS["olRankNet"]
    own = {learner: setting | tuned(MQ, "olRankNet")}

    def spent(rounds: int) -> float:
        start = time.process_time()
        compare(there, own, users="perfect", rounds=rounds, seeds=seeds, jobs=1, progress=False)
        return time.process_time() - start

    spent(3)  # compiles
    runs = seeds * len(there.folds)
    rate = runs * ROUNDS / spent(ROUNDS)
    run("olRankNet", MQ, 0, 3, {})
    start = time.process_time()
    run("olRankNet", MQ, 0, ROUNDS - 1, {})  # without what a whole run measures at its end
    alone = (ROUNDS - 1) / (time.process_time() - start)
    return {"compare.olranknet_rounds_per_s_of_a_core": rate, "compare.olranknet_share": rate / alone}


FAMILIES: dict[str, Callable[[bool], dict[str, float]]] = {
    **{name: lambda quick, name=name: family(name) for name in MEASURED},
    "compare": lambda quick: olranknet_by_compare(1 if quick else 2),
    "olranknet_full.drift": lambda quick: drift(),
    "olranknet_full.folded": lambda quick: folded(),
    "olranknet_full.bytes": lambda quick: kept(),
    "long": lambda quick: long(LONG // 10 if quick else LONG),
}
