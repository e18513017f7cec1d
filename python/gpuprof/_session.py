"""Sessions: the cost of a part of the program, and whether a change made it faster."""
import contextlib
import functools
import itertools
import math
import statistics
import time
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from . import _memory, _native, _work
from ._program import GpuprofError
from ._ranges import own_work
from ._recording import command_line, trace_path
from ._table import Table
from ._timing import own_trace
from ._trace import Span, Trace, length, union

_POLL_S = 0.05
_MOST_S = 10.0  # how long a result waits for the records of the GPU
_Z = 1.96       # of a 95 % interval
MB = 1e6        # bytes
_ATTRIBUTE = "gpuprof.session"  # tells a session from others, and from ranges, of its name
_numbers = itertools.count(1)


def _pools_mb(key: str) -> Optional[float]:
    """A figure of the frameworks' pools in MB; None if the program uses none of them."""
    sizes = [pool[key] for pool in _memory.pools().values()]
    known = [size for size in sizes if size is not None]
    return sum(known) / MB if known else None


class Session:
    """A measured part of the program. Its results are available after its end: reading the first
    one waits until the GPU's records have arrived. None: not known, such as without a recording.

    total_time_ms, cpu_time_ms: wall time; processor time of all threads
    allocated_memory_mb, reserved_memory_mb: of the pools of PyTorch, CuPy and JAX at the end of the
        session, with memory=True, in MB (10^6 bytes)
    iteration_times_ms: the calls of measure(), from the end of the previous one to their own end"""

    # the one of session() that has begun; those of measure() and of notebooks may be inside
    _active: Optional["Session"] = None

    def __init__(self, name: str, *, trace: Optional[str] = None, flame: Optional[str] = None,
                 memory: bool = False, may_nest: bool = False) -> None:
        self.name = name
        self.total_time_ms: Optional[float] = None
        self.cpu_time_ms: Optional[float] = None
        self.allocated_memory_mb: Optional[float] = None
        self.reserved_memory_mb: Optional[float] = None
        self.iteration_times_ms: List[float] = []
        self._files = {"chrome": trace, "folded": flame}
        self._has_memory = memory
        _native.Range(name)  # raises TypeError if that is no name
        self._iterations: Optional[str] = None
        self._may_nest = may_nest

    def __enter__(self) -> "Session":
        return self.begin(stacklevel=3)

    def begin(self, stacklevel: int) -> "Session":
        """As __enter__(); a warning is of the caller at this level, 1 is this function."""
        if not self._may_nest and Session._active is not None:
            raise GpuprofError(f"the session {Session._active.name!r} has not ended: end it first")
        if not _native.is_recording():
            warnings.warn("this program is not recorded: a session has no GPU times; run it by"
                          f" {command_line()}", stacklevel=stacklevel)
        elif not _native.is_enabled():
            warnings.warn("ranges are disabled: a session has no GPU times; call gpuprof.enable()",
                          stacklevel=stacklevel)
        self.__dict__.pop("_result", None)
        self._number = next(_numbers)
        self._range = _native.range(self.name, **{_ATTRIBUTE: self._number})
        self._range.__enter__()
        if not self._may_nest:
            Session._active = self
        self._wall_ns, self._cpu_ns = time.perf_counter_ns(), time.process_time_ns()
        return self

    def __exit__(self, *error: Any) -> None:
        if Session._active is self:
            Session._active = None
        self.total_time_ms = (time.perf_counter_ns() - self._wall_ns) / 1e6
        self.cpu_time_ms = (time.process_time_ns() - self._cpu_ns) / 1e6
        self._range.__exit__(*error)
        del self._range  # cannot be pickled
        if self._has_memory:
            self.allocated_memory_mb = _pools_mb("used_bytes")
            self.reserved_memory_mb = _pools_mb("reserved_bytes")
        self._write_files()

    def __repr__(self) -> str:
        return f"<gpuprof.Session {self.name!r}: {self.total_time_ms} ms>"

    def __getstate__(self) -> Dict[str, Any]:
        """For copies and pickles: with the results."""
        return {**self.__dict__, "_result": self._result}

    @own_work
    def _write_files(self) -> None:
        for format_, path in self._files.items():
            if path is not None and self._result is not None:
                self._result.trace().export(format_, path, *self._result.part)

    @functools.cached_property
    @own_work
    def _result(self) -> Optional["_Result"]:
        """What the trace says; None without a recording."""
        if self.total_time_ms is None:
            raise GpuprofError(f"the session {self.name!r} has not ended")
        if trace_path() is None:
            return None
        end = time.monotonic() + _MOST_S
        while True:
            result = _Result.read(own_trace(), self._number, self._iterations)
            if result is None or not result.pending or time.monotonic() >= end:
                return result
            time.sleep(_POLL_S)

    @property
    def pending(self) -> int:
        """Launches whose operations are not recorded: the results lack them."""
        return self._result.pending if self._result else 0

    @property
    def cuda_time_ms(self) -> Optional[float]:
        """The sum of the GPU operations that any thread launched in the session."""
        return self._result.gpu_ns / 1e6 if self._result else None

    @property
    def gpu_busy_ms(self) -> Optional[float]:
        """The time with at least one of them."""
        return self._result.busy_ns / 1e6 if self._result else None

    @property
    def peak_memory_mb(self) -> Optional[float]:
        """The most device memory that the process had allocated from CUDA, in MB (10^6 bytes)."""
        peak = self._result.peak_bytes if self._result else None
        return peak / MB if peak is not None else None

    @property
    def kernels(self) -> Optional[Table]:
        """A row for each kernel, copy and memset: calls, and times in ns; the longest first."""
        return self._result.kernels if self._result else None

    @property
    def bottlenecks(self) -> List[Dict[str, Any]]:
        """Shares of the session: time without a GPU operation, and the longest kernels."""
        if self._result is None or not self.total_time_ms:
            return []
        total_ns = self.total_time_ms * 1e6
        found: List[Dict[str, Any]] = [{
            "name": "GPU idle", "time_ms": max(0.0, total_ns - self._result.busy_ns) / 1e6}]
        found += [{"name": row["name"], "time_ms": row["total_ns"] / 1e6}
                  for row in self._result.kernels.rows()]
        return sorted(({**one, "percent": one["time_ms"] / self.total_time_ms * 100}
                       for one in found), key=lambda one: -one["time_ms"])

    @property
    @own_work
    def recommendations(self) -> List[Dict[str, Any]]:
        """The advice on the program so far (gpuprof advice)."""
        return self._result.trace().advice() if self._result else []

    @property
    def trace_path(self) -> Optional[str]:
        """The path of the Chrome trace of the session, with `trace`; else of the whole trace."""
        result = self._result if self.total_time_ms is not None else None
        return self._files["chrome"] or result.path if result else trace_path()

    @property
    @own_work
    def flame_graph(self) -> Any:
        """The call stacks of the session by GPU time, as Trace.flame() has them; with `flame`, the
        path of a file for flamegraph.pl and speedscope."""
        if self._result is None:
            return None
        return self._files["folded"] or self._result.trace().flame(part=self._result.part)


class _Result(NamedTuple):
    # of the trace
    path: str
    calls: List[_work.Call]
    pending: int
    gpu_ns: int
    busy_ns: int
    peak_bytes: Optional[int]
    kernels: Table
    # the options of gpuprof export
    part: List[str]
    iterations_ms: List[float]

    def trace(self) -> Trace:
        """The trace, as it is now."""
        return Trace(self.path)

    @classmethod
    def read(cls, trace: Trace, number: int, iterations: Optional[str]) -> Optional["_Result"]:
        """The result of a session; None if it was not recorded."""
        entries = list(_work.entries(trace))
        fields = f'{{"{_ATTRIBUTE}":{number}}}'
        span = next(((entry.start_ns, entry.end_ns) for entry in entries
                     if entry.fields == fields), None)
        if span is None:
            return None
        work = _work.Work(trace)
        calls = work.launched_in(span)
        operations = [operation for call in calls for operation in call.operations]
        first_ns = next(row["start_ns"] for row in trace.tables["others"].rows()
                        if row["kind"] == "process")
        return cls(
            path=trace.path, calls=calls, pending=sum(call.is_pending for call in calls),
            gpu_ns=length(operation.span for operation in operations),
            busy_ns=length(union(operation.span for operation in operations)),
            peak_bytes=work.memory(None, [span]).peak_bytes,
            kernels=_by_kernel(operations),
            part=["--start", f"{max(0, span[0] - first_ns)}ns", "--end", f"{span[1] - first_ns}ns"],
            iterations_ms=_iterations([(entry.start_ns, entry.end_ns) for entry in entries
                                       if entry.name == iterations], work, span))


def _by_kernel(operations: List[_work.Operation]) -> Table:
    times: Dict[str, List[int]] = {}
    for operation in operations:
        times.setdefault(operation.name, []).append(operation.span[1] - operation.span[0])
    rows: List[Dict[str, Any]] = [
        {"name": name, "calls": len(of), "total_ns": sum(of), "mean_ns": statistics.fmean(of),
         "min_ns": min(of), "max_ns": max(of)} for name, of in times.items()]
    rows.sort(key=lambda row: -row["total_ns"])
    return Table.of(rows, ["name", "calls", "total_ns", "mean_ns", "min_ns", "max_ns"])


def _iterations(spans: List[Span], work: _work.Work, within: Span) -> List[float]:
    """The time of each call: from the end of the previous one to its own, on host or GPU."""
    times = []
    spans = [span for span in spans if within[0] <= span[0] <= within[1]]
    before_ns = spans[0][0] if spans else 0
    for span in spans:
        ends = [operation.span[1] for call in work.launched_in(span)
                for operation in call.operations]
        end_ns = max([span[1], *ends])
        times.append((end_ns - before_ns) / 1e6)
        before_ns = end_ns
    return times


def session(name: str, *, trace: Optional[str] = None, flame: Optional[str] = None,
            memory: bool = False) -> Session:
    """A context manager that measures its block; its results are available after the block.

    `trace` and `flame` are paths of files that are written at its end: a Chrome trace of the
    session, and its call stacks. `memory` reads the pools of PyTorch, CuPy and JAX at the end."""
    return Session(name, trace=trace, flame=flame, memory=memory)


def measure(fn: Callable[..., Any], *args: Any, warmup: int = 5, iterations: int = 20,
            **kw: Any) -> Session:
    """Call a function some times unmeasured, then `iterations` times in a session.

    The program is not synchronized: an iteration lasts from the end of the previous one to its own
    last GPU operation. Raises ValueError if `iterations` is below 1 or
    `warmup` below 0."""
    if iterations < 1 or warmup < 0:
        raise ValueError("at least one iteration is measured, after 0 or more of warm-up, not"
                         f" {iterations} after {warmup}")
    name = getattr(fn, "__qualname__", type(fn).__name__)
    found = Session(f"measure {name}", may_nest=True)
    found._iterations = f"iteration of {name}"
    with contextlib.ExitStack() as stack:
        # The calls come from one line: the recorder takes longer for the first one of a call stack.
        for number in range(-warmup, iterations):
            if number == 0:
                stack.push(found.begin(stacklevel=3))
            with _native.range(found._iterations if number >= 0 else f"warm-up of {name}"):
                fn(*args, **kw)
    if found._result is not None:
        found.iteration_times_ms = found._result.iterations_ms
    return found


class Comparison(NamedTuple):
    """Two sessions, the second compared with the first. None: not known, as without iterations.

    speedup: the time of an iteration of a / that of one of b: above 1, b is faster
    low, high: its 95 % interval: if 1 is between them, no difference was shown; None: too few
        iterations
    memory_mb: the peak of b less that of a, in MB (10^6 bytes)
    kernels: a row for each kernel: calls and total_ns of both, and the difference"""
    speedup: Optional[float]
    low: Optional[float]
    high: Optional[float]
    memory_mb: Optional[float]
    kernels: Table


def _speedup(a: List[float], b: List[float]) -> Tuple[Optional[float], Optional[float],
                                                           Optional[float]]:
    """The median of the ratios of each iteration of a to each one of b, and the bounds of its
    interval: the rank sum test (Mann, Whitney) rejects ratios outside of them. One slow iteration
    changes them little; it would change a mean much."""
    ratios = sorted(one / other for one in a for other in b)
    if not ratios:
        return None, None, None
    half = _Z * math.sqrt(len(ratios) * (len(a) + len(b) + 1) / 12)
    rank = math.floor(len(ratios) / 2 - half)
    bounds = (ratios[rank], ratios[-1 - rank]) if rank >= 0 else (None, None)
    return (statistics.median(ratios), *bounds)


def compare(a: Session, b: Session) -> Comparison:
    """Compare two sessions of measure(). Raises TypeError if one is no session, GpuprofError if one
    has not ended."""
    for one in (a, b):
        if not isinstance(one, Session):
            raise TypeError(f"compare() takes two sessions, not {type(one)}")
    peaks = (a.peak_memory_mb, b.peak_memory_mb)
    rows: Dict[str, Dict[str, Any]] = {}
    for letter, of in (("a", a), ("b", b)):
        for row in of.kernels.rows() if of.kernels else ():
            both = rows.setdefault(row["name"], dict.fromkeys(
                ("a_calls", "b_calls", "a_ns", "b_ns"), 0))
            both[f"{letter}_calls"], both[f"{letter}_ns"] = row["calls"], row["total_ns"]
    table: List[Dict[str, Any]] = [
        {"name": name, **row, "difference_ns": row["b_ns"] - row["a_ns"]}
        for name, row in rows.items()]
    table.sort(key=lambda row: -abs(row["difference_ns"]))
    return Comparison(
        *_speedup(a.iteration_times_ms, b.iteration_times_ms),
        peaks[1] - peaks[0] if peaks[0] is not None and peaks[1] is not None else None,
        Table.of(table, ["name", "a_calls", "b_calls", "a_ns", "b_ns", "difference_ns"]))
