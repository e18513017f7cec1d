"""The report of torch_compile(): its data, as text, JSON and HTML."""
import html
import json
import math
import os
import statistics
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

from . import _files
from ._compile_log import GraphBreak, Recompilation
from ._profiler import aligned

_UNKNOWN = "unknown"
_TOP = 3             # kernels of each mode in the text
_NAME_LENGTH = 60    # of their names
_STYLE = """
:root { color-scheme: light dark }
body { font: 14px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.3em } h2 { font-size: 1.05em; margin-top: 2em }
table { border-collapse: collapse } th, td { padding: .2em .8em; text-align: right }
th { border-bottom: 1px solid }
th:first-child, td:first-child { text-align: left; white-space: nowrap }
tr:nth-child(even) td { background: #8881 }
dt { font-family: ui-monospace, monospace; margin-top: .6em } dd { margin-left: 1.5em }
"""


class KernelTime(NamedTuple):
    """A kernel of a call of the model."""
    name: str
    # both of one call: a kernel that not every call launches has a fraction
    launches: float
    gpu_ms: float


class Kernels(NamedTuple):
    """The GPU work of one call of the model: the mean of some calls."""
    # "gpuprof" or "torch.profiler"
    source: str
    # launched kernels, those of CUDA graphs included; None: graphs were recorded as a whole
    # (--graphs=graph)
    launches: Optional[float]
    # the sum of kernels, copies and memsets
    gpu_ms: float
    graph_launches: float
    # the longest first
    top: List[KernelTime]


class CudaGraphs(NamedTuple):
    """The use of CUDA graphs in a mode. None: not known."""
    # whether the mode captures graphs
    is_asked_for: Optional[bool]
    # launches in a call
    launches: Optional[float]
    # compiled graphs that are not captured, and why; PyTorch does not tell each reason
    skips: Optional[int]
    reasons: List[str]

    def __str__(self) -> str:
        if self.launches:
            used = f"used; launches in a call: {_number(self.launches)}"
        elif self.is_asked_for is None:
            used = _UNKNOWN
        elif not self.is_asked_for:
            return "not requested by this mode"
        else:
            used = "not used" if self.launches is not None or self.skips else \
                "asked for; whether they are used is unknown"
        skipped = f"; compiled graphs that are not captured: {self.skips}" if self.skips else ""
        return f"{used}{skipped}"


class CompiledMode(NamedTuple):
    """The model under one mode of torch.compile, compared with eager mode. None: not known."""
    mode: str
    # why the mode failed; nothing else is known then
    error: Optional[str] = None
    # the time of an eager call / that of a compiled one, median of the pairs of samples, and the
    # bounds of its 95 % interval
    speedup: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None
    # the times of a call, a value for each sample
    eager_times_ms: List[float] = []
    compiled_times_ms: List[float] = []
    # of the first call, without the run itself; and by PyTorch's phases: each contains the next
    compile_time_s: Optional[float] = None
    compile_phases_s: Optional[Dict[str, float]] = None
    # compiled graphs that came from Inductor's cache on disk
    cache_hits: Optional[int] = None
    # all graphs that were compiled, those of recompilations included
    graphs: Optional[int] = None
    graph_breaks: Optional[List[GraphBreak]] = None
    recompilations: Optional[List[Recompilation]] = None
    kernels: Optional[Kernels] = None
    cuda_graphs: Optional[CudaGraphs] = None
    # kernels that Inductor generated: in Triton, or in C++ for the CPU
    generated_kernels: Optional[int] = None
    # of the result from eager's: the largest absolute one, and that / the largest value of eager
    max_difference: Optional[float] = None
    relative_difference: Optional[float] = None
    notes: List[str] = []

    @property
    def eager_ms(self) -> Optional[float]:
        """The time of an eager call: the median of the samples."""
        return _median(self.eager_times_ms)

    @property
    def compiled_ms(self) -> Optional[float]:
        """The time of a compiled call: the median of the samples."""
        return _median(self.compiled_times_ms)


class Section(NamedTuple):
    """A part of the text and of the page: a table, or without head a list of first lines, each
    with lines below it."""
    title: str
    head: List[str]
    rows: List[List[str]]


class CompileReport(NamedTuple):
    """What torch.compile does for a model; str() is a short text."""
    model: str
    device: str
    pytorch: str
    # interleaved samples of each side, and the calls of the model in one of them
    samples: int
    calls: int
    # the GPU work of an eager call; None: not known, or no GPU
    eager_kernels: Optional[Kernels]
    modes: Dict[str, CompiledMode]
    # what is not known, and why
    notes: List[str]

    @property
    def fastest(self) -> Optional[str]:
        """The mode with the largest speedup; None if no interval is above 1."""
        found = {one.mode: one.speedup for one in self.modes.values()
                 if one.speedup is not None and one.low is not None and one.low > 1}
        return max(found, key=found.__getitem__) if found else None

    def to_dict(self) -> Dict[str, Any]:
        """The whole report as plain dicts, lists, strings and numbers. None: not known."""
        return {**_plain(self), "fastest": self.fastest}

    def to_json(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write to_dict() as JSON. Returns the path."""
        return _files.write(path, json.dumps(self.to_dict(), indent=1))

    def to_html(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write the report as one HTML file that needs no other. Returns the path."""
        title = html.escape(f"torch.compile: {self.model}")
        return _files.write(path, f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8">'
                            f"<title>{title}</title><style>{_STYLE}</style>\n"
                            f"<h1>{html.escape(self._title())}</h1>\n{self._repr_html_()}</html>\n")

    def __str__(self) -> str:
        return "\n\n".join([self._title(), *map(_section_text, self._sections())])

    def _repr_html_(self) -> str:
        return "\n".join(map(_section_html, self._sections()))

    def _title(self) -> str:
        return (f"torch.compile of {self.model} on {self.device}, PyTorch {self.pytorch};"
                f" pairs of samples: {self.samples}, calls in each: {self.calls}")

    def _sections(self) -> List[Section]:
        worked = [one for one in self.modes.values() if one.error is None]
        found = [
            Section("", ["Mode", "Speedup", "95 % interval", "Eager (ms)", "Compiled (ms)",
                         "Compile (s)", "Graphs", "Breaks", "Recompiled", "Difference"],
                    [_mode_row(one) for one in worked]),
            Section("GPU work of a call",
                    ["", "Kernels", "GPU time (ms)", "Graph launches", "Generated kernels"],
                    [_work_row("eager", self.eager_kernels, ""),
                     *(_work_row(one.mode, one.kernels, _text(one.generated_kernels))
                       for one in worked)] if self.eager_kernels else []),
            Section("Longest kernels of a call", ["Kernel", "Mode", "Launches", "GPU time (ms)"],
                    _top_rows([("eager", self.eager_kernels),
                               *((one.mode, one.kernels) for one in worked)])),
            Section("Graph breaks", [], _by_modes(worked, lambda one: one.graph_breaks or [],
                                                  _break_lines)),
            Section("Recompilations", [], _by_modes(worked, lambda one: one.recompilations or [],
                                                    _recompilation_lines)),
            Section("CUDA graphs", [], [[f"{one.mode}: {one.cuda_graphs}", *one.cuda_graphs.reasons]
                                        for one in worked if one.cuda_graphs]),
            Section("Failed", [], [[one.mode, str(one.error)]
                                   for one in self.modes.values() if one.error is not None]),
            Section("Notes", [], [*([note] for note in self.notes), *_by_modes(
                worked, lambda one: one.notes, lambda note: [note])])]
        return [section for section in found if section.rows]


def _plain(value: Any) -> Any:
    """Named tuples as dicts; a number that JSON lacks as None."""
    if hasattr(value, "_asdict"):
        return {key: _plain(one) for key, one in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _median(values: Sequence[float]) -> Optional[float]:
    return statistics.median(values) if values else None


def _text(value: Any, form: str = "") -> str:
    return _UNKNOWN if value is None else format(value, form)


def _number(value: Optional[float]) -> str:
    """A count of a call: a fraction only if there is one."""
    return _text(value, ".0f" if value is None or value == round(value) else ".1f")


def _count(values: Optional[Sequence[Any]]) -> str:
    return _text(None if values is None else len(values))


def _mode_row(one: CompiledMode) -> List[str]:
    interval = _UNKNOWN if one.low is None else f"{one.low:.2f} to {one.high:.2f}"
    return [one.mode, _text(one.speedup, ".2f"), interval, _text(one.eager_ms, ".4f"),
            _text(one.compiled_ms, ".4f"), _text(one.compile_time_s, ".1f"), _text(one.graphs),
            _count(one.graph_breaks), _count(one.recompilations), _text(one.max_difference, ".1e")]


def _work_row(name: str, work: Optional[Kernels], generated: str) -> List[str]:
    if work is None:
        return [name, _UNKNOWN, _UNKNOWN, _UNKNOWN, generated]
    return [name, _number(work.launches), f"{work.gpu_ms:.4f}", _number(work.graph_launches),
            generated]


def _top_rows(of: Sequence[Any]) -> List[List[str]]:
    return [[_shortened(kernel.name), mode, _number(kernel.launches), f"{kernel.gpu_ms:.4f}"]
            for mode, work in of if work is not None for kernel in work.top[:_TOP]]


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else name[:_NAME_LENGTH - 3] + "..."


def _by_modes(modes: Sequence[CompiledMode], of: Callable[[CompiledMode], Sequence[Any]],
              lines: Callable[[Any], List[str]]) -> List[List[str]]:
    """The lines of each finding once, with the modes that have it unless all have."""
    found: Dict[Any, List[str]] = {}
    for mode in modes:
        for one in of(mode):
            found.setdefault(tuple(lines(one)), []).append(mode.mode)
    rows = []
    for (first, *rest), names in found.items():
        distinct = dict.fromkeys(names)
        times = f" x {len(names) // len(distinct)}" if len(names) > len(distinct) else ""
        where = f" ({', '.join(distinct)})" if len(distinct) < len(modes) else ""
        rows.append([first + times + where, *rest])
    return rows


def _place(one: Union[GraphBreak, Recompilation]) -> str:
    place = f"{one.file}:{one.line}" if one.file and one.line else one.file or "place unknown"
    return f"{place} in {one.function}" if one.function else place


def _break_lines(one: GraphBreak) -> List[str]:
    code = f": {one.code}" if one.code else ""
    return [_place(one) + code, one.reason,
            *(["this function, or the rest of it, runs without compilation"]
              if one.is_skipped else []),
            *([f"-> {one.suggestion}"] if one.suggestion else [])]


def _recompilation_lines(one: Recompilation) -> List[str]:
    return [_place(one), *(f"guard that failed: {reason}" for reason in one.reasons[:1])]


def _section_text(section: Section) -> str:
    if section.head:
        body = aligned(section.head, section.rows)
    else:
        body = "\n".join("  " + "\n    ".join(row) for row in section.rows)
    return f"{section.title}\n{body}" if section.title else body


def _section_html(section: Section) -> str:
    title = f"<h2>{html.escape(section.title)}</h2>\n" if section.title else ""
    if not section.head:
        return f"{title}<dl>" + "\n".join(
            f"<dt>{html.escape(first)}</dt>" + "".join(f"<dd>{html.escape(line)}</dd>"
                                                       for line in rest)
            for first, *rest in section.rows) + "</dl>"
    return f"{title}<table>{_row('th', section.head)}\n" + "\n".join(
        _row("td", row) for row in section.rows) + "</table>"


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
