"""GPU work by the call that launched it: what belongs to a stretch of a program."""
import functools
import gc
import json
from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate
from typing import (Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set,
                    Tuple)

from ._ranges import CPU_TIME, F, RESET
from ._trace import Span, Trace, length, union

_AUTOGRAD = "pt_autograd"  # the threads in which PyTorch runs backward passes


class Operation(NamedTuple):
    """An operation of the GPU."""
    name: str
    span: Span
    # "kernel", "copy", "memset", or "graph": one whose nodes were not recorded
    kind: str
    bytes: int


class Call(NamedTuple):
    """A call of CUDA's API, with the operations that it launched."""
    start_ns: int
    end_ns: int
    tid: int
    operations: List[Operation]
    # it launched, and its operation is not recorded yet, or lost
    is_pending: bool
    # it launches a kernel; it launches a graph; it waits for the GPU
    is_kernel: bool
    is_graph: bool
    is_wait: bool


class Entry(NamedTuple):
    """One time that a range was open."""
    name: str
    tid: int
    start_ns: int
    end_ns: int
    # attributes as JSON
    fields: Optional[str]
    # of its thread; None: not recorded
    cpu_ns: Optional[int]


class MemoryUse(NamedTuple):
    """Device memory in a stretch of time; a peak of None: no allocation was recorded at all."""
    allocations: int
    allocated_bytes: int
    peak_bytes: Optional[int]
    # allocated and not freed in it, by all threads
    left_bytes: int


def _without_collection(fn: F) -> F:
    """A decorator of functions that make an object for each event, but no cycles: garbage
    collection would take longer than the functions."""
    @functools.wraps(fn)
    def wrapper(*args: Any, **kw: Any) -> Any:
        is_on = gc.isenabled()
        gc.disable()
        try:
            return fn(*args, **kw)
        finally:
            if is_on:
                gc.enable()

    return wrapper  # type: ignore[return-value]


def entries(trace: Trace) -> Iterator[Entry]:
    """The ranges of a trace that have ended, without those of processor times."""
    rows = [row for row in trace.ranges.rows() if row["kind"] != "mark" and not row["error"]]
    cpu_times = _cpu_times(rows)
    for at, row in enumerate(rows):
        if row["name"] != CPU_TIME:
            yield Entry(row["name"], row["tid"], row["start_ns"],
                        row["start_ns"] + row["duration_ns"], row["fields"], cpu_times.get(at))


def _cpu_times(rows: List[Dict[str, Any]]) -> Dict[int, int]:
    """Processor times by the number of a row: the value of the range at the end of the row."""
    found: Dict[int, int] = {}
    open_: List[Tuple[int, int, int]] = []
    if not any(row["name"] == CPU_TIME for row in rows):
        return found
    for tid, start_ns, minus_ns, at in sorted(
            (row["tid"], row["start_ns"], -row["duration_ns"], at)
            for at, row in enumerate(rows) if row["kind"] == "range"):
        while open_ and (open_[-1][0] != tid or open_[-1][1] < start_ns):
            open_.pop()
        if rows[at]["name"] != CPU_TIME:
            open_.append((tid, start_ns - minus_ns, at))
        elif open_:
            found[open_[-1][2]] = json.loads(rows[at]["fields"] or "{}").get("ns")
    return found


def entries_since_reset(trace: Trace) -> List[Entry]:
    """Those that began after the last reset."""
    from_ns = max((row["start_ns"] for row in trace.ranges.rows()
                   if row["kind"] == "mark" and row["name"] == RESET), default=0)
    return [entry for entry in entries(trace) if entry.start_ns >= from_ns]


def inside(calls: Sequence[Call], spans: Sequence[Span]) -> Iterator[Tuple[List[int], Call]]:
    """The calls that begin inside spans, each with the numbers of these, the innermost one last.
    Calls are in order of their start."""
    order = sorted(range(len(spans)), key=lambda number: (spans[number][0], -spans[number][1]))
    open_: List[int] = []
    at = 0
    for call in calls:
        while at < len(order) and spans[order[at]][0] <= call.start_ns:
            open_.append(order[at])
            at += 1
        open_ = [number for number in open_ if spans[number][1] >= call.start_ns]
        if open_:
            yield open_, call


def during(calls: Sequence[Call], spans: Iterable[Span]) -> List[Call]:
    """The calls that begin in one of these stretches; calls are in order of their start, and the
    stretches do not overlap."""
    return [call for start_ns, end_ns in spans
            for call in calls[bisect_left(calls, (start_ns,)):bisect_left(calls, (end_ns + 1,))]]


class Inside(NamedTuple):
    """What the threads of the entries of a range launched in them."""
    entries: List[Entry]
    calls: List[Call]
    # of the operations, by entry; an entry inside another one of the name has its own
    spans: List[List[Span]]


class Work:
    """The work of a trace."""

    @_without_collection
    def __init__(self, trace: Trace) -> None:
        # by thread, in order of their start
        self.calls: Dict[int, List[Call]] = defaultdict(list)
        for call in _calls(trace):
            self.calls[call.tid].append(call)
        threads = {row["tid"]: row["name"] for row in trace.tables["others"].rows()
                   if row["kind"] == "thread"}
        # the calls of autograd's threads
        self.autograd = sorted(call for tid, calls in self.calls.items()
                               if (threads.get(tid) or "").startswith(_AUTOGRAD) for call in calls)
        self._memory = memory_events(trace)

    def launched_in(self, span: Span) -> List[Call]:
        """The calls of all threads that begin in a stretch of time."""
        return sorted(call for calls in self.calls.values() for call in during(calls, [span]))

    @_without_collection
    def by_range(self, of: Iterable[Entry]) -> Dict[str, Inside]:
        """What was launched in these entries, by their name."""
        found: Dict[str, Inside] = {}
        threads: Dict[int, List[Tuple[Span, Inside, int]]] = defaultdict(list)
        for entry in of:
            one = found.setdefault(entry.name, Inside([], [], []))
            threads[entry.tid].append(((entry.start_ns, entry.end_ns), one, len(one.entries)))
            one.entries.append(entry)
            one.spans.append([])
        for tid, stretches in threads.items():
            for numbers, call in inside(self.calls[tid], [span for span, _, _ in stretches]):
                for one, at in {id(stretches[number][1]): stretches[number][1:]
                                for number in numbers}.values():
                    one.calls.append(call)
                    one.spans[at] += [operation.span for operation in call.operations]
        return found

    def use(self, span: Span) -> Tuple[float, int, int, Optional[int], int, int]:
        """Of all threads in a stretch of time: GPU time in ms, kernel launches, waits for the GPU,
        the most device memory, the bytes that were allocated and not freed, pending launches."""
        calls = self.launched_in(span)
        memory = self.memory(None, [span])
        gpu_ns = length(operation.span for call in calls for operation in call.operations)
        return (gpu_ns / 1e6, sum(call.is_kernel for call in calls),
                sum(call.is_wait for call in calls), memory.peak_bytes, memory.left_bytes,
                sum(call.is_pending for call in calls))

    def gpu_time_ns(self, of: Iterable[Entry]) -> int:
        """The GPU time of what the threads of these ranges launched inside, each counted once."""
        spans: Dict[int, List[Span]] = defaultdict(list)
        for entry in of:
            spans[entry.tid].append((entry.start_ns, entry.end_ns))
        return length(operation.span for tid, stretches in spans.items()
                      for call in during(self.calls[tid], union(stretches))
                      for operation in call.operations)

    def memory(self, tids: Optional[Set[int]], spans: Iterable[Span]) -> MemoryUse:
        """Device memory in stretches of time: allocations of these threads (None: of all), and the
        most that the process had."""
        allocations = allocated_bytes = left = peak = 0
        for start_ns, end_ns in union(spans):
            first = bisect_left(self._memory, (start_ns,))
            within = self._memory[first:bisect_left(self._memory, (end_ns + 1,))]
            in_use = [one.in_use for one in (self._memory[first - 1:first] if first else [])]
            peak = max([peak, *in_use, *(one.in_use for one in within)])
            mine = [one.bytes for one in within
                    if one.bytes > 0 and (tids is None or one.tid in tids)]
            allocations += len(mine)
            allocated_bytes += sum(mine)
            left += sum(one.bytes for one in within)
        return MemoryUse(allocations, allocated_bytes, peak if self._memory else None, left)


class MemoryEvent(NamedTuple):
    """An allocation or a free of device memory."""
    time_ns: int
    # below 0: freed
    bytes: int
    tid: int
    # by the process, after it
    in_use: int


def memory_events(trace: Trace) -> List[MemoryEvent]:
    """The allocations and frees of device memory, in order of time."""
    rows = sorted((row["start_ns"], row["bytes"] if row["kind"] == "allocation" else -row["bytes"],
                   row["tid"] or 0) for row in trace.memory.rows() if row["memory"] == "device")
    in_use = accumulate(bytes_ for _, bytes_, _ in rows)
    return [MemoryEvent(*row, now) for row, now in zip(rows, in_use)]


def _calls(trace: Trace) -> List[Call]:
    launched = _operations(trace)
    api = trace.api
    return sorted(
        Call(start, start + duration, tid, launched.get((pid, correlation), []), bool(lacks),
             of == "launch" and not status, of == "graph launch" and not status, of == "wait")
        for tid, start, duration, pid, correlation, status, of, lacks in zip(
            *(api[column].to_list() for column in (
                "tid", "start_ns", "duration_ns", "pid", "correlation", "status", "class",
                "lacks_operation"))))


def _operations(trace: Trace) -> Dict[Tuple[int, int], List[Operation]]:
    """By process and correlation id."""
    launched: Dict[Tuple[int, int], List[Operation]] = defaultdict(list)
    for kind_of_all, table in (("kernel", trace.kernels), ("", trace.copies),
                               ("graph", trace.graphs)):
        columns = [table[column].to_list()
                   for column in ("name", "start_ns", "duration_ns", "pid", "correlation")]
        kinds = [kind_of_all] * len(table) if kind_of_all else table["kind"].to_list()
        sizes = table["bytes"].to_list() if "bytes" in table.columns else [0] * len(table)
        for name, start, duration, pid, correlation, kind, size in zip(*columns, kinds, sizes):
            if duration is not None:
                launched[pid, correlation].append(
                    Operation(name, (start, start + duration), kind, size))
    return launched
