"""A compiled step under JAX's profiler, which is a CUPTI client: its output is the same whether or
not another profiler records.

Runs several sessions; prints the number of operations of each name on the GPU's streams for each.
"""
import collections
import glob
import gzip
import json
import os
import tempfile

import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return w - 0.01 * jax.grad(lambda v: jnp.tanh(x @ v).sum())(w)


def describe(folder, title):
    """Print what a session of JAX's profiler has of the GPU."""
    [path] = glob.glob(os.path.join(folder, "**", "*.trace.json.gz"), recursive=True)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = [event for event in json.load(file)["traceEvents"] if event]
    processes = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    counts = collections.Counter(
        event["name"] for event in events
        if event.get("ph") == "X" and processes[event["pid"]].startswith("/device:GPU") and threads[event["pid"], event["tid"]].startswith("Stream"))
    for name, number in sorted(counts.items()):
        print(f"{title}: {name[:80]}: {number}")


w = jnp.ones((128, 128))
x = jnp.ones((64, 128))
for _ in range(3):
    w = step(w, x)
w.block_until_ready()
for number in range(3):
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(20):
                w = step(w, x)
            w.block_until_ready()
        describe(folder, f"session {number + 1}")
    w = step(w, x)
w.block_until_ready()
print("value", round(float(w[0, 0]), 4))
