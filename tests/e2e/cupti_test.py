"""What libcupti may be like: of any version from 11.8 on, without some functions, losing, delaying and disordering records."""
import os
import re

import chrome_lint
import support
from facts import Facts, printed_counts
from support import BARE, BUILD, Case, own_lines
import describe  # in the folder that support names

# cuptiGetVersion() of every version that lays out some record in its own way: 11.8, 12.0 to 12.6, 12.8, 12.9 U1, 13.0, 13.0 U1, 13.1 to 13.4
VERSIONS = (18, 19, 20, 21, 22, 23, 24, 26, 28, 130000, 130001, 130100, 130200, 130300, 130400)
UNKNOWN = (130500, 140000)  # read as the newest that is known
KNOWS_ALL_CALLS = 20     # the first version that knows each call of cover, but for the batches of copies
RECORDS_CONTEXTS = 130000  # the first version with records of waits for a device
RECORDS_HOST_FUNCTIONS = 130100  # the first version with records of functions of the host, when they run
HOST_FUNCTIONS_SOURCE = r"""
#include <cuda_runtime.h>
#include <stdio.h>

static int runs;

static void work(void *unused)
{
	(void)unused;
	__atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
}

int main(void)
{
	cudaGraphExec_t executable;
	cudaStream_t stream, other;
	cudaGraph_t graph;

	cudaStreamCreate(&stream);
	cudaStreamCreate(&other);
	for (int i = 0; i < 5; i++)
		cudaLaunchHostFunc(i % 2 ? other : stream, work, NULL);
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	for (int i = 0; i < 2; i++)
		cudaLaunchHostFunc(stream, work, NULL);
	cudaStreamEndCapture(stream, &graph);
	cudaGraphInstantiate(&executable, graph, 0);
	for (int i = 0; i < 3; i++)
		cudaGraphLaunch(executable, stream);
	if (cudaDeviceSynchronize())
		return 1;
	printf("runs %d\n", runs);
	return 0;
}
"""
CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
LATE_ATTRIBUTES = {"max active clusters": 19, "max potential cluster size": 19, "priority": 130100}  # of kernels


class Cupti(Case):

    def trace(self, name, *arguments, options=(), **variables):
        """(result, lines of tests/lib/describe.py, facts) of a sample program's own trace"""
        result = self.run_program([os.path.join(BUILD, "programs", name), *arguments], GPUPROF_OUTPUT="trace",
                                  options=("--follow=inherited", *options), **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines, facts = describe.describe(self.path("trace.json")), Facts(self.path("trace.json"))
        for file in self.files():
            os.unlink(self.path(file))
        return result, lines, facts


class Versions(Cupti):
    """One program, the same lines from records of every layout."""

    @staticmethod
    def comparable(lines, version):
        if version < KNOWS_ALL_CALLS:
            lines = [line for line in lines if not line.startswith("thread")]
        for attribute in LATE_ATTRIBUTES:
            lines = [line.replace(f", {attribute}:set", "") for line in lines]
        lines = [line for line in lines if "host function" not in line]
        return [line for line in lines if version >= RECORDS_CONTEXTS or "Context Sync" not in line]

    def test_every_layout_says_the_same(self):
        newest = self.trace("cover", "-batches")[1]
        self.assertGreater(len(newest), 300)
        for version in VERSIONS + UNKNOWN:
            with self.subTest(cupti=version):
                lines = self.trace("cover", "-batches", GPUSIM_CUPTI_VERSION=version)[1]
                self.assertEqual(self.comparable(lines, version), self.comparable(newest, version))
                for attribute, since in LATE_ATTRIBUTES.items():
                    self.assertEqual(any(f", {attribute}:set" in line for line in lines), version >= since, attribute)

    def test_host_functions(self):
        """Five of two streams, and two nodes of a graph that is launched three times."""
        program = self.compile("host", HOST_FUNCTIONS_SOURCE, "-I" + os.path.join(CUDA, "include"), "-L" + os.path.join(BUILD, "sim"), "-lcudart")
        for version in (VERSIONS[0],) + VERSIONS[VERSIONS.index(RECORDS_HOST_FUNCTIONS) - 1:] + UNKNOWN:
            for option, in_graphs in (("node", 6), ("graph", 0)):
                with self.subTest(cupti=version, graphs=option):
                    result = self.run_program([program], GPUPROF_OUTPUT="trace", options=["--graphs", option], GPUSIM_CUPTI_VERSION=version)
                    self.assertEqual((result.returncode, result.stdout), (0, "runs 11\n"), result.stderr)
                    self.assertEqual({rule: cases for rule, cases in chrome_lint.lint(self.path("trace.json")).items() if cases}, {})
                    functions = Facts(self.path("trace.json")).slices["host_function"]
                    self.assertEqual(len({one["args"]["stream"] for one in functions}), 2 if functions else 0)
                    of_graphs = [one["args"] for one in functions if "graph node id" in one["args"]]
                    records = version >= RECORDS_HOST_FUNCTIONS
                    self.assertEqual((len(functions) - len(of_graphs), len(of_graphs)), (5 * records, in_graphs * records))
                    self.assertEqual(len({args["graph node id"] for args in of_graphs}), 2 if of_graphs else 0)
                    rows = self.run_gpuprof("export", "--format", "csv", "-o", "-", "trace.gpuprof").stdout.splitlines()
                    self.assertEqual(sum(row.startswith("host function,") for row in rows), len(functions))
                    own, back = (self.run_gpuprof("summary", "--full", name).stdout for name in ("trace.gpuprof", "trace.json"))
                    self.assertNotIn("does not understand", back)
                    told = [re.findall(r"([0-9]+ runs? of host functions: [0-9.]+[mun]?s)", text) for text in (own, back)]
                    self.assertEqual(len(told[0]), 1 if functions else 0, own)
                    self.assertEqual(told[1], told[0])
                    for file in self.files(".gpuprof") + self.files(".json"):
                        os.unlink(self.path(file))

    def test_whole_graphs(self):
        for version in VERSIONS:
            with self.subTest(cupti=version):
                _, _, facts = self.trace("cover", "graphs", options=["--graphs=graph"], GPUSIM_CUPTI_VERSION=version)
                self.assertEqual(len(facts.graphs), facts.count("graph.launches"))
                self.assertTrue(all(graph["dur"] > 0 and graph["args"]["graph id"] for graph in facts.graphs), facts.graphs)

    def test_unified_memory(self):
        for version in VERSIONS:
            with self.subTest(cupti=version):
                result, _, facts = self.trace("cover", "memory", options=["--trace=default,unified"], GPUSIM_CUPTI_VERSION=version)
                for way in ("HtoD", "DtoH"):
                    moved = sum(one["args"]["bytes"] for one in facts.slices["unified_memory"] if one["name"] == f"migration {way}")
                    self.assertEqual(moved, printed_counts(result.stdout)[f"unified.{way.lower()}.bytes"])

    def test_a_version_without_ids_is_said(self):
        result, _, _ = self.trace("zoo", GPUSIM_CUPTI_VERSION=18, GPUSIM_FAULT="stuck-correlation")
        self.assertIn("GPU operations cannot be matched with their API calls", result.stderr)
        self.assertRegex(result.stderr, r"\n  \d+ launches, .*\d+ that this CUPTI version cannot match to kernels;\s[^\n]*nothing was dropped\n")


class Unknown(Cupti):
    """A libcupti that is newer than those that are known: the simulated one writes as 13.4 then."""
    SAID = "this libcupti is newer than the versions that gpuprof knows"

    def test_a_known_version_says_nothing(self):
        for version in (VERSIONS[-1], VERSIONS[-1] + 1):
            result, _, _ = self.trace("launch", GPUSIM_CUPTI_VERSION=version)
            self.assertNotIn(self.SAID, result.stderr)

    def test_it_is_said_and_all_is_recorded(self):
        for version in UNKNOWN:
            with self.subTest(cupti=version):
                result, _, facts = self.trace("launch", GPUSIM_CUPTI_VERSION=version)
                self.assertEqual(result.stderr.count(self.SAID), 1, result.stderr)
                self.assertIn("nothing was dropped", result.stderr)
                self.assertEqual((len(facts.launches()), len(facts.kernels)), (500, 500))

    def test_records_that_look_otherwise_are_left_out_and_counted(self):
        result, _, facts = self.trace("launch", GPUSIM_CUPTI_VERSION=140000, GPUSIM_FAULT="moved-fields")
        self.assertEqual((len(facts.launches()), len(facts.kernels)), (500, 0))
        self.assertIn("500 CUPTI records of an unknown kind or size", result.stderr)


class Functions(Cupti):

    def test_a_libcupti_without_the_functions_that_came_later(self):
        _, expected, _ = self.trace("zoo", GPUSIM_CUPTI_VERSION=18)
        _, lines, _ = self.trace("zoo", GPUSIM_CUPTI_VERSION=18, GPUPROF_CUPTI=os.path.join(BUILD, "sim", "old", "libcupti.so.13"))
        self.assertEqual(lines, expected)

    def test_a_libcupti_without_what_is_needed(self):
        result = self.run_program([*support.GPU, "launch=3"], BARE,
                                  GPUPROF_CUPTI=os.path.join(BUILD, "sim", "broken", "libcupti.so.13"))
        self.assertEqual((result.returncode, result.stdout), (0, "launches 3\n"))
        self.assertEqual(len(own_lines(result.stderr)), 1, result.stderr)
        self.assertIn("lacks functions", result.stderr)


class Faults(Cupti):
    """launch makes 500 kernels, zoo 73 operations and more."""

    def test_dropped_records_are_counted(self):
        result, _, facts = self.trace("launch", GPUSIM_FAULT="drop-records")
        self.assertEqual((len(facts.launches()), len(facts.kernels)), (500, 450))
        self.assertIn("50 without kernel record", result.stderr)
        self.assertIn("50 GPU records that CUPTI reported as dropped", result.stderr)

    def test_buffers_that_cannot_be_read_to_their_end_are_counted(self):
        result, _, facts = self.trace("launch", GPUSIM_FAULT="unreadable-records")
        self.assertEqual(len(facts.launches()), 500)
        self.assertLess(len(facts.kernels), 500)
        self.assertIn(f"{500 - len(facts.kernels)} without kernel record", result.stderr)
        self.assertIn("CUPTI's records could not all be read", result.stderr)
        self.assertRegex(result.stderr, "[0-9]+ CUPTI buffers? with an unreadable end")

    def test_operations_without_times_are_counted(self):
        result, _, facts = self.trace("launch", GPUSIM_FAULT="zero-timestamps")
        self.assertEqual(len(facts.launches()), 500)
        self.assertIn("50 GPU operations without timestamps", result.stderr)
        self.assertIn("500 kernels", result.stderr)
        self.assertTrue(all(kernel["ts"] > 0 and kernel["dur"] > 0 for kernel in facts.kernels))

    def test_late_buffers_come_at_the_end(self):
        _, expected, _ = self.trace("zoo")
        _, lines, _ = self.trace("zoo", GPUSIM_FAULT="late-buffers")
        self.assertEqual(lines, expected)

    def test_the_order_of_records_does_not_matter(self):
        for name in ("zoo", "cover", "reset"):
            with self.subTest(name):
                _, expected, _ = self.trace(name)
                result, lines, _ = self.trace(name, GPUSIM_FAULT="shuffled-records")
                self.assertEqual(lines, expected)
                self.assertIn("nothing was dropped", result.stderr)

    def test_a_flush_that_hangs_is_given_up(self):
        result, _, facts = self.trace("launch", options=["--flush-timeout=1"], GPUSIM_FAULT="flush-hangs")
        self.assertIn("the GPU did not finish within 1 s", result.stderr)
        self.assertIn("the final flush timed out", result.stderr)
        self.assertEqual(len(facts.launches()), 500)


if __name__ == "__main__":
    support.main()
