"""torch_compile(): compares a model in eager mode with torch.compile."""
import contextlib
import math
import random
import statistics
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _compile_log, _native
from ._compile_log import Compilations, GraphBreak, Recompilation
from ._compile_report import (CompiledMode, CompileReport, CudaGraphs, Kernels, KernelTime)
from ._program import GpuprofError
from ._session import Session
from ._trace import length, open as open_trace
from ._work import Call, Work

__all__ = ["CompiledMode", "CompileReport", "CudaGraphs", "GraphBreak", "Kernels", "KernelTime",
           "Recompilation", "torch_compile"]

_SAMPLE_NS = 2_000_000  # a sample lasts about as long at least, so that waiting costs little of it
_MOST_CALLS = 50        # of a sample
_COUNTED_CALLS = 5      # whose GPU work is counted
_ERROR_LENGTH = 400
_TOP = 10               # kernels
_STEADY = 1.25          # the largest ratio of eager's times beside two modes that needs no note
_TAIL = 0.025           # of a 95 % interval
_FOREVER = (0, 1 << 62)


def torch_compile(model: Any, *inputs: Any, modes: Union[str, Sequence[str]] = ("default",),
                  warmup: int = 5, iterations: int = 20) -> CompileReport:
    """Compare a model or function in eager mode with torch.compile.

    The report has for each mode: the speedup over eager with its 95 % interval, graph breaks,
    recompilations, kernels, CUDA graphs, and the difference of the result.

    `model(*inputs)` is called as it is: under the grad mode and autocast of the caller. After
    `warmup` calls, `iterations` samples of eager and compiled calls alternate; each ends with a
    synchronization. The times are those of the wall clock, with the recording paused. Kernels come
    from the recorder if it is active, else from torch.profiler.

    torch.compiler.reset() drops the compiled code of the whole process (and Inductor's CUDA graphs)
    at the beginning, between modes and at the end: the program's own compiled functions compile
    again at their next call. Buffers, inputs, attributes and gradients of the model, and the states
    of the random number generators of PyTorch and Python, are restored at the end. Parameters are
    not saved, because forward passes do not change them.

    A mode that fails has its `error`; the other modes still run. Raises GpuprofError without
    PyTorch 2.0 or newer, ValueError without a mode or a sample, and whatever the model raises in
    eager mode."""
    torch = _torch()
    names = [modes] if isinstance(modes, str) else list(dict.fromkeys(modes))
    if not names or iterations < 1 or warmup < 0:
        raise ValueError("at least one mode and one iteration are needed, and no negative warm-up")
    model = _uncompiled(model)
    with _Bench(torch, model, inputs, warmup, iterations) as bench:
        results = [bench.measure(mode) for mode in names]
        if bench.has_gpu and bench.eager_kernels is None:
            bench.eager_kernels = bench.gpu_work("eager", bench.eager)
            results = [bench.with_kernels(one) for one in results]
        return CompileReport(
            model=getattr(model, "__qualname__", type(model).__qualname__), device=bench.device,
            pytorch=str(torch.__version__), samples=iterations, calls=bench.calls,
            eager_kernels=bench.eager_kernels, modes={one.mode: one for one in results},
            notes=[*_unknown(results, bench.has_gpu), *_unsteady(results), *bench.notes])


def _torch() -> Any:
    try:
        import torch  # type: ignore
    except ImportError:
        raise GpuprofError("torch_compile() needs PyTorch 2.0 or newer, and this Python has none:"
                           " pip install torch") from None
    if not hasattr(torch, "compile"):
        raise GpuprofError(f"torch_compile() needs PyTorch 2.0 or newer, not {torch.__version__}:"
                           " pip install --upgrade torch")
    return torch


def _uncompiled(model: Any) -> Any:
    """The model that torch.compile() was called with, if any."""
    if not callable(model):
        raise TypeError(f"a model or function is needed, not {type(model).__name__}")
    if getattr(model, "_compiled_call_impl", None) is not None:
        raise GpuprofError("this model is compiled in place, by its method compile():"
                           " give torch_compile() a new one without that call")
    return getattr(model, "_orig_mod", getattr(model, "_torchdynamo_orig_callable", model))


def _unknown(results: Sequence[CompiledMode], has_gpu: bool) -> List[str]:
    """What this version of PyTorch does not tell."""
    worked = [one for one in results if one.error is None]
    found: Dict[str, List[Any]] = {
        "graphs and recompilations": [one.graphs for one in worked],
        "graph breaks": [one.graph_breaks for one in worked],
        "where graph breaks are": [each.file for one in worked for each in one.graph_breaks or ()],
        "how many kernels were generated": [one.generated_kernels for one in worked]}
    if has_gpu:
        found["which modes capture CUDA graphs"] = [
            one.cuda_graphs.is_asked_for if one.cuda_graphs else None for one in worked]
    return [f"This version of PyTorch does not tell {what}." for what, values in found.items()
            if values and all(value is None for value in values)]


def _unsteady(results: Sequence[CompiledMode]) -> List[str]:
    """Whether eager's times, measured beside each mode, are those of one machine."""
    times = sorted(one.eager_ms for one in results if one.eager_ms is not None)
    if not times or times[-1] < _STEADY * times[0]:
        return []
    return [f"Eager took {times[0]:.3g} ms beside one mode and {times[-1]:.3g} ms beside another:"
            " the machine was not quiet, so the speedups of the modes are hard to compare."]


class _Tensor(NamedTuple):
    """A tensor that calls may change, and its values before."""
    tensor: Any
    version: Optional[int]
    values: Any


def _tensors(value: Any) -> Iterator[Any]:
    """The tensors of nested lists, dicts and dataclasses, in order."""
    if hasattr(value, "data_ptr") and hasattr(value, "detach"):
        yield value
        return
    if isinstance(value, dict):
        parts: Sequence[Any] = list(value.values())
    elif isinstance(value, (list, tuple)):
        parts = value
    elif hasattr(value, "__dataclass_fields__"):
        parts = [getattr(value, name) for name in value.__dataclass_fields__]
    else:
        parts = ()
    for part in parts:
        yield from _tensors(part)


class _State:
    """What calls of a model change: buffers, inputs, attributes, gradients, random numbers."""

    def __init__(self, torch: Any, model: Any, inputs: Sequence[Any]) -> None:
        self._torch = torch
        modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
        self._attributes = [(owner, dict(owner)) for module in modules
                            for owner in (module.__dict__, module._buffers, module._parameters)]
        parameters = [one for module in modules for one in module._parameters.values()
                      if one is not None]
        changing = [*_tensors(inputs), *(one for module in modules
                                         for one in module._buffers.values() if one is not None)]
        self._gradients = [(one, one.grad) for one in parameters]
        self._tensors = [_Tensor(one, self._version(one), one.detach().clone())
                         for one in changing]
        self.devices = sorted({one.device for one in (*parameters, *changing)}, key=str)
        self.random = self._random()

    @staticmethod
    def _version(tensor: Any) -> Optional[int]:
        """The count of its changes; None: of a tensor of inference mode it is not kept."""
        return None if tensor.is_inference() else tensor._version

    def _random(self) -> Tuple[Any, ...]:
        """The states of the generators."""
        torch = self._torch
        return (random.getstate(), torch.get_rng_state(),
                [(one, torch.cuda.get_rng_state(one)) for one in self.devices
                 if one.type == "cuda"])

    def has_drawn(self) -> bool:
        """Whether random numbers of PyTorch were drawn since the last restore()."""
        _, host, devices = self._random()
        torch = self._torch
        return not torch.equal(host, self.random[1]) or any(
            not torch.equal(one[1], before[1]) for one, before in zip(devices, self.random[2]))

    def restore(self) -> None:
        """Make everything as it was."""
        torch = self._torch
        for owner, before in self._attributes:
            owner.update(before)
        for parameter, gradient in self._gradients:
            if parameter.grad is not gradient:
                parameter.grad = gradient
        for one in self._tensors:
            if one.version is None or one.version != one.tensor._version:
                with torch.inference_mode() if one.version is None else torch.no_grad():
                    one.tensor.copy_(one.values)
        random.setstate(self.random[0])
        torch.set_rng_state(self.random[1])
        for device, state in self.random[2]:
            torch.cuda.set_rng_state(state, device)


class _Bench:
    """Calls of one model, eager and compiled."""

    def __init__(self, torch: Any, model: Any, inputs: Sequence[Any], warmup: int,
                 iterations: int) -> None:
        self._torch = torch
        self._model = model
        self._inputs = inputs
        self._warmup = warmup
        self._iterations = iterations
        self.calls = 1
        self.notes: List[str] = []
        self.eager_kernels: Optional[Kernels] = None

    def __enter__(self) -> "_Bench":
        torch = self._torch
        self._state = _State(torch, self._model, self._inputs)
        try:
            self.eager()
            self._draws = self._state.has_drawn()
            self._wait()
            for _ in range(self._warmup):
                self.eager()
            eager_ns = max(1.0, self._time_ns(self.eager))
        except BaseException:
            self._state.restore()
            raise
        self.calls = min(_MOST_CALLS, math.ceil(_SAMPLE_NS / eager_ns))
        self.has_gpu = torch.cuda.is_available() and torch.cuda.is_initialized() and (
            not self._state.devices or any(one.type == "cuda" for one in self._state.devices))
        self.device = ", ".join(map(str, self._state.devices)) or (
            "cuda" if self.has_gpu else "cpu")
        if self.has_gpu:
            self.device += f" ({torch.cuda.get_device_name()})"
        return self

    def __exit__(self, *error: Any) -> None:
        _compile_log.reset(self._torch)
        self._state.restore()

    def eager(self) -> Any:
        """A call of the model as it is."""
        return self._model(*self._inputs)

    def _wait(self) -> None:
        """Until the devices have nothing left to do."""
        for kind in {one.type for one in self._state.devices} | {"cuda"}:
            device: Any = getattr(self._torch, kind, None)
            is_used = kind != "cuda" or self._torch.cuda.is_initialized()
            if is_used and hasattr(device, "synchronize"):
                device.synchronize()

    def _time_ns(self, call: Callable[[], Any]) -> float:
        """The mean time of the calls of a sample."""
        self._wait()
        start = time.perf_counter_ns()
        for _ in range(self.calls):
            call()
        self._wait()
        return (time.perf_counter_ns() - start) / self.calls

    def _compile(self, mode: str) -> Callable[[], Any]:
        """A call of the model, which the first one compiles."""
        torch = self._torch
        _compile_log.reset(torch)
        compiled = torch.compile(self._model, mode=mode)
        # each call is an iteration of its own: CUDA graphs may use its results' memory again
        begin = getattr(getattr(torch, "compiler", None), "cudagraph_mark_step_begin", None)

        def call() -> Any:
            if begin is not None:
                begin()
            return compiled(*self._inputs)

        return call

    def measure(self, mode: str) -> CompiledMode:
        """Compile the model in a mode, and compare it to eager."""
        try:
            return self._measure(mode)
        except Exception as error:  # pylint: disable=broad-except
            lines = " ".join(str(error).split())
            return CompiledMode(mode, error=f"{type(error).__name__}: {lines}"[:_ERROR_LENGTH])

    def _measure(self, mode: str) -> CompiledMode:
        self._state.restore()
        compiled = self._compile(mode)
        before = _Counts.now()
        with _compile_log.Log() as log:
            start = time.perf_counter_ns()
            compiled()
            self._wait()
            first_ns = time.perf_counter_ns() - start
            largest, relative, notes = self._difference(compiled)
            for call in (self.eager, compiled):
                for _ in range(self._warmup):
                    call()
            times = self._times_ms(compiled)
        told = CompiledMode(
            mode, None, *speedup(*times), *times,
            compile_time_s=max(0.0, first_ns / 1e9 - statistics.median(times[1]) / 1e3),
            max_difference=largest, relative_difference=relative, notes=notes)
        return self._with_gpu(_with_log(told, log.compilations(), before, _Counts.now()), compiled)

    def _with_gpu(self, one: CompiledMode, compiled: Callable[[], Any]) -> CompiledMode:
        """The result of a mode with the GPU work of its calls, if the recorder is active."""
        if not self.has_gpu:
            return one._replace(cuda_graphs=None)
        if not _native.is_recording():
            return one
        self.eager_kernels = self.eager_kernels or self.gpu_work("eager", self.eager)
        return _with_work(one, self.gpu_work(one.mode, compiled))

    def _times_ms(self, compiled: Callable[[], Any]) -> Tuple[List[float], List[float]]:
        """Interleaved samples of eager and compiled calls; each goes first in every other pair."""
        times: Tuple[List[float], List[float]] = ([], [])
        with _paused():
            for number in range(self._iterations):
                for side in (0, 1) if number % 2 == 0 else (1, 0):
                    times[side].append(self._time_ns((self.eager, compiled)[side]) / 1e6)
        return times

    def _difference(self, compiled: Callable[[], Any]) \
            -> Tuple[Optional[float], Optional[float], List[str]]:
        """The largest difference of the compiled result from eager's, that by eager's largest
        value, and why they are not known."""
        if self._draws:
            return None, None, ["the model draws random numbers, and compiled code draws others:"
                                " its result was not compared"]
        self._state.restore()
        results = []
        for call in (self.eager, compiled):
            # copies: a result may be an input, or memory that the next call uses again
            results.append([one.detach().clone() for one in _tensors(call())])
            self._state.restore()
        return _largest(self._torch, *results)

    def with_kernels(self, one: CompiledMode) -> CompiledMode:
        """The result of a mode with the GPU work of its calls. It compiles again: torch.profiler
        would have slowed the samples of the next mode."""
        if one.error is not None or self.eager_kernels is None:
            return one
        try:
            compiled = self._compile(one.mode)
            for _ in range(max(self._warmup, 1)):
                compiled()
            return _with_work(one, self.gpu_work(one.mode, compiled))
        except Exception as error:  # pylint: disable=broad-except
            return one._replace(notes=[*one.notes, f"its kernels were not counted: {error}"])

    def gpu_work(self, name: str, call: Callable[[], Any]) -> Optional[Kernels]:
        """What calls do on the GPU; None with a note if nobody tells."""
        def calls() -> None:
            for _ in range(_COUNTED_CALLS):
                call()
            self._wait()

        call()
        self._wait()
        try:
            if _native.is_recording():
                with Session(f"torch.compile {name}", may_nest=True) as session:
                    calls()
                found = session._result.calls if session._result else []
                source = "gpuprof"
            else:
                found, source = self._profiled(calls), "torch.profiler"
        except Exception as error:  # pylint: disable=broad-except
            found, source = [], f"{type(error).__name__}: {error}"
        if any(one.operations for one in found):
            return _kernels(found, source)
        self._note(f"Kernels are not known ({source} recorded none): run the program by"
                   " python -m gpuprof run")
        return None

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _profiled(self, calls: Callable[[], None]) -> List[Call]:
        profiler = self._torch.profiler
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU,
                                          profiler.ProfilerActivity.CUDA]) as profile:
            calls()
        return Work(open_trace(profile)).launched_in(_FOREVER)


@contextlib.contextmanager
def _paused() -> Iterator[None]:
    """Pause the recording, which would slow down the side with more launches more."""
    was_recording = _native.is_recording()
    if was_recording:
        _native.set_recording(False)
    try:
        yield
    finally:
        if was_recording:
            _native.set_recording(True)


class _Counts(NamedTuple):
    """What PyTorch has counted so far; None: this version does not count it."""
    generated_kernels: Optional[int]
    inductor: Optional[Dict[str, int]]
    breaks: Optional[Dict[str, int]]

    @classmethod
    def now(cls) -> "_Counts":
        """The present ones."""
        return cls(_compile_log.generated_kernels(), _compile_log.counters("inductor"),
                   _compile_log.counters("graph_break"))

    def kernels_since(self, before: "_Counts") -> Optional[int]:
        """The kernels that were generated in between."""
        if self.generated_kernels is None or before.generated_kernels is None:
            return None
        return max(0, self.generated_kernels - before.generated_kernels)

    def since(self, before: "_Counts", name: str) -> Optional[int]:
        """How often something happened in Inductor in between."""
        if self.inductor is None or before.inductor is None:
            return None
        return max(0, self.inductor.get(name, 0) - before.inductor.get(name, 0))


def _with_log(one: CompiledMode, found: Optional[Compilations], before: _Counts,
              after: _Counts) -> CompiledMode:
    """The result of a mode with what PyTorch tells of its compilations."""
    hits = after.since(before, "fxgraph_cache_hit")
    graphs = CudaGraphs(_compile_log.asks_for_cuda_graphs(one.mode), None,
                        after.since(before, "cudagraph_skips"),
                        found.cuda_graph_skips if found else [])
    breaks = (found.graph_breaks if found else None) or \
        _compile_log.counted_breaks(before.breaks, after.breaks)
    one = one._replace(
        generated_kernels=after.kernels_since(before), cache_hits=hits, cuda_graphs=graphs,
        graph_breaks=breaks, notes=one.notes + _notes(found, hits))
    return one if found is None else one._replace(
        compile_phases_s=found.phases_s, graphs=found.graphs, recompilations=found.recompilations)


def _with_work(one: CompiledMode, work: Optional[Kernels]) -> CompiledMode:
    """The result of a mode with the GPU work of a call."""
    graphs = one.cuda_graphs
    if work is None or graphs is None:
        return one
    return one._replace(kernels=work, cuda_graphs=graphs._replace(launches=work.graph_launches))


def _notes(found: Optional[Compilations], cache_hits: Optional[int]) -> List[str]:
    notes = []
    if found is not None and found.is_limit_reached:
        notes.append("a function was compiled too often (torch._dynamo.config.recompile_limit):"
                     " it runs without compilation from then on")
    # a recompilation may find the graph of the compilation before it
    if cache_hits is not None and cache_hits > len(found.recompilations if found else ()):
        notes.append(f"compiled graphs from the cache on disk: {cache_hits}; without it (a new"
                     " TORCHINDUCTOR_CACHE_DIR) the compile time is longer")
    return notes


def speedup(eager: Sequence[float], compiled: Sequence[float]) \
        -> Tuple[float, Optional[float], Optional[float]]:
    """The median of the ratios of neighboring samples, and the bounds of its 95 % interval.

    The bounds are order statistics (sign test): they assume nothing of the times, and single slow
    samples do not move them. There are none for fewer than six samples."""
    ratios = sorted(one / other for one, other in zip(eager, compiled))
    count, rank = len(ratios), 0
    probability = 0.5 ** count  # of `rank` or fewer ratios below the true median
    below = probability
    while below <= _TAIL:
        rank += 1
        probability *= (count - rank + 1) / rank
        below += probability
    bounds = (ratios[rank - 1], ratios[count - rank]) if rank else (None, None)
    return (statistics.median(ratios), *bounds)


def _largest(torch: Any, expected: Sequence[Any], got: Sequence[Any]) \
        -> Tuple[Optional[float], Optional[float], List[str]]:
    """The largest difference of results, that by the largest value, and why they are not known."""
    if [one.shape for one in expected] != [one.shape for one in got]:
        return None, None, ["the compiled result has other shapes than eager's"]
    if not expected:
        return None, None, ["the result has no tensors to compare"]
    try:
        found = [_difference_and_value(torch, one, other) for one, other in zip(expected, got)
                 if one.numel()]
    except Exception as error:  # pylint: disable=broad-except
        return None, None, [f"the results cannot be compared: {error}"]
    largest, value = (max(of) for of in zip(*found or [(0.0, 0.0)]))
    if not all(math.isfinite(difference) for difference, _ in found):
        return None, None, ["the compiled result and eager's are not finite in the same places"]
    return largest, largest / value if value and math.isfinite(value) else None, []


def _difference_and_value(torch: Any, one: Any, other: Any) -> Tuple[float, float]:
    """The largest difference of two tensors, and the largest value of the first one. NaN equals
    NaN, infinity itself."""
    wide = torch.complex128 if one.is_complex() else torch.float64
    one, other = one.to(wide), other.to(wide)
    is_equal = (one == other) | (one != one) & (other != other)
    difference = torch.where(is_equal, torch.zeros_like(one), one - other).abs()
    return float(difference.max()), float(torch.nan_to_num(one.abs(), nan=0.0).max())


def _kernels(found: Sequence[Call], source: str) -> Kernels:
    """The GPU work of one of the counted calls."""
    operations = [operation for call in found for operation in call.operations]
    times: Dict[str, List[int]] = {}
    for operation in operations:
        if operation.kind == "kernel":
            times.setdefault(operation.name, []).append(operation.span[1] - operation.span[0])
    is_whole = any(operation.kind == "graph" for operation in operations)
    top = [KernelTime(name, len(of) / _COUNTED_CALLS, sum(of) / _COUNTED_CALLS / 1e6)
           for name, of in times.items()]
    return Kernels(
        source, None if is_whole else sum(map(len, times.values())) / _COUNTED_CALLS,
        length(operation.span for operation in operations) / _COUNTED_CALLS / 1e6,
        sum(call.is_graph for call in found) / _COUNTED_CALLS,
        sorted(top, key=lambda one: -one.gpu_ms)[:_TOP])
