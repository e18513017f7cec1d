"""gpuprof metrics: what a chip can measure, as the installed libcupti says; skipped without libcupti."""
import csv
import json
import os
import subprocess
import unittest

import support
from support import Case

HAS_CUPTI = not subprocess.run([support.GPUPROF, "metrics", "chips"], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
OLD = os.path.join(support.BUILD, "sim", "old", "libcupti.so.13")  # as old as 11.8


class Metrics(Case):

    def rows(self, *arguments):
        result = self.run_gpuprof("metrics", *arguments, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["rows"]

    def refuse(self, *arguments):
        result = self.run_gpuprof("metrics", *arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr.count("\n"), 1)
        return result.stderr


@unittest.skipUnless(HAS_CUPTI, "no libcupti with libnvperf_host.so")
class Answers(Metrics):

    def test_chips_have_names_of_gpus(self):
        gpus = {row["Chip"]: row["GPUs"] for row in self.rows("chips")}
        self.assertIn("H200", gpus["GH100"])

    def test_list_finds_words_in_names_and_descriptions(self):
        units = {row["Metric"]: row["Unit"] for row in self.rows("list", "dram__bytes_read")}
        self.assertEqual(units["dram__bytes_read"], "byte")
        self.assertEqual(list(units), ["dram__bytes_read"])
        for words in (("bytes read from", "dram__"), ("DRAM*read", "bytes")):
            self.assertEqual([row["Metric"] for row in self.rows("list", *words)], list(units), words)
        self.assertGreater(len(self.rows("list")), 3000)
        self.assertLess(len(self.rows("list", "--pm")), 2000)
        full = {row["Metric"]: row["Unit"] for row in self.rows("list", "--ends", "dram__bytes_r")}
        self.assertEqual(full["dram__bytes_read.sum.per_second"], "byte/second")

    def test_passes_alone_and_together(self):
        names = ("dram__bytes_read.sum", "lts__t_sector_hit_rate.pct", "pcie__read_bytes.sum")
        self.assertEqual(
            [(row["Passes"], row["With those above"]) for row in self.rows("passes", *names)],
            [(1, 1), (2, 2), (1, None)])

    def test_sets_say_what_a_chip_lacks(self):
        rows = self.rows("sets", "--chip", "GA100", "roofline-hw", "pipes")
        self.assertEqual([row["Metric"] for row in rows if row["Collected"] != "yes"],
                         ["sm__inst_executed_pipe_tensor_op_gmma.sum",
                          "sm__ops_path_tensor_src_fp8.sum.peak_sustained"])
        self.assertEqual({(row["Set"], row["Passes"]) for row in rows},
                         {("roofline-hw", 1), ("pipes", 2)})

    def test_csv_to_a_file(self):
        written = self.run_gpuprof("metrics", "chips", "-F", "csv", "-o", "out")
        self.assertEqual(written.returncode, 0)
        with open(self.path("out"), encoding="utf-8") as file:
            self.assertIn({"Chip": "GA100", "GPUs": "A100, A30"}, list(csv.DictReader(file)))

    def test_near_names(self):
        for arguments, near in (
                (("list", "-c", "GH101"), "GH100"),
                (("passes", "dram__bytes_raed.sum"), "dram__bytes_read.sum"),
                (("passes", "dram__bytes_read"), "dram__bytes_read.sum"),
                (("passes", "l1tex__t_sector_hit_rate"), "l1tex__t_sector_hit_rate.pct"),
                (("sets", "pipe"), "pipes")):
            self.assertIn(f"did you mean {near}?", self.refuse(*arguments), arguments)
        self.assertIn("gpuprof metrics list", self.refuse("passes", "nothing"))
        self.assertIn("gpuprof metrics chips", self.refuse("sets", "-c", "nothing"))


class Errors(Metrics):

    def test_a_wrong_command_line(self):
        self.assertIn("list, passes, sets or chips", self.refuse())
        self.assertIn("did you mean list?", self.refuse("lst"))

    def test_without_a_usable_libcupti(self):
        for file in (OLD, "/dev/null", self.path("none")):
            result = self.run_gpuprof("metrics", "chips", "--cupti", file)
            self.assertEqual(result.returncode, 1)
            self.assertIn(file, result.stderr)
            self.assertIn("cuda-cupti", result.stderr)
            self.assertIn("--cupti", result.stderr)


if __name__ == "__main__":
    support.main()
