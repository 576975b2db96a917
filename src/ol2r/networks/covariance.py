"""How certain a network is along a direction: A = λI + Σ g gᵀ/m over the gradients g of all pairs that were observed.

The gradient of a pair is g_i − g_j, as it was when the pair was observed: it is stored and never computed again
(olRankNet, Algorithm 1, line 12). One interface has several forms. `Dual` keeps a Cholesky factor over the n pairs and
never has a matrix of p × p; `Explicit` keeps A⁻¹ (the primal form) or the inverse of A's diagonal alone. `Full` is the
dual form until the pairs are so many that the primal one is cheaper. `Inverted` inverts A anew with every new pair, as
is written in many papers; it is there to be timed.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import torch

from ol2r.networks.certain import by_bound, by_width
from ol2r.networks.diagonal import scaled_kernel, squares
from ol2r.networks.network import Network
from ol2r.networks.tangent import Tangent
from ol2r.ranking import batched, interval_orders
from ol2r.ranking.constants import eye, numbers
from ol2r.ranking.covariance import gram

BLOCK = 256
"""Pairs for which the dual form makes room at a time, and rows of its factor that are multiplied at a time."""
SWITCH = 1.2
"""The primal form takes over when there are so many times more pairs than entries of a folded gradient."""
_LEAST_PIVOT = 0.5
"""The square of a pivot of I + Σ g gᵀ/(mλ) is at least 1; one below this has lost all its digits to rounding."""
_LEAST_DIGITS = 1e4
"""So many times what rounding makes of ‖g‖²/(mλ) must the square of a pivot be, which is what is left of it."""
_LEAST_REGULARIZATION = 1e-300


class Covariance(ABC):
    """A of R networks.

    Pairs of a round fill the same rows in all replicas; a row without a pair changes no digit. On the CPU a round takes
    as many rows as the replica with the most pairs needs, on a device as many as there could be.

    Args:
        network: the architecture whose gradients are added.
        regularization: λ > 0, Float64[R].
    Attributes:
        sound: Bool[R], false once pairs of a replica could not be added, because their numbers were not finite or
            rounding had eaten up a pivot: pairs in the span of earlier ones, under a λ tiny beside their ‖g‖². These
            pairs are left out; all others count. Also false from the start for a λ of 0, or so small that 1/λ is not
            finite; a smallest number then stands in for it.
        log_det: log(det A / det λI), Float64[R] (α_t of olRankNet's Lemma 3.3).
    """

    dtype = torch.float64

    def __init__(self, network: Network, regularization: torch.Tensor):
        self.network = network
        self.regularization = regularization.clamp_min(_LEAST_REGULARIZATION)
        self.sound = regularization >= _LEAST_REGULARIZATION
        self.log_det = torch.zeros_like(regularization, dtype=torch.float64)

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory of what is kept, for all replicas."""

    @abstractmethod
    def gram(self, tangent: Tangent) -> torch.Tensor:
        """C = G A⁻¹ Gᵀ/m, with the gradients of some documents as the rows of G: Float[R, V, V].

        C_ii + C_jj − 2 C_ij = ‖g_i − g_j‖²_{A⁻¹}/m, the square of an interval's width (`ranking.interval_orders`).

        Args:
            tangent: of V documents.
        """

    def orders(
        self, scores: torch.Tensor, tangent: Tangent, width: torch.Tensor, present: torch.Tensor, depth: int
    ) -> torch.Tensor:
        """The certain orders that a list of some depth depends on (`ranking.interval_orders`): Bool[R, V, V].

        A − λI has no negative eigenvalue, so no interval is wider than with λI in place of A, and what is certain with
        λI is certain. On the CPU only the documents of the other orders have their widths computed. A document below
        `depth` certain superiors is not shown, so orders with it as the lower one may be missing.

        Args:
            scores: Float64[R, V]. tangent: of these V documents. width: α, Float64[R].
            present: Bool[R, V], where a document is.
        """
        if scores.device.type != "cpu":
            return interval_orders(scores, self.gram(tangent), width)
        once = self.network.folded(tangent).map(lambda factor: factor.to(self.dtype))
        certain, some = by_bound(scores, once.kernel(once), self.regularization, width, present, depth)
        if some.shape[1]:
            by_width(scores, self.gram(tangent.of(some)), width, some, certain)
        return certain

    def add(self, tangent: Tangent, pairs: torch.Tensor) -> None:
        """Add g gᵀ/m of some pairs, g = g_i − g_j.

        Args:
            tangent: of documents at the θ that the pairs are to be remembered with, Float[R, V, …].
            pairs: Int64[R, P, 2], positions of two of these documents, padded with −1.
        """
        present = pairs[..., 0] >= 0
        if present.device.type == "cpu":
            most = int(present.sum(dim=1).max()) if present.numel() else 0
            if most < pairs.shape[1]:
                first = (~present).to(torch.uint8).argsort(dim=1, stable=True)[:, :most]
                pairs = pairs.gather(1, first[..., None].expand(-1, -1, 2))
        for some in pairs.split(BLOCK, dim=1):
            if some.shape[1]:
                absent = (some[..., 0] < 0)[:, :, None].expand_as(some).flatten(1)[..., None]
                documents = tangent.of(some.flatten(1).clamp_min(0))
                self._add(documents.map(lambda factor, absent=absent: factor.masked_fill(absent, 0.0).to(self.dtype)))

    @abstractmethod
    def _add(self, documents: Tangent) -> None:
        """Add pairs of consecutive documents: at most `BLOCK`, absent ones with gradients of zero."""

    @abstractmethod
    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that is kept, in tensors that the next `add` may write to."""

    @abstractmethod
    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        """Go on from what another covariance of the same arguments kept; it keeps the tensors themselves."""

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        """Where the tensors stand that `add` replaces, rather than writes to: pairs of an owner and a name."""
        yield from ((vars(self), name) for name in ("sound", "log_det"))

    def form(self, n: int) -> Hashable:
        """What the shapes on a device depend on once another n pairs are added."""
        return None

    def count(self, n: int) -> None:
        """Count n pairs that a device added by itself, in a round that it replayed."""
        return None

    def _judged(self, gram: torch.Tensor, norms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The Cholesky factor of I + gram, or I where it has none to rely on, and for which replicas it has one.

        Args:
            gram: of some new pairs, Float[R, P, P], what earlier ones leave of it.
            norms: ‖g‖²/(mλ) of the same pairs, Float[R, P].
        """
        one = eye(gram.shape[1], gram.device).to(gram.dtype)
        root, info = torch.linalg.cholesky_ex(gram + one)
        pivots = root.diagonal(dim1=1, dim2=2)
        least = (_LEAST_DIGITS * torch.finfo(gram.dtype).eps * norms).clamp_min(_LEAST_PIVOT)
        # of a NaN every comparison is false
        good = (info == 0) & (pivots * pivots >= least).all(dim=1) & (root.abs().amax(dim=(1, 2)) < torch.inf)
        self.sound &= good
        return torch.where(good[:, None, None], root, one), good


def _differences(of_documents: torch.Tensor, dim: int = 1) -> torch.Tensor:
    """First less second of consecutive rows, or columns with `dim` 2: Float[R, n, …] from Float[R, 2n, …]."""
    first, second = of_documents.unflatten(dim, (-1, 2)).unbind(dim=dim + 1)
    return first - second


class Explicit(Covariance):
    """Gradients with all their entries: A⁻¹ itself (primal), or the inverse of A's diagonal alone, Float64[R, p].

    A⁻¹ is Float64[R, q, q], with the q entries of gradients that are folded (`Network.folded`): p, or of a symmetric
    network about half as many.

    Args:
        full: whether to keep the whole A⁻¹.
    """

    def __init__(self, network: Network, regularization: torch.Tensor, *, full: bool):
        super().__init__(network, regularization)
        self._full = full
        self._compiled = not full and regularization.device.type == "cpu"
        entries = network.n_folded if full else network.n_parameters
        self._kept = batched.Covariance(self.regularization, entries, full, regularization.device)

    @property
    def nbytes(self) -> int:
        return self.state_dict()["inverse"].nbytes

    def gram(self, tangent: Tangent) -> torch.Tensor:
        tangent = tangent.map(lambda factor: factor.to(self.dtype))
        if self._compiled:
            return scaled_kernel(tangent, self._kept.inverse[:, 0], doubled=self.network.symmetric)
        return gram(self._gradients(tangent), self._kept.inverse)

    def _add(self, documents: Tangent) -> None:
        if self._compiled:
            self._add_squares(squares(documents))
        else:
            self._add_gradients(_differences(self._gradients(documents)))

    def _gradients(self, tangent: Tangent) -> torch.Tensor:
        """g/√m of documents, folded for the whole A: Float64[R, V, entries]."""
        return (self.network.folded(tangent) if self._full else tangent).explicit()

    def _add_squares(self, squares: torch.Tensor) -> None:
        """Add to the diagonal what pairs add to it, Float64[R, p]."""
        grown = 1.0 + self._kept.inverse[:, 0] * squares
        good = grown.sum(dim=1) < torch.inf  # false of a NaN
        grown.masked_fill_(~good[:, None], 1.0)
        self._kept.inverse /= grown[:, None]
        self.log_det += grown.log().sum(dim=1)
        self.sound &= good

    def _add_gradients(self, gradients: torch.Tensor) -> None:
        """Add g gᵀ/m of pairs whose g/√m is known, folded for the whole A: Float64[R, P, entries], zeros for none."""
        norms = (gradients * gradients).sum(dim=2) / self.regularization[:, None]
        if not self._full:  # sums of squares lose no digits
            norms = torch.zeros_like(norms)
        _, good = self._judged(gram(gradients, self._kept.inverse), norms)
        self._kept.add(gradients, good[:, None].expand(gradients.shape[:2]))
        self.log_det = self._kept.log_det

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        yield from super().state_places()
        yield from ((vars(self._kept), name) for name in ("inverse", "log_det"))

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {"inverse": self._kept.inverse, "log_det": self.log_det, "sound": self.sound}

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        self._kept.inverse, self.sound = saved["inverse"], saved["sound"]
        self._kept.log_det = self.log_det = saved["log_det"]


class Inverted(Covariance):
    """A and its inverse, both Float64[R, p, p], computed anew from A whenever pairs are added: p³ operations.

    The determinant takes another factorization, so that times are somewhat above those of the inverse alone.
    """

    def __init__(self, network: Network, regularization: torch.Tensor):
        super().__init__(network, regularization)
        one = eye(network.n_parameters, regularization.device).to(self.dtype)
        self.matrix = self.regularization[:, None, None] * one
        self.inverse = one / self.regularization[:, None, None]

    @property
    def nbytes(self) -> int:
        return self.matrix.nbytes + self.inverse.nbytes

    def gram(self, tangent: Tangent) -> torch.Tensor:
        return gram(tangent.map(lambda factor: factor.to(self.dtype)).explicit(), self.inverse)

    def _add(self, documents: Tangent) -> None:
        gradients = _differences(documents.explicit())
        matrix = self.matrix + gradients.mT @ gradients
        inverse, _ = torch.linalg.inv_ex(matrix)
        log_det = torch.linalg.slogdet(matrix)[1] - matrix.shape[1] * self.regularization.log()
        condition = torch.linalg.matrix_norm(matrix, 1) * torch.linalg.matrix_norm(inverse, 1)
        # of a NaN every comparison is false
        good = (_LEAST_DIGITS * torch.finfo(self.dtype).eps * condition <= 1.0) & (log_det < torch.inf)
        self.matrix = torch.where(good[:, None, None], matrix, self.matrix)
        self.inverse = torch.where(good[:, None, None], inverse, self.inverse)
        self.log_det = torch.where(good, log_det, self.log_det)
        self.sound = self.sound & good

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        yield from super().state_places()
        yield from ((vars(self), name) for name in ("matrix", "inverse"))

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {name: getattr(self, name) for name in ("matrix", "inverse", "log_det", "sound")}

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        for name in self.state_dict():
            setattr(self, name, saved[name])


class Dual(Covariance):
    """A over n pairs by the kernel of their gradients, with p only in the length of their factors:

        C = (k(z, z′) − k_n(z)ᵀ (K_n + λI)⁻¹ k_n(z′))/λ,    log(det A/det λI) = log det(I + K_n/λ).

    L Lᵀ = I + K_n/λ grows by the rows of new pairs; no row that is there ever changes. U = L⁻¹ k_n/λ is found block by
    block. For block b of the rows, the inverse of L_bb and −L_bb⁻¹ times what stands left of it are kept side by side,
    so that U_b is one product. The code has Uᵀ in place of U, a document in each row. Memory is n²/2 numbers and the
    factors of 2n documents.

    Args:
        dtype: precision of all that is kept. In single precision the widths of documents that are nearly the same have
            no correct digit.
    """

    def __init__(self, network: Network, regularization: torch.Tensor, dtype: torch.dtype = torch.float64):
        super().__init__(network, regularization)
        self.dtype = dtype
        self._inverse = (1.0 / self.regularization).to(dtype)[:, None, None]
        self._steps: list[torch.Tensor] = []  # of each block b of rows: Float[R, BLOCK, BLOCK · (b + 1)]
        self._last = 0  # rows of the last block that are in use
        # the same on the device, from where a round that is replayed reads it
        self._place = torch.zeros(1, dtype=torch.int64, device=regularization.device)
        self._documents: Tangent | None = None  # of each row the first and the second, folded: Float[R, 2n, …]

    @property
    def n_rows(self) -> int:
        """Rows of the factor that are in use, with and without a pair."""
        return max(len(self._steps) - 1, 0) * BLOCK + self._last

    def rows_after(self, n: int) -> int:
        """`n_rows` once another n pairs are added."""
        return len(self._steps) * BLOCK + n if self._is_full(n) else self.n_rows + n

    def form(self, n: int) -> int:
        """The number of blocks of rows."""
        return len(self._steps) + self._is_full(n)

    def count(self, n: int) -> None:
        self._last += n

    def _is_full(self, n: int) -> bool:
        """Whether the last block has no room for n more rows."""
        return not self._steps or self._last + n > BLOCK

    @property
    def nbytes(self) -> int:
        factors = self._documents.factors if self._documents is not None else ()
        return sum(each.nbytes for each in (*self._steps, *factors))

    @property
    def _cut(self) -> int:
        """Rows to compute with: on a device all that there is room for, so that shapes stay the same."""
        return self.n_rows if self._place.device.type == "cpu" else len(self._steps) * BLOCK

    def gram(self, tangent: Tangent) -> torch.Tensor:
        tangent = self.network.folded(tangent).map(lambda factor: factor.to(self.dtype))
        kernel = self._inverse * tangent.kernel(tangent)
        if self._documents is None:
            return kernel
        u = self._solved(self._by_row(tangent, self._cut))
        return kernel - u @ u.mT

    def _by_row(self, tangent: Tangent, rows: int) -> torch.Tensor:
        """(k_n/λ)ᵀ of V folded documents with the pairs of the first rows: Float[R, V, rows].

        The fewer documents stand in its rows, as in all products that follow: the transposed ones take twice the time.
        """
        return self._inverse * _differences(tangent.kernel(self._past(rows)), dim=2)

    def _past(self, rows: int) -> Tangent:
        """The documents of the first rows."""
        assert self._documents is not None
        return self._documents.map(lambda factor: factor[:, : 2 * rows])

    def _solved(self, u: torch.Tensor) -> torch.Tensor:
        """Uᵀ = (L⁻¹ k_n/λ)ᵀ in place of (k_n/λ)ᵀ, Float[R, V, n]."""
        for b, step in enumerate(self._steps):
            rows = u[:, :, b * BLOCK : (b + 1) * BLOCK]
            n, stop = rows.shape[2], b * BLOCK + rows.shape[2]
            rows.copy_(u[:, :, :stop] @ step[:, :n, :stop].mT)
        return u

    def _add(self, documents: Tangent) -> None:
        documents = self.network.folded(documents)
        n = documents.inputs[0].shape[1] // 2
        if self._is_full(n):
            self._open(documents)
        assert self._documents is not None
        start = (len(self._steps) - 1) * BLOCK
        used = self._last if self._place.device.type == "cpu" else BLOCK
        place = self._place + numbers(n, self._place.device)

        own = self._inverse * _differences(_differences(documents.kernel(documents)), dim=2)  # [R, n, n]
        u = self._solved(_differences(self._by_row(documents, start + used)))
        root, good = self._judged(own - u @ u.mT, own.diagonal(dim1=1, dim2=2))
        u = u.masked_fill(~good[:, None, None], 0.0)

        step = self._steps[-1]
        row = step.new_zeros(len(step), n, step.shape[2])
        row[:, :, : start + used] = -(u[:, :, start:] @ step[:, :used, : start + used])
        row[:, :, :start] -= u[:, :, :start]
        row[:, :, start:] += eye(BLOCK, place.device).to(self.dtype).index_select(0, place)
        row = torch.linalg.solve_triangular(root, row, upper=False)
        step.index_copy_(1, place, row)

        both = (2 * (start + place)[:, None] + numbers(2, place.device)).flatten()
        for kept, new in zip(self._documents.factors, documents.factors, strict=True):
            kept.index_copy_(1, both, new.masked_fill(~good[:, None, None], 0.0))
        self.log_det += 2.0 * root.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        self._place += n
        self._last += n

    def _open(self, like: Tangent) -> None:
        """Make room for another block; what is left of the last one stays empty."""
        b, replicas = len(self._steps), len(self.sound)
        step = like.inputs[0].new_zeros(replicas, BLOCK, (b + 1) * BLOCK)
        step[:, :, b * BLOCK :].diagonal(dim1=1, dim2=2).fill_(1.0)
        self._steps.append(step)
        room = like.map(lambda factor: factor.new_zeros(replicas, 2 * BLOCK, factor.shape[2]))
        self._documents = room if self._documents is None else _joined(self._documents, room)
        self._last = 0
        self._place.zero_()

    def parts(self) -> Iterable[Tangent]:
        """The documents of all pairs, those of a pair one after the other: of at most `BLOCK` pairs at a time."""
        if self._documents is not None:
            depth = len(self._documents.inputs)
            for part in zip(*(factor.split(2 * BLOCK, dim=1) for factor in self._documents.factors), strict=True):
                yield self.network.unfolded(Tangent(part[:depth], part[depth:]))

    def gradients(self) -> Iterable[torch.Tensor]:
        """The gradients of all pairs, g/√m, in parts of some rows: Float[R, BLOCK, p] each."""
        for documents in self.parts():
            yield _differences(documents.explicit())

    def state_dict(self) -> dict[str, torch.Tensor]:
        saved = {"sound": self.sound, "log_det": self.log_det, "last": torch.tensor(self._last)}
        saved |= {f"steps.{b}": step for b, step in enumerate(self._steps)}
        if self._documents is not None:
            saved |= {f"documents.{i}": factor for i, factor in enumerate(self._documents.factors)}
        return saved

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        self.sound, self.log_det, self._last = saved["sound"], saved["log_det"], int(saved["last"])
        self._place.fill_(self._last)
        self._steps = [saved[name] for name in _numbered(saved, "steps")]
        factors = [saved[name] for name in _numbered(saved, "documents")]
        depth = self.network.depth
        self._documents = Tangent(tuple(factors[:depth]), tuple(factors[depth:])) if factors else None


def _numbered(saved: Mapping[str, torch.Tensor], name: str) -> list[str]:
    """The names `name.0`, `name.1`, … that are there."""
    return [f"{name}.{i}" for i in range(sum(key.startswith(f"{name}.") for key in saved))]


def _joined(one: Tangent, other: Tangent) -> Tangent:
    both = [torch.cat(pair, dim=1) for pair in zip(one.factors, other.factors, strict=True)]
    return Tangent(tuple(both[: len(one.inputs)]), tuple(both[len(one.inputs) :]))


class Full(Covariance):
    """The whole A in the cheaper form: dual, and primal from `SWITCH` times as many rows as a gradient has entries on.

    A round costs about n² V in the dual form and q² V in the primal one, with the q entries of a folded gradient, and
    smaller terms beside.
    """

    def __init__(self, network: Network, regularization: torch.Tensor):
        super().__init__(network, regularization)
        self._form: Dual | Explicit = Dual(network, regularization)
        self._most_rows = SWITCH * network.n_folded

    @property
    def is_dual(self) -> bool:
        """Whether it has the dual form now."""
        return isinstance(self._form, Dual)

    def form(self, n: int) -> Hashable:
        if isinstance(self._form, Dual) and self._form.rows_after(n) <= self._most_rows:
            return self._form.form(n)
        return "primal"

    def count(self, n: int) -> None:
        self._form.count(n)

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        yield from super().state_places()
        yield from self._form.state_places()

    @property
    def nbytes(self) -> int:
        return self._form.nbytes

    def gram(self, tangent: Tangent) -> torch.Tensor:
        return self._form.gram(tangent)

    def _add(self, documents: Tangent) -> None:
        self._form._add(documents)
        if isinstance(self._form, Dual) and self._form.n_rows > self._most_rows:
            primal = Explicit(self.network, self.regularization, full=True)
            primal.sound = self._form.sound
            for documents in self._form.parts():
                primal._add(documents)
            self._form = primal
        self.sound, self.log_det = self._form.sound, self._form.log_det

    def state_dict(self) -> dict[str, torch.Tensor]:
        return self._form.state_dict()

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        if "inverse" in saved and isinstance(self._form, Dual):
            self._form = Explicit(self.network, self.regularization, full=True)
        self._form.load_state_dict(saved)
        self.sound, self.log_det = self._form.sound, self._form.log_det
