"""Run in each interpreter: capture call stacks in many situations, and write Python's own view of
them.

    python python_program.py PROBE TRACE RESULTS

tests/stacks/python_test.py starts it and compares.  Runs on 3.8 and later.
"""
import asyncio
import concurrent.futures
import contextlib
import ctypes
import functools
import json
import re
import sys
import threading

import python_adversary

probe = ctypes.CDLL(sys.argv[1])  # calls of the probe release the interpreter's lock
results = []
lock = threading.Lock()


def describe(frame):
    code = frame.f_code
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    return [code.co_filename, getattr(code, "co_qualname", code.co_name), frame.f_lasti,
            code.co_firstlineno, table.hex() or "-"]


def take(label):
    """The frames from here on. This frame's position differs from that at the capture, which comes
    later.
    """
    frames, frame = [], sys._getframe()
    while frame is not None:
        frames.append(describe(frame))
        frame = frame.f_back
    stack = probe.probe_capture()
    with lock:
        results.append({"label": label, "id": stack, "frames": frames})
    return 1


class Meta(type):
    def __call__(cls, *arguments):
        take("metaclass")
        return super().__call__(*arguments)


class Thing(metaclass=Meta):
    def __init__(self):
        take("constructor")

    def __getattr__(self, name):
        take("getattr")
        return name

    @property
    def value(self):
        return take("property")

    @staticmethod
    def static():
        return take("static")

    def __enter__(self):
        take("enter")

    def __exit__(self, *details):
        take("exit")

    def __lt__(self, other):
        return bool(take("sort key"))


def decorate(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper


@decorate
def decorated(depth):
    return take("decorated") if depth == 0 else decorated(depth - 1)


def inner_generator():
    yield take("generator")
    yield take("generator again")


def outer_generator():
    take("before yield from")
    yield from inner_generator()


async def leaf(number):
    take("coroutine")
    await asyncio.sleep(0)
    take("coroutine again")
    return number


async def ticks():
    for i in range(3):
        yield i
        await asyncio.sleep(0)


async def asynchronous():
    await asyncio.gather(*(leaf(i) for i in range(5)))
    async for _ in ticks():
        take("async for")
    async with contextlib.AsyncExitStack():
        take("async with")
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, take, "executor")


def classes():
    thing = Thing()
    thing.missing
    thing.value
    thing.static()
    with thing:
        take("with")
    sorted([Thing(), Thing(), Thing()])


def functions():
    decorated(5)
    list(outer_generator())
    [take("list comprehension") for _ in range(2)]
    {i: take("dict comprehension") for i in range(2)}
    list(map(lambda i: take("lambda in map"), range(2)))
    re.sub("a+", lambda match: str(take("re.sub")), "aabaa")
    max(range(3), key=lambda i: take("key"))
    functools.partial(take, "partial")()
    functools.reduce(lambda a, b: take("reduce"), range(3))
    eval("take('eval')")
    exec("take('exec')\n")
    exec(compile("\n" * 300 + "def f():\n  take('other file')\nf()\n", "/tmp/\u00e4\u20ac\U0001f600.py", "exec"), globals())


def exceptions():
    try:
        raise ValueError
    except ValueError:
        take("except")
    finally:
        take("finally")


def through_c():
    """Python code that libc's qsort() calls."""
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    numbers = (ctypes.c_int * 4)(4, 3, 2, 1)
    compare = compare_type(lambda a, b: take("qsort") - 1)
    ctypes.CDLL(None).qsort(numbers, 4, 4, compare)


def deep(depth):
    return take("deep") if depth == 0 else deep(depth - 1)


def in_threads():
    threads = [threading.Thread(target=many, args=(50,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(take, ["pool"] * 8))


def many(count):
    for _ in range(count):
        functions()
        classes()


def hot(count):
    """Code that Python's JIT, if any, compiles while it runs, including the caller."""
    frames = chain()
    stacks = set()
    for _ in range(count):
        stacks.add(probe.probe_capture())
    results.extend({"label": "hot", "id": stack, "frames": frames} for stack in stacks)


def reused(count):
    """Temporary code: new objects at the addresses of freed ones."""
    for i in range(count):
        exec("\n" * (i % 7) + "def f(x):\n" + "  x += 1\n" * (i % 5) + "  take('reused')\n" + "  x -= 1\n" * (i % 3) +
             "f(1)\n", globals())


def traced():
    sys.settrace(lambda *details: None)
    take("settrace")
    sys.settrace(None)


SUBPROGRAM = """
import ctypes, sys
def inside():
    return ctypes.CDLL({probe!r}).probe_capture()
with open({out!r}, "w") as file:
    file.write(str(inside()))
"""


def in_subinterpreter():
    """A subinterpreter: the stack has frames of the main interpreter or its own. Either way they
    are right, and nothing crashes.
    """
    for name in ("_interpreters", "_xxsubinterpreters"):
        with contextlib.suppress(ImportError):
            module = __import__(name)
            break
    else:
        return
    out = sys.argv[3] + ".inside"
    program = SUBPROGRAM.format(probe=sys.argv[1], out=out)
    if sys.version_info >= (3, 13):
        interpreter = module.create("legacy")
    else:  # 3.8 has no isolated subinterpreters
        interpreter = module.create(**({"isolated": False} if sys.version_info >= (3, 9) else {}))
    try:
        module.run_string(interpreter, program)
    finally:
        module.destroy(interpreter)
    with open(out, encoding="utf-8") as file:
        results.append({"label": "subinterpreter", "id": int(file.read()), "frames": [], "within": chain()})


def chain():
    """The caller and its callers."""
    frames, frame = [], sys._getframe(1)
    while frame is not None:
        frames.append(describe(frame))
        frame = frame.f_back
    return frames


def in_greenlets():
    try:
        import greenlet
    except ImportError:
        return
    def other():
        take("greenlet")
        main.switch()
        take("greenlet again")
    main = greenlet.getcurrent()
    one = greenlet.greenlet(other)
    one.switch()
    decorated(3)
    one.switch()


def main():
    assert probe.probe_start(sys.argv[2].encode()) == 0
    functions()
    classes()
    exceptions()
    through_c()
    for depth in (1, 10, 100, 400):
        deep(depth)
    traced()
    asyncio.run(asynchronous())
    in_threads()
    for _ in range(3):
        hot(6000)
    reused(3000)
    python_adversary.run(probe, take, 12000)
    in_subinterpreter()
    in_greenlets()
    sys.setrecursionlimit(5000)
    threading.stack_size(256 << 20)
    thread = threading.Thread(target=deep, args=(2000,))
    thread.start()
    thread.join()
    results.append({"label": "foreign thread", "id": probe.probe_capture_in_thread(), "frames": []})
    assert probe.probe_repeat(100000) != 0
    assert probe.probe_stop() == 0
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        json.dump(results, file)


main()
