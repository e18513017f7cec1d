"""gpuprof attach and detach: exactly what ran between is recorded, and the program never notices.

    attach_test.py             a few times
    attach_test.py --many N    N times on a program whose threads launch all the time (make soak)

Needs Python 3.14 or later: build/pythons (tests/pythons), or one on PATH.
"""
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import unittest

import support
from support import Case

NOBODY = 65534
THREADS = 2
LINKED = os.path.join(support.BUILD, "pythons", "bin", "python3.14")
PYTHON = LINKED if os.access(LINKED, os.X_OK) else shutil.which("python3.14")

# Launches as many kernels as a line says, and says how many; other lines: what it does.  Between lines it runs Python.
PROGRAM = """
import ctypes, os, select, sys, threading
sys.path.insert(0, sys.argv[1])
import gpu

client = ctypes.c_void_p()
device, line = gpu.Device() if "bare" not in sys.argv else None, ""
print("ready", os.getpid(), flush=True)


def launch_always():
    device.call("cuCtxSetCurrent", device.context)
    while line is not None:
        for _ in range(20):
            device.call("cuLaunchKernel", device.kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
        device.call("cuCtxSynchronize")


def record_range():
    recorder = ctypes.CDLL(sys.argv[2])
    recorder.gpuprof_v1_start()
    recorder.gpuprof_v1_range_push(b"range")
    recorder.gpuprof_v1_range_pop()


while line is not None:
    if not select.select([sys.stdin], [], [], 0.001)[0]:
        continue
    line = sys.stdin.readline().strip() or None
    if line == "block":
        print("blocked", flush=True)
        os.read(0, 1)
    elif line and line.startswith("start "):
        device.start(int(line[6:]))
    elif line == "wait":
        threading.Thread(target=lambda: [device.call("cuCtxSetCurrent", device.context), device.sync()]).start()
        print("waits", flush=True)
    elif line == "renew":
        device.call("cuCtxDestroy_v2", device.context)
        device = gpu.Device()
        print("renewed", flush=True)
    elif line == "client":
        cupti = ctypes.CDLL("libcupti.so.13")
        cupti.cuptiSubscribe(ctypes.byref(client), ctypes.cast(cupti.cuptiGetVersion, ctypes.c_void_p), None)
        print("subscribed", flush=True)
    elif line == "range":
        record_range()
        cupti.cuptiUnsubscribe(client)
        print("unsubscribed", flush=True)
    elif line == "fork":
        pid = os.fork()
        if pid == 0:
            record_range()
            os._exit(0)
        print("forked", os.waitpid(pid, 0)[1], flush=True)
    elif line == "threads":
        for _ in range(int(sys.argv[2])):
            threading.Thread(target=launch_always).start()
        print("started", flush=True)
    elif line:
        device.launch(int(line))
sys.exit(7)
"""


class Attach(Case):

    def setUp(self):
        super().setUp()
        if not PYTHON:
            self.skipTest("there is no Python 3.14: tests/pythons build/pythons 3.14")
        # that of another system's packages needs its variables, which -I ignores
        self.python = self.write("python", f'#!/bin/sh\n[ "$1" != -I ] || shift\nexec {PYTHON} "$@"\n', 0o755)
        self.program = self.write("program.py", PROGRAM)

    @contextlib.contextmanager
    def start(self, *arguments, prefix=(), python=None, **variables):
        with subprocess.Popen([*prefix, python or PYTHON, self.program, support.HERE, *arguments], cwd=self.folder,
                              env=support.environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True) as process:
            try:
                ready, process.program = process.stdout.readline().split()
                self.assertEqual(ready, "ready")
                yield process
            finally:
                process.kill()

    def say(self, process, line, expected):
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), expected)

    def launch(self, process, count):
        self.say(process, count, f"launches {count}\n")

    def end(self, process):
        out, errors = process.communicate(timeout=support.LIMIT_S)
        self.assertEqual((process.returncode, out, errors), (7, "", ""))
        self.assertEqual(glob.glob(self.path("gpuprof-attach-*")), [])

    def ask(self, command, pid, *options, python=True, **variables):
        own = ["--timeout", "50", *(["--python", self.python] if python else [])]
        answer = subprocess.run([support.GPUPROF, command, str(pid), *own, *options], cwd=self.folder,
                                env={**os.environ, "TMPDIR": self.folder, **variables}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=support.LIMIT_S, universal_newlines=True, check=False)
        if "the kernel does not allow" in answer.stderr:
            self.skipTest("the kernel does not allow to trace other processes here (ptrace_scope, SYS_PTRACE)")
        return answer

    def done(self, command, pid, *options):
        answer = self.ask(command, pid, *options)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def refused(self, words, command, pid, *options, status=1, **how):
        answer = self.ask(command, pid, *options, **how)
        self.assertEqual((answer.returncode, answer.stdout), (status, ""), answer.stderr)
        self.assertIn(words, answer.stderr)
        self.assertEqual(answer.stderr.count("\n"), 1, answer.stderr)

    def counts(self, name):
        lines = subprocess.run([os.path.join(support.BUILD, "tests", "lib", "record_counts"), self.path(name)],
                               stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.split("\n")
        return {name: int(count) for name, _, count in (line.partition(" ") for line in lines if line)}

    def summary(self, name):
        return self.run_gpuprof("summary", "--full", self.path(name)).stdout

    def test_exact_counts_twice(self):
        with self.start() as process:
            self.launch(process, 100)
            self.done("attach", process.pid, "-o", "first", "--stacks", "all")
            self.launch(process, 70)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.launch(process, 50)
            self.done("attach", process.pid, "-o", "second", "--stacks", "all")
            self.launch(process, 30)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.launch(process, 10)
            self.assertEqual(glob.glob(f"/dev/shm/gpuprof-{os.getuid()}-{process.pid}-*"), [])
            self.end(process)
        for name, launches in (("first", 70), ("second", 30)):
            counts = self.counts(name + ".gpuprof")
            self.assertEqual((counts["calls.launch"], counts["kernels"], counts["calls.sync"]), (launches, launches, 1))
            summary = self.summary(name + ".gpuprof")
            self.assertIn("from gpuprof attach to gpuprof detach", summary)
            self.assertIn("gpuprof was attached to the running program", summary)
            self.assertIn("Simulated GPU, 132 SMs", summary)
            lines = self.run_gpuprof("summary", "--by", "line", self.path(name + ".gpuprof")).stdout
            self.assertIn("gpu.py", lines)

    def test_kernels_that_still_run(self):
        with self.start(GPUSIM_KERNEL_NS=20000000) as process:
            self.done("attach", process.pid, "-o", "trace")
            self.say(process, "start 30", "started 30\n")  # 0.6 s
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.end(process)
        counts = self.counts("trace.gpuprof")
        self.assertEqual((counts["calls.launch"], counts["kernels"]), (30, 30))
        self.assertIn("600.0ms in all, 30 kernels", self.summary("trace.gpuprof"))

    def test_two_detaches_at_once(self):
        with self.start(GPUSIM_KERNEL_NS=20000000) as process:
            self.done("attach", process.pid, "-o", "trace")
            self.say(process, "start 50", "started 50\n")  # 1 s, which the first one waits for
            with subprocess.Popen([support.GPUPROF, "detach", str(process.pid), "--python", self.python, "-q", "--chrome", "none"],
                                  cwd=self.folder, env={**os.environ, "TMPDIR": self.folder}) as first:
                while not glob.glob(self.path("gpuprof-attach-*", "taken")):
                    self.assertIsNone(first.poll())
                self.refused("has not ended; try again later", "detach", process.pid)
                self.refused("has not ended; try again later", "attach", process.pid)
            self.assertEqual(first.returncode, 0)
            self.end(process)
        self.assertEqual(self.counts("trace.gpuprof")["kernels"], 50)

    def test_call_of_an_earlier_recording(self):
        with self.start(GPUSIM_KERNEL_NS=2000000000) as process:
            self.done("attach", process.pid, "-o", "first", "--flush-timeout", "1", "--stacks", "all")
            self.say(process, "start 1", "started 1\n")
            self.say(process, "wait", "waits\n")
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.done("attach", process.pid, "-o", "second", "--stacks", "all")
            self.launch(process, 1)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.end(process)
        counts = self.counts("second.gpuprof")
        self.assertEqual((counts["calls.launch"], counts["calls.sync"]), (1, 1))
        self.assertNotIn("does not understand", self.summary("second.gpuprof"))

    def test_context_that_ends_between(self):
        with self.start() as process:
            for name, launches in (("first", 3), ("second", 5)):
                self.done("attach", process.pid, "-o", name)
                self.launch(process, launches)
                self.done("detach", process.pid, "-q", "--chrome", "none")
                self.say(process, "renew", "renewed\n")
            self.end(process)
        self.assertEqual(self.counts("second.gpuprof")["kernels"], 5)

    def test_other_client_of_cupti(self):
        with self.start(support.LIBRARY) as process:
            self.say(process, "client", "subscribed\n")
            answer = self.ask("attach", process.pid, "-o", "none")
            self.assertEqual(answer.returncode, 1)
            self.assertIn("another profiler", answer.stderr)
            self.say(process, "range", "unsubscribed\n")
            self.assertEqual(self.files(".gpuprof"), [])
            self.done("attach", process.pid, "-o", "trace")
            self.launch(process, 3)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.end(process)
        self.assertEqual(self.counts("trace.gpuprof")["kernels"], 3)

    def test_forked_child(self):
        with self.start(support.LIBRARY, PYTHONWARNINGS="ignore") as process:
            self.done("attach", process.pid, "-o", "trace")
            self.say(process, "fork", "forked 0\n")
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.say(process, "fork", "forked 0\n")
            self.end(process)
        self.assertEqual(self.files(".gpuprof"), ["trace.gpuprof"])

    def test_end_of_the_program_while_attached(self):
        with self.start() as process:
            self.done("attach", process.pid, "-o", "trace")
            self.launch(process, 20)
            self.end(process)
        self.assertEqual(self.counts("trace.gpuprof")["kernels"], 20)
        self.assertEqual(self.files(".json"), [])

    def test_options(self):
        with self.start() as process:
            self.done("attach", process.pid, "-o", "trace", "--launches", "5", "--trace", "gpu")
            self.launch(process, 20)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.refused("there is no --energy here", "attach", process.pid, "--energy", status=2)
            self.refused("needs", "attach", process.pid, "--launches", "many", status=2)
            self.end(process)
        self.assertEqual(self.counts("trace.gpuprof")["calls.launch"], 5)

    def test_twice_and_not_at_all(self):
        with self.start() as process:
            self.refused("it is not attached", "detach", process.pid)
            self.done("attach", process.pid, "-o", "trace")
            self.refused("it is attached already", "attach", process.pid)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.refused("it is not attached", "detach", process.pid)
            self.end(process)

    def test_trace_that_cannot_be_written(self):
        with self.start() as process:
            answer = self.ask("attach", process.pid, "-o", "/proc/trace")
            self.assertEqual(answer.returncode, 1)
            self.assertIn("/proc/trace cannot be written", answer.stderr)
            self.done("attach", process.pid, "-o", "trace")
            self.launch(process, 3)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.end(process)
        self.assertEqual(self.counts("trace.gpuprof")["kernels"], 3)

    def test_processes_that_cannot_be_attached(self):
        with self.start("bare") as process:
            self.refused("it has not used CUDA yet", "attach", process.pid)
            pid = process.pid
            self.end(process)
        self.refused("there is no such process", "attach", pid)
        with self.start(PYTHON_DISABLE_REMOTE_DEBUG=1) as process:
            self.refused("it forbids remote debugging", "attach", process.pid)
            self.end(process)
        if sys.version_info < (3, 14):
            with self.start("bare", python=sys.executable) as process:
                self.refused(f"it runs Python 3.{sys.version_info[1]}", "attach", process.pid)
        with subprocess.Popen(["sleep", "60"]) as process:
            self.refused("it is no Python program", "attach", process.pid)
            process.kill()
        with self.start() as process:
            self.refused("name a Python of the same version", "attach", process.pid, "--python", "/nowhere/python", python=False)
            self.end(process)

    def test_hostile_answers(self):
        """Whoever owns the interpreter and the process neither drives the terminal nor stops the command."""
        with self.start() as process:
            for text, status in ((r"0\n/tmp/\033[31m\nline \033]0;title\007\n", 0), (r"-16\n\nline \033]0;title\007\n", 1)):
                self.python = self.write("python", f"""#!/bin/sh\nprintf '%b' '{text}' > "${{6%/*}}/answer"\n""", 0o755)
                answer = self.ask("attach", process.pid)
                self.assertEqual(answer.returncode, status)
                self.assertIn("line \\x1b]0;title\\x07\n", answer.stderr)
                self.assertNotRegex(answer.stdout + answer.stderr, "[\x1b\x07]")
            self.python = self.write("python", """#!/bin/sh\nmkfifo "${6%/*}/answer"\n""", 0o755)
            self.assertEqual(self.ask("attach", process.pid).returncode, 1)
            self.end(process)

    def test_process_recorded_from_its_start(self):
        with self.start(prefix=[support.LAUNCHER, "-q", "--chrome", "none", "-o", "whole"]) as process:
            self.launch(process, 4)
            self.refused("gpuprof records it from its start", "attach", process.program)
            self.end(process)
        self.assertEqual(self.counts("whole.gpuprof")["kernels"], 4)

    def test_process_that_executes_no_python(self):
        with self.start() as process:
            self.say(process, "block", "blocked\n")
            self.refused("executed no Python code for 1 s", "attach", process.pid, "--timeout", "1")
            self.assertEqual(len(glob.glob(self.path("gpuprof-attach-*"))), 1)
            process.stdin.write(" ")
            self.launch(process, 3)
            self.assertEqual(glob.glob(self.path("gpuprof-attach-*")), [])  # the program has removed it
            self.refused("it is not attached", "detach", process.pid)
            self.say(process, "block", "blocked\n")
            with subprocess.Popen([support.GPUPROF, "attach", str(process.pid), "--python", self.python], cwd=self.folder,
                                  env={**os.environ, "TMPDIR": self.folder}, stderr=subprocess.PIPE,
                                  universal_newlines=True) as asking:
                while len(glob.glob(self.path("gpuprof-attach-*", "request"))) == 0:
                    self.assertIsNone(asking.poll())
                process.kill()
                process.wait()
                self.assertIn("it has ended", asking.communicate()[1])
                self.assertEqual(asking.returncode, 1)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_process_of_another_user(self):
        with self.start() as process:
            answer = subprocess.run(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", support.GPUPROF,
                                     "attach", str(process.pid)], cwd="/", stderr=subprocess.PIPE, universal_newlines=True,
                                    check=False)
            self.assertEqual(answer.returncode, 1)
            self.assertIn("it belongs to the user with number 0", answer.stderr)
            self.end(process)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_root_becomes_the_user(self):
        nobody = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        os.chmod(self.folder, 0o777)
        if subprocess.run([*nobody, "test", "-r", os.path.join(support.HERE, "gpu.py"), "-a", "-x", PYTHON, "-a", "-r",
                           support.LIBRARY], check=False).returncode:
            self.skipTest("another user cannot read these files")
        self.python = self.write("python", f"""#!/bin/sh
            read pid name state parent group session rest < /proc/self/stat
            [ $session = $pid ] || echo "the terminal is open to it" >> {self.folder}/told
            env | grep ^SECRET >> {self.folder}/told
            [ "$1" != -I ] || shift
            exec {PYTHON} "$@"\n""".replace("\n            ", "\n"), 0o755)
        with self.start(prefix=nobody) as process:
            answer = self.ask("attach", process.pid, "-o", "trace", SECRET="tiger")
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            with open(self.path("told"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "")
            self.launch(process, 9)
            self.done("detach", process.pid, "-q", "--chrome", "none")
            self.end(process)
        self.assertEqual(os.stat(self.path("trace.gpuprof")).st_uid, NOBODY)
        self.assertEqual(self.counts("trace.gpuprof")["kernels"], 9)

    def attach_many_times(self, times):
        """The launches of all threads have their kernels; neither mappings nor threads add up."""
        def facts(pid):
            with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
                return len(file.readlines()), len(os.listdir(f"/proc/{pid}/task"))

        with self.start(str(THREADS)) as process:
            self.say(process, "threads", "started\n")
            for number in range(times):
                self.done("attach", process.pid, "-o", "trace", "--stacks", "all")
                self.launch(process, 11)
                self.done("detach", process.pid, "-q", "--chrome", "none")
                counts = self.counts("trace.gpuprof")
                # a thread may have begun a launch before the attach; a machine may be too busy to write all records
                if not 0 <= counts["kernels"] - counts["calls.launch"] <= THREADS:
                    self.assertNotIn("nothing was dropped", self.summary("trace.gpuprof"), number)
                self.assertGreater(counts["kernels"], 11)
                os.unlink(self.path("trace.gpuprof"))
                if number == 0:
                    first = facts(process.pid)
            last = facts(process.pid)
            self.assertEqual(last[1], first[1])
            self.assertLess(last[0], first[0] + 40)
            self.end(process)

    def test_busy_threads(self):
        self.attach_many_times(3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--many"]:
        Attach.test_busy_threads = lambda self: self.attach_many_times(int(sys.argv[2]))
        unittest.main(argv=[sys.argv[0], "Attach.test_busy_threads"])
    unittest.main()
