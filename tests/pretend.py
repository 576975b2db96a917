"""A device that is not there: what torch code asks of a GPU can be counted, and recorded and replayed, without one.

Tensors say that they are on `DEVICE` and hold CPU values. What mixes devices raises as on a GPU. Every operation that
is more than another look at the same memory counts as one launch; every value that the host reads, and every value that
it sends, is counted with the line that did it. A recording replays the operations of a round on the memory they had, as
a CUDA graph would: what the host computed in between is not computed again.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ol2r.learners import Learner
from ol2r.simulation import Evaluation, simulate

DEVICE = torch.device("lazy:0")
"""A name that every build of torch has guards for and no kernels."""

_READS = {"aten._local_scalar_dense", "aten.nonzero", "aten.masked_select", "aten.equal"}
_ACROSS = {"aten.copy_", "aten._to_copy", "aten.index", "aten.index_put_", "aten.index_put", "aten._index_put_impl_"}
"""Operations that take tensors of two devices."""

_LOOK_UP = {"index", "index_select", "gather"}

_now: "Pretend | None" = None


class There(torch.Tensor):
    """A tensor on the device; its values are those of the CPU tensor `here`."""

    @staticmethod
    def __new__(cls, here: torch.Tensor):
        return torch.Tensor._make_wrapper_subclass(
            cls, here.size(), strides=here.stride(), storage_offset=here.storage_offset(), dtype=here.dtype,
            layout=here.layout, device=DEVICE,
        )  # fmt: skip

    def __init__(self, here: torch.Tensor):
        self.here = here

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self, *, tensor_contents=None):
        return f"There({self.here})"

    def tolist(self):
        _pretending().read("tolist")
        return self.here.tolist()

    def numpy(self, *, force=False):
        raise TypeError("can't convert a device tensor to numpy. Use Tensor.cpu() first")

    def __array__(self, *arguments, **options):
        raise TypeError("can't convert a device tensor to numpy. Use Tensor.cpu() first")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _pretending().run(func, args, kwargs or {})


class Recording:
    """Operations in the order in which the device met them; `replay` runs them again on the same memory."""

    def __init__(self):
        self.operations: list[tuple[Callable, tuple, dict, list[torch.Tensor]]] = []

    def replay(self) -> None:
        for func, args, kwargs, out in self.operations:
            again = _tensors(func(*args, **kwargs))
            for held, new in zip(out, again, strict=True):
                if held.data_ptr() != new.data_ptr():
                    held.copy_(new)


class PretendGraph:
    """A recording of `ol2r.replay` on the pretended device; the body runs while it is recorded."""

    def record(self, body: Callable[[], None]) -> None:
        with _pretending().record() as self._recording:
            body()

    def replay(self) -> None:
        self._recording.replay()


class Pretend(TorchDispatchMode):
    """While it lasts, `DEVICE` is a device.

    Attributes:
        launches: operations on the device; reads, sends: values that went from it to the host, and from the host to it.
        bytes: what all launches read and write, each by itself; of a tensor that is looked up in, only what is found.
        where: by line of the library, how many of each: "launch module:line".
        tape: of each launch the operation and its arguments' shapes.
    """

    def __init__(self):
        super().__init__()
        self.launches = self.reads = self.sends = self.bytes = 0
        self.where: Counter[str] = Counter()
        self.tape: list[tuple] = []
        self.recording: Recording | None = None

    def __enter__(self):
        global _now
        self._before, _now = _now, self
        self._made = torch.as_tensor, torch.tensor  # they would ask the device's own allocator
        torch.as_tensor, torch.tensor = (self._sending(make) for make in self._made)
        return super().__enter__()

    def __exit__(self, *error):
        global _now
        _now = self._before
        torch.as_tensor, torch.tensor = self._made
        return super().__exit__(*error)

    @staticmethod
    def _sending(make: Callable) -> Callable:
        def made(data, *, dtype=None, device=None, **options):
            if isinstance(data, torch.Tensor):
                out = data if dtype is None else data.to(dtype)
            else:
                out = make(data, dtype=dtype, **options)
            return out if device is None else out.to(device)

        return made

    @contextmanager
    def record(self) -> Iterator[Recording]:
        """Keep the operations inside the block."""
        self.recording = recording = Recording()
        yield recording
        self.recording = None

    def _note(self, what: str) -> None:
        frame = sys._getframe(2)
        while frame and not frame.f_globals.get("__name__", "").startswith("ol2r"):
            frame = frame.f_back
        self.where[f"{what} {frame.f_globals['__name__']}:{frame.f_lineno}" if frame else f"{what} elsewhere"] += 1

    def read(self, what: str) -> None:
        self.reads += 1
        self._note("read")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.run(func, args, kwargs or {})

    def run(self, func, args, kwargs):
        """One operation: counted, run on the CPU values, its result where the device would have it."""
        name, is_view = _known(func)
        tensors = _tensors((args, *kwargs.values()))
        there = [isinstance(tensor, There) for tensor in tensors]
        device = kwargs.get("device")
        to_it = device is not None and torch.device(device).type == DEVICE.type
        on_it = any(there) or to_it
        if on_it:
            self._count(name, is_view, args, tensors, there, device, to_it)

        wrapper: dict[int, There] = {}

        def here(leaf):
            if isinstance(leaf, There):
                wrapper[id(leaf.here)] = leaf
                return leaf.here
            return torch.device("cpu") if isinstance(leaf, torch.device) else leaf

        own_args = _changed(here, args)
        own_kwargs = {option: _changed(here, value) for option, value in kwargs.items()}
        out = func(*own_args, **own_kwargs)
        if on_it and not is_view:
            made = _tensors(out)
            self.bytes += _traffic(name, tensors, made)
            if self.recording is not None:
                self.recording.operations.append((func, own_args, own_kwargs, made))
        if name == "aten._to_copy":
            stays = to_it if device is not None else any(there)
        elif name in _ACROSS:
            stays = isinstance(args[0], There)
        else:
            stays = on_it

        def back(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            return wrapper[id(leaf)] if id(leaf) in wrapper else There(leaf) if stays else leaf

        return _changed(back, out)

    def _count(self, name, is_view, args, tensors, there, device, to_it) -> None:
        if not is_view:
            self.launches += 1
            self.tape.append((name, *(tuple(tensor.shape) for tensor in tensors)))
            self._note("launch")
        apart = [tensor for tensor, on_it in zip(tensors, there, strict=True) if not on_it and tensor.dim() > 0]
        if apart and any(there) and name not in _ACROSS:
            raise RuntimeError(f"Expected all tensors to be on the same device: {name}")
        if name.startswith("aten.index") and name in _ACROSS:
            if not isinstance(args[0], There):
                raise RuntimeError(f"{name}: a CPU tensor indexed by tensors of a device")
            if any(isinstance(each, torch.Tensor) and each.dtype == torch.bool for each in args[1]):
                self.read("mask")
        leaves = name == "aten._to_copy" and device is not None and not to_it
        if name in _READS or leaves or (name == "aten.copy_" and not there[0]):
            self.read(name)
        if (name == "aten._to_copy" and to_it and not any(there)) or (name == "aten.copy_" and there == [True, False]):
            self.sends += 1
            self._note("send")


def _tensors(values) -> list[torch.Tensor]:
    """The tensors among values, also inside lists and tuples."""
    if isinstance(values, (list, tuple)):
        return [tensor for value in values for tensor in _tensors(value)]
    return [values] if isinstance(values, torch.Tensor) else []


def _changed(change: Callable, value):
    """A value, or each of those inside lists and tuples, after a change."""
    if isinstance(value, (list, tuple)):
        return type(value)([_changed(change, each) for each in value])
    return change(value)


@cache
def _known(func) -> tuple[str, bool]:
    """The name of an operation, and whether it only looks at the same memory in another way."""
    aliases = [each.alias_info for each in func._schema.returns]
    is_view = func._schema.name == "aten::_unsafe_view" or any(a is not None and not a.is_write for a in aliases)
    return func._schema.name.replace("::", "."), is_view


def _traffic(name: str, tensors: list[torch.Tensor], made: list[torch.Tensor]) -> int:
    """Bytes that an operation reads and writes."""
    written = sum(each.nbytes for each in made)
    if name.removeprefix("aten.") in _LOOK_UP:
        tensors = tensors[1:]
        return 2 * written + sum(tensor.nbytes for tensor in tensors)
    return written + sum(tensor.nbytes for tensor in tensors)


def _pretending() -> Pretend:
    if _now is None:
        raise RuntimeError("the pretended device is there only inside Pretend()")
    return _now


class Round(NamedTuple):
    """What a device was asked for before a round: launches, reads, sends, and bytes moved by the launches."""

    launches: int
    reads: int
    sends: int
    bytes: int


def rounds_counted(dataset, replicas, make: Callable[[], Learner], evaluation: Evaluation) -> tuple[list[Round], list]:
    """Count what the rounds of `simulate` ask of the device: a count before each act of showing, and the whole tape.

    Args:
        make: makes the learner on `DEVICE`.
    """
    counts = []
    with Pretend() as seen:

        def mark(*shown):
            counts.append(Round(seen.launches, seen.reads, seen.sends, seen.bytes))

        simulate(dataset, replicas, make(), evaluation, observe=mark)
    return counts, seen.tape
