"""gpuprof: where GPU time and memory went, and which line to change.

Run the program under the recorder: ``python -m gpuprof run train.py``. In the program, ranges name
its parts::

    import gpuprof

    with gpuprof.range("forward"):
        loss = model(batch)

Afterwards, or in another program, read the trace::

    trace = gpuprof.open("gpuprof-train-1234.gpuprof")
    trace.kernels.to_pandas()
    trace.advice()

Without the recorder, ranges cost next to nothing.
"""
from typing import TYPE_CHECKING, Any, List

from ._native import end_range, mark, start_range
from ._program import GpuprofError
from ._ranges import Range, disable, enable, profile, reset, sample
from ._ranges import own_work as _own_work
from ._ranges import range as range  # exported, though not in __all__
from ._recording import is_active, start, stop, trace_path

if TYPE_CHECKING:
    from ._callbacks import lightning_profiler, mark_accelerator, transformers_callback
    from ._compile import (CompiledMode, CompileReport, CudaGraphs, GraphBreak, Kernels, KernelTime,
                           Recompilation, torch_compile)
    from ._memory import Memory, Tensor, memory, track_tensor, untrack_tensor
    from ._notebook import install_kernelspec, load_ipython_extension
    from ._profiler import Profiler, get_profiler
    from ._session import Comparison, Session, compare, measure, session
    from ._table import Column, Table
    from ._timing import Timing, timing, timings
    from ._trace import CounterValue, Trace
    from ._trace import open as open

# Imported at their first use: a program that only has ranges does not pay for them.
_MODULES = {
    "_callbacks": ("lightning_profiler", "mark_accelerator", "transformers_callback"),
    "_compile": ("CompiledMode", "CompileReport", "CudaGraphs", "GraphBreak", "Kernels",
                 "KernelTime", "Recompilation", "torch_compile"),
    "_memory": ("Memory", "Tensor", "memory", "track_tensor", "untrack_tensor"),
    "_notebook": ("install_kernelspec", "load_ipython_extension"),
    "_profiler": ("Profiler", "get_profiler"),
    "_session": ("Comparison", "Session", "compare", "measure", "session"),
    "_table": ("Column", "Table"),
    "_timing": ("Timing", "timing", "timings"),
    "_trace": ("CounterValue", "Trace", "open"),
}

# Names that shadow builtins (range, open) are for use as gpuprof.range, and not for import *.
__all__ = [
    "Column", "compare", "Comparison", "CompiledMode", "CompileReport", "CounterValue",
    "CudaGraphs", "disable", "enable", "end_range", "get_profiler", "GpuprofError",
    "GraphBreak", "install_kernelspec", "is_active", "Kernels", "KernelTime",
    "lightning_profiler", "load_ipython_extension", "mark", "mark_accelerator", "measure",
    "Memory", "memory", "profile", "Profiler", "Range", "Recompilation", "reset", "sample",
    "session", "Session", "start", "start_range", "stop", "Table", "Tensor", "timing", "Timing",
    "timings", "torch_compile", "Trace", "trace_path", "track_tensor", "transformers_callback",
    "untrack_tensor",
]


def __dir__() -> List[str]:
    return sorted({*globals(), "open", *__all__})


@_own_work
def __getattr__(name: str) -> Any:
    import importlib

    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("gpuprof")
    for module, names in _MODULES.items():
        if name in names:
            found = importlib.import_module(f".{module}", __name__)
            globals().update({each: getattr(found, each) for each in names})
            return globals()[name]
    raise AttributeError(f"module 'gpuprof' has no attribute {name!r}")
