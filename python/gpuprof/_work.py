"""GPU work by the call that launched it: what belongs to a stretch of a program."""
import re
from collections import defaultdict
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from ._ranges import RESET
from ._trace import Span, Trace, length, union

_LAUNCHES = re.compile(r"(cu|cuda)(Graph)?(Launch|Mem(cpy|set))")
_AUTOGRAD = "pt_autograd"  # the threads in which PyTorch runs backward passes


class Operation(NamedTuple):
    """A kernel, copy or memset, or a whole graph."""
    name: str
    span: Span
    is_copy: bool
    bytes: int


class Call(NamedTuple):
    """A call of CUDA's API, with the operations that it launched."""
    start_ns: int
    end_ns: int
    tid: int
    operations: List[Operation]
    # it launches, and no operation is recorded yet
    is_pending: bool


class Entry(NamedTuple):
    """One time that a range was open."""
    name: str
    tid: int
    start_ns: int
    end_ns: int


class MemoryUse(NamedTuple):
    """Device memory in a stretch of time; a peak of None: nothing was allocated before or in it."""
    allocations: int
    allocated_bytes: int
    peak_bytes: Optional[int]


def entries(trace: Trace) -> Iterator[Entry]:
    """The ranges of a trace that have ended, and began after the last reset."""
    rows = list(trace.ranges.rows())
    from_ns = max((row["start_ns"] for row in rows
                   if row["kind"] == "mark" and row["name"] == RESET), default=0)
    for row in rows:
        if row["kind"] != "mark" and not row["error"] and row["start_ns"] >= from_ns:
            yield Entry(row["name"], row["tid"], row["start_ns"],
                        row["start_ns"] + row["duration_ns"])


def inside(calls: Sequence[Call], spans: Sequence[Span]) -> Iterator[Tuple[int, Call]]:
    """The calls that begin inside a span, each with the number of the innermost one. Calls are in
    order of their start; spans may nest."""
    order = sorted(range(len(spans)), key=lambda number: spans[number])
    open_: List[int] = []
    at = 0
    for call in calls:
        while at < len(order) and spans[order[at]][0] <= call.start_ns:
            open_.append(order[at])
            at += 1
        while open_ and spans[open_[-1]][1] < call.start_ns:
            open_.pop()
        if open_:
            yield open_[-1], call


class Work:
    """The work of a trace."""

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
        self._memory = [row for row in trace.memory.rows() if row["memory"] == "device"]

    def launched_in(self, span: Span) -> List[Call]:
        """The calls of all threads that begin in a stretch of time."""
        return sorted(call for calls in self.calls.values() for _, call in inside(calls, [span]))

    def gpu_time_ns(self, of: Iterable[Entry]) -> int:
        """The GPU time of what the threads of these ranges launched inside, each counted once."""
        spans: Dict[int, List[Span]] = defaultdict(list)
        for entry in of:
            spans[entry.tid].append((entry.start_ns, entry.end_ns))
        return length(operation.span for tid, stretches in spans.items()
                      for _, call in inside(self.calls[tid], union(stretches))
                      for operation in call.operations)

    def memory(self, tids: Optional[Set[int]], spans: Iterable[Span]) -> MemoryUse:
        """Device memory in stretches of time: allocations of these threads (None: of all), and the
        most that the process had at once."""
        windows = union(spans)
        in_use = allocations = allocated_bytes = 0
        peak: Optional[int] = None
        at = 0
        for row in self._memory:
            while at < len(windows) and windows[at][1] < row["start_ns"]:
                peak = max(peak or 0, in_use)
                at += 1
            is_inside = at < len(windows) and windows[at][0] <= row["start_ns"]
            if is_inside:
                peak = max(peak or 0, in_use)
            is_allocation = row["kind"] == "allocation"
            in_use += row["bytes"] if is_allocation else -row["bytes"]
            if is_inside:
                peak = max(peak or 0, in_use)
                if is_allocation and (tids is None or row["tid"] in tids):
                    allocations += 1
                    allocated_bytes += row["bytes"]
        if at < len(windows) and self._memory:
            peak = max(peak or 0, in_use)
        return MemoryUse(allocations, allocated_bytes, peak)


def _calls(trace: Trace) -> List[Call]:
    launched = _operations(trace)
    api = trace.api
    launching = {name for name in api["name"].texts if _LAUNCHES.match(name)}
    return sorted(
        Call(start, start + duration, tid, launched.get((pid, correlation), []),
             name in launching and not status and (pid, correlation) not in launched)
        for name, tid, start, duration, pid, correlation, status in zip(
            *(api[column].to_list() for column in (
                "name", "tid", "start_ns", "duration_ns", "pid", "correlation", "status"))))


def _operations(trace: Trace) -> Dict[Tuple[int, int], List[Operation]]:
    """By process and correlation id."""
    launched: Dict[Tuple[int, int], List[Operation]] = defaultdict(list)
    for table in (trace.kernels, trace.copies, trace.graphs):
        columns = [table[column].to_list()
                   for column in ("name", "start_ns", "duration_ns", "pid", "correlation")]
        kinds = table["kind"] if "kind" in table.columns else [""] * len(table)
        sizes = table["bytes"] if "bytes" in table.columns else [0] * len(table)
        for name, start, duration, pid, correlation, kind, size in zip(*columns, kinds, sizes):
            if duration is not None:
                launched[pid, correlation].append(
                    Operation(name, (start, start + duration), kind == "copy", size))
    return launched
