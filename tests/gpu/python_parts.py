"""The parts of tests/gpu/python: each compares the package with what its library counts.

    python_parts.py PART FILE     writes [[check, whether it is right, figures]] as JSON
"""
import json
import os
import re
import statistics
import sys

import gpuprof

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MB = 1_000_000
WAIT_S = 5
SPAN_LIMIT_US = 2
found = []


def check(what, is_right, figures=""):
    found.append([what, bool(is_right), str(figures)])


def kernels_of(session):
    """{name: (calls, ns)}, without copies and memsets."""
    return {row["name"]: (row["calls"], row["total_ns"]) for row in session.kernels.rows() if not row["name"].startswith("[")}


def operations_of(trace):
    """The same of a trace; and the calls and ns of its copies and memsets."""
    kernels = {}
    for name, ns in zip(trace.kernels["name"], trace.kernels["duration_ns"]):
        calls, total_ns = kernels.get(name, (0, 0))
        kernels[name] = calls + 1, total_ns + ns
    return kernels, (len(trace.copies), sum(trace.copies["duration_ns"]))


def check_calls(library, session, calls):
    """All kernels of a session are `calls` in all, and all are recorded; those of XLA are still in CUPTI's buffers."""
    counted = sum(of for of, _ in kernels_of(session).values())
    is_right = counted + session.pending == calls if library == "jax" else (counted, session.pending) == (calls, 0)
    check(f"{library}: as many kernels as launches", is_right, f"{counted} of {calls}, pending {session.pending}")


def check_spans(library, block, begin, end, milliseconds, delay, synchronize):
    """The span of a range, beside the time between two events on the same stream, less that of two events with nothing between. A delay on
    the GPU comes first: the stream then never waits for the host."""
    events_us, empty_us = [], []
    for number in range(30):
        for times, work in ((empty_us, list), (events_us, block)):
            delay()
            begin()
            with gpuprof.range(f"span {number}"):
                work()
            end()
            synchronize()
            times.append(milliseconds() * 1e3)
    gpuprof.timing("span 29", wait=WAIT_S)
    spans = gpuprof.timings(gpuprof.open(gpuprof.trace_path()))
    more_us = [one - spans[f"span {number}"].gpu_span_ns / 1e3 for number, one in enumerate(events_us)][5:]
    own_us = statistics.median(empty_us)
    check(f"{library}: the span is within {SPAN_LIMIT_US} us of the events", abs(statistics.median(more_us) - own_us) <= SPAN_LIMIT_US,
          f"events take {statistics.median(events_us):.1f} us, {statistics.median(more_us):+.2f} us more ({min(more_us):+.2f} to {max(more_us):+.2f});"
          f" two events alone {own_us:.2f} us")


def check_tensor(library, make, size):
    """Exact bytes, and it is not kept alive."""
    tensor = make()
    gpuprof.track_tensor("tensor", tensor)
    told = gpuprof.memory().tracked_bytes
    del tensor
    check(f"{library}: a tracked tensor is exact, and not kept", (told, gpuprof.memory().tracked_bytes) == (size, 0), f"{told} bytes")


def torch_part():
    import torch

    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (torch.nn.Linear(512, 512), torch.nn.GELU())]
    model, x = torch.nn.Sequential(*layers).cuda(), torch.randn(256, 512, device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)

    def step():
        with gpuprof.range("forward"):
            loss = model(x).square().mean()
        with gpuprof.range("backward"):
            loss.backward()
        with gpuprof.range("optimizer"):
            optimizer.step()
            optimizer.zero_grad()

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    gpuprof.reset()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        with gpuprof.session("steps") as session:
            for _ in range(20):
                step()
            torch.cuda.synchronize()
    kernels, copies = operations_of(gpuprof.open(profiler))
    ours = kernels_of(session)
    ours_copies = [(row["calls"], row["total_ns"]) for row in session.kernels.rows() if row["name"].startswith("[")]
    calls = sum(count for count, _ in kernels.values())
    differences = [name[:60] for name in {*kernels, *ours} if kernels.get(name, (0,))[0] != ours.get(name, (0,))[0]]
    check("torch: kernels are those of torch.profiler, by name", not differences,
          f"{calls} of {len(kernels)} names; different: {differences[:2]}")
    ns, ours_ns = sum(ns for _, ns in kernels.values()), sum(ns for _, ns in ours.values())
    check("torch: so is their sum, but for 1 ns each", abs(ns - ours_ns) <= calls, f"{ours_ns} and {ns} ns")
    check("torch: so are copies and memsets", sum(of[0] for of in ours_copies) == copies[0] and
          abs(sum(of[1] for of in ours_copies) - copies[1]) <= copies[0], f"{copies[0]}")
    of = {name: gpuprof.timing(name, wait=WAIT_S) for name in ("forward", "backward", "optimizer")}
    check("torch: the ranges of a step are the session", sum(one.gpu_time_ns + one.other_threads_ns for one in of.values()) ==
          round(session.cuda_time_ms * 1e6) and {one.calls for one in of.values()} == {20}, f"{session.cuda_time_ms:.3f} ms")
    check("torch: autograd's thread alone is in other_threads_ns", of["backward"].other_threads_ns > of["backward"].gpu_time_ns and
          of["forward"].other_threads_ns == of["optimizer"].other_threads_ns == 0, f"{of['backward'].other_threads_ns} ns")

    pinned = torch.ones(1024, pin_memory=True)
    with gpuprof.session("known") as session:
        for _ in range(100):
            x.add_(1)
        for _ in range(7):
            pinned.to("cuda", non_blocking=True)
        torch.cuda.synchronize()
    check_calls("torch", session, 100)
    check("torch: as many copies", [row["calls"] for row in session.kernels.rows() if "HtoD" in row["name"]] == [7])

    a = torch.randn(1024, 1024, device="cuda")
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    check_spans("torch", lambda: [torch.mm(a, a) for _ in range(20)], begin.record, end.record, lambda: begin.elapsed_time(end),
                lambda: torch.cuda._sleep(4_000_000), torch.cuda.synchronize)
    check_tensor("torch", lambda: torch.zeros(1000, 1000, device="cuda", requires_grad=True), 4 * MB)
    torch_memory(torch)


def torch_memory(torch):
    torch.cuda.memory._record_memory_history()
    large = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    del large
    memory = gpuprof.memory()
    used = torch.cuda.memory_allocated()
    check("torch: blocks of the allocator are what it has allocated", sum(memory.torch_blocks["bytes"]) == used == memory.pools["torch"]["used_bytes"],
          f"{used} bytes")
    check("torch: the peak of its pool is its own", memory.pools["torch"]["peak_bytes"] == torch.cuda.max_memory_allocated())
    check("torch: the peak of its history has the block", sum(memory.torch_peak["at_the_peak_bytes"]) >= 64 << 20)
    check("torch: the history names the line", any(place and "torch_memory (" in place and size == 64 << 20 for place, size in
                                                   zip(memory.torch_timeline["place"], memory.torch_timeline["bytes"])))
    torch.cuda.memory._record_memory_history(enabled=None)


def cupy_part():
    import cupy

    source = "extern \"C\" __global__ void spin(long long clocks) { long long end = clock64() + clocks; while (clock64() < end); }"
    spin, x = cupy.RawKernel(source, "spin"), cupy.zeros(1 << 20, dtype=cupy.float32)
    cupy.add(x, 1, out=x)
    spin((1,), (1,), (10,))
    cupy.cuda.runtime.deviceSynchronize()
    with gpuprof.session("known") as session:
        for _ in range(50):
            cupy.add(x, 1, out=x)
        cupy.cuda.runtime.deviceSynchronize()
    check_calls("cupy", session, 50)
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    check_spans("cupy", lambda: [cupy.add(x, 1, out=x) for _ in range(20)], begin.record, end.record,
                lambda: cupy.cuda.get_elapsed_time(begin, end), lambda: spin((1,), (1,), (4_000_000,)), cupy.cuda.runtime.deviceSynchronize)
    check_tensor("cupy", lambda: cupy.zeros((1000, 1000), dtype=cupy.float32), 4 * MB)
    pool = gpuprof.memory().pools["cupy"]
    check("cupy: its pool", pool["used_bytes"] == cupy.get_default_memory_pool().used_bytes(), pool)


def jax_part():
    import jax
    import jax.numpy as jnp

    double = jax.jit(lambda x: x * 2 + 1)
    x = jnp.ones((1000, 1000))
    double(x).block_until_ready()
    with gpuprof.session("known") as session:
        for _ in range(20):
            y = double(x)
        y.block_until_ready()
    check_calls("jax", session, 20)
    check_tensor("jax", lambda: jnp.zeros((1000, 1000)) + 1, 4 * MB)
    pool = gpuprof.memory().pools["jax"]
    check("jax: its pool", pool["used_bytes"] == jax.local_devices()[0].memory_stats()["bytes_in_use"], pool)


def numba_part():
    import numpy

    if not hasattr(numpy, "row_stack"):  # NumPy 2.5 has it no longer; older versions of numba-cuda need it
        numpy.row_stack = numpy.vstack
    from numba import cuda

    @cuda.jit
    def increment(x):
        x[cuda.grid(1)] += 1

    @cuda.jit
    def spin():
        for _ in range(3000):
            cuda.nanosleep(1000)

    x = cuda.to_device(numpy.zeros(1 << 20, dtype="float32"))
    increment[1 << 12, 256](x)
    spin[1, 1]()
    cuda.synchronize()
    with gpuprof.session("known") as session:
        for _ in range(30):
            increment[1 << 12, 256](x)
        cuda.synchronize()
    check_calls("numba", session, 30)
    begin, end = cuda.event(), cuda.event()
    check_spans("numba", lambda: [increment[1 << 12, 256](x) for _ in range(20)], begin.record, end.record, lambda: begin.elapsed_time(end),
                spin[1, 1], cuda.synchronize)
    check_tensor("numba", lambda: cuda.device_array(1_000_000, dtype="float32"), 4 * MB)


def compiled_part():
    """Ranges inside a compiled function."""
    import torch

    kept = gpuprof.Range("kept")

    @gpuprof.profile
    def inner(x):
        return x.sin()

    def outer(x):
        with gpuprof.range("new", size=3):
            y = x * 2
        with kept:
            y = y + 1
        return inner(y).sum()

    x = torch.randn(1000, device="cuda")
    told = torch.compile(outer)(x)
    breaks = dict(torch._dynamo.utils.counters["graph_break"])
    check("compiled: ranges inside a compiled function change no result", torch.allclose(told, outer(x)),
          f"{sum(breaks.values())} graph breaks: {[' '.join(one.split())[:80] for one in breaks]}")


def trainers_part():
    """The loops of Lightning, Transformers and Accelerate: four steps each."""
    import importlib.util

    for library in ("lightning", "transformers", "accelerate"):
        if importlib.util.find_spec(library):
            gpuprof.reset()
            globals()[library + "_steps"]()


def check_steps(library, **calls):
    found = {name: one.calls for name, one in gpuprof.timings(gpuprof.open(gpuprof.trace_path())).items()}
    told = {name: found.get(name.replace("_", " "), found.get(name)) for name in calls}
    check(f"{library}: its steps and phases are ranges", told == calls, told)


def lightning_steps():
    import lightning
    import torch

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch, _):
            return self.layer(batch[0]).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(32, 8)), batch_size=8)
    lightning.Trainer(profiler=gpuprof.lightning_profiler(), max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, devices=1).fit(Net(), data)
    check_steps("lightning", run_training_batch=4, run_training_epoch=1)


def transformers_steps():
    import torch
    import transformers

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def forward(self, x, labels=None):
            return {"loss": (self.layer(x) - labels).square().mean()}

    arguments = transformers.TrainingArguments(output_dir="trainer", per_device_train_batch_size=8, num_train_epochs=1, report_to=[],
                                               save_strategy="no", disable_tqdm=True)
    data = [{"x": torch.randn(8), "labels": torch.randn(1)} for _ in range(32)]
    transformers.Trainer(model=Net(), args=arguments, train_dataset=data, callbacks=[gpuprof.transformers_callback()]).train()
    check_steps("transformers", train=1, epoch=1, step=4, optimizer=4)


def accelerate_steps():
    import accelerate
    import torch

    accelerator = gpuprof.mark_accelerator(accelerate.Accelerator())
    layer = torch.nn.Linear(8, 1)
    model, optimizer, data = accelerator.prepare(layer, torch.optim.SGD(layer.parameters(), lr=0.1),
                                                 torch.utils.data.DataLoader(torch.randn(32, 8), batch_size=8))
    for batch in data:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).square().mean())
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    check_steps("accelerate", step=4, backward=4, clip_gradients=4)


def docs_part():
    """The snippets of docs/howto/pytorch.md, as they are."""
    import itertools

    import torch

    with open(os.path.join(ROOT, "docs", "howto", "pytorch.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
    model, x = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU()).cuda(), torch.randn(64, 256, device="cuda")
    names = {"torch": torch, "itertools": itertools, "model": model, "x": x, "loader": [x] * 30,
             "step": lambda batch: model(batch).square().mean().backward()}
    for block in blocks:
        exec(block, names)
    check("docs: each snippet of docs/howto/pytorch.md runs", len(blocks) == 3 and all(map(os.path.exists, ("compile.html", "snapshot.pickle"))))


globals()[sys.argv[1] + "_part"]()
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(found, file)
