"""--trace and --graphs: each word brings its records and no others; the counts are the program's own."""
import os
import subprocess
import unittest

import support
from support import BARE, LAUNCHED, Case

COVER = os.path.join(support.BUILD, "programs", "cover")
COUNTS = os.path.join(support.BUILD, "tests", "lib", "record_counts")

GPU = {"calls.launch", "calls.graph_launch", "calls.copy", "calls.set", "calls.capture_begin", "calls.capture_end",
       "calls.control", "calls.host", "calls.cooperative", "calls.overlapping", "kernels", "copies", "sets",
       "kernels.traced_back", "nodes"}
MEMORY = {"calls.alloc", "calls.free", "calls.control", "pools"}
SYNC = {"calls.sync", "syncs", "syncs.of_events"}
EVENT = {"calls.event", "events", "syncs", "syncs.of_events"}  # CUPTI gives records of events beside those of waits only
MODULE = {"calls.module", "jits", "overheads"}
OVERHEAD = {"overheads"}
DEFAULT = GPU | MEMORY | {"calls.sync"} | MODULE | OVERHEAD

CUPTI_VERSIONS = (18, 24, 28, 130001)  # cuptiGetVersion(): 11.8, 12.6, 12.9, 13.0


def read_counts(text):
    return {words[0]: int(words[1]) for words in map(str.split, text.splitlines()) if len(words) == 2 and words[1].isdigit()}


class TraceList(Case):

    def record(self, *arguments, way=LAUNCHED, **variables):
        """What the program's own trace holds, without that of the process which lends it memory, and what it printed."""
        for name in self.files(".gpuprof"):
            os.unlink(self.path(name))
        variables = {name if name.startswith("GPU") else "GPUPROF_" + name: value for name, value in variables.items()}
        result = self.run_program([COVER, *arguments], way, GPUPROF_SUMMARY="none", GPUPROF_CHROME="none",
                                  GPUPROF_FOLLOW="inherited", **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = subprocess.run([COUNTS, self.only_trace()], stdout=subprocess.PIPE, universal_newlines=True, check=True)
        return read_counts(counts.stdout), read_counts(result.stdout), result.stderr

    def test_each_word_brings_its_records(self):
        for words, names in (("none", set()), ("gpu", GPU), ("memory", MEMORY), ("sync", SYNC), ("event", EVENT),
                             ("module", MODULE), ("overhead", OVERHEAD), ("nvtx", set()), ("unified", {"unified"}),
                             ("default", DEFAULT), ("sync,memory", SYNC | MEMORY), ("none,event", EVENT),
                             ("unified,default", DEFAULT | {"unified"})):
            with self.subTest(trace=words):
                self.assertEqual(set(self.record(TRACE=words)[0]), names)

    def test_every_call(self):
        counts, _, _ = self.record(way=BARE, TRACE="api-all")
        self.assertEqual(set(counts) - {"calls.other", "calls.event"}, DEFAULT)
        self.assertGreater(counts["calls.other"], 0)

    def test_a_wrong_word_is_said_and_the_default_holds(self):
        counts, _, errors = self.record(way=BARE, TRACE="gpu,memroy")
        self.assertIn("gpuprof: GPUPROF_TRACE=gpu,memroy is not a list", errors)
        self.assertEqual(set(counts), DEFAULT)

    def test_counts_are_the_program_s(self):
        for version in CUPTI_VERSIONS:
            with self.subTest(cupti=version):
                counts, program, errors = self.record("-batches", TRACE="default,sync,event", GPUSIM_CUPTI_VERSION=version)
                self.assertNotIn("CUPTI does not provide these records", errors)
                self.assertEqual(counts["events"], program["event.records"])
                self.assertEqual(counts["calls.event"], program["event.records"])
                waits = counts["calls.sync"] + 1  # a query of an event is recorded like a wait
                self.assertLessEqual(counts["syncs"], waits)
                if version == 130001:  # earlier versions lack records of waits for a device
                    self.assertEqual(counts["syncs"], waits)
                self.assertEqual(counts["calls.cooperative"], program["kernel.k_cooperative"])
                self.assertEqual(counts["calls.overlapping"], program["kernel.k_follow"])
                self.assertEqual(counts["calls.graph_launch"], program["graph.launches"])
                self.assertEqual(counts["kernels.traced_back"], program["kernel.k_node"])  # not those of a child graph

    def test_events_of_every_version(self):
        for version in CUPTI_VERSIONS:
            with self.subTest(cupti=version):
                counts, program, _ = self.record("-batches", TRACE="event", GPUSIM_CUPTI_VERSION=version)
                self.assertEqual(counts["events"], program["event.records"])
                self.assertEqual(set(counts), EVENT)

    def test_whole_graphs(self):
        nodes, _, _ = self.record()
        counts, program, _ = self.record(GRAPHS="graph")
        self.assertEqual(counts["graphs"], program["graph.launches"])
        self.assertEqual(counts["kernels"], nodes["kernels"] - program["kernel.k_node"] - program["kernel.k_child"])
        self.assertEqual(set(counts), (DEFAULT | {"graphs"}) - {"nodes", "kernels.traced_back"})


if __name__ == "__main__":
    unittest.main()
