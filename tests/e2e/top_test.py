#!/usr/bin/env python3
"""`gpuprof top`: programs that run, watched as plain text and on a terminal."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import unittest

import support
from support import GPU, GPUPROF, Case

NEVER_NS = str(10 ** 17)
ENTER, LEAVE = b"\033[?1049h", b"\033[?1049l"


def kernel_row(page):
    """(kernels in the interval, in all) of the program's one kernel."""
    row = re.search(r"^ .* step_kernel$", page, re.MULTILINE)
    words = row.group().replace(",", "").split() if row else []
    return (int(words[2]), int(words[7])) if row else (0, 0)


class Watched(Case):
    """Programs under the profiler, and what watches them."""

    def start(self, *steps, name="app", **variables):
        """A program that has come to its last `touch`."""
        program = subprocess.Popen(
            [*GPU, *steps], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=support.environment(**{"LD_PRELOAD": support.LIBRARY, "GPUPROF_OUTPUT": name, "GPUPROF_CHROME": "none",
                                       "GPUSIM_KERNEL_NS": "2000", **variables}))
        self.addCleanup(program.communicate)
        self.await_file(program, [step for step in steps if step.startswith("touch=")][0][len("touch="):])
        return program

    def await_file(self, program, name):
        while name not in self.files():
            self.assertIsNone(program.poll())

    def watch(self, *arguments):
        top = subprocess.Popen([GPUPROF, "top", "--delay", "0.1", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(top.communicate)
        self.addCleanup(top.kill)
        return top


class Batch(Watched):
    """Plain text, page after page."""

    def read_until(self, top, is_there):
        """The lines up to one that is there."""
        lines = [top.stdout.readline()]
        while not is_there(lines[-1]):
            self.assertNotEqual(lines[-1], "", "".join(lines))
            lines.append(top.stdout.readline())
        return "".join(lines)

    @unittest.skipIf(support.ON_GPU, "kernels take as long as they are told on the simulated device alone")
    def test_a_folder_shows_the_ranks_of_a_job(self):
        os.mkdir(self.path("job"))
        programs = []
        for rank in range(3):
            kernel_ns = 1000 if rank == 1 else 100000
            programs.append(self.start("leak=3", "reduce=50", f"touch=there{rank}", "wait", name=f"job/{rank}", RANK=str(rank),
                                       WORLD_SIZE="3", GPUSIM_NODE=str(rank), GPUSIM_KERNEL_NS=str(kernel_ns)))
            top = top if rank else self.watch("job")  # which finds the others later
        text = self.read_until(top, lambda line: re.match(r"  2 .* 50 ", line))
        self.assertIn("gpuprof top: job, 3 processes, 0 of them ended\n", text)
        for program in programs:
            program.communicate()
        rest, complaints = top.communicate()
        self.assertEqual((top.returncode, complaints), (0, ""))
        self.assertIn("3 processes, 3 of them ended\n", rest)
        self.assertIn("gpuprof summary job", rest)
        self.write("job/-damaged.gpuprof", "damaged")  # listed before the others
        page = self.watch("--iterations", "1", "job").communicate()[0]
        self.assertIn("3 processes, 3 of them ended; 1 file cannot be read\n", page)
        self.assertRegex(page, r"(?m)^rank 1 communicates for the shortest time")
        rows = re.findall(r"(?m)^  (\d) +\S+ +\S+ +\S+ +(\d+) +(\d+) +(\S+) +\S+ +\S+ +(.*\S)$", page)
        self.assertEqual(rows, [(str(rank), "50", "50", "3.000KiB", "ended") for rank in range(3)])

    def test_every_kernel_is_counted_once(self):
        program = self.start("launch=1000", "leak=3", "touch=there", "line", "launch=500", "touch=more", "wait")
        top = self.watch("app.gpuprof")
        text = self.read_until(top, lambda line: kernel_row(line)[1] == 1000)
        program.stdin.write(b"\n")
        program.stdin.flush()
        text += self.read_until(top, lambda line: kernel_row(line)[1] == 1500)
        program.communicate()
        rest, complaints = top.communicate()
        pages = re.split(r"(?m)^(?=gpuprof top: )", text + rest)[1:]
        self.assertEqual((top.returncode, complaints), (0, ""))
        self.assertEqual(sum(kernel_row(page)[0] for page in pages), 1500)
        self.assertEqual(kernel_row(pages[-1])[1], 1500)
        self.assertIn(f"gpuprof top: gpu, pid {program.pid}, recorded for", pages[0])
        self.assertRegex(pages[0], "rates since the beginning")
        self.assertRegex(pages[1], "rates over the last")
        self.assertRegex(pages[-1], r"(?m)^ +0 +[\d.<]+ +3\.000KiB +3\.000KiB +3 .+$")
        self.assertRegex(pages[-1], rf"gpuprof: gpu, pid {program.pid}, ended; to see a summary, type: gpuprof summary app.gpuprof\n$")
        self.assertNotIn("\033", text + rest)

    def test_numbers_for_a_monitoring_system(self):
        """Those of a program that runs go on, and at its end they are those of the trace."""
        program = self.start("launch=1000", "leak=3", "copy=20", "touch=there", "wait")
        os.close(os.open(self.path("app.prom"), os.O_CREAT, 0o644))
        top = self.watch("--openmetrics", "app.prom", "app.gpuprof")
        while ('kernel="step_kernel"', 1000.0) not in self.samples("app.prom", "gpuprof_kernels_total"):
            self.assertIsNone(top.poll())
        program.communicate()
        self.assertEqual(top.communicate()[1], "")
        self.assertEqual(self.run_gpuprof("export", "-F", "openmetrics", "-o", "all.prom", "app.gpuprof").returncode, 0)
        for metric in ("gpuprof_kernels_total", "gpuprof_copies_total", "gpuprof_copy_bytes_total", "gpuprof_api_calls_total",
                       "gpuprof_memory_peak_bytes"):
            self.assertEqual(self.samples("app.prom", metric), self.samples("all.prom", metric), metric)
        for metric in ("gpuprof_kernel_seconds_total", "gpuprof_device_busy_seconds_total"):  # the trace's clock is corrected at its end
            (labels, seconds), = self.samples("app.prom", metric)
            (wanted, exact), = self.samples("all.prom", metric)
            self.assertEqual(labels, wanted)
            self.assertAlmostEqual(seconds, exact, delta=exact / 1000)
        self.assertEqual(os.stat(self.path("app.prom")).st_mode & 0o777, 0o644)
        result = self.run_gpuprof("top", "--openmetrics", "nowhere/app.prom", "app.gpuprof")
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(result.stderr, "nowhere/app.prom")

    def samples(self, name, metric):
        """{(own labels, value)} of a metric."""
        with open(self.path(name), encoding="utf-8") as file:
            return {(labels, float(value)) for labels, value in re.findall(rf'(?m)^{metric}{{pid="\d+",program="gpu",(.*)}} (\S+)$', file.read())}

    def test_wherever_the_rings_are(self):
        for rings in ("shm", "file", "memory"):
            with self.subTest(rings):
                program = self.start("launch=100", f"touch={rings}", "wait", name=f"in-{rings}", GPUPROF_RINGS=rings)
                top = self.watch(f"in-{rings}.gpuprof")
                self.read_until(top, lambda line: kernel_row(line)[1] == 100)
                program.communicate()
                self.assertIn(", ended; ", top.communicate()[0])

    def test_a_process_by_its_number(self):
        program = self.start("launch=10", "touch=there", "wait")
        result = self.run_gpuprof("top", "--iterations", "1", str(program.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(f"gpu, pid {program.pid}, recorded for", result.stdout)
        self.assertNotIn(", ended; ", result.stdout)
        program.communicate()
        result = self.run_gpuprof("top", str(program.pid))
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(result.stderr, f"process {program.pid} is not being recorded", "gpuprof top FILE")

    def test_several_programs_are_listed(self):
        programs = [self.start("launch=10", f"touch={name}", "wait", name=name) for name in ("one", "two")]
        result = self.run_gpuprof("top")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^gpuprof: top: \d+ programs are being recorded; type one of these:\n")
        for program in programs:
            self.assertRegex(result.stderr, rf"(?m)^  gpuprof top {program.pid} +# .*gpu.py .* wait$")

    def test_none_and_one(self):
        """In a mount namespace of its own, where no other program's rings are."""
        program = self.start("launch=10", "touch=there", "wait", GPUPROF_RINGS="file")
        alone = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev/shm && cd "$1" && "$2" top -n 1', "sh"]
        elsewhere = subprocess.run([*alone, "/", GPUPROF], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                   universal_newlines=True)
        if "gpuprof" not in elsewhere.stdout + elsewhere.stderr:
            self.skipTest(f"no mount namespaces: {elsewhere.stderr.strip()}")
        self.assertEqual(elsewhere.returncode, 1)
        self.assert_one_line(elsewhere.stderr, "no program of yours is being recorded", "gpuprof run ./app")
        here = subprocess.run([*alone, self.folder, GPUPROF], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              universal_newlines=True)
        self.assertEqual((here.returncode, here.stderr), (0, ""))
        self.assertIn(f"pid {program.pid}, recorded for", here.stdout)

    def test_a_program_that_is_killed(self):
        program = self.start("launch=100", "touch=there", "wait")
        top = self.watch("app.gpuprof")
        self.read_until(top, lambda line: kernel_row(line)[1] == 100)
        program.kill()
        program.wait()
        text = top.communicate()[0]
        self.assertRegex(text, r"was killed or crashed after [\d.]+m?s")
        self.assertIn("was killed or crashed; to see a summary, type: gpuprof summary app.gpuprof", text)
        self.assertEqual(kernel_row(text[text.rindex("gpuprof top: "):])[1], 100)

    @unittest.skipIf(support.ON_GPU, "kernels take as long as they are told on the simulated device alone")
    def test_kernels_that_never_end(self):
        program = self.start("start=25", "touch=there", "wait", "_exit=0", GPUSIM_KERNEL_NS=NEVER_NS)
        top = self.watch("app.gpuprof")
        self.read_until(top, lambda line: "25 launches without GPU record" in line)
        program.communicate()

    @unittest.skipIf(support.ON_GPU, "kernels take as long as they are told on the simulated device alone")
    def test_a_call_that_waits(self):
        program = self.start("launch=1", "touch=there", "start=5", "sync", name="stuck", GPUSIM_KERNEL_NS=str(10 ** 9))
        top = self.watch("stuck.gpuprof")
        text = self.read_until(top, lambda line: line.startswith("in cuCtxSynchronize for "))
        self.assertRegex(text.splitlines()[-1], rf"^in cuCtxSynchronize for [\d.]+[um]?s: \S+ {program.pid}$")
        program.kill()
        program.wait()
        said = rf"(?m)^  in cuCtxSynchronize (for at least [\d.]+[num]?s|at the end): \S+ {program.pid}$"
        summary = self.run_gpuprof("summary", "stuck.gpuprof").stdout
        self.assertRegex(summary, said)
        finished = self.run_gpuprof("finish", "--chrome", "none", "stuck.gpuprof").stderr
        self.assertRegex(finished, said)
        self.assertIn(self.run_gpuprof("summary", "stuck.gpuprof").stdout, finished)
        watched = self.run_gpuprof("top", "stuck.gpuprof").stdout
        self.assertIn("in cuCtxSynchronize for ", watched)
        self.assertIn("was killed or crashed", watched)

    def test_a_call_that_has_returned(self):
        program = self.start("launch=5", "touch=there", "wait", "_exit=0")
        summary = self.run_gpuprof("summary", "app.gpuprof").stdout
        self.assertIn(f"INCOMPLETE: pid {program.pid} still runs", summary)
        self.assertNotIn("in cuCtxSynchronize", summary)

    def test_a_trace_of_the_past(self):
        self.run_program([*GPU, "launch=20", "copy=5"], support.BARE, GPUPROF_OUTPUT="app", GPUPROF_CHROME="none")
        with open(self.path("app.gpuprof"), "rb") as file:
            before = file.read()
        result = self.run_gpuprof("top", "app.gpuprof")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("gpuprof top: "), 1)
        self.assertEqual(kernel_row(result.stdout), (20, 20))
        self.assertRegex(result.stdout, r"copies HtoD [\d.]+/s")
        with open(self.path("app.gpuprof"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_trace_without_anything(self):
        self.run_program([*GPU, "launch=20"], support.BARE, GPUPROF_OUTPUT="app", GPUPROF_CHROME="none")
        os.truncate(self.path("app.gpuprof"), 100)
        os.utime(self.path("app.gpuprof"), (1, 1))
        result = self.run_gpuprof("top", "app.gpuprof")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (1, "", "gpuprof: top: the trace has no readable records, and no process writes to it\n"))

    def test_what_is_typed_wrong(self):
        for arguments, part in ((("--delay", "0"), "--delay needs a number"), (("-n", "-1"), "--iterations needs a number"),
                                (("-r", "x"), "--rows needs a number"),
                                (("-r", "18446744073709551615"), "--rows needs a number up to 1000000000"),
                                (("a", "b"), "name one process, one trace file or one folder")):
            result = self.run_gpuprof("top", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assert_one_line(result.stderr, part)
        result = self.run_gpuprof("top", "missing.gpuprof")
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(result.stderr, "missing.gpuprof", "No such file")


class Terminal(Watched):
    """On a terminal of its own."""

    def open_terminal(self, *arguments, rows=24, term="xterm"):
        """A process whose terminal is self.terminal."""
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ["TERM"] = term
            os.execv(arguments[0], arguments)
        self.addCleanup(os.close, self.terminal)
        self.resize(rows)
        self.seen = b""
        return pid

    def resize(self, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))

    def read_until(self, expected):
        """What is shown up to that and with it."""
        while expected not in self.seen:
            self.assertTrue(select.select([self.terminal], [], [], support.LIMIT_S)[0], self.seen)
            try:
                more = os.read(self.terminal, 65536)
            except OSError:
                more = b""
            self.assertNotEqual(more, b"", self.seen)
            self.seen += more
        shown, self.seen = self.seen.split(expected, 1)
        return shown + expected

    def modes(self):
        return termios.tcgetattr(self.terminal)[3]

    def type(self, keys):
        os.write(self.terminal, keys)

    def test_q_quits_and_the_terminal_is_as_before(self):
        program = self.start("launch=100", "touch=there", "wait")
        pid = self.open_terminal("/bin/sh", "-c", f"read go; {GPUPROF} top {program.pid}; echo status $?; read go")
        before = self.modes()
        self.type(b"\n")
        self.read_until(ENTER)
        self.read_until(b"step_kernel")
        self.assertEqual(self.modes() & (termios.ICANON | termios.ECHO), 0)
        self.type(b"xq")
        self.read_until(LEAVE)
        self.read_until(b"status 0")
        self.assertEqual(self.modes(), before)
        self.type(b"\n")
        os.waitpid(pid, 0)

    def test_the_end_of_the_program(self):
        program = self.start("launch=100", "touch=there", "wait")
        pid = self.open_terminal(GPUPROF, "top", "app.gpuprof")
        self.read_until(b"step_kernel")
        program.communicate()
        self.read_until(LEAVE)
        self.read_until(b"ended; to see a summary, type: gpuprof summary app.gpuprof")
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_a_terminal_that_changes_its_size(self):
        self.start("launch=100", "touch=there", "wait")
        pid = self.open_terminal(GPUPROF, "top", "--delay", "3600", "app.gpuprof", rows=3)
        page = self.read_until(b"\033[J")
        self.assertEqual(page.count(b"\n"), 2)
        self.assertNotIn(b"launches", page)
        self.resize(40)
        self.assertIn(b"launches", self.read_until(b"\033[J"))
        self.type(b"q")
        os.waitpid(pid, 0)

    def test_signals_that_end_it(self):
        self.start("launch=100", "touch=there", "wait")
        for way, number in ((b"\003", signal.SIGINT), (None, signal.SIGTERM), (None, signal.SIGHUP)):
            pid = self.open_terminal(GPUPROF, "top", "--delay", "3600", "app.gpuprof")
            self.read_until(b"launches")
            if way:
                self.type(way)
            else:
                os.kill(pid, number)
            self.read_until(LEAVE)
            self.assertEqual(os.WTERMSIG(os.waitpid(pid, 0)[1]), number)

    def test_stopped_and_gone_on(self):
        self.start("launch=100", "touch=there", "wait")
        pid = self.open_terminal("/bin/bash", "-c",
                                 f"set -m; {GPUPROF} top --delay 3600 app.gpuprof; echo away; read go; fg; echo status $?; read go")
        before = self.modes()
        self.read_until(b"launches")
        self.type(b"\032")
        self.read_until(LEAVE)
        self.read_until(b"away")
        self.assertEqual(self.modes() & (termios.ICANON | termios.ECHO), before & (termios.ICANON | termios.ECHO))
        self.type(b"\n")
        self.read_until(ENTER)
        self.read_until(b"launches")
        self.type(b"q")
        self.read_until(LEAVE)
        self.read_until(b"status 0")
        self.assertEqual(self.modes(), before)
        self.type(b"\n")
        os.waitpid(pid, 0)

    def test_a_terminal_that_can_nothing(self):
        program = self.start("launch=100", "touch=there", "wait")
        pid = self.open_terminal(GPUPROF, "top", "-n", "1", str(program.pid), term="dumb")
        self.assertNotIn(b"\033", self.read_until(b"launches"))
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    support.main()
