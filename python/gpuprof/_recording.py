"""Start and stop the recording of this process."""
import ctypes
import errno
import os
import re
import sys
from typing import Any, Dict, Optional

from . import _native, _program

_CUDA_SUCCESS = 0
# Options that cannot hold once CUDA is in use, and why.
_AT_START = "it begins with the program's first context"
_AT_EXIT = "the trace of a late start is read by other commands: gpuprof finish, gpuprof html"
_NOT_LATE = {
    "hw_timeline": _AT_START, "stalls": _AT_START, "counters": _AT_START,
    "counters_interval": _AT_START, "roofline": _AT_START, "share": _AT_START,
    "toggle_signal": _AT_START, "html": _AT_EXIT, "summary": _AT_EXIT, "chrome": _AT_EXIT,
}
_OFF = (False, 0, "0", "none")
_AT_END = {"GPUPROF_CHROME": "none", "GPUPROF_SUMMARY": "none", "GPUPROF_HTML": "0"}
_WHY = {
    errno.EALREADY: "the recorder was loaded at the start of the program, with its options",
    errno.EEXIST: "gpuprof attach or another thread has begun one, with its own options",
    errno.EINPROGRESS: "gpuprof attach, gpuprof detach or another thread is at work; try again",
    errno.ECHILD: "this is a forked child of a process that was recorded so",
    errno.EPERM: "the program has elevated privileges",
}


class _Answer(ctypes.Structure):  # struct gp_attach_answer
    _fields_ = [("text", ctypes.c_char * 4096), ("path", ctypes.c_char * 4096)]


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
    even if --delay and the like would start it later. Any other program loads the recorder by this.
    The options are then those of gpuprof-run, with "_" for "-":
    ``start(output="run", stacks="all")``. A recorder that is loaded in this way does not see earlier
    launches and allocations, nor the program's calls of execve().

    If CUDA is in use already, a line on stderr names the trace, which is complete at the end of the
    program; no summary is printed then, and hardware counters cannot be had.

    Raises GpuprofError if the recorder cannot be loaded, or options come too late; TypeError if
    there is no such option."""
    if not _native.is_loaded() or _is_detached():
        _load(options)
    elif options:
        raise _program.GpuprofError(
            "the recorder is loaded already, and its options are fixed: give them to gpuprof-run,"
            " or to the first gpuprof.start()")
    _native.set_recording(True)


def _is_detached() -> bool:
    """gpuprof detach has ended the recording, or there was none."""
    return not _native.is_recording() and _native.trace_path() is None and _is_cuda_in_use()


def stop() -> None:
    """Pause the recording until start(). The trace is complete when the program ends."""
    _native.set_recording(False)


def _load(options: Any) -> None:
    _check(options)
    texts = {"GPUPROF_" + name.upper(): str(int(value) if isinstance(value, bool) else value)
             for name, value in options.items()}
    if _is_cuda_in_use():
        _load_late(options, texts)
        return
    os.environ.update(texts)
    # Its constructor names the library to the driver.
    library = ctypes.CDLL(_program.library())
    _native.attach(library._handle)  # pylint: disable=protected-access


def _load_late(options: Any, texts: Dict[str, str]) -> None:
    """The driver loads a recorder only at its first use: subscribe to CUPTI, as gpuprof attach."""
    for name, value in options.items():
        if name in _NOT_LATE and value not in _OFF:
            raise _program.GpuprofError(
                f"CUDA is in use already, too late for {name!r}: {_NOT_LATE[name]}; call"
                f" gpuprof.start() earlier, or run the program by: {command_line()}")
    own = {name: value for name, value in os.environ.items()
           if name.startswith("GPUPROF_") and name[len("GPUPROF_"):].lower() not in _NOT_LATE}
    words = [os.fsencode(f"{name}={value}") for name, value in {**own, **texts, **_AT_END}.items()]
    library, answer = ctypes.CDLL(_program.library()), _Answer()
    error = library.gpuprof_v1_attach((ctypes.c_char_p * (len(words) + 1))(*words, None),
                                      ctypes.byref(answer))
    text = answer.text.decode(errors="replace")
    is_shared = error in (-errno.EEXIST, -errno.EALREADY) and not options
    if error != 0 and not is_shared:
        why = _WHY.get(-error, text or os.strerror(-error))
        raise _program.GpuprofError(f"CUDA is in use already, and recording cannot begin: {why}")
    _native.attach(library._handle)  # pylint: disable=protected-access
    if not is_shared:
        path = os.fsdecode(answer.path) or "a trace that begins with the next context"
        print(f"{text}gpuprof: recording from now on, to {path}", file=sys.stderr)


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
