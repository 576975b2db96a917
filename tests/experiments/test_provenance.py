import subprocess
import sys

import pytest
from fakes import Fake

from ol2r import target
from ol2r.experiments import provenance
from ol2r.experiments.cells import Job, Row
from ol2r.experiments.kinds.fit import Fit, RankNetFit
from ol2r.experiments.kinds.safety import Safety
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.kinds.start import Start
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.runner import in_memory


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, importable under a name of its own."""
    folder = tmp_path / "rooms"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text("x = 1\n")
    (folder / "inner" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    provenance.code_digest.cache_clear()
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "rooms"]:
        del sys.modules[name]
    provenance.code_digest.cache_clear()


def digest(*modules):
    provenance.code_digest.cache_clear()
    return provenance.code_digest(modules)


@pytest.mark.parametrize("changed", ["a.py", "inner/__init__.py", "inner/new.py"])
def test_the_code_digest_of_a_package_sees_every_module_in_it(package, changed):
    before = digest("rooms")
    (package / changed).write_text("x = 2\n")
    assert digest("rooms") != before


def test_the_code_digest_sees_named_modules_only(package):
    before = digest("rooms.a")
    (package / "inner" / "new.py").write_text("y = 1\n")
    assert digest("rooms.a") == before
    (package / "a.py").write_text("x = 2\n")
    assert digest("rooms.a") != before


def test_the_code_digest_does_not_depend_on_line_ends_or_place(package, tmp_path):
    before = digest("rooms")
    (package / "a.py").write_bytes(b"x = 1\r\n")
    (package / "data.csv").write_text("1")
    assert digest("rooms") == before


def test_a_module_that_is_not_there_is_an_error():
    with pytest.raises(ModuleNotFoundError, match="no source for ol2r"):
        digest("ol2r.nowhere")


_ROOMS = "compiling cores cost errors experiments folders frames parameters saved target"
AROUND = [f"ol2r.{room}" for room in _ROOMS.split()]
"""What surrounds a computation and makes none of its numbers."""


@pytest.mark.parametrize(
    ("kind", "apart"),
    [
        (Simulate, ()), (Timing, ()), (Fit, ()), (RankNetFit, ()),
        (Safety, ("ol2r.offline",)), (Start, ("ol2r.offline", "ol2r.bandits", "ol2r.theory")),  # fits are cells apart
    ],
)
def test_the_code_version_of_a_kind_sees_every_room_that_it_loads(kind, apart):
    code = f"import sys, {kind.__module__}; print(*[name for name in sys.modules if name.startswith('ol2r.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert kind.__module__ in kind.code
    seen = (*kind.code, *AROUND, *apart)
    packages = {"ol2r.theory"}  # whose own file has no code
    unseen = [name for name in loaded if not any(f"{name}.".startswith(f"{each}.") for each in seen)]
    assert set(unseen) <= packages


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Say what git answers about the package's source, which lies in a repository."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "ol2r").mkdir()

    def answer(reply):
        def run(words, **options):
            if isinstance(reply, Exception):
                raise reply
            return subprocess.CompletedProcess(words, 128, "", reply)

        monkeypatch.setattr(provenance.ol2r, "__file__", str(tmp_path / "ol2r" / "__init__.py"))
        monkeypatch.setattr(subprocess, "run", run)
        provenance.origin.cache_clear()
        provenance.tell_what_is_lost.cache_clear()

    yield answer
    monkeypatch.undo()
    provenance.origin.cache_clear()
    provenance.tell_what_is_lost.cache_clear()


MADE = {"device": "cpu", "engine": "numba", "seconds": 1.0, "core_seconds": 0.9, "shard_rows": 1}


@pytest.mark.parametrize(
    ("reply", "lost", "advice"),
    [
        ("fatal: detected dubious ownership in '/x'", "git does not trust the repository", "safe.directory"),
        ("fatal: bad object HEAD", "git cannot read the repository", "status"),
        (FileNotFoundError("git"), "git is not installed", "install"),
        (subprocess.TimeoutExpired("git", 10), "git does not answer", "status"),
    ],
)
def test_a_lost_commit_is_recorded_as_lost_and_said_once(asked, reply, lost, advice, tmp_path):
    asked(reply)
    record = provenance.provenance(Fake(), [Row(1, 0)], **MADE)
    assert (record["commit"], record["dirty"]) == (None, None) and record["lost"].startswith(lost)
    assert str(tmp_path) not in str(record)
    with pytest.warns(UserWarning, match=f"without their commit: {lost}.*{advice}"):
        in_memory([Job(Fake(), (Row(1, 0),))], {})
    in_memory([Job(Fake(), (Row(1, 0),))], {})  # a warning would be an error here


def test_outside_a_repository_there_is_no_commit_to_lose(asked, tmp_path):
    asked("fatal: not a git repository")
    (tmp_path / ".git").rmdir()
    record = provenance.provenance(Fake(), [Row(1, 0)], **MADE)
    assert (record["commit"], record["dirty"]) == (None, None) and "lost" not in record
    provenance.tell_what_is_lost()


def test_versions_name_every_library_a_trajectory_depends_on():
    assert set(provenance.versions()) == {"python", "numpy", "scipy", "pandas", "pyarrow", "numba", "torch"}
    assert "absent" not in provenance.versions().values()


def test_a_record_names_what_code_was_compiled_for_and_the_width_of_its_vectors():
    record = provenance.provenance(Fake(), [Row(1, 0)], **MADE)
    assert record["target"] == target.in_force()
    assert set(record["target"]) == {"compiled", "aten", "libm"} and all(record["target"].values())
