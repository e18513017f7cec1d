"""gpuprof trace: every operation and call of the sample programs, in the order of their starts."""
import csv
import io
import json
import os
import unittest

import support
from support import Case
from facts import Facts


def ns(microseconds):
    return round(microseconds * 1000)


class Trace(Case):

    def record(self, program, *arguments):
        path = os.path.join(support.BUILD, "programs", program)
        self.run_program([path, *arguments], GPUPROF_OUTPUT=program)
        return self.path(program + ".gpuprof")

    def trace(self, *arguments):
        result = self.run_gpuprof("trace", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def rows(self, *arguments):
        return json.loads(self.trace(*arguments, "--format", "json"))["rows"]

    def test_operations_are_those_of_the_chrome_trace(self):
        for program in ("demo", "copies", "graph", "launch"):
            rows = self.rows("gpu", self.record(program))
            facts = Facts(self.path(program + ".json"))
            operations = facts.kernels + facts.copies + facts.sets
            self.assertEqual(sorted((row["CorrID"], row["Duration"], row["Stream"]) for row in rows),
                             sorted((op["args"]["correlation"], ns(op["dur"]), op["args"]["stream"])
                                    for op in operations), program)
            self.assertEqual([row["Start"] for row in rows], sorted(row["Start"] for row in rows))
            self.assertEqual(sum(row["Size"] or 0 for row in rows),
                             sum(op["args"]["bytes"] for op in facts.copies + facts.sets))
            self.assertEqual(sum(row["GrdX"] is not None for row in rows), len(facts.kernels))

    def test_calls_are_those_of_the_chrome_trace(self):
        for program in ("demo", "fail"):
            rows = self.rows("api", self.record(program))
            calls = Facts(self.path(program + ".json")).calls
            self.assertEqual(sorted((row["Name"], row["Duration"]) for row in rows),
                             sorted((call["name"], ns(call["dur"])) for call in calls), program)
            self.assertEqual(sum(row["Result"] != 0 for row in rows), sum("status" in call["args"] for call in calls))
            self.assertTrue(all((row["Error"] is None) == (row["Result"] == 0) for row in rows))

    def test_launches_are_those_of_the_tables(self):
        trace = self.record("launch")
        rows = self.rows("exec", trace)
        facts = Facts(self.path("launch.json"))
        self.assertEqual(len(rows), len(facts.kernels))
        for row in rows:
            self.assertEqual(row["Total Dur"], max(row["Kernel Start"] + row["Kernel Dur"], row["Start"] + row["API Dur"])
                             - row["Start"])
            if row["Queue Dur"] is not None:
                self.assertEqual(row["Queue Start"] + row["Queue Dur"], row["Kernel Start"])
        table = json.loads(self.run_gpuprof("summary", "--by", "exec", "--top", "0", "--format", "json", trace).stdout)["rows"]
        self.assertEqual(sum(row["Total Dur"] for row in rows), sum(row["Total"] for row in table))

    def test_ranges_are_those_of_the_chrome_trace(self):
        rows = self.rows("nvtx", self.record("zoo"))
        ranges = Facts(self.path("zoo.json")).ranges
        self.assertEqual([(row["Name"], row["Duration"], row["GPU ops"]) for row in rows],
                         [(one["name"], ns(one["dur"]), one["args"].get("GPU operations", 0)) for one in ranges])
        outer, *inner = rows
        self.assertEqual((outer["Parent"], outer["Children"], outer["Level"]), (None, len(inner), 0))
        self.assertEqual([row["NameTree"] for row in rows], [outer["Name"]] + ["  " + row["Name"] for row in inner])
        self.assertEqual(outer["Self"], outer["Duration"] - sum(row["Duration"] for row in inner))
        self.assertEqual({(row["Parent"], row["Level"]) for row in inner}, {(outer["Range"], 1)})
        self.assertTrue(all(row["GPU Dur"] >= 0 and row["GPU Start"] >= row["Start"] for row in rows if row["GPU ops"]))

    def test_a_window_and_a_limit(self):
        trace = self.record("demo", "20")
        rows = self.rows("api", trace)
        start, end = rows[10]["Start"], rows[30]["Start"]
        self.assertEqual(self.rows("api", "--start", f"{start}ns", "--end", f"{end}ns", trace),
                         [row for row in rows if start <= row["Start"] < end])
        self.assertEqual(self.rows("api", "--start", f"{start / 1e3}us", "--limit", "5", trace), rows[10:15])
        for option in ("-n", "--top", "--rows"):  # as summary has it
            self.assertEqual(self.rows("api", option, "5", trace), rows[:5])
        # text has all digits, too: what follows what can be seen, and a moment can be typed
        moments = [line.split()[0] for line in self.trace("api", trace).splitlines()[2:]]
        self.assertEqual([round(float(moment.rstrip("s")) * 1e9) for moment in moments], [row["Start"] for row in rows])
        self.assertEqual(self.rows("api", "--start", moments[10], "--end", moments[30], trace),
                         [row for row in rows if start <= row["Start"] < end])

    def test_processes_are_merged_by_time(self):
        traces = [self.record("launch"), self.record("copies")]
        rows = self.rows("api", *traces)
        self.assertEqual(len(rows), sum(len(self.rows("api", trace)) for trace in traces))
        self.assertEqual([row["Start"] for row in rows], sorted(row["Start"] for row in rows))
        self.assertEqual(len({row["PID"] for row in rows}), 2)

    def test_formats_hold_the_same_values(self):
        trace = self.record("demo", "3")
        rows = self.rows("gpu", trace)
        titles, *lines = list(csv.reader(io.StringIO(self.trace("gpu", "--format", "csv", trace))))
        self.assertEqual([title.split(" (")[0] for title in titles], list(rows[0]))
        self.assertEqual([["" if value is None else str(value) for value in row.values()] for row in rows], lines)
        for form, besides in (("text", 2), ("markdown", 4)):
            self.assertEqual(len(self.trace("gpu", "--format", form, trace).splitlines()), len(rows) + besides)

    def test_nothing_then_is_said(self):
        trace = self.record("demo", "3")
        result = self.run_gpuprof("trace", "gpu", "--start", "1000s", "--format", "csv", trace)
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 1))
        self.assert_one_line(result.stderr, "no GPU operation starts in that time; the trace ends at +")

    def test_what_is_wrong_is_said_in_one_line(self):
        trace = self.record("demo", "3")
        for arguments, part in (
                ((), "gpu, api, exec, nvtx, host, queue, bandwidth or critical-path"),
                ((trace,), "gpu, api, exec, nvtx, host, queue, bandwidth or critical-path"),
                (("gpu",), "name trace files"),
                (("gpu", "--start", "soon", trace), "a time with its unit, such as 1.5s"),
                (("gpu", "--start", "5", trace), "a time with its unit, such as 1.5s"),
                (("gpu", "--start", "-1", trace), "a time with its unit, such as 1.5s"),
                (("gpu", "--start", "2s", "--end", "1s", trace), "--start must be before --end"),
                (("gpu", "--limit", "-1", trace), "--limit needs a number"),
                (("gpu", "--limit", "18446744073709551615", trace), "--limit needs a number up to 1000000000"),
                (("gpu", "--format", "xml", trace), "text, csv, json or markdown"),
                (("gpu", "-o", trace, trace), "is one of the traces")):
            result = self.run_gpuprof("trace", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assert_one_line(result.stderr, part)


if __name__ == "__main__":
    support.main()
