"""Start and stop the recording of this process."""
import ctypes
import os
import re
import sys
from typing import Any, Optional

from . import _native, _program

_CUDA_SUCCESS = 0


def is_active() -> bool:
    """Whether this process is recorded now."""
    return _native.is_recording()


def trace_path() -> Optional[str]:
    """The path of this process's trace; None before its first use of CUDA or of a range."""
    return _native.trace_path()


def not_recorded() -> _program.GpuprofError:
    """The error of what needs a recording."""
    return _program.GpuprofError(
        "this program is not recorded, or has not used CUDA or a range yet: run it by"
        f" {command_line()}, or call gpuprof.start() first")


def command_line() -> str:
    """The command that runs this program under the recorder."""
    has_script = sys.argv[0].endswith(".py")
    return "python -m gpuprof run " + (" ".join(sys.argv) if has_script else "PROGRAM")


def start(**options: Any) -> None:
    """Start the recording.

    In a program that gpuprof-run started, this resumes the recording after stop(), and starts it
    even if --delay and the like would start it later. Any other program must call start() before it
    uses CUDA, because this loads the recorder. The options are then those of gpuprof-run, with "_"
    for "-": ``start(output="run", stacks="all")``. A recorder that is loaded in this way does not
    see earlier launches, nor the program's calls of execve().

    Raises GpuprofError if CUDA is in use already, or if options come too late; TypeError if there
    is no such option."""
    if not _native.is_loaded():
        _load(options)
    elif options:
        raise _program.GpuprofError(
            "the recorder is loaded already, and its options are fixed: give them to gpuprof-run,"
            " or to the first gpuprof.start()")
    _native.set_recording(True)


def stop() -> None:
    """Pause the recording until start(). The trace is complete when the program ends."""
    _native.set_recording(False)


def _load(options: Any) -> None:
    if _is_cuda_in_use():
        raise _program.GpuprofError(
            "CUDA is in use already, and the driver loads a recorder only at its first use: call"
            f" gpuprof.start() earlier, or run the program by: {command_line()}")
    _check(options)
    for name, value in options.items():
        text = str(int(value) if isinstance(value, bool) else value)
        os.environ["GPUPROF_" + name.upper()] = text
    # Its constructor names the library to the driver.
    library = ctypes.CDLL(_program.library())
    _native.attach(library._handle)  # pylint: disable=protected-access


def _check(options: Any) -> None:
    if not options:
        return
    from ._reader import run

    known = re.findall(r" --([\w-]+)", run(["run", "--help"]).decode())
    for name in options:
        if name.replace("_", "-") not in known:
            raise TypeError(f"start() has no option {name!r}: gpuprof run --help lists them")


def _is_cuda_in_use() -> bool:
    """Whether the driver is loaded and initialized; that is not done by asking."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        if "libcuda.so" not in maps.read():
            return False
    count = ctypes.c_int()
    try:
        result: int = ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(count))
        return result == _CUDA_SUCCESS
    except (OSError, AttributeError):
        return False
