"""The catalogue of data sets that the papers use: source, licence, how to get each, and whether it is at hand.

The entries of published data are in catalogue.toml. If an entry has a checksum, its results can be looked up without
the data; otherwise the checksum of the data at hand is used. A reader's own data sets join the catalogue until the
process ends (`data.own`). This module must not know what data is used for.
"""

import difflib
import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ol2r.data import synthetic
from ol2r.data.cache import GrowingTable, cached, cached_checksum, stamp
from ol2r.data.dataset import Fold, RankingDataset, normalize_per_query
from ol2r.data.letor import LetorText, letor_blocks
from ol2r.errors import DataError
from ol2r.folders import config_folder

READER_REVISION = 2  # another reader, normalisation or layout is another cache
QUERY_MIN_MAX = "query min-max"
UNCONFIRMED = "checksum unconfirmed"
OWN = "own-"  # prefix of the names of readers' own data sets only
NOT_AT_HAND = "not at hand"  # in place of an unknown checksum; no result is stored under it
SUFFIXES = (".txt", ".txt.gz", ".txt.xz")  # of LETOR files, in any case
USUAL_NAMES = {
    "train": ("train", "training", "trainset", "trainingset"),
    "validation": ("vali", "valid", "validation", "valset", "validset", "validationset", "dev"),
    "test": ("test", "testing", "testset"),
}
"""How publishers call the files of a fold, in small letters and without suffix."""


class MissingData(FileNotFoundError):
    """A data set of the catalogue is not at hand; the message says where to get it."""


class Origin(NamedTuple):
    """What reading a data set found: its checksum, whether the catalogue confirms that, and counts."""

    checksum: str
    confirmed: bool
    counts: dict[str, int]


class Split(NamedTuple):
    """The files of one fold, relative to the data set's folder and without .txt, .txt.gz or .txt.xz."""

    train: str
    validation: str | None
    test: str

    def roles(self) -> dict[str, str]:
        return {role: stem for role, stem in self._asdict().items() if stem is not None}


@dataclass(frozen=True)
class Entry:
    """One data set of the catalogue.

    Args:
        label: name in figures.
        source: who publishes it and where.
        restricted: True where only aggregates of it may be shown.
        checksum: digest of the decompressed text of its files (`source_checksum`), or None if it is unknown; then any
            data with the right counts is accepted.
        how_to_get: what a reader has to do.
        folders: names its folder may have under a search path.
        splits: the files of its folds, for published ranking data sets only.
        files: the files of a click log.
        normalization: "query min-max" (`normalize_per_query`), or in words how the source normalised it.
        sparse: True where lines leave out features that are 0, so that the last ones need not occur.
    """

    name: str
    label: str
    title: str
    source: str
    licence: str
    restricted: bool
    kind: Literal["ranking", "synthetic", "clicks", "own"]
    n_queries: int | None
    n_documents: int | None
    n_features: int
    n_grades: int
    n_folds: int
    checksum: str | None
    how_to_get: str
    folders: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()
    files: tuple[str, ...] = ()
    normalization: str = QUERY_MIN_MAX
    sparse: bool = False

    @property
    def confirmed(self) -> bool:
        """Whether the catalogue knows its checksum, so that no other data can be mistaken for it."""
        return self.checksum is not None and self.kind != "own"

    @property
    def list_shape(self) -> tuple[int, float]:
        """Number of features and rough mean number of documents of a query, on which the cost of a round depends."""
        if self.kind == "synthetic":
            return self.n_features, synthetic.SHAPES[self.name].mean_size
        return self.n_features, (self.n_documents or 0) / (self.n_queries or 1)

    def at_hand(self) -> bool:
        """Whether `load` would find it now."""
        return self.kind in ("synthetic", "own") or self.location() is not None

    def location(self) -> Path | None:
        """The first folder of the search paths that holds all of its files."""
        return next((folder for folder in self.folders_at_hand() if not self.missing_from(folder)), None)

    def texts(self, folder: Path) -> dict[str, Path]:
        """The files of its splits that a folder holds, by stem."""
        found: dict[str, Path] = {}
        listed: dict[str, dict[str, Path]] = {}
        for split in self.splits:
            for role, stem in split.roles().items():
                place, _, called = f"{folder}/{stem}".rpartition("/")
                files = listed[place] if place in listed else listed.setdefault(place, letor_files(place))
                names = (called.lower(), *(USUAL_NAMES[role] if called in USUAL_NAMES[role] else ()))
                path = next((files[name] for name in names if name in files), None)
                if path is not None and _allowed(path.is_file):
                    found[stem] = path
        return found

    def missing_from(self, folder: Path) -> list[str]:
        """Which of its files a folder lacks."""
        found = self.texts(folder)
        stems = sorted({stem for split in self.splits for stem in split.roles().values()} - found.keys())
        return [f"{stem}.txt" for stem in stems] + [
            name for name in self.files if not _allowed((folder / name).is_file)
        ]

    def folders_at_hand(self) -> list[Path]:
        """Folders under the search paths that have one of its names, complete or not."""
        places = (os.path.join(root, folder) for root in search_paths() for folder in self.folders)  # noqa: PTH118
        return [Path(place) for place in places if os.path.isdir(place)]  # noqa: PTH112 - all cells of a paper ask

    def require(self) -> Path:
        """The folder that holds the data set's files.

        Raises:
            MissingData: it is not at hand, or some of its files are not.
        """
        if (location := self.location()) is not None:
            return location
        found = "".join(
            f" In {folder} these files are missing or out of reach: {', '.join(self.missing_from(folder)[:3])}…"
            for folder in self.folders_at_hand()
        )
        raise MissingData(
            f"{self.name} is not at hand ({searched()}).{found} {self.how_to_get} Then run `ol2r data add PATH`, or "
            f"put PATH into OL2R_DATA, where PATH is the directory that holds {' or '.join(self.folders)}."
        )


def letor_files(folder: str) -> dict[str, Path]:
    """The LETOR files of a folder by name in small letters and without suffix; of several, the least compressed."""
    found: dict[str, tuple[int, Path]] = {}
    try:
        names = os.listdir(folder)  # noqa: PTH208 - all cells of a paper ask
    except OSError:
        return {}
    for name in sorted(names):
        suffix = letor_suffix(name)
        if suffix is not None:
            stem, rank = name[: -len(suffix)].lower(), SUFFIXES.index(suffix)
            if stem not in found or rank < found[stem][0]:
                found[stem] = rank, Path(folder, name)
    return {stem: path for stem, (_, path) in found.items()}


def letor_suffix(name: str) -> str | None:
    """The suffix that marks a file as LETOR text, in small letters, or None."""
    return next((suffix for suffix in reversed(SUFFIXES) if name.lower().endswith(suffix)), None)


def search_paths() -> list[Path]:
    """Directories searched for data: OL2R_DATA (separated like PATH), then those added by `ol2r data add`."""
    listed = os.environ.get("OL2R_DATA", "").split(os.pathsep)
    record = paths_file()
    added = []
    if record is not None and record.is_file():
        added = record.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    # a shell leaves ~ alone inside a list
    return [Path(os.path.expanduser(path)) for path in [*listed, *added] if path]  # noqa: PTH111 - it never raises


def searched() -> str:
    """A text that lists the directories searched, and says which of them do not exist."""
    told = [f"{path}{'' if _allowed(path.is_dir) else ' (no directory)'}" for path in search_paths()]
    return f"searched: {', '.join(told)}" if told else "no directory is searched"


def _allowed(test: Callable[[], bool]) -> bool:
    """The result of a test of the file system, or False if the test is not permitted."""
    try:
        return test()
    except PermissionError:
        return False


def paths_file() -> Path | None:
    """The file that records added paths, one per line: in OL2R_CONFIG, else in the user's configuration directory.

    None for a user without a home.
    """
    named = os.environ.get("OL2R_CONFIG")
    folder = Path(named) if named else config_folder()
    return folder and folder / "data-paths"


def entry(name: str) -> Entry:
    """The catalogue's entry.

    Raises:
        ValueError: no such name; the message offers the nearest one.
    """
    if name not in CATALOGUE:
        near = difflib.get_close_matches(name, CATALOGUE, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"unknown data set {name!r}{hint} (`ol2r data list` shows all)")
    return CATALOGUE[name]


def is_own(name: str) -> bool:
    """Whether a name is that of a reader's own data, known to this process or not."""
    return name.startswith(OWN)


def own_names() -> tuple[str, ...]:
    """The reader's own data sets that this process knows."""
    return tuple(filter(is_own, CATALOGUE))


def add_own(it: Entry, read: Callable[[], RankingDataset]) -> None:
    """Give a reader's own data set an entry in this process.

    Args:
        it: the entry.
        read: gives the data set, each time it is loaded.
    """
    CATALOGUE[it.name], _OWN_READERS[it.name] = it, read


_OWN_READERS: dict[str, Callable[[], RankingDataset]] = {}


def checksum(name: str) -> str:
    """The checksum of a data set in the keys of results: the catalogue's, or else that of the data at hand.

    This reads the data if it is not cached.

    Returns:
        The checksum, or `NOT_AT_HAND` if the catalogue has none and the data is not at hand.

    Raises:
        ValueError: unknown name.
        DataError: the data at hand is not the catalogue's.
    """
    it = entry(name)
    if it.checksum is not None:
        return it.checksum
    if it.kind == "clicks":
        return NOT_AT_HAND  # nothing reads a click log without a checksum
    known = _CHECKSUMS.get(name)
    if known is None or not known.holds(it):
        folder = it.location()
        if folder is None:
            return NOT_AT_HAND
        sources = _sources(it, folder)
        stamps = {path: stamp(path) for path in sources.values()}
        found = cached_checksum(name, _fingerprint(it), sources) or load_from(it, folder).checksum
        known = _CHECKSUMS[name] = _Known(it, it.folders_at_hand(), stamps, found)
    return known.checksum


class _Known(NamedTuple):
    """A checksum of data at hand, kept because each cell asks for it, and the files for which it is valid."""

    entry: Entry
    folders: list[Path]
    stamps: dict[Path, list[int]]
    checksum: str

    def holds(self, it: Entry) -> bool:
        """Whether it is still valid: the same folders are there and none of their files has changed."""
        try:
            return (self.entry, self.folders) == (it, it.folders_at_hand()) and all(
                stamp(path) == before for path, before in self.stamps.items()
            )
        except FileNotFoundError:
            return False


_CHECKSUMS: dict[str, _Known] = {}


def load(name: str, checksum: str | None = None) -> RankingDataset:
    """Load a data set of the catalogue, normalised as its entry says, from its source text or from the cache.

    Args:
        name: name in the catalogue.
        checksum: the checksum that it must have; None accepts the data at hand.

    Raises:
        ValueError: the name is unknown or that of a click log.
        MissingData: the data is not at hand; the message says where to get it.
        DataError: the files do not match the catalogue.
    """
    it = entry(name)
    if it.kind == "clicks":
        raise ValueError(f"{name} is a collection of clicks, not a ranking data set")
    if it.kind == "own":
        dataset = _OWN_READERS[name]()
    elif it.kind == "synthetic":
        dataset = cached(name, _fingerprint(it), {}, lambda: synthetic.generate(name, it.label, str(it.checksum)))
    else:
        dataset = load_from(it, it.require())
    if checksum not in (None, dataset.checksum):
        raise DataError(f"{name} has changed: expected the checksum {checksum}, found {dataset.checksum}")
    note_read(it, dataset.checksum, counts_of(dataset))
    return dataset


def load_from(it: Entry, folder: Path) -> RankingDataset:
    """Load a ranking data set from its source text in a folder, or from the cache.

    Raises:
        DataError: the files do not match the catalogue.
    """
    return cached(it.name, _fingerprint(it), _sources(it, folder), lambda: _read(it, folder))


def counts_of(dataset: RankingDataset) -> dict[str, int]:
    """Queries, documents and features."""
    return {"queries": dataset.n_queries, "documents": dataset.n_documents, "features": dataset.n_features}


_READ: dict[str, Origin] = {}


def note_read(it: Entry, checksum: str, counts: dict[str, int]) -> None:
    """Remember what this process has read of a data set."""
    _READ[it.name] = Origin(checksum, it.confirmed, counts)


def last_read(name: str) -> Origin | None:
    """What this process read last of a data set, or None where it has read nothing."""
    return _READ.get(name)


def _fingerprint(it: Entry) -> str:
    return hashlib.sha256(json.dumps([READER_REVISION, asdict(it)]).encode()).hexdigest()


def _sources(it: Entry, folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in it.texts(folder).values()}


def _read(it: Entry, folder: Path) -> RankingDataset:
    """Read the files of every fold, keep each query once, and check that folds agree on the queries they share."""
    kept = _Kept(GrowingTable(it.n_features))
    read: dict[Path, tuple[str, np.ndarray]] = {}  # what `_read_file` returns
    digests: list[tuple[str, str]] = []
    folds = []
    texts = it.texts(folder)
    for number, split in enumerate(it.splits, start=1):
        members = {"validation": np.empty(0, dtype=np.int64)}
        for role, stem in split.roles().items():
            path = texts[stem]
            same = next((other for other in read if same_content(path, other)), None)  # folds repeat whole files
            read[path] = _read_file(it, path, kept) if same is None else read[same]
            digest, members[role] = read[path]
            digests.append((f"fold {number} {role}", digest))
        folds.append(Fold(**members))
    checksum = source_checksum(digests)
    if it.checksum is not None and checksum != it.checksum:
        raise DataError(f"{folder}: expected the checksum {it.checksum} for {it.name}, found {checksum}")
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(kept.sizes))]).astype(np.int64)
    n_features = it.n_features if it.sparse else kept.largest_index
    _check_counts(it, folder, {"queries": len(offsets) - 1, "documents": int(offsets[-1]), "features": n_features})
    return RankingDataset(
        name=it.name,
        features=kept.features.array(),
        relevance=np.concatenate(kept.relevance),
        offsets=offsets,
        query_ids=tuple(kept.queries),
        document_ids=tuple(kept.document_ids) if kept.has_ids else None,
        folds=tuple(folds),
        n_grades=it.n_grades,
        checksum=checksum,
        restricted=it.restricted,
        label=it.label,
        normalization=it.normalization,
    )


class KnownQuery(NamedTuple):
    """A query that has been read from some file."""

    number: int
    digest: bytes  # of its text
    source: str  # the file it came from


@dataclass
class _Kept:
    """What is kept of the files that have been read: each query once, with its documents."""

    features: GrowingTable
    relevance: list[np.ndarray] = field(default_factory=list)
    sizes: list[np.ndarray] = field(default_factory=list)
    queries: dict[str, KnownQuery] = field(default_factory=dict)
    document_ids: list[str] = field(default_factory=list)
    has_ids: bool = True  # whether every file of which documents are kept has ids
    largest_index: int = 0


def same_content(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size or one.suffix != other.suffix:
        return False
    with one.open("rb") as first, other.open("rb") as second:
        while part := first.read(1 << 20):
            if part != second.read(1 << 20):
                return False
    return True


def _read_file(it: Entry, path: Path, kept: _Kept) -> tuple[str, np.ndarray]:
    """Read one file, keep the queries that are new, and compare the others with those kept.

    Returns:
        The SHA-256 of the file's text in hexadecimal, and the numbers of its queries: int64[queries].

    Raises:
        DataError: malformed text, or a query that another file has with different text.
    """
    digest, numbers = hashlib.sha256(), []
    n_kept, has_ids = len(kept.relevance), False
    for letor, text in letor_blocks(path, it.n_grades, it.n_features, digest.update):
        kept.largest_index = max(kept.largest_index, letor.largest_index)
        has_ids = has_ids or letor.document_ids is not None
        new = np.array([query_id not in kept.queries for query_id in letor.query_ids])
        numbers += number_queries(letor, text, str(path), kept.queries)
        if new.any():
            own = letor if new.all() else select_queries(letor, np.flatnonzero(new))
            normalised = it.normalization == QUERY_MIN_MAX
            kept.features.append(normalize_per_query(own.features, own.offsets) if normalised else own.features)
            kept.relevance.append(own.relevance)
            kept.sizes.append(np.diff(own.offsets))
            kept.document_ids += own.document_ids or ("",) * len(own.relevance)
    kept.has_ids = kept.has_ids and (has_ids or len(kept.relevance) == n_kept)
    return digest.hexdigest(), np.array(numbers, dtype=np.int64)


def _check_counts(it: Entry, folder: Path, found: dict[str, int]) -> None:
    expected = {"queries": it.n_queries, "documents": it.n_documents, "features": it.n_features}
    if found != expected:
        wanted, counted = (
            ", ".join(f"{number:,} {what}" for what, number in counts.items()) for counts in (expected, found)
        )
        raise DataError(f"{folder}: expected {wanted} for {it.name}, found {counted}")


def number_queries(letor: LetorText, text: np.ndarray, source: str, queries: dict[str, KnownQuery]) -> list[int]:
    """The numbers of the queries of a text, of which new ones are added to `queries`."""
    numbers = []
    for query_id, (start, end) in zip(letor.query_ids, letor.spans.tolist(), strict=True):
        digest = hashlib.sha256(bytes(text[start:end]).replace(b"\r", b"")).digest()
        first = queries.setdefault(query_id, KnownQuery(len(queries), digest, source))
        if digest != first.digest:
            raise DataError(f"{source}: expected the documents of query {query_id} as in {first.source}, found others")
        numbers.append(first.number)
    return numbers


def select_queries(letor: LetorText, queries: np.ndarray) -> LetorText:
    sizes = np.diff(letor.offsets)
    rows = np.flatnonzero(np.isin(np.repeat(np.arange(len(sizes)), sizes), queries))
    ids = letor.document_ids
    return LetorText(
        letor.features[rows],
        letor.relevance[rows],
        np.concatenate([[0], np.cumsum(sizes[queries])]),
        tuple(letor.query_ids[q] for q in queries),
        None if ids is None else tuple(ids[row] for row in rows),
        letor.spans[queries],
        letor.largest_index,
    )


def source_checksum(digests: list[tuple[str, str]]) -> str:
    """One digest of a data set's source, the same for .txt, .gz and .xz: SHA-256 over role and text of every file.

    Args:
        digests: ("fold 1 train", SHA-256 of the decompressed text in hexadecimal) for each file of each fold.
    """
    return hashlib.sha256("".join(f"{role} {digest}\n" for role, digest in sorted(digests)).encode()).hexdigest()


def _synthetic(name: str, shape: synthetic.Shape) -> Entry:
    return Entry(
        name=name,
        label=name,
        title=f"{shape.title}, truth: {'wide network' if synthetic.is_network(name) else 'linear'}",
        source="generated by ol2r.data.synthetic",
        licence="CC BY 4.0",
        restricted=False,
        kind="synthetic",
        n_queries=shape.n_queries,
        n_documents=None,
        n_features=shape.n_features,
        n_grades=len(shape.grade_shares),
        n_folds=shape.n_folds,
        checksum=hashlib.sha256(f"{name} revision {synthetic.REVISION}".encode()).hexdigest(),
        how_to_get="Always at hand.",
    )


def listed(text: str) -> Iterator[Entry]:
    """The entries of a text such as that of catalogue.toml, which says how it is written, in its order.

    Raises:
        TypeError: a table has a field that `Entry` has not, or lacks one.
    """
    tables = tomllib.loads(text)
    shared = tables.pop("shared", {})
    unknown = {"n_queries": None, "n_documents": None, "checksum": None}
    for name, own in tables.items():
        like = shared.get(own.pop("like", None), {})
        it: dict[str, Any] = {"label": name, "folders": [name]} | unknown | like | own
        split, n_folds = it.pop("split", None), it.get("n_folds", 0)
        folds = [f"Fold{fold}/" if n_folds > 1 else "" for fold in range(1, n_folds + 1)] if split else []
        it |= {key: tuple(value) for key, value in it.items() if isinstance(value, list)}
        it["splits"] = tuple(Split._make(f"{fold}{stem}" if stem else None for stem in split) for fold in folds)
        yield Entry(name, **it)


_TEXT = files("ol2r.data").joinpath("catalogue.toml").read_text(encoding="utf-8")
CATALOGUE: dict[str, Entry] = {it.name: it for it in listed(_TEXT)}
CATALOGUE |= {name: _synthetic(name, shape) for name, shape in synthetic.SHAPES.items()}
