"""Where XLA is in the process CUPTI is not asked for its records before the end: graphs of XLA's would fail on the GPU."""
import os
import re
import unittest

import support
from support import BARE, GPU, Case

LAUNCHES = 20000  # takes many periods of 10 ms


class Xla(Case):
    def flushes(self, **variables):
        result = self.run_program([*GPU, f"launch={LAUNCHES}"], BARE, GPUPROF_FLUSH_MS="10", GPUPROF_SUMMARY="none", GPUPROF_CHROME="none", **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        trace = self.only_trace()
        summary = self.run_gpuprof("summary", "--full", "--top", "0", trace).stdout
        self.assertIn(f"all {LAUNCHES:,} launches have their kernel record", summary)
        self.assertIn("nothing was dropped", summary)
        os.remove(trace)
        return int(re.search(r"flushes ([\d,]+)", summary).group(1).replace(",", ""))

    def test_nothing_is_flushed_before_the_end(self):
        library = self.compile("xla_cuda_plugin.so", "", "-shared", "-fPIC")
        self.assertGreater(self.flushes(), 2)
        self.assertEqual(self.flushes(LD_PRELOAD=f"{library}:{support.LIBRARY}"), 1)


if __name__ == "__main__":
    unittest.main()
