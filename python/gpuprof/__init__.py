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
from importlib import metadata as _metadata

from ._program import GpuprofError
from .ranges import Range, disable, enable, end_range, mark, profile, range, start_range
from .recording import is_active, start, stop, trace_path
from .table import Column, Table
from .trace import Trace, open

# Names that shadow builtins (range, open) are for use as gpuprof.range, and not for import *.
__all__ = ["Column", "GpuprofError", "Range", "Table", "Trace", "disable", "enable", "end_range",
           "is_active", "mark", "profile", "start", "start_range", "stop", "trace_path"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        return _metadata.version("gpuprof")
    raise AttributeError(f"module 'gpuprof' has no attribute {name!r}")
