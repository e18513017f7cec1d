"""Memory: tracked tensors, the pools of the frameworks, and memory that CUDA allocated."""
import os
import pickle
import sys
import tempfile
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import _program, _recording
from ._ranges import own_work
from ._table import Table
from ._trace import Trace


class Tensor(NamedTuple):
    """A tracked tensor, as it was when it was tracked.

    bytes: of its elements
    storage, storage_bytes: where its storage begins, and the whole of it: views share it"""
    name: str
    shape: Tuple[int, ...]
    dtype: str
    bytes: int
    storage: int
    storage_bytes: int


class Memory(NamedTuple):
    """Memory now. Sizes are in bytes; None: not known.

    tensors: the tracked tensors that are alive
    tracked_bytes: of these, shared storages counted once
    pools: used_bytes, peak_bytes and reserved_bytes by framework
    timeline: the allocations and frees of CUDA so far
    peak: the blocks of their peak, by call site
    torch_timeline: the allocations and frees of PyTorch's allocator, in the history that
        torch.cuda.memory._record_memory_history() turns on; `unix_ns` is the time of the clock
    torch_peak: its memory by purpose, such as parameters: now, and at the peak of the history
    torch_blocks: its blocks of tensors, by call site"""
    tensors: List[Tensor]
    tracked_bytes: int
    pools: Dict[str, Dict[str, Optional[int]]]
    timeline: Optional[Table]
    peak: Optional[Table]
    torch_timeline: Optional[Table] = None
    torch_peak: Optional[Table] = None
    torch_blocks: Optional[Table] = None


# The reference does not keep the tensor alive.
_tracked: Dict[str, Tuple["weakref.ref[Any]", Tensor]] = {}


def _storage(tensor: Any, pointer: int, size: int) -> Tuple[int, int]:
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    base = getattr(tensor, "base", None)
    if base is not None and hasattr(base, "nbytes"):
        return _pointer(base), int(base.nbytes)
    return pointer, size


def _pointer(tensor: Any) -> int:
    if hasattr(tensor, "data_ptr"):
        return tensor.data_ptr()
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        found = getattr(tensor, interface, None)
        if found is not None:
            return found["data"][0]
    return tensor.unsafe_buffer_pointer()  # JAX


def track_tensor(name: str, tensor: Any) -> None:
    """Remember a tensor's size under a name, until it is freed or untracked.

    It may be any array of PyTorch, CuPy, JAX, Numba or NumPy, and is neither copied nor kept alive.
    Raises TypeError for anything else."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a tensor is a str, not {type(name)}")
    try:
        size, pointer = int(tensor.nbytes), _pointer(tensor)
        found = Tensor(name, tuple(int(one) for one in tensor.shape), str(tensor.dtype), size,
                       *_storage(tensor, pointer, size))
        reference = weakref.ref(tensor)
    except Exception as error:  # pylint: disable=broad-except # as of sparse and deleted arrays
        raise TypeError(f"{type(tensor).__name__} is no tensor with memory of its own: {error}"
                        ) from None
    _tracked[name] = reference, found


def untrack_tensor(name: str) -> None:
    """Forget a tracked tensor; KeyError if there is none of that name."""
    if _tracked.pop(name, None) is None:
        raise not_tracked(name)


def not_tracked(name: str) -> KeyError:
    """The error of a tensor that is not there."""
    return KeyError(f"no tensor {name!r} is tracked, or it was freed")


def tracked_tensors() -> List[Tensor]:
    """The tracked tensors that are alive."""
    for name in [name for name, (reference, _) in _tracked.items() if reference() is None]:
        del _tracked[name]
    return [tensor for _, tensor in _tracked.values()]


def tracked_bytes(tensors: List[Tensor]) -> int:
    """The memory of tensors, shared storages counted once."""
    return sum({tensor.storage: tensor.storage_bytes for tensor in tensors}.values())


def pools() -> Dict[str, Dict[str, Optional[int]]]:
    """Used, most used and reserved bytes of the pools of those frameworks that the program uses, on the
    current device. This initializes no framework."""
    found: Dict[str, Dict[str, Optional[int]]] = {}
    torch, cupy, jax = (sys.modules.get(name) for name in ("torch", "cupy", "jax"))
    if torch is not None and torch.cuda.is_initialized():
        stats = torch.cuda.memory_stats()
        found["torch"] = {"used_bytes": stats.get("allocated_bytes.all.current", 0),
                          "peak_bytes": stats.get("allocated_bytes.all.peak"),
                          "reserved_bytes": stats.get("reserved_bytes.all.current", 0)}
    if cupy is not None:
        pool = cupy.get_default_memory_pool()
        found["cupy"] = {"used_bytes": pool.used_bytes(), "peak_bytes": None,
                         "reserved_bytes": pool.total_bytes()}
    # before its first use, its public functions would take most of the GPU's memory
    if jax is not None and getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None):
        stats = jax.local_devices()[0].memory_stats() or {}
        found["jax"] = {"used_bytes": stats.get("bytes_in_use"),
                        "peak_bytes": stats.get("peak_bytes_in_use"),
                        "reserved_bytes": stats.get("bytes_reserved", stats.get("pool_bytes"))}
    return found


def _torch_snapshot() -> Dict[str, Any]:
    """What PyTorch's allocator tells of its blocks and history; {} if it tells nothing."""
    torch = sys.modules.get("torch")
    try:
        # no public function has the history
        return torch.cuda.memory._snapshot() if torch.cuda.is_initialized() else {}  # type: ignore
    except Exception:  # pylint: disable=broad-except # private: other versions may differ
        return {}


def _torch_timeline(snapshot: Dict[str, Any]) -> Optional[Table]:
    rows = [{"kind": event.get("action"), "bytes": event.get("size"), "address": event.get("addr"),
             "device": device, "stream": event.get("stream"),
             "unix_ns": event["time_us"] * 1000 if "time_us" in event else None,
             "place": _place(event.get("frames") or [])}
            for device, events in enumerate(snapshot.get("device_traces", [])) for event in events]
    return Table.of(rows, list(rows[0])) if rows else None


def _place(frames: List[Dict[str, Any]]) -> Optional[str]:
    """The innermost frame in Python, outside of PyTorch if there is one."""
    library = os.path.join(os.path.dirname(getattr(sys.modules.get("torch"), "__file__", "/")), "")
    python = [frame for frame in frames if frame["filename"].endswith(".py")]
    own = [frame for frame in python if not frame["filename"].startswith(library)] or python
    return "{name} ({filename}:{line})".format_map(own[0]) if own else None


def _torch_tables(trace: Trace, snapshot: Dict[str, Any]) -> List[Optional[Table]]:
    """Its memory by purpose, and by call site; None if this version's snapshot cannot be read."""
    if not snapshot:
        return [None, None]
    with tempfile.TemporaryDirectory(prefix="gpuprof-") as folder:
        path = os.path.join(folder, "snapshot.pickle")
        with open(path, "wb") as file:
            pickle.dump(snapshot, file)
        try:
            return [trace.table(by, snapshot=path) for by in ("torch-category", "torch-block")]
        except _program.GpuprofError:
            return [None, None]


@own_work
def memory() -> Memory:
    """The memory of this program now: its tensors, the pools of the frameworks, and, if it is
    recorded, what it has from CUDA and from PyTorch's allocator."""
    tensors = tracked_tensors()
    found = Memory(tensors, tracked_bytes(tensors), pools(), None, None)
    path = _recording.trace_path()
    if path is None:
        return found
    trace, snapshot = Trace(path), _torch_snapshot()
    torch_peak, torch_blocks = _torch_tables(trace, snapshot)
    return found._replace(timeline=trace.memory, peak=trace.table("memory-peak"),
                          torch_timeline=_torch_timeline(snapshot), torch_peak=torch_peak,
                          torch_blocks=torch_blocks)
