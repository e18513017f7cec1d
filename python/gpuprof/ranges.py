"""Ranges: names for parts of a program, which the trace shows with the GPU work inside them."""
import functools
import inspect
from typing import Any, Callable, Optional, TypeVar

from . import _native
from ._native import end_range, mark, start_range  # noqa: F401

F = TypeVar("F", bound=Callable[..., Any])

range = _native.range  # pylint: disable=redefined-builtin


class Range(_native.Range):
    """A range that can be entered any number of times, also by several threads at once.

    It checks at each entry whether the program is recorded. As a decorator it is a range around
    each call: of a coroutine or a generator, around each stretch between two suspensions."""

    def __call__(self, fn: F) -> F:
        if inspect.isasyncgenfunction(fn):
            async def wrapper(*args: Any, **kw: Any) -> Any:
                source = fn(*args, **kw)
                sent = None
                try:
                    while True:
                        try:
                            sent = yield await _Stretches(self, source.asend(sent))
                        except StopAsyncIteration:
                            return
                finally:
                    await source.aclose()
        elif inspect.iscoroutinefunction(fn):
            async def wrapper(*args: Any, **kw: Any) -> Any:
                return await _Stretches(self, fn(*args, **kw))
        elif inspect.isgeneratorfunction(fn):
            def wrapper(*args: Any, **kw: Any) -> Any:
                return (yield from _Stretches(self, fn(*args, **kw)))
        else:
            def wrapper(*args: Any, **kw: Any) -> Any:
                with self:
                    return fn(*args, **kw)
        return functools.wraps(fn)(wrapper)  # type: ignore[return-value]


class _Stretches:
    """A coroutine or generator that runs inside a range whenever it runs."""

    def __init__(self, range_: Range, source: Any) -> None:
        self._range = range_
        self._source = source

    def __iter__(self) -> "_Stretches":
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


def profile(fn: Optional[F] = None, *, name: Optional[str] = None) -> Any:
    """A decorator: a range around each call, named as the function unless `name` is given."""
    def decorate(function: F) -> F:
        return Range(name or function.__qualname__)(function)

    return decorate if fn is None else decorate(fn)


def enable() -> None:
    """Record ranges again."""
    _native.set_enabled(True)


def disable() -> None:
    """Record no more ranges; those that are open end as they should."""
    _native.set_enabled(False)
