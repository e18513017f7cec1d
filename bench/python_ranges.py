#!/usr/bin/env python3
"""The cost of a range in Python: ns for each entry and exit, the least of 200 loops of 2,000; of
other libraries that are installed, the least of 20 loops.

    python3 bench/python_ranges.py              without the recorder
    gpuprof-run -q python3 bench/python_ranges.py
"""
import contextlib
import importlib
import os
import tempfile
import timeit
from typing import Any, Callable, ContextManager, Iterator, Tuple

import gpuprof

LOOPS, LOOPS_OF_OTHERS, TIMES = 200, 20, 2000


def cost_ns(statement: str, loops: int = LOOPS, **more: object) -> float:
    names = {**more, "make": gpuprof.range, "gpuprof": gpuprof, "kept": gpuprof.Range("kept"),
             "call": gpuprof.profile(lambda: None), "plain": lambda: None}
    return min(timeit.repeat(statement, globals=names, repeat=loops, number=TIMES)) / TIMES * 1e9


def module(name: str) -> Any:
    """None if it is not installed."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return None


@contextlib.contextmanager
def proton_session(proton: Any) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        proton.start(os.path.join(folder, "proton"))
        yield
        proton.finalize()


def others() -> Iterator[Tuple[str, Callable[[str], Any], Callable[[], ContextManager[Any]]]]:
    """The ranges of other libraries: what it is, what makes one, what is active meanwhile."""
    nothing = contextlib.nullcontext
    nvtx, torch, proton, cupyx = map(module, ("nvtx", "torch", "triton.profiler", "cupyx.profiler"))
    if nvtx:
        yield "nvtx.annotate", nvtx.annotate, nothing
    if torch:
        yield "torch.cuda.nvtx.range", torch.cuda.nvtx.range, nothing
        yield "record_function", torch.profiler.record_function, nothing
        yield "record_function, torch.profiler on", torch.profiler.record_function, lambda: torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU])
    if proton:
        yield "proton.scope", proton.scope, nothing
        yield "proton.scope, Proton on", proton.scope, lambda: proton_session(proton)
    if cupyx:
        yield "cupyx.profiler.time_range", cupyx.time_range, nothing


def main() -> None:
    empty_ns, call_ns = cost_ns("pass"), cost_ns("plain()")
    print(f"recorded: {gpuprof.is_active()}")
    for name, statement, base_ns in (("with range('x')", "with make('x'): pass", empty_ns),
                                     ("with gpuprof.range('x')", "with gpuprof.range('x'): pass", empty_ns),
                                     ("with a Range", "with kept: pass", empty_ns),
                                     ("a decorated call", "call()", call_ns)):
        print(f"{name:36} {cost_ns(statement) - base_ns:6.0f} ns")
    for name, other, active in others():
        try:
            with active():
                print(f"{name:36} {cost_ns('with other(text): pass', LOOPS_OF_OTHERS, other=other, text='x') - empty_ns:6.0f} ns")
        except Exception as error:  # other versions, or no GPU
            print(f"{name:36} {type(error).__name__}: {error}")
    # last, as it pauses the recording: one entry in a hundred is recorded
    sampled_ns = cost_ns("with sampler: pass", sampler=gpuprof.sample(0.01)) - empty_ns
    print(f"{'with a sample(0.01)':36} {sampled_ns:6.0f} ns")


if __name__ == "__main__":
    main()
