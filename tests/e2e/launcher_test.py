"""gpuprof-run stands between a program and its parent, and neither can tell.  No GPU is used here."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support
from support import BARE, GPU, LAUNCHED, LAUNCHER, PLAIN, Case

STUB = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "lib64", "stubs", "libcuda.so")

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

PRELOADED = "import sys; sys.exit(0 if 'libgpuprof.so' in open('/proc/self/maps').read() else 1)"


class Program(Case):
    """What the program sees, and what its parent sees of it."""

    def test_exit_statuses_are_the_programs(self):
        for status in (0, 1, 42, 125, 127, 255):
            result = self.run_program(["sh", "-c", f"exit {status}"])
            self.assertEqual(result.returncode, status)

    def test_it_ends_by_the_programs_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGPIPE):
            result = self.run_program([*support.GPU, f"raise={int(number)}"])
            self.assertEqual(result.returncode, -number)

    def test_the_programs_signal_is_named(self):
        for steps, rest in (([], "; no trace was found"), (["launch=1"], "")):
            for name, text in (("SIGSEGV", "Segmentation fault"), ("SIGTERM", "Terminated")):
                result = self.run_program([*support.GPU, *steps, f"raise={int(signal.Signals[name])}"], options=["-s", "none"])
                lines = support.own_lines(result.stderr)
                self.assertEqual(lines[0], f"gpuprof: {sys.executable} was ended by {name} ({text}){rest}")
                self.assertEqual("no trace was found" in result.stderr, bool(rest))

    def test_a_program_that_became_another_has_both_names(self):
        result = self.run_program(["env", *support.GPU, "raise=15"], options=["-s", "none"])
        self.assertIn(f"gpuprof: env, its process then called {os.path.basename(sys.executable)}, was ended by SIGTERM (Terminated)", result.stderr)

    def test_standard_streams_are_the_programs(self):
        result = self.run_program(["sh", "-c", "cat; echo error >&2"], options=["-q"], stdin="in\n")
        self.assertEqual((result.stdout, result.stderr), ("in\n", "error\n"))

    def test_closed_streams_do_no_harm(self):
        result = self.run_program(["sh", "-c", f"'{LAUNCHER}' sh -c 'exit 3' <&- >&- 2>&-"], way=PLAIN)
        self.assertEqual(result.returncode, 3)

    def test_a_stream_that_is_closed_is_closed_for_the_program(self):
        for stream in (0, 1, 2):
            script = f"'{LAUNCHER}' -q sh -c '[ -e /proc/self/fd/{stream} ]' {stream}>&-"
            self.assertEqual(self.run_program(["sh", "-c", script], way=PLAIN).returncode, 1)

    def test_arguments_arrive_as_they_are(self):
        arguments = ["-x", "", "two words", "*", "$HOME", "--", "\n"]
        code = "import sys; print(sys.argv[1:])"
        result = self.run_program([sys.executable, "-c", code, *arguments])
        self.assertEqual(result.stdout, f"{arguments}\n")

    def test_signal_mask_dispositions_and_descriptors_are_inherited(self):
        def odd_signals():
            signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR1, signal.SIGTERM})
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        show = ["sh", "-c", "grep ^Sig[BI] /proc/self/status; ls /proc/self/fd | wc -l"]
        seen = []
        for way in (PLAIN, LAUNCHED):
            line, _ = support.command(way, show)
            seen.append(subprocess.run(line, preexec_fn=odd_signals, stdout=subprocess.PIPE, check=True,
                                       stderr=subprocess.PIPE, env=support.environment()).stdout)
        self.assertEqual(seen[0], seen[1])

    def test_it_stays_in_the_process_group(self):
        result = self.run_program([sys.executable, "-c", "import os; print(os.getpgrp(), os.getsid(0))"])
        self.assertEqual(result.stdout, f"{os.getpgrp()} {os.getsid(0)}\n")

    def test_the_library_is_in_the_program_and_its_children(self):
        self.assertEqual(self.run_program([sys.executable, "-c", PRELOADED]).returncode, 0)
        self.assertEqual(self.run_program(["sh", "-c", f'{sys.executable} -c "{PRELOADED}"']).returncode, 0)

    def test_an_existing_preload_is_kept(self):
        library = self.compile("other.so", "int other;", "-shared", "-fPIC")
        result = self.run_program(["sh", "-c", "echo $LD_PRELOAD; grep -c other.so /proc/self/maps"],
                                  LD_PRELOAD=library)
        preload, mapped = result.stdout.split()
        self.assertIn("libgpuprof.so", preload.split(":")[0])
        self.assertEqual(preload.split(":")[1], library)
        self.assertGreater(int(mapped), 0)

    def test_a_launcher_within_a_launcher_is_named(self):
        """Each one has its own traces."""
        result = self.run_program(["sh", "-c", '"$@"', "sh", LAUNCHER, "-o", "inner", *GPU, "launch=1"], options=["-o", "outer"])
        self.assertEqual((result.returncode, self.files(".gpuprof")), (0, ["inner.gpuprof"]))
        self.assertIn("nothing was recorded: another gpuprof-run, which sh started, has the traces", support.own_lines(result.stderr)[-1])

    def test_a_launcher_within_a_launcher_preloads_once(self):
        result = self.run_program([LAUNCHER, "sh", "-c", "echo $LD_PRELOAD"])
        self.assertEqual(result.stdout.count("libgpuprof.so"), 1)


class Signals(Case):
    """Signals to the launcher alone reach the program; those to the group reach it once."""

    REPORTER = r"""
import os, signal, sys
wanted = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGRTMIN}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)  # so that the kernel hands them out one by one, lowest first
if "group" in sys.argv:
    os.kill(0, signal.SIGUSR1)
print("ready", os.getpid(), flush=True)
seen = []
while seen[-1:] != ["SIGRTMIN"]:
    seen.append(signal.Signals(signal.sigwait(wanted)).name)
    print(seen[-1], flush=True)
print("in all:", *seen, flush=True)
sys.exit(7)
"""

    def start(self, *arguments, code=REPORTER, before=(), **variables):
        """The launcher, and the process id of the program under it."""
        process = subprocess.Popen([LAUNCHER, "-q", *before, sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=support.environment(**{"TMPDIR": self.folder, "XDG_RUNTIME_DIR": None, **variables}),
                                   cwd=self.folder, universal_newlines=True, start_new_session=True)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        ready, pid = process.stdout.readline().split()
        self.assertEqual(ready, "ready")
        return process, int(pid)

    @staticmethod
    def seen_by(process):
        """All the signals that the reporter has got, once it has ended."""
        return process.stdout.read().split("in all: ")[1].split()

    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def test_a_signal_before_the_program_starts_leaves_nothing(self):
        os.mkdir(self.path("tmp"))
        variables = support.environment(TMPDIR=self.path("tmp"), XDG_RUNTIME_DIR=None)
        for _ in range(20):
            process = subprocess.Popen([LAUNCHER, "-q", "sleep", "60"], env=variables)
            self.addCleanup(process.kill)
            while not os.listdir(self.path("tmp")):
                self.assertIsNone(process.poll())
            process.terminate()
            self.assertEqual(process.wait(support.LIMIT_S), -signal.SIGTERM)
            self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_signals_are_forwarded(self):
        process, _ = self.start()
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            process.send_signal(number)
        process.send_signal(signal.SIGRTMIN)
        self.assertEqual(sorted(self.seen_by(process)), ["SIGHUP", "SIGINT", "SIGQUIT", "SIGRTMIN", "SIGTERM", "SIGUSR1"])
        self.assertEqual(process.wait(support.LIMIT_S), 7)

    def test_what_the_program_sends_its_group_does_not_come_back(self):
        process, _ = self.start("group")
        process.send_signal(signal.SIGRTMIN)
        self.assertEqual(self.seen_by(process), ["SIGUSR1", "SIGRTMIN"])
        self.assertEqual(process.wait(support.LIMIT_S), 7)

    COUNTER = r"""
import os, signal, sys
wanted = {signal.SIGRTMIN, signal.SIGRTMIN + 1}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)  # real-time signals queue: each one counts
if "leave" in sys.argv:
    os.setpgid(0, 0)
print("ready", os.getpid(), flush=True)
seen = 0
while signal.sigwait(wanted) == signal.SIGRTMIN:
    seen += 1
print("in all:", seen, flush=True)
"""

    def count_signals(self, *arguments):
        """How many of 20 signals to the group and 3 to the launcher alone the program gets, and how it ended."""
        process, pid = self.start(*arguments, code=self.COUNTER)
        for i in range(20):
            os.killpg(process.pid, signal.SIGRTMIN)
            if i % 7 == 0:
                process.send_signal(signal.SIGRTMIN)
        process.send_signal(signal.SIGRTMIN + 1)
        seen = self.seen_by(process)
        return int(seen[0]), process.wait(support.LIMIT_S)

    def test_what_somebody_sends_to_the_group_comes_once(self):
        self.assertEqual(self.count_signals(), (23, 0))

    @staticmethod
    def members(process):
        """Process ids and command lines of the launcher's session."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if os.getsid(int(pid)) == process.pid:
                        found[int(pid)] = file.read()
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def test_what_somebody_sends_to_each_process_comes_once(self):
        """Such as systemd, Slurm and pkill do, one process after the other."""
        process, pid = self.start(code=self.COUNTER)
        everyone = sorted(self.members(process))
        self.assertEqual(len(everyone), 3)  # with our witness
        for pids in (everyone, everyone[::-1], [process.pid, pid, *set(everyone) - {process.pid, pid}]):
            for member in pids:
                os.kill(member, signal.SIGRTMIN)
        process.send_signal(signal.SIGRTMIN)
        process.send_signal(signal.SIGRTMIN + 1)
        self.assertEqual((int(self.seen_by(process)[0]), process.wait(support.LIMIT_S)), (4, 0))

    def test_many_signals_do_not_queue_up(self):
        process, _ = self.start(code=self.COUNTER)
        began = time.monotonic()
        for _ in range(500):
            process.send_signal(signal.SIGRTMIN)
        process.send_signal(signal.SIGRTMIN + 1)
        self.assertEqual((int(self.seen_by(process)[0]), process.wait(support.LIMIT_S)), (500, 0))
        self.assertLess(time.monotonic() - began, 20)  # 25 s with a wait for each one

    def test_whom_a_command_line_finds(self):
        """`pkill -f` with our name finds the launcher alone, with the program's both and the witness: in both cases it comes once."""
        process, pid = self.start("an argument", code=self.COUNTER)
        members = self.members(process)
        words = [line.split(b"\0")[:2] for member, line in members.items() if member != pid]
        self.assertFalse(any(sys.executable.encode() in two for two in words), words)  # pidof looks at these
        self.assertEqual([member for member, line in members.items() if b"gpuprof" in line], [process.pid])
        self.assertEqual([member for member, line in members.items() if b"an argument" in line], list(members))
        for part in (b"gpuprof", b"an argument"):
            for member, line in members.items():
                if part in line:
                    os.kill(member, signal.SIGRTMIN)
        process.send_signal(signal.SIGRTMIN + 1)
        self.assertEqual((int(self.seen_by(process)[0]), process.wait(support.LIMIT_S)), (2, 0))

    def test_a_program_that_left_the_group_gets_what_comes_to_it(self):
        self.assertEqual(self.count_signals("leave"), (23, 0))

    def test_a_terminated_group_is_terminated_once(self):
        for _ in range(10):
            process, _ = self.start()
            os.killpg(process.pid, signal.SIGTERM)
            self.assertEqual(process.stdout.readline(), "SIGTERM\n")
            process.send_signal(signal.SIGRTMIN)
            self.assertEqual(self.seen_by(process), ["SIGTERM", "SIGRTMIN"])
            self.assertEqual(process.wait(support.LIMIT_S), 7)

    def check_that_all_end(self, process):
        process.kill()
        process.wait()
        while True:  # the group is empty when both the program and our witness have gone
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                break

    def test_neither_the_program_nor_ours_outlives_a_killed_launcher(self):
        """Whoever kills the process that he started means the program."""
        self.check_that_all_end(self.start(code=self.WAITER)[0])

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("setpriv"), "needs root and setpriv")
    def test_nor_does_a_program_with_other_rights(self):
        self.check_that_all_end(self.start(code=self.WAITER, before=NOBODY)[0])

    def test_a_program_in_a_session_of_its_own_may_outlive_a_killed_group(self):
        """If the witness is killed as well.  The program records to its end, and finishes its trace."""
        code = "import os, sys; os.setsid(); print('ready', os.getpid(), flush=True); os.execv(sys.argv[1], sys.argv[1:])"
        process, pid = self.start(*GPU, "line", "launch=100", "say=done", code=code, GPUPROF_OUTPUT="t", GPUPROF_SUMMARY="none")
        witness, = set(self.members(process)) - {process.pid}
        os.kill(witness, signal.SIGKILL)
        process.kill()
        process.wait()
        os.kill(pid, 0)
        process.stdin.write("\n")
        process.stdin.close()
        self.assertEqual(process.stdout.read(), "launches 100\ndone\n")
        events = self.run_gpuprof("export", "--format", "jsonl", "-o", "-", "t.gpuprof").stdout.splitlines()
        self.assertEqual(sum(json.loads(event)["kind"] == "kernel" for event in events), 100)

    def test_the_folder_of_a_killed_launcher_is_removed(self):
        """By the next one, which leaves the folders of those that run."""
        os.mkdir(self.path("tmp"))
        killed, _ = self.start(code=self.WAITER, TMPDIR=self.path("tmp"))
        left = os.listdir(self.path("tmp"))
        self.check_that_all_end(killed)
        self.assertEqual((len(left), os.listdir(self.path("tmp"))), (1, left))
        self.start(code=self.WAITER, TMPDIR=self.path("tmp"))
        running = os.listdir(self.path("tmp"))
        self.run_program(["true"], TMPDIR=self.path("tmp"), XDG_RUNTIME_DIR=None)
        self.assertEqual((len(running), os.listdir(self.path("tmp"))), (1, running))
        self.assertNotEqual(running, left)

    WAITER = "import os, signal; print('ready', os.getpid(), flush=True); signal.pause()"

    def test_a_default_signal_ends_both(self):
        process, _ = self.start(code=self.WAITER)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(support.LIMIT_S), -signal.SIGTERM)

    def test_a_stop_of_the_program_alone_does_not_stop_the_launcher(self):
        process, pid = self.start(code=self.WAITER)
        os.kill(pid, signal.SIGSTOP)
        while self.state_of(pid) != "T":
            pass
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(process.wait(support.LIMIT_S), -signal.SIGTERM)


class Terminal(Case):
    """A real shell on a pseudo-terminal."""

    def setUp(self):
        super().setUp()
        import pty
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execvpe("sh", ["sh", "-i"], support.environment(PS1="", ENV=None))
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        signal.alarm(support.LIMIT_S)
        self.addCleanup(signal.alarm, 0)
        self.seen = ""
        self.type("stty -echo; PS1=; echo ready $((6 * 7))\n")
        self.expect("ready 42")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def expect(self, text):
        """Read until the text has come; what follows it stays for the next call."""
        while text not in self.seen:
            self.seen += os.read(self.terminal, 4096).decode()
        before, self.seen = self.seen.split(text, 1)
        return before

    def test_control_c_reaches_the_program_once(self):
        self.write("reporter.py", Signals.REPORTER)
        self.type(f"{LAUNCHER} -q {sys.executable} reporter.py; echo status $?\n")
        self.expect("ready")
        pid = int(self.expect("\n"))
        self.type("\x03")
        self.expect("SIGINT")
        self.type("\x1c")
        self.expect("SIGQUIT")
        os.kill(pid, signal.SIGRTMIN)
        self.expect("in all: ")
        self.assertEqual(self.expect("status 7").split(), ["SIGINT", "SIGQUIT", "SIGRTMIN"])

    def test_control_z_stops_the_job_and_fg_continues_it(self):
        self.type(f"{LAUNCHER} -q cat; echo back in the shell\n")
        self.type("started\n")
        self.expect("started")
        self.type("\x1a")
        self.expect("back in the shell")
        self.type("jobs\n")
        self.expect("Stopped")
        self.type("fg; echo status $?\n")
        self.type("hello\n")
        self.expect("hello")
        self.type("\x04")
        self.expect("status 0")


class FirstProcess(Case):
    """As process 1 of a container."""

    def setUp(self):
        super().setUp()
        probe = subprocess.run(["unshare", "--fork", "--pid", "--mount-proc", "true"], stderr=subprocess.DEVNULL,
                               check=False) if shutil.which("unshare") else None
        if probe is None or probe.returncode:
            self.skipTest("no right to make a process namespace")

    def run_first(self, *arguments):
        return self.run_program(["unshare", "--fork", "--pid", "--mount-proc", LAUNCHER, "-q", *arguments], way=PLAIN)

    def test_it_says_128_and_the_signal(self):
        self.assertEqual(self.run_first("sh", "-c", "kill -9 $$").returncode, 128 + 9)
        self.assertEqual(self.run_first("sh", "-c", "exit 5").returncode, 5)

    def test_what_comes_from_outside_reaches_the_program(self):
        code = "import signal; signal.signal(15, lambda *_: print('stopped') or exit(3)); print('ready', flush=True); signal.pause()"
        outer = subprocess.Popen(["unshare", "--fork", "--pid", "--mount-proc", LAUNCHER, "-q", sys.executable, "-c", code],
                                 stdout=subprocess.PIPE, env=support.environment(), universal_newlines=True)
        self.addCleanup(outer.stdout.close)
        self.addCleanup(outer.kill)
        self.assertEqual(outer.stdout.readline(), "ready\n")
        with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="utf-8") as file:
            first = int(file.read())
        os.kill(first, signal.SIGTERM)
        self.assertEqual(outer.stdout.read(), "stopped\n")
        self.assertEqual(outer.wait(support.LIMIT_S), 3)

    def test_it_reaps_orphans(self):
        code = r"""
import os
read, write = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        while os.getppid() != 1:
            pass
        os.write(write, b"%d" % os.getpid())
    os._exit(0)
os.wait()
orphan = os.read(read, 100).decode()
while os.path.exists(f"/proc/{orphan}"):
    pass
print("reaped")
"""
        self.assertEqual(self.run_first(sys.executable, "-c", code).stdout, "reaped\n")


def can_unshare():
    return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False, stderr=subprocess.DEVNULL).returncode == 0


class OutOfReach(Case):
    """Processes that cannot tell the launcher of their traces, or that go on after it."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o777)

    def check(self, stderr, said):
        """The trace has 100 launches and is finished, and nobody denies it."""
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(sum(event.get("name") == "cuLaunchKernel" for event in events), 100)
        self.assertEqual(stderr.count("trace " + self.path("t.gpuprof")), said, stderr)
        self.assertNotIn("nothing was recorded", stderr)

    def ring_files(self):
        """Of the user who is nobody."""
        return [name for name in os.listdir("/dev/shm") if name.startswith("gpuprof-65534-")]

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("setpriv"), "needs root and setpriv")
    def test_a_program_that_gives_up_its_rights(self):
        before = self.ring_files()
        for step, status in (("exit=3", 3), ("raise=9", -9)):  # the program finishes its trace, or the launcher does
            for options in ((), ("--keep-last", "8M")):
                result = self.run_program([*NOBODY, *GPU, "launch=100", step], options=["-o", "t", *options])
                self.assertEqual(result.returncode, status, result.stderr)
                self.check(result.stderr, 1)
                self.assertEqual(self.ring_files(), before)
                os.unlink(self.path("t.gpuprof"))
                os.unlink(self.path("t.json"))

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("setpriv"), "needs root and setpriv")
    def test_a_program_without_the_right_to_write(self):
        os.chmod(self.folder, 0o755)
        result = self.run_program([*NOBODY, *GPU, "launch=100", "exit=3"], options=["-o", "t"])
        self.assertEqual((result.returncode, self.files()), (3, []))
        lines = support.own_lines(result.stderr)
        self.assertEqual(len(lines), 2, result.stderr)
        self.assertIn("t cannot be written: Permission denied", lines[0])
        self.assertIn("saw no process of setpriv use the GPU", lines[1])

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_a_program_with_temporary_files_of_its_own(self):
        os.mkdir(self.path("tmp"))
        script = f'mount -t tmpfs none {self.path("tmp")} && exec "$@"'
        for step, status in (("exit=3", 3), ("raise=9", -9)):
            result = self.run_program(["unshare", "-m", "sh", "-c", script, "sh", *GPU, "launch=100", step],
                                      options=["-o", "t"], TMPDIR=self.path("tmp"), XDG_RUNTIME_DIR=None)
            self.assertEqual(result.returncode, status, result.stderr)
            self.check(result.stderr, 1)
            os.unlink(self.path("t.gpuprof"))
            os.unlink(self.path("t.json"))
        self.assertEqual(os.listdir(self.path("tmp")), [])

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_a_trace_in_a_folder_that_only_the_program_sees(self):
        """It is gone with the program.  The launcher knows of it if its own folder is elsewhere."""
        for name in ("tmp", "other"):
            os.mkdir(self.path(name))
        script = f'mount -t tmpfs none {self.path("tmp")} && exec "$@"'
        for own, said in (("other", f"a process recorded {self.path('tmp', 't.gpuprof')}, but gpuprof-run does not find"),
                          ("tmp", "as far as gpuprof-run knows: it saw no process of unshare use the GPU")):
            result = self.run_program(["unshare", "-m", "sh", "-c", script, "sh", *GPU, "launch=100"], options=["-o", "tmp/t"],
                                      TMPDIR=self.path(own), XDG_RUNTIME_DIR=None)
            self.assertEqual((result.returncode, result.stdout), (0, "launches 100\n"), result.stderr)
            self.assertIn(said, support.own_lines(result.stderr)[-1])
            self.assertIn("(a private /tmp", support.own_lines(result.stderr)[-1])

    def test_a_program_that_removes_the_temporary_files(self):
        os.mkdir(self.path("tmp"))
        for script in ('"$@"; rm -r tmp/*', 'rm -r tmp/*; "$@"'):
            result = self.run_program(["sh", "-c", script, "sh", *GPU, "launch=100"], options=["-o", "t"],
                                      TMPDIR=self.path("tmp"), XDG_RUNTIME_DIR=None)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("nothing was recorded", result.stderr)
            self.assertNotIn("cannot list", result.stderr)
            self.assertEqual(len(self.files(".gpuprof")), 1)
            os.unlink(self.path("t.gpuprof"))

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_a_container_without_the_library(self):
        os.mkdir(self.path("copy"))
        for name in ("gpuprof", "libgpuprof.so"):
            shutil.copy(os.path.join(support.BUILD, name), self.path("copy"))
        script = f'mount -t tmpfs none {self.path("copy")} && exec "$@"'
        result = self.run_program([self.path("copy", "gpuprof"), "run", "unshare", "-m", "sh", "-c", script, "sh", *GPU, "launch=100"], PLAIN)
        self.assertEqual((result.returncode, result.stdout), (0, "launches 100\n"))
        self.assert_one_line("".join(line + "\n" for line in support.own_lines(result.stderr)), "saw no process of unshare use the GPU")

    def test_a_trace_that_was_announced_is_not_found_again(self):
        os.mkdir(self.path("d"))
        for output in ("d", "d/", "d/.", "./d/../d", "d/%p", "d/x.gpuprof"):
            result = self.run_program([*GPU, "launch=1"], options=["-o", output])
            self.assertEqual(result.stderr.count(": trace "), 1, result.stderr)

    def test_a_start_script_that_leaves_a_server(self):
        os.mkfifo(self.path("gate"))
        script = '(exec > log 2>&1; exec < gate; exec "$@") & echo started $!'
        result = self.run_program(["sh", "-c", script, "sh", *GPU, "wait", "launch=100"], options=["-o", "t"])
        word, server = result.stdout.split()
        self.assertEqual((result.returncode, word), (0, "started"))
        self.assert_one_line(result.stderr, "nothing was recorded yet", f"pid {server} (", "--wait=all")
        open(self.path("gate"), "w", encoding="utf-8").close()
        said, until = "", time.monotonic() + support.LIMIT_S
        while "trace " not in said and time.monotonic() < until:
            with open(self.path("log"), encoding="utf-8") as file:
                said = file.read()
        self.check(said, 1)


class Places(Case):
    """Where the launcher, the program and the library are."""

    def test_a_link_from_anywhere(self):
        os.symlink(LAUNCHER, self.path("link"))
        os.symlink("link", self.path("profile"))
        result = self.run_program(["./profile", sys.executable, "-c", PRELOADED], way=PLAIN)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = self.run_program(["sh", "-c", f'PATH={self.folder}:$PATH; profile {sys.executable} -c "{PRELOADED}"'],
                                  way=PLAIN)
        self.assertEqual(result.returncode, 0, result.stderr)

    def copy_to(self, folder, *names):
        os.makedirs(self.path(folder), exist_ok=True)
        for name in names:
            shutil.copy(os.path.join(support.BUILD, name), self.path(folder))

    def test_the_two_files_alone_are_enough(self):
        self.copy_to("copy", "gpuprof", "libgpuprof.so")
        result = self.run_program(["copy/gpuprof", "run", sys.executable, "-c", PRELOADED], way=PLAIN)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_an_installation(self):
        self.copy_to("bin", "gpuprof", "gpuprof-run")
        self.copy_to("lib", "libgpuprof.so")
        result = self.run_program(["bin/gpuprof-run", sys.executable, "-c", PRELOADED], way=PLAIN)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_folder_that_the_loader_would_cut(self):
        self.copy_to("a folder: mine", "gpuprof", "libgpuprof.so", "gpuprof-run")
        result = self.run_program(["a folder: mine/gpuprof-run", "-q", sys.executable, "-c", PRELOADED], way=PLAIN)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_nothing_is_left_behind(self):
        os.mkdir(self.path("run"))
        self.run_program(["true"], TMPDIR=self.path("run"), XDG_RUNTIME_DIR=None)
        self.assertEqual(os.listdir(self.path("run")), [])
        self.assertEqual(self.files(), ["run"])

    def test_no_program_beside_the_launcher(self):
        self.copy_to("alone", "gpuprof-run")
        result = self.run_program(["alone/gpuprof-run", "true"], way=PLAIN)
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "make")

    def test_no_library_beside_the_program(self):
        self.copy_to("alone", "gpuprof")
        result = self.run_program(["alone/gpuprof", "run", "true"], way=PLAIN)
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "libgpuprof.so", "make")


class OtherPrograms(Case):
    """Programs that a library of ours cannot get into run as they do without us, and one line says so."""

    SOURCE = "int main(void) { return 7; }"

    def check(self, program, reason):
        plain = self.run_program([program], way=PLAIN)
        self.assertEqual((plain.returncode, plain.stderr), (7, ""))
        launched = self.run_program([program], options=["-q"])
        self.assertEqual((launched.returncode, launched.stderr), (7, ""))
        self.assertIn(f"gpuprof: {program} is not profiled: {reason}", self.run_program([program]).stderr.splitlines()[0])

    def test_static(self):
        self.check("gpuprof: " and self.compile("static", self.SOURCE, "-static"), "it is statically linked")

    def test_the_loader_runs_a_program(self):
        headers = subprocess.run(["readelf", "-lW", sys.executable], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
        loader = re.search(r"program interpreter: (\S+)\]", headers).group(1)
        result = self.run_program([loader, sys.executable, "-c", PRELOADED])
        self.assertEqual(result.returncode, 0)
        self.assert_one_line(result.stderr, "nothing was recorded", loader)

    def test_32_bit(self):
        self.check(self.compile_to_run("narrow", self.SOURCE, "-m32"), "it is built for another processor")

    def test_musl(self):
        self.check(self.compile("musl", self.SOURCE, "musl-gcc"), "it uses musl as C library")

    def test_32_bit_and_musl_as_children(self):
        for flag in ("-m32", "musl-gcc"):
            with self.subTest(flag):
                program = self.compile_to_run("child", self.SOURCE, flag)
                result = self.run_program(["sh", "-c", f"{program}; echo $?"], options=["-q"])
                self.assertEqual((result.stdout, result.stderr), ("7\n", ""))

    def test_musl_without_the_loader_path(self):
        program = self.compile("musl", self.SOURCE, "musl-gcc")
        for name in ("gpuprof", "libgpuprof.so"):
            shutil.copy(os.path.join(support.BUILD, name), self.folder)
        self.assertEqual(self.run_program(["./gpuprof", "run", program], way=PLAIN).returncode, 7)

    def test_the_address_sanitizer_of_gcc(self):
        program = self.compile("sanitized", self.SOURCE, "gcc", "-fsanitize=address")
        for options in (None, "detect_leaks=0"):
            for command in ([program], ["sh", "-c", f"{program}; exit $?"]):
                result = self.run_program(command, options=["-q"], ASAN_OPTIONS=options)
                self.assertEqual((result.returncode, result.stderr), (7, ""))


class Words(Case):
    """What the launcher itself says."""

    def test_help_and_version(self):
        result = self.run_program(["--help"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Usage: gpuprof-run", result.stdout)
        result = self.run_program(["-V"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^gpuprof \d+\.\d+\.\d+\n$")

    def test_the_reference_has_every_option(self):
        options = set(re.findall(r"^ +(?:-., )?(--[a-z-]+)", self.run_program(["--help"]).stdout, re.MULTILINE))
        self.assertGreater(len(options), 5)
        with open(os.path.join(support.ROOT, "docs", "reference", "options.md"), encoding="utf-8") as file:
            reference = file.read()
        self.assertEqual([option for option in options - {"--help", "--version"} if not re.search(option + r"[`\[ ]", reference)], [])

    def test_no_program(self):
        result = self.run_program([])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "no program", "gpuprof-run ./app")

    def test_unknown_option(self):
        result = self.run_program(["--nonsense", "true"])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "--nonsense", "--help")

    def test_a_number_out_of_bounds(self):
        result = self.run_program(["--flush-ms", "5", "true"])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "--flush-ms (GPUPROF_FLUSH_MS) needs a number from 10 to 1000, not '5'")

    def test_program_not_found(self):
        for program in ("no-such-program", "./no-such-program", ""):
            result = self.run_program([program])
            self.assertEqual(result.returncode, 127)
            self.assert_one_line(result.stderr, "cannot run " + program)

    def test_program_that_cannot_be_run(self):
        for name in ("plain", "train.py", "app.cu"):
            self.write(name, "text")
        for program, why in (("./plain", "type: chmod +x ./plain"), ("./train.py", "type: gpuprof-run python3 ./train.py"),
                             ("./app.cu", "type: nvcc"), ("/", "it is a folder"), (".", "it is a folder")):
            result = self.run_program([program])
            self.assertEqual(result.returncode, 126)
            self.assert_one_line(result.stderr, "cannot run " + program, why)

    def test_a_script_whose_interpreter_is_missing(self):
        result = self.run_program([self.write("script", "#!/no/such/interpreter\n", 0o755)])
        self.assertEqual(result.returncode, 127)
        self.assert_one_line(result.stderr, "interpreter")

    def test_output_folder_missing(self):
        result = self.run_program(["touch", "was-run"], options=["-o", "missing/%p"])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, self.path("missing"), "No such file", "mkdir -p " + self.path("missing"))
        self.assertEqual(self.files(), [])

    def test_folder_of_runs_missing(self):
        result = self.run_program(["touch", "was-run"], options=["--runs", "2", "-o", "missing/runs"])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "missing/runs: No such file", "name another folder with -o")
        self.assertEqual(self.files(), [])

    def test_summary_folder_missing(self):
        result = self.run_program(["true"], options=["-s", "missing/summary"])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "the summary", "/missing:", "mkdir -p")

    @unittest.skipIf(os.geteuid() == 0, "root can write everywhere")
    def test_an_unwritable_output_folder(self):
        result = self.run_program(["true"], options=["-o", "/proc/%p"])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "/proc")

    def test_a_template_that_nobody_can_expand(self):
        result = self.run_program(["true"], options=["-o", "name-%z"])
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "%z", "%p")

    def test_unknown_variable(self):
        result = self.run_program(["true"], GPUPROF_OUTPUTS="x")
        self.assertEqual(result.returncode, 0)
        self.assertIn("GPUPROF_OUTPUTS", result.stderr.splitlines()[0])

    def test_that_no_use_was_seen_is_said_in_one_line(self):
        result = self.run_program(["true"])
        self.assert_one_line(result.stderr, "nothing was recorded, as far as gpuprof-run knows: it saw no process of true use the GPU", "type: gpuprof doctor true")

    def test_a_program_that_came_no_further_than_the_start_of_cuda(self):
        source = "extern int cuInit(unsigned); int main(void) { return cuInit(0) ? 1 : 5; }"
        result = self.run_program([self.compile("program", source, f"-L{support.BUILD}/sim", "-lcuda")])
        self.assertEqual(result.returncode, 5)
        self.assert_one_line(result.stderr, "nothing was recorded: ", "program initialized CUDA, but gpuprof saw it create no context", "check the errors of its first")

    @unittest.skipUnless(os.path.exists(STUB), "needs the CUDA Toolkit's stub")
    def test_the_stub_of_the_driver(self):
        """What a program gets from it, it gets with us, too."""
        source = "extern int cuInit(unsigned); int main(void) { return cuInit(0); }"
        program = self.compile("program", source, f"-L{support.BUILD}/sim", "-lcuda")
        os.mkdir(self.path("stubs"))
        os.symlink(os.path.realpath(STUB), self.path("stubs", "libcuda.so.1"))
        statuses = [self.run_program([program], way, LD_LIBRARY_PATH=self.path("stubs")).returncode for way in (PLAIN, BARE, LAUNCHED)]
        self.assertEqual(statuses, [34] * 3)  # CUDA_ERROR_STUB_LIBRARY
        self.assertEqual(self.files(".gpuprof"), [])

    @unittest.skipIf(support.ON_GPU, "of the simulated device")
    def test_a_linked_in_runtime_is_told_that_the_device_is_not_for_it(self):
        source = """
            extern int cuGetProcAddress_v2(const char *, void **, int, unsigned long, void *);
            int main(void) { void *p; return cuGetProcAddress_v2("cuNo", &p, 13000, 0, 0) - cuGetProcAddress_v2("cuNot", &p, 13000, 0, 0); }"""
        result = self.run_program([self.compile("program", source, f"-L{support.BUILD}/sim", "-lcuda")], PLAIN)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (0, 1), result.stderr)
        self.assertIn("it has no cuNo: ", result.stderr)
        self.assertIn("nvcc -cudart shared", result.stderr)

    @unittest.skipIf(support.ON_GPU, "the loader finds the driver in the system's folders")
    def test_that_there_is_no_driver_is_said(self):
        result = self.run_program(["true"], LD_LIBRARY_PATH=None)
        self.assert_one_line(result.stderr, "nothing was recorded: the loader finds no CUDA driver", "libcuda.so.1")

    @unittest.skipIf(support.ON_GPU, "the loader finds the driver in the system's folders")
    def test_that_there_is_no_driver_is_said_of_ranges_alone(self):
        script = "import ctypes; ctypes.CDLL(None).gpuprof_v1_mark(b'here')"
        for way in (BARE, LAUNCHED):
            result = self.run_program([sys.executable, "-c", script], way, LD_LIBRARY_PATH=None)
            self.assertEqual(result.stderr.count("gpuprof: the loader finds no CUDA driver on this machine (libcuda.so.1), so "
                                                 "only ranges were recorded; type: gpuprof doctor\n"), 1, result.stderr)
            self.assertNotIn("no CUDA driver", self.run_program([sys.executable, "-c", script], way).stderr)

    def test_that_nothing_was_asked_for_is_said(self):
        result = self.run_program([*GPU, "launch=1"], options=["--trace", "none"])
        self.assertIn("launches and copies were not recorded: --trace does not contain gpu\n", result.stderr)

    def test_wrong_words_are_answered_with_the_right_ones(self):
        for options, program, said in ((["--stacks=maybe"], "true", "a list, with commas between, of the words all|launch|sample|sync|alloc|none"),
                                       ([], "/tmp", "cannot run /tmp: it is a folder")):
            self.assert_one_line(self.run_program([program], options=options).stderr, said)
        for arguments, said in ((("trace", "bar", "x"), "there is no list bar; use gpu, api, exec, nvtx, host, queue, bandwidth or critical-path"),
                                (("export", "--format", "bar", "x"), "no format bar; use one of chrome, "),
                                (("merge", "--format", "bar", "x"), "no format bar; use one of chrome, ")):
            self.assert_one_line(self.run_gpuprof(*arguments).stderr, said)

    def test_a_libcupti_that_cannot_be_loaded(self):
        result = self.run_program([*support.GPU, "launch=1"], options=["--cupti", "/nonexistent"])
        self.assertIn("no GPU activity is recorded: cannot load libcupti (/nonexistent: ", result.stderr)
        self.assertIn("; name another with --cupti or GPUPROF_CUPTI", result.stderr)

    def test_a_libcupti_of_this_folder(self):
        with open(self.path("here"), "w", encoding="utf-8") as file:
            file.write("no library, but a file that is long enough for a header of one, which is what the loader reads")
        for name in ("here", "./here"):
            result = self.run_program([*support.GPU, "launch=1"], options=["--cupti", name])
            self.assertIn(f"cannot load libcupti ({self.path('here')}: ", result.stderr)

    def test_that_all_is_left_out_is_said(self):
        result = self.run_program([*support.GPU, "launch=1"], options=["--processes", "nosuch*"])
        self.assert_one_line(result.stderr, "nothing was recorded: --processes or --ranks excludes")

    def test_a_trace_that_cannot_be_made_is_said(self):
        os.mkdir(self.path("gone"))
        program = ["sh", "-c", 'rmdir gone && exec "$@"', "sh", *support.GPU, "launch=1"]
        result = self.run_program(program, options=["-o", "gone/x"])
        self.assertEqual(result.returncode, 0)
        first, last = support.own_lines(result.stderr)
        self.assertRegex(first, "nothing is recorded: .*gone/x cannot be written: ")
        self.assertEqual(last, "gpuprof: nothing was recorded; a line above says why")

    def test_another_injected_tool_is_named(self):
        result = self.run_program([*support.GPU, "launch=1"], LAUNCHED, CUDA_INJECTION64_PATH="/opt/other/libtool.so")
        self.assertEqual(result.returncode, 0)
        self.assert_one_line(result.stderr, "/opt/other/libtool.so", "unset CUDA_INJECTION64_PATH")
        self.assertEqual(self.files(), [])

    def test_quiet_is_quiet(self):
        for way in ({"options": ["-q"]}, {"GPUPROF_QUIET": "1"}):
            result = self.run_program(["true"], **way)
            self.assertEqual((result.stdout, result.stderr), ("", ""))


if __name__ == "__main__":
    support.main()
