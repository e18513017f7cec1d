#!/usr/bin/env python3
"""Traces of any size become other formats in memory that does not grow with them."""
import os
import shutil
import subprocess
import tempfile
import unittest

import support
from support import GPUPROF, Case

MAKER = os.path.join(support.BUILD, "bench", "trace")
LAUNCHES = 50_000  # and ten times as many
AT_ONCE = ("--at-once", "20000")
GROWTH_MIB = 6     # of a trace that is 7 MB larger: some 150 bytes a chunk, and pages of the file
FORMATS = ("chrome", "perfetto", "csv", "jsonl", "sqlite", "folded", "speedscope", "pprof", "openmetrics")
GROWING = ("columns", "parquet")  # tables that are complete only at the end; groups of 262,144 rows


class LargeTest(Case):

    @classmethod
    def setUpClass(cls):
        kept = tempfile.mkdtemp(prefix="gpuprof-e2e-")
        cls.addClassCleanup(shutil.rmtree, kept, ignore_errors=True)
        cls.traces = [os.path.join(kept, name) for name in ("one.gpuprof", "ten.gpuprof")]
        for trace, launches in zip(cls.traces, (LAUNCHES, 10 * LAUNCHES)):
            subprocess.run([MAKER, str(launches), trace], check=True, stdout=subprocess.DEVNULL)

    def peak_mib(self, *arguments):
        """The most memory that gpuprof takes with these arguments."""
        pid = os.posix_spawn(GPUPROF, [GPUPROF, *arguments], os.environ,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 2, self.path("said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])
        _, status, usage = os.wait4(pid, 0)
        with open(self.path("said"), encoding="utf-8") as file:
            self.assertEqual(status, 0, (arguments, file.read()))
        return usage.ru_maxrss / 1024

    def assert_constant(self, *arguments, options=()):
        """OUT and TRACE stand for what is written and read."""
        def peak(trace, more):
            given = {"OUT": self.path("out"), "TRACE": trace}
            return self.peak_mib(*(given.get(word, word) for word in arguments), *more)

        one, ten = (peak(trace, options) for trace in self.traces)
        self.assertLess(ten, one + GROWTH_MIB, arguments)
        return ten

    def test_every_format(self):
        whole = self.peak_mib("export", "-F", "csv", "-o", self.path("out"), self.traces[1])
        for form in FORMATS:
            peak = self.assert_constant("export", "-F", form, "-o", "OUT", "TRACE", options=AT_ONCE)
            self.assertLess(peak, whole / 2, form)  # else the test could not fail
        listed = subprocess.run([GPUPROF, "export", "--list"], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
        self.assertEqual(sorted(line.split()[0] for line in listed.splitlines()[1:]), sorted(FORMATS + GROWING))

    def test_several_files(self):
        for form in ("chrome", "perfetto"):
            self.assert_constant("export", "-F", form, "--parts", "5", "-o", "OUT", "TRACE", options=AT_ONCE)
            sizes = [os.path.getsize(self.path(f"out.{number}")) for number in range(1, 6)]
            self.assertLess(max(sizes), 1.1 * min(sizes))

    def test_a_window(self):
        self.assert_constant("export", "--start", "10ms", "--end", "20ms", "-o", "OUT", "TRACE", options=AT_ONCE)

    def test_a_summary_in_one_pass(self):
        self.assert_constant("summary", "--one-pass", "-o", "OUT", "TRACE")


if __name__ == "__main__":
    unittest.main()
