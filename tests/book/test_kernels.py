"""Kernels that are copies of one process: each has what is loaded, and none has anything of another chapter."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import build
import kernels
import nbformat
import pytest

FRONT = "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"


def ran(source: Path, code: str) -> str:
    """What a chapter of one cell prints."""
    source.write_text(f"{FRONT}```{{code-cell}} python\n{code}\n```\n")
    build.run_chapter(source, {})
    return nbformat.read(source.with_suffix(".ipynb"), as_version=4).cells[-1].outputs[0].text


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each kernel loads the library itself")
def test_the_library_is_loaded_before_the_first_cell(tmp_path):
    assert ran(tmp_path / "one.md", "import sys\nprint('ol2r.report.page' in sys.modules)") == "True\n"


def test_a_chapter_sees_nothing_of_another(tmp_path):
    code = "import os\nimport ol2r\nprint(hasattr(ol2r, 'left'), 'LEFT' in os.environ)\n"
    code += "ol2r.left = os.environ['LEFT'] = '1'"
    assert [ran(tmp_path / name, code) for name in ("one.md", "other.md")] == ["False False\n"] * 2


def test_a_kernel_has_the_environment_of_now_the_folder_of_its_page_and_not_the_code_of_the_book(tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_NOW", "now")
    code = "import os\nfrom pathlib import Path\nprint(os.environ.get('OL2R_NOW'), Path.cwd())"
    assert ran(tmp_path / "one.md", code) == f"now {tmp_path}\n"
    monkeypatch.delenv("OL2R_NOW")
    assert ran(tmp_path / "other.md", code) == f"None {tmp_path}\n"
    code = "import importlib.util\nprint(importlib.util.find_spec('build'))"
    assert ran(tmp_path / "third.md", code) == "None\n"


def test_a_kernel_that_ends_early_fails_its_chapter(tmp_path):
    with pytest.raises(RuntimeError, match="Kernel died"):
        ran(tmp_path / "one.md", "import os\nos._exit(3)")


@pytest.mark.skipif(os.name != "posix", reason="processes are asked by signals whether they run")
def test_a_kernel_ends_when_the_build_is_killed(tmp_path):
    (tmp_path / "one.md").write_text(
        f"{FRONT}```{{code-cell}} python\nimport os, time\nfrom pathlib import Path\n"
        "Path('told').write_text(str(os.getpid()))\nPath('told').rename('pid')\ntime.sleep(300)\n```\n"
    )
    program = "import sys\nfrom pathlib import Path\nimport build\nbuild.run_chapter(Path(sys.argv[1]), {})"
    paths = os.pathsep.join([str(Path(kernels.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    building = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "one.md")], env={**os.environ, "PYTHONPATH": paths}
    )
    pid = int(awaited(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text()))
    assert runs(pid)
    building.send_signal(signal.SIGKILL)
    building.wait()
    assert awaited(lambda: not runs(pid))


def awaited(happened, seconds: float = 60.0):
    """What a function gives once it is true."""
    until = time.monotonic() + seconds
    while not (found := happened()) and time.monotonic() < until:
        time.sleep(0.1)
    assert found
    return found


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
