import gc
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit, prange, types

from ol2r import compiling
from ol2r.compiling import kernel, part
from ol2r.ranking.compiled.scalars import dot


@part
def _root(x):
    return np.sqrt(x)


@part
def _roots(values):
    out = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        out[i] = _root(values[i])
    return out


@kernel
def _sums(values, out):
    for r in prange(out.shape[0]):
        for root in _roots(values[r]):
            out[r] += root


def _summed(**known) -> np.ndarray:
    out = np.zeros(3)
    _sums(np.arange(12.0).reshape(3, 4), out, **known)
    return out


EXPECTED = np.sqrt(np.arange(12.0)).reshape(3, 4).sum(axis=1)


@pytest.fixture
def two_threads(monkeypatch):
    monkeypatch.setattr(compiling, "get_num_threads", lambda: 2)
    monkeypatch.setattr(_sums, "seconds", 0.0)
    monkeypatch.setattr(_sums, "calls", 0)


def test_parts_go_into_kernels_and_have_no_machine_code_of_their_own():
    # numba's inner classes, on which `part` rests: if a new version moves them, this says so
    np.testing.assert_allclose(_summed(), EXPECTED, rtol=1e-15)
    _roots.compile((types.float64[::1],))  # as a kernel does that is not kept from an earlier run
    for each in (_roots, _root):
        assert each.overloads, "a part compiles those that it calls"
        for found in each.overloads.values():
            assert isinstance(found.library, compiling._Linked)
            assert not found.library.codegen._engine.is_symbol_defined(found.fndesc.llvm_func_name)


def test_python_may_call_a_part():
    assert _root(4.0) == 2.0
    assert dot(np.ones(3, dtype=np.float32), np.full(3, 2.0, dtype=np.float32)) == 6.0


@part
def _power(x, n):
    return x**n


def test_a_part_has_one_form_for_all_constants():
    @njit
    def powers(x, n):
        return _power(x, 1) + _power(x, 2) + _power(x, n)

    assert powers(2.0, 3) == 14.0
    assert len(_power.overloads) == 1


@part
def _first_above(row, known):
    values, least = known
    for i in range(row.shape[0]):
        if row[i] > least and values[i] > least:
            return i
    return -1


@kernel
def _walks(values, out):
    for r in prange(out.shape[0]):
        table, place = values[r], 0
        known = (table[0], 1.0)
        while place < table.shape[0]:
            found = _first_above(table[place], known)
            if found < 0:
                break
            known = (table[found], 2.0)
            out[r] += found
            place += 1


def test_a_kernel_does_not_count_who_holds_the_arrays_of_its_caller():
    cube, line = types.float64[:, :, ::1], types.float64[::1]
    text = _walks.one._compiler.compile((cube, line), None).library.get_llvm_str()
    loop = text[text.index("define") : text.index("define", text.index("define") + 1)]
    assert "_walks" in loop.splitlines()[0]
    assert "NRT_" not in loop


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_after_compilation_as_before_and_not_during_it(monkeypatch, collects):
    fresh, seen = compiling.Kernel(_sums.py_func), []
    monkeypatch.setattr(fresh.one._cache, "load_overload", lambda *_: None)
    compiled = fresh.one._compiler.compile

    def compile_(*arguments):
        seen.append(gc.isenabled())
        return compiled(*arguments)

    monkeypatch.setattr(fresh.one._compiler, "compile", compile_)
    try:
        gc.enable() if collects else gc.disable()
        fresh(np.arange(12.0).reshape(3, 4), np.zeros(3))
        assert gc.isenabled() == collects
    finally:
        gc.enable()
    assert seen == [False]


@part
def _after(values, n):
    return values[n:]


@kernel
def _rest(values):
    return _after(values, 1)


def test_an_array_that_a_kernel_returns_keeps_its_memory():
    values = np.arange(5.0)
    rest = _rest(values)
    np.testing.assert_array_equal(rest, values[1:])
    assert np.shares_memory(rest, values)
    assert rest.base is not None


def test_a_loop_runs_on_one_core_until_several_pay(two_threads):
    _summed()
    assert _sums.many is not None and not _sums.pays()
    assert _sums.pays(seconds=2 * compiling.PAYS)
    _sums.seconds, _sums.calls = 2 * compiling.PAYS, 10
    assert _sums.pays()
    _sums.calls = 10**6  # calls so short that threads cost more than they bring
    assert not _sums.pays()


def test_with_one_thread_no_loop_runs_on_several(two_threads, monkeypatch):
    monkeypatch.setattr(compiling, "get_num_threads", lambda: 1)
    assert not _sums.pays(seconds=1e9)


def test_a_loop_on_several_cores_gives_the_same_bits(two_threads):
    many = _summed(seconds=1e9)
    assert _sums.many.overloads, "it did run on several"
    assert many.tobytes() == _summed().tobytes()


def test_time_that_compilation_takes_counts_for_nothing(two_threads, monkeypatch):
    fresh = compiling.Kernel(_sums.py_func)
    fresh(np.arange(12.0).reshape(3, 4), np.zeros(3))
    assert fresh.calls == 0 and fresh.seconds == 0.0


SAID = """
import sys, json
import numpy as np
from ol2r.compiling import told, kernel

@kernel
def double(x):
    return 2 * x

@kernel
def treble(x):
    return 3 * x

lines = []
with told(lines.append):
    double(1.0)
    treble(1.0)
print(json.dumps(lines))
"""


def _said(folder: Path, text: str) -> list[str]:
    script = folder / "script.py"
    if not script.exists() or script.read_text() != text:
        script.write_text(text)
    env = {"XDG_CACHE_HOME": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=env)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_compilation_is_told_once_with_what_it_took_last_time(tmp_path):
    assert _said(tmp_path, SAID) == ["compiling loops, once on this machine"]
    assert _said(tmp_path, SAID) == []  # kept
    (tmp_path / "ol2r" / "compiled" / "seconds").write_text("12.6\n")
    changed = SAID.replace("3 * x", "x + x + x")
    assert _said(tmp_path, changed) == ["compiling loops, once on this machine; last time this took 13 s in all"]
