"""Where XLA is in the process CUPTI is not asked for its records before the end: graphs of XLA's would fail on the GPU."""
import os
import re
import unittest

import support
from support import BARE, GPU, Case

LAUNCHES = 60000  # takes many periods of 10 ms
OF_A_BUFFER = 200  # more records than 16 KiB hold


class Xla(Case):
    def setUp(self):
        super().setUp()
        self.preload = f"{self.compile('xla_cuda_plugin.so', '', '-shared', '-fPIC')}:{support.LIBRARY}"

    def summary(self, *steps, **variables):
        """Of a program that takes these steps."""
        self.run_program([*GPU, *steps], BARE, GPUPROF_FLUSH_MS="10", GPUPROF_SUMMARY="none", GPUPROF_CHROME="none", **variables)
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

    def test_what_a_program_that_is_killed_leaves(self):
        """What CUPTI held back in a buffer that was not full is missing, and no more."""
        summary = self.summary(f"launch={LAUNCHES}", "raise=9", LD_PRELOAD=self.preload)
        self.assertGreater(self.number(r"([\d,]+) GPU records", summary), LAUNCHES - OF_A_BUFFER)


if __name__ == "__main__":
    unittest.main()
