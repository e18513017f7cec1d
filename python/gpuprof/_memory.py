"""Memory: tracked tensors, the pools of the frameworks, and memory that CUDA allocated."""
import sys
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import _recording
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
    pools: used_bytes and reserved_bytes by framework
    timeline: the allocations and frees of CUDA so far
    peak: the blocks of their peak, by call site"""
    tensors: List[Tensor]
    tracked_bytes: int
    pools: Dict[str, Dict[str, Optional[int]]]
    timeline: Optional[Table]
    peak: Optional[Table]


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
        shape = tuple(int(one) for one in tensor.shape)
        reference = weakref.ref(tensor)
    except (AttributeError, TypeError) as error:
        raise TypeError(f"{type(tensor).__name__} is no tensor: {error}") from None
    _tracked[name] = reference, Tensor(name, shape, str(tensor.dtype), size,
                                       *_storage(tensor, pointer, size))


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
    """Used and reserved bytes of the pools of those frameworks that the program uses, on the
    current device. This initializes no framework."""
    found: Dict[str, Dict[str, Optional[int]]] = {}
    torch, cupy, jax = (sys.modules.get(name) for name in ("torch", "cupy", "jax"))
    if torch is not None and torch.cuda.is_initialized():
        stats = torch.cuda.memory_stats()
        found["torch"] = {"used_bytes": stats.get("allocated_bytes.all.current", 0),
                          "reserved_bytes": stats.get("reserved_bytes.all.current", 0)}
    if cupy is not None:
        pool = cupy.get_default_memory_pool()
        found["cupy"] = {"used_bytes": pool.used_bytes(), "reserved_bytes": pool.total_bytes()}
    # before its first use, its public functions would take most of the GPU's memory
    if jax is not None and getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None):
        stats = jax.local_devices()[0].memory_stats() or {}
        found["jax"] = {"used_bytes": stats.get("bytes_in_use"),
                        "reserved_bytes": stats.get("bytes_reserved", stats.get("pool_bytes"))}
    return found


@own_work
def memory() -> Memory:
    """The memory of this program now."""
    tensors = tracked_tensors()
    path = _recording.trace_path()
    trace = Trace(path) if path is not None else None
    return Memory(tensors, tracked_bytes(tensors), pools(),
                  trace.memory if trace else None,
                  trace.table("memory-peak") if trace else None)
