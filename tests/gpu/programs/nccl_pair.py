"""Two processes, two GPUs, NCCL: each rank has its own trace, with NCCL's ranges and their
payloads.
"""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

REDUCTIONS = 10
ELEMENTS = 1 << 20


def work(rank, count):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", LOCAL_RANK=str(rank))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=count)
    x = torch.full((ELEMENTS,), float(rank + 1), device="cuda")
    for _ in range(REDUCTIONS):
        dist.all_reduce(x)
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    if torch.cuda.device_count() < 2:
        print("skipped: fewer than two GPUs")
        sys.exit(0)
    processes.spawn(work, args=(2,), nprocs=2)
    print("processes", 2)
