"""torch_windows.py profiler|range|count|steps|pair: known numbers of launches by PyTorch inside and
outside of windows.

profiler: 4 windows of torch.cuda.profiler with 25 addition kernels each.  range: the same as NVTX
ranges "window".  count: 1000 other kernels, 500 of addition, 500 others.  steps: 12 training steps
with one other kernel at the end of each; the 5th to the 8th are a window of torch.cuda.profiler.
pair: two processes with a GPU each, with 10 all-reduces of NCCL in a window of torch.cuda.profiler,
5 before it and 5 after it.
"""
import contextlib
import os
import sys

import torch
import torch.distributed
import torch.multiprocessing


@contextlib.contextmanager
def profiler_window():
    torch.cuda.profiler.start()
    yield
    torch.cuda.profiler.stop()


def add(x, times):
    for _ in range(times):
        x.add_(1.0)


def other(times):
    for _ in range(times):
        torch.cuda._sleep(1000)


def windows(window):
    x = torch.empty(1024, device="cuda")
    add(x, 10)
    for _ in range(4):
        other(30)
        with window():
            add(x, 25)
        add(x, 5)
    other(30)


def count():
    x = torch.empty(1024, device="cuda")
    other(1000)
    add(x, 500)
    other(500)


def steps():
    torch.manual_seed(0)
    model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), 2).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(16, 32, 128, device="cuda")
    for step in range(12):
        with profiler_window() if 4 <= step < 8 else contextlib.nullcontext():
            loss = model(batch).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            other(1)


def reduce(rank):
    dist = torch.distributed
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="29512", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    x = torch.full((1 << 20,), float(rank + 1), device="cuda")
    for window in (contextlib.nullcontext, profiler_window, contextlib.nullcontext):
        with window():
            for _ in range(10 if window is profiler_window else 5):
                dist.all_reduce(x)
    torch.cuda.synchronize()
    dist.destroy_process_group()


def pair():
    torch.multiprocessing.spawn(reduce, nprocs=2)


def main():
    {"profiler": lambda: windows(profiler_window), "range": lambda: windows(lambda: torch.cuda.nvtx.range("window")), "count": count,
     "steps": steps, "pair": pair}[sys.argv[1]]()
    if sys.argv[1] != "pair":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
