"""Where the time went: what the tables say of sample programs adds up, and is what the programs did."""
import json
import os
import statistics
import unittest

import support
from tables_test import Tables

PROGRAMS = ("overlap", "streams", "graph", "zoo", "copies")


class Idle(Tables):

    def check(self, program, *arguments):
        found = self.tables("time,idle,gap,gap-site,device,critical-path", self.record(program, *arguments))
        for row in found["time"]:
            idle = [cause for cause in found["idle"] if cause["Device"] == row["Device"]]
            gaps = [gap for gap in found["gap"] if gap["Device"] == row["Device"]]
            self.assertEqual(row["Wall"], row["Busy"] + row["Idle"], program)
            self.assertEqual(self.sum(idle, "Total"), row["Idle"], program)
            self.assertEqual(self.sum(gaps, "Duration"), row["Idle"], program)
            self.assertEqual(len(gaps), self.sum(idle, "Main cause of"), program)
            sites = [site for site in found["gap-site"] if site["Device"] == row["Device"]]
            self.assertEqual(self.sum(sites, "Total"), row["Idle"], program)
            self.assertEqual(self.sum(sites, "Gaps"), len(gaps), program)
            self.assertLessEqual(max(row["Compute"], row["Copy"], row["Communication"]), row["Busy"])
            self.assertGreaterEqual(row["Compute"] + row["Copy"] + row["Communication"], row["Busy"])
            self.assertEqual(row["Span"] - row["Idle inside"], row["Busy"])
            self.assertEqual(self.sum(found["critical-path"], "Total"), row["Wall"], program)
        self.assertEqual(len(found["time"]), len(found["device"]))

    def test_causes_and_gaps_add_up_to_idle_time(self):
        for program in PROGRAMS:
            with self.subTest(program):
                self.check(program)
        self.check("demo", "50")

    def test_gaps_name_what_is_around_them(self):
        found = self.tables("gap", self.record("demo"))["gap"]
        inside = [gap for gap in found if gap["Before"] and gap["After"]]
        self.assertTrue(inside)
        self.assertTrue(all(gap["Before by"].startswith("cu") and gap["After by"].startswith("cu") for gap in inside))
        lengths = [gap["Duration"] for gap in found]
        self.assertEqual(lengths, sorted(lengths, reverse=True))

    def test_gap_is_one_table_for_programs(self):
        trace = self.record("demo")
        table = self.summary("--by", "gap", "--format", "csv", trace).stdout
        self.assertNotIn("\n\n", table)
        self.assertTrue(table.startswith("Duration (ns),"), table)
        self.assertEqual(list(self.tables("gap", trace)), ["gap"])
        self.assertTrue(self.summary("--by", "gap", "--sort", "duration", "--format", "csv", trace).stdout)
        self.assertEqual(list(self.tables("queue", trace)), ["queue-kernel", "queue-stream"])
        twice = self.summary("--by", "gap,gap-site,gap", trace).stdout
        self.assertEqual(twice.count("Idle times by the operations around them"), 1)
        self.assertEqual(twice.count("Longest idle times"), 1)
        both = self.summary("--by", "gap", trace).stdout
        self.assertIn("Longest idle times", both)
        self.assertIn("Idle times by the operations around them", both)

    def test_idle_times_name_the_user_s_line(self):
        result = self.run_program([os.path.join(support.BUILD, "programs", "places")], GPUPROF_STACKS="all",
                                  GPUPROF_OUTPUT="places")
        self.assertEqual(result.returncode, 0, result.stderr)
        trace = self.path("places.gpuprof")
        rows = self.tables("gap-site", trace)["gap-site"]
        self.assertTrue(any(row["After at"] and "places.c:" in row["After at"] for row in rows), rows)
        gaps = self.tables("gap", trace)["gap"]
        self.assertTrue(any(gap["After at"] and "places.c:" in gap["After at"] for gap in gaps), gaps)
        steps = self.tables("critical-path", trace)["critical-path"]
        for category in ("host", "API"):
            self.assertTrue(any(step["Category"] == category and "places.c:" in (step["At"] or "") for step in steps), steps)
        self.assertTrue(all(step["At"] is None for step in steps if step["Category"] in ("GPU", "launch")), steps)

    def test_where_operations_are_missing_idle_is_an_upper_bound(self):
        result = self.run_program([os.path.join(support.BUILD, "programs", "demo"), "3"], GPUPROF_KERNELS="scale*",
                                  GPUPROF_OUTPUT="few")
        self.assertEqual(result.returncode, 0, result.stderr)
        said = self.summary("--by", "time,idle,gap", self.path("few.gpuprof")).stderr
        self.assert_one_line(said, "idle times in the tables are upper bounds: operations are missing")
        self.assertEqual(self.summary("--by", "time,idle", self.record("demo", "3")).stderr, "")

    def test_the_page_says_why_the_gpu_was_idle(self):
        page = self.summary("--full", self.record("demo")).stdout
        before, after = page.split("GPU activities", 1)
        self.assertIn("GPU busy (", before)
        self.assertRegex(before, r"\n    idle    [a-z-]+ [0-9.]+ %, ")
        self.assertIn("longest gap between operations ", before)
        self.assertIn("gpuprof summary --by time,idle,gap,kind,iteration,queue --top 20 FILE", before)


class Kinds(Tables):

    def test_rows_of_a_file_come_first(self):
        trace = self.record("demo")
        with open(self.path("kinds"), "w") as file:
            file.write("# the kernels of the demo\nstencil: smooth\nmine: *<float>*\nours: scale*\n")
        kinds = json.loads(self.summary("--by", "kind-kernel", "--kinds", self.path("kinds"), "--format", "json",
                                        trace).stdout)
        kinds = {row["Name"]: row["Kind"] for row in kinds["rows"]}
        self.assertEqual(kinds, {"smooth": "stencil", "add<float>": "mine", "scale<float>": "mine"})
        page = self.summary("--kinds", self.path("kinds"), trace).stdout
        self.assertIn("\n  kernels   mine 66.7 %, stencil 33.3 %\n", page)

    def test_kinds_add_up_to_all_operations(self):
        found = self.tables("kind,gpu", self.record("zoo"))
        for column in ("Total", "Count", "Untimed"):
            self.assertEqual(self.sum(found["kind"], column), self.sum(found["gpu"], column))

    def test_a_wrong_file_is_said(self):
        trace = self.record("demo", "3")
        result = self.run_gpuprof("summary", "--kinds", "/nowhere/kinds", trace)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assert_one_line(result.stderr, "/nowhere/kinds cannot be opened")


class Launches(Tables):

    def test_queues_count_each_launch(self):
        found = self.tables("queue,gpu,graph", self.record("overlap"))
        self.assertEqual(self.sum(found["queue-stream"], "Launched"), self.sum(found["gpu"], "Count"))
        self.assertEqual(self.sum(found["queue-kernel"], "Count"), self.sum(found["gpu"], "Count"))
        for row in found["queue-stream"]:
            self.assertEqual(row["Changes"], 2 * row["Launched"])
            self.assertEqual(row["Min"], 0)

    def test_the_page_has_the_figures_of_the_tables(self):
        trace = self.record("demo", "200")
        page, found = " ".join(self.summary("--full", trace).stdout.split()), self.tables("queue", trace)
        launched, late = (self.sum(found["queue-stream"], column) for column in ("Launched", "Late"))
        short = self.sum(found["queue-kernel"], "Short")
        said = f"queue of {launched:,} launched operations {late:,} came late: their stream was already idle, " \
               f"{short:,} took less time than their launch"
        if 10 * max(late, short) > launched:  # else it is not said
            self.assertIn(said, page)

    def test_the_loop_of_the_demo_is_found(self):
        found = self.tables("sequence", self.record("demo", "100"))["sequence"]
        loops = [row for row in found if row["Length"] == 5]
        self.assertEqual([row["Count"] for row in loops], [50, 50])  # in two streams
        self.assertTrue(all("scale<float> > add<float> > smooth" in row["Operations"] for row in loops), loops)


class Iterations(Tables):

    def test_the_loop_of_the_demo_has_its_passes(self):
        trace = self.record("demo", "100")
        rows = self.tables("step", trace)["iteration"]
        self.assertEqual([row["Number"] for row in rows], list(range(1, 51)))
        for row in rows:
            self.assertEqual(row["Busy"] + row["Idle"], row["Wall"])
            self.assertGreaterEqual(row["Ops"], 5)  # its own, and those of the other stream, which keep the device busy, too
        # where the machine stalls, the loop may be left and begun again
        between = [after["Start"] - row["Start"] - row["Wall"] for row, after in zip(rows, rows[1:])]
        self.assertGreaterEqual(min(between), 0)
        self.assertEqual(statistics.median(between), 0)
        longest = json.loads(self.summary("--by", "iteration", "--sort", "wall", "--format", "json", trace).stdout)["rows"]
        self.assertEqual([row["Wall"] for row in longest], sorted((row["Wall"] for row in rows), reverse=True))
        self.assertRegex(self.summary("--full", trace).stdout, r"\nSteps: 50 of [^,]*,\s+in\s+one\s+of\s+2\s+streams,\s+found\s+by\s+repeating\s+operations;"
                                                     r"[\s\S]*\n  steady    GPU [0-9.]+ % busy[^;]*; idle: ")

    def test_ranges_say_what_the_gpu_did_in_them(self):
        found = self.tables("nvtx-time,nvtx-gpu", self.record("zoo"))
        projected = {(row["Range"], row["Domain"], row["Style"]): row for row in found["nvtx-gpu"]}
        self.assertEqual(len(projected), len(found["nvtx-time"]))
        for row in found["nvtx-time"]:
            whole = projected[(row["Range"], row["Domain"], row["Style"])]
            self.assertEqual((row["Total"], row["Count"]), (whole["Total"], whole["Count"]))
            self.assertLessEqual(row["Busy"] + row["Idle"], row["Total"])


class Page(Tables):

    def test_other_formats_have_the_tables_of_the_page(self):
        trace = self.record("demo", "3")
        tables = json.loads(self.summary("--format", "json", trace).stdout)
        self.assertLessEqual({"time", "idle", "gap", "gap-site", "kind", "iteration", "queue-stream", "gpu", "api"}, {table["report"] for table in tables})
        self.assertIn("\nWall (ns),", self.summary("--format", "csv", trace).stdout)

    def test_json_has_the_sections_of_the_first_screen(self):
        trace = self.record("demo", "3")
        reports = {report["report"]: report for report in json.loads(self.summary("--format", "json", trace).stdout)}
        summary, advice, time = reports["summary"], reports["advice"], reports["time"]["rows"][0]
        device = summary["devices"][0]
        self.assertEqual((device["number"], device["busy_ns"], device["possible_ns"]), (time["Device"], time["Busy"], time["Wall"]))
        self.assertEqual(sum(state["time_ns"] for state in summary["states"]), device["possible_ns"])
        self.assertEqual(sum(state["time_ns"] for state in summary["states"] if "idle_cause" in state), time["Idle"])
        self.assertEqual((summary["calls"], summary["kernels"]), (sum(row["Count"] for row in reports["api"]["rows"]), 9))
        self.assertEqual((summary["ends_with"], summary["has_pauses"], summary["incomplete"]), ("call", False, []))
        self.assertEqual([(row["id"], row["bytes"], row["blocks"]) for row in summary["left"]], [("never-freed", 2 << 20, 2)])
        del advice["report"]
        self.assertEqual(advice, json.loads(self.run_gpuprof("advice", "--format", "json", trace).stdout))

    def test_what_a_cut_trace_lacks_has_ids(self):
        trace = self.record("demo", "3")
        os.truncate(trace, os.path.getsize(trace) - 8)  # within the last chunk: up to 7 bytes of padding end it
        summary = json.loads(self.summary("--format", "json", trace).stdout)[-2]
        self.assertEqual([row["id"] for row in summary["incomplete"]][:3], ["incomplete", "end", "cut"])
        self.assertIn("pid", summary["incomplete"][0])


if __name__ == "__main__":
    unittest.main()
