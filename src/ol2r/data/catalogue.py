"""The catalogue of data sets that the papers use: source, licence, how to get each, and whether it is at hand.

If an entry has a checksum, its results can be looked up without the data; otherwise the checksum of the data at hand is
used. A reader's own data sets join the catalogue until the process ends (`data.own`). This module must not know what
data is used for.
"""

import difflib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

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


def _five_folds(train: str = "train", validation: str | None = "vali", test: str = "test") -> tuple[Split, ...]:
    return tuple(
        Split(f"Fold{f}/{train}", f"Fold{f}/{validation}" if validation else None, f"Fold{f}/{test}")
        for f in range(1, 6)
    )


_MICROSOFT = "https://www.microsoft.com/en-us/research/project"
_LETOR = f"{_MICROSOFT}/letor-learning-rank-information-retrieval"
_LETOR4 = {
    "source": f"Microsoft Research LETOR 4.0 (Qin and Liu, 2013), {_LETOR}",
    "licence": "Microsoft Research LETOR, research use",
    "restricted": True,
    "kind": "ranking",
    "n_features": 46,
    "n_grades": 3,
    "n_folds": 5,
    "splits": _five_folds(),
}
_LETOR3 = _LETOR4 | {
    "source": f"Microsoft Research LETOR 3.0 (Qin et al., 2010), {_LETOR}",
    "checksum": None,
    "n_features": 64,
    "n_grades": 2,
    "splits": _five_folds("trainingset", "validationset", "testset"),
}
_MSLR = {
    "source": f"Microsoft Learning to Rank Datasets (Qin and Liu, 2013), {_MICROSOFT}/mslr",
    "licence": "Microsoft Research, research use",
    "restricted": True,
    "kind": "ranking",
    "n_features": 136,
    "n_grades": 5,
}
_YANDEX = {
    "licence": "Yandex, research use",
    "restricted": True,
    "kind": "clicks",
    "n_documents": None,
    "n_features": 0,
    "n_grades": 0,
    "n_folds": 0,
    "normalization": "",
}


def _letor3(name: str, task: str, n_queries: int, n_documents: int) -> Entry:
    return Entry(
        name=name,
        label=name,
        title=f"LETOR 3.0 {name}: TREC 2003 Web track, {task}",
        n_queries=n_queries,
        n_documents=n_documents,
        how_to_get="Get the .Gov QueryLevelNorm archive from the LETOR 3.0 page.",
        folders=(name, f"Gov/QueryLevelNorm/2003_{name[:2].lower()}_dataset"),
        **_LETOR3,
    )


def _mslr(name: str, n_queries: int, n_documents: int) -> Entry:
    return Entry(
        name=name,
        label=name,
        title=f"{name}: queries of Bing with 136 features",
        n_queries=n_queries,
        n_documents=n_documents,
        n_folds=5,
        checksum=None,
        how_to_get=f"Get {name}.zip from the page of the Microsoft Learning to Rank Datasets.",
        folders=(name,),
        splits=_five_folds(),
        **_MSLR,
    )


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


_ENTRIES = [
    Entry(
        name="MQ2008",
        label="MQ2008",
        title="LETOR 4.0 MQ2008: TREC 2008 Million Query track on Gov2",
        n_queries=784,
        n_documents=15_211,
        checksum="e3efa06050a7fc2ef6c397bb90453f1d49826a874a4e252a2a36ce33a37ca092",
        how_to_get="Get MQ2008.rar (supervised ranking) from the LETOR 4.0 page.",
        folders=("MQ2008",),
        **_LETOR4,
    ),
    Entry(
        name="MQ2007",
        label="MQ2007",
        title="LETOR 4.0 MQ2007: TREC 2007 Million Query track on Gov2",
        n_queries=1_692,
        n_documents=69_623,
        checksum=None,
        how_to_get="Get MQ2007.rar (supervised ranking) from the LETOR 4.0 page.",
        folders=("MQ2007",),
        **_LETOR4,
    ),
    Entry(
        name="MQ2007_partial85",
        label="MQ2007, 85 % of documents",
        title="LETOR 4.0 MQ2007, 59,135 of its 69,623 documents; not comparable with published numbers",
        n_queries=1_692,
        n_documents=59_135,
        checksum="c5c6c65dbf736ea1825d5d3fa64475718e12cc7ecabca7753cdfd1cbf88dca1b",
        how_to_get="It is MQ2007 without the documents that its missing_docs.tsv.gz lists; prefer the whole MQ2007.",
        folders=("MQ2007_partial85",),
        # min-max over the documents that are left would move one value in ten away from the complete set's
        normalization="query min-max by the source, over the complete lists",
        **_LETOR4,
    ),
    Entry(
        name="ClueWeb09_webis",
        label="ClueWeb09 (Webis)",
        title="TREC Web track 2009-2012, judged documents of ClueWeb09; no validation split",
        source="Webis (Fröbe et al., SIGIR 2020), https://github.com/webis-de/"
        "sigir20-sampling-bias-due-to-near-duplicates-in-learning-to-rank, commit a203e65d",
        licence="CC BY-SA 4.0",
        restricted=False,
        kind="ranking",
        n_queries=61,
        n_documents=26_646,
        n_features=42,
        n_grades=5,
        n_folds=5,
        checksum="01ad2f233b69c8325dd1ac334123caa8b14fb861564f669fc35688d0202f3c21",
        how_to_get="Clone the repository with Git LFS; name its folder ClueWeb09 (Fold1 … Fold5) ClueWeb09_webis.",
        folders=("ClueWeb09_webis",),
        splits=_five_folds(validation=None),
    ),
    Entry(
        name="OHSUMED",
        label="OHSUMED",
        title="LETOR 2.0 OHSUMED: judged documents of MEDLINE, about 150 for each query",
        source=f"Microsoft Research LETOR 2.0 (Liu et al., 2007), {_LETOR}, from the OHSUMED collection (Hersh et al., "
        "1994); a public copy is in https://github.com/marcosfpr/ranklibpp, commit 6b92749f",
        licence="OHSUMED and LETOR 2.0, free for research",
        restricted=True,
        kind="ranking",
        n_queries=106,
        n_documents=16_140,
        n_features=25,
        n_grades=3,
        n_folds=5,
        checksum="e21bbb81365c017b7515607e9a6daab0bfe9aec9bbbb0b26c1d80193e28e937c",
        how_to_get="Clone ranklibpp and name its folder tests/benchmarks/OHSUMED/Data (Fold1 … Fold5) OHSUMED.",
        folders=("OHSUMED",),
        splits=_five_folds(),
    ),
    _letor3("TD2003", "topic distillation", 50, 49_058),
    _letor3("NP2003", "named page finding", 150, 148_657),
    _letor3("HP2003", "home page finding", 150, 147_606),
    _mslr("MSLR-WEB10K", 10_000, 1_200_192),
    _mslr("MSLR-WEB30K", 31_531, 3_771_125),
    Entry(
        name="MSLR-WEB30K_sample",
        label="MSLR-WEB30K, 90 queries",
        title="90 queries of MSLR-WEB30K's first fold: a check of shapes, not MSLR",
        n_queries=90,
        n_documents=9_189,
        n_folds=1,
        checksum="fe97262aca1e013453406336ffdde509b0738bb41eaa717b36ff9bbdba164ab9",
        how_to_get="A sample of MSLR-WEB30K's first fold; prefer the whole set.",
        folders=("MSLR-WEB30K_sample",),
        splits=(Split("train", "vali", "test"),),
        **_MSLR,
    ),
    Entry(
        name="Yahoo-LTRC-1",
        label="Yahoo! LTRC set 1",
        title="Yahoo! Learning to Rank Challenge, set 1",
        source="Yahoo! Webscope C14B (Chapelle and Chang, 2011); Webscope has moved to Yahoo Research",
        licence="Yahoo! Webscope, research agreement",
        restricted=True,
        kind="ranking",
        n_queries=29_921,
        n_documents=709_877,
        n_features=700,
        n_grades=5,
        n_folds=1,
        checksum=None,
        how_to_get="Ask for Webscope's C14B on the present page of data sets of Yahoo Research, with an account of a "
        "university; set1.train.txt, set1.valid.txt and set1.test.txt of its ltrc_yahoo.tar.bz2 go into Yahoo-LTRC-1.",
        folders=("Yahoo-LTRC-1", "ltrc_yahoo"),
        splits=(Split("set1.train", "set1.valid", "set1.test"),),
        sparse=True,
    ),
    Entry(
        name="Istella",
        label="Istella LETOR",
        title="Istella LETOR (full); no validation split",
        source="Istella and HPC Lab of ISTI-CNR (Dato et al., 2016), https://istella.ai/data/letor-dataset",
        licence="Istella LETOR licence, research use",
        restricted=True,
        kind="ranking",
        n_queries=33_018,
        n_documents=10_454_629,
        n_features=220,
        n_grades=5,
        n_folds=1,
        checksum=None,
        how_to_get="Accept the licence on Istella's page and get istella-letor.tar.gz; name its folder full Istella.",
        folders=("Istella", "istella-letor/full"),
        splits=(Split("train", None, "test"),),
    ),
    Entry(
        name="Yandex_60Q_click_models",
        label="Yandex, 60 queries",
        title="Click models fitted to Yandex sessions, 60 queries of 10 documents (BatchRank's collection)",
        source="fitted to the Yandex Relevance Prediction Challenge log (Zoghi et al., 2017)",
        n_queries=60,
        how_to_get="Published with the code of the BatchRank experiments (PyClickLambdas): 60Q.json.",
        folders=("Yandex_60Q_click_models",),
        files=("60Q.json",),
        checksum="53486c9fe658b0e548f11eaf8b0f6fa16dc171390ae93bd970aa876e2dd60ec4",
        **_YANDEX,
    ),
    Entry(
        name="Yandex_WSCD_sample",
        label="Yandex sessions, 20 queries",
        title="Raw search sessions of Yandex, 20 queries (a query in two regions counts twice), train and test",
        source="sample of the Yandex Relevance Prediction Challenge log, distributed with PyClick",
        n_queries=20,
        how_to_get="Published as example data of the PyClick library: trainSample, testSample (.xz).",
        folders=("Yandex_WSCD_sample",),
        files=("trainSample.xz", "testSample.xz"),
        checksum="6184c583b2fb227b58c05a0b6c6276467224cba833486a4e82aa9956f950c914",
        **_YANDEX,
    ),
    Entry(
        name="Yandex_60Q_aggregated",
        label="Yandex counts, 60 queries",
        title="Views and clicks of 60 queries of Yandex, by item and position; 38 rows have more clicks than views",
        source="counted from a log of Yandex for the bandits of Gauthier, Gaudel and Fromont (2021), "
        "https://github.com/gaudel/ranking_bandits, commit 1fe4a38b, under the MIT licence",
        n_queries=60,
        how_to_get="Published with the code of ranking_bandits: Yandex_filtered.zip's table, as counts.csv.xz.",
        folders=("Yandex_60Q_aggregated",),
        files=("counts.csv.xz",),
        checksum="3bd3bc1d089a55c9776677fa6ee71d53e880207affeb0b6309cc4c91201cf29d",
        **_YANDEX,
    ),
    Entry(
        name="Yandex_RelPred",
        label="Yandex Relevance Prediction",
        title="Yandex Relevance Prediction Challenge 2011: the click log BubbleRank's paper fits its models to",
        source="Yandex, https://academy.yandex.ru/events/data_analysis/relpred2011",
        n_queries=None,
        how_to_get="Yandex's page no longer offers it to everyone; whoever has it puts the log into Yandex_RelPred.",
        folders=("Yandex_RelPred",),
        files=("Clicklog.txt",),
        checksum=None,
        **_YANDEX,
    ),
    *(_synthetic(name, shape) for name, shape in synthetic.SHAPES.items()),
]

CATALOGUE: dict[str, Entry] = {it.name: it for it in _ENTRIES}
