#!/usr/bin/env python3
"""The cost of a range in Python: ns for each entry and exit, the least of 200 loops of 2,000.

    python3 bench/python_ranges.py              without the recorder
    gpuprof-run -q python3 bench/python_ranges.py
"""
import timeit

import gpuprof

LOOPS, TIMES = 200, 2000


def cost_ns(statement: str, **more: object) -> float:
    names = {**more, "make": gpuprof.range, "gpuprof": gpuprof, "kept": gpuprof.Range("kept"),
             "call": gpuprof.profile(lambda: None), "plain": lambda: None}
    return min(timeit.repeat(statement, globals=names, repeat=LOOPS, number=TIMES)) / TIMES * 1e9


def main() -> None:
    empty_ns, call_ns = cost_ns("pass"), cost_ns("plain()")
    print(f"recorded: {gpuprof.is_active()}")
    for name, statement, base_ns in (("with range('x')", "with make('x'): pass", empty_ns),
                                     ("with gpuprof.range('x')", "with gpuprof.range('x'): pass", empty_ns),
                                     ("with a Range", "with kept: pass", empty_ns),
                                     ("a decorated call", "call()", call_ns)):
        print(f"{name:24} {cost_ns(statement) - base_ns:6.0f} ns")
    # last, as it pauses the recording: one entry in a hundred is recorded
    sampled_ns = cost_ns("with sampler: pass", sampler=gpuprof.sample(0.01)) - empty_ns
    print(f"{'with a sample(0.01)':24} {sampled_ns:6.0f} ns")


if __name__ == "__main__":
    main()
