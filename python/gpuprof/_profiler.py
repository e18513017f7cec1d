"""One object that times ranges and prints reports, as other profilers have it."""
import json
import os
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union, overload

from . import _files, _memory, _native, _ranges, _recording, _work
from ._ranges import F
from ._timing import Timing, own_trace, timing, timings


_NAME_LENGTH = 80  # of a name in a report


def _line(name: str) -> str:
    """A name on one line, and not too long."""
    text = "".join(letter if letter.isprintable() else " " for letter in name[:_NAME_LENGTH + 1])
    return text if len(text) <= _NAME_LENGTH else text[:_NAME_LENGTH - 3] + "..."


def aligned(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lines of aligned columns; the first one is text."""
    cells = [[str(cell) for cell in row] for row in [titles, *rows]]
    widths = [max(len(row[at]) for row in cells) for at in range(len(titles))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width
                                                   in zip(row[1:], widths[1:]))]).rstrip()
             for row in cells]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _ms(time_ns: float) -> str:
    return f"{time_ns / 1e6:.3f}"


class Profiler:
    """Ranges with their times; get_profiler() has the one of this program.

    Times are those of gpuprof.timing(). Without a recording, ranges cost next to nothing, and the
    reports say that nothing is known."""

    def __init__(self) -> None:
        # by name: the number of the range, and when it began
        self._open: Dict[str, List[Tuple[int, int]]] = {}

    def profile(self, name: str, device: Any = None, **attributes: Any) -> _ranges.Range:
        """A range, for `with` and as a decorator; a device is an attribute like others."""
        if device is not None:
            attributes["device"] = device
        return _ranges.Range(name, **attributes)

    profile_kernel = profile

    @overload
    def profile_function(self, fn: F) -> F: ...
    @overload
    def profile_function(self, fn: None = None, *, operation: Optional[str] = None,
                         **attributes: Any) -> Callable[[F], F]: ...

    def profile_function(self, fn: Any = None, *, operation: Optional[str] = None,
                         **attributes: Any) -> Any:
        """A decorator, as gpuprof.profile(); `operation` is the name."""
        return _ranges.profile(fn, name=operation, **attributes)

    def start(self, name: str, **attributes: Any) -> None:
        """Begin a range that stop() ends, on any thread."""
        number = _native.start_range(name, **attributes)
        self._open.setdefault(name, []).append((number, time.perf_counter_ns()))

    def stop(self, name: str) -> int:
        """End the range that start() began last. Returns its time on the host in ns; get_timing()
        has the GPU's. Raises KeyError if there is none."""
        if not self._open.get(name):
            raise KeyError(f"no range {name!r} was started")
        number, start_ns = self._open[name].pop()
        duration_ns = time.perf_counter_ns() - start_ns
        _native.end_range(number)
        return duration_ns

    enable = staticmethod(_ranges.enable)
    disable = staticmethod(_ranges.disable)
    reset = staticmethod(_ranges.reset)
    track_tensor = staticmethod(_memory.track_tensor)
    untrack_tensor = staticmethod(_memory.untrack_tensor)

    def get_timing(self, name: str, *, wait: float = 0.0) -> Timing:
        """The times of a range, as gpuprof.timing()."""
        return timing(name, wait=wait)

    @_ranges.own_work
    def get_timing_report(self) -> str:
        """A line for each kernel or other range, the largest GPU time first: its calls, and the GPU time of a
        call in ms, or the time on the host if the range launched nothing. The total counts the
        work of nested ranges once."""
        if _recording.trace_path() is None:
            return str(_recording.not_recorded())
        trace = own_trace()
        found = sorted(timings(trace).values(), key=lambda one: -one.gpu_time_ns)
        rows = [[_line(one.name), one.calls, "GPU", _ms(one.gpu_time_ns),
                 _ms(one.gpu_time_ns / one.calls), _ms(min(one.gpu_times_ns)),
                 _ms(max(one.gpu_times_ns))] if one.gpu_time_ns else
                [_line(one.name), one.calls, "host", _ms(one.total_ns), _ms(one.mean_ns),
                 _ms(one.min_ns), _ms(one.max_ns)] for one in found]
        total = ["Total", sum(one.calls for one in found), "GPU",
                 _ms(_work.Work(trace).gpu_time_ns(_work.entries_since_reset(trace))), "", "", ""]
        return aligned(["Kernel or range", "Calls", "Time of", "Total (ms)", "Mean (ms)", "Min (ms)",
                        "Max (ms)"], [*rows, total])

    get_report = get_timing_report

    def get_tensor_info(self, name: str) -> _memory.Tensor:
        """A tracked tensor that is alive; KeyError if there is none of that name."""
        for tensor in _memory.tracked_tensors():
            if tensor.name == name:
                return tensor
        raise _memory.not_tracked(name)

    def get_total_memory(self) -> int:
        """The bytes of the tracked tensors, shared storages counted once."""
        return _memory.tracked_bytes(_memory.tracked_tensors())

    @_ranges.own_work
    def get_memory_report(self) -> str:
        """A line for each tracked tensor, in MB (10^6 bytes), the total, and the pools."""
        tensors = _memory.tracked_tensors()
        rows: List[List[Any]] = [
            [_line(tensor.name), "x".join(map(str, tensor.shape)), tensor.dtype,
             f"{tensor.bytes / 1e6:.3f}"] for tensor in tensors]
        rows.append(["Tracked, shared storages once", "", "",
                     f"{_memory.tracked_bytes(tensors) / 1e6:.3f}"])
        peak = self._peak_bytes()
        rows.append(["Peak of CUDA's allocations", "", "",
                     f"{peak / 1e6:.3f}" if peak is not None else "unknown"])
        for framework, sizes in _memory.pools().items():
            for key, size in sizes.items():
                rows.append([f"Pool of {framework}, {key.replace('_bytes', '')}", "", "",
                             f"{size / 1e6:.3f}" if size is not None else "unknown"])
        return aligned(["Tensor", "Shape", "Type", "MB"], rows)

    def get_full_report(self) -> str:
        """Both reports."""
        return f"{self.get_timing_report()}\n\n{self.get_memory_report()}"

    @_ranges.own_work
    def get_summary(self) -> Dict[str, Any]:
        """The times of the ranges by name, and the tracked tensors."""
        is_known = _recording.trace_path() is not None
        return {"ranges": {name: one._asdict() for name, one in timings(own_trace()).items()}
                if is_known else None,
                "tensors": [tensor._asdict() for tensor in _memory.tracked_tensors()],
                "tracked_bytes": self.get_total_memory(), "peak_bytes": self._peak_bytes(),
                "pools": _memory.pools()}

    @_ranges.own_work
    def get_bottlenecks(self, top_n: int = 5) -> List[Dict[str, Any]]:
        """The findings of gpuprof advice on this program so far, the largest saving first; none
        without a recording."""
        return own_trace().advice()[:top_n] if _recording.trace_path() is not None else []

    def print_summary(self) -> None:
        """Print both reports."""
        print(self.get_full_report())

    def print_bottlenecks(self, top_n: int = 5) -> None:
        """Print the findings: what happens, where, and what to change."""
        if _recording.trace_path() is None:
            print(_recording.not_recorded())
        for one in self.get_bottlenecks(top_n):
            print(f"{one['worth']}  {one['rule']}: {one['found']}\n  -> {one['change']}")

    @_ranges.own_work
    def export_json(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write get_summary() as JSON, with the events so far as a Chrome trace: `gpuprof html` and
        https://ui.perfetto.dev open the file. Returns the path. Raises ValueError if its name ends
        with .gz."""
        if os.fspath(path).endswith(".gz"):
            raise ValueError(f"the file is not compressed: {path} needs a name without .gz")
        summary = json.dumps(self.get_summary(), indent=1)
        if _recording.trace_path() is None:
            return _files.write(path, summary)
        return _files.append_members(own_trace().to_chrome(path), summary)

    @staticmethod
    def _peak_bytes() -> Optional[int]:
        if _recording.trace_path() is None:
            return None
        return max((event.in_use for event in _work.memory_events(own_trace())), default=None)


_profiler = Profiler()


def get_profiler(enabled: Optional[bool] = None) -> Profiler:
    """The profiler of this program. `enabled` also switches the ranges of the whole program on or
    off, as gpuprof.enable() and disable() do; None leaves them as they are."""
    if enabled:
        _ranges.enable()
    elif enabled is not None:
        _ranges.disable()
    return _profiler
