"""Ranges: names for parts of a program, which the trace shows with the GPU work inside them."""
import contextvars
import functools
import threading
from typing import (TYPE_CHECKING, Any, Callable, ContextManager, Dict, Optional, Tuple, TypeVar,
                    overload)

from . import _native

if TYPE_CHECKING:
    from ._timing import Timing

F = TypeVar("F", bound=Callable[..., Any])

RESET = "gpuprof.reset"        # the mark of reset()
CPU_TIME = "gpuprof.cpu"       # at the end of an entry: its value is the processor time
OWN_WORK = "gpuprof.work"      # work of this package: profiler overhead in the summary

_WHOLE = 1 - 1e-9  # a share that is 1, but for rounding

# whether each open entry of a sampler is recorded, of this thread or task; () outside recorded ones
_sampled: "contextvars.ContextVar[Tuple[bool, ...]]" = contextvars.ContextVar(
    "gpuprof.sample", default=())

range = _native.range  # pylint: disable=redefined-builtin


class Range(_native.Range):
    """A range that can be entered any number of times, also by several threads in parallel.

    Attributes are at most 16 numbers and strings; they are in the column "fields" of Trace.ranges.
    Each entry checks whether the program is recorded. As a decorator, it opens a range around each
    call; for a coroutine or a generator, around each stretch between two suspensions."""

    def __call__(self, fn: F) -> F:
        import inspect  # takes longer than all of this package

        if not callable(fn) or isinstance(fn, type):
            raise TypeError(f"a range decorates a function, not {fn!r}: of a class decorate the"
                            " methods, and write @classmethod above @gpuprof.profile")
        wrap = (_async_generator if inspect.isasyncgenfunction(fn) else
                _coroutine if inspect.iscoroutinefunction(fn) else
                _generator if inspect.isgeneratorfunction(fn) else _function)
        return functools.wraps(fn)(wrap(self, fn))  # type: ignore[return-value]

    def __getnewargs_ex__(self) -> Tuple[Tuple[str], Dict[str, Any]]:
        """For copies and pickles of objects that have a range, such as modules and data sets."""
        return (self.name,), self.attributes

    def timing(self, *, wait: float = 0.0) -> "Timing":
        """The times of all ranges of this name so far, as gpuprof.timing()."""
        from ._timing import timing

        return timing(self.name, wait=wait)


def _function(range_: ContextManager[Any], fn: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kw: Any) -> Any:
        with range_:
            return fn(*args, **kw)

    return wrapper


def _generator(range_: Range, fn: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kw: Any) -> Any:
        return (yield from _Stretches(range_, fn(*args, **kw)))

    return wrapper


def _coroutine(range_: Range, fn: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kw: Any) -> Any:
        return await _Stretches(range_, fn(*args, **kw))

    return wrapper


def _async_generator(range_: Range, fn: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kw: Any) -> Any:
        source = fn(*args, **kw)
        step = source.asend(None)
        try:
            while True:
                try:
                    value = await _Stretches(range_, step)
                except StopAsyncIteration:
                    return
                try:
                    step = source.asend((yield value))
                except GeneratorExit:
                    raise
                except BaseException as error:  # pylint: disable=broad-except
                    step = source.athrow(error)
        finally:
            await source.aclose()

    return wrapper


class _Stretches:
    """A coroutine or generator that runs inside a range whenever it runs."""

    def __init__(self, range_: Range, source: Any) -> None:
        self._range = range_
        self._source = source

    def __iter__(self) -> Any:
        return self

    __await__ = __iter__

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """As a generator's."""
        with self._range:
            return self._source.send(value)

    def throw(self, *error: Any) -> Any:
        """As a generator's."""
        with self._range:
            return self._source.throw(*error)

    def close(self) -> None:
        """As a generator's."""
        self._source.close()


@overload
def profile(fn: F) -> F: ...
@overload
def profile(fn: None = None, *, name: Optional[str] = None,
            **attributes: Any) -> Callable[[F], F]: ...


def profile(fn: Optional[F] = None, *, name: Optional[str] = None, **attributes: Any) -> Any:
    """A decorator: a range around each call, named as the function unless `name` is given."""
    def decorate(function: F) -> F:
        if isinstance(function, str):
            raise TypeError(f"profile() decorates a function: write @profile(name={function!r})")
        own_name = getattr(function, "__qualname__", type(function).__qualname__)
        return Range(name or own_name, **attributes)(function)

    return decorate if fn is None else decorate(fn)


class sample:  # pylint: disable=invalid-name
    """Record a share of the entries, such as one in a hundred requests of a service::

        sampler = gpuprof.sample(0.01)
        with sampler as is_recorded:
            answer(request)

    It also decorates functions and coroutines, and ``with gpuprof.sample(0.01):`` may stand in the
    loop. From the first entry on, the recording is paused outside, so that the other entries cost
    as little as without it. Entries of threads and tasks that overlap a recorded one are recorded,
    too. Raises ValueError if the rate is not from 0 to 1."""

    # of all samplers: where the next one begins, and how many open entries are recorded
    _begin = 0.0
    _recorded = 0
    _lock = threading.Lock()

    def __init__(self, rate: float) -> None:
        if not 0 <= rate <= 1:
            raise ValueError(f"a rate is a number from 0 to 1, not {rate!r}")
        self._rate = rate
        self._has_begun = False
        with self._lock:
            self._share = sample._begin
            sample._begin += rate
            sample._begin -= sample._begin >= _WHOLE

    def __enter__(self) -> bool:
        with self._lock:
            self._share = share = self._share + self._rate
            is_recorded = share >= _WHOLE
            if is_recorded or not self._has_begun:
                self._has_begun = True
                self._share -= is_recorded
                sample._recorded += is_recorded
                _native.set_recording(sample._recorded > 0)
        outside = _sampled.get()
        if is_recorded or outside:
            _sampled.set((*outside, is_recorded))
        return is_recorded and _native.is_recording()

    def __exit__(self, *error: Any) -> None:
        entries = _sampled.get()
        if not entries:
            return
        _sampled.set(entries[:-1])
        if not entries[-1]:
            return
        with self._lock:
            sample._recorded -= 1
            if sample._recorded == 0:
                _native.set_recording(False)

    def __call__(self, fn: F) -> F:
        import inspect

        if not callable(fn) or isinstance(fn, type) or inspect.isgeneratorfunction(fn) or \
                inspect.isasyncgenfunction(fn):
            raise TypeError(f"sample() decorates a function or a coroutine, not {fn!r}")
        wrap = _sampled_coroutine if inspect.iscoroutinefunction(fn) else _function
        return functools.wraps(fn)(wrap(self, fn))  # type: ignore[return-value]


def _sampled_coroutine(sampler: sample, fn: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kw: Any) -> Any:
        with sampler:
            return await fn(*args, **kw)

    return wrapper


def own_work(fn: F) -> F:
    """A decorator of functions that read the trace: their time is not the program's."""
    @functools.wraps(fn)
    def wrapper(*args: Any, **kw: Any) -> Any:
        if _native.trace_path() is None:  # a range would begin a trace
            return fn(*args, **kw)
        with range(OWN_WORK):
            return fn(*args, **kw)

    return wrapper  # type: ignore[return-value]


def reset() -> None:
    """Restart the times of ranges: gpuprof.timing() leaves out ranges that began before."""
    _native.mark(RESET)


def enable(*, cpu_time: Optional[bool] = None) -> None:
    """Record ranges again.

    cpu_time=True also records the processor time of each entry's thread, for Timing.cpu_ns. It
    takes two system calls an entry: from some hundred ns to some us. None leaves it as it is."""
    _native.set_enabled(True)
    if cpu_time is not None:
        _native.set_cpu_times(cpu_time)


def disable() -> None:
    """Stop recording ranges; open ranges still get their end."""
    _native.set_enabled(False)
