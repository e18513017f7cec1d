"""A program of a user, with every name of the package: package_test.py lets mypy --strict check it. It is not run."""
import asyncio
from typing import Dict, Iterator, List, Optional

import gpuprof
from gpuprof import Profiler, Range, Session, Timing, Trace

step = Range("step", size=3)


@step
def train(number: int) -> int:
    with gpuprof.range("forward", flops=2e9, shape=(1, 2)):
        return number + 1


@gpuprof.profile
def load(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@gpuprof.profile(name="named", device="cuda")
async def fetch(number: int) -> int:
    await asyncio.sleep(0)
    return number


@gpuprof.profile
def numbers() -> Iterator[int]:
    yield 1


@gpuprof.sample(0.01)
def answer(request: str) -> str:
    return request


class Model:
    @gpuprof.profile
    def forward(self, number: float) -> float:
        return number


trained: int = train(1)
loaded: bytes = load("file")
modeled: float = Model().forward(1.0)
listed: List[int] = list(numbers())
fetched: int = asyncio.run(fetch(3))
answered: str = answer("request")

identifier: int = gpuprof.start_range("copy", bytes=3)
gpuprof.end_range(identifier)
gpuprof.mark("here")
gpuprof.start(output="run", stacks="all")
gpuprof.stop()
is_active: bool = gpuprof.is_active()
gpuprof.enable(cpu_time=True)
gpuprof.disable()
gpuprof.reset()
with gpuprof.sample(0.1) as is_recorded:
    was_recorded: bool = is_recorded

timing: Timing = gpuprof.timing("forward", wait=1)
of_step: Timing = step.timing(wait=2)
busy: float = (timing.utilization or 0) + timing.mean_ns
gpuprof.track_tensor("weight", object())
gpuprof.untrack_tensor("weight")
memory = gpuprof.memory()
tracked: int = memory.tracked_bytes
if memory.peak is not None:
    held: Dict[str, List[object]] = memory.peak.to_dict()

profiler: Profiler = gpuprof.get_profiler(enabled=True)
with profiler.profile("part", "cuda", size=3):
    profiler.start("load")
    host_ns: int = profiler.stop("load")


@profiler.profile_function(operation="operation")
def operation(number: int) -> int:
    return number


@profiler.profile_kernel("kernel")
def kernel(number: int) -> int:
    return number


operated: int = operation(3) + kernel(4)
report: str = profiler.get_full_report()
worst = profiler.get_bottlenecks(top_n=3)

with gpuprof.session("session", trace="session.json", memory=True) as session:
    pass
cuda_ms: Optional[float] = session.cuda_time_ms
if session.kernels is not None:
    for row in session.kernels.rows():
        print(row["name"])
one: Session = gpuprof.measure(train, 3, warmup=1, iterations=3)
comparison = gpuprof.compare(one, gpuprof.measure(lambda: None))
if comparison.speedup is not None:
    speedup: float = comparison.speedup

trace: Trace = gpuprof.open("run.gpuprof")
trace.table("kernel", top=3).to_dict()
trace.kernels.to_numpy("name")
trace.to_html("run.html")
read = trace.counters("forward", reduce="MAX")["dram__bytes_read.sum"].value
idle = trace.holistic()["idle_percent"]
active_ns: int = trace.timeline()["gpu_active_ns"]
fastest = gpuprof.torch_compile(train, 3, modes=("default",)).fastest
error: Exception = gpuprof.GpuprofError("text")
