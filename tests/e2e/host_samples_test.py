#!/usr/bin/env python3
"""What Python did while it called no CUDA: looks at the stacks of its threads, from the option to the tables."""
import json
import os
import re
import sys

from support import BUILD, HERE, LAUNCHED, Case, main
import browser  # in the folder that support names
import chrome_lint
import perfetto
from page import Page
from pprof import Profile

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
# a thread that only waits
IDLES = PROGRAM.replace("working()\nimport", """import queue
threading.Thread(target=queue.Queue().get, daemon=True).start()
working()
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


class HostCase(Case):
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


class HostSamplesTest(HostCase):
    def test_lines_and_threads(self):
        self.record(PROGRAM, "--host-samples", "10")
        rows = self.rows(self.only_trace())
        own = [row for row in rows if row["TID"] == row["PID"]]
        others = [row for row in rows if row["TID"] != row["PID"]]
        self.assertGreater(sum(row["Samples"] for row in own), 10)
        self.assertTrue(any(row["What"] == "spin (program.py)" for row in own), own)  # its own code, no library's
        self.assertTrue(all(row["Duration"] > 0 for row in own), own)  # each look stands for some time
        done = self.run_gpuprof("summary", "--by", "host", "--format", "json", self.only_trace())
        totals = json.loads(done.stdout)["rows"]
        self.assertEqual(sum(row["Samples"] for row in totals), sum(row["Samples"] for row in rows))
        self.assertEqual(sum(row["Total"] or row["Waited"] for row in totals), sum(row["Duration"] for row in rows))
        spins = [row for row in totals if re.match(r"spin \(program\.py:(9|10|11|12|13)\)$", row["Line"] or "")]
        self.assertEqual({row["What"] for row in spins}, {None})  # no more words
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
        self.assertEqual(sum(event["count"] for event in looks), sum(row["Samples"] for row in rows))
        self.assertIn("spin", {event["name"] for event in looks})

    def test_advice_says_what_the_host_did(self):
        self.record(PROGRAM)
        summary = " ".join(self.run_gpuprof("summary", self.only_trace()).stdout.split())
        self.assertRegex(summary, r"gpu-gaps: the GPU is idle for \S+: host-bound; (?:meanwhile the host|another thread) was \S[^;]+ for \d\S+s")
        advice = " ".join(self.run_gpuprof("advice", self.only_trace()).stdout.split())
        self.assertRegex(advice, r"the host was .* from \S+ Python samples")
        self.assertNotIn("py-spy", summary)

    def test_off(self):
        self.record(PROGRAM, "--host-samples", "0")
        self.assertEqual(self.rows(self.only_trace()), [])

    def check_spins(self, *options):
        rows = self.rows(self.only_trace())
        self.assertGreater(sum(row["Samples"] for row in rows if row["What"] == "spin (program.py)"), 0, (options, rows))

    def test_no_call_needs_a_stack(self):
        without = PROGRAM.replace("device.allocate(1024)\n", "")
        self.assertNotIn("device.allocate", without)
        for text, options in ((without, ("--stacks", "alloc")), (PROGRAM, ("--stacks", "none")),
                              (WINDOW, ("--stacks", "alloc", "--capture-range", "cudaProfilerApi"))):
            for name in self.files(".gpuprof"):
                os.remove(self.path(name))
            with self.subTest(options):
                self.record(text, "--host-samples", "10", *options)
                self.check_spins(options)
                self.assertIn("no call has a call stack", self.run_gpuprof("summary", "--by", "stack-api", self.only_trace()).stderr)

    def test_a_native_program_is_left_alone(self):
        self.run_program([os.path.join(BUILD, "programs", "launch")],
                         options=("-o", "out-%p", "--chrome", "none", "-s", "none", "--host-samples", "1"))
        self.assertNotIn("samples", self.run_gpuprof("summary", "--top", "0", self.only_trace()).stdout)

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
        self.assertGreater(sum(row["Samples"] for row in own), 10)

    def check_many_threads(self, most, *options):
        many = "stop = threading.Event()\nwaiting = [threading.Thread(target=stop.wait, daemon=True) for _ in range(140)]\n" \
               "for one in waiting:\n    one.start()\n"
        self.record(PROGRAM.replace("working()", many + "working()", 1), "--host-samples", "10", *options)
        rows = self.rows(self.only_trace())
        # the oldest among them, while the others are there
        self.assertTrue(any(str(row["Line"]).startswith("spin (") for row in rows if row["TID"] == row["PID"]), rows)
        # the one that is started at the end takes the place of one
        self.assertIn(len({row["TID"] for row in rows}), range(most - 10, most + 2))

    def test_more_threads_than_are_looked_at(self):
        self.check_many_threads(128)

    def test_fewer_threads_where_memory_is_bounded(self):
        self.check_many_threads(38, "--max-memory", "32M")


class ViewsTest(HostCase):
    """Where else than in the tables they are: one recording for all."""
    recorded = {}

    def trace(self, *options):
        if options not in ViewsTest.recorded:
            self.record(PROGRAM, *(options or ("--host-samples", "10")))
            with open(self.only_trace(), "rb") as file:
                ViewsTest.recorded[options] = file.read()
            os.remove(self.only_trace())
        with open(self.path("app.gpuprof"), "wb") as file:
            file.write(ViewsTest.recorded[options])
        return self.path("app.gpuprof")

    def lines(self, trace):
        """Of each line its time, and how many looks."""
        printed = json.loads(self.run_gpuprof("summary", "--by", "host", "--format", "json", "--top", "0", trace).stdout)
        lines = {}
        for row in printed["rows"]:
            time, looks = lines.get((row["Line"], row["What"]), (0, 0))
            lines[row["Line"], row["What"]] = time + (row["Total"] or row["Waited"]), looks + row["Samples"]
        return lines

    def totals(self, trace):
        """Of each place its time, as the summary has it."""
        printed = json.loads(self.run_gpuprof("summary", "--by", "host", "--format", "json", "--top", "0", trace).stdout)
        totals = {}
        for row in printed["rows"]:
            what = row["What"] or ""  # a library's function that the line calls is not the page's first row
            if not what.startswith(("importing", "waiting")) and row["Line"]:
                what = re.sub(r":\d+\)$", ")", row["Line"])
            totals[what] = totals.get(what, 0) + (row["Total"] or row["Waited"])
        return totals, sum(row["Samples"] for row in printed["rows"])

    def write_page(self, trace):
        done = self.run_gpuprof("html", "-o", self.path("page.html"), trace)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.path("page.html")

    def test_the_timeline_of_the_page(self):
        trace = self.trace()
        page = Page(self.write_page(trace))
        events, index, at = page.events(), page.json("index"), 0
        labels, tracks = index["labels"], {}
        self.assertEqual(page.sums(), index["sums"])
        for track in index["tracks"]:
            rows = []
            for count in track["rows"]:
                rows.append(events[at:at + count])
                at += count
            if track["kind"] == "python":
                tracks[track["id"]] = rows
        self.assertEqual(len(tracks), 2)  # the main thread, and the one beside it
        totals, looks = self.totals(trace)
        found = dict.fromkeys(totals, 0)
        for rows in tracks.values():
            for row in rows:
                for before, after in zip(row, row[1:]):
                    self.assertLessEqual(before["start"] + before["duration"], after["start"])
            for event in rows[0]:
                if labels["kinds"][event["label"]] != "x":
                    found[labels["texts"][event["label"]]] += event["duration"]
            # callers hold what they call
            for above, below in zip(rows[1:], rows[2:]):
                for event in below:
                    self.assertTrue(any(one["start"] <= event["start"] and event["start"] + event["duration"] <= one["start"] + one["duration"]
                                        for one in above))
        for what, total in totals.items():
            self.assertAlmostEqual(found[what], total, delta=looks)  # a ns between two looks is nobody's
        names = {labels["texts"][event["label"]]: labels["kinds"][event["label"]] for rows in tracks.values() for row in rows[1:] for event in row}
        self.assertEqual((names["working (program.py)"], names["Thread.run (threading.py)" if sys.version_info >= (3, 11) else "run (threading.py)"]),
                         ("p", "q"))

    def test_a_browser_shows_what_the_host_did(self):
        shown = browser.start(self)
        self.assertEqual(shown.open(self.write_page(self.trace())), "all")
        run = shown.run
        run("document.querySelector('.advice .see').click()")
        shown.frames()
        self.assertTrue(run("(({ y, h }) => y >= gpuprof.timeline.y && y + h <= gpuprof.timeline.y + gpuprof.timeline.box.clientHeight)"
                            "(gpuprof.timeline.items.find((item) => item.track?.kind === 'python'))"))
        said = run("new Promise((done) => { const look = () => { const text = document.querySelector('.drawer').innerText;"
                   " text.startsWith('Selected') || text.includes('Selected:') ? done(text) : setTimeout(look, 10); }; look(); })")
        self.assertIn("spin (program.py)", said)
        self.assertNotIn("beside", said)  # functions that hold others would say everything twice
        # one of them is chosen
        place = run("""(() => { const { ev, index } = gpuprof.state; let i = 0; while (index.labels.kinds[ev.label[i]] !== 'p' || index.labels.texts[ev.label[i]] !== 'working (program.py)') i++;
            gpuprof.timeline.all(); gpuprof.timeline.collapsed.clear(); gpuprof.timeline.layout();
            gpuprof.timeline.scroll(gpuprof.timeline.placeOf(i).y0 - 100); const at = gpuprof.timeline.placeOf(i), /* rows of others may be above, as many as their stacks are deep */
            box = gpuprof.timeline.canvas.getBoundingClientRect(); return [box.left + (at.x0 + at.x1) / 2, box.top + (at.y0 + at.y1) / 2]; })()""")
        shown.frames()
        shown.click(*place)
        drawer = run("document.querySelector('.drawer').innerText")
        self.assertRegex(drawer, r"(?s)working \(program\.py\).*samples\s+\d+.*all of this name.*Call stack")
        run("document.getElementById('search').focus()")
        shown.type("working")
        self.assertTrue(run("new Promise((done) => { const look = () => gpuprof.state.hitCount > 0 ? done(true) : setTimeout(look, 10); look(); })"))
        # the flame graph's own measure
        run("document.querySelector('[data-view=flame]').click()")
        run("gpuprof.views.flame.openMeasure('host-time')")
        shown.frames()
        self.assertAlmostEqual(run("gpuprof.views.flame.rootTotal"), sum(self.totals(self.trace())[0].values()))
        self.assertEqual(shown.problems, [])

    def export(self, trace, form, *options):
        done = self.run_gpuprof("export", "--format", form, "-o", self.path("out"), *options, trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("out")

    def assert_nested(self, slices):
        """(start, end, name) of a track, callers first: the time of those that are in no other one."""
        open_slices, outermost = [], 0
        for start, end, _ in slices:
            while open_slices and open_slices[-1] <= start:
                open_slices.pop()
            if open_slices:
                self.assertLessEqual(end, open_slices[-1])
            else:
                outermost += end - start
            open_slices.append(end)
        return outermost

    def test_the_chrome_trace_and_back(self):
        trace = self.trace()
        totals, looks = self.totals(trace)
        path = self.export(trace, "chrome")
        os.rename(path, self.path("first.json"))
        self.assertEqual({rule: cases for rule, cases in chrome_lint.lint(self.path("first.json")).items() if cases}, {})
        with open(self.path("first.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
        tracks, opened = {}, []
        for event in events:
            if event["ph"] == "B":  # no whole slices: readers of these would take them for what another thread did
                self.assertRegex(names[event["tid"]], rf"^Python \(sampled\), thread {event['args']['thread']}\b")
                opened.append([round(event["ts"] * 1000), None, event["name"]])
                tracks.setdefault(event["tid"], []).append(opened[-1])
            elif event["ph"] == "E":
                opened.pop()[1] = round(event["ts"] * 1000)
        self.assertEqual(len(tracks), 2)
        self.assertAlmostEqual(sum(map(self.assert_nested, tracks.values())), sum(totals.values()), delta=2 * looks)
        self.assertIn("spin (program.py)", {name for track in tracks.values() for _, _, name in track})
        # what was written is read back: the same functions, modules and times; where the machine stood still for longer than looks reach, a part of
        # that time may count, for where in its slice a look was is not written
        holes = sum(max(end for _, end, _ in track) - min(start for start, _, _ in track) for track in tracks.values()) - sum(totals.values())
        again, again_looks = self.totals(self.path("first.json"))
        for what, total in totals.items():
            if not what.startswith("importing ("):  # Python's own part of that is left out
                self.assertGreaterEqual(again.get(what, 0), total - 2 * looks, what)
        self.assertAlmostEqual(sum(again.values()), sum(totals.values()), delta=2 * looks + max(0, holes))
        self.assertAlmostEqual(again_looks, looks, delta=max(10, looks // 5))
        lines = self.lines(self.path("first.json"))
        for (line, what), (total, count) in self.lines(trace).items():
            if not (what or "").startswith("importing"):
                self.assertAlmostEqual(lines[line, what][0], total, delta=2 * count + max(0, holes), msg=line)
        with open(self.export(self.path("first.json"), "chrome"), encoding="utf-8") as file:
            back = [event for event in json.load(file)["traceEvents"] if event.get("cat") == "python_sample"]
        sent = [event for event in events if event.get("cat") == "python_sample"]
        if holes > 1000:  # slices on both sides of one may be one slice of what was read back
            self.assertLessEqual(len(back), len(sent))
            return
        self.assertEqual(len(back), len(sent))
        for one, other in zip(back, sent):
            for event in (one, other):
                del event["tid"]
                event.get("args", {}).pop("samples", None)
            self.assertAlmostEqual(one["ts"], other["ts"], delta=1.5 / 1000)
            self.assertEqual({**one, "ts": 0}, {**other, "ts": 0})

    def test_a_cut_chrome_trace_has_the_last_slices_of_all(self):
        with open(self.export(self.trace(), "chrome", "--limit", "20"), encoding="utf-8") as file:
            slices = [event for event in json.load(file)["traceEvents"] if event["ph"] in "XB"]
        self.assertLessEqual(len(slices), 20)  # of those that end together at the cut none is there
        self.assertGreater(len(slices), 10)
        self.assertIn("<module> (program.py)", {event["name"] for event in slices})

    def test_perfetto(self):
        trace = self.trace()
        totals, looks = self.totals(trace)
        with open(self.export(trace, "perfetto"), "rb") as file:
            found = perfetto.Trace(file.read())
        tracks = {}
        for one in found.slices:
            if one.category == "python_sample":
                self.assertRegex(found.tracks[one.track], r"^Python \(sampled\), thread \d+")
                self.assertGreaterEqual(one.notes["samples"], 1)
                tracks.setdefault(one.track, []).append((one.start, one.end, one.name))
        self.assertEqual(len(tracks), 2)
        for track in tracks.values():
            track.sort(key=lambda one: (one[0], -one[1]))
        self.assertAlmostEqual(sum(map(self.assert_nested, tracks.values())), sum(totals.values()), delta=2 * looks)

    def test_formats_of_stacks(self):
        trace = self.trace()
        total = sum(self.totals(trace)[0].values())
        with open(self.export(trace, "speedscope"), encoding="utf-8") as file:
            written = json.load(file)
        frames = [frame["name"] for frame in written["shared"]["frames"]]
        threads = [profile for profile in written["profiles"] if profile["name"].startswith("Python (sampled), thread ")]
        self.assertEqual(len(threads), 2)
        self.assertEqual(sum(profile["endValue"] for profile in threads), total)
        for profile in threads:
            self.assertEqual((sum(profile["weights"]), len(profile["samples"])), (profile["endValue"], len(profile["weights"])))
            self.assertIn("spin (program.py)", {frames[sample[-1]] for sample in profile["samples"]})
        with open(self.export(trace, "folded", "--value", "host-time"), encoding="utf-8") as file:
            stacks = dict(line.rsplit(" ", 1) for line in file.read().splitlines())
        self.assertEqual(sum(map(int, stacks.values())), total)
        self.assertTrue(any(stack.startswith("<module> (program.py);working (program.py);spin (program.py)") for stack in stacks), stacks)
        profile = Profile(self.export(trace, "pprof"))
        column = [name for name, _ in profile.types].index("host-time")
        self.assertEqual(sum(values[column] for _, values in profile.samples), total)

    def test_what_to_type_where_there_are_none(self):
        trace = self.trace("--host-samples", "0")
        done = self.run_gpuprof("export", "--format", "folded", "--value", "host-time", "-o", "out", trace)
        told = self.run_gpuprof("summary", "--by", "host", trace).stderr
        self.assertIn("no Python stack sample was recorded (of a Python program: gpuprof-run --host-samples=5 PROGRAM)", told)
        self.assertIn("no Python stack samples; to record them for a Python program, use gpuprof-run --host-samples=5 PROGRAM", done.stderr)

    def test_waiting_is_not_work_and_samples_are_moments(self):
        self.record(IDLES, "--host-samples", "10")
        path = self.write_page(self.only_trace())
        page = Page(path)
        samples = page.columns("samples", 5)
        listed = self.rows(self.only_trace())
        found = {}  # of a thread: samples at work, and those that wait
        for row in listed:
            found.setdefault(row["TID"], [0, 0])[row["What"].startswith("waiting in ")] += row["Samples"]
        idle = max(found, key=lambda thread: found[thread][1] - found[thread][0])
        for thread, (work, _) in found.items():
            self.assertEqual(sum(count for one, count in zip(samples[1], samples[4]) if one == thread), work)
        shown = browser.start(self)
        self.assertEqual(shown.open(path, hash_text="#v=timeline"), "all")
        run = shown.run
        self.assertEqual(run("[...gpuprof.timeline.waiting].map((track) => track.id)"), [idle])
        self.assertIn("Python: waiting", run("gpuprof.timeline.legend.textContent"))
        # a quarter of the samples in view: few marks
        run("""(() => { const [t] = [...gpuprof.state.samples.values()].map((one) => one.t).sort((a, b) => b.length - a.length);
            gpuprof.timeline.show(t[t.length >> 2], t[t.length >> 1]); })()""")
        shown.frames()
        columns = run("gpuprof.state.index.tracks.filter((track) => track.kind === 'python').map((track) => gpuprof.timeline.sampledColumns(track).reduce((sum, one) => sum + one, 0))")
        self.assertIn(0, columns)
        self.assertTrue(0 < max(columns) < run("gpuprof.timeline.W") / 4, columns)
        # idle time is no part of the flame graph, unless it is asked for
        run("document.querySelector('[data-view=flame]').click()")
        totals = []
        for word in ("host-time", "host-running"):
            run(f"gpuprof.views.flame.openMeasure('{word}')")
            totals.append(run("gpuprof.views.flame.rootTotal"))
        self.assertGreater(totals[0] - totals[1], 1e9)
        self.assertEqual(shown.problems, [])

    def test_time_without_a_look_is_hatched(self):
        shown = browser.start(self)
        self.assertEqual(shown.open(self.write_page(self.trace("--host-samples", "400"))), "all")
        run = shown.run
        run("document.querySelector('[data-view=timeline]').click()")
        shown.frames()
        colors = run("""(() => { const { ev, index } = gpuprof.state, tl = gpuprof.timeline; let i = 0; while (index.labels.kinds[ev.label[i]] !== 'x') i++;
            const at = tl.placeOf(i), data = tl.canvas.getContext('2d').getImageData(at.x0 + 4, at.y0 + 2, at.x1 - at.x0 - 8, at.y1 - at.y0 - 6).data;
            return new Set(new Uint32Array(data.buffer)).size; })()""")
        self.assertGreater(colors, 1)
        self.assertIn("no Python sample", run("gpuprof.timeline.legend.textContent"))
        self.assertEqual(shown.problems, [])


main()
