"""How loops are compiled: `kernel` decorates a function that Python calls, `part` one that kernels call.

The first call of a kernel compiles it, and numba keeps the machine code on disk. To keep a first use short, parts get
no machine code of their own but go into that of the kernels that call them, and a kernel's loop over replicas is
compiled to run side by side over the cores only when that has been seen to pay. This is the one place that decides
when a loop runs in parallel; with one numba thread none does. Both forms of a loop give the same bits.

Parts use classes inside numba, so they are tied to its pinned version; the tests say when they no longer fit.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from numba import _dynfunc, get_num_threads, jit  # pyright: ignore[reportAttributeAccessIssue]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering
from numba.core.types import Array, Boolean, NoneType, Number, Tuple, UniTuple, unliteral

from ol2r.cores import guard_loops
from ol2r.folders import cache_folder

guard_loops()

PAYS = 0.5
"""Seconds that a loop must have taken on one core before it is compiled to run on several."""
SHORT = 2e-5
"""Seconds of a call below which several cores cost more than they bring."""
_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Wait:
    """What this process has waited for compilation, and whom to tell of it."""

    def __init__(self):
        self.seconds, self.said = 0.0, False
        self.say: Callable[[str], object] | None = None

    def begin(self) -> None:
        if self.say is not None and not self.said:
            self.said, last = True, ""
            with suppress(OSError, ValueError):
                last = f"; last time this took {float(_record().read_text()):.0f} s in all"
            self.say(f"compiling loops, once on this machine{last}")


_wait = _Wait()


def _record() -> Path:
    """The file that says how many seconds the last process that compiled waited for it."""
    return cache_folder() / "compiled" / "seconds"


@contextmanager
def told(say: Callable[[str], object] | None) -> Iterator[None]:
    """Within this context, a process that has to compile says so in one line, and how long that took last time.

    Args:
        say: takes the line; None says nothing.
    """
    before = _wait.seconds
    _wait.say = say
    try:
        yield
    finally:
        _wait.say = None
        if _wait.seconds > before:
            with suppress(OSError):
                _record().parent.mkdir(parents=True, exist_ok=True)
                _record().write_text(f"{_wait.seconds:.1f}\n")


class Kernel:
    """A compiled loop: on one core at first, and over all of numba's threads once that pays."""

    def __init__(self, function: Callable, **options: Any):
        self.py_func = function
        self.one = _Kept(function, {"no_cfunc_wrapper": True, **options})
        side_by_side = "prange" in function.__code__.co_names
        self.many = _Kept(function, {"parallel": True, **options}) if side_by_side else None
        self.seconds, self.calls = 0.0, 0
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__

    def __call__(self, *arguments: Any, seconds: float = 0.0) -> Any:
        """Run the loop.

        Args:
            seconds: how long one core would take, if the caller knows.
        """
        if self.many is not None and self.pays(seconds):
            return self.many(*arguments)
        compiled, start = len(self.one.overloads), perf_counter()
        result = self.one(*arguments)
        if len(self.one.overloads) == compiled:
            self.seconds += perf_counter() - start
            self.calls += 1
        return result

    def pays(self, seconds: float = 0.0) -> bool:
        """Whether to run on several cores, for a call that would take one core so many seconds."""
        spent = self.seconds + seconds
        return spent > PAYS and spent > SHORT * self.calls and get_num_threads() > 1


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function that Python calls, with numba's options. Turns of a loop over `prange` must not depend on each
    other."""
    return Kernel(function, **options) if function else lambda function: Kernel(function, **options)


def part(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function that kernels and other parts call, with numba's options."""
    options = {"nopython": True, **options}
    return Part(function, options) if function else lambda function: Part(function, options)


_Dispatcher: Any = CPUDispatcher


@contextmanager
def _uncollected() -> Iterator[None]:
    """Put off the collection of garbage, which would look again and again through the many objects that stay."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Kept(_Dispatcher):
    """A function whose machine code is kept on disk."""

    def __init__(self, function: Callable, options: dict[str, Any]):
        pipeline = Compiler if options.get("parallel") else _LendingCompiler
        super().__init__(function, targetoptions={"nopython": True, **options}, pipeline_class=pipeline)
        self.enable_caching()

    def compile(self, sig: Any) -> Any:
        """Load the machine code for a call, or make it and keep it; numba's timers are left out."""
        with global_compiler_lock, self._compiling_counter:
            arguments, result = normalize_signature(sig)
            found = self.overloads.get(tuple(arguments))
            if found is None and (found := self._cache.load_overload(sig, self.targetctx)) is not None:
                self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
                self.add_overload(found)
            elif found is None:
                _wait.begin()
                start = perf_counter()
                with _uncollected():
                    found = self._compiler.compile(arguments, result)
                self.add_overload(found)
                self._cache.save_overload(sig, found)
                _wait.seconds += perf_counter() - start
            return found.entry_point


class Part(_Dispatcher):
    """A function that compiled code calls. Python may call it, too: it is then compiled by itself."""

    def __init__(self, function: Callable, options: dict[str, Any]):
        super().__init__(function, targetoptions=options | _NO_WRAPPERS, pipeline_class=_PartCompiler)
        self._options, self._alone = options, None

    def compile(self, sig: Any) -> Any:
        """Compile the part for a call by compiled code, without the timers that numba sets."""
        with global_compiler_lock, self._compiling_counter:
            arguments, result = normalize_signature(sig)
            found = self.overloads.get(tuple(arguments))
            if found is None:
                found = self._compiler.compile(arguments, result)
                self.add_overload(found)
            return found.entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Find the form of the part for a call by compiled code: one for all constants; numba has one for each."""
        return super().get_call_template([unliteral(each) for each in args], {k: unliteral(v) for k, v in kws.items()})

    def __call__(self, *arguments: Any) -> Any:
        if self._alone is None:
            self._alone = jit(**self._options)(self.py_func)
        return self._alone(*arguments)


class _Lending(Lower):
    """Code of a function whose arguments' arrays belong to the caller: it does not count who holds them, row by row. If
    it returns an array, which may share their memory, it counts."""

    def extract_function_arguments(self) -> list:
        self.fnargs = super().extract_function_arguments()
        if _holds_no_array(self.fndesc.restype):
            self.fnargs = [self._lent(*each) for each in zip(self.fndesc.argtypes, self.fnargs, strict=True)]
        return self.fnargs

    def _lent(self, type_: Any, value: Any) -> Any:
        if isinstance(type_, Array):
            for owner in range(2):  # the memory's counter, and the object that Python has for the array
                value = self.builder.insert_value(value, value.type.elements[owner](None), owner)
        elif isinstance(type_, Tuple | UniTuple):
            for i, each in enumerate(type_.types):
                value = self.builder.insert_value(value, self._lent(each, self.builder.extract_value(value, i)), i)
        return value


def _holds_no_array(type_: Any) -> bool:
    if isinstance(type_, Tuple | UniTuple):
        return all(_holds_no_array(each) for each in type_.types)
    return isinstance(type_, Number | Boolean | NoneType)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerLending(NativeLowering):
    _name = "ol2r_lower_lending"

    @property
    def lowering_class(self) -> type[Lower]:
        return _Lending


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(_LowerLending):
    _name = "ol2r_lower_part"

    def run_pass(self, state: Any) -> bool:
        state.library = library = _Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        # where sums may be added up in any order, the order is chosen here, once for all kernels
        library.optimised = bool(state.flags.fastmath.flags)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        # stands for the part where compiled code calls it; Python cannot call it
        name = state.func_id.func_name
        token = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(token, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=token)
        return True


class _LendingCompiler(CompilerBase):
    lowering: type[NativeLowering] = _LowerLending

    def define_pipelines(self) -> list:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(self.lowering if each is NativeLowering else each, name) for each, name in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


class _PartCompiler(_LendingCompiler):
    lowering = _LowerPart


class _Linked(JITCodeLibrary):
    """Code that kernels take in, of which no machine code is made."""

    optimised = True

    def _optimize_functions(self, ll_module: Any) -> None:
        if self.optimised:
            super()._optimize_functions(ll_module)
        else:
            ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        if self.optimised:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True
