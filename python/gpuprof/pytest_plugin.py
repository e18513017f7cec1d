"""pytest --gpuprof: what each test did on the GPU, and limits for it.

Markers fail a test that passes otherwise, and do nothing without the option or on a machine without
CUDA: limit_gpu_time(ms), limit_launches(count), limit_gpu_memory(bytes), no_gpu_leaks, no_sync."""
import os
from typing import Any, Dict, Generator, List, NamedTuple, Optional

import pytest

from . import _program, _ranges, _recording

_WAIT_S = 2.0  # for the GPU's records of a test that has a limit
_MARKERS = {
    "limit_gpu_time(ms)": "the GPU operations of the test take at most so long in all",
    "limit_launches(count)": "the test launches at most so many kernels",
    "limit_gpu_memory(bytes)": "the process has at most so much device memory in the test",
    "no_gpu_leaks": "the test frees the device memory that it allocates from CUDA",
    "no_sync": "the test does not wait for the GPU",
}


class Use(NamedTuple):
    """What a test did on the GPU; all threads of the process count."""
    gpu_time_ms: float
    launches: int
    syncs: int
    peak_bytes: Optional[int]
    leaked_bytes: int
    # launches whose operation was not recorded: gpu_time_ms lacks them
    pending: int


def pytest_addoption(parser: Any) -> None:
    """--gpuprof, --gpuprof-output."""
    group = parser.getgroup("gpuprof")
    group.addoption("--gpuprof", action="store_true",
                    help="show what each test did on the GPU, and check the limits of markers")
    group.addoption("--gpuprof-output", metavar="NAME", default="gpuprof-pytest-%p",
                    help="name of the trace, if pytest was not started by gpuprof-run")


def pytest_configure(config: Any) -> None:
    """Register the markers; start the recording."""
    for name, help_ in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {help_}")
    if not config.getoption("--gpuprof"):
        return
    try:
        if not _recording.is_active():
            _recording.start(output=os.path.abspath(config.getoption("--gpuprof-output")),
                             chrome="none", summary="none")
    except _program.GpuprofError as error:
        raise pytest.UsageError(f"--gpuprof: {error}") from None
    config.pluginmanager.register(_Plugin(config), "gpuprof-results")


class _Plugin:
    def __init__(self, config: Any) -> None:
        self._config = config
        self._uses: Dict[str, Dict[str, Any]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, None]:
        """A range around the test; then its limits."""
        with _ranges.range(_range_name(item.nodeid)):
            outcome = yield
        broken = _broken_limits(item) if outcome.excinfo is None else []
        if broken:
            error = pytest.fail.Exception("\n".join(broken), pytrace=False)
            if not hasattr(outcome, "force_exception"):  # pluggy before 1.1
                raise error
            outcome.force_exception(error)

    def pytest_sessionfinish(self, session: Any) -> None:
        """Read the trace, once for all tests; a worker of xdist hands the result on."""
        nodes = [item.nodeid for item in getattr(session, "items", [])]
        self._uses.update({node: use._asdict() for node, use in _uses(nodes).items()})
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["gpuprof"] = self._uses

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """The results of a worker of xdist."""
        self._uses.update(getattr(node, "workeroutput", {}).get("gpuprof", {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """A line for each test that used the GPU, the longest GPU time first."""
        used = {node: Use(**use) for node, use in self._uses.items()
                if any(use[key] for key in ("gpu_time_ms", "launches", "syncs", "leaked_bytes",
                                            "pending"))}
        terminalreporter.section("gpuprof")
        if not used:
            terminalreporter.line("no test used the GPU")
            return
        terminalreporter.line("   GPU ms  launches  waits   peak MB  left MB  test")
        for node, use in sorted(used.items(), key=lambda one: -one[1].gpu_time_ms):
            peak = "-" if use.peak_bytes is None else f"{use.peak_bytes / 1e6:.1f}"
            late = f"  (launches not recorded yet: {use.pending})" if use.pending else ""
            terminalreporter.line(
                f"{use.gpu_time_ms:9.3f}  {use.launches:8}  {use.syncs:5}  {peak:>8}"
                f"  {use.leaked_bytes / 1e6:7.1f}  {node}{late}")
        path = _recording.trace_path()
        if path is not None:
            terminalreporter.line(f"trace: {path}")


def _range_name(node: str) -> str:
    return f"pytest {node}"


@_ranges.own_work
def _uses(nodes: List[str]) -> Dict[str, Use]:
    """What these tests did, by node id, after the GPU's records of them have come; those whose
    range was not recorded are not there."""
    import time

    end = time.monotonic() + _WAIT_S
    while True:
        found = _uses_so_far(nodes)
        if not any(use.pending for use in found.values()) or time.monotonic() >= end:
            return found
        time.sleep(0.05)


def _uses_so_far(nodes: List[str]) -> Dict[str, Use]:
    path = _recording.trace_path()
    if path is None:
        return {}
    from ._trace import Trace
    from ._work import Work, entries

    trace = Trace(path)
    work = Work(trace)
    spans = {entry.name: (entry.start_ns, entry.end_ns) for entry in entries(trace)}
    return {node: Use(*work.use(spans[_range_name(node)])) for node in nodes
            if _range_name(node) in spans}


def _broken_limits(item: Any) -> List[str]:
    """What the markers of a test do not allow, in words."""
    marks = {mark.name: mark for mark in item.iter_markers()
             if any(mark.name == name.partition("(")[0] for name in _MARKERS)}
    if not marks:
        return []
    use = _uses([item.nodeid]).get(item.nodeid)
    if use is None:
        return [f"{', '.join(marks)}: not known, because the recording was stopped"]

    broken = []
    for name, value, unit in (("limit_gpu_time", use.gpu_time_ms, "ms of GPU time"),
                              ("limit_launches", use.launches, "kernel launches"),
                              ("limit_gpu_memory", use.peak_bytes or 0, "bytes of GPU memory")):
        if name not in marks:
            continue
        most = (*marks[name].args, *marks[name].kwargs.values())
        if len(most) != 1 or not isinstance(most[0], (int, float)):
            broken.append(f"{name} takes one number")
        elif value > most[0]:
            broken.append(f"{name}: {value} {unit}, at most {most[0]} are allowed")
    if "no_gpu_leaks" in marks and use.leaked_bytes > 0:
        broken.append(f"no_gpu_leaks: {use.leaked_bytes} bytes of GPU memory were not freed")
    if "no_sync" in marks and use.syncs > 0:
        broken.append(f"no_sync: the test waited for the GPU {use.syncs} times")
    if "limit_gpu_time" in marks and use.pending and not broken:
        broken.append(f"limit_gpu_time: {use.pending} launches are not recorded after {_WAIT_S} s:"
                      " the GPU time is not known; wait for the GPU at the end of the test")
    return broken
