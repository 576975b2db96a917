"""Kernels that begin with what every chapter loads: they are copies of one process, which has loaded it once.

To load the library takes longer than some chapters run. Where a process cannot be copied safely, each kernel is a new
one, as Jupyter's own are. Kernels share nothing but what was loaded: no chapter sees what another one did.
"""

import gc
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from jupyter_client import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

import ol2r  # noqa: F401 - for this process and those it starts, sets what compilers read of the environment

LOADED = ("jupytext", "papermill", "ipykernel.kernelapp", "ipykernel.debugger", "ol2r.report.page")
"""What is loaded once: what `build` imports, which is imported in each process that it starts, and what chapters do."""
CONTEXT = get_context("forkserver" if sys.platform == "linux" else "spawn")
"""How processes begin: on other systems than Linux, the system's own libraries may break in a copy."""
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # else its debugger warns that it cannot be used
if sys.platform == "linux":
    CONTEXT.set_forkserver_preload(list(LOADED))

INLINE = "module://matplotlib_inline.backend_inline"
"""What shows figures of pyplot in a notebook; a kernel asks for it before it loads matplotlib."""

GARBAGE = (100_000, 20, 20)
"""How seldom Python looks for garbage. Its own numbers suit small programs; a page makes many objects, and needs nearly
all of them to the end."""


class Running:
    """A process, with those methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess):
        self._process = process
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self) -> int | None:
        """The exit status; None while the process runs."""
        return self._process.exitcode

    def wait(self) -> int | None:
        """The exit status, once the process has ended."""
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, if it still runs."""
        if self.poll() is None and self._process.pid:
            os.kill(self._process.pid, number)


class Provisioner(LocalProvisioner):
    """Starts a kernel in a process of `CONTEXT`."""

    async def launch_kernel(self, cmd: Sequence[str], *, env: Mapping[str, str], cwd: str | Path, **_: Any) -> Any:
        """See `LocalProvisioner.launch_kernel`; of the command only the options count, from the first on."""
        options = list(cmd[cmd.index("-f") :])
        process = CONTEXT.Process(target=serve, args=(options, dict(env), str(cwd)))
        process.start()
        self.process, self.pid, self.cwd = Running(process), process.pid, cwd
        return self.connection_info


class KernelManager(AsyncKernelManager):
    """Jupyter's, with kernels from `Provisioner`."""

    async def _async_pre_start_kernel(self, **options: Any) -> Any:
        self.provisioner = self.provisioner or Provisioner(kernel_spec=self.kernel_spec, parent=self)
        return await super()._async_pre_start_kernel(**options)


def serve(options: Sequence[str], env: Mapping[str, str], cwd: str) -> None:
    """Be a kernel until it is shut down, or until the process that started it ends.

    Args:
        options: of the kernel's program.
        env: the environment.
        cwd: the working folder.
    """
    import matplotlib
    from ipykernel.kernelapp import IPKernelApp

    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    matplotlib.rcParams["backend"] = env.get("MPLBACKEND", INLINE)  # which was loaded before anybody could ask for it
    sys.path[:] = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]  # chapters need none of it
    gc.freeze()  # what is loaded is no garbage
    gc.set_threshold(*GARBAGE)
    threading.Thread(target=_end_with_starter, daemon=True).start()
    IPKernelApp.launch_instance(options, parent_handle=os.getppid())


def _end_with_starter() -> None:
    if starter := parent_process():
        starter.join()
        os._exit(1)
