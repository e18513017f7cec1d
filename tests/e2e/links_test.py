"""Copies against the peak of the link that they went over, which is asked for when the program has ended."""
import json
import os
import shutil
import subprocess
import unittest

import support
from support import BARE, GPUPROF, LAUNCHED, Case

PCIE_5_X16 = 32e9 * 16 * 128 / 130 / 8
NVLINK_18 = 18 * 26562e6


class Links(Case):

    def record(self, program, way=LAUNCHED, **variables):
        path = os.path.join(support.BUILD, "programs", program)
        return self.run_program([path], way=way, GPUPROF_OUTPUT=program, **variables)

    def empty_folder(self):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)

    def copies(self, program):
        result = self.run_gpuprof("summary", "--by", "copy", "--format", "json", self.path(program + ".gpuprof"))
        self.assertEqual(result.returncode, 0, result.stderr)
        tables = {table["report"]: table["rows"] for table in json.loads(result.stdout)}
        times = {row["Operation"]: row["Total"] for row in tables["copy-time"]}
        return [(row, times[row["Operation"]]) for row in tables["copy-size"]]

    def assert_share(self, row, time_ns, peak):
        self.assertAlmostEqual(row["Peak %"], 100 * row["Total"] / peak / (time_ns / 1e9), delta=0.1)

    def test_host_copies_have_a_share_of_pcie(self):
        for way in (LAUNCHED, BARE):
            with self.subTest(way):
                result = self.record("demo", way)
                self.assertIn("PCIe 5.0 x16", result.stderr)
                seen = 0
                for row, time_ns in self.copies("demo"):
                    if "toD" in row["Operation"] or "DtoH" in row["Operation"]:
                        self.assert_share(row, time_ns, PCIE_5_X16)
                        seen += 1
                self.assertEqual(seen, 2)
                # the trace has them, and another reading says the same
                self.assertIn("PCIe 5.0 x16", self.run_gpuprof("summary", self.path("demo.gpuprof")).stdout)
                self.empty_folder()

    def test_they_are_asked_for_once(self):
        self.record("demo")
        before = os.path.getsize(self.path("demo.gpuprof"))
        result = self.run_program([GPUPROF, "finish", self.path("demo.gpuprof")], way=support.PLAIN)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.path.getsize(self.path("demo.gpuprof")), before)

    def test_what_cannot_be_asked_stays_unknown(self):
        for fault in ("nvml-missing", "nvml-hangs"):
            with self.subTest(fault):
                result = self.record("demo", GPUSIM_FAULT=fault)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotIn("PCIe", result.stderr)
                rows = [row for row, _ in self.copies("demo") if "pinned" in row["Operation"]]
                self.assertTrue(rows)
                self.assertEqual([row["Peak %"] for row in rows], [None] * len(rows))
                self.empty_folder()

    def children(self, process):
        self.assertIsNone(process.poll(), "it has ended without asking")
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
            return file.read().split()

    def test_who_is_killed_while_it_asks_leaves_nobody_behind(self):
        self.record("demo", GPUSIM_FAULT="nvml-hangs")
        trace = self.path("demo.gpuprof")
        finish = subprocess.Popen([GPUPROF, "finish", trace], env=support.environment(GPUSIM_FAULT="nvml-hangs"))
        asked = []
        while not asked:
            asked = self.children(finish)
        finish.kill()
        finish.wait()
        while os.path.exists(f"/proc/{asked[0]}/exe"):
            pass
        result = self.run_program([GPUPROF, "finish", trace], way=support.PLAIN)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("PCIe 5.0 x16", self.run_gpuprof("summary", trace).stdout)

    def test_whoever_waits_for_the_summary_waits_for_the_answer(self):
        result = self.record("demo", BARE, GPUSIM_FAULT="nvml-hangs", GPUPROF_FINISH_TIMEOUT=1)
        self.assertIn("GPU busy", result.stderr)
        self.assertNotIn("PCIe", result.stderr)

    def test_a_few_bytes_are_no_reason_to_ask(self):
        self.assertNotIn("PCIe", self.record("graph").stderr)

    def test_copies_between_gpus_have_a_share_of_nvlink(self):
        source = """
#include <cuda_runtime.h>
int main(void) { void *a, *b; size_t n = 64 << 20;
    cudaMalloc(&a, n); cudaSetDevice(1); cudaMalloc(&b, n);
    return cudaMemcpyPeer(b, 1, a, 0, n) || cudaDeviceSynchronize(); }"""
        home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
        program = self.compile("peer", source, "-I" + home + "/include", "-L" + support.LIBRARIES, "-lcudart",
                               "-Wl,-rpath-link," + support.LIBRARIES)
        result = self.run_program([program], GPUPROF_OUTPUT="peer", GPUSIM_DEVICES=2)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = [(row, time_ns) for row, time_ns in self.copies("peer") if "PtoP" in row["Operation"]]
        self.assertEqual(len(found), 1, self.copies("peer"))
        self.assert_share(*found[0], NVLINK_18)


if __name__ == "__main__":
    unittest.main()
