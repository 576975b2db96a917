"""Ctrl-C while joblib starts worker processes or waits for them.

This module must not know what they compute.
"""

import multiprocessing
import signal
import threading
from types import FrameType, TracebackType
from typing import Self

ENDS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that may interrupt Python as Ctrl-C does."""

LOOKS = 0.1
"""Seconds from one look whether there was an interruption to the next."""


class Interruption:
    """A block in which an interruption ends joblib's worker processes, and is raised where the block ends.

    A KeyboardInterrupt that is raised inside joblib may be lost: a destructor or a bare `except` drops it, or the
    clearing up fails on a process or thread that is half started. So joblib does its work undisturbed, and learns from
    the processes that have ended that there is nothing to wait for.

    Signals that do not raise KeyboardInterrupt before the block keep their meaning in it. A second interruption is
    raised at once.

    Attributes:
        heard: whether there was an interruption.
    """

    def __init__(self) -> None:
        self.heard = False
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self._signals: list[int] = []
        if threading.current_thread() is threading.main_thread():
            known = [getattr(signal, name) for name in ENDS if hasattr(signal, name)]
            self._signals = [each for each in known if signal.getsignal(each) is signal.default_int_handler]
        if self._signals:
            threading.Thread(target=self._end_processes, daemon=True).start()
        for each in self._signals:
            signal.signal(each, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if threading.current_thread() is threading.main_thread():
            for each in self._signals:
                signal.signal(each, signal.default_int_handler)
        if self.heard:
            raise KeyboardInterrupt from None

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.heard or self._over.is_set():
            signal.default_int_handler(number, frame)
        self.heard = True  # nothing else here, because the thread that is interrupted may hold any lock

    def _end_processes(self) -> None:
        from joblib.externals.loky.backend.process import LokyProcess

        while not self._over.wait(LOOKS):
            if self.heard:
                for each in multiprocessing.active_children():
                    if isinstance(each, LokyProcess):
                        each.terminate()
