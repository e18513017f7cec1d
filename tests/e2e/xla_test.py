"""Where XLA is in the process CUPTI is not asked for its records before the end: graphs of XLA's would fail on the GPU."""
import os
import re
import subprocess
import time
import unittest

import support
from support import BARE, GPU, Case

LAUNCHES = 60000  # takes many periods of 10 ms
OF_A_BUFFER = 200  # more records than 16 KiB hold
OPTIONS = {"GPUPROF_FLUSH_MS": "10", "GPUPROF_SUMMARY": "none", "GPUPROF_CHROME": "none"}
POLL_S = 0.05


class Xla(Case):
    def setUp(self):
        super().setUp()
        self.preload = f"{self.compile('xla_cuda_plugin.so', '', '-shared', '-fPIC')}:{support.LIBRARY}"

    def summary(self, *steps, **variables):
        """Of a program that takes these steps."""
        self.run_program([*GPU, *steps], BARE, **OPTIONS, **variables)
        trace = self.only_trace()
        summary = self.run_gpuprof("summary", "--full", "--top", "0", trace).stdout
        os.remove(trace)
        return summary

    def number(self, pattern, summary):
        found = re.search(pattern, summary)
        self.assertTrue(found, summary)
        return int(found.group(1).replace(",", ""))

    def test_nothing_is_flushed_before_the_end(self):
        for flushes, variables in ((range(3, 10 ** 6), {}), (range(1, 2), {"LD_PRELOAD": self.preload})):
            summary = self.summary(f"launch={LAUNCHES}", **variables)
            self.assertIn(f"all {LAUNCHES:,} launches have their kernel record", summary)
            self.assertIn("nothing was dropped", summary)
            self.assertIn(self.number(r"flushes ([\d,]+)", summary), flushes)

    def records(self):
        """GPU records in the trace by now."""
        found = re.search(r"([\d,]+) GPU records", self.run_gpuprof("summary", "--full", *self.files(".gpuprof")).stdout) if self.files(".gpuprof") else None
        return int(found.group(1).replace(",", "")) if found else 0

    def test_what_a_program_that_is_killed_leaves(self):
        """What CUPTI holds back in a buffer that is not full is missing, and no more; that it is full is not waited for with a flush."""
        program = subprocess.Popen([*GPU, f"launch={LAUNCHES}", "wait"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=support.environment(LD_PRELOAD=self.preload, **OPTIONS))
        deadline = time.monotonic() + support.LIMIT_S
        try:
            while self.records() <= LAUNCHES - OF_A_BUFFER:
                self.assertLess(time.monotonic(), deadline, f"{self.records()} records")
                time.sleep(POLL_S)
        finally:
            program.kill()
            program.communicate()
        self.assertLess(self.records(), LAUNCHES)

    def unfinished(self):
        return re.findall("  (not known|never ended|one of these never ended)  ", self.run_gpuprof("summary", "--by", "unfinished", *self.files(".gpuprof")).stdout)

    def test_what_it_holds_back_is_not_said_to_hang(self):
        """XLA comes when CUPTI was asked for records before."""
        library = self.preload.split(":", maxsplit=1)[0]
        program = subprocess.Popen([*GPU, "launch=3", "line", f"load={library}", *["start=3", "line"] * 1000], cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=support.environment(LD_PRELOAD=support.LIBRARY, **OPTIONS))
        deadline, launches = time.monotonic() + support.LIMIT_S, 3
        try:
            while not self.unfinished():
                self.assertLess(time.monotonic(), deadline)
                # XLA is not there yet, or a flush that had begun by then gave these, too
                if self.records() == launches:
                    program.stdin.write(b"\n")
                    program.stdin.flush()
                    launches += 3
        finally:
            program.kill()
            program.communicate()
        self.assertEqual(self.unfinished()[0], "not known")
        self.assertNotIn("no record of its end", self.run_gpuprof("summary", *self.files(".gpuprof")).stdout)


if __name__ == "__main__":
    unittest.main()
