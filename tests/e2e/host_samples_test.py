#!/usr/bin/env python3
"""What Python did while it called no CUDA: looks at the stacks of its threads, from the option to the tables."""
import json
import os
import sys

from support import BUILD, HERE, LAUNCHED, Case, main

PROGRAM = f"""
import sys
import threading
import time
sys.path.insert(0, {HERE!r})
sys.argv = ["program.py"]
import gpu

def spin(rounds):
    total = 0
    for i in range(rounds):
        total += i
    return total

def working(seconds=1):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        spin(60000)

def beside():
    working(2)

device = gpu.Device()
device.allocate(1024)
device.launch(1)
working()
import unittest.mock
other = threading.Thread(target=beside)
other.start()
other.join()
device.launch(1)
"""
# nothing is allocated while it is recorded
WINDOW = PROGRAM.replace("working()\nimport", """device.call("cuProfilerStart")
working()
device.launch(1)
device.call("cuProfilerStop")
import""", 1)
FORKS = PROGRAM + """
import os
child = os.fork()
working()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os._exit(0)
"""
# what the program may not do any more, for the rest of its life: copy memory of a process
FORBIDS = """
import ctypes
import struct
libc = ctypes.CDLL(None, use_errno=True)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 310), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
filter = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, filter, 0, 0) == 0, ctypes.get_errno()
import os
"""

# the same for all threads, and whoever does it ends the process
KILLS = """
import ctypes
import struct
libc = ctypes.CDLL(None, use_errno=True)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 310), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7fff0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
filter = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.syscall(317, 1, 1, filter) == 0, ctypes.get_errno()
"""
# a thread that ends without a word to the interpreter, which keeps its state
VANISHES = """
import _thread
import ctypes
_thread.start_new_thread(lambda: ctypes.CDLL("libc.so.6").pthread_exit(None), ())
"""


class HostSamplesTest(Case):
    def record(self, text, *options, way=LAUNCHED):
        self.write("program.py", text)
        done = self.run_program([sys.executable, self.path("program.py")], way,
                                options=("-o", "out-%p", "--chrome", "none", "-s", "none", *options))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def rows(self, trace):
        listed = self.run_gpuprof("trace", "host", "--format", "json", trace)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return json.loads(listed.stdout)["rows"] if listed.stdout else []

    def test_lines_and_threads(self):
        self.record(PROGRAM, "--host-samples", "10")
        rows = self.rows(self.only_trace())
        own = [row for row in rows if row["TID"] == row["PID"]]
        others = [row for row in rows if row["TID"] != row["PID"]]
        self.assertGreater(sum(row["Looks"] for row in own), 10)
        self.assertTrue(any(row["What"] == "spin (program.py)" for row in own), own)  # its own code, no library's
        self.assertTrue(all(row["Duration"] > 0 for row in own), own)  # each look stands for some time
        done = self.run_gpuprof("summary", "--by", "host", "--format", "json", self.only_trace())
        totals = {row["What"]: row for row in json.loads(done.stdout)["rows"]}
        self.assertEqual(sum(row["Looks"] for row in totals.values()), sum(row["Looks"] for row in rows))
        self.assertEqual(sum(row["Total"] for row in totals.values()), sum(row["Duration"] for row in rows))
        self.assertRegex(totals["spin (program.py)"]["Line"], r"^spin \(program\.py:(9|10|11|12|13)\)$")
        lines = {str(row["Line"]).split(" (", maxsplit=1)[0] for row in own}
        # the main thread: what the program does, in its own functions
        self.assertIn("spin", lines)
        self.assertLessEqual(lines, {"spin", "working", "<module>", "Device.launch", "Device.call", "Device.__init__", "launch", "call",
                                     "Device.allocate", "allocate", "__init__"})
        for row in own:
            if str(row["Line"]).startswith("spin ("):
                self.assertRegex(row["Line"], r"^spin \(program\.py:(9|10|11|12|13)\)$")
        # the other thread: beside(), and what starts a thread
        self.assertTrue(any(str(row["Line"]).startswith("spin (") for row in others), others)
        self.assertFalse(any(str(row["Line"]).startswith("<module>") for row in others), others)
        # looks are in the exports, too
        done = self.run_gpuprof("export", "--format", "jsonl", "-o", "out.jsonl", self.only_trace())
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.jsonl"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        looks = [event for event in events if event["kind"] == "host sample"]
        self.assertEqual(sum(event["count"] for event in looks), sum(row["Looks"] for row in rows))
        self.assertIn("spin", {event["name"] for event in looks})

    def test_advice_says_what_the_host_did(self):
        self.record(PROGRAM)
        summary = " ".join(self.run_gpuprof("summary", self.only_trace()).stdout.split())
        self.assertRegex(summary, r"gpu-gaps: the GPU has nothing to do for \S+: host-bound; meanwhile the host was \S[^;]+ for \d\S+s")
        advice = " ".join(self.run_gpuprof("advice", self.only_trace()).stdout.split())
        self.assertRegex(advice, r"meanwhile the host was .* told by \S+ samples of Python's stack")
        self.assertNotIn("py-spy", summary)

    def test_off(self):
        self.record(PROGRAM, "--host-samples", "0")
        self.assertEqual(self.rows(self.only_trace()), [])

    def check_spins(self, *options):
        rows = self.rows(self.only_trace())
        self.assertGreater(sum(row["Looks"] for row in rows if row["What"] == "spin (program.py)"), 10, (options, rows))

    def test_no_call_needs_a_stack(self):
        without = PROGRAM.replace("device.allocate(1024)\n", "")
        self.assertNotIn("device.allocate", without)
        for text, options in ((without, ()), (PROGRAM, ("--stacks", "none")), (WINDOW, ("--capture-range", "cudaProfilerApi"))):
            for name in self.files(".gpuprof"):
                os.remove(self.path(name))
            with self.subTest(options):
                self.record(text, "--host-samples", "10", *options)
                self.check_spins(options)
                self.assertIn("no call has a call stack", self.run_gpuprof("summary", "--by", "stack-api", self.only_trace()).stderr)

    def test_a_native_program_is_left_alone(self):
        self.run_program([os.path.join(BUILD, "programs", "launch")],
                         options=("-o", "out-%p", "--chrome", "none", "-s", "none", "--host-samples", "1"))
        self.assertNotIn("looks", self.run_gpuprof("summary", "--top", "0", self.only_trace()).stdout)

    def test_a_fork_changes_nothing(self):
        self.record(FORKS, "--host-samples", "10")
        rows = self.rows(self.only_trace())
        self.assertGreater(len(rows), 5)
        self.assertEqual({row["PID"] for row in rows}, {rows[0]["PID"]})

    def test_where_it_is_forbidden(self):
        # the filter is there before the library is: `gpuprof-run` is started behind it
        self.write("program.py", PROGRAM)
        command = [sys.executable, "-c", FORBIDS + f"os.execvp({sys.executable!r}, [{sys.executable!r}, {self.path('program.py')!r}])"]
        done = self.run_program(command, options=("-o", "out-%p", "--chrome", "none", "-s", "none"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows(self.only_trace()), [])
        summary = self.run_gpuprof("summary", self.only_trace()).stdout
        self.assertIn("Python stacks are not sampled", " ".join(summary.split()))

    def test_where_it_kills(self):
        self.record(PROGRAM.replace("device.allocate", KILLS + "device.allocate", 1), "--host-samples", "10")
        self.assertNotIn("spin (program.py)", {row["What"] for row in self.rows(self.only_trace())})  # what it does behind it

    def test_a_thread_that_vanishes(self):
        self.record(PROGRAM.replace("working()", VANISHES + "working()", 1), "--host-samples", "10")
        own = [row for row in self.rows(self.only_trace()) if row["TID"] == row["PID"]]
        self.assertGreater(sum(row["Looks"] for row in own), 10)

    def test_more_threads_than_are_looked_at(self):
        many = "stop = threading.Event()\nwaiting = [threading.Thread(target=stop.wait, daemon=True) for _ in range(140)]\n" \
               "for one in waiting:\n    one.start()\n"
        self.record(PROGRAM.replace("working()", many + "working()", 1), "--host-samples", "10")
        rows = self.rows(self.only_trace())
        # the oldest among them, while the others are there
        self.assertTrue(any(str(row["Line"]).startswith("spin (") for row in rows if row["TID"] == row["PID"]), rows)
        self.assertLessEqual(len({row["TID"] for row in rows}), 129)  # besides the one that is started at the end


main()
