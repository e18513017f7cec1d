"""Every name of the package, as others call it: each line works, or raises the error behind it.

    every_name.py TRACE     TRACE is read if this program is not recorded

"recorded or E": works in a recorded program, and raises E in another one.  package_test.py runs it in both, on the simulated device.
"""
import asyncio  # noqa: F401
import ctypes
import json  # noqa: F401
import sys
import warnings

import gpuprof

CALLS = """
with gpuprof.range("forward", flops=2e9, shape=(1, 2), name="x"): work()
gpuprof.range(3)  # TypeError
gpuprof.range(b"x")  # TypeError
with gpuprof.range(""), gpuprof.range("n" * 100000), gpuprof.range("h\\u00f6he\\n"), gpuprof.range("a\\0b"): work()
gpuprof.range("forward").timing(wait=2)  # recorded or GpuprofError
step = gpuprof.Range("step", batch=3)
with step, step: work()
step(double)(3) == 6 or fail()
step.timing(wait=2)  # recorded or GpuprofError
gpuprof.Range(None)  # TypeError
gpuprof.profile(double)(3) == gpuprof.profile(name="named", size=3)(double)(3) == gpuprof.profile()(double)(3) == 6 or fail()
asyncio.run(gpuprof.profile(asynchronous)(3)) == 3 or fail()
list(gpuprof.profile(generator)(3)) == [0, 1, 2] or fail()
gpuprof.profile("name")  # TypeError
gpuprof.profile(name=3)(double)  # TypeError
gpuprof.profile(type(step))  # TypeError
gpuprof.end_range(gpuprof.start_range("copy", bytes=4))
gpuprof.end_range(123456789)
gpuprof.end_range("a")  # TypeError
gpuprof.start_range(3)  # TypeError
gpuprof.mark("here")
gpuprof.is_active() == is_recorded or fail()
gpuprof.disable(), gpuprof.enable(), gpuprof.reset()
with step, gpuprof.range("forward"): work()
gpuprof.timing("forward", wait=2).gpu_busy_ns > 0 or fail()  # recorded or GpuprofError
gpuprof.timing("never")  # recorded: KeyError or GpuprofError
gpuprof.timing("forward").calls = 3  # recorded: AttributeError or GpuprofError
gpuprof.track_tensor("weight", tensor)
gpuprof.memory().tracked_bytes == 400 or fail()
gpuprof.untrack_tensor("weight")
gpuprof.untrack_tensor("weight")  # KeyError
gpuprof.track_tensor("text", "text")  # TypeError
gpuprof.track_tensor("none", None)  # TypeError
profiler = gpuprof.get_profiler()
gpuprof.get_profiler(enabled=True) is profiler or fail()
profiler.start("manual"), work(), profiler.stop("manual") > 0 or fail()
profiler.stop("never")  # KeyError
with profiler.profile("part", "cuda:0", size=4), profiler.profile_kernel("kernel"): work()
profiler.profile_function(operation="operation")(double)(3) == profiler.profile_function(double)(3) == 6 or fail()
profiler.get_timing("kernel", wait=2)  # recorded or GpuprofError
profiler.track_tensor("tensor", tensor)
profiler.get_tensor_info("tensor").bytes == profiler.get_total_memory() == 400 or fail()
profiler.get_tensor_info("never")  # KeyError
profiler.get_report(), profiler.get_timing_report(), profiler.get_memory_report(), profiler.get_full_report()
json.dumps(profiler.get_summary()), profiler.get_bottlenecks(3), profiler.get_bottlenecks(top_n=3)
profiler.print_summary(), profiler.print_bottlenecks(top_n=2)
json.load(open(profiler.export_json("exported.json")))
profiler.untrack_tensor("tensor"), profiler.disable(), profiler.enable(), profiler.reset()
with gpuprof.session("session", trace="session.json", flame="session.txt", memory=True) as session: work()
session.total_time_ms, session.cuda_time_ms, session.cpu_time_ms, session.peak_memory_mb, session.trace_path, session.flame_graph
session.allocated_memory_mb, session.reserved_memory_mb, session.kernels, session.bottlenecks, session.recommendations
with gpuprof.session("outer"), gpuprof.session("second"): pass  # GpuprofError
with gpuprof.session("raises"): raise OSError  # OSError
gpuprof.session(3)  # TypeError
gpuprof.session("never").cuda_time_ms  # GpuprofError
one = gpuprof.measure(double, 3, warmup=1, iterations=8)
str(gpuprof.compare(one, gpuprof.measure(work)))
gpuprof.compare(one, 3)  # TypeError
gpuprof.measure(3)  # TypeError
gpuprof.measure(work, iterations=0)  # ValueError
gpuprof.measure(work, warmup=-1)  # ValueError
gpuprof.measure(raising)  # OSError
gpuprof.sample(0.5), gpuprof.sample(3)  # ValueError
gpuprof.is_active() == is_recorded or fail()
with gpuprof.sample(1) as was_recorded: was_recorded == is_recorded or fail()
gpuprof.sample(0.5)(double)(3) == 6 or fail()
gpuprof.stop(), gpuprof.is_active() and fail()
is_recorded and gpuprof.start()
gpuprof.start(output="x", toggle_signal="USR1")  # GpuprofError
gpuprof.torch_compile(double, 3)  # GpuprofError
gpuprof.open("never")  # FileNotFoundError
gpuprof.open(3)  # TypeError
gpuprof.open(".")  # GpuprofError
gpuprof.open(__file__)  # GpuprofError
trace = gpuprof.open(gpuprof.trace_path() or sys.argv[1])
[table.__arrow_c_stream__(requested_schema=None) for table in (trace.kernels, trace.api, trace.copies, trace.ranges, trace.memory)]
[(table.to_dict(), list(table.rows()), repr(table), table._repr_html_()) for table in trace.tables.values()]
trace.table("kernel"), trace.table(by="api", top=2)
trace.table("nonsense")  # GpuprofError
trace.table(3)  # TypeError
trace.summary(), trace.advice(), trace.flame(), trace.flame(value="gpu-time"), trace.holistic(), trace.timeline()
trace.flame("nonsense")  # GpuprofError
trace.counters("step", reduce="MAX")  # KeyError
trace.counters("step", reduce="MEDIAN")  # ValueError
trace.to_chrome("out.json"), trace.to_html("out.html"), trace.to_json("out.jsonl")
trace.to_json("/never/out.jsonl")  # GpuprofError
gpuprof.never  # AttributeError
"""

cuda = ctypes.CDLL("libcudart.so.13")
memory = ctypes.c_void_p()
cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 16))
is_recorded = gpuprof.is_active()


class Tensor:
    nbytes, shape, dtype = 400, (10, 10), "float32"

    def data_ptr(self):
        return 4096


tensor = Tensor()


def work():
    cuda.cudaMemset(memory, 0, ctypes.c_size_t(64))


def double(number):
    work()
    return 2 * number


async def asynchronous(number):
    return number


def generator(number):
    yield from range(number)


def raising():
    raise OSError


def fail():
    raise AssertionError


def expected(comment):
    """The name of the error, "" for none."""
    recorded, _, other = comment.rpartition(" or ")
    return (recorded[len("recorded: "):] if is_recorded else other) if recorded else other


wrong = []
warnings.simplefilter("ignore")
for line in CALLS.strip().splitlines():
    statement, _, comment = line.partition("  # ")
    try:
        exec(statement, globals())
        told = ""
    except Exception as error:  # whatever it is, it is told
        told, text = type(error).__name__, str(error)
    if told != expected(comment):
        wrong.append(f"{statement}: {told or 'no error'}" + (f": {text}" if told else ""))
sys.exit("\n".join(wrong) or 0)
