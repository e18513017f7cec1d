"""A training step under torch.profiler, which is a CUPTI client: its output is the same whether or
not another profiler records.

Runs several sessions, then two rounds of a schedule, with stacks, shapes and memory.  For each
trace of torch.profiler, prints the number of events of each kind and name, except for CUPTI's
overhead, and the number of events that are linked to a call or an operator.
"""
import collections
import json
import os
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, schedule

KINDS = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver")
OPERATIONS = KINDS[:3]
ACTIVITIES = [ProfilerActivity.CPU, ProfilerActivity.CUDA]

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
batch = torch.randn(64, 256).pin_memory()
spins = 0


def step():
    global spins
    x = batch.to("cuda", non_blocking=True)
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    torch.cuda._sleep(1000)  # exactly one launch of spin_kernel
    spins += 1


def describe(profiler, title):
    """Print what a trace of torch.profiler has."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    counts = collections.Counter((event["cat"], event["name"]) for event in events
                                 if event.get("cat") in KINDS and event["ph"] == "X")
    calls = {event["args"]["correlation"] for event in events
             if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event["args"]}
    ops = {event["args"]["External id"] for event in events if event.get("cat") == "cpu_op" and "External id" in event["args"]}
    work = [event for event in events if event.get("cat") in OPERATIONS and event["ph"] == "X"]
    for (kind, name), count in sorted(counts.items()):
        print(f"{title}: {kind} {name[:80]}: {count}")
    print(f"{title}: with a call {sum(event['args']['correlation'] in calls for event in work)},",
          f"with an operator {sum(event['args'].get('External id') in ops for event in work)},",
          f"of no length {sum(event['dur'] <= 0 for event in work)}, of {len(work)}")
    print(f"{title}: operators {sum(event.get('cat') == 'cpu_op' for event in events)},",
          f"memory events {sum(event.get('name') == '[memory]' for event in events)}")


for _ in range(3):
    step()
torch.cuda.synchronize()
for number in range(3):
    with profile(activities=ACTIVITIES) as session:
        for _ in range(4):
            step()
        torch.cuda.synchronize()
    describe(session, f"session {number + 1}")
    step()

rounds = []
with profile(activities=ACTIVITIES, schedule=schedule(wait=2, warmup=1, active=3, repeat=2), record_shapes=True, profile_memory=True,
             with_stack=True, on_trace_ready=lambda done: (rounds.append(1), describe(done, f"round {len(rounds)}"))) as session:
    for _ in range(14):
        step()
        torch.cuda.synchronize()  # else what still runs when a round begins is in it, or is not
        session.step()
torch.cuda.synchronize()
print("rounds", len(rounds))
print("kernel.spin_kernel", spins)
