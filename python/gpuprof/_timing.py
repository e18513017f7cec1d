"""Times of ranges: on the host, and of the GPU work that was launched inside."""
import statistics
import time
from typing import Dict, Iterable, List, NamedTuple, Optional

from . import _recording, _work
from ._ranges import own_work
from ._trace import NAMES_LENGTH, Trace, length, union

_POLL_S = 0.05  # the recorder fetches the records of the GPU as often


class Timing(NamedTuple):
    """Times of all entries of a range, in ns; None: not known.

    The host's times are from entry to exit. The GPU's figures are of operations that the range's
    thread launched inside. If a range is entered inside itself, as by recursion, the host's times
    count for both entries, and an operation only for the inner one.

    calls: entries that have ended
    pending: launches whose operation is not recorded yet; the figures lack these
    total_ns, mean_ns, min_ns, max_ns, median_ns, stddev_ns: of the entries on the host
    gpu_time_ns: the sum of the operations
    gpu_busy_ns: the time with at least one of them
    gpu_span_ns: from the first start to the last end, summed up over the entries
    gpu_times_ns: the GPU time of each entry
    other_threads_ns: GPU time that autograd's threads launched meanwhile: backward passes
    cpu_ns: processor time of the range's thread, with gpuprof.enable(cpu_time=True)
    transfer_ns: the sum of copies, part of gpu_time_ns
    overhead_ns: total_ns less the time of CUDA calls and of GPU operations
    utilization: gpu_busy_ns / total_ns
    bandwidth: bytes per second of copies
    allocations, allocated_bytes: of device memory, by the range's thread
    peak_bytes: the most device memory that the process had from CUDA then"""
    name: str
    calls: int
    pending: int
    total_ns: int
    mean_ns: float
    min_ns: int
    max_ns: int
    median_ns: float
    stddev_ns: float
    gpu_time_ns: int
    gpu_busy_ns: int
    gpu_span_ns: int
    gpu_times_ns: List[int]
    other_threads_ns: int
    cpu_ns: Optional[int]
    transfer_ns: int
    overhead_ns: int
    utilization: Optional[float]
    bandwidth: Optional[float]
    allocations: int
    allocated_bytes: int
    peak_bytes: Optional[int]


@own_work
def timings(trace: Trace) -> Dict[str, Timing]:
    """The times of every range of a trace, by name."""
    work = _work.Work(trace)
    return {name: _timing(name, of, work)
            for name, of in work.by_range(_work.entries_since_reset(trace)).items()}


@own_work
def timing(name: str, *, wait: float = 0.0) -> Timing:
    """The times of a range of this program so far.

    It reads the program's own trace, which takes tens of ms and more for a large one: call it at
    the end, not in a loop. Records of the GPU arrive late: with `wait`, it reads the trace again
    until none is pending, for at most `wait` seconds. It never waits for the GPU itself.

    Raises KeyError if no such range has ended, GpuprofError if the program is not recorded."""
    end = time.monotonic() + wait
    while True:
        trace = own_trace()
        entries = _work.entries_since_reset(trace)
        work = _work.Work(trace)
        of = work.by_range(entry for entry in entries if entry.name == name)
        if not of:
            names = ", ".join(dict.fromkeys(entry.name for entry in entries))
            raise KeyError(f"no range {str(name)[:NAMES_LENGTH]!r} has ended; the ranges are:"
                           f" {names[:NAMES_LENGTH] or 'none'}")
        found = _timing(name, of[name], work)
        if not found.pending or time.monotonic() >= end:
            return found
        time.sleep(_POLL_S)


def own_trace() -> Trace:
    """The trace of this process, as it is now."""
    path = _recording.trace_path()
    if path is None:
        raise _recording.not_recorded()
    return Trace(path)


def _sum_if_known(values: Iterable[Optional[int]]) -> Optional[int]:
    known = list(values)
    return None if None in known else sum(known)  # type: ignore[arg-type]


def _timing(name: str, of: _work.Inside, work: _work.Work) -> Timing:
    durations = [entry.end_ns - entry.start_ns for entry in of.entries]
    copies = [operation for call in of.calls for operation in call.operations
              if operation.kind == "copy"]
    busy = union(span for spans in of.spans for span in spans)
    open_ = union((entry.start_ns, entry.end_ns) for entry in of.entries)
    occupied = union([*busy, *((call.start_ns, call.end_ns) for call in of.calls)])
    others = _work.during(work.autograd, open_)
    transfer_ns = length(copy.span for copy in copies)
    total_ns = sum(durations)
    memory = work.memory({entry.tid for entry in of.entries}, open_)
    return Timing(
        name=name, calls=len(durations), pending=sum(call.is_pending for call in of.calls + others),
        total_ns=total_ns, mean_ns=statistics.fmean(durations), min_ns=min(durations),
        max_ns=max(durations), median_ns=statistics.median(durations),
        stddev_ns=statistics.stdev(durations) if len(durations) > 1 else 0.0,
        gpu_time_ns=sum(map(length, of.spans)), gpu_busy_ns=length(busy),
        gpu_span_ns=sum(max(end for _, end in spans) - min(spans)[0]
                        for spans in of.spans if spans),
        gpu_times_ns=[length(spans) for spans in of.spans],
        other_threads_ns=length(operation.span for call in others for operation in call.operations),
        cpu_ns=_sum_if_known(entry.cpu_ns for entry in of.entries), transfer_ns=transfer_ns,
        overhead_ns=length(union([*open_, *occupied])) - length(occupied),
        utilization=length(busy) / total_ns if total_ns else None,
        bandwidth=sum(copy.bytes for copy in copies) / transfer_ns * 1e9 if transfer_ns else None,
        allocations=memory.allocations, allocated_bytes=memory.allocated_bytes,
        peak_bytes=memory.peak_bytes)
