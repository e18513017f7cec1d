"""Times of ranges: on the host, and of the GPU work that was launched inside."""
import statistics
import time
from typing import Dict, List, NamedTuple, Optional

from . import _recording, _work
from ._trace import Span, Trace, length, union

_POLL_S = 0.05  # the recorder fetches the records of the GPU as often


class Timing(NamedTuple):
    """Times of all entries of a range, in ns; None: not known.

    total_ns to stddev_ns are times on the host, from entry to exit. The GPU's figures are of
    operations that the range's thread launched inside."""
    name: str
    calls: int
    # launches whose operation is not recorded yet
    pending: int
    total_ns: int
    mean_ns: float
    min_ns: int
    max_ns: int
    median_ns: float
    stddev_ns: float
    # the sum of the operations; the time with at least one of them; first start to last end of
    # each entry, summed up
    gpu_time_ns: int
    gpu_busy_ns: int
    gpu_span_ns: int
    # the GPU time of each entry
    gpu_times_ns: List[int]
    # GPU time of kernels that autograd's threads launched meanwhile: backward passes
    other_threads_ns: int
    # processor time of the range: not recorded
    cpu_ns: Optional[int]
    # the sum of copies, part of gpu_time_ns
    transfer_ns: int
    # total_ns less the time of CUDA calls and of GPU operations
    overhead_ns: int
    # gpu_busy_ns / total_ns
    utilization: Optional[float]
    # bytes per second of copies
    bandwidth: Optional[float]
    # of device memory, by the range's thread; the peak: all that the process had then
    allocations: int
    allocated_bytes: int
    peak_bytes: Optional[int]


def timings(trace: Trace) -> Dict[str, Timing]:
    """The times of every range of a trace, by name."""
    entries: Dict[str, List[_work.Entry]] = {}
    for entry in _work.entries(trace):
        entries.setdefault(entry.name, []).append(entry)
    work = _work.Work(trace)
    return {name: _timing(name, of, work) for name, of in entries.items()}


def timing(name: str, *, wait: float = 0.0) -> Timing:
    """The times of a range of this program so far.

    It reads the program's own trace, which takes tens of ms and more for a large one: call it at
    the end, not in a loop. Records of the GPU come late: with `wait`, it looks again until none is
    pending, for so many seconds at most. It never waits for the GPU itself.

    Raises KeyError if no such range has ended, GpuprofError if the program is not recorded."""
    end = time.monotonic() + wait
    while True:
        found = timings(own_trace())
        if name not in found:
            raise KeyError(f"no range {name!r} has ended; the ranges are: {', '.join(found)}")
        if not found[name].pending or time.monotonic() >= end:
            return found[name]
        time.sleep(_POLL_S)


def own_trace() -> Trace:
    """The trace of this process, as it is now."""
    path = _recording.trace_path()
    if path is None:
        raise _recording.not_recorded()
    return Trace(path)


def _timing(name: str, entries: List[_work.Entry], work: _work.Work) -> Timing:
    durations = [entry.end_ns - entry.start_ns for entry in entries]
    spans: List[List[Span]] = [[] for _ in entries]
    own: List[_work.Call] = []
    tids = {entry.tid for entry in entries}
    for tid in tids:
        numbers = [number for number, entry in enumerate(entries) if entry.tid == tid]
        windows = [(entries[number].start_ns, entries[number].end_ns) for number in numbers]
        for at, call in _work.inside(work.calls[tid], windows):
            own.append(call)
            spans[numbers[at]] += [operation.span for operation in call.operations]
    copies = [operation for call in own for operation in call.operations if operation.is_copy]
    busy = union(span for of in spans for span in of)
    open_ = union((entry.start_ns, entry.end_ns) for entry in entries)
    occupied = union([*busy, *((call.start_ns, call.end_ns) for call in own)])
    others = [call for _, call in _work.inside(work.autograd, open_)]
    transfer_ns = length(copy.span for copy in copies)
    total_ns = sum(durations)
    memory = work.memory(tids, open_)
    return Timing(
        name=name, calls=len(entries), pending=sum(call.is_pending for call in own + others),
        total_ns=total_ns, mean_ns=statistics.fmean(durations), min_ns=min(durations),
        max_ns=max(durations), median_ns=statistics.median(durations),
        stddev_ns=statistics.stdev(durations) if len(durations) > 1 else 0.0,
        gpu_time_ns=sum(length(of) for of in spans), gpu_busy_ns=length(busy),
        gpu_span_ns=sum(max(end for _, end in of) - min(of)[0] for of in spans if of),
        gpu_times_ns=[length(of) for of in spans],
        other_threads_ns=length(operation.span for call in others for operation in call.operations),
        cpu_ns=None, transfer_ns=transfer_ns,
        overhead_ns=length(union([*open_, *occupied])) - length(occupied),
        utilization=length(busy) / total_ns if total_ns else None,
        bandwidth=sum(copy.bytes for copy in copies) / transfer_ns * 1e9 if transfer_ns else None,
        allocations=memory.allocations, allocated_bytes=memory.allocated_bytes,
        peak_bytes=memory.peak_bytes)
