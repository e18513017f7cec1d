"""--sample: whole ranges in random windows, totals as estimates, and nothing said that windows cannot tell."""
import json
import os
import unittest

import support
from support import Case
from facts import Facts

WINDOWS = os.path.join(support.BUILD, "programs", "windows")
EACH = 3  # launches in a range


class Sample(Case):

    def record(self, name, windows, *options):
        result = self.run_program([WINDOWS, f"samples={windows}"], options=[f"--output={name}", "--sample=5%", "--duration=0.05", *options])
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def summary(self, name):
        result = self.run_gpuprof("summary", "--format", "json", f"{name}.gpuprof")
        self.assertEqual(result.returncode, 0, result.stderr)
        return next(report for report in json.loads(result.stdout) if report["report"] == "summary")

    def test_windows_are_of_whole_ranges(self):
        result = self.record("t", 6, "--capture-range=nvtx:window@tests")
        self.assertIn("SAMPLED: ", result.stderr)
        self.assertIn("Memory allocated through CUDA: unknown", result.stderr)
        facts = Facts(self.path("t.json"))
        self.assertEqual(len(facts.kernels), len(facts.launches()))
        self.assertEqual(len(facts.kernels), EACH * len(facts.ranges))

        summary = self.summary("t")
        self.assertEqual([row["id"] for row in summary["incomplete"]], ["sampled"])
        self.assertEqual((summary["memory"], summary["left"]), ([], []))
        rows = {row["id"]: row for row in summary["sampled"]}
        self.assertEqual(list(rows), ["windows", "launches", "gpu_operations", "gpu_time", "copied", "waits"])
        windows = rows["windows"]
        self.assertGreaterEqual(windows["count"], 6)
        self.assertLess(windows["recorded_ns"], windows["whole_ns"])
        for name in ("launches", "gpu_operations"):  # as many of both
            self.assertAlmostEqual(rows[name]["estimate"], rows["launches"]["estimate"], delta=1e-6)
            self.assertGreater(rows[name]["estimate"], len(facts.kernels))
            self.assertGreater(rows[name]["error"], 0)

    def test_totals_are_not_compared(self):
        for name in ("a", "b"):
            self.record(name, 2)
        self.assertEqual([row["error"] for row in self.summary("a")["sampled"][1:]], [None] * 5)  # of 5 windows and more
        result = self.run_gpuprof("diff", "--format", "json", "a.gpuprof", "b.gpuprof")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("is sampled (--sample): its totals are unknown"), 2, result.stderr)
        metrics = {row["Metric"] for table in json.loads(result.stdout or "[]") for row in table["rows"]}
        self.assertLessEqual(metrics, {"step_time", "step_spread"})
        self.run_program([WINDOWS, "launch=10"], options=["--output=c"])
        self.run_gpuprof("check", "--write-baseline", "base.json", "a.gpuprof")
        result = self.run_gpuprof("check", "--baseline", "base.json", "b.gpuprof")
        self.assertIn("the runs are sampled (--sample): totals are unknown", result.stdout + result.stderr)
        self.assertNotIn("launches", result.stdout)
        result = self.run_gpuprof("check", "--baseline", "base.json", "c.gpuprof")
        self.assertIn("the baseline was recorded with other options (DURATION=0.05 SAMPLE=5%; now: the default)", result.stderr)


if __name__ == "__main__":
    unittest.main()
