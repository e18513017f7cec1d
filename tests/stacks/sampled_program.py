"""Run in each interpreter: threads with stacks that are difficult to sample, while they are
sampled.

    python sampled_program.py PROBE TRACE RESULTS

tests/stacks/sampler_test.py starts it and compares.  Runs on 3.8 and later.
"""
import asyncio
import ctypes
import json
import sys
import threading
import time

probe = ctypes.CDLL(sys.argv[1])
SECONDS = 2
main_id = threading.get_native_id()
threads = {}


def known(function):
    """Registers the thread and its function by id before the thread runs other code of the program.
    """
    def body(*arguments):
        threads.setdefault(threading.get_native_id(), set()).add(function.__name__)
        function(*arguments)
    return body


# ---- shares that are known ----

def unit():
    total = 0
    for i in range(3000):
        total += i
    return total


def seven():
    for _ in range(7):
        unit()


def three():
    for _ in range(3):
        unit()


def shares(end):
    while time.monotonic() < end:
        seven()
        three()


# ---- calls that come and go ----

def deep(depth):
    if depth == 0:
        return 1
    return deep(depth - 1) + 1


def recursive(end):
    while time.monotonic() < end:
        for depth in (1, 5, 30, 200, 60, 2):
            deep(depth)


def left_inside():
    return 1


def left():
    return left_inside() + left_inside()


def right_inside():
    return 2


def right():
    return right_inside() + right_inside()


def quick(end):
    """Two callers alternate within a microsecond. Their frames, and those of their callees, have
    the same addresses.
    """
    while time.monotonic() < end:
        for _ in range(200):
            left()
            right()


def raising(depth):
    if depth == 0:
        raise ValueError
    try:
        raising(depth - 1)
    finally:
        unit_of_cleanup()


def unit_of_cleanup():
    return [None] * 3


def exceptional(end):
    while time.monotonic() < end:
        try:
            raising(12)
        except ValueError:
            pass


def count_up(depth):
    if depth > 0:
        yield from count_up(depth - 1)
    for i in range(5):
        yield i


def generating(end):
    while time.monotonic() < end:
        for _ in count_up(6):
            pass


async def step(depth):
    if depth > 0:
        await step(depth - 1)
    unit()
    await asyncio.sleep(0)


def asynchronous(end):
    loop = asyncio.new_event_loop()
    while time.monotonic() < end:
        loop.run_until_complete(step(4))
    loop.close()


def made_up(end):
    """Code objects and functions that are freed while they may be sampled."""
    number = 0
    while time.monotonic() < end:
        number += 1
        names = {}
        exec(f"def made_{number % 7}(n):\n    return n if n == 0 else made_{number % 7}(n - 1)\nmade_{number % 7}(9)\n", names)


def short(depth):
    deep(depth)


def starting(end):
    while time.monotonic() < end:
        batch = [threading.Thread(target=known(short), args=(10 * i,)) for i in range(4)]
        for thread in batch:
            thread.start()
        for thread in batch:
            thread.join()


def sleeping(end):
    time.sleep(max(end - time.monotonic(), 0))


def waiting(done):
    done.wait()


# ---- all concurrently ----

def run(functions, seconds):
    end = time.monotonic() + seconds
    running = [threading.Thread(target=known(function), args=(end,)) for function in functions]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def main():
    status = probe.probe_start(sys.argv[2].encode())
    done = threading.Event()
    sleeper = threading.Thread(target=known(sleeping), args=(time.monotonic() + SECONDS / 2,))
    sleeper.start()
    probe.probe_sample(1000)
    shares(time.monotonic() + SECONDS / 2)
    sleeper.join()
    waiter = threading.Thread(target=known(waiting), args=(done,))
    waiter.start()
    run([recursive, exceptional, quick, generating, asynchronous, made_up, starting, recursive, sleeping], SECONDS)
    waiter.join(SECONDS / 2)  # by then it has waited for three seconds or more
    passes = probe.probe_stop_samples()
    done.set()
    waiter.join()
    status += probe.probe_stop()
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        json.dump({"main": main_id, "threads": {thread: sorted(names) for thread, names in threads.items()}, "passes": passes}, file)
    sys.exit(status)


main()
