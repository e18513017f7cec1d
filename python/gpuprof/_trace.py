"""Traces: read by the program gpuprof in a process of its own, and mapped."""
import json
import mmap
import os
import re
import shutil
import struct
import tempfile
import weakref
from typing import (Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple,
                    Union)

from ._program import GpuprofError
from ._reader import run, run_json
from ._table import Column, Table

_MAGIC = b"gpcols01"
_SMALL_BYTES = 1 << 20  # a trace of this size is read in some ms
NAMES_LENGTH = 500  # of the names of ranges in an error
_REDUCTIONS = {"SUM": "sum", "MAX": "max", "MEAN": "avg"}
_SUFFIXES = {"ns": "_ns", "bytes": "_bytes", "percent": "_percent"}


def _map(descriptor: int) -> mmap.mmap:
    """A private mapping, writable because ctypes takes the address of no other."""
    return mmap.mmap(descriptor, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)


def _read_columns(mapping: mmap.mmap) -> Dict[str, Table]:
    """The tables of what `gpuprof export --format columns` wrote."""
    whole = memoryview(mapping)
    end = len(whole) - len(_MAGIC) - 8
    if end < 0 or whole[-len(_MAGIC):] != _MAGIC:
        raise GpuprofError("the reader wrote no tables")
    (length,) = struct.unpack_from("<Q", whole, end)
    index = json.loads(bytes(whole[end - length:end]))
    return {table["name"]: Table([_read_column(whole, table["rows"], column)
                                  for column in table["columns"]])
            for table in index["tables"]}


def _read_column(whole: memoryview, rows: int, column: Dict[str, Any]) -> Column:
    def part(key: str, size: int) -> memoryview:
        return whole[column[key]:column[key] + size]

    values = part("values", rows * (8 if column["type"] == "int64" else 4))
    valid = part("valid", (rows + 7) // 8) if "valid" in column else None
    offsets = characters = None
    if column["type"] == "text":
        offsets = part("text_offsets", (column["texts"] + 1) * 4)
        characters = part("text_bytes", offsets.cast("i")[-1])
    return Column(column["name"], column["type"], values, valid, column["empty_rows"], offsets,
                  characters)


def _column_name(title: str, unit: str) -> str:
    """As "Time %" and "percent": time_percent; "Total" and "ns": total_ns."""
    name = re.sub(r"\W+", "_", title.replace("%", "").lower()).strip("_")
    suffix = _SUFFIXES.get(unit, "")
    return name if f"_{name}".endswith(suffix) else name + suffix


def _table(report: Dict[str, Any]) -> Table:
    """A table of `gpuprof summary --by --format json`."""
    names = {column["name"]: _column_name(column["name"], column["unit"])
             for column in report["columns"]}
    return Table.of([{names[title]: value for title, value in row.items() if title in names}
                     for row in report["rows"]], list(names.values()))


Span = Tuple[int, int]


def spans_of(table: Table) -> Iterator[Span]:
    """Start and end of each row that has both."""
    for start, duration in zip(table["start_ns"].to_list(), table["duration_ns"].to_list()):
        if start is not None and duration is not None:
            yield start, start + duration


def union(spans: Iterable[Span]) -> List[Span]:
    """The spans in order; those that touch are joined."""
    joined: List[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def length(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def _flame_node(node: Dict[str, Any], min_value: int) -> Dict[str, Any]:
    """The node with its children as a list, the largest first."""
    children = sorted(node["children"].values(), key=lambda child: -child["value"])
    shown = [_flame_node(child, min_value) for child in children if child["value"] >= min_value]
    rest = children[len(shown):]
    if rest:
        shown.append({"name": f"({len(rest)} smaller)",
                      "value": sum(child["value"] for child in rest), "children": []})
    return {"name": node["name"], "value": node["value"], "children": shown}


class CounterValue(NamedTuple):
    """A hardware counter of the kernels that were launched inside a range; None: not known.

    value: of the measured kernels: their sum, greatest or mean value; shares and rates have no sum
    kernels, measured: kernels launched inside, and those of them that were measured
    estimate, error: of all the kernels, and its standard error: 0 if all were measured, or are
        alike"""
    value: Optional[float]
    unit: Optional[str]
    kernels: int
    measured: int
    estimate: Optional[float]
    error: Optional[float]


def _counter_value(row: Dict[str, Any], reduce: str) -> CounterValue:
    """Of a row of the table nvtx-counter, whose estimate is of the mean if there is no sum."""
    kernels, measured, estimate, error = (row[key] for key in ("kernels", "measured", "estimate",
                                                               "error"))
    if reduce == "MAX":
        estimate, error = (row["max"], 0) if measured == kernels else (None, None)
    elif reduce == "SUM" and row["sum"] is None:
        estimate = error = None
    elif reduce == "MEAN" and row["sum"] is not None and estimate is not None:
        estimate, error = estimate / kernels, error / kernels
    return CounterValue(row[_REDUCTIONS[reduce]], row["unit"], kernels, measured, estimate, error)


class Trace:
    """A trace file: of gpuprof, torch.profiler (Kineto) or nsys (SQLite).

    Events are read at the first use of a table, by another process: no file can end this one."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        # absolute: a program may change its folder, and no option begins with a slash
        self.path = os.path.abspath(os.fsdecode(path))
        if not os.path.exists(self.path):
            raise FileNotFoundError(f"no trace {self.path}; gpuprof-run writes one for each"
                                    " program: gpuprof-run python train.py")
        self._tables: Optional[Dict[str, Table]] = None

    def __repr__(self) -> str:
        return f"<gpuprof.Trace {self.path}>"

    @property
    def tables(self) -> Dict[str, Table]:
        """All tables of events, by name."""
        if self._tables is None:
            descriptor = os.memfd_create("gpuprof-tables")
            try:
                run(["export", "--format", "columns", "--output", "-", self.path],
                    stdout=descriptor)
                self._tables = _read_columns(_map(descriptor))
            finally:
                os.close(descriptor)
        return self._tables

    @property
    def kernels(self) -> Table:
        """A row for each kernel: name, times, stream, grid, block, registers, shared memory."""
        return self.tables["kernels"]

    @property
    def copies(self) -> Table:
        """A row for each copy and memset."""
        return self.tables["copies"]

    @property
    def graphs(self) -> Table:
        """A row for each replay of a graph whose nodes were not recorded (--graphs=graph)."""
        return self.tables["graphs"]

    @property
    def api(self) -> Table:
        """A row for each recorded call of CUDA's API."""
        return self.tables["api"]

    @property
    def ranges(self) -> Table:
        """A row for each range and mark."""
        return self.tables["ranges"]

    @property
    def memory(self) -> Table:
        """A row for each allocation and free."""
        return self.tables["memory"]

    @property
    def samples(self) -> Table:
        """A row for each stack sample of a host thread, with its innermost function."""
        return self.tables["samples"]

    @property
    def energy(self) -> Table:
        """A row for each energy sample of a GPU (--energy): power, energy, clock; its name is the
        reason of lowered clocks."""
        return self.tables["energy"]

    def table(self, by: str, *, top: Optional[int] = None,
              snapshot: Optional[Union[str, "os.PathLike[str]"]] = None) -> Table:
        """A table of `gpuprof summary --by`; `top` rows at most, all of them without it.

        snapshot: the file that torch.cuda.memory._dump_snapshot() wrote, for the tables torch-..."""
        report = run_json(["summary", "--by", by, "--format", "json", "--full-names",
                           "--top", str(top or 0),
                           *(["--torch-snapshot", os.fspath(snapshot)] if snapshot else []),
                           self.path])
        if not isinstance(report, dict):
            raise GpuprofError(f"table() returns one table, not {by!r}")
        return _table(report)

    def summary(self) -> Dict[str, Any]:
        """The summary by name of its parts: each a Table, or an object as in its JSON."""
        reports: Sequence[Dict[str, Any]] = run_json(["summary", "--format", "json",
                                                      "--full-names", self.path])
        return {report["report"]: _table(report) if "rows" in report else report
                for report in reports}

    def advice(self) -> List[Dict[str, Any]]:
        """What costs time, where, and what to change: the findings, the largest saving first."""
        return run_json(["advice", "--format", "json", self.path])["findings"]

    def flame(self, value: str = "gpu-time", *, min_value: int = 0, depth: Optional[int] = None,
              part: Sequence[str] = ()) -> Dict[str, Any]:
        """The call stacks as a tree: name, value (ns, or as `value` says), children.

        The values are those of `gpuprof export --value`. Callees below `min_value` are joined to
        one node, and stacks are cut after `depth` frames. `part` are options of gpuprof export,
        such as ["--start", "1s", "--end", "2s"]."""
        folded = run(["export", "--format", "folded", "--value", value, *part, "--output", "-",
                      self.path])
        root: Dict[str, Any] = {"name": "all", "value": 0, "children": {}}
        for line in folded.decode("utf-8", "replace").splitlines():
            stack, _, number = line.rpartition(" ")
            node = root
            node["value"] += int(number)
            for frame in stack.split(";")[:depth]:
                node = node["children"].setdefault(
                    frame, {"name": frame, "value": 0, "children": {}})
                node["value"] += int(number)
        return _flame_node(root, min_value)

    def timeline(self) -> Dict[str, int]:
        """Times in ns: of the trace, with CUDA calls on the host, with operations on a GPU, and
        with both at the same time. The trace ends with the last call or operation; the summary
        ends with the last call."""
        calls = union(spans_of(self.api))
        operations = union(span for table in (self.kernels, self.copies, self.graphs)
                           for span in spans_of(table))
        both = union([*calls, *operations])
        ends = both or [(0, 0)]
        cpu_ns, gpu_ns = length(calls), length(operations)
        return {"total_ns": ends[-1][1] - ends[0][0], "cpu_active_ns": cpu_ns,
                "gpu_active_ns": gpu_ns, "overlap_ns": cpu_ns + gpu_ns - length(both)}

    def holistic(self) -> Dict[str, Any]:
        """Shares of the wall time of all devices, in percent: idle, and of the busy rest computing,
        communication and copies without computing at the same time; None without a GPU record.

        Beside them the ten kernels with the most time, and the advice."""
        times = self.table("time")
        wall = sum(times["wall_ns"].to_list())

        def percent(column: str) -> Optional[float]:
            return 100 * sum(times[column].to_list()) / wall if wall else None

        return {"idle_percent": percent("idle_ns"), "compute_percent": percent("compute_ns"),
                "communication_percent": percent("comm_alone_ns"),
                "copy_percent": percent("copy_alone_ns"),
                "top_kernels": self.table("kernel", top=10), "advice": self.advice()}

    def counters(self, range: str,  # pylint: disable=redefined-builtin
                 reduce: str = "SUM", *, domain: Optional[str] = None) -> Dict[str, CounterValue]:
        """The hardware counters of the kernels launched inside a range, by metric, as
        "smsp__inst_executed.sum": their "SUM", "MAX" or "MEAN". Record the program with --counters
        or --roofline. These measure a part of the kernels: each value tells how many.

        Raises KeyError if no kernel inside such a range was measured."""
        if reduce not in _REDUCTIONS:
            raise ValueError(f"reduce is one of {', '.join(_REDUCTIONS)}, not {reduce!r}")
        table = self.table("nvtx-counter").to_dict()
        rows = [dict(zip(table, cells)) for cells in zip(*table.values())]
        found = [row for row in rows
                 if row["range"] == range and domain in (None, row["domain"] or "")]
        if not found:
            names = ", ".join(dict.fromkeys(row["range"] for row in rows))
            raise KeyError(f"no kernel of a range {range!r} was measured; the ranges with hardware"
                           f" counters are: {names[:NAMES_LENGTH] or 'none'}")
        if len({(row["domain"], row["style"]) for row in found}) > 1:
            domains = ", ".join(sorted({repr(row["domain"] or "") for row in found}))
            raise GpuprofError(f"ranges {range!r} are in the domains {domains}: choose one with"
                               " domain=, or see table('nvtx-counter')")
        return {row["counter"]: _counter_value(row, reduce) for row in found}

    def export(self, format_: str, path: Union[str, "os.PathLike[str]"], *options: str) -> str:
        """Write the trace in a format of `gpuprof export --list`. Returns the path."""
        run(["export", "--format", format_, "--output", os.fspath(path), *options, self.path])
        return os.fspath(path)

    def to_chrome(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write a Chrome trace, for https://ui.perfetto.dev. Returns the path."""
        return self.export("chrome", path)

    def to_html(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write the page: one HTML file with timeline, flame graphs and tables."""
        run(["html", "--output", os.fspath(path), self.path])
        return os.fspath(path)

    def to_json(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write all events as lines of JSON."""
        return self.export("jsonl", path)


class _ProfilerTrace(Trace):
    """The trace of a torch.profiler object, in a folder of its own."""

    def __init__(self, profiler: Any) -> None:
        folder = tempfile.mkdtemp(prefix="gpuprof-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, "torch-profiler.json")
        profiler.export_chrome_trace(path)
        super().__init__(path)


def open(path: Any) -> Trace:  # pylint: disable=redefined-builtin
    """Open a trace file of gpuprof, torch.profiler or nsys, or a torch.profiler object.

    Raises FileNotFoundError, and GpuprofError if it is no trace: a large file is read, and refused,
    at its first use."""
    if hasattr(path, "export_chrome_trace"):
        return _ProfilerTrace(path)
    trace = Trace(path)
    if os.path.getsize(trace.path) <= _SMALL_BYTES:
        trace.tables  # pylint: disable=pointless-statement
    return trace
