"""Python stacks that are difficult for a walk with memory; python_program.py runs them in each
interpreter.

Random calls, in every way that Python has, reuse the addresses of frames: for other functions, for
code objects that replaced others, at another line, or resumed from another depth.  At each call the
walk with memory is compared with one without, and the positions of the frames in their code with
the interpreter's own.
"""
import ctypes
import functools
import gc
import random
import sys
import threading

DEPTH = 9
# Before 3.12, code from a file is compared only by names and addresses, because it is not freed in
# practice.
FILE = "/made.py" if sys.version_info >= (3, 12) else "<made>"


class Thing:
    def __init__(self, player, depth):
        self.player = player
        player.go(depth)

    @property
    def value(self):
        return self.player.go(0)


class Player:
    """The calls of one thread."""

    def __init__(self, probe, take, count, seed):
        self.probe, self.take, self.left, self.random = probe, take, count, random.Random(seed)
        self.offsets = (ctypes.c_uint32 * 512)()
        self.held = []  # unfinished generators and coroutines
        self.bodies = [self.plain, self.by_lines, self.by_generator, self.by_held, self.by_coroutine, self.by_callback,
                       self.by_constructor, self.by_exception, self.by_made, self.by_replaced, self.by_comprehension,
                       self.by_manager, self.by_thread]

    def check(self):
        count = self.probe.probe_compare(self.offsets)
        frame, i = sys._getframe(), 0
        while frame is not None:
            assert count > i and (i == 0 or self.offsets[i] == frame.f_lasti), (count, i, frame, self.offsets[i])
            frame, i = frame.f_back, i + 1
        assert count == i, (count, i)

    def go(self, depth):
        self.left -= 1
        self.check()
        if self.left % 40 == 0:
            self.take("adversary")
        if depth > 0 and self.left > 0:
            self.random.choice(self.bodies)(depth - 1)

    # ---- ways to call ----

    def plain(self, depth):
        self.go(depth)

    def by_lines(self, depth):
        for _ in range(self.random.randrange(4)):
            self.go(0)
            self.go(0); self.go(0)
            if self.random.random() < 0.3:
                self.go(depth)
        self.go(depth)

    def generate(self, depth):
        local = [depth] * 7
        self.go(depth)
        yield local
        self.go(0)
        yield self.go(depth)
        self.go(0)

    def by_generator(self, depth):
        for _ in self.generate(depth - 1):
            self.go(0)

    def outer(self, depth):
        yield from self.generate(depth)
        self.go(0)

    def by_held(self, depth):
        """A generator that is created here, resumed at other depths, or dropped unfinished."""
        if len(self.held) < 6:
            self.held.append(self.outer(depth - 1))
        one = self.held.pop(self.random.randrange(len(self.held)))
        if next(one, None) is not None and self.random.random() < 0.8:
            self.held.append(one)

    async def leaf(self, depth):
        self.go(depth)

    async def coroutine(self, depth):
        await self.leaf(depth)
        self.go(0)

    def by_coroutine(self, depth):
        one = self.coroutine(depth - 1)
        try:
            one.send(None)
        except StopIteration:
            pass

    def by_callback(self, depth):
        sorted((2, 1), key=lambda number: self.go(depth if number == 1 else 0) or number)
        functools.reduce(lambda a, b: self.go(0), (1, 2, 3))

    def by_constructor(self, depth):
        Thing(self, depth).value
        Thing(self, 0)

    def by_exception(self, depth):
        try:
            self.go(depth)
            raise ValueError
        except ValueError:
            self.go(0)
        finally:
            self.go(0)

    def by_made(self, depth):
        """New code objects at the addresses of freed ones."""
        for _ in range(3):
            lines, before, after = (self.random.randrange(4) for _ in range(3))
            names = {}
            exec(compile("\n" * lines + "def f(go, depth):\n" + " depth += 0\n" * before + " go(depth)\n" +
                         " depth += 0\n" * after, FILE, "exec"), names)
            names["f"](self.go, 0)
        names["f"](self.go, depth)
        del names

    def by_replaced(self, depth):
        """One function with alternating code objects that differ only in their first line."""
        def function(go, depth):
            go(depth)
        for _ in range(3):
            function.__code__ = function.__code__.replace(co_firstlineno=self.random.randrange(1, 9))
            function(self.go, 0)
        function(self.go, depth)

    def by_comprehension(self, depth):
        [self.go(depth) for _ in range(1)]
        {self.go(0) for _ in range(2)}

    def __enter__(self):
        self.go(0)

    def __exit__(self, *details):
        self.go(0)

    def by_manager(self, depth):
        with self:
            self.go(depth)

    def by_thread(self, depth):
        if self.random.random() < 0.02:
            other = Player(self.probe, self.take, 50, self.left)
            thread = threading.Thread(target=other.go, args=(depth,))
            thread.start()
            thread.join()
        else:
            gc.collect(0)
            self.go(depth)


def run(probe, take, count):
    threads = []
    failures = []

    def play(seed):
        player = Player(probe, take, count, seed)
        try:
            while player.left > 0:
                player.go(DEPTH)
        except AssertionError as failure:
            failures.append(failure)
            raise

    play(0)
    for seed in range(1, 4):
        threads.append(threading.Thread(target=play, args=(seed,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert not failures
