#!/usr/bin/env python3
"""The page of `gpuprof html`: that it holds what was recorded, that no name does anything in it, and that a browser shows it."""
import base64
import glob
import hashlib
import itertools
import json
import math
import os
import shutil
import re
import subprocess
import tempfile
import unittest

import support
from support import BUILD, Case, main
import browser  # in the folder that support names
import shown
from page import ELEMENT, Page

# what it says once it begins so
DRAWER_OF = "new Promise((done) => { const look = () => { const text = document.querySelector('.drawer').textContent; text.startsWith('%s') ? done(text) : setTimeout(look, 10); }; look(); })"
ZOO = os.path.join(BUILD, "programs", "demo")
RANGES = os.path.join(BUILD, "programs", "ranges")

NAMES = ("</script><script>window.owned=1</script>", "<img src=x onerror=window.owned=1>", "<!--<script>", "a\u202etxt.exe",
         "'\"&amp;<b>bold", "x" * 3000, "\u0001\u001b[31m", "]]>", "__proto__", "constructor")

# more events than go into a few blocks of the page
# Two GPUs of one kind, each with a name of the program's.
NAMED_GPUS = r"""
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExtCudaRt.h>
int main(void)
{
	for (int device = 0; device < 2; device++) {
		cudaSetDevice(device);
		cudaFree(0);
		nvtxNameCudaDeviceA((uint32_t)device, device ? "second" : "first");
	}
	return 0;
}
"""

MANY = """
#include "gpuprof/gpuprof.h"

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long *, unsigned long), cuMemFree_v2(unsigned long);
extern int cuMemsetD8_v2(unsigned long, unsigned char, unsigned long);

int main(void)
{
	void *context;
	unsigned long memory;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
		return 1;
	for (unsigned i = 0; i < 700; i++) {
		gpuprof_v1_range_push("one");
		gpuprof_v1_range_push("two");
		cuMemAlloc_v2(&memory, 1 << 20);
		cuMemsetD8_v2(memory, 0, 1 << 20);
		cuMemFree_v2(memory);
		gpuprof_v1_range_pop();
		gpuprof_v1_range_pop();
	}
	return 0;
}
"""

# most of the time is in a range that has nothing for a GPU
APART = """
#include <time.h>
#include "gpuprof/gpuprof.h"

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long *, unsigned long);
extern int cuMemsetD8_v2(unsigned long, unsigned char, unsigned long);

int main(void)
{
	void *context;
	unsigned long memory;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuMemAlloc_v2(&memory, 1 << 20))
		return 1;
	gpuprof_v1_range_push("one");
	cuMemsetD8_v2(memory, 0, 1 << 20);
	gpuprof_v1_range_pop();
	gpuprof_v1_range_push("two");
	for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;)
		;
	gpuprof_v1_range_pop();
	return 0;
}
"""

# blocks that stay until the end
HOLDS = """
extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long *, unsigned long);

int main(void)
{
	void *context;
	unsigned long memory;
	int failed = cuInit(0) || cuCtxCreate_v2(&context, 0, 0);

	for (unsigned i = 0; i < 1000; i++)
		failed |= cuMemAlloc_v2(&memory, 4096);
	return failed;
}
"""


class HtmlCase(Case):
    recorded = {}  # of a program that lies there for all tests: its trace
    sets = None  # the folder of the sets of runs

    def record(self, *program):
        trace = self.path("out.gpuprof")
        if os.path.exists(trace):
            os.remove(trace)  # or the next one has another name
        if program in HtmlCase.recorded:
            with open(trace, "wb") as file:
                file.write(HtmlCase.recorded[program])
            return trace
        done = self.run_program(list(program), options=("-o", "out", "-s", "none", "--chrome", "none", "--stacks=all"))
        self.assertEqual(done.returncode, 0, done.stderr)
        if program[0].startswith(os.path.join(BUILD, "programs", "")):
            with open(trace, "rb") as file:
                HtmlCase.recorded[program] = file.read()
        return trace

    def write_page(self, *options):
        done = self.run_gpuprof("html", "-o", self.path("page.html"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("page.html")

    def write_kernels(self, kernels, alike=False):
        """A trace of a stream: (duration, time until the next one) of each kernel, in us; alike: all of one name."""
        events, at = [], 1000
        for number, (duration, gap) in enumerate(kernels, 1):
            events.append({"ph": "X", "cat": "kernel", "name": "step" if alike else f"of_{duration}_us", "pid": 0, "tid": 7, "ts": at, "dur": duration,
                           "args": {"device": 0, "context": 1, "stream": 7, "correlation": number}})
            at += duration + gap
        device = {"id": 0, "name": "GPU", "totalGlobalMem": 1 << 30, "computeMajor": 8, "computeMinor": 0, "numSms": 80}
        with open(self.path("kernels.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}, file)
        return file.name

    def record_hostile(self):
        program = self.compile_named("hostile", [name.encode() for name in NAMES])
        return self.record(program, NAMES[0], NAMES[1])

    def record_of_two(self, *program):
        """Where there are two GPUs."""
        done = self.run_program(list(program), options=("-o", "two", "--chrome", "none"), GPUSIM_DEVICES=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("two.gpuprof")

    def record_sets(self):
        """Of a program, and of it doing more: five runs each, recorded once for all tests."""
        if not HtmlCase.sets:
            HtmlCase.sets = tempfile.mkdtemp(prefix="gpuprof-e2e-")
            unittest.addModuleCleanup(shutil.rmtree, HtmlCase.sets, ignore_errors=True)
            for name, rounds in (("before", "2"), ("after", "3")):
                done = self.run_program([ZOO, rounds], options=("--runs", "5", "-o", os.path.join(HtmlCase.sets, name), "-s", "none", "--chrome", "none", "--stacks=all"))
                self.assertEqual(done.returncode, 0, done.stderr)
        before, after = (sorted(glob.glob(os.path.join(HtmlCase.sets, name, "*"))) for name in ("before", "after"))
        return [*before, "--", *after]


class PageTest(HtmlCase):
    def test_all_of_the_recording_is_in_it(self):
        trace = self.record(ZOO)
        page = Page(self.write_page(trace))
        about, index = page.json("about"), page.json("index")
        self.assertEqual(page.rest(), b"</body></html>\n")
        self.assertEqual(page.sums(), index["sums"])
        self.assertEqual(len(page.events()), index["events"])
        self.assertEqual(sum(sum(track["rows"]) for track in index["tracks"]), index["events"])
        counts = {}
        for event in page.events():
            kind = index["labels"]["kinds"][event["label"]]
            counts[kind] = counts.get(kind, 0) + 1
        self.assertEqual((counts["k"], counts["a"]), (about["kernels"], about["calls"]))
        self.assertEqual(page.text("end"), b"end")
        self.assertEqual(about["summary"], self.run_gpuprof("summary", "--full", trace).stdout)

    def test_advice_is_what_the_program_prints_as_json(self):
        for program in ("demo", "copies", "launch", "allocs"):
            trace = self.record(os.path.join(BUILD, "programs", program))
            advice = Page(self.write_page(trace)).json("about")["advice"]
            rules = {rule["rule"] for rule in advice.pop("rules")}
            self.assertEqual(advice, json.loads(self.run_gpuprof("advice", "--format", "json", trace).stdout))
            self.assertEqual(rules, {finding["rule"] for finding in advice["findings"]})
            self.assertEqual("none" in advice, not advice["findings"])

    def test_what_the_tables_say_is_what_the_program_prints(self):
        trace = self.record(ZOO)
        tables = {table["word"]: table for table in Page(self.write_page(trace)).json("tables")}
        for word in ("kernel", "api", "copy-size", "memory"):
            printed = json.loads(self.run_gpuprof("summary", "--by", word, "--format", "json", "--top", "0", trace).stdout)
            names = [column[0] for column in tables[word]["columns"]]
            rounded = [[round(value, 3 if abs(value) >= 0.001 else 9) if isinstance(value, float) else value for value in row] for row in tables[word]["rows"]]
            self.assertEqual([dict(zip(names, row)) for row in rounded], printed["rows"], word)

    def test_what_was_allocated_is_in_it_change_by_change(self):
        for program in (os.path.join(BUILD, "programs", "leaks"), os.path.join(BUILD, "programs", "allocs"), ZOO):
            trace = self.record(program)
            page = Page(self.write_page(trace))
            names = page.json("series")
            held, most, held_at_most = {}, {}, {}  # bytes of an account, by holder; its peak; who held it then
            for what, size in zip(*page.columns("memory", 3)[1:]):
                account, _, site = names["holders"][what // 2]
                kind, device = names["accounts"][account]["kind"], names["accounts"][account].get("device")
                whole = (names["accounts"][account].get("own") or kind, device)
                holder = (kind, device, *(text or None for text in names["sites"][site]))
                one = held.setdefault(whole, {})
                size_now, blocks_now = one.get(holder, (0, 0))
                one[holder] = (size_now - size, blocks_now - 1) if what % 2 else (size_now + size, blocks_now + 1)
                now = sum(bytes_ for bytes_, _ in one.values())
                if now > most.get(whole, 0):
                    most[whole], held_at_most[whole] = now, {key: value for key, value in one.items() if value[1]}
            self.assertEqual(sum(rows for kind, rows, _, _ in page.elements if kind == "memory"), names["changes"])
            printed = json.loads(self.run_gpuprof("summary", "--by", "memory-peak", "--format", "json", "--top", "0", trace).stdout)["rows"]
            self.assertGreater(len(printed), 1)
            self.assertCountEqual([(*holder, *value) for one in held_at_most.values() for holder, value in one.items()],
                                  [(row["Memory"], row["Device"], row["Call site"], row["Called by"], row["Allocator"], row["Bytes"], row["Blocks"]) for row in printed])

    def test_of_too_many_blocks_those_that_lived_longest_are_in_it(self):
        def held(*options):
            page = Page(self.write_page(*options, trace))
            names, at_end, blocks = page.json("series"), {}, 0
            for what, size in zip(*page.columns("memory", 3)[1:]):
                account = names["holders"][what // 2][0]
                at_end[account] = at_end.get(account, 0) + (-size if what % 2 else size)
                blocks += what % 2 == 0
            return names, {(names["accounts"][account]["kind"], size) for account, size in at_end.items() if size}, blocks

        trace = self.record(os.path.join(BUILD, "programs", "allocs"))
        names, at_end, blocks = held()
        few, few_at_end, few_blocks = held("--limit", "20")
        self.assertEqual((names["leftOut"], "least" in names), (0, False))
        self.assertGreater(names["changes"], 40)
        self.assertLessEqual(few["changes"], 20)
        self.assertGreater(few_blocks, 5)
        self.assertEqual(few_blocks + few["leftOut"], blocks)
        self.assertGreater(few["least"], 0)
        self.assertEqual(few_at_end, at_end)

    def test_of_too_many_blocks_that_were_never_freed_some_from_all_over_are_in_it(self):
        program = self.compile("holds", HOLDS, f"-L{BUILD}/sim", "-lcuda")
        trace = self.record(program)
        times = lambda page: list(itertools.accumulate(page.columns("memory", 3)[0]))
        everything = times(Page(self.write_page(trace)))
        self.assertEqual(len(everything), 1000)
        page = Page(self.write_page("--limit", "100", trace))
        names, few = page.json("series"), times(page)
        self.assertEqual((names["changes"], names["leftOut"], "least" in names), (50, 950, False))
        self.assertEqual(few, everything[19::20])

    def curves_of(self, page):
        """{(name, device): [(time from the first call, value)]}, of the page's curves."""
        names, points, at = page.json("courses"), {}, 0
        index = page.json("index")
        blocks = {0, *itertools.accumulate(rows for kind, rows, *_ in page.elements if kind == "curves")}
        for number, (jump, which, value) in enumerate(zip(*page.columns("curves", 3))):
            at = (0 if number in blocks else at) + (-(jump + 1) // 2 if jump % 2 else jump // 2)
            one = names["curves"][which]
            points.setdefault((one["name"], one["device"]), []).append((at - index["zero"], value))
        self.assertEqual(sum(map(len, points.values())), names["points"])
        return names, points

    def test_curves_are_those_that_are_listed(self):
        trace = self.record(os.path.join(BUILD, "programs", "streams"))
        self.assertNotIn("courses", [kind for kind, *_ in Page(self.write_page(trace)).elements])
        _, points = self.curves_of(Page(self.write_page("--counters", trace)))
        wanted = {}
        for list_name, name, value in (("queue", "queue of stream {Stream}", "Length"), ("bandwidth", "{Direction}", "GB/s")):
            for row in json.loads(self.run_gpuprof("trace", list_name, "--format", "json", trace).stdout)["rows"]:
                wanted.setdefault((name.format(**row), row["Device"]), []).append((row["Start"], row[value]))
        self.assertGreater(len(wanted), 3)
        self.assertEqual(sorted(points), sorted(wanted))
        for key, listed in wanted.items():
            drawn = [(at, value if key[0].startswith("queue") else round(value / 1e9, 3)) for at, value in points[key]]
            self.assertEqual([pair for pair in zip(drawn, listed) if pair[0] != pair[1]][:3], [], key)
            self.assertEqual(len(drawn), len(listed))

    def test_of_too_many_points_of_curves_the_highest_stay(self):
        trace = self.record(ZOO)
        _, everything = self.curves_of(Page(self.write_page("--counters", trace)))
        names, few = self.curves_of(Page(self.write_page("--counters", "--limit", "100", trace)))
        self.assertEqual(names["points"] + names["leftOut"], sum(map(len, everything.values())))
        self.assertGreater(names["leftOut"], 500)
        highest = lambda curves: {key: (max(value for _, value in points), points[-1]) for key, points in curves.items()}
        self.assertEqual(highest(few), highest(everything))

    def test_operations_are_linked_to_the_calls_that_started_them(self):
        page = Page(self.write_page(self.record(ZOO)))
        events, labels = page.events(), page.json("index")["labels"]
        linked = [event for event in events if event["link"]]
        self.assertTrue(linked)
        for event in linked:
            self.assertEqual(labels["kinds"][events[event["link"] - 1]["label"]], "a")
            self.assertLessEqual(events[event["link"] - 1]["start"], event["start"] + event["duration"])

    def test_in_a_row_nothing_overlaps(self):
        page = Page(self.write_page(self.record(RANGES)))
        events, first = page.events(), 0
        for track in page.json("index")["tracks"]:
            for count in track["rows"]:
                row = events[first:first + count]
                for before, after in zip(row, row[1:]):
                    self.assertLessEqual(before["start"] + before["duration"], after["start"], track["name"])
                first += count

    def test_of_too_many_events_the_longest_stay_and_the_others_stand_together(self):
        trace = self.record(ZOO)
        everything = Page(self.write_page("--limit", "0", trace)).events()
        done = self.run_gpuprof("html", "-o", self.path("few.html"), "--limit", "100", trace)
        page = Page(self.path("few.html"))
        few, index = page.events(), page.json("index")
        groups = [event for event in few if index["labels"]["kinds"][event["label"]] in "mn"]
        alone = sorted((event["duration"] for event in few if event not in groups), reverse=True)
        rows = sum(len(track["rows"]) for track in index["tracks"])
        self.assert_one_line(done.stderr, f"{index['grouped']:,} events shorter than", "--limit 0")
        self.assertEqual(index["grouped"], sum(event["stack"] for event in groups))
        self.assertEqual(len(alone) + index["grouped"], len(everything))
        self.assertEqual(sum(alone) + sum(event["aux"] for event in groups), sum(event["duration"] for event in everything))
        self.assertLessEqual(len(few), 100 + rows)
        self.assertEqual(alone[:40], sorted((event["duration"] for event in everything), reverse=True)[:40])
        self.assertTrue(all(event["aux"] <= event["duration"] for event in groups))

    def test_short_events_stand_together_with_their_neighbors(self):
        trace = self.record(ZOO)
        everything = Page(self.write_page(trace))
        least = 10_000
        few = Page(self.write_page("--min-duration", "10us", trace))
        labels, index = few.json("index")["labels"], few.json("index")
        together = [event for event in few.events() if labels["kinds"][event["label"]] in "mn"]
        self.assertGreater(len(together), 2)
        self.assertEqual(sum(event["stack"] for event in together), index["grouped"])
        self.assertTrue(all(0 <= event["aux"] <= event["duration"] for event in together))
        self.assertEqual(len(few.events()) - len(together) + index["grouped"], len(everything.events()))
        self.assertTrue(all(labels["texts"][event["label"]] == "(shorter than 10.00us, together)" for event in together))
        whole = lambda page: sorted((e["start"], e["duration"]) for e in page.events() if e["duration"] >= least and page.json("index")["labels"]["kinds"][e["label"]] not in "mn")
        self.assertEqual(whole(few), whole(everything))
        self.assertEqual(few.json("tables"), everything.json("tables"))

    def limited_page(self, trace, limit):
        done = self.run_gpuprof("html", "-o", self.path("few.html"), "--limit", str(limit), "--min-duration", "10us", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Page(self.path("few.html")), done.stderr

    def test_the_limit_is_of_short_events_that_stand_alone_too(self):
        trace = self.write_kernels([(20, 30), (5, 30)] * 1000)
        page, message = self.limited_page(trace, 100)
        events, labels = page.events(), page.json("index")["labels"]
        alone = [event for event in events if labels["kinds"][event["label"]] == "k"]
        self.assertLessEqual(len(events), 100)
        self.assertEqual(sum(event["duration"] == 20_000 for event in alone), 40)
        self.assertIn(f"groups {2000 - len(alone):,} events shorter than 20.00us", message)
        self.assertLess(max(after["start"] - before["start"] for before, after in zip(alone, alone[1:])), 5_000_000)

    def test_ranges_on_the_gpu_are_of_their_thread_and_level(self):
        events = []
        for number in range(12):  # what is launched next begins before what was launched before has ended
            tid, at = 1 + number % 2, 1000 + 100 * number
            events += [{"ph": "X", "cat": "user_annotation", "name": f"{name}_{number}", "pid": 1, "tid": tid, "ts": at + begin, "dur": 60 - 2 * begin, "args": {}}
                       for begin, name in enumerate(("outer", "inner"))]
            events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": tid, "ts": at + 10, "dur": 5, "args": {"correlation": number + 1}},
                       {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7 + number % 4, "ts": at + 50, "dur": 250,
                        "args": {"device": 0, "context": 1, "stream": 7 + number % 4, "correlation": number + 1}}]
        with open(self.path("threads.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}, file)
        page = Page(self.write_page(file.name))
        texts, shown, first = page.json("index")["labels"]["texts"], {}, 0
        for track in page.json("index")["tracks"]:
            for count in track["rows"]:
                names = sorted(texts[event["label"]] for event in page.events()[first:first + count])
                if track["kind"] == "gpu-ranges":
                    shown.setdefault(track["name"], []).append(names)
                first += count
        for tid in (1, 2):
            rows = shown.pop(f"ranges of thread {tid}")
            self.assertEqual([{name.partition("_")[0] for name in names} for names in rows], [{"outer"}] * 2 + [{"inner"}] * 2)
            self.assertEqual(sorted(int(name.partition("_")[2]) for names in rows[:2] for name in names), list(range(tid - 1, 12, 2)))
        self.assertEqual(shown, {})

    def test_what_has_no_row_stands_together(self):
        page, message = self.limited_page(self.write_kernels([(5000 + 5000 * (n % 2), 20 - 5000 - 5000 * (n % 2)) for n in range(100)]), 0)
        index, events = page.json("index"), page.events()
        track, = index["tracks"]
        last = events[-track["rows"][-1]:]
        self.assertEqual((len(track["rows"]), index["labels"]["texts"][last[0]["label"]]), (65, "(more than 64 in parallel, together)"))
        self.assertEqual(len(events) + index["crowded"] - 1, 100)
        self.assertEqual([event["stack"] for event in last], [index["crowded"]])
        self.assertEqual(last[0]["aux"] + sum(event["duration"] for event in events[:-1]), 750_000_000)
        self.assertIn(f"{index['crowded']} events together in the last row of their track, as too many overlap", message)

    def test_what_has_no_row_is_said_where_short_events_stand_together_too(self):
        trace = self.write_kernels([(5000, -4990)] * 100 + [(5000, 100)] + [(20, 30)] * 1000)
        page, message = self.limited_page(trace, 300)
        index = page.json("index")
        self.assertGreater(index["crowded"], 0)
        self.assertIn(f"{index['grouped']:,} events shorter than", message)
        self.assertIn(f"{index['crowded']:,} events together in the last row", message)

    def test_events_that_stand_together_are_one_for_the_limit(self):
        trace = self.write_kernels([(20, 30), (2, 1), (2, 30)] * 1000)
        page, message = self.limited_page(trace, 1500)
        index = page.json("index")
        self.assertLess(len(page.events()), 1500)
        self.assertGreater(index["grouped"], 2000)
        self.assertIn("add --limit 0", message)
        page, message = self.limited_page(trace, 2000)
        self.assertEqual((len(page.events()), page.json("index")["grouped"], message), (2000, 2000, ""))

    def test_the_policy_allows_the_page_s_own_script_alone(self):
        page = Page(self.write_page(self.record(ZOO)))
        script = re.search(rb"<script>(.*?)</script>", page.head, re.S).group(1)
        wanted = base64.b64encode(hashlib.sha256(script).digest())
        policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', page.head).group(1)
        self.assertEqual(re.findall(rb"script-src ([^;]*)", policy), [b"'sha256-" + wanted + b"'"])
        self.assertIn(b"default-src 'none'", policy)
        for forbidden in (b"innerHTML", b"outerHTML", b"insertAdjacentHTML", b"document.write", b"eval(", b"http://", b"https://"):
            self.assertFalse(forbidden in page.head, forbidden)
        self.assertLess(len(page.head), 250_000)

    def test_the_page_is_the_one_that_is_committed(self):
        with open(os.path.join(support.ROOT, "report", "html", "page.built.html"), "rb") as file:
            built = file.read()
        page = Page(self.write_page(self.record(ZOO)))
        self.assertEqual(built.count(b"@SERVED@"), 1)
        self.assertTrue(page.bytes.startswith(built.replace(b"@SERVED@", b"")))

    def test_no_name_is_text_of_the_page(self):
        page = Page(self.write_page(self.record_hostile()))
        self.assertEqual(page.rest(), b"</body></html>\n")
        texts = page.json("index")["labels"]["texts"]
        for name in NAMES[:-2]:
            self.assertFalse(name.encode() in page.bytes, name)
        self.assertIn(NAMES[0], texts)
        self.assertIn(NAMES[5], texts)

    def test_wrong_command_lines(self):
        for arguments, part in (((), "name trace files"), (("--limit", "x", "a.gpuprof"), "--limit"), (("none.gpuprof",), "none.gpuprof")):
            done = self.run_gpuprof("html", *arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assert_one_line(done.stderr, part)
        trace = self.record(ZOO)
        done = self.run_gpuprof("html", "-o", trace, trace)
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "another file")

    def test_pages_of_the_same_traces_are_the_same(self):
        trace = self.record(RANGES)
        first, second = Page(self.write_page(trace)).bytes, Page(self.write_page(trace)).bytes
        self.assertEqual(first, second)

    def test_it_holds_what_differs_from_another_run(self):
        base = os.path.join(self.folder, "base.gpuprof")
        os.rename(self.record(RANGES), base)
        trace = self.record(ZOO)
        page = Page(self.write_page("--compare", base, trace))
        printed = json.loads(self.run_gpuprof("diff", "--format", "json", base, trace).stdout)
        found = page.json("diff")
        self.assertEqual(found["name"], base)
        self.assertEqual(found["tables"], printed)
        self.assertEqual(found["doubts"], ["program: A: ranges; B: demo", "only A has data on phases of the step: they are not compared"])
        self.assertEqual(found["margin"], {"percent": 5, "ns": 50000})
        self.assertEqual((found["own"], found["runs"]), (trace, [1, 1]))
        self.assertEqual(len(page.columns("basestacks", 2 + len(page.json("about")["measures"]))[0]),
                         len(Page(self.write_page(base)).columns("stacks", 2 + len(page.json("about")["measures"]))[0]))

    def test_of_sets_of_runs_it_holds_what_diff_prints_and_the_run_in_the_middle(self):
        words = self.record_sets()
        page = Page(self.write_page(*words))
        found = page.json("diff")
        self.assertEqual(found["tables"], json.loads(self.run_gpuprof("diff", "--format", "json", *words).stdout))
        self.assertEqual(found["runs"], [5, 5])
        at = words.index("--")
        for name, runs in ((found["name"], words[:at]), (found["own"], words[at + 1:])):
            walls = {run: json.loads(self.run_gpuprof("check", "--write-baseline", "-", run).stdout)["metrics"]["wall"][0] for run in runs}
            self.assertEqual(name, sorted(walls, key=walls.get)[2])
        self.assertEqual(page.text("tables"), Page(self.write_page(*glob.glob(os.path.join(found["own"], "*")))).text("tables"))
        for arguments, part in ((("--compare", words[0], words[0], "--", words[1]), "--compare"), ((words[0], "--"), "name trace files"),
                                (("-o", "page.html", words[0], "--", "none.gpuprof"), "none.gpuprof"), ((words[0], "--", words[-1]), "-o OUT"), (("-o", words[0], words[0], "--", words[-1]), "another file")):
            done = self.run_gpuprof("html", *arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assert_one_line(done.stderr, part)

    def test_what_cannot_be_compared_with_replaces_no_page(self):
        trace = self.record(ZOO)
        with open(self.write_page("--compare", trace, trace), "rb") as file:
            before = file.read()
        done = self.run_gpuprof("html", "-o", self.path("page.html"), "--compare", "none.gpuprof", trace)
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "none.gpuprof")
        with open(self.path("page.html"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_the_page_is_written_after_a_run(self):
        done = self.run_program([ZOO], options=("-o", "out", "--chrome", "none", "--html"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("out.html", done.stderr)
        self.assertEqual(Page(self.path("out.html")).text("end"), b"end")


class PaletteTest(unittest.TestCase):
    """Kinds of kernels are told apart by their colours, whatever one's eyes are."""
    # Machado, Oliveira, Fernandes 2009, severity 1
    SIGHTS = {"normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
              "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
              "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
              "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900))}
    KINDS = ("gemm", "attention", "elementwise", "reduce", "norm", "comm", "copy", "other")
    LEAST = 12  # of a difference between two colours that lie side by side

    @staticmethod
    def lab(color, sight):
        linear = [(v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4) for v in (int(color[i:i + 2], 16) / 255 for i in (1, 3, 5))]
        r, g, b = (min(1, max(0, sum(m * v for m, v in zip(row, linear)))) for row in sight)
        xyz = ((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)
        x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)

    def test_kinds_of_kernels_differ_for_every_sight(self):
        with open(os.path.join(support.ROOT, "report", "html", "web", "base.js"), encoding="utf-8") as file:
            hues = re.search(r"const HUES = (\{.*?\n\});", file.read(), re.S).group(1)
        for theme in ("light", "dark"):
            colors = dict(re.findall(r"(\w+): '(#\w{6})'", re.search(theme + r": (\{.*?\})", hues, re.S).group(1)))
            for name, sight in self.SIGHTS.items():
                labs = {kind: self.lab(colors[kind], sight) for kind in self.KINDS}
                for one, other in itertools.combinations(self.KINDS, 2):
                    self.assertGreater(math.dist(labs[one], labs[other]), self.LEAST, (theme, name, one, other))

    def test_ranges_do_not_look_like_calls(self):
        with open(os.path.join(support.ROOT, "report", "html", "web", "base.js"), encoding="utf-8") as file:
            script = file.read()
        sight = self.SIGHTS["normal"]
        for theme in ("light", "dark"):
            hues, ranges = (re.search(rf"const {name} = \{{.*?\b{theme}: ([\[{{].*?[\]}}])", script, re.S).group(1) for name in ("HUES", "RANGE_HUES"))
            calls = {kind: color for kind, color in re.findall(r"(\w+): '(#\w{6})'", hues) if kind in ("launch", "sync", "mem", "call")}
            self.assertEqual(len(calls), 4)
            for one, (kind, color) in itertools.product(re.findall(r"#\w{6}", ranges), calls.items()):
                self.assertGreater(math.dist(self.lab(one, sight), self.lab(color, sight)), self.LEAST, (theme, one, kind))

    def test_idle_causes_differ_from_each_other_and_from_work_for_every_sight(self):
        with open(os.path.join(support.ROOT, "report", "html", "web", "base.js"), encoding="utf-8") as file:
            script = file.read()
        for theme in ("light", "dark"):
            idle, work = (re.findall(r"#\w{6}", re.search(rf"const {name} = \{{.*?\b{theme}: (\[.*?\])", script, re.S).group(1))
                          for name in ("IDLE_COLORS", "STATE_COLORS"))
            self.assertEqual((len(idle), len(work)), (10, 7))
            for name, sight in self.SIGHTS.items():
                labs = {color: self.lab(color, sight) for color in idle + work}
                for one, other in (*itertools.combinations(idle, 2), *itertools.product(idle, work)):
                    self.assertGreater(math.dist(labs[one], labs[other]), self.LEAST, (theme, name, one, other))


class BrowserTest(HtmlCase):
    """In a real one."""

    def setUp(self):
        super().setUp()
        self.browser = browser.share(self)

    def open(self, path, **more):
        return self.browser.open(path, **more)

    def go(self, view):
        self.browser.run(f"document.querySelector('[data-view={view}]').click()")
        self.browser.frames()

    def ink(self, selector):
        """How many colours a canvas has."""
        return self.browser.run(f"""(() => {{ const canvas = document.querySelector({json.dumps(selector)});
            const data = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            return new Set(data).size; }})()""")

    def assert_no_problem(self):
        self.assertEqual(self.browser.problems, [])

    def test_every_view_is_drawn(self):
        self.assertEqual(self.open(self.write_page(self.record(ZOO))), "all")
        run = self.browser.run
        self.assertEqual(run("gpuprof.checksums()"), run("gpuprof.state.index.sums"))
        self.assertGreater(run("document.querySelectorAll('.card').length"), 4)
        self.assertGreater(self.ink("#view-overview canvas"), 1)
        for view in ("timeline", "flame", "memory", "kernels"):
            self.go(view)
            self.assertGreater(self.ink(f"#view-{view} canvas"), 5, view)
        self.assertRegex(run("gpuprof.timeline.legend.textContent"), "copies, memsets.*launches")
        self.go("tables")
        self.assertGreater(run("document.querySelectorAll('#view-tables .row').length"), 1)
        for word in run("gpuprof.state.tables.map((table) => table.word)"):
            run(f"gpuprof.views.tables.open({json.dumps(word)})")
            self.assertTrue(run("document.querySelectorAll('#view-tables .row').length"), word)
        self.assertTrue(run("document.getElementById('banner').hidden"))
        self.assert_no_problem()

    def test_of_very_many_steps_the_page_says_how_many_it_has(self):
        for count, kept, title in ((6000, 6000, "steps"), (50100, 50000, "first 50,000 of 50,100 steps")):
            done = self.run_program([*support.GPU, f"iterate={count}"], options=("-o", f"of-{count}", "-s", "none", "--chrome", "none", "--stacks", "none"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.open(self.write_page(self.path(f"of-{count}.gpuprof")))
            run = self.browser.run
            self.assertEqual(run("gpuprof.state.tables.find((table) => table.word === 'iteration').rows.length"), kept)
            self.assertEqual(run("gpuprof.timeline.items.filter((item) => item.kind === 'steps').map((item) => [item.title, item.rows.length])"), [[title, kept]])
            self.assertEqual(run("document.getElementById('view-overview').textContent").count(f"; the {title}"), count - kept and 1)
        self.assert_no_problem()

    def test_seven_kernels_of_no_known_kind_differ_for_every_sight(self):
        self.open(self.write_page(self.write_kernels([(10 + number, 5) for number in range(7)])))
        colors = self.browser.run("""(() => { const { kinds, texts } = gpuprof.state.index.labels;
            return texts.map((text, i) => [kinds[i], gpuprof.timeline.rgb[i]]).filter(([kind]) => kind === 'k').map(([, rgb]) => '#' + rgb.map((part) => part.toString(16).padStart(2, '0')).join('')); })()""")
        self.assertEqual(len(set(colors)), 7)
        for name, sight in PaletteTest.SIGHTS.items():
            for one, other in itertools.combinations(colors, 2):
                self.assertGreater(math.dist(PaletteTest.lab(one, sight), PaletteTest.lab(other, sight)), PaletteTest.LEAST, (name, one, other))
        self.assert_no_problem()

    def test_gpus_of_one_kind_are_counted_whatever_the_program_calls_them(self):
        program = self.compile("named", NAMED_GPUS, "-I" + (os.environ.get("CUDA_HOME") or "/usr/local/cuda") + "/include", f"-L{BUILD}/sim", "-lcudart", "-ldl")
        done = self.run_program([program], options=("-o", "named", "--chrome", "none"), GPUSIM_DEVICES=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.open(self.write_page(self.path("named.gpuprof")))
        self.assertRegex(self.browser.run("document.getElementById('what').textContent"), "^named · 2 × [^(,]+ · ")

    def test_a_job_has_its_ranks_and_a_line_for_each_of_many_gpus(self):
        for rank in range(9):
            done = self.run_program([*support.GPU, "launch=3"], options=("-o", self.path("job-%r")), RANK=rank, WORLD_SIZE=10, GPUSIM_NODE=rank)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.open(self.write_page(self.folder))
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.gpus.heat .gpu b')].map((b) => b.textContent).filter((text) => text.startsWith('rank'))"),
                         [f"rank {rank}" for rank in range(9)])
        self.assertIn("9 of 10; no trace of rank 9;", self.browser.run("document.getElementById('view-overview').textContent"))
        self.assert_no_problem()

    def test_a_large_job_has_a_map_of_all_ranks(self):
        """Rank 5 is late on its host, the kernels of rank 792 take longer, rank 17 was killed, and rank 40 has no trace."""
        make = os.path.join(BUILD, "bench", "ranks")
        if not os.path.exists(make):
            self.skipTest("needs build/bench/ranks")
        subprocess.run([make, "1056", "16", self.path("job")], check=True)
        self.open(self.write_page(self.path("job")))
        run = self.browser.run
        run("document.querySelector('.rankmap select').selectedIndex = 0")
        self.assertEqual(run("gpuprof.state.rankMap.ranks.length"), 1055)
        self.assertIn("a row has 6 ranks", run("document.getElementById('view-overview').textContent"))
        means = run("""(() => { const { shares, parts, ranks } = gpuprof.state.rankMap;
            return Object.fromEntries([0, 5, 17, 792].map((rank) => { const at = ranks.findIndex((row) => row.Rank === rank),
                known = [...shares.subarray(at * parts, (at + 1) * parts)].filter((share) => share !== 255);
                return [rank, [known.length / parts, known.reduce((a, b) => a + b, 0) / known.length / 2]]; })); })()""")
        self.assertEqual([round(means[rank][0], 1) for rank in ("0", "5", "17", "792")], [1] * 4)
        self.assertAlmostEqual(means["17"][1], means["0"][1] / 2, delta=1)
        self.assertGreater(means["792"][1], 1.3 * means["0"][1])
        run("(() => { const input = document.querySelector('.rankmap input'); input.value = '792'; input.dispatchEvent(new Event('change')); })()")
        self.assertRegex(run("document.querySelector('.rankfacts').textContent"), r"^rank 792 on node99: step .*, held up ")
        self.assertEqual(run("gpuprof.state.rankMap.count"), 17)
        run("document.querySelector('.rankmap button').click()")
        self.assertEqual(run("document.querySelector('.rankfacts').textContent"), "Shown: ranks 0 to 1055, node0 to node131.")
        self.assert_no_problem()

    def test_every_card_leads_to_where_its_figure_is_from(self):
        self.open(self.write_page(self.record(ZOO)))
        run = self.browser.run
        leads = run("document.querySelectorAll('.card .go').length")
        self.assertEqual(leads, run("document.querySelectorAll('.card').length"))
        views = []
        for i in range(leads):
            self.go("overview")
            run(f"document.querySelectorAll('.card .go')[{i}].click()")
            views.append(run("document.querySelector('[data-view][aria-selected=true]').dataset.view"))
        self.assertEqual(views, ["tables", "timeline", "tables", "kernels", "flame", "tables", "tables", "memory"])
        self.assert_no_problem()

    def test_shares_and_what_was_never_freed_are_as_in_the_summary(self):
        trace = self.record(ZOO)
        self.open(self.write_page(trace))
        run, summary = self.browser.run, self.run_gpuprof("summary", "--full", trace).stdout
        rows = run("[...document.querySelectorAll('#view-overview .mini')[0].querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
        self.assertGreater(len(rows), 3)
        for _, percent, total, count, average in rows:
            self.assertRegex(summary, rf"(?m)^ +{percent} +{total} +{count} +{average} ")
        left = re.search(r"(?m)^Never freed: .*$", summary).group(0)
        for view in ("overview", "memory"):
            self.go(view)
            self.assertIn(left, run(f"document.getElementById('view-{view}').innerText"))
        self.assert_no_problem()

    def test_figures_are_rounded_as_in_the_summary(self):
        """2,112 KiB are 2.0625 MiB: as near to 2.062 as to 2.063."""
        trace = self.record(*support.GPU, "leak=2112")
        self.assertRegex(self.run_gpuprof("summary", trace).stdout, r"\n +2\.062MiB ")
        self.open(self.write_page(trace))
        self.assertIn("2.062MiB", self.browser.run("document.getElementById('view-overview').innerText"))
        self.assert_no_problem()

    def test_its_figures_are_those_of_the_text(self):
        for program in (ZOO, RANGES, *(os.path.join(BUILD, "programs", name) for name in ("allocs", "graph", "streams", "fail", "windows", "copies"))):
            trace = self.record(program)
            self.open(self.write_page(trace))
            page = self.browser.run(shown.OF_PAGE)
            words = ",".join(word for word, _ in page["tables"])
            texts = [self.run_gpuprof(*arguments, trace).stdout for arguments in
                     (("summary", "--full"), ("advice",), ("summary", "--by", words, "--format", "markdown", "--top", "0"))]
            self.assertEqual(shown.differences(page, *texts), [], program)
        self.assertIsNotNone(shown.of_text(*texts[:2])["span"])
        self.assertGreater(sum(len(rows) for _, rows in page["tables"]), 20)

    def test_a_gpu_that_is_not_used_makes_the_others_no_less_busy(self):
        self.open(self.write_page(self.record_of_two(os.path.join(BUILD, "programs", "demo"), "3")))
        text = self.run_gpuprof("summary", self.path("two.gpuprof")).stdout
        busy = re.search(r"\n  GPU 0 +(<?[\d.]+ %) busy", text).group(1)
        self.assertRegex(text, r"\n  GPU 1 +0\.0 % busy")
        shown_card = self.browser.run(shown.OF_PAGE)["cards"]["GPU busy"]
        self.assertEqual(shown_card[0], busy)
        self.assertIn("1 GPU without operations not counted", shown_card)
        self.assert_no_problem()

    def test_of_what_is_not_known_no_cause_is_shown(self):
        """All operations of a program that was killed are missing."""
        self.run_program([*support.GPU, "launch=3", "raise=9"], options=("-o", "killed", "--chrome", "none"), GPUSIM_FAULT="flush-hangs")
        self.open(self.write_page(self.path("killed.gpuprof")))
        page = self.browser.run(shown.OF_PAGE)
        for card in ("GPU busy", "Kernels", "GPU time", "Copies"):
            self.assertEqual(page["cards"][card][0], "not known")
        self.assertEqual((page["cards"]["Kernels"][1:], page["cards"]["Copies"][1:]), (["3 launches"], []))
        self.assertNotIn("0ns of", self.browser.run("document.getElementById('view-overview').innerText"))
        self.assertNotIn("Where the GPU", " ".join(page["bars"]))
        self.assert_no_problem()

    def test_calls_that_failed_have_a_name_and_a_place(self):
        trace = self.record(os.path.join(BUILD, "programs", "fail"))
        first = json.loads(self.run_gpuprof("summary", "--by", "failure", "--format", "json", trace).stdout)["rows"][0]
        self.open(self.write_page(trace))
        told = self.browser.run(shown.OF_PAGE)["cards"]["CUDA calls"][2]
        self.assertRegex(told, r"^\d+ failed: " + re.escape(f"{first['Name']} ({first['Meaning']})"))
        self.browser.run("[...document.querySelectorAll('.card button')].find((one) => one.textContent.startsWith('Failed calls')).click()")
        self.browser.frames()
        self.assertIn(first["Error"], self.browser.run("document.getElementById('view-tables').innerText"))
        self.assert_no_problem()

    def test_memory_of_the_host_stands_beside_the_peak_of_a_gpu(self):
        trace = self.record(os.path.join(BUILD, "programs", "copies"))
        text = self.run_gpuprof("summary", "--full", trace).stdout
        pinned = re.search(r"^ +(\S+) .* pinned host$", text, re.M).group(1)
        self.open(self.write_page(trace))
        self.assertIn(f"{pinned} pinned host", " ".join(self.browser.run(shown.OF_PAGE)["cards"]["Peak memory"]))

    def test_what_ran_for_little_time_is_seen_over_time(self):
        trace = self.write_kernels([(10, 200000)] * 20, alike=True)
        self.open(self.write_page(trace))
        drawn = self.browser.run("(() => { const canvas = document.querySelector('canvas[data-gpu]'), { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height),"
                                 " heights = new Map(); for (let i = 3; i < data.length; i += 4) if (data[i] > 200) { const x = ((i - 3) / 4) % canvas.width;"
                                 " heights.set(x, (heights.get(x) || 0) + 1); } return [...heights.values()]; })()")
        self.assertGreaterEqual(len(drawn), 20)
        self.assertGreaterEqual(min(drawn), 4)

    def test_an_operation_that_all_figures_hang_on_is_told(self):
        trace = self.write_kernels([(100, 10)] * 10 + [(60000, 10)] + [(100, 10)] * 10, alike=True)
        self.open(self.write_page(trace))
        words = "outlier one of 21 step took 60.00ms, 96.8 % of all GPU time"
        self.assertIn(words, " ".join(self.run_gpuprof("summary", trace).stdout.split()))
        self.assertIn(words, self.browser.run("document.querySelector('#view-overview .outlier').textContent"))
        self.assert_no_problem()

    def test_advice_is_of_the_time_in_which_any_process_lived(self):
        """One process after the other: the title has the time from the first to the last call of all, with what lies between."""
        traces = [self.path(name) for name in ("first.gpuprof", "second.gpuprof")]
        for trace in traces:
            os.rename(self.record(*support.GPU, "leak=20000"), trace)
        self.open(self.write_page(*traces))
        page = self.browser.run(shown.OF_PAGE)
        span = shown.of_text(*(self.run_gpuprof(word, *traces).stdout for word in ("summary", "advice")))["advice span"]
        self.assertIsNotNone(span)
        self.assertIn(f" of {span}", page["adviceOf"])
        self.assertNotEqual(span, page["cards"]["Time"][0])

    def test_copies_are_named_by_their_direction(self):
        self.open(self.write_page(self.record(ZOO)))
        rows = "[...[...document.querySelectorAll('#view-overview section')].find((one) => one.textContent.startsWith('Copies and memsets')).querySelectorAll('tbody tr')]"
        copies = self.browser.run(rows + ".map((row) => [row.cells[0].textContent, row.cells[0].title])")
        self.assertTrue(copies)
        for shown, whole in copies:
            self.assertIn(whole, (f"[{shown}]", f"[memcpy {shown}]"))
        self.assert_no_problem()

    def test_long_names_show_where_they_differ(self):
        path = self.write_kernels([(20, 30), (10, 30), (5, 30)])
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        names = [f"sm80_xmma_gemm_f32f32_f32f32_f32_{kind}_tilesize64x64x8_stage3_warpsize1x4x1_execute_kernel__5x_cublas" for kind in ("nt_n", "tn_n", "nn_n")]
        for event, name in zip(trace["traceEvents"], names):
            event["name"] = name
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        self.open(self.write_page(path))
        run = self.browser.run
        marks = ("(() => { const inside = (mark) => { const box = mark.parentNode.getBoundingClientRect(), own = mark.getBoundingClientRect(); return mark.scrollWidth <= mark.clientWidth && own.left > box.left && own.right <= box.right; }; "
                 "return [...document.querySelectorAll('#view-%s .mark')].map((mark) => [mark.textContent.slice(0, 4), mark.parentNode.textContent, inside(mark)]); })()")
        for width in (1280, 1366, 2560):
            self.browser.resize(width, 900)
            for view in ("overview", "kernels", "tables"):
                self.go(view)
                self.browser.frames()
                self.assertEqual(sorted(run(marks % view)), sorted([name[33:37], name, True] for name in names), (width, view))
        run("(() => { const cut = document.querySelector('#view-tables .mark').parentNode; getSelection().setBaseAndExtent(cut.querySelector('span').firstChild, 0, cut.lastChild.firstChild, cut.lastChild.textContent.length); })()")
        copied = "(() => { const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true }); document.dispatchEvent(event); return event.clipboardData.getData('text/plain'); })()"
        self.assertIn(run(copied), names)
        self.assert_no_problem()

    def test_nothing_is_wider_than_a_narrow_window(self):
        path = self.write_page(self.record(RANGES))
        self.browser.resize(420, 800)
        self.open(path)
        for view in ("overview", "timeline", "kernels", "flame", "memory", "tables"):
            self.go(view)
            width = self.browser.run(f"Math.max(...[...document.querySelectorAll('#view-{view} *')].filter((one) => !one.closest('.grid, pre, dialog, .frames')).map((one) => one.getBoundingClientRect().right))")
            self.assertLessEqual(width, 421, view)
        self.assert_no_problem()

    def test_tables_sort_and_search(self):
        self.open(self.write_page(self.record(ZOO)))
        self.go("tables")
        run = self.browser.run
        run("gpuprof.views.tables.open('api')")
        totals = "gpuprof.views.tables.grid.shown.map((i) => gpuprof.views.tables.grid.rows[i][gpuprof.views.tables.grid.sortColumn])"
        self.assertEqual(run(totals), sorted(run(totals), reverse=True))
        run("document.querySelectorAll('#view-tables .head button')[0].click()")
        self.assertEqual(run(totals), sorted(run(totals), key=str.lower))
        run("gpuprof.views.tables.grid.node.focus()")
        title = "document.activeElement.closest('.head') && document.activeElement.textContent"
        self.browser.key("Tab")
        self.assertEqual(run(title), "Name ▴")
        run("gpuprof.views.tables.grid.layout()")  # as when the window is made larger
        self.assertEqual(run(title), "Name ▴")
        self.browser.key("ArrowRight")
        self.browser.key("ArrowRight")
        self.browser.key("Enter")
        self.assertEqual(run(title), "Total ▾")
        self.assertEqual(run(totals), sorted(run(totals), reverse=True))
        self.browser.key("Enter")
        self.assertEqual(run(title), "Total ▴")
        self.assertEqual(run(totals), sorted(run(totals)))
        before = run("gpuprof.views.tables.grid.shown.length")
        run("document.getElementById('search').focus()")
        self.browser.type("launch")
        run("new Promise((done) => setTimeout(done, 300))")
        self.assertLess(run("gpuprof.views.tables.grid.shown.length"), before)
        self.assertTrue(all("launch" in name.lower() for name in run("gpuprof.views.tables.grid.shown.map((i) => gpuprof.views.tables.grid.rows[i][0])")))
        self.assert_no_problem()

    def test_timeline_by_keys_and_mouse(self):
        self.open(self.write_page(self.record(ZOO)))
        self.browser.key("2")
        run, width = self.browser.run, "gpuprof.timeline.t1 - gpuprof.timeline.t0"
        everything = run(width)
        self.browser.key("w")
        self.browser.key("w")
        self.assertAlmostEqual(run(width), everything * 0.49, delta=everything * 0.01)
        self.browser.key("0")
        self.assertAlmostEqual(run(width), everything, delta=everything * 0.01)
        kernel = run("""(() => { const { ev, index } = gpuprof.state; let i = 0; while (index.labels.kinds[ev.label[i]] !== 'k') i++;
            gpuprof.timeline.show(ev.start[i] - ev.dur[i], ev.start[i] + 2 * ev.dur[i]); return i; })()""")
        self.browser.frames()
        x, y = run(f"""(() => {{ const place = gpuprof.timeline.placeOf({kernel}), box = gpuprof.timeline.canvas.getBoundingClientRect();
            return [box.left + (place.x0 + place.x1) / 2, box.top + (place.y0 + place.y1) / 2]; }})()""")
        self.browser.click(x, y)
        self.assertEqual(run("gpuprof.timeline.selected"), kernel)
        self.assertFalse(run("document.querySelector('.drawer').hidden"))
        self.browser.key("[")
        call = run("gpuprof.timeline.selected")
        self.assertEqual(run(f"gpuprof.state.index.labels.kinds[gpuprof.state.ev.label[{call}]]"), "a")
        self.browser.key("]")
        self.assertEqual(run("gpuprof.timeline.selected"), kernel)
        self.browser.key("m")
        self.assertIn("Selected", run(DRAWER_OF % "✕Selected"))
        self.browser.key("Escape")
        self.assertIn("In view: ", run(DRAWER_OF % "In view"))
        run("gpuprof.timeline.drawer.replaceChildren(); gpuprof.timeline.show(-0.4 * gpuprof.state.end, 0.4 * gpuprof.state.end)")
        self.assertRegex(run(DRAWER_OF % "In view"), r"^In view: [0-9.]+[num]?s from (the first CUDA call|[0-9.]+[num]?s before the first CUDA call)( ·|; of the )")
        self.browser.resize(1366, 400)
        self.browser.frames()
        self.assertTrue(run("document.querySelector('.drawer').hidden"))
        self.assert_no_problem()

    def test_timeline_leads_to_where_the_gpu_works(self):
        run = self.browser.run
        self.open(self.write_page(self.record(ZOO)), hash_text="#v=timeline")
        inside = """(() => { const { t0, t1 } = gpuprof.timeline, [{ union }] = gpuprof.state.devices.values();
            return union.start.reduce((sum, start, i) => sum + Math.max(0, Math.min(t1, union.end[i]) - Math.max(t0, start)), 0) / union.cum.at(-1); })()"""
        for act in (lambda: self.browser.key("g"), lambda: run("document.querySelectorAll('.jumps button')[1].click()")):
            self.browser.key("0")
            self.assertAlmostEqual(run(inside), 1)
            act()
            self.assertGreaterEqual(run(inside), 0.9)
            self.assertLess(run("gpuprof.timeline.t1 - gpuprof.timeline.t0"), run("gpuprof.state.end"))
        self.assert_no_problem()

    def test_names_in_little_room_lose_their_namespaces_first(self):
        self.open(self.write_page(self.record(ZOO)))
        self.browser.run("globalThis.paper = document.createElement('canvas').getContext('2d'); paper.font = '12px monospace'")
        for name, room, shown in (("at::native::add_kernel<at::Tensor>", 40, "at::native::add_kernel<at::Tensor>"), ("at::native::add_kernel<at::Tensor>", 32, "native::add_kernel<at::Tensor>"),
                                  ("at::native::add_kernel<at::Tensor>", 11, "add_kernel…"), ("at::_ops::mm::call", 10, "mm::call"), ("at::_ops::mm::call", 5, "mm::…"), ("void f(a::b)", 7, "void f…"), ("f", 0, "")):
            self.assertEqual(self.browser.run(f"gpuprof.fitText(paper, {json.dumps(name)}, paper.measureText({json.dumps(name)}).width, {room} * paper.measureText('x').width + 1)"), shown)
        for room, shown in ((20, "sm80_xmma_gemm_nt_64"), (15, "sm80_…nt_64"), (10, "…nt_64"), (4, "…nt…")):
            self.assertEqual(self.browser.run(f"gpuprof.fitText(paper, 'sm80_xmma_gemm_nt_64', paper.measureText('sm80_xmma_gemm_nt_64').width, {room} * paper.measureText('x').width + 1, 15)"), shown)
        self.assert_no_problem()

    def test_a_finding_keeps_the_names_that_it_begins_with(self):
        self.open(self.write_page(self.record(ZOO)))
        for text, shown in (("code was loaded", "Code was loaded."), ("cudaDeviceSynchronize waits", "cudaDeviceSynchronize waits."), ("a_kernel<int> takes", "a_kernel<int> takes."),
                            ("run() takes", "run() takes."), ("at::copy takes", "at::copy takes."), ("4 copies", "4 copies."), ("gpuprof records", "gpuprof records.")):
            self.assertEqual(self.browser.run(f"gpuprof.sentence({json.dumps(text)})"), shown)
        self.assert_no_problem()

    def show_findings(self, *findings):
        rules = [{"rule": finding["rule"], "meaning": "", "ignore": ""} for finding in findings]
        self.browser.run(f"Object.assign(gpuprof.state.about.advice, {{ findings: {json.dumps(findings)}, rules: {json.dumps(rules)} }})")

    def test_a_finding_shows_its_longest_call(self):
        self.open(self.write_page(self.record(ZOO)))
        finding = {"rule": "copies", "title": "copies", "found": "8 copies", "change": "copy less", "call_site": "", "called_by": "", "when": "", "saves_ns": 9, "saves_share": 1e-6, "worth_share": 1e-6, "recurs": True, "worth": "9ns", "show_at_ns": 1000, "show_ns": 2000}
        run = self.browser.run
        self.show_findings(finding, {**finding, "show_at_ns": None, "show_ns": None, "saves_ns": 0, "worth": "150.0MiB"})
        run("gpuprof.views.overview.theme()")
        self.assertEqual(run("[...document.querySelectorAll('.advice article')].map((one) => !!one.querySelector('.see'))"), [True, False])
        self.assertEqual(run("[...document.querySelectorAll('.advice article .num')].map((one) => one.innerText.trim())"), ["9ns\n<0.1 %", "150.0MiB"])
        run("document.querySelector('.advice .see').click()")
        self.browser.frames()
        self.assertEqual(run("gpuprof.timeline.span.map((t) => t - gpuprof.state.index.zero)"), [1000, 3000])
        self.assertFalse(run("document.getElementById('view-timeline').hidden"))
        self.assert_no_problem()

    def test_a_finding_about_the_loop_leads_to_an_iteration(self):
        self.open(self.write_page(self.write_kernels([(40, 10), (5, 3000)] + [(40, 10), (5, 100)] * 20)))
        run = self.browser.run
        finding = {"rule": "slow", "title": "slow", "found": "cudaMemcpyAsync and kernels are slow", "change": "none", "call_site": "", "called_by": "", "when": "", "saves_ns": 9, "saves_share": 1e-6, "worth_share": 1e-6, "recurs": True, "saves_in_loop_ns": 9, "worth": "9ns"}
        self.show_findings(finding)
        run("gpuprof.views.overview.theme()")
        run("document.querySelector('.advice .see').click()")
        self.browser.frames()
        self.assertAlmostEqual(run("gpuprof.timeline.span[1] - gpuprof.timeline.span[0]"), 155000, delta=1000)
        self.assertEqual(run("[gpuprof.state.search, document.getElementById('search').value]"), ["", ""])
        self.assert_no_problem()

    def test_a_finding_leads_to_tables_of_the_page_and_not_to_commands(self):
        self.open(self.write_page(self.record(ZOO)))
        run = self.browser.run
        text = {"when": "", "call_site": "", "called_by": "", "worth": "9ns", "saves_ns": 9, "saves_share": 1e-6, "worth_share": 1e-6, "recurs": True}
        self.show_findings({"rule": "x", "title": "x", "found": "slow", "change": "look; more: gpuprof summary --by api,gap --top 20 FILE, gpuprof trace host FILE", **text},
                           {"rule": "y", "title": "y", "found": "`gpuprof summary --memory` shows it", "change": "see gpuprof export FILE; or `gpuprof explain y`", **text})
        run("gpuprof.views.overview.theme()")
        self.assertEqual(run("[...document.querySelectorAll('.advice .change')].map((one) => one.textContent)"),
                         ["→ Look; more: API calls, Longest idle times, timeline.", "→ See timeline; or gpuprof explain y."])
        places = []
        for i in range(run("document.querySelectorAll('.advice p .go').length")):
            self.go("overview")
            run(f"document.querySelectorAll('.advice p .go')[{i}].click()")
            places.append(run("document.querySelector('[data-view][aria-selected=true]').dataset.view + ' ' + (gpuprof.views.tables.hash().table ?? '')"))
        self.assertEqual(places, ["tables api", "tables gap", "timeline gap", "memory gap", "timeline gap"])
        self.assert_no_problem()

    def test_rows_that_are_times_lead_to_the_timeline(self):
        self.open(self.write_page(self.write_kernels([(40, 10), (5, 100)] * 20)))
        run = self.browser.run
        shown = "[document.querySelector('[data-view][aria-selected=true]').dataset.view, gpuprof.timeline.span.map((t) => t - gpuprof.state.index.zero)]"
        for word, duration in (("iteration", "Wall"), ("gap", "Duration")):
            self.go("tables")
            run(f"gpuprof.views.tables.open('{word}')")
            rows = run("(() => { const { columns, rows } = gpuprof.state.tables.find((one) => one.word === '%s'), of = (name) => columns.findIndex(([title]) => title === name); "
                       "return rows.map((row) => [row[of('Start')], row[of('Start')] + row[of('%s')]]); })()" % (word, duration))
            order = run("gpuprof.views.tables.grid.shown")
            run("document.querySelectorAll('#view-tables .row')[1].click()")
            self.assertEqual(run(shown), ["timeline", rows[order[1]]])
            self.assertLess(run("gpuprof.timeline.t1 - gpuprof.timeline.t0"), 2 * (rows[order[1]][1] - rows[order[1]][0]))
            self.go("tables")
            run("gpuprof.views.tables.grid.node.focus()")
            self.browser.key("ArrowDown")
            self.assertEqual(run("document.querySelector('[data-view][aria-selected=true]').dataset.view"), "tables")
            self.browser.key("Enter")
            self.assertEqual(run(shown), ["timeline", rows[order[2]]])
        self.assert_no_problem()

    def test_steps_have_a_track_of_the_timeline(self):
        path = self.write_kernels([(40, 10), (5, 100)] * 20)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        trace["traceEvents"] += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": one["ts"] - 4, "dur": 2, "args": {"correlation": one["args"]["correlation"]}}
                                 for one in trace["traceEvents"]]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        self.open(self.write_page(path), hash_text="#v=timeline")
        run = self.browser.run
        x, y, number, span = run("(() => { const tl = gpuprof.timeline, { y, h, rows } = tl.items.find((item) => item.kind === 'steps'), row = rows[7], a = gpuprof.state.index.zero + row.Start, "
                                 "box = tl.canvas.getBoundingClientRect(); return [box.left + tl.toX(a + row.Wall / 2), box.top + 60 + y - tl.y + h / 2, row.Number, [a, a + row.Wall]]; })()")
        self.browser.mouse("mouseMoved", x, y)
        self.assertEqual(run("document.querySelector('#tip:not([hidden]) b').textContent"), f"step {number}")
        self.browser.click(x, y)
        self.assertEqual(run("gpuprof.timeline.span"), span)
        self.assertIn(f"Step {number}", run(DRAWER_OF % "✕Selected"))
        self.assert_no_problem()

    def test_a_table_of_one_row_is_names_and_values_and_equal_values_have_no_column(self):
        self.open(self.write_page(self.write_kernels([(40, 10), (5, 100)] * 20)))
        self.go("tables")
        run = self.browser.run
        run("gpuprof.views.tables.open('device')")
        pairs = run("[...document.querySelectorAll('#view-tables dl .row')].map((row) => [...row.children].map((one) => one.textContent))")
        columns = run("gpuprof.state.tables.find((one) => one.word === 'device').columns.map(([title]) => title)")
        self.assertGreater(len(pairs), 3)
        self.assertEqual([name for name, _ in pairs if name not in columns], [])
        self.assertIn(["Kernels", "40"], pairs)
        run("gpuprof.views.tables.open('iteration')")
        heads = run("gpuprof.views.tables.grid.columns.map(({ title }) => title)")
        told = run("document.querySelector('#view-tables .constants').textContent")
        self.assertNotIn("PID", heads)
        self.assertIn("Number", heads)
        self.assertRegex(told, r"PID \d+ · Device 0")
        head, *lines = [line.split(",") for line in run("gpuprof.views.tables.grid.csv()").splitlines()]
        self.assertEqual({line[head.index("Device")] for line in lines}, {"0"})
        self.assertEqual(len(lines), 20)
        self.assert_no_problem()

    def test_tables_of_a_narrow_window_show_their_columns(self):
        self.browser.resize(800, 900)
        self.open(self.write_page(self.record(ZOO)))
        run = self.browser.run
        for view in ("kernels", "tables"):
            self.go(view)
            cut = run(f"[...document.querySelectorAll('#view-{view} .head button')].filter((one) => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth).map((one) => one.textContent)")
            self.assertEqual(cut, [], view)
        choose = "document.querySelector('#view-tables select')"
        self.assertEqual(run(f"[...{choose}.options].map((one) => one.value).sort()"), run("gpuprof.state.tables.map((one) => one.word).sort()"))
        run(f"{choose}.value = 'api'; {choose}.dispatchEvent(new Event('change'))")
        self.assertEqual(run("gpuprof.views.tables.hash().table"), "api")
        listed = "[...document.querySelectorAll('#view-tables .side, #view-tables .narrow')].map((one) => getComputedStyle(one).display)"
        self.assertEqual(run(listed), ["none", "flex"])
        self.browser.resize(1366, 768)
        self.assertEqual(run(listed), ["block", "none"])
        self.assert_no_problem()

    def test_a_tip_goes_when_its_frame_does(self):
        self.open(self.write_page(self.record(os.path.join(BUILD, "programs", "places"))))
        self.go("flame")
        run = self.browser.run
        left, top = run("(() => { const box = document.querySelector('#view-flame canvas:last-of-type').getBoundingClientRect(); return [box.left, box.top]; })()")
        hidden = "document.getElementById('tip').hidden"
        for act in (lambda: self.browser.key("i"), lambda: self.browser.mouse("mouseWheel", left + 60, top + 8, deltaX=0, deltaY=10)):
            self.browser.mouse("mouseMoved", left + 50, top + 8)
            self.browser.mouse("mouseMoved", left + 60, top + 8)
            self.assertFalse(run(hidden))
            act()
            self.browser.frames()
            self.assertTrue(run(hidden))
        self.assert_no_problem()

    def test_a_long_name_in_the_drawer_is_cut_with_dots(self):
        path = self.write_kernels([(20, 30)])
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        trace["traceEvents"][0]["name"] = "void " + "long_name " * 30
        trace["traceEvents"].append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 990, "dur": 5, "args": {"correlation": 1}})
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        self.open(self.write_page(path), hash_text="#v=timeline")
        run = self.browser.run
        self.browser.key("l")
        self.browser.key("[")
        box = run("(() => { const one = document.querySelector('.facts button'), fact = one.closest('dd').getBoundingClientRect(), own = one.getBoundingClientRect(); "
                  "return [one.scrollWidth > one.clientWidth, own.right <= fact.right + 1, own.height < 30, getComputedStyle(one).textOverflow]; })()")
        self.assertEqual(box, [True, True, True, "ellipsis"])
        self.assert_no_problem()

    def test_of_too_many_events_the_page_says_which_stand_together_and_how_busy_the_gpu_was_is_still_of_all(self):
        run = self.browser.run
        trace = self.record(ZOO)
        shares = "(() => { const shares = []; for (const { union } of gpuprof.state.devices.values()) gpuprof.busyColumns(union, 0, %f, 100, (x, share) => (shares[x] = (shares[x] || 0) + share)); return Array.from(shares, (share) => share || 0); })()"
        self.open(self.write_page(trace))
        self.assertNotIn("together", run("document.getElementById('banner').innerText"))
        step = run("gpuprof.state.end") / 100
        whole, events = run(shares % step), run("gpuprof.state.ev.n")
        self.open(self.write_page("--limit", "40", trace))
        self.assertLess(run("gpuprof.state.ev.n"), events // 3)
        banner = run("document.getElementById('banner').innerText")
        self.assertIn(f"{run('gpuprof.state.index.grouped'):,} events shorter than", banner)
        self.assertIn("--limit 0", banner)
        self.assertGreater(max(whole), 0.1)
        for before, now in itertools.zip_longest(whole, run(shares % step), fillvalue=0):
            self.assertAlmostEqual(before, now, delta=0.02)
        self.go("timeline")
        self.browser.key("ArrowRight", shift=True)
        self.assertIn("about", run(DRAWER_OF % "✕Selected"))
        self.look_at_every_view()
        self.assert_no_problem()

    def test_of_short_events_that_stand_together_the_page_says_so(self):
        run = self.browser.run
        self.open(self.write_page("--min-duration", "10us", self.record(ZOO)), hash_text="#v=timeline")
        self.assertEqual(run("gpuprof.checksums()"), run("gpuprof.state.index.sums"))
        self.assertIn("events shorter than 10.00us with their neighbors", run("document.getElementById('banner').textContent"))
        self.assertIn("several, merged", run("gpuprof.timeline.legend.textContent"))
        share = self.browser.run(shown.OF_PAGE)["cards"]["GPU busy"][0]
        self.assertIn(f"GPU 0 {share} busy", run(DRAWER_OF % "In view"))
        run("(() => { const { ev, index } = gpuprof.state, i = [...ev.label].findIndex((label) => 'mn'.includes(index.labels.kinds[label])); "
            "gpuprof.timeline.show(ev.start[i], ev.start[i] + ev.dur[i]); gpuprof.timeline.selected = i; })()")
        run("gpuprof.timeline.canvas.focus()")
        self.browser.key(".")
        self.browser.key(",")
        self.assertRegex(run("document.querySelector('.drawer').textContent"), r"events\d+total time")
        self.browser.key("Escape")
        self.browser.key("0")
        self.assertIn(f"GPU 0 {share} busy", run(DRAWER_OF % "In view"))
        run("gpuprof.timeline.show(0, gpuprof.state.end / 2)")
        self.assertIn(" about ", run(DRAWER_OF % ("In view: " + run("(gpuprof.state.end / 2e6).toFixed(2)"))[:13]))
        self.assert_no_problem()

    def test_a_range_counts_once_wherever_else_it_is_shown(self):
        trace = self.record(RANGES)
        self.browser.resize(2560, 1440)
        self.open(self.write_page(trace), hash_text="#v=timeline")
        run = self.browser.run
        run(DRAWER_OF % "In view")
        self.assertGreater(run("gpuprof.state.index.tracks.find((track) => track.kind === 'gpu-ranges').events"), 0)
        line = re.search(r"(?m)^.*\binside\b.*$", self.run_gpuprof("summary", "--by", "nvtx", trace).stdout).group(0).split()
        cells = "[...document.querySelectorAll('%s tr')].map((tr) => [...tr.cells].map((cell) => cell.textContent.trim()))"
        shown, = [row for row in run(cells % ".drawer") if row[0] == "inside"]
        self.assertIn(" ".join(shown[2:]), line)
        self.assertEqual(shown[1], "3 ×")
        self.go("overview")
        self.browser.key("/")
        self.browser.type("inside")
        run(f"new Promise((done) => {{ const look = () => {cells % '.foundbox'}.length ? done() : setTimeout(look, 10); look(); }})")
        self.assertIn(["inside", "range", *shown[1:]], run(cells % ".foundbox"))
        self.assert_no_problem()

    def test_a_comparison_without_a_difference(self):
        trace = self.record(ZOO)
        self.open(self.write_page("--compare", trace, trace))
        part = "[...document.querySelectorAll('#view-overview section')].find((part) => part.querySelector('h2').textContent.startsWith('Compared'))"
        self.assertRegex(self.browser.run(part + ".textContent"), r"first\s*Nothing differs\.$")
        self.assert_no_problem()

    def test_graph_launches_are_not_counted_as_launches(self):
        """As in the summary."""
        self.open(self.write_page(self.record(os.path.join(BUILD, "programs", "graph"))))
        self.assertEqual(self.browser.run(shown.OF_PAGE)["cards"]["Kernels"], ["70", "4 launches", "20 graph launches"])
        summary = self.run_gpuprof("summary", self.path("out.gpuprof")).stdout
        self.assertIn("4 launches, 4 captured into a graph; 20 graph launches", summary)
        self.assert_no_problem()

    def test_each_color_of_steps_and_phases_has_a_name(self):
        """The legend of the timeline has the parts of the steps, and the phases in the order of the overview."""
        self.open(self.write_page(self.record(*support.GPU, "iterate=300")))
        run = self.browser.run
        self.go("timeline")
        names = run("[...gpuprof.timeline.legend.children].map((part) => part.textContent)")
        parts = names[next(i for i, name in enumerate(names) if name.startswith("steps: ")):]
        phases = next(bar for name, bars in run(shown.OF_PAGE)["bars"].items() if name.startswith("Steps") for bar in bars[1:])
        phases = [f" {name}" for name, _ in phases][:8]
        self.assertEqual(parts[-len(phases):], [f"phases: {phases[0]}", *phases[1:]])
        self.assertLessEqual(set(parts[:-len(phases)]), {"steps:  warm-up", " steady", " slow"})
        hues = run("[...gpuprof.timeline.legend.children].map((part) => part.querySelectorAll('.swatch').length)")
        self.assertEqual(hues[-len(phases):], [1] * len(phases))
        self.assert_no_problem()

    def test_ranges_without_gpu_work_are_in_the_overview_and_all_hues_in_the_legend(self):
        self.open(self.write_page(self.record(self.compile("apart", APART, f"-I{support.ROOT}/include", f"-L{BUILD}/sim", "-lcuda"))))
        run = self.browser.run
        first = "[...document.querySelectorAll('#view-overview section')].find((part) => part.querySelector('h2').textContent.startsWith(%s)).querySelector('tbody td').textContent.trim()"
        self.assertEqual(run(first % "'Ranges by GPU time'"), "one")
        self.assertEqual(run(first % "'Ranges by own time'"), "two")
        self.go("timeline")
        self.assertEqual(run("[...gpuprof.timeline.legend.children].find((part) => / ranges$/.test(part.textContent)).querySelectorAll('.swatch').length"), 2)
        self.assert_no_problem()

    def test_of_many_threads_ranges_those_that_most_time_is_in_stand_above_the_streams(self):
        events = []
        for thread in range(1, 6):
            at = 100 * thread
            events += [{"ph": "X", "cat": "user_annotation", "name": f"of {thread}", "pid": 1, "tid": thread, "ts": at, "dur": 20},
                       {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": thread, "ts": at + 1, "dur": 5, "args": {"correlation": thread}},
                       {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": at + 10, "dur": thread * 10,
                        "args": {"device": 0, "context": 1, "stream": 7, "correlation": thread}}]
        with open(self.path("threads.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}, file)
        self.open(self.write_page(file.name), hash_text="#v=timeline")
        kinds = self.browser.run("gpuprof.timeline.items.filter((item) => ['gpu-ranges', 'stream'].includes(item.track?.kind))"
                                 ".map(({ track, small }) => [track.kind, small, track.kind === 'stream' ? 0 : Number(/thread (\\d+)/.exec(track.name)[1])])")
        self.assertEqual(kinds, [["gpu-ranges", False, 3], ["gpu-ranges", False, 4], ["gpu-ranges", False, 5], ["stream", False, 0],
                                 ["gpu-ranges", True, 1], ["gpu-ranges", True, 2]])
        self.assert_no_problem()

    def test_the_timeline_begins_with_the_span_of_its_strip(self):
        self.open(self.write_page(self.record(ZOO)))
        self.browser.key("2")
        run, span = self.browser.run, "[gpuprof.timeline.t0, gpuprof.timeline.t1]"
        self.assertEqual(run(span), [0, run("gpuprof.state.end")])
        self.browser.key("w")
        self.browser.key("0")
        self.assertEqual(run(span), [0, run("gpuprof.state.end")])
        self.assert_no_problem()

    def test_of_what_lies_outside_of_the_calls_it_says_so_and_shares_are_as_the_summary_s(self):
        call = {"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1}
        events = [{"ph": "X", "cat": "user_annotation", "name": "all", "pid": 1, "tid": 1, "ts": 500, "dur": 2500},
                  {**call, "name": "cudaLaunchKernel", "ts": 1000, "dur": 10, "args": {"correlation": 1}},
                  {**call, "name": "cudaDeviceSynchronize", "ts": 1900, "dur": 100, "args": {"correlation": 2}},
                  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1200, "dur": 100, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1}}]
        with open(self.path("out.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}, file)
        self.open(self.write_page(file.name))
        run = self.browser.run
        self.assertEqual(run("[...document.querySelectorAll('.card strong')].slice(0, 2).map((one) => one.textContent)"), ["1.000ms", "10.0 %"])
        painted = run("(() => { const canvas = document.querySelector('canvas[data-gpu]'), { width, height } = canvas, d = canvas.getContext('2d').getImageData(0, height - 1, width, 1).data; "
                      "const at = [...Array(width).keys()].filter((x) => d[4 * x + 3] > 0); return [at[0] / width, at.at(-1) / width]; })()")
        self.assertAlmostEqual(painted[0], 0.2, delta=0.01)
        self.assertAlmostEqual(painted[1], 0.3, delta=0.01)
        self.go("timeline")
        self.assertIn("In view: 2.500ms from 500.0us before the first CUDA call; of the 1.000ms between the first and the last CUDA call: GPU 0 10.0 % busy", run(DRAWER_OF % "In view: 2.500ms"))
        run("gpuprof.timeline.show(gpuprof.state.index.zero + 100e3, gpuprof.state.index.zero + 300e3)")
        self.assertIn("In view: 200.0us from +100.000us · GPU 0 50.0 % busy", run(DRAWER_OF % "In view: 200.0us"))
        self.assert_no_problem()

    def test_curves_stand_below_their_gpu(self):
        trace = self.record(ZOO)
        self.open(self.write_page("--counters", trace), hash_text="#v=timeline")
        items = self.browser.run("gpuprof.timeline.items.filter((item) => item.kind === 'counter').map((item) => [item.title, item.series.peak ?? ''])")
        rows = json.loads(self.run_gpuprof("trace", "queue", "--format", "json", trace).stdout)["rows"]
        longest = max(row["Length"] for row in rows if row["Stream"] == rows[0]["Stream"])
        self.assertIn([f"queue of stream {rows[0]['Stream']}", f"{longest:,} operation" + "s" * (longest != 1)], items)
        self.assertTrue(any(title == "HtoD" and re.fullmatch(r"[0-9.]+ GB/s", peak) for title, peak in items), items)
        self.assertGreater(self.ink("#view-timeline canvas"), 20)
        self.open(self.write_page("--counters", "--limit", "100", trace))
        self.assertRegex(self.browser.run("document.getElementById('banner').textContent"), r"Values of devices over time leave out [0-9,]+ points")
        self.assert_no_problem()

    def test_the_thread_that_calls_cuda_comes_first(self):
        self.open(self.write_page(self.record(ZOO)), hash_text="#v=timeline")
        calls = self.browser.run("gpuprof.timeline.items.filter((item) => item.track?.kind === 'thread').map((item) => item.track.calls)")
        self.assertEqual(calls[0], max(calls))
        self.assertGreater(calls[0], 0)
        self.assert_no_problem()

    def test_a_month_has_room_and_so_has_an_instant(self):
        month_us = 30 * 86400 * 1_000_000
        self.open(self.write_page(self.write_kernels([(20, month_us), (20, 0)])), hash_text="#v=timeline")
        run = self.browser.run
        self.assertEqual(run("gpuprof.checksums()"), run("gpuprof.state.index.sums"))
        self.assertEqual(run("gpuprof.state.ev.start[1] - gpuprof.state.ev.start[0]"), (month_us + 20) * 1000)
        self.look_at_every_view()
        self.open(self.write_page(self.write_kernels([(0, 0)])))
        self.look_at_every_view()
        self.assertNotIn("NaN", run("document.body.textContent"))
        self.assertNotIn("not known busy", run("document.body.innerText"))
        self.assert_no_problem()

    def test_tracks_go_to_the_top_and_back(self):
        self.open(self.write_page(self.record(ZOO)), hash_text="#v=timeline")
        run, key = self.browser.run, self.browser.key
        shown = "gpuprof.timeline.items.filter((item) => item.track).map((item) => item.track.name)"
        before, heads = run(shown), run("gpuprof.timeline.items.length")
        run("gpuprof.timeline.canvas.focus()")
        key("l")
        stream = run("gpuprof.state.rows.find((row) => gpuprof.timeline.selected >= row.first && gpuprof.timeline.selected < row.first + row.n).track.name")
        key("[")
        thread = run(f"{shown}.find((name) => name.includes('thread'))")
        key("p")
        key("l")
        key("p")
        self.assertEqual(run(shown)[:2], [thread, stream])
        self.assertEqual(sorted(run(shown)), sorted(before))
        self.assertEqual(run("gpuprof.timeline.items.map((item) => item.title).slice(0, 3)"), ["on top", thread, "GPU 0 " + stream])
        self.browser.mouse("mouseMoved", 60, run("gpuprof.timeline.canvas.getBoundingClientRect().top + 60 + gpuprof.timeline.items[1].y + 5"))
        self.assertIn("P: unpin", run("document.getElementById('tip').textContent"))
        key("p")
        self.assertEqual(run(shown)[0], stream)
        run("gpuprof.timeline.pin([...gpuprof.timeline.pinned][0])")
        self.assertEqual((run(shown), run("gpuprof.timeline.items.length")), (before, heads))
        self.assert_no_problem()

    def test_search_in_the_timeline_finds_every_event(self):
        path = self.write_page(self.record(ZOO))
        self.open(path)
        self.go("timeline")
        run = self.browser.run
        self.browser.key("/")
        self.browser.type("memcpy")
        run("new Promise((done) => setTimeout(done, 300))")
        page = Page(path)
        texts = page.json("index")["labels"]["texts"]
        wanted = sum("memcpy" in texts[event["label"]].lower() for event in page.events())
        self.assertEqual(run("gpuprof.state.hitCount"), wanted)
        self.browser.key("Enter")
        first = run("gpuprof.timeline.selected")
        self.browser.key("Enter")
        self.assertNotEqual(run("gpuprof.timeline.selected"), first)
        self.assert_no_problem()

    def test_flame_graph_zooms_and_finds(self):
        self.open(self.write_page(self.record(os.path.join(BUILD, "programs", "places"))))
        self.go("flame")
        run = self.browser.run
        self.assertEqual(run("gpuprof.views.flame.rootTotal"), run("gpuprof.state.about.gpu_ns"))
        run("gpuprof.views.flame.search('backward')")
        self.browser.key("ArrowDown")
        self.browser.key("Enter")
        self.browser.key("i")
        self.assertEqual(run("gpuprof.views.flame.rootTotal"), run("gpuprof.state.about.gpu_ns"))
        self.assertGreater(self.ink("#view-flame canvas"), 5)
        self.assert_no_problem()

    def test_the_flame_graph_opens_with_what_has_stacks_and_without_any_says_so(self):
        note = "document.getElementById('view-flame').innerText.includes('None of these calls has a stack')"
        for words, missing in (("alloc", True), ("launch,alloc", False)):
            done = self.run_program([os.path.join(BUILD, "programs", "places")], options=("-o", words[0], "--chrome", "none", "--stacks=" + words))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.open(self.write_page(self.path(words[0] + ".gpuprof")))
            self.go("flame")
            self.assertFalse(self.browser.run(note), words)
            self.assertEqual(self.browser.run("new URLSearchParams(location.hash.slice(1)).get('value')"), "allocated-bytes" if missing else "gpu-time")
            self.browser.run("gpuprof.views.flame.openMeasure('gpu-time')")
            self.assertEqual(self.browser.run(note), missing, words)
        self.assert_no_problem()

    def test_estimated_stacks_are_marked(self):
        """With the default --stacks: the flame graph says so, and a call with an estimated stack."""
        done = self.run_program([os.path.join(BUILD, "examples", "heat"), "300"], options=("-q", "-o", "out", "--chrome", "none"))
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.write_page(self.path("out.gpuprof"))
        run = self.browser.run
        self.open(page, hash_text="#v=timeline")
        call = run("gpuprof.state.ev.aux.indexOf(65536)")  # GP_HTML_ESTIMATED
        self.assertGreater(call, 0)
        self.open(page, hash_text=f"#v=timeline&s={call}")
        self.assertIn("similar call", run("document.querySelector('.called').textContent"))
        self.assertTrue(run("[...document.querySelectorAll('.facts div')].find((fact) => fact.firstChild.textContent === 'your code').lastChild.textContent").startswith("~ "))
        self.go("flame")
        run("gpuprof.views.flame.openMeasure('gpu-time')")
        self.assertIn("are estimated from the others", run("document.getElementById('view-flame').innerText"))
        self.assert_no_problem()

    def test_flame_graph_of_what_differs(self):
        base = os.path.join(self.folder, "base.gpuprof")
        os.rename(self.record(RANGES), base)
        self.open(self.write_page("--compare", base, self.record(os.path.join(BUILD, "programs", "places"))))
        run = self.browser.run
        self.assertGreater(run("document.querySelectorAll('#view-overview .mini.gap tbody tr').length"), 3)
        self.go("flame")
        root = "(() => { const root = gpuprof.views.flame.flat.list[0]; return [root.now, root.before]; })()"
        wanted = run("gpuprof.state.stacks.values[0].reduce((a, b) => a + b)"), run("gpuprof.state.base.values[0].reduce((a, b) => a + b)")
        self.assertEqual(tuple(run(root)), wanted)
        self.browser.key("i")
        self.assertEqual(tuple(run(root)), wanted)
        self.assertGreater(self.ink("#view-flame canvas"), 5)
        self.assert_no_problem()

    def test_what_the_same_program_differs_by_from_run_to_run_looks_like_no_regression(self):
        """Nor does it where it lies in another folder, with another name: its functions are found again."""
        places = os.path.join(BUILD, "programs", "places")
        moved = os.path.join(self.folder, "elsewhere", "places2")
        os.mkdir(os.path.dirname(moved))
        shutil.copy(places, moved)
        base, other = os.path.join(self.folder, "base.gpuprof"), os.path.join(self.folder, "other.gpuprof")
        os.rename(self.record(moved), base)
        os.rename(self.record(RANGES), other)
        trace = self.record(places)
        self.open(self.write_page(trace))
        sites = self.browser.run("gpuprof.state.sites.length")
        self.open(self.write_page("--compare", base, trace))
        run = self.browser.run
        self.assertEqual(run("gpuprof.state.sites.length"), sites)
        self.assertEqual(run("document.querySelectorAll('#view-overview td.more, #view-overview td.less').length"), 0)
        self.go("flame")
        self.assertGreater(run("gpuprof.views.flame.flat.list.length"), 5)
        self.assertTrue(run("gpuprof.views.flame.flat.list.every((frame) => frame.sameCount)"))
        self.assert_no_problem()
        self.open(self.write_page("--compare", other, trace))
        self.assertGreater(run("document.querySelectorAll('#view-overview td.more, #view-overview td.less').length"), 3)

    def test_sets_of_runs_are_told_as_such(self):
        self.open(self.write_page(*self.record_sets()))
        run = self.browser.run
        told = run("[...document.querySelectorAll('#view-overview section')].find((part) => part.textContent.startsWith('Compared with')).textContent")
        for part in ("another set of runs", "A: before, the median of 5 runs; B: now, the median of 5 runs", "after/", "a rank test of the runs"):
            self.assertIn(part, told)
        self.assertNotIn("of one run each", told)
        titles = "[...document.querySelectorAll('#view-overview .mini.gap')].filter((table) => /^(Times|Counts|Bytes)$/.test(table.querySelector('th').textContent)).flatMap((table) => [...table.querySelectorAll('td:first-child')].map((cell) => cell.textContent))"
        self.assertIn("launches", run(titles))
        self.assertNotIn("_", "".join(run(titles)))
        sides = run("[...document.querySelectorAll('#view-overview .mini.gap')].map((table) => [...table.querySelectorAll('tbody tr')].map((row) => row.cells[1].textContent + row.cells[2].textContent))")
        self.assertTrue(all(all(rows) for rows in sides), sides)
        self.assertGreater(run("document.querySelectorAll('#view-overview td.more').length"), 0)
        self.go("flame")
        self.assertGreater(self.ink("#view-flame canvas"), 5)
        self.assert_no_problem()

    def test_who_held_memory_is_shown_of_every_moment(self):
        self.open(self.write_page(self.record(os.path.join(BUILD, "programs", "leaks"))))
        self.go("memory")
        run = self.browser.run
        now = "(() => { const { columns, rows } = gpuprof.views.memory.grid, of = (name) => columns.findIndex((column) => column.title === name); return rows.reduce((sum, row) => sum + row[of('Bytes')], 0); })()"
        course = "(() => { const { t, v, most } = gpuprof.moment.series; return [[...t], [...v], most]; })()"
        times, values, most = run(course)
        self.assertGreater(len(times), 6)
        self.assertEqual((run(now), run("gpuprof.moment.time")), (most, times[values.index(most)]))
        self.browser.key("Home")
        self.browser.frames(3)
        run("gpuprof.views.memory.key({ key: 'End', code: 'End' })")
        self.browser.frames(3)
        self.assertEqual(run(now), values[-1])
        for k in range(len(values) - 2, -1, -1):
            self.browser.key(",", code="Comma")
            self.browser.frames(3)
            self.assertEqual((run(now), run("gpuprof.moment.time")), (values[k], times[k]), k)
        self.browser.key("p")
        self.browser.frames(3)
        self.assertEqual(run(now), most)
        self.browser.key("m")
        for k in range(len(values)):
            self.browser.key(".", code="Period")
        self.browser.frames(3)
        since = run("(() => { const { columns, rows } = gpuprof.views.memory.grid, c = columns.findIndex((column) => column.title === 'Since mark'); return rows.reduce((sum, row) => sum + row[c], 0); })()")
        self.assertEqual(since, values[-1] - most)
        run("[...document.querySelectorAll('#view-memory button')].find((button) => button.textContent === 'Mark').click()")
        self.browser.frames(3)
        self.assertIsNone(run("gpuprof.moment.mark"))
        left, top, width = run("(() => { const box = document.querySelector('#view-memory canvas').getBoundingClientRect(); return [box.left, box.top, box.width]; })()")
        self.browser.click(left + width / 2, top + 60)
        self.browser.frames(3)
        time = run("gpuprof.moment.time")
        held = max((k for k, at in enumerate(times) if at <= time), default=None)
        self.assertEqual(run(now), 0 if held is None else values[held])
        self.assertAlmostEqual(time / run("gpuprof.state.end"), 0.5, delta=0.1)
        self.browser.key("p")
        self.browser.frames(3)
        run("[...document.querySelectorAll('#view-memory button')].find((button) => button.textContent === 'Flame graph').click()")
        self.assertEqual(run("gpuprof.views.flame.rootTotal"), most)
        self.browser.key(",", code="Comma")
        self.browser.frames(3)
        self.assertEqual(run("gpuprof.views.flame.rootTotal"), values[values.index(most) - 1] if values.index(most) else 0)
        run("new Promise((done) => setTimeout(done, 300))")
        place = run("location.hash")
        self.open(self.path("page.html"), hash_text=place)
        self.assertEqual(run("[gpuprof.views.flame.rootTotal, location.hash]"), [values[max(0, values.index(most) - 1)], place])
        self.assert_no_problem()

    def test_what_pytorch_s_allocator_had_is_shown_of_every_moment(self):
        path = self.write_kernels([(20, 30)] * 10)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        states = [(1100, 5 << 20, 20 << 20), (1010, 1 << 20, 20 << 20), (1300, 2 << 20, 8 << 20)]  # not in the order of time
        trace["traceEvents"] += [{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": at,
                                  "args": {"Total Reserved": reserved, "Total Allocated": used, "Bytes": 1, "Device Type": 1, "Device Id": 0, "Addr": 1}}
                                 for at, used, reserved in states]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        self.open(self.write_page(path), hash_text="#v=memory")
        run = self.browser.run
        self.assertEqual(run("gpuprof.state.memory.map((s) => [s.device, s.most, ...s.v])"), [[0, 5 << 20, 1 << 20, 5 << 20, 2 << 20], [0, 20 << 20, 20 << 20, 20 << 20, 8 << 20]])
        self.assertEqual(run("gpuprof.state.memory[0].t.map((t) => t - gpuprof.state.memory[0].t[0]).join()"), "0,90000,290000")
        text = run("document.getElementById('view-memory').innerText")
        self.assertIn("peak 5.000MiB", text)
        self.assertNotIn("Owners", text)
        self.assertNotIn("Allocated", text)  # a column in which nothing is known
        self.assertRegex(run("document.querySelector('.cards').innerText"), r"Peak of tensors\s*5.000MiB\s*20.00MiB reserved")
        self.browser.key("Home")
        self.browser.frames()
        self.assertIn("1.000MiB at", run("document.querySelector('#view-memory canvas').getAttribute('aria-valuetext')"))
        for _ in range(2):
            self.browser.key(".")
        self.browser.key("m")
        self.browser.frames()
        self.assertEqual(run("[gpuprof.moment.mark, gpuprof.moment.changes]"), [None, 3])
        self.go("timeline")
        self.assertEqual(run("gpuprof.timeline.items.filter((item) => item.kind === 'counter').map((item) => item.title)"), ["tensors"])
        self.look_at_every_view()
        self.assert_no_problem()

    def test_that_short_lived_blocks_are_missing_is_said(self):
        self.open(self.write_page("--limit", "20", self.record(os.path.join(BUILD, "programs", "allocs"))), hash_text="#v=memory")
        said = self.browser.run("document.getElementById('banner').textContent")
        self.assertRegex(said, r"Memory over time leaves out [0-9,]+ blocks with a lifetime below [0-9.]+[num]?s")
        self.assertTrue(self.browser.run("gpuprof.state.memory.every((one) => one.v.every((bytes) => bytes >= 0))"))
        self.assert_no_problem()

    def test_of_many_changes_of_an_allocator_the_highest_stay(self):
        path = self.write_kernels([(20, 30)] * 10)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        states = [(used, 500) for used in (*range(1000), *range(500, 0, -1))]
        states[401] = (5000, 100)
        states[1203] = (3, 9000)
        trace["traceEvents"] += [{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1000 + i,
                                  "args": {"Total Reserved": reserved, "Total Allocated": used, "Bytes": 1, "Device Type": 1, "Device Id": 0, "Addr": 1}}
                                 for i, (used, reserved) in enumerate(states)]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        for options, most, is_said in ((("--limit", "60"), 63, True), (("--limit", "1500"), 1500, False), (("--limit", "0"), 1500, False)):
            self.open(self.write_page(*options, path), hash_text="#v=memory")
            run = self.browser.run
            count = run("gpuprof.state.memory[0].n")
            self.assertTrue(most / 3 <= count <= most, count)
            self.assertEqual(run("gpuprof.state.memory.map((s) => [s.most, s.v[s.v.length - 1]])"), [[5000, 1], [9000, 500]])
            self.assertEqual(run("gpuprof.state.memory[0].t.every((t, i, all) => i === 0 || t > all[i - 1])"), True)
            said = run("document.getElementById('banner').textContent")
            self.assertEqual(f"allocators leaves out {1500 - count:,} changes" in said, is_said, said)
            self.assert_no_problem()

    def test_hostile_names_are_shown_and_do_nothing(self):
        self.open(self.write_page(self.record_hostile()))
        run = self.browser.run
        for view in ("timeline", "kernels", "flame", "memory", "tables", "overview"):
            self.go(view)
        run("gpuprof.views.tables.open('nvtx')")
        shown = run("document.getElementById('main').textContent")
        self.assertIn(NAMES[0], shown)
        self.assertNotIn("\u202e", shown)
        self.assertIn("⟨U+202E⟩", shown)
        self.assertEqual(run("document.querySelectorAll('img').length"), 0)
        self.assertIsNone(run("window.owned"))
        self.assert_no_problem()

    def test_the_policy_refuses_what_is_put_in(self):
        self.open(self.write_page(self.record(ZOO)))
        self.browser.run("""(() => { const script = document.createElement('script'); script.textContent = 'window.owned = 1'; document.body.append(script);
            const image = document.createElement('img'); image.setAttribute('onerror', 'window.owned = 2'); image.src = 'x:y'; document.body.append(image); })()""")
        self.browser.frames(5)
        self.assertIsNone(self.browser.run("window.owned"))
        self.assertTrue(any("Content Security Policy" in problem for problem in self.browser.problems))

    def look_at_every_view(self):
        for view in ("timeline", "kernels", "flame", "memory", "tables", "overview"):
            self.go(view)
            shown = self.browser.run(f"document.getElementById('view-{view}').innerText.trim().length + 9 * document.querySelectorAll('#view-{view} canvas:not([hidden])').length")
            self.assertGreater(shown, 8, view)
        self.browser.run("gpuprof.timeline.all(); gpuprof.views.flame.search('a'); gpuprof.views.timeline.search('a')")

    def assert_events_are(self, wanted):
        """wanted: of the whole page's events those that are there."""
        found = self.browser.run("(() => { const { ev, index } = gpuprof.state; return Array.from({ length: ev.n }, (_, i) => [ev.start[i], ev.dur[i], index.labels.texts[ev.label[i]]]); })()")
        self.assertEqual(found, wanted)
        rows = self.browser.run("gpuprof.state.rows.map((row) => [row.first, row.n])")
        for first, n in rows:
            for before, after in zip(found[first:first + n], found[first + 1:first + n]):
                self.assertLessEqual(before[0] + before[1], after[0])
        self.assertEqual(sum(n for _, n in rows), len(found))

    def record_many(self):
        program = self.compile("many", MANY, f"-I{support.ROOT}/include", "-g", f"-L{BUILD}/sim", "-lcuda")
        whole = self.write_page(self.record(program))
        page = Page(whole)
        texts = page.json("index")["labels"]["texts"]
        return page, [[event["start"], event["duration"], texts[event["label"]]] for event in page.events()]

    def open_changed(self, content):
        with open(self.path("changed.html"), "wb") as file:
            file.write(content)
        return self.open(self.path("changed.html"))

    def test_a_file_that_is_cut_shows_what_is_left_of_it(self):
        page, events = self.record_many()
        places = [(match.group(1).decode(), int(match.group(2)), match.start(), match.end()) for match in ELEMENT.finditer(page.bytes)]
        self.assertGreater(sum(kind == "events" for kind, *_ in places), 3)
        looked_at = set()
        for kind, first, start, end in places:
            with self.subTest(kind=kind, first=first):
                ready = self.open_changed(page.bytes[:(start + end) // 2])
                self.assertEqual(ready, {"about": "nothing", "tables": "part", "index": "part"}.get(kind, "all"))
                self.assertIn("cut off", self.browser.run("document.body.innerText"))
                if ready != "nothing":
                    self.assertGreater(self.browser.run("document.querySelectorAll('.card').length"), 4)
                    if kind not in looked_at:
                        self.look_at_every_view()
                    looked_at.add(kind)
                if ready == "all":
                    self.assert_events_are(events[:first] if kind == "events" else events if kind == "end" else [])
                if kind == "events":
                    self.go("flame")
                    self.assertEqual(self.browser.run("gpuprof.views.flame.rootTotal"), self.browser.run("gpuprof.state.stacks.values[0].reduce((a, b) => a + b)"))
                    self.assertEqual(self.browser.run("gpuprof.state.memory[0].most > 0"), True)
        self.assert_no_problem()

    def test_a_file_that_is_damaged_shows_the_rest_of_it(self):
        page, events = self.record_many()
        looked_at = set()
        for match in ELEMENT.finditer(page.bytes):
            kind, first, rows, start = match.group(1).decode(), int(match.group(2)), int(match.group(3)), match.start(5)
            middle = (start + match.end(5)) // 2
            with self.subTest(kind=kind, first=first):
                ready = self.open_changed(page.bytes[:middle] + (b"A" if page.bytes[middle:middle + 1] != b"A" else b"B") + page.bytes[middle + 1:])
                self.assertEqual(ready, {"about": "nothing", "index": "part"}.get(kind, "all"))
                if ready != "nothing" and kind != "end":
                    self.assertIn("damaged", self.browser.run("document.getElementById('banner').innerText"))
                    if kind not in looked_at:
                        self.look_at_every_view()
                    looked_at.add(kind)
                if ready == "all":
                    self.assert_events_are(events[:first] + events[first + rows:] if kind == "events" else events)
        self.assert_no_problem()

    def test_a_block_whose_tag_is_damaged_is_left_out(self):
        page, events = self.record_many()
        match = [match for match in ELEMENT.finditer(page.bytes) if match.group(1) == b"events"][1]
        first, rows = int(match.group(2)), int(match.group(3))
        for changed in (b"data-f=x", b"data-n=99999999 data-f=1024", b"data-f=-5", b"data-p=9"):
            tag = match.group(0)
            self.assertEqual(self.open_changed(page.bytes.replace(tag, tag.replace(b"data-f=", changed + b" data-f=", 1))), "all", changed)
            self.assert_events_are(events[:first] + events[first + rows:])
        self.assert_no_problem()

    def test_what_a_trace_lacks_is_one_line_of_the_banner(self):
        trace = self.record(ZOO)
        os.truncate(trace, os.path.getsize(trace) * 9 // 10)
        self.open(self.write_page(trace))
        shown = self.browser.run("[...document.querySelectorAll('#banner p')].map((line) => line.textContent)")
        lines = self.run_gpuprof("summary", "--full", trace).stdout.partition("\ngpuprof: ")[0].splitlines()
        self.assertGreater(len(lines), 1, lines)
        self.assertEqual(len(shown), sum(not line.startswith(" ") for line in lines))
        words = lambda text: re.sub(r"[\s;]+", " ", text).strip()
        self.assertEqual(words(" ".join(shown)), words(" ".join(lines)))
        self.assertNotRegex(shown[0], r"[a-z] it ends")
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.browser.run("getComputedStyle(document.getElementById('banner')).maxHeight"), "none")
        self.assert_no_problem()

    def test_the_address_keeps_the_place(self):
        path = self.write_page(self.record(ZOO))
        self.open(path, hash_text="#v=timeline&t=1000,500000&q=memcpy&s=3")
        self.assertEqual(self.browser.run("[gpuprof.timeline.t0, gpuprof.timeline.t1, gpuprof.timeline.selected, document.getElementById('search').value]"),
                         [1000, 500000, 3, "memcpy"])
        self.open(path, hash_text="#v=__proto__&t=x,y&s=-1&q=%E0%A4%A")
        self.assertFalse(self.browser.run("document.getElementById('view-overview').hidden"))
        self.assert_no_problem()

    def back(self, forward=False):
        self.browser.run("new Promise((done) => { addEventListener('popstate', () => done(1), { once: true }); history.%s(); })" % ("forward" if forward else "back"))
        self.browser.frames()

    def test_back_leads_to_where_one_was(self):
        self.open(self.write_page(self.record(ZOO)))
        run = self.browser.run
        place = "[location.hash.slice(1, 12), [...document.querySelectorAll('.view')].find((view) => !view.hidden).id]"
        run("document.querySelector('[data-view=overview]').click()")
        run("document.querySelector('#view-overview td[title*=→]').parentNode.click()")
        run(DRAWER_OF % "✕Selected")
        self.browser.frames()
        span, shown = run("gpuprof.timeline.span"), run("[gpuprof.timeline.t0, gpuprof.timeline.t1].map(Math.round)")
        self.go("tables")
        self.go("kernels")
        self.back()
        self.assertEqual(run(place)[1], "view-tables")
        run("gpuprof.timeline.span = null")
        run("gpuprof.timeline.all()")
        self.back()
        self.assertEqual(run(place), ["v=timeline&", "view-timeline"])
        self.assertEqual(run("gpuprof.timeline.span"), span)
        self.assertEqual(run("[gpuprof.timeline.t0, gpuprof.timeline.t1].map(Math.round)"), shown)
        self.back()
        self.assertEqual(run(place)[1], "view-overview")
        self.back(forward=True)
        self.assertEqual(run(place)[1], "view-timeline")
        self.assert_no_problem()

    def test_jumps_lead_to_the_longest_and_to_idle_times(self):
        self.open(self.write_page(self.record(ZOO)), hash_text="#v=timeline")
        run = self.browser.run
        durations = run("gpuprof.state.rows.filter((row) => row.track.kind === 'stream').flatMap((row) => [...row.dur]).sort((a, b) => b - a)")
        chosen = "gpuprof.state.ev.dur[gpuprof.timeline.selected]"
        self.browser.key("l")
        self.assertEqual(run(chosen), durations[0])
        self.browser.key("l")
        self.browser.key("l")
        self.assertEqual(run(chosen), durations[2])
        self.browser.key("L", shift=True)
        self.assertEqual(run(chosen), durations[1])
        self.browser.key("Escape")
        self.browser.key("0")
        gaps = run("(() => { const { columns, rows } = gpuprof.state.tables.find((table) => table.word === 'gap'), of = (name) => columns.findIndex(([title]) => title === name); "
                   "return rows.map((row) => [row[of('Start')], row[of('Start')] + row[of('Duration')], row[of('Cause')]]).sort((a, b) => a[0] - b[0]); })()")
        self.assertGreater(len(gaps), 2)
        for key, shift, (start, end, cause) in (("n", False, gaps[0]), ("n", False, gaps[1]), ("N", True, gaps[0]), ("N", True, gaps[-1])):
            self.browser.key(key, shift=shift)
            self.assertEqual(run("gpuprof.timeline.span.map((t) => t - gpuprof.state.index.zero)"), [start, end])
            run("new Promise((done) => { const look = () => document.querySelector('.drawer').textContent.includes(%s) ? done() : setTimeout(look, 10); look(); })"
                % json.dumps("was idle: " + cause))
        self.assert_no_problem()

    def test_jumps_do_not_lead_to_short_ones_that_stand_together(self):
        kernels = [kernel for length in (90, 70, 80) for kernel in [(5, 1)] * 50 + [(length, 30)]]
        self.open(self.write_page("--min-duration", "10us", self.write_kernels(kernels)), hash_text="#v=timeline")
        run = self.browser.run
        self.assertEqual(run("gpuprof.state.index.grouped"), 150)
        for length in (90_000, 80_000, 70_000, 70_000):
            self.browser.key("l")
            self.assertEqual(run("gpuprof.state.ev.dur[gpuprof.timeline.selected]"), length)
        self.assert_no_problem()

    def test_the_pointer_s_time_is_said(self):
        self.open(self.write_page(self.record(ZOO)), hash_text="#v=timeline")
        run, shown = self.browser.run, "(() => { const { cursor } = gpuprof.timeline; return cursor.hidden ? null : cursor.textContent; })()"
        self.assertIsNone(run(shown))
        left, top = run("(() => { const box = gpuprof.timeline.canvas.getBoundingClientRect(); return [box.left, box.top]; })()")
        at = lambda share: left + run(f"gpuprof.timeline.toX(gpuprof.state.index.zero + {share} * (gpuprof.state.end - gpuprof.state.index.zero))")
        self.browser.mouse("mouseMoved", at(0.5), top + 200)
        half = run("(gpuprof.state.end - gpuprof.state.index.zero) / 2e6")
        self.assertAlmostEqual(float(re.fullmatch(r"([0-9.]+)ms", run(shown))[1]), half, delta=half / 100)
        run("gpuprof.timeline.span = [gpuprof.state.index.zero, gpuprof.state.end]")
        self.browser.mouse("mouseMoved", at(0.25), top + 200)
        self.assertRegex(run(shown), r"^[0-9.]+ms  \+[0-9.]+ms from the start of the selection$")
        self.browser.mouse("mouseMoved", left + 20, top + 200)
        self.assertIsNone(run(shown))
        self.assert_no_problem()

    def test_the_overview_finds_names_and_leads_to_them(self):
        self.open(self.write_page(self.record(os.path.join(BUILD, "programs", "places"))))
        run = self.browser.run
        search = lambda text: run("(() => { const search = document.getElementById('search'); search.value = %s; search.dispatchEvent(new Event('input')); "
                                  "return new Promise((done) => setTimeout(() => done(document.querySelector('.foundbox').innerText), 300)); })()" % json.dumps(text))
        self.assertEqual(search(""), "")
        self.assertIn("The timeline has no kernel, copy, call or range of that name", search("nobody has this name"))
        text = search("cuMem")
        self.assertRegex(text, r"cuMemAlloc.*call\s+[0-9,]+ ×")
        self.assertRegex(search("main"), r"[0-9]+ functions? in the flame graph")
        self.assertIn("cuMemAlloc", search("cuMemAlloc"))
        run("document.querySelector('.foundbox tr[tabindex]').click()")
        chosen = "(() => { const { ev, index } = gpuprof.state; return index.labels.texts[ev.label[gpuprof.timeline.selected]]; })()"
        self.assertFalse(run("document.getElementById('view-timeline').hidden"))
        self.assertIn("cuMemAlloc", run(chosen))
        self.back()
        self.assertIn("cuMemAlloc", run("document.querySelector('.foundbox').innerText"))
        search("cuLaunchKernel")
        run("document.getElementById('search').focus()")
        self.browser.key("Enter")
        self.assertFalse(run("document.getElementById('view-timeline').hidden"))
        self.assertIn("cuLaunchKernel", run(chosen))
        self.assert_no_problem()

    def test_a_call_stack_can_be_copied(self):
        self.open(self.write_page(self.record(os.path.join(BUILD, "programs", "places"))), hash_text="#v=timeline")
        run = self.browser.run
        run("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }")
        run("gpuprof.timeline.canvas.focus()")
        self.browser.key("l")
        self.assertRegex(run("document.querySelector('.called').textContent"), "Called by.*copy")
        self.browser.key("c")
        lines = run("copied.split('\\n')")
        self.assertEqual(lines, run("[...document.querySelectorAll('.frames li')].map((li) => [...li.childNodes].map((n) => n.textContent).filter(Boolean).join('  '))") + [""])
        self.assertTrue(any(line.startswith("main") for line in lines), lines)
        yours = run("[...document.querySelectorAll('.frames .yours')].map((li) => li.firstChild.textContent)")
        self.assertIn("main", yours)
        self.assertLess(len(yours), len(lines) - 1)
        self.assertEqual(run("[...document.querySelectorAll('.facts div')].find((fact) => fact.firstChild.textContent === 'your code').lastChild.textContent"), yours[0])
        self.go("flame")
        for _ in range(3):
            self.browser.key("ArrowDown")
        self.browser.key("c")
        self.assertEqual(len(run("copied.trim().split('\\n')")), 3)
        downwards = run("copied")
        run("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))")
        run("document.execCommand = (what) => { globalThis.copied = what + ': ' + document.activeElement.value; }")
        self.browser.key("c")
        self.browser.frames()
        self.assertEqual(run("copied"), "copy: " + downwards)
        self.assert_no_problem()

    def test_few_tracks_fill_a_large_screen(self):
        self.browser.resize(2560, 1440)
        self.open(self.write_page(self.record(os.path.join(BUILD, "programs", "demo"))), hash_text="#v=timeline")
        run = self.browser.run
        run(DRAWER_OF % "In view")
        stream, memory, box, drawer, view = run("(() => { const { items, box, drawer, node } = gpuprof.timeline; return [items.find((i) => i.kind === 'track' && i.track.kind === 'stream').lane, "
                                                "items.find((i) => i.kind === 'counter').h, box.clientHeight, drawer.offsetHeight, node.clientHeight]; })()")
        self.assertGreater(stream, 40)
        self.assertGreater(memory, 120)
        self.assertAlmostEqual(box + drawer + run("gpuprof.timeline.legend.offsetHeight"), view, delta=2)
        self.browser.key("l")
        self.browser.frames()
        self.assertEqual(run("gpuprof.timeline.box.clientHeight"), box)
        self.assert_no_problem()

    def test_on_paper_colours_are_those_of_the_light_page(self):
        self.open(self.write_page(self.record(ZOO)))
        run = self.browser.run
        colours = "[...document.querySelectorAll('#view-%s .swatch')].map((one) => one.style.getPropertyValue('background-color'))"
        for view in ("overview", "flame"):
            self.go(view)
            run("document.documentElement.dataset.theme === 'dark' && document.getElementById('theme').click()")
            light = run(colours % view)
            self.browser.key("t")
            dark = run(colours % view)
            self.assertNotEqual(light, dark)
            run("dispatchEvent(new Event('beforeprint'))")
            self.assertEqual(run(colours % view), light)
            run("dispatchEvent(new Event('afterprint'))")
            self.assertEqual(run(colours % view), dark)
        self.assert_no_problem()

    def test_on_paper_are_all_tracks_of_the_timeline(self):
        self.browser.resize(400, 220)
        self.open(self.write_page(self.record(ZOO)), hash_text="#v=timeline")
        run = self.browser.run
        run("gpuprof.timeline.resize()")
        inks = ("gpuprof.timeline.pieces.map((piece) => { const d = new Uint32Array(piece.getContext('2d').getImageData(0, 0, piece.width, piece.height).data.buffer); "
                "return new Set(d).size; })")
        self.assertGreater(run("gpuprof.timeline.height"), run("gpuprof.timeline.box.clientHeight"))
        run("dispatchEvent(new Event('beforeprint'))")
        colours = run(inks)
        self.assertGreater(len(colours), 1)
        self.assertGreater(min(colours), 20)
        least = run("gpuprof.timeline.height / gpuprof.timeline.box.clientWidth")
        self.assertGreater(run("gpuprof.timeline.pieces.reduce((sum, piece) => sum + piece.height / piece.width, 0)"), least)
        self.assertTrue(run("gpuprof.timeline.canvas.hidden"))
        run("dispatchEvent(new Event('afterprint'))")
        self.assertEqual((run("gpuprof.timeline.pieces.length"), run("document.querySelectorAll('#view-timeline canvas').length"), run("gpuprof.timeline.canvas.hidden")), (0, 1, False))
        self.assert_no_problem()

    def test_dark_and_light_and_paper(self):
        self.open(self.write_page(self.record(ZOO)))
        ground = "getComputedStyle(document.body).backgroundColor"
        before = self.browser.run(ground)
        self.browser.key("t")
        self.assertNotEqual(self.browser.run(ground), before)
        for view in ("overview", "timeline", "kernels", "flame", "memory", "tables"):
            self.go(view)
            self.assertGreater(len(self.browser.print_pdf()), 4000, view)
        self.assert_no_problem()


if __name__ == "__main__":
    main()
