#!/usr/bin/env python3
"""The Python package: installed as a user does, recorded on the simulated device, its tables held against other exports."""
import asyncio
import contextlib
import copy
import ctypes
import functools
import glob
import gzip
import hashlib
import html.parser
import inspect
import io
import json
import logging
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import documents
import support
from support import BUILD, HERE, ROOT, Case

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
KINETO = os.path.join(ROOT, "tests", "data", "kineto")

# The driver, and the calls that each range makes: a memset of as many bytes as its number.
DEVICE = """
import ctypes, sys
import gpuprof
cuda = ctypes.CDLL("libcudart.so.13")
memory = ctypes.c_void_p()
def work(size):
    cuda.cudaMemset(memory, 0, ctypes.c_size_t(size))
def begin():
    cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 16))
"""

RANGES = DEVICE + """
import asyncio, threading
begin()
step = gpuprof.Range("step")
with step, gpuprof.range("inner"):
    work(101)
with step:
    with step:
        work(102)
gpuprof.mark("here")

@gpuprof.profile
def plain(size):
    work(size)
    return size
assert plain(103) == 103 and plain.__name__ == "plain"

@gpuprof.profile(name="stretches")
def numbers():
    work(104)
    got = yield 1
    work(got)
    return 7
outside = numbers()
assert next(outside) == 1
work(105)
try:
    outside.send(106)
except StopIteration as end:
    assert end.value == 7

@gpuprof.profile(name="left")
async def left():
    work(107)
    await asyncio.sleep(0)
    work(108)
@gpuprof.profile(name="right")
async def right():
    work(109)
    await asyncio.sleep(0)
    work(110)
@gpuprof.profile(name="stream")
async def stream():
    work(111)
    yield 1
    work(112)
async def main():
    await asyncio.gather(left(), right())
    async for one in stream():
        work(113)
asyncio.run(main())

def in_thread():
    with step:
        work(114)
threads = [threading.Thread(target=in_thread) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()

number = gpuprof.start_range("across", size=3, name="x")
gpuprof.end_range(number)

with gpuprof.range("kept"):          # ends though ranges are disabled meanwhile
    gpuprof.disable()
    with step, gpuprof.range("never"):
        work(115)
with step:
    gpuprof.enable()                 # was not begun, so it ends nothing
with gpuprof.range("after"):
    work(116)
cuda.cudaDeviceSynchronize()
"""

ATTRIBUTES = """
import gpuprof
kept = gpuprof.Range("kept", size=7, name="x")
for number in range(2):
    with gpuprof.range("new", flops=1.5e9, size=number, device="cuda:0", shape=(1, 2), large=1 << 70, ok=True), kept:
        pass

@gpuprof.profile(name="call", bytes=-3)
def call():
    pass
call()
try:
    gpuprof.range("many", **{f"a{i}": i for i in range(17)})
    assert False
except ValueError:
    pass
class Fails:
    def __str__(self): raise KeyError("as it is")
try:
    gpuprof.range("fails", value=Fails())
    assert False
except KeyError:
    pass
"""

LATE = DEVICE + """
assert not gpuprof.is_active() and gpuprof.trace_path() is None
with gpuprof.range("before"):
    pass
gpuprof.start(output=sys.argv[1], chrome="none", summary="none", html=False)
assert gpuprof.is_active()
begin()
with gpuprof.range("recorded"):
    work(10)
gpuprof.stop()
assert not gpuprof.is_active()
work(20)
gpuprof.start()
work(30)
assert gpuprof.trace_path() == sys.argv[1] + ".gpuprof"
try:
    gpuprof.start(output="other")
except gpuprof.GpuprofError as error:
    print("fixed:", error)
"""

CUDA_IN_USE = DEVICE + """
begin()
work(5)
try:
    gpuprof.start(counters="roofline-hw")
except gpuprof.GpuprofError as error:
    print("late:", error)
gpuprof.start(output=sys.argv[1])
with gpuprof.range("recorded"):
    work(10)
gpuprof.stop()
work(20)
gpuprof.start()
work(30)
assert gpuprof.trace_path() == sys.argv[1] + ".gpuprof"
try:
    gpuprof.start(stacks="all")
except gpuprof.GpuprofError as error:
    print("fixed:", error)
"""

DETACHED = DEVICE + """
from gpuprof import _program
begin()
for name, copied in (("first", 10), ("second", 30)):
    work(5)
    gpuprof.start(output=sys.argv[1 + (name == "second")])
    with gpuprof.range(name):
        work(copied)
    assert ctypes.CDLL(_program.library()).gpuprof_v1_detach(ctypes.create_string_buffer(8192)) == 0
    assert not gpuprof.is_active() and gpuprof.trace_path() is None
"""

THREADS = DEVICE + """
import threading
begin()
work(5)
barrier = threading.Barrier(8)

def start():
    barrier.wait()
    try:
        gpuprof.start()
        sys.stdout.write("started\\n")
    except gpuprof.GpuprofError as error:
        sys.stdout.write(str(error).split(", and ")[1].split(":")[0] + "\\n")

threads = [threading.Thread(target=start) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

# What each part of it costs the simulated device is in the trace; the sums are compared there.
SESSIONS = DEVICE + """
import json, threading, warnings
begin()
host = ctypes.create_string_buffer(1 << 16)
def copy():
    cuda.cudaMemcpy(memory, host, ctypes.c_size_t(1 << 16), 1)
with gpuprof.range("step"):
    work(1)
gpuprof.reset()
with gpuprof.session("two", trace="two.json", flame="two.folded") as two:
    for _ in range(4):
        with gpuprof.range("step"):
            work(10)
            with gpuprof.range("copies"):
                copy()
    thread = threading.Thread(target=work, args=(20,))
    thread.start()
    thread.join()
    more = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(more), ctypes.c_size_t(1 << 20))
    cuda.cudaFree(more)
assert open("two.json").read() and open("two.folded").read()
work(30)
step, copies = gpuprof.range("step").timing(wait=5), gpuprof.timing("copies", wait=5)
slow = gpuprof.measure(lambda: [work(40) for _ in range(20)], warmup=2, iterations=8)
fast = gpuprof.measure(lambda: work(40), warmup=2, iterations=8)
both = gpuprof.compare(slow, fast)
with gpuprof.session("outer") as outer:
    inner = gpuprof.measure(lambda: work(60), warmup=0, iterations=1)
    work(60)
    try:
        with gpuprof.session("second"):
            work(70)
    except gpuprof.GpuprofError as error:
        refused = str(error)
profiler = gpuprof.get_profiler()
profiler.start("across")
stopped_ns = profiler.stop("across")
with profiler.profile_kernel("kernel"):
    try:
        gpuprof.range("decorator")(work)
        assert False
    except TypeError:
        pass
sampler = gpuprof.sample(0.25)
sampled = []
for number in range(8):
    with sampler as is_recorded:
        sampled.append(is_recorded)
        work(50)
cuda.cudaDeviceSynchronize()
json.dump({
    "cuda_ms": two.cuda_time_ms, "busy_ms": two.gpu_busy_ms, "peak_mb": two.peak_memory_mb, "pending": two.pending,
    "kernels": two.kernels.to_dict(), "bottleneck": two.bottlenecks[0]["name"], "flame": two.flame_graph, "trace": two.trace_path,
    "step": step._asdict(), "copies": copies._asdict(), "slow": [slow.cuda_time_ms, len(slow.iteration_times_ms)],
    "compared": both.kernels.to_dict(), "speedup": [both.low, both.speedup, both.high], "sampled": sampled, "stopped_ns": stopped_ns,
    "refused": refused, "nested_calls": [one.kernels["calls"].to_list() for one in (inner, outer)],
    "report": profiler.get_timing_report(), "summary": json.load(open(profiler.export_json("summary.json"))),
}, open(sys.argv[1], "w"))
"""

# Work that takes time on the processor, and a sleep that takes none; in both, ranges whose time is measured, too.
CPU_TIMES = """
import gpuprof, threading, time
with gpuprof.range("before"):
    pass
gpuprof.enable(cpu_time=True)
step = gpuprof.Range("step")
def spin():
    while time.thread_time_ns() < 20_000_000:
        pass
def in_thread():
    with step, gpuprof.range("work"):
        spin()
        with gpuprof.range("none", size=1):
            pass
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
with gpuprof.range("sleep"):
    time.sleep(0.05)
gpuprof.enable(cpu_time=False)
with gpuprof.range("after"), gpuprof.range("gpuprof.cpu"):
    pass
assert step.timing().cpu_ns > 0 and step.timing().calls == 1
"""

# Sessions of the same name, with a range of that name inside, before a reset, and entered again.
SAME_NAMES = DEVICE + """
import json
begin()
sessions = [gpuprof.session("same") for _ in range(3)]
for size, session in enumerate(sessions, 1):
    with session:
        for _ in range(size):
            with gpuprof.range("same"):
                work(size)
gpuprof.reset()
cuda.cudaDeviceSynchronize()
first = [session.kernels["calls"].to_list() for session in sessions]
with sessions[0]:
    for _ in range(5):
        work(1)
cuda.cudaDeviceSynchronize()
json.dump([first, sessions[0].kernels["calls"].to_list()], open(sys.argv[1], "w"))
"""

# Calls that have no operation to wait for: a host function, a memset that a graph captures, a copy within the host.
WITHOUT_OPERATION = DEVICE + """
import json
begin()
stream, graph, event = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cudaStreamCreate(ctypes.byref(stream))
cuda.cudaEventCreate(ctypes.byref(event))
from_, to = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
on_host = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
with gpuprof.session("session") as session:
    cuda.cudaMemcpy(to, from_, ctypes.c_size_t(64), 0)
    work(10)
    assert cuda.cudaStreamBeginCapture(stream, 0) == 0
    assert cuda.cudaMemsetAsync(memory, 0, ctypes.c_size_t(20), stream) == 0
    assert cuda.cudaStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert cuda.cudaLaunchHostFunc(stream, on_host, None) == 0
    cuda.cudaEventRecord(event, stream)
    cuda.cudaStreamWaitEvent(stream, event, 0)
    cuda.cudaStreamSynchronize(stream)
json.dump([session.pending, session.kernels.to_dict()["name"]], open(sys.argv[1], "w"))
"""

# Samplers: one that is not used, one inside another, a new one for each entry, of functions and of tasks that overlap.
SAMPLERS = DEVICE + """
import asyncio
begin()
unused = gpuprof.sample(0.5)
work(1)
always, never = gpuprof.sample(1), gpuprof.sample(0)
with always as is_recorded:
    work(2)
    with never as is_inside:
        work(3)
    work(4)
work(5)
assert (is_recorded, is_inside) == (True, False)
recorded = []
for _ in range(200):
    with gpuprof.sample(0.01) as is_recorded:
        recorded.append(is_recorded)
assert sum(recorded) == 2, recorded
@always
def call(size):
    work(size)
    return size
assert call(6) == 6 and call.__name__ == "call"
@always
async def first():
    work(7)
    await asyncio.sleep(0)
@never
async def last():
    for _ in range(3):
        await asyncio.sleep(0)
    work(8)
async def main():
    await asyncio.gather(first(), last())
asyncio.run(main())
for wrong in (lambda: (yield), 3, str):
    try:
        always(wrong)
        assert False
    except TypeError:
        pass
cuda.cudaDeviceSynchronize()
"""

# Results of a recorded program, for a process that is not recorded: the session with its files' paths, its comparison, a table.
RESULTS = DEVICE + """
import pickle
begin()
with gpuprof.session("session") as session:
    work(10)
measured = gpuprof.measure(work, 20, warmup=0, iterations=6)
cuda.cudaDeviceSynchronize()
trace = gpuprof.open(gpuprof.trace_path())
with open(sys.argv[1], "wb") as file:
    pickle.dump((session, gpuprof.compare(measured, measured), trace.copies, gpuprof.timing("session")), file)
"""

# PyTorch's allocator, as tests/fuzz/snapshot.py writes it.
SNAPSHOT = DEVICE + """
import json, pickle, types
begin()
def snapshot():
    with open("snapshot.pickle", "rb") as file:
        return pickle.load(file)
is_initialized = False
sys.modules["torch"] = types.SimpleNamespace(__file__="/opt/torch/__init__.py", cuda=types.SimpleNamespace(
    is_initialized=lambda: is_initialized, memory_stats=dict, memory=types.SimpleNamespace(_snapshot=snapshot)))
found = [gpuprof.memory()]
is_initialized = True
found.append(gpuprof.memory())
sys.modules["torch"].cuda.memory = None     # of another version
found.append(gpuprof.memory())
json.dump([{key: value and value.to_dict() for key, value in one._asdict().items() if key in ("timeline", "peak") or key.startswith("torch_")}
           for one in found], open(sys.argv[1], "w"))
"""

# As CuPy's, and as PyTorch's.
TENSORS = """
import gpuprof

class Array:
    def __init__(self, size, base=None):
        self.nbytes, self.shape, self.dtype, self.base = 4 * size, (size,), "float32", base
        self.__cuda_array_interface__ = {"data": (base.__cuda_array_interface__["data"][0] if base else id(self), False)}

class Storage:
    def data_ptr(self): return 4096
    def nbytes(self): return 800

class Parameter:
    nbytes, shape, dtype = 400, (10, 10), "torch.float32"
    def data_ptr(self): return 4096
    def untyped_storage(self): return Storage()
    @property
    def __cuda_array_interface__(self): raise RuntimeError("requires grad")

whole, first, second = Array(100), Parameter(), Parameter()
part = Array(10, whole)
for name, tensor in (("whole", whole), ("part", part), ("first", first), ("second", second), ("gone", Array(5))):
    gpuprof.track_tensor(name, tensor)
del tensor
memory = gpuprof.memory()
assert [tensor.name for tensor in memory.tensors] == ["whole", "part", "first", "second"], memory
assert memory.tracked_bytes == 400 + 800 and memory.peak is None and memory.pools == {}
profiler = gpuprof.get_profiler()
assert profiler.get_tensor_info("part").shape == (10,) and profiler.get_total_memory() == 1200
rows = [line.split() for line in profiler.get_memory_report().splitlines()]
assert rows[4] == ["first", "10x10", "torch.float32", "0.000"] and rows[6][-1] == "0.001" and rows[7][-1] == "unknown", rows
profiler.untrack_tensor("first")
del whole, part, second
assert gpuprof.memory().tracked_bytes == 0
class Deleted(Parameter):
    def data_ptr(self): raise RuntimeError("deleted")
for wrong in (3, [1.0], "text", Deleted()):
    try:
        gpuprof.track_tensor("wrong", wrong)
        assert False
    except TypeError:
        pass
"""

# A suite of tests, each of which uses the device in its own way.
SUITE = """
import ctypes, gpuprof, pytest
cuda = ctypes.CDLL("libcudart.so.13")
memory = ctypes.c_void_p()
def allocate(size):
    found = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(found), ctypes.c_size_t(size))
    return found
def work(times):
    global memory
    memory = memory or allocate(1 << 16)
    for _ in range(times):
        cuda.cudaMemset(memory, 0, ctypes.c_size_t(4096))
def test_first(): work(1)
def test_plain(): work(3)
@pytest.mark.limit_gpu_time(100)
@pytest.mark.limit_launches(0)
def test_within(): work(4)
@pytest.mark.limit_gpu_time(ms=0.001)
def test_slow(): work(50)
@pytest.mark.no_sync
def test_waits():
    work(1)
    cuda.cudaDeviceSynchronize()
@pytest.mark.no_gpu_leaks
@pytest.mark.limit_gpu_memory(100000)
def test_leaks(): allocate(1 << 20)
@pytest.mark.no_gpu_leaks
def test_frees(): cuda.cudaFree(allocate(1 << 20))
@pytest.mark.no_sync
def test_fails(): assert cuda.cudaDeviceSynchronize() == 1
def test_nothing(): pass
@pytest.mark.limit_launches("many")
def test_wrong(): pass
@pytest.mark.no_sync
def test_last():
    work(1)
    gpuprof.reset()
    cuda.cudaDeviceSynchronize()
@pytest.fixture
def disabled():
    gpuprof.disable()
    yield
    gpuprof.enable()
@pytest.mark.no_sync
def test_stopped(disabled): pass
"""

NOTEBOOK = DEVICE.replace("import gpuprof", "") + """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.user_ns["work"] = work
shell.run_line_magic("load_ext", "gpuprof")
begin()
magic = shell.find_cell_magic("gpuprof")
told = magic("fill all", "for _ in range(5): work(10)")
assert told.session.kernels["calls"].to_list() == [5] and "[memset]" in repr(told)
assert told.session.name.startswith("fill all ") and "srcdoc" in told._repr_html_()
assert "<iframe" not in magic("", "1 + 1")._repr_html_() + magic("--no-page", "work(10)")._repr_html_()
assert magic("", "1 / 0") is None and magic("--pages", "never_run = 1") is None and "never_run" not in shell.user_ns
"""

installed = {}


def find_python():
    """One with pandas, if there is one."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import pandas"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return sys.executable


def install_variables():
    return support.environment(GPUPROF_BUILD=BUILD, LD_LIBRARY_PATH=None)


def setUpModule():
    """pip install . into a virtual environment, offline."""
    folder = tempfile.mkdtemp(prefix="gpuprof-package-")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    venv = os.path.join(folder, "venv")
    for command in ([find_python(), "-m", "venv", "--system-site-packages", venv],
                    [os.path.join(venv, "bin", "pip"), "install", "--quiet", "--no-index", "--disable-pip-version-check", ROOT]):
        done = subprocess.run(command, env=install_variables(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stdout.decode()}")
    installed["bin"] = os.path.join(venv, "bin")
    installed["python"] = os.path.join(venv, "bin", "python")
    (installed["site"],) = glob.glob(os.path.join(venv, "lib", "python3*", "site-packages"))
    sys.path.insert(0, installed["site"])

FAILING = {"test_slow", "test_waits", "test_leaks", "test_fails", "test_wrong", "test_last", "test_stopped"}


class Package(Case):
    def need(self, module):
        if subprocess.run([installed["python"], "-c", "import " + module], check=False, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no " + module)

    def run_python(self, *arguments, **variables):
        done = subprocess.run([installed["python"], *arguments], cwd=self.folder, env=support.environment(**variables),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=support.LIMIT_S,
                              universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def record(self, text):
        """The trace of a program under the package's own recorder."""
        import gpuprof

        script = self.write("program.py", text)
        self.run_python("-m", "gpuprof", "run", "--quiet", "-o", "out", "--chrome", "none", script, "told.json")
        return gpuprof.open(self.path("out.gpuprof"))

    def inside(self, trace):
        """The names of the open ranges around each memset's call, by its bytes."""
        calls = {row["correlation"]: row for row in trace.api.rows()}
        ranges = [row for row in trace.ranges.rows() if row["kind"] == "range"]
        return {row["bytes"]: sorted(one["name"] for one in ranges if one["tid"] == calls[row["correlation"]]["tid"] and
                                     one["start_ns"] <= calls[row["correlation"]]["start_ns"] <= one["start_ns"] + one["duration_ns"])
                for row in trace.copies.rows()}


class InstallTest(Package):
    def test_commands(self):
        version = self.run_gpuprof("version").stdout
        for command in ([os.path.join(installed["bin"], "gpuprof"), "version"], [installed["python"], "-m", "gpuprof", "version"]):
            self.assertEqual(subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=self.folder).stdout.decode(), version)
        done = subprocess.run([os.path.join(installed["bin"], "gpuprof-run"), "--quiet", "printenv", "LD_PRELOAD"], check=True,
                              stdout=subprocess.PIPE, cwd=self.folder)
        self.assertEqual(done.stdout.decode().strip(), os.path.join(installed["site"], "gpuprof", "bin", "libgpuprof.so"))

    def test_run(self):
        """A script gets the interpreter in front of it; a program that is named does not."""
        script = self.write("first.py", "import sys; print('PYTHON', sys.argv)")
        python = installed["python"]
        expected = f"PYTHON {[script, 'other.py', '-m']}\n"
        for command in ([python, "-m", "gpuprof", "run", "--quiet", "-o", "test", script],
                        [python, "-m", "gpuprof", "run", "-q", "-otest", "--", script],
                        [python, "-m", "gpuprof", "run", "--output=test", "--quiet", python, script],
                        [os.path.join(installed["bin"], "gpuprof"), "run", "--quiet", python, script],
                        [os.path.join(installed["bin"], "gpuprof-run"), "--quiet", "-o", "test", python, script]):
            done = subprocess.run([*command, "other.py", "-m"], check=True, stdout=subprocess.PIPE, cwd=self.folder)
            self.assertEqual(done.stdout.decode(), expected, command)

    def test_flags(self):
        from gpuprof import __main__

        flags = re.findall(r"^ +(?:(-\w), )?(--[\w-]+)(?:  |\[|$)", self.run_gpuprof("run", "--help").stdout, re.M)
        self.assertEqual(sorted(filter(None, sum(flags, ()))), sorted(__main__._FLAGS))

    def test_version_and_types(self):
        import gpuprof

        self.assertEqual("gpuprof " + gpuprof.__version__, self.run_gpuprof("version").stdout.strip())
        self.assertTrue(os.path.exists(os.path.join(installed["site"], "gpuprof", "py.typed")))

    def test_names(self):
        """Each has documentation and a signature, and is in dir() before its first use."""
        names = subprocess.run([installed["python"], "-c", "import gpuprof; print(*dir(gpuprof))"], check=True, stdout=subprocess.PIPE,
                               cwd=self.folder).stdout.decode().split()
        self.assertLessEqual({"open", "range", "timing", "Trace"}, set(names))
        import gpuprof

        self.assertLessEqual({name for found in gpuprof._MODULES.values() for name in found}, {"open", *gpuprof.__all__})
        for name in ("open", "range", *gpuprof.__all__):
            self.assertIn(name, names)
            self.assertTrue(inspect.getdoc(getattr(gpuprof, name)), name)
            if name != "GpuprofError":
                inspect.signature(getattr(gpuprof, name))

    def test_types_of_a_program(self):
        self.need("mypy")
        done = subprocess.run([installed["python"], "-m", "mypy", "--strict", "--cache-dir", os.devnull, os.path.join(HERE, "typed_program.py")],
                              cwd=self.folder, env=support.environment(PYTHONPATH=None), stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    def test_equal_wheels(self):
        digests = set()
        build = "import sys; sys.path.insert(0, sys.argv[1]); import gpuprof_build; gpuprof_build.build_wheel('.', {'platform': 'manylinux'})"
        for _ in range(2):
            subprocess.run([installed["python"], "-c", build, os.path.join(ROOT, "python", "build_backend")], cwd=self.folder,
                           env=install_variables(), check=True, stdout=subprocess.DEVNULL)
            (wheel,) = self.files(".whl")
            with open(self.path(wheel), "rb") as file:
                digests.add(hashlib.sha256(file.read()).hexdigest())
        self.assertEqual(len(digests), 1)
        self.assertIn("-cp38-abi3-manylinux_2_", wheel)

    @unittest.skipIf(os.geteuid() != 0, "needs root to be several users")
    def test_files_of_another_user(self):
        """What Python writes itself follows none of his links, and fills none of his files."""
        from gpuprof import _files

        victim = self.write("victim", "mine")
        os.mkdir(self.path("tmp"))
        os.chmod(self.path("tmp"), 0o777)
        for kind, plant in (("link", lambda path: os.symlink(victim, path)), ("file", lambda path: open(path, "w").close()), ("pipe", os.mkfifo)):
            path = self.path("tmp", kind)
            plant(path)
            os.chown(path, 65534, 65534, follow_symlinks=False)
            self.assertRaises(PermissionError, _files.write, path, "text")
        self.assertEqual([os.path.getsize(self.path("tmp", "file")), os.path.getsize(victim)], [0, 4])
        own = self.path("tmp", "own")
        os.symlink(_files.write(self.path("new"), "old text"), own)
        self.assertEqual([_files.write(own, "text"), os.path.getsize(self.path("new")), os.stat(own).st_mode & 0o777], [own, 4, 0o600])
        sys.path.insert(0, os.path.join(ROOT, "python", "build_backend"))
        import gpuprof_build

        wheel = self.path("tmp", f"gpuprof-{gpuprof_build._version()}-tag.whl")
        os.symlink(victim, wheel)
        gpuprof_build._write(self.path("tmp"), iter(()), "tag")
        self.assertEqual([os.path.islink(wheel), os.path.getsize(victim)], [False, 4])

    def test_no_program_beside_the_package(self):
        """In /tmp/NAME/gpuprof, whose own program cannot be run, that of /tmp/build is not."""
        shutil.copytree(os.path.join(installed["site"], "gpuprof"), self.path("name", "gpuprof"))
        os.chmod(self.path("name", "gpuprof", "bin", "gpuprof"), 0o644)
        os.mkdir(self.path("build"))
        os.symlink("/bin/true", self.path("build", "gpuprof"))
        done = subprocess.run([installed["python"], "-m", "gpuprof", "version"], cwd=self.path("name"), stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)

    @staticmethod
    def pythons():
        """By version: those of this machine."""
        found = {version: glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}")) +
                 glob.glob(os.path.join(BUILD, "pythons", "bin", "python" + version)) +
                 [path for path in [shutil.which("python" + version)] if path] for version in VERSIONS}
        return {version: paths[0] for version, paths in found.items() if paths}

    def test_every_name(self):
        """In a program that is recorded, and in one that is not; also with the oldest and the newest Python."""
        script = os.path.join(HERE, "every_name.py")
        self.run_program([os.path.join(BUILD, "programs", "demo")], options=("-q", "-o", "demo", "--chrome", "none"))
        self.run_python(script, self.path("demo.gpuprof"))
        pythons = list(self.pythons().values())
        for python in dict.fromkeys((installed["python"], *pythons[:1], *pythons[-1:])):
            done = self.run_program([python, script], options=("-q", "-o", "out", "--chrome", "none"), PYTHONPATH=installed["site"])
            self.assertEqual(done.returncode, 0, python + done.stderr)

    def test_every_version(self):
        """One extension module for all of them."""
        import gpuprof

        script = self.write("program.py", "import gpuprof\nwith gpuprof.range('a'), gpuprof.Range('b'):\n    gpuprof.mark('c')\n")
        pythons = self.pythons()
        for version, python in pythons.items():
            done = self.run_program([python, script], options=("-q", "-o", version, "--chrome", "none"), PYTHONPATH=installed["site"])
            self.assertEqual(done.returncode, 0, version + done.stderr)
            ranges = gpuprof.open(self.path(version + ".gpuprof")).ranges
            self.assertEqual(ranges["name"].to_list(), ["a", "b", "c"], version)
        if len(pythons) < len(VERSIONS):
            self.skipTest("not on this machine: Python " + ", ".join(set(VERSIONS) - set(pythons)))


class RangesTest(Package):
    def test_ranges(self):
        trace = self.record(RANGES)
        plain = {101: ["inner", "step"], 102: ["step", "step"], 103: ["plain"], 104: ["stretches"], 105: [], 106: ["stretches"],
                 107: ["left"], 108: ["left"], 109: ["right"], 110: ["right"], 111: ["stream"], 112: ["stream"], 113: [],
                 114: ["step"], 115: ["kept"], 116: ["after"]}
        self.assertEqual(self.inside(trace), plain)
        self.assertEqual([(row["name"], row["fields"]) for row in trace.ranges.rows() if row["kind"] != "range"],
                         [("here", None), ("across", '{"size":3,"name":"x"}')])
        self.assertEqual([row["error"] for row in trace.ranges.rows() if row["error"]], [])

    def test_attributes(self):
        told = [(row["name"], json.loads(row["fields"])) for row in self.record(ATTRIBUTES).ranges.rows()]
        new = {"flops": 1.5e9, "device": "cuda:0", "shape": "(1, 2)", "large": str(1 << 70), "ok": 1}
        kept = ("kept", {"size": 7, "name": "x"})
        self.assertEqual(told, [("new", {**new, "size": 0}), kept, ("new", {**new, "size": 1}), kept, ("call", {"bytes": -3})])

    def test_bad_names(self):
        import gpuprof

        for make in (gpuprof.range, gpuprof.Range, gpuprof.start_range, gpuprof.mark):
            self.assertRaises(TypeError, make, 3)
            self.assertRaises(TypeError, make)
        self.assertRaises(UnicodeEncodeError, gpuprof.range, "\ud800")

    def test_without_the_recorder(self):
        import gpuprof

        self.assertFalse(gpuprof.is_active())
        self.assertIs(gpuprof.range("a"), gpuprof.range("b"))
        with gpuprof.range("a") as one, gpuprof.Range("b"):
            self.assertIs(one, gpuprof.range("c"))
        self.assertRaisesRegex(TypeError, "gpuprof.profile", gpuprof.range("a"), print)
        self.assertRaisesRegex(gpuprof.GpuprofError, "not recorded", gpuprof.range("a").timing)
        self.assertEqual(gpuprof.get_profiler().profile("a", "cuda:0", size=3)(abs)(-3), 3)
        self.assertEqual(gpuprof.start_range("a", size=1), 0)
        gpuprof.end_range(0)
        gpuprof.stop()

        @gpuprof.profile
        async def double(number):
            return 2 * number
        self.assertEqual(asyncio.run(double(4)), 8)
        self.assertEqual(gpuprof.profile(functools.partial(int, "3"))(), 3)
        self.assertRaises(TypeError, gpuprof.profile, "name")
        self.assertRaises(TypeError, gpuprof.profile, classmethod(print))
        self.assertRaises(TypeError, gpuprof.profile, type("Class", (), {}))
        for copied in (copy.deepcopy(gpuprof.Range("kept", size=3)), pickle.loads(pickle.dumps(gpuprof.Range("kept", size=3)))):
            self.assertEqual((type(copied), copied.name, copied.attributes), (gpuprof.Range, "kept", {"size": 3}))

        @contextlib.asynccontextmanager
        @gpuprof.profile
        async def catches():
            try:
                yield 1
            except KeyError:
                caught.append("async")

        @contextlib.contextmanager
        @gpuprof.profile
        def catches_too():
            try:
                yield 1
            except KeyError:
                caught.append("sync")

        async def raises():
            async with catches() as one:
                self.assertEqual(one, 1)
                raise KeyError
        caught = []
        asyncio.run(raises())
        with catches_too():
            raise KeyError
        self.assertEqual(caught, ["async", "sync"])

        @gpuprof.profile
        def fails():
            raise KeyError("as before")
        self.assertRaises(KeyError, fails)


# The base classes of other libraries, which are not installed here.
LIBRARIES = """
import contextlib, sys, types
def library(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)
class Base:
    def __init__(self): self.is_set_up = True
library("lightning"), library("lightning.pytorch"), library("lightning.pytorch.profilers", Profiler=Base)
library("transformers", TrainerCallback=type("TrainerCallback", (), {}))
class Accelerator:
    def backward(self, loss, **kw): return loss
    def clip_grad_norm_(self, parameters): return 2
    @contextlib.contextmanager
    def accumulate(self, *models):
        yield models
"""
CALLBACKS = LIBRARIES + """
import gpuprof
profiler = gpuprof.lightning_profiler()
assert isinstance(profiler, Base) and profiler.is_set_up
for _ in range(2):
    profiler.start("batch"), profiler.start("backward"), profiler.stop("backward"), profiler.stop("batch")
profiler.stop("never")
events = gpuprof.transformers_callback()
def fire(*names):
    for name in names:
        assert getattr(events, "on_" + name)(None, None, "control", model=None) is None
fire("train_begin", "epoch_begin", "step_begin", "pre_optimizer_step", "optimizer_step", "step_end", "step_end")
fire("step_begin", "pre_optimizer_step", "epoch_end", "train_end")      # an exception ended the step
accelerator = gpuprof.mark_accelerator(Accelerator())
with accelerator.accumulate(1, 2):
    assert accelerator.backward(5, retain_graph=True) == 5 and accelerator.clip_grad_norm_([]) == 2
"""


class CallbacksTest(Package):
    def test_ranges(self):
        ranges = [row for row in self.record(CALLBACKS).ranges.rows() if not row["error"]]
        self.assertEqual([row["name"] for row in ranges], ["batch", "backward"] * 2 + ["train", "epoch", "step", "optimizer"] +
                         ["step", "optimizer", "step", "backward", "clip gradients"])
        ends = [row["start_ns"] + row["duration_ns"] for row in ranges]
        self.assertEqual(sorted(range(4, 10), key=lambda at: ends[at]), [7, 6, 9, 8, 5, 4])

    def test_not_installed(self):
        import gpuprof

        with mock.patch.dict(sys.modules, transformers=None, lightning=None, pytorch_lightning=None):
            self.assertRaisesRegex(gpuprof.GpuprofError, "pip install transformers", gpuprof.transformers_callback)
            self.assertRaisesRegex(gpuprof.GpuprofError, "pip install lightning", gpuprof.lightning_profiler)


class RecordingTest(Package):
    def test_late_start(self):
        import gpuprof

        done = self.run_python(self.write("program.py", LATE), self.path("late"))
        self.assertTrue(done.stdout.startswith("fixed: "), done.stdout)
        self.assertEqual(self.files(".html"), [])
        trace = gpuprof.open(self.path("late.gpuprof"))
        self.assertEqual(trace.copies["bytes"].to_list(), [10, 30])
        self.assertEqual([row["name"] for row in trace.ranges.rows()], ["recorded"])

    def test_start_while_cuda_is_in_use(self):
        import gpuprof

        done = self.run_python(self.write("program.py", CUDA_IN_USE), self.path("late"), GPUPROF_HTML=1, GPUPROF_COUNTERS=1)
        self.assertEqual(self.files(), ["late.gpuprof", "program.py"])  # no output at the end
        self.assertRegex(done.stdout, r"\Alate: .*'counters'.*\nfixed: .*\n\Z")
        self.assertEqual(done.stderr, f"gpuprof: recording from now on, to {self.path('late.gpuprof')}\n")
        trace = gpuprof.open(self.path("late.gpuprof"))
        self.assertEqual(trace.copies["bytes"].to_list(), [10, 30])
        self.assertEqual([row["name"] for row in trace.ranges.rows()], ["recorded"])

    def test_start_after_a_detach(self):
        import gpuprof

        self.run_python(self.write("program.py", DETACHED), self.path("first"), self.path("second"))
        for name, copied in (("first", 10), ("second", 30)):
            trace = gpuprof.open(self.path(name + ".gpuprof"))
            self.assertEqual(trace.copies["bytes"].to_list(), [copied])
            self.assertEqual([row["name"] for row in trace.ranges.rows()], [name])

    def test_start_of_several_threads(self):
        """One begins the recording; the others use it, or are told why not."""
        done = self.run_python(self.write("program.py", THREADS), self.path("late"))
        told = done.stdout.split("\n")[:-1]
        self.assertEqual(len(told), 8)
        self.assertLessEqual(set(told), {"started", "recording cannot begin"})
        self.assertIn("started", told)
        self.assertEqual(done.stderr.count("recording from now on"), 1)

    def test_no_such_option(self):
        import gpuprof

        self.assertRaisesRegex(TypeError, "nonsense", gpuprof.start, stacks="all", nonsense=1)
        self.assertRaisesRegex(TypeError, "out", gpuprof.start, out="name")
        self.assertFalse(gpuprof.is_active())


class LookupsTest(Package):
    def test_columns_that_the_package_reads(self):
        import gpuprof
        from gpuprof import _trace

        trace = gpuprof.open(os.path.join(KINETO, "kineto_cnn_cuda_only.json.gz"))
        told = trace.holistic()
        self.assertAlmostEqual(sum(told[key + "_percent"] for key in ("idle", "compute", "communication", "copy")), 100)
        source = inspect.getsource(_trace.Trace.counters) + inspect.getsource(_trace._counter_value)
        asked = set(re.findall(r'row\["(\w+)"\]', source)) | set(_trace._REDUCTIONS.values()) | {"kernels", "measured", "estimate", "error"}
        self.assertLessEqual({"range", "domain", "counter"}, asked)
        self.assertLessEqual(asked, set(trace.table("nvtx-counter").columns))


class SessionsTest(Package):
    def test_sessions(self):
        import gpuprof

        trace = self.record(SESSIONS)
        with open(self.path("told.json"), encoding="utf-8") as file:
            told = json.load(file)
        memsets = {row["bytes"]: row["duration_ns"] for row in trace.copies.rows() if row["kind"] == "memset"}
        (copy_ns,) = {row["duration_ns"] for row in trace.copies.rows() if row["kind"] == "copy"}
        step_ns = memsets[10] + copy_ns
        self.assertEqual(round(told["cuda_ms"] * 1e6), 4 * step_ns + memsets[20])
        self.assertLessEqual(told["busy_ms"], told["cuda_ms"])
        self.assertEqual(told["peak_mb"], ((1 << 16) + (1 << 20)) / 1e6)
        self.assertEqual(told["pending"], 0)
        self.assertEqual(sorted(told["kernels"]["calls"]), [4, 5])
        self.assertEqual(sum(told["kernels"]["total_ns"]), 4 * step_ns + memsets[20])
        self.assertEqual(told["bottleneck"], "GPU idle")
        self.assertEqual(told["trace"], "two.json")
        with open(self.path("two.json"), encoding="utf-8") as file:
            self.assertEqual(sum(one.get("cat") == "gpu_memset" for one in json.load(file)["traceEvents"]), 5)
        self.assertEqual(told["flame"], "two.folded")
        step, copies = told["step"], told["copies"]
        self.assertEqual((step["calls"], step["pending"], copies["calls"]), (4, 0, 4))
        self.assertEqual((step["gpu_time_ns"], copies["gpu_time_ns"]), (4 * step_ns, 4 * copy_ns))
        self.assertEqual((step["transfer_ns"], copies["transfer_ns"]), (4 * copy_ns, 4 * copy_ns))
        self.assertEqual(step["gpu_times_ns"], [step_ns] * 4)
        self.assertEqual(step["peak_bytes"], 1 << 16)
        self.assertLessEqual(step["min_ns"], step["median_ns"])
        self.assertLess(step["overhead_ns"], step["total_ns"])
        self.assertEqual((step["cpu_ns"], step["other_threads_ns"]), (None, 0))
        # The duration of an operation may be 1 ns shorter: start and end are rounded separately.
        self.assertAlmostEqual(told["slow"][0] * 1e6, 8 * 20 * memsets[40], delta=160)
        self.assertEqual([told["slow"][1], told["compared"]["a_calls"], told["compared"]["b_calls"]], [8, [160], [8]])
        self.assertAlmostEqual(told["compared"]["difference_ns"][0], -152 * memsets[40], delta=160)
        low, speedup, high = told["speedup"]
        self.assertTrue(1 < low <= speedup <= high, told["speedup"])
        self.assertEqual(gpuprof.timings(trace)["warm-up of <lambda>"].calls, 2 + 2)
        self.assertEqual(told["nested_calls"], [[1], [2]])
        self.assertGreater(told["stopped_ns"], 0)
        self.assertIn("'outer' has not ended", told["refused"])
        self.assertEqual(told["sampled"], [False, False, False, True] * 2)
        self.assertEqual(sum(row["bytes"] == 50 for row in trace.copies.rows()), 2)
        rows = {line.split()[0]: line.split()[1:] for line in told["report"].splitlines()}
        self.assertEqual(rows["step"], ["4", "GPU", *(f"{value / 1e6:.3f}" for value in (4 * step_ns, step_ns, step_ns, step_ns))])
        self.assertEqual(rows["across"][:2], ["1", "host"])
        by_table = {row["range"]: row["gpu_time_ns"] for row in trace.table("nvtx-gpu").rows()}
        for name, one in (("step", step), ("copies", copies)):
            for key in ("calls", "gpu_times_ns", "transfer_ns"):
                self.assertEqual(told["summary"]["ranges"][name][key], one[key])
        self.assertEqual(by_table["copies"], copies["gpu_time_ns"])
        self.assertFalse([name for name in trace.ranges["name"] if name.startswith("gpuprof.") and name != "gpuprof.reset"])
        self.assertIn("gpuprof's functions in Python", trace.table("overhead")["kind"].to_list())
        self.assertNotIn("gpu-gaps", [finding["rule"] for finding in trace.advice()])
        self.assertEqual(gpuprof.open(self.path("summary.json")).copies["bytes"].to_list(),
                         [row["bytes"] for row in trace.copies.rows() if row["bytes"] != 0])

    def test_cpu_times(self):
        import gpuprof

        times = gpuprof.timings(self.record(CPU_TIMES))
        self.assertEqual({name: one.calls for name, one in times.items()}, dict.fromkeys(("before", "step", "work", "none", "sleep", "after"), 1))
        self.assertEqual([times[name].cpu_ns for name in ("before", "after")], [None, None])
        self.assertGreaterEqual(times["step"].cpu_ns, times["work"].cpu_ns)
        self.assertGreater(times["work"].cpu_ns, 10_000_000)
        self.assertLess(times["none"].cpu_ns, 10_000_000)
        self.assertLess(times["sleep"].cpu_ns, 25_000_000)

    def test_calls_without_an_operation(self):
        trace = self.record(WITHOUT_OPERATION)
        with open(self.path("told.json"), encoding="utf-8") as file:
            pending, names = json.load(file)
        self.assertEqual((pending, sorted(names)), (0, ["[memcpy HtoH pageable to pageable]", "[memset]"]))
        classes = {row["name"]: (row["class"], row["lacks_operation"]) for row in trace.api.rows()}
        self.assertEqual({name: classes[name] for name in (
            "cudaMemcpy", "cudaMemset", "cudaMemsetAsync", "cudaLaunchHostFunc", "cudaStreamWaitEvent", "cudaStreamSynchronize")}, {
                "cudaMemcpy": ("copy", 0), "cudaMemset": ("memset", 0), "cudaMemsetAsync": ("memset", 0),
                "cudaLaunchHostFunc": ("host function", 0), "cudaStreamWaitEvent": ("wait of a stream", 0), "cudaStreamSynchronize": ("wait", 0)})

    def test_samplers(self):
        trace = self.record(SAMPLERS)
        self.assertEqual(trace.copies["bytes"].to_list(), [1, 2, 3, 4, 6, 7])

    def test_pickled_results(self):
        trace = self.record(RESULTS)
        with open(self.path("told.json"), "rb") as file:
            session, compared, table, timing = pickle.load(file)
        sizes = dict(zip(trace.copies["bytes"], trace.copies["duration_ns"]))
        self.assertEqual([session.cuda_time_ms * 1e6, timing.gpu_time_ns, session.trace_path], [sizes[10]] * 2 + [self.path("out.gpuprof")])
        self.assertEqual(session.flame_graph["value"], sizes[10])
        self.assertEqual(compared.kernels["a_calls"].to_list(), [6])
        self.assertEqual(table.to_dict(), {name: values[:7] for name, values in trace.copies.to_dict().items()})

    def test_snapshot_of_torch(self):
        subprocess.run([sys.executable, os.path.join(ROOT, "tests", "fuzz", "snapshot.py"), self.path("snapshot.pickle")], check=True)
        self.record(SNAPSHOT)
        with open(self.path("told.json"), encoding="utf-8") as file:
            before, told, other = json.load(file)
        for one in (before, other):
            self.assertEqual([one["peak"]["bytes"], *(one["torch_" + key] for key in ("timeline", "peak", "blocks"))], [[1 << 16], None, None, None])
        self.assertEqual([told["torch_timeline"][key] for key in ("kind", "bytes", "place")],
                         [["alloc", "segment_alloc", "free_completed"], [500, 2048, 100], ["step (train.py:7)", None, None]])
        self.assertEqual(dict(zip(told["torch_peak"]["category"], told["torch_peak"]["at_the_peak_bytes"])), {"cached": 0, "other": 500, "unknown": 100})
        self.assertEqual([told["torch_blocks"][key] for key in ("bytes", "call_site")], [[512], ["step (train.py:7)"]])

    def test_same_names(self):
        self.record(SAME_NAMES)
        with open(self.path("told.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), [[[1], [2], [3]], [5]])

    def test_speedup(self):
        """One slow iteration of many changes little; few iterations have no interval."""
        from gpuprof._session import _speedup

        times = [2 + number / 100 for number in range(20)]
        for slow in ([], [1000.0]):
            speedup, low, high = _speedup(times + slow, [time / 2 for time in times])
            self.assertAlmostEqual(speedup, 2, 1)
            self.assertTrue(1.8 < low < speedup < high < 2.2)
        self.assertEqual([_speedup([2.0, 2.0], [1.0, 1.0]), _speedup([], [1.0])], [(2, None, None), (None, None, None)])

    def test_ranges_are_disabled(self):
        self.run_python("-m", "gpuprof", "run", "-q", "-o", "out", "--chrome", "none", self.write("program.py", """
import gpuprof, warnings
gpuprof.get_profiler(enabled=False)
with warnings.catch_warnings(record=True) as told, gpuprof.session("none") as session:
    pass
assert "gpuprof.enable()" in str(told[0].message) and session.cuda_time_ms is None
"""))

    def test_tensors(self):
        self.run_python(self.write("program.py", TENSORS))

    def test_pools(self):
        """Pools of frameworks that the program has used; the others are not initialized."""
        import gpuprof
        from gpuprof import _memory

        stats = {"bytes_in_use": 3, "peak_bytes_in_use": 5, "bytes_reserved": 7}
        jax = types.SimpleNamespace(local_devices=lambda: [types.SimpleNamespace(memory_stats=lambda: stats)])
        bridge = types.SimpleNamespace(_backends={})
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(is_initialized=lambda: True, memory_stats=lambda: {
            "allocated_bytes.all.current": 1, "reserved_bytes.all.current": 2}))
        with mock.patch.dict(sys.modules, {"jax": jax, "jax._src.xla_bridge": bridge, "torch": torch}):
            found = {"torch": {"used_bytes": 1, "peak_bytes": None, "reserved_bytes": 2}}
            self.assertEqual(_memory.pools(), found)
            bridge._backends["cuda"] = 1
            self.assertEqual(_memory.pools(), {**found, "jax": {"used_bytes": 3, "peak_bytes": 5, "reserved_bytes": 7}})
            with self.assertWarns(UserWarning), gpuprof.session("pools", memory=True) as session:
                pass
            self.assertEqual((session.allocated_memory_mb, session.reserved_memory_mb), (4e-6, 9e-6))

    def test_without_a_recording(self):
        import gpuprof

        with self.assertWarnsRegex(UserWarning, "is not recorded"), gpuprof.session("alone") as alone:
            pass
        self.assertGreater(alone.total_time_ms, 0)
        self.assertEqual([alone.cuda_time_ms, alone.peak_memory_mb, alone.kernels, alone.bottlenecks, alone.recommendations,
                          alone.flame_graph, alone.trace_path], [None, None, None, [], [], None, None])
        self.assertRaisesRegex(gpuprof.GpuprofError, "gpuprof run", gpuprof.timing, "alone")
        self.assertRaisesRegex(gpuprof.GpuprofError, "has not ended", lambda: gpuprof.session("never").cuda_time_ms)
        self.assertRaises(ValueError, gpuprof.sample, 3)
        self.assertRaises(ValueError, gpuprof.measure, print, iterations=0)
        self.assertRaises(ValueError, gpuprof.measure, print, warmup=-1)
        with self.assertWarnsRegex(UserWarning, "is not recorded") as told:
            gpuprof.measure(int, warmup=0, iterations=1)
        self.assertEqual(told.filename, __file__)
        self.assertRaises(KeyError, gpuprof.get_profiler().stop, "never")
        self.assertRaisesRegex(KeyError, "never", gpuprof.get_profiler().get_tensor_info, "never")
        self.assertRaisesRegex(KeyError, "never", gpuprof.untrack_tensor, "never")
        self.assertRaises(TypeError, gpuprof.track_tensor, 3, alone)
        self.assertRaises(TypeError, gpuprof.compare, alone, 3)
        self.assertRaises(ValueError, gpuprof.get_profiler().export_json, "out.json.gz")
        self.assertEqual(gpuprof.get_profiler().get_bottlenecks(), [])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            gpuprof.get_profiler().print_bottlenecks()
        self.assertIn("not recorded", printed.getvalue())


class SuiteTest(Package):
    """pytest --gpuprof."""

    def setUp(self):
        super().setUp()
        self.need("pytest")
        self.write("test_suite.py", SUITE)

    def run_suite(self, *arguments):
        """The tests that failed; the columns of gpuprof's lines by test; the output."""
        done = subprocess.run([installed["python"], "-m", "pytest", "-rA", "-p", "no:cacheprovider", *arguments], cwd=self.folder,
                              env=support.environment(TMPDIR=self.folder), stdout=subprocess.PIPE, check=False, universal_newlines=True)
        outcomes = dict(re.findall(r"^(?:PASSED|FAILED) test_suite.py::(\w+)(.*)$", done.stdout, re.M))
        self.assertEqual(len(outcomes), 12, done.stdout)
        lines = {line.split()[-1].rpartition("::")[2]: line.split()[:-1] for line in done.stdout.splitlines()
                 if re.match(r" +[0-9.]+ +[0-9]+ .*::test_", line)}
        return set(re.findall(r"^FAILED test_suite.py::(\w+)", done.stdout, re.M)), lines, done.stdout

    def test_limits(self):
        failed, lines, text = self.run_suite("--gpuprof", "--gpuprof-output", "suite")
        self.assertEqual(failed, FAILING, text)
        for words in ("1114112 bytes of GPU memory, at most 100000", "1048576 bytes of GPU memory were not freed", "waited for the GPU 1 times",
                      "limit_launches takes one number", "no_sync: not known"):
            self.assertIn(words, text)
        self.assertEqual(set(lines), {"test_first", "test_plain", "test_within", "test_slow", "test_waits", "test_leaks", "test_fails",
                                      "test_last"}, text)
        self.assertEqual(lines["test_waits"][1:], ["0", "1", "0.1", "0.0"])
        self.assertEqual(lines["test_leaks"][1:], ["0", "0", "1.1", "1.0"])
        self.assertAlmostEqual(float(lines["test_plain"][0]), 3 * float(lines["test_slow"][0]) / 50, 2)
        self.assertTrue(os.path.exists(self.path("suite.gpuprof")))

    def test_without_the_option(self):
        failed, lines, _ = self.run_suite()
        self.assertEqual((failed, lines), ({"test_fails"}, {}))
        self.assertEqual(self.files(".gpuprof"), [])

    def test_workers(self):
        self.need("xdist")
        failed, lines, text = self.run_suite("--gpuprof", "-n", "2")
        self.assertEqual(failed, FAILING, text)
        self.assertTrue({"test_plain", "test_within", "test_slow", "test_waits", "test_leaks", "test_fails"} <= set(lines), text)


# Runs cells in the kernel gpuprof, and prints what they show.
JUPYTER = f"""
from jupyter_client.manager import run_kernel
def show(message):
    if message["msg_type"] == "error":
        raise SystemExit("\\n".join(message["content"]["traceback"]))
    print(message["content"].get("data", {{}}).get("text/html"))
with run_kernel(kernel_name="gpuprof") as client:
    for cell in ('''{DEVICE}begin()''', "%load_ext gpuprof", "%%gpuprof fill\\nfor _ in range(5): work(10)"):
        client.execute_interactive(cell, timeout=60, output_hook=show)
"""


class NotebookTest(Package):
    def test_magic(self):
        self.need("IPython")
        self.run_python(self.write("program.py", NOTEBOOK), HOME=self.folder, IPYTHONDIR=self.folder)

    def test_hostile_names(self):
        """Names are text in the notebook, and the page cannot reach it."""
        from gpuprof import _notebook, _table

        class Cell(_notebook.Session):
            total_time_ms = cuda_time_ms = gpu_busy_ms = 1.0
            pending = 0
            kernels = _table.Table.of([{"name": "<img src=x onerror=alert()>\"'", "calls": 1, "total_ns": 5}], ["name", "calls", "total_ns"])

            def __init__(self):
                pass

        with mock.patch.object(_notebook, "own_trace"), mock.patch("gpuprof._reader.run", return_value=b'"><script>alert()</script>'):
            told = _notebook.CellResult(Cell(), True)._repr_html_()
        tags = []
        parser = html.parser.HTMLParser()
        parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
        parser.feed(told)
        self.assertLessEqual({tag for tag, _ in tags}, {"p", "table", "thead", "tbody", "tr", "td", "th", "iframe"})
        self.assertNotIn("allow-same-origin", dict(tags)["iframe"]["sandbox"])

    def test_kernel_of_jupyter(self):
        """The kernel that is recorded from its start, by the protocol of Jupyter: cells of docs/howto/jupyter.md."""
        for module in ("ipykernel", "jupyter_client"):
            self.need(module)
        self.run_python("-m", "gpuprof", "kernelspec", self.path("prefix"))
        shown = self.run_python(self.write("client.py", JUPYTER), JUPYTER_PATH=self.path("prefix", "share", "jupyter"), HOME=self.folder,
                                IPYTHONDIR=self.folder).stdout
        self.assertIn("<td>5</td><td style='text-align:left'>[memset]</td>", shown)
        self.assertIn("<iframe", shown)
        self.assertEqual(len(self.files(".gpuprof")), 1)

    def test_kernelspec(self):
        folder = self.run_python("-m", "gpuprof", "kernelspec", self.path("prefix")).stdout.strip()
        with open(os.path.join(folder, "kernel.json"), encoding="utf-8") as file:
            told = json.load(file)
        self.assertEqual(told["argv"][0], installed["python"])
        self.assertTrue(os.path.exists(told["env"]["LD_PRELOAD"]))

# As PyTorch 2.6, 2.11 and 2.14 log graph breaks.
BREAKS = [
    ("""Graph break in user code at /home/net.py:14
Reason: Unsupported: builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False
User code traceback:
  File "/home/net.py", line 14, in torch_dynamo_resume_in_forward_at_11
    print("loss")

Traceback (most recent call last):
  File "/opt/torch/_dynamo/symbolic_convert.py", line 659, in wrapper
    return inner_fn(self, inst)
""", ("Unsupported: builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False", "/home/net.py", 14, "forward",
      'print("loss")', "reorderable_logging_functions", False)),
    ("""Graph break in user code at /opt/torch/nn/functional.py:90
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Unsupported operation
  Explanation: Dynamo cannot trace this.
    It is too hard.
  Hint: Please report an issue to PyTorch.
  Hint: Use another operation
    of the same kind.

  Developer debug context: none

 For more details about this graph break, please visit: https://example.org/gb1.html

User code traceback:
  File "/home/train.py", line 3, in <module>
    step(x)
    ~~~~^^^
  File "/home/net.py", line 15, in forward
    y = F.special(x)
        ^^^^^^^^^^^^
  File "/opt/torch/nn/functional.py", line 90, in special
    return torch.special(x)

NoneType: None
""", ("Unsupported operation: Dynamo cannot trace this.", "/home/net.py", 15, "forward", "y = F.special(x)",
      "Use another operation of the same kind.", False)),
    ("""Graph break in user code at /home/net.py:22
Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling back to eager. Graph break encountered:

Data-dependent branching
  Explanation: Detected data-dependent branching.
  Hint: Use `torch.cond` to express dynamic control flow.

User code traceback:
  File "/home/net.py", line 22, in loop
    if x.sum() > 0:

""", ("Data-dependent branching: Detected data-dependent branching.", "/home/net.py", 22, "loop", "if x.sum() > 0:", "torch.where", True)),
    ("something new", ("something new", None, None, None, None, None, False)),
    ("", ("not told", None, None, None, None, None, False)),
]


class CompileTest(Package):
    """torch_compile() without PyTorch; tests/gpu/compile has the rest."""

    def setUp(self):
        super().setUp()
        from gpuprof import _compile, _compile_log, _compile_report

        self.compile, self.log, self.report = _compile, _compile_log, _compile_report
        patch = mock.patch.dict(sys.modules, torch=types.SimpleNamespace(__file__="/opt/torch/__init__.py"))
        patch.start()
        self.addCleanup(patch.stop)

    def test_graph_breaks(self):
        for payload, (reason, file, line, function, code, suggestion, is_skipped) in BREAKS:
            told = self.log.graph_break(payload)
            self.assertEqual(told._replace(suggestion=None), (reason, file, line, function, code, None, is_skipped))
            self.assertEqual(told.suggestion is None, suggestion is None, told)
            self.assertIn(suggestion or "", told.suggestion or "")

    def test_suggestions(self):
        for reason, code, words in (("Unsupported: Tensor.item", "", "capture_scalar_outputs"), ("", "if y.tolist():", "capture_scalar_outputs"),
                                    ("Data-dependent jump", "", "torch.cond"), ("other", "logger.info(x)", "log outside"),
                                    ("other", "torch._dynamo.graph_break()", "remove the call"), ("Dynamic shape operator", "y = x.nonzero()", "shape")):
            self.assertIn(words, self.log.suggestion(reason, code, ""))
        self.assertIsNone(self.log.suggestion("other", "f(x)", "other\n  Hint: This graph break is fundamental.\n"))

    def test_same_place_is_one_break(self):
        one = self.log.graph_break(BREAKS[0][0])
        other = self.log.graph_break(BREAKS[1][0])
        unknown = self.log.graph_break("")
        self.assertEqual(self.log.merge([one, other, unknown, one._replace(reason="again", is_skipped=True), unknown]),
                         [one._replace(is_skipped=True), other, unknown])

    def tell(self, *records):
        """What the log says of these records: their metadata, with the payload."""
        logger = logging.getLogger("torch.__trace")
        with mock.patch.multiple(logger, level=logging.DEBUG, propagate=False), self.log.Log() as log:
            logger._cache.clear()
            for metadata, payload in records:
                logger.debug("", extra={"metadata": metadata, "payload": payload})
        logger._cache.clear()
        return log.compilations()

    def test_log(self):
        first, again, late = ({"frame_id": 0, "frame_compile_id": number} for number in range(3))
        metrics = {"co_name": "torch_dynamo_resume_in_forward_at_11", "co_filename": "/home/net.py", "co_firstlineno": 9, "has_guarded_code": True,
                   "entire_frame_compile_time_s": 1.5, "backend_compile_time_s": 1.0}
        told = self.tell(
            ({"chromium_event": {}, **first}, "{}"), ({"dynamo_output_graph": {}, **first}, "graph"),
            ({"artifact": {"name": "dynamo_graph_break_reason"}, **first}, BREAKS[0][0]), ({"compilation_metrics": metrics, **first}, None),
            ({"artifact": {"name": "recompile_reasons"}, **again}, '["0/1: self.step == 1   # if self.step:  # net.py:9", "0/0: self.step == 0"]'),
            ({"dynamo_output_graph": {}, **again}, "graph"), ({"compilation_metrics": metrics, **again}, None),
            ({"compilation_metrics": {"fail_reason": "Dynamo recompile limit exceeded", "fail_type": "Unsupported"}, **late}, None))
        self.assertEqual((told.graphs, told.is_limit_reached, told.cuda_graph_skips), (2, True, []))
        self.assertEqual(told.phases_s, {"entire_frame": 3.0, "backend": 2.0})
        self.assertEqual([(one.line, one.is_skipped) for one in told.graph_breaks], [(14, False)])
        self.assertEqual(told.recompilations, [("forward", "/home/net.py", 11, ["self.step == 1", "self.step == 0"])])

    def test_log_of_another_version(self):
        """None, whatever it says; never an exception."""
        self.assertIsNone(self.tell())
        self.assertIsNone(self.tell(({"new_event": {}}, "x")))
        first = {"frame_id": 0, "frame_compile_id": 0}
        self.assertIsNone(self.tell(({"compilation_metrics": {}, **first}, None), ("no dict", 3)))
        self.assertEqual([self.log.counters("inductor"), self.log.generated_kernels(), self.log.asks_for_cuda_graphs("default"),
                          self.log.counted_breaks(None, None)], [None] * 4)
        self.assertEqual(self.compile._Counts.now(), (None, None, None))

    def test_counters(self):
        """Reasons without places, where the log has none."""
        told = self.log.counted_breaks({"old": 1, "call_function print": 1}, {"old": 1, "call_function print": 3, "Tensor.item\nmore": 1, "": 1})
        self.assertEqual([(one.reason, one.file, one.suggestion is None) for one in told],
                         [("call_function print", None, True), ("Tensor.item", None, False), ("not told", None, True)])
        before, after = self.compile._Counts(3, {"a": 1}, None), self.compile._Counts(5, {"a": 2, "b": 4}, None)
        self.assertEqual([after.kernels_since(before), after.since(before, "a"), after.since(before, "b"), after.since(before, "c"),
                          after._replace(inductor=None).since(before, "a"), before._replace(generated_kernels=None).kernels_since(before)],
                         [2, 1, 4, 0, None, None])

    def test_speedup(self):
        """The median of the ratios of pairs; the bounds are the values of rank 6 and 15 of 20."""
        self.assertEqual(self.compile.speedup(range(1, 21), [1] * 20), (10.5, 6, 15))
        self.assertEqual(self.compile.speedup([2, 4, 6, 8, 10, 1000], [1, 2, 3, 4, 5, 1]), (2, 2, 1000))
        self.assertEqual(self.compile.speedup([1, 2, 3, 4, 5], [1] * 5), (3, None, None))

    def test_a_machine_that_is_not_quiet(self):
        modes = [self.report.CompiledMode(str(time), eager_times_ms=[time, time, 100.0]) for time in (1.0, 1.2, 1.3)]
        self.assertEqual(self.compile._unsteady([*modes[:2], self.report.CompiledMode("failed", "error")]), [])
        (note,) = self.compile._unsteady(modes)
        self.assertIn("1 ms beside one mode and 1.3 ms", note)

    def test_kernels_of_a_profiler_trace(self):
        import gpuprof
        from gpuprof._work import Work

        trace = gpuprof.open(os.path.join(KINETO, "kineto_cnn_cuda_only.json.gz"))
        calls = Work(trace).launched_in(self.compile._FOREVER)
        told = self.compile._kernels(calls, "torch.profiler")
        kernels = [row for row in trace.kernels.rows()]
        self.assertAlmostEqual(told.launches, len(kernels) / 5)
        self.assertEqual(told.graph_launches, 0)
        self.assertAlmostEqual(told.gpu_ms * 5e6, sum(trace.kernels["duration_ns"]) + sum(trace.copies["duration_ns"]))
        self.assertEqual(told.top[0].name, max(kernels, key=lambda row: row["duration_ns"])["name"])

    def make_report(self, name="Net"):
        report = self.report
        work = report.Kernels("gpuprof", 12.0, 0.25, 0.0, [report.KernelTime("<b>kernel</b>", 2.0, 0.125)])
        good = report.CompiledMode(
            "default", None, 1.5, 1.25, 1.75, [3.0, 3.0], [2.0, 2.0], 4.0, {"entire_frame": 3.5}, 0, 3,
            [self.log.graph_break(text) for text, _ in BREAKS[:2]], [self.log.Recompilation("forward", "/home/net.py", 11, ["x == 1", "x == 0"])],
            work._replace(launches=5.0), report.CudaGraphs(True, 2.0, 1, ["mutated inputs"]), 4, float("inf"), 1e-7, ["a note"])
        bad = report.CompiledMode("max-autotune", "RuntimeError: no")
        return report.CompileReport(name, "cuda:0", "2.11", 2, 7, work, {"default": good, "max-autotune": bad}, ["This version does not tell x."])

    def test_report(self):
        told = self.make_report()
        self.assertEqual(told.fastest, "default")
        rows = {line.split()[0]: line.split()[1:] for line in str(told).splitlines() if line.strip()}
        self.assertEqual(rows["default:"], "used; launches in a call: 2; compiled graphs that are not captured: 1".split())
        lines = [line.split() for line in str(told).splitlines()]
        self.assertIn("default 1.50 1.25 to 1.75 3.0000 2.0000 4.0 3 2 1 inf".split(), lines)
        self.assertIn("eager 12 0.2500 0".split(), lines)
        self.assertIn("default 5 0.2500 0 4".split(), lines)
        for words in ("/home/net.py:14 in forward: print(\"loss\")", "guard that failed: x == 1", "RuntimeError: no", "a note", "does not tell x"):
            self.assertIn(words, str(told))
        self.assertNotIn("x == 0", str(told))
        with open(told.to_json(self.path("report.json")), encoding="utf-8") as file:
            read = json.load(file)
        self.assertEqual(read, told.to_dict())
        self.assertEqual((read["modes"]["default"]["max_difference"], read["modes"]["default"]["graph_breaks"][1]["line"],
                          read["modes"]["max-autotune"]["speedup"], read["fastest"]), (None, 15, None, "default"))

    def test_nothing_is_known(self):
        report = self.report
        empty = report.CompiledMode("default", None, 0.9, None, None, [1.0], [1.1], 0.5, cuda_graphs=report.CudaGraphs(True, None, None, []))
        told = report.CompileReport("f", "cpu", "2.0", 1, 1, None, {"default": empty}, [])
        self.assertIsNone(told.fastest)
        self.assertIn("default 0.90 unknown 1.0000 1.1000 0.5 unknown unknown unknown unknown".split(), [line.split() for line in str(told).splitlines()])
        self.assertIn("asked for; whether they are used is unknown", str(told))
        self.assertNotIn("GPU work", str(told))

    def test_page(self):
        """One file; names are text in it."""
        path = self.make_report("<script>alert()</script>").to_html(self.path("report.html"))
        tags = []
        parser = html.parser.HTMLParser()
        parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
        parser.handle_data = lambda text: tags.append((text, {}))
        with open(path, encoding="utf-8") as file:
            parser.feed(file.read())
        names = [tag for tag, _ in tags]
        self.assertIn("<b>kernel</b>", names)
        self.assertFalse({"script", "link", "img", "b"} & set(names))
        self.assertFalse([attributes for _, attributes in tags if "src" in attributes or "href" in attributes])

    def test_without_pytorch(self):
        import gpuprof

        with mock.patch.dict(sys.modules, torch=None):
            self.assertRaisesRegex(gpuprof.GpuprofError, "pip install torch", gpuprof.torch_compile, print)
        old = types.ModuleType("torch")
        old.__version__ = "1.13.1"
        with mock.patch.dict(sys.modules, torch=old):
            self.assertRaisesRegex(gpuprof.GpuprofError, "not 1.13.1", gpuprof.torch_compile, print)
        old.compile = print
        with mock.patch.dict(sys.modules, torch=old):
            self.assertRaises(ValueError, gpuprof.torch_compile, print, modes=())
            self.assertRaises(ValueError, gpuprof.torch_compile, print, iterations=0)
            self.assertRaises(TypeError, gpuprof.torch_compile, 3)


class Schema(ctypes.Structure):
    """Of Arrow's C data interface; private_data is left to its maker."""


class Array(ctypes.Structure):
    """Likewise."""


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
                  ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p)]


class Stream(ctypes.Structure):
    """Likewise."""
    _fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Schema))),
                ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Array))),
                ("get_last_error", ctypes.c_void_p), ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("private_data", ctypes.c_void_p)]


def stream_of(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Stream.from_address(pointer(capsule, b"arrow_array_stream"))


def values_of(array, schema):
    """The values of an array of Arrow; None where its bitmap says so."""
    code, size = {b"l": ("q", 8), b"i": ("i", 4), b"g": ("d", 8)}[schema.format]
    values = struct.unpack(f"{array.length}{code}", ctypes.string_at(array.buffers[1], array.length * size))
    valid = ctypes.string_at(array.buffers[0], (array.length + 7) // 8) if array.buffers[0] else b"\xff" * array.length
    if array.dictionary:
        texts = array.dictionary.contents
        offsets = struct.unpack(f"{texts.length + 1}i", ctypes.string_at(texts.buffers[1], 4 * (texts.length + 1)))
        letters = ctypes.string_at(texts.buffers[2], offsets[-1])
        values = [letters[offsets[one]:offsets[one + 1]].decode() if one >= 0 else None for one in values]
    return [value if valid[row // 8] >> row % 8 & 1 else None for row, value in enumerate(values)]


class TablesTest(Package):
    def setUp(self):
        super().setUp()
        import gpuprof

        done = self.run_program([os.path.join(BUILD, "programs", "demo")], options=("-q", "-o", "out", "--chrome", "none", "--stacks", "all"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.trace = gpuprof.open(self.path("out.gpuprof"))

    def test_same_as_lines(self):
        """Each event is in its table, with the values of the JSON lines."""
        self.trace.to_json(self.path("out.jsonl"))
        with open(self.path("out.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        kinds = {"kernels": ("kernel",), "copies": ("copy", "memset"), "api": ("call",), "memory": ("allocation", "free")}
        for name, these in kinds.items():
            table = self.trace.tables[name]
            wanted = [line for line in lines if line["kind"] in these]
            self.assertGreater(len(wanted), 0, name)
            self.assertEqual(len(table), len(wanted))
            for row, line in zip(table.rows(), wanted):
                told = {key: value for key, value in row.items()
                        if value is not None and not key.startswith("place") and key not in ("class", "lacks_operation")}
                for key in ("address", "pool"):
                    if key in told:
                        told[key] = hex(told[key])
                self.assertEqual(told, {key: value for key, value in line.items() if key in row}, name)
        self.assertEqual(sum(len(table) for table in self.trace.tables.values()), len(lines))
        self.assertEqual(self.trace.energy.columns, ["name", "start_ns", "pid", "device", "power_mw", "energy_mj", "clock_mhz"])

    def test_places(self):
        import gpuprof

        done = self.run_program([os.path.join(BUILD, "rules", "sync-copy"), "sin"],
                                options=("-q", "-o", "places", "--chrome", "none", "--stacks", "all"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(ROOT, "tests", "rules", "sync-copy.cu"), encoding="utf-8") as file:
            (line,) = [number for number, text in enumerate(file, 1) if text.rstrip().endswith("/* sin */")]
        trace = gpuprof.open(self.path("places.gpuprof"))
        self.assertEqual(set(trace.copies["place"]), {f"main (sync-copy.cu:{line})"})
        self.assertEqual(set(trace.copies["place_is_estimated"]), {0})
        self.assertIn(f"main (sync-copy.cu:{line})", set(trace.api["place"]))
        self.assertEqual({place.startswith("main (sync-copy.cu:") for place in trace.memory["place"]}, {True})

    def test_arrow(self):
        for name in ("kernels", "copies", "api"):
            table = self.trace.tables[name]
            capsule = table.__arrow_c_stream__()
            stream, schema, array, end = stream_of(capsule), Schema(), Array(), Array()
            address = ctypes.addressof(stream)
            self.assertEqual(stream.get_schema(address, ctypes.byref(schema)), 0)
            self.assertEqual(stream.get_next(address, ctypes.byref(array)), 0)
            self.assertEqual(stream.get_next(address, ctypes.byref(end)), 0)
            self.assertFalse(end.release)
            stream.release(address)
            del capsule
            columns = [schema.children[i].contents for i in range(schema.n_children)]
            self.assertEqual([column.name.decode() for column in columns], table.columns)
            wanted = table.to_dict()
            del table
            for number, column in enumerate(columns):
                self.assertEqual(values_of(array.children[number].contents, column), wanted[column.name.decode()])
            array.release(ctypes.byref(array))
            schema.release(ctypes.byref(schema))

    def test_numpy_and_pandas(self):
        script = self.write("program.py", """
import sys
try:
    import numpy, pandas
except ImportError as error:
    sys.exit("skipped: " + str(error))
import gpuprof
trace = gpuprof.open("out.gpuprof")
durations = trace.kernels.to_numpy("duration_ns")
assert durations.dtype == "int64" and not durations.flags.writeable
assert numpy.shares_memory(durations, trace.kernels.to_numpy("duration_ns"))
assert numpy.shares_memory(durations, trace.kernels.to_pandas()["duration_ns"].to_numpy())
assert durations.sum() == sum(trace.kernels["duration_ns"])
assert list(trace.kernels.to_numpy("name")) == trace.kernels["name"].to_list()
graphs = trace.kernels.to_numpy("graph")
assert numpy.ma.count_masked(graphs) == len(trace.kernels)
for table in trace.tables.values():
    frame = table.to_pandas()
    told = {name: [None if value is pandas.NA or value != value else value for value in frame[name]] for name in frame.columns}
    assert told == table.to_dict(), table
by = trace.table("gpu").to_pandas()
assert by["total_ns"].sum() == trace.kernels.to_pandas()["duration_ns"].sum() + trace.copies.to_pandas()["duration_ns"].sum()
""")
        done = subprocess.run([installed["python"], script], cwd=self.folder, stderr=subprocess.PIPE, check=False)
        if done.stderr.startswith(b"skipped: "):
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_summaries(self):
        by = self.trace.table("kernel")
        self.assertEqual(sum(by["total_ns"]), sum(self.trace.kernels["duration_ns"]))
        self.assertEqual(len(self.trace.table("kernel", top=1)), 1)
        summary = self.trace.summary()
        self.assertEqual(summary["gpu"].to_dict(), self.trace.table("gpu", top=len(summary["gpu"])).to_dict())
        self.assertEqual(summary["summary"]["kernels"], len(self.trace.kernels))
        self.assertEqual(self.trace.flame()["value"], sum(self.trace.kernels["duration_ns"]) + sum(self.trace.copies["duration_ns"]))
        cut = self.trace.flame(depth=1, min_value=1 << 60)
        self.assertEqual([len(child["children"]) for child in cut["children"]], [0])
        times = self.trace.timeline()
        self.assertLessEqual(times["overlap_ns"], min(times["cpu_active_ns"], times["gpu_active_ns"]))
        self.assertLessEqual(times["cpu_active_ns"] + times["gpu_active_ns"] - times["overlap_ns"], times["total_ns"])
        shares = self.trace.holistic()
        self.assertAlmostEqual(sum(shares[key] for key in shares if key.endswith("_percent")), 100, 3)
        self.assertEqual(shares["advice"], self.trace.advice())
        self.assertTrue(os.path.getsize(self.trace.to_html(self.path("out.html"))) > 10000)
        with open(self.trace.to_chrome(self.path("out.json")), encoding="utf-8") as file:
            self.assertIn("traceEvents", json.load(file))

    def test_counters_of_ranges(self):
        import gpuprof

        done = self.run_program([os.path.join(BUILD, "programs", "ranges"), "3", "30", "5"], GPUSIM_KERNEL_NS="400000",
                                options=("-q", "-o", "counters", "--chrome", "none", "--counters", "--counters-interval", "0"))
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = gpuprof.open(self.path("counters.gpuprof"))
        read = trace.counters("inside")["dram__bytes_read.sum"]
        self.assertEqual((read.value, read.unit, read.kernels, read.estimate, read.error),
                         (read.measured * 400000000, "byte", 90, 36000000000, 0))
        self.assertEqual(trace.counters("inside", reduce="MEAN", domain="")["dram__bytes_read.sum"][::4], (400000000, 400000000))
        self.assertEqual(trace.counters("inside", "MAX")["gpu__time_duration.sum"].value, 400000)
        warps = "sm__warps_active.avg.pct_of_peak_sustained_active"
        self.assertEqual([trace.counters("inside", reduce)[warps].value for reduce in ("SUM", "MEAN")], [None, 50])
        self.assertRaisesRegex(KeyError, "inside", trace.counters, "outside")
        self.assertRaisesRegex(ValueError, "SUM", trace.counters, "inside", "MEDIAN")

    def test_other_formats_and_no_traces(self):
        import gpuprof

        for path in glob.glob(os.path.join(KINETO, "*.json.gz"))[:2]:
            trace = gpuprof.open(path)
            self.assertGreater(len(trace.kernels) + len(trace.api), 0, path)
        as_nsys = gpuprof.open(self.trace.export("sqlite", self.path("out.sqlite")))
        for table, column in (("kernels", "name"), ("kernels", "duration_ns"), ("copies", "bytes"), ("api", "correlation")):
            self.assertEqual(as_nsys.tables[table][column].to_list(), self.trace.tables[table][column].to_list())
        self.assertRaises(FileNotFoundError, gpuprof.open, self.path("none"))
        self.assertRaisesRegex(gpuprof.GpuprofError, "bad.gpuprof", gpuprof.open, self.write("bad.gpuprof", "no trace"))
        self.assertRaisesRegex(gpuprof.GpuprofError, "bad.json", gpuprof.open, self.write("bad.json", "{}"))
        self.assertRaisesRegex(gpuprof.GpuprofError, "folder", gpuprof.open, self.folder)
        large = gpuprof.open(self.write("large.gpuprof", "no trace" * (1 << 18)))
        self.assertRaisesRegex(gpuprof.GpuprofError, "large.gpuprof", lambda: large.kernels)
        self.assertRaisesRegex(gpuprof.GpuprofError, "--by takes", self.trace.table, "nonsense")
        self.assertRaisesRegex(gpuprof.GpuprofError, "one table", self.trace.table, "kernel,stream")
        self.assertRaises(gpuprof.GpuprofError, self.trace.table, "help")
        self.assertRaisesRegex(KeyError, "the columns are: name", lambda: self.trace.kernels["nonsense"])

    def test_paths(self):
        """A path may begin like an option, and is that of the folder in which the trace was opened."""
        import gpuprof

        self.assertGreater(len(self.trace.kernels), 0)
        os.rename(self.path("out.gpuprof"), self.path("-out.gpuprof"))
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            traces = [gpuprof.open(path) for path in ("-out.gpuprof", b"-out.gpuprof", Path("-out.gpuprof"))]
        finally:
            os.chdir(here)
        self.assertEqual([len(trace.kernels) for trace in traces], [len(self.trace.kernels)] * 3)

    def test_a_profiler_object(self):
        import gpuprof

        (source, *_) = glob.glob(os.path.join(KINETO, "*.json.gz"))

        class Profiler:
            """As torch.profiler's."""
            @staticmethod
            def export_chrome_trace(path):
                with gzip.open(source) as packed, open(path, "wb") as file:
                    shutil.copyfileobj(packed, file)
        self.assertEqual(gpuprof.open(Profiler()).api.to_dict(), gpuprof.open(source).api.to_dict())


# What the snippets of docs/howto/python.md take for granted.
STAND_INS = DEVICE + LIBRARIES + """
begin()
with gpuprof.range("forward"):
    work(1)
import os, pytest, shutil
from types import SimpleNamespace
def step(batch=None): work(10)
faster_step = step
batch, x, request, path = 1, SimpleNamespace(shape=(1, 2)), None, "file"
def model(batch): work(20)
def answer(request): work(30)
def load(path): return 1
accelerator = Accelerator()
class Weight:
    nbytes, shape, dtype = 8, (2,), "float32"
    def data_ptr(self): return 4096
model.weight = Weight()
nothing = lambda: None
library("torch", cuda=SimpleNamespace(is_initialized=lambda: False, profiler=SimpleNamespace(start=nothing, stop=nothing),
    memory=SimpleNamespace(_record_memory_history=nothing, _dump_snapshot=print)))
import itertools, torch
loader = [1] * 3
sys.modules["lightning"].Trainer = sys.modules["transformers"].Trainer = lambda *arguments, **kw: None
import lightning, transformers
arrow = lambda table: table.__arrow_c_stream__()
pyarrow, polars = SimpleNamespace(table=arrow), SimpleNamespace(DataFrame=arrow)
duckdb = SimpleNamespace(sql=lambda text: None)
"""


class DocumentsTest(Package):
    def snippets(self):
        """Those of Python, by section of the page; one that starts the recording is a program of its own."""
        with open(os.path.join(ROOT, "docs", "howto", "python.md"), encoding="utf-8") as file:
            sections = re.split(r"^## (.*)$", file.read(), flags=re.M)
        for title, text in zip(sections[1::2], sections[2::2]):
            found = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.M)
            together = "".join(block for block in found if "gpuprof.start(output" not in block)
            yield from ((title, text) for text in [together, *(block for block in found if "gpuprof.start(output" in block)] if text)

    def test_howto(self):
        for module in ("pytest", "pandas"):
            self.need(module)
        self.run_python("-m", "gpuprof", "run", "-q", "-o", "gpuprof-train-1234", self.write("train.py", DEVICE + "begin()\nwork(1)\n"))
        titles = []
        for title, text in self.snippets():
            titles.append(title)
            if "gpuprof.start(output" in text:
                self.run_python("-c", LIBRARIES + 'library("torch")\n' + text)
            else:
                self.run_python("-m", "gpuprof", "run", "-q", "-o", "out", "--chrome", "none", self.write("program.py", STAND_INS + text))
        self.assertEqual(titles, ["Name parts of the program", "Times and memory inside the program", *["Start and stop the recording"] * 2,
                                  "In pytest", "Read traces"])

    def test_other_pages(self):
        """Every block of Python in the documents is run here, or somewhere else."""
        self.need("pandas")
        elsewhere = {"howto/python.md": "test_howto", "tutorial-python.md": "an extract of examples/model.py, below"}
        left_out = {"howto/jupyter.md": "%", "howto/pytorch.md": "torch_compile"}  # NotebookTest, and on a GPU tests/gpu/python docs
        self.run_python("-m", "gpuprof", "run", "-q", "-o", "train", self.write("train.py", DEVICE + "begin()\nwork(1)\n"))
        self.run_python("-m", "gpuprof", "export", "--format", "csv", "-o", "app.csv", "train.gpuprof")
        pages = {}
        for path in glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True):
            page = os.path.relpath(path, os.path.join(ROOT, "docs"))
            pages.update({page: found for found in [documents.blocks(page, "python")] if found})
        self.assertEqual(set(pages), {*elsewhere, *left_out, "howto/energy.md", "reference/formats.md"})
        for page in set(pages) - set(elsewhere):
            with self.subTest(page=page):
                text = "".join(block for block in pages[page] if page not in left_out or left_out[page] not in block)
                self.assertTrue(text)
                self.run_python("-m", "gpuprof", "run", "-q", "-o", "out", "--chrome", "none", self.write("program.py", STAND_INS + text))
        with open(os.path.join(ROOT, "examples", "model.py"), encoding="utf-8") as file:
            lines = {line.strip() for line in file}
        self.assertLessEqual({line.strip() for line in "".join(pages["tutorial-python.md"]).splitlines()}, lines)

    def test_tutorial(self):
        """All but the installation, which setUpModule() does, and the choice of the device."""
        shutil.copytree(os.path.join(ROOT, "examples"), self.path("examples"))
        blocks = [block for block in documents.blocks("tutorial-python.md") if "pip install" not in block and "make sim" not in block]
        variables = support.environment(PATH=installed["bin"] + os.pathsep + os.environ["PATH"], GPUSIM_KERNEL_NS="15000")
        done = subprocess.run(["bash", "-e", "-c", "\n".join(blocks)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True, env=variables)
        output = done.stdout.decode()
        for words in ("hidden-wait", "\nloss      300 x", "\n600 30 [memcpy DtoH pageable]\n", "\n7200 7200 layer\n"):
            self.assertIn(words, output)
        self.assertRegex(output, r"\n +300 +15 +-285 +-95.0 +yes +copies DtoH\n")


if __name__ == "__main__":
    unittest.main()
