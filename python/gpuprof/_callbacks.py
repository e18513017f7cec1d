"""Ranges in the loops of Lightning, Transformers and Accelerate. None of them is required."""
import contextlib
import importlib
from typing import Any, Dict, Iterator, List

from ._program import GpuprofError
from ._ranges import Range


def _base(library: str, *places: str) -> Any:
    """The class to derive from: the first of these, each as module:Class, that exists."""
    for module, _, name in (place.partition(":") for place in places):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise GpuprofError(f"{library} is not installed: pip install {library}")


def lightning_profiler() -> Any:
    """A profiler for Trainer(profiler=...) of Lightning: a range around each of its actions, such
    as run_training_batch. Raises GpuprofError without Lightning."""
    base = _base("lightning", "lightning.pytorch.profilers:Profiler",
                 "pytorch_lightning.profilers:Profiler")

    class LightningProfiler(base):  # type: ignore[valid-type, misc]
        """Marks actions."""

        def __init__(self) -> None:
            super().__init__()
            self._ranges: Dict[str, Range] = {}

        def start(self, action_name: str) -> None:
            """An action begins."""
            self._ranges.setdefault(action_name, Range(action_name)).__enter__()

        def stop(self, action_name: str) -> None:
            """It ends."""
            if action_name in self._ranges:
                self._ranges[action_name].__exit__()

    return LightningProfiler()


def transformers_callback() -> Any:
    """A callback for Trainer(callbacks=[...]) of Transformers: ranges "train", "epoch", "step", and
    in a step "optimizer". Raises GpuprofError without Transformers."""
    base = _base("transformers", "transformers:TrainerCallback")

    class TransformersCallback(base):  # type: ignore[valid-type, misc]
        """Marks events."""

        def __init__(self) -> None:
            self._open: List[Range] = []

        def _begin(self, name: str) -> None:
            self._open.append(Range(name))
            self._open[-1].__enter__()

        def _end(self, name: str) -> None:
            """End it, and ranges inside it that an exception left open."""
            if name in (one.name for one in self._open):
                while self._open:
                    self._open[-1].__exit__()
                    if self._open.pop().name == name:
                        break

    def marks(method: str, name: str) -> Any:
        def event(self: Any, *_: Any, **__: Any) -> None:
            getattr(self, method)(name)
        return event

    for begin, end, name in (("on_train_begin", "on_train_end", "train"),
                             ("on_epoch_begin", "on_epoch_end", "epoch"),
                             ("on_step_begin", "on_step_end", "step"),
                             ("on_pre_optimizer_step", "on_optimizer_step", "optimizer")):
        setattr(TransformersCallback, begin, marks("_begin", name))
        setattr(TransformersCallback, end, marks("_end", name))
    return TransformersCallback()


def mark_accelerator(accelerator: Any) -> Any:
    """Ranges in the loop of an accelerate.Accelerator: "step" around `with accumulate(model):`,
    "backward" and "clip gradients" around its calls. Returns the accelerator."""
    for method, name in (("backward", "backward"), ("clip_grad_norm_", "clip gradients")):
        setattr(accelerator, method, Range(name)(getattr(accelerator, method)))
    accumulate, step = accelerator.accumulate, Range("step")

    @contextlib.contextmanager
    def marked(*models: Any) -> Iterator[None]:
        with step, accumulate(*models):
            yield

    accelerator.accumulate = marked
    return accelerator
