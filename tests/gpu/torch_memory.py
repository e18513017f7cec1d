"""Tensors with known source lines, and PyTorch's own account of them: the snapshot is written to
argv[1].
"""
import sys

import torch

MIB = 1 << 20


def keep(size):
    return torch.zeros(size, dtype=torch.uint8, device="cuda")  # keep


torch.cuda.memory._record_memory_history()
kept = [keep(4 * MIB) for _ in range(3)]
large = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")  # large
del large
torch.cuda.synchronize()
torch.cuda.memory._dump_snapshot(sys.argv[1])
print("reserved", torch.cuda.memory_reserved())
print("allocated", torch.cuda.memory_allocated())
