"""A program that is its own client of CUPTI, as torch.profiler is: it finds what it finds without us, and our trace is whole."""
import json
import os
import shutil
import unittest

import support
from support import BARE, LAUNCHED, PLAIN, Case
from facts import Facts, differences

# what a session may be like; see tests/programs/client.cu
WORDS = ((), ("early",), ("clock",), ("small",), ("hurry",), ("threads",), ("silent",), ("callbacks",), ("kernels",), ("finalize",),
         ("refuse",), ("fork",), ("early", "clock", "hurry"), ("clock", "threads"), ("callbacks", "threads", "hurry"))
CUPTI_VERSIONS = {"11.8": 18, "12.6": 24, "12.9": 28}

CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"

# A client in a library that the program loads for itself, as Python does with its extensions.
LIBRARY_SOURCE = r"""
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned int sets;

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*most = 0;
	*buffer = aligned_alloc(8, *bytes = 65536);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	CUpti_Activity *record = NULL;

	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		sets += record->kind == CUPTI_ACTIVITY_KIND_MEMSET;
	free(buffer);
}

void begin(void)
{
	printf("%d %d\n", cuptiActivityRegisterCallbacks(request, complete), cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
}

void end(void)
{
	printf("%d %d\n", cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET), cuptiActivityFlushAll(1));
	printf("%u\n", sets);
}
"""
LOADER_SOURCE = r"""
#include <cuda_runtime.h>
#include <dlfcn.h>

int main(int argc, char **argv)
{
	void *memory, *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

	if (!library || cudaMalloc(&memory, 4096))
		return 1;
	for (int i = 0; i < 3; i++)
		cudaMemset(memory, 0, 4096);
	((void (*)(void))dlsym(library, "begin"))();
	for (int i = 0; i < 7; i++)
		cudaMemset(memory, 0, 4096);
	cudaDeviceSynchronize();
	((void (*)(void))dlsym(library, "end"))();
	return 0;
}
"""

# Of another libcupti in the same process, and a client of that one.
OTHER_CUPTI_SOURCE = """
int cuptiActivityEnable(int kind) { return 70 + kind; }
int cuptiGetVersion(unsigned int *version) { *version = 1; return 0; }
"""
OTHER_CLIENT_SOURCE = """
#include <stdio.h>
int cuptiActivityEnable(int kind);
void begin(void) { printf("%d\\n", cuptiActivityEnable(7)); }
void end(void) { printf("%d\\n", cuptiActivityEnable(8)); }
"""
TWO_SOURCE = r"""
#include <cuda_runtime.h>
#include <dlfcn.h>

int main(int argc, char **argv)
{
	void *libraries[2];

	for (int i = 0; i < 2; i++)
		if (cudaFree(0) || !(libraries[i] = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL)))
			return 1;
	for (int i = 0; i < 2; i++)
		((void (*)(void))dlsym(libraries[i], "begin"))();
	for (int i = 0; i < 2; i++)
		((void (*)(void))dlsym(libraries[i], "end"))();
	return 0;
}
"""

# A copy of libcupti that says it is newer than any, and one that is there to be asked alone.
NEWER_SOURCE = """
int cuptiGetVersion(unsigned int *version) { *version = 999999; return 0; }
int cuptiSubscribe(void *handle, void *callback, void *user) { return 39; }
"""
ASK_SOURCE = r"""
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *handle, *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

	if (!library || cudaFree(0))
		return 1;
	int (*subscribe)(void *, void *, void *) = (int (*)(void *, void *, void *))dlsym(library, "cuptiSubscribe");
	printf("%d %d\n", subscribe(&handle, main, NULL), dlsym(library, "cuptiActivityEnable") != NULL);
	return 0;
}
"""

# It forks while another thread reads its clock, and the child goes on with CUPTI, as far as it knows.
FORK_SOURCE = r"""
#include <cuda_runtime.h>
#include <cupti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_t first;
static atomic_int is_held, goes_on;

static uint64_t own_clock(void)
{
	static atomic_ullong now;

	if (!pthread_equal(pthread_self(), first))
		for (is_held = 1; !goes_on;)
			usleep(1000);
	return now += 1000;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*most = 0;
	*buffer = aligned_alloc(8, *bytes = 65536);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	free(buffer);
}

int main(void)
{
	void *memory;
	int status = 0;

	first = pthread_self();
	if (cudaMalloc(&memory, 4096) || cuptiActivityRegisterCallbacks(request, complete) ||
	    cuptiActivityRegisterTimestampCallback(own_clock) || cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET))
		return 1;
	while (!is_held)
		cudaMemset(memory, 0, 4096);
	pid_t child = fork();
	if (child == 0) {
		alarm(20);
		_exit(cuptiActivityRegisterTimestampCallback(own_clock) || cuptiFinalize() ? 3 : 4);
	}
	waitpid(child, &status, 0);
	printf("%d %d\n", WIFEXITED(status), WEXITSTATUS(status));
	goes_on = 1;
	return 0;
}
"""


class Share(Case):

    def client(self, words, way=LAUNCHED, options=(), program="client", **variables):
        return self.run_program([os.path.join(support.BUILD, "programs", program), *words], way, options, **variables)

    def check(self, words, way=LAUNCHED, options=(), whole=True, **variables):
        """What it prints is the same, and if the trace is to be whole, it has all that the program did."""
        plain = self.client(words, PLAIN, **variables)
        self.assertEqual(plain.stderr, "")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        result = self.client(words, way, options, GPUPROF_OUTPUT="share", **variables)
        self.assertEqual((result.returncode, result.stdout), (0, plain.stdout), result.stderr)
        if whole:
            self.assertEqual(differences(Facts(self.path("share.json")), result.stdout), [], result.stderr)
        found = self.calls() if self.files(".json") else {}
        for file in self.files(".gpuprof") + self.files(".json"):
            os.unlink(self.path(file))
        return found

    def calls(self):
        """How many calls of each name our trace has."""
        counts = {}
        with open(self.path("share.json"), encoding="utf-8") as file:
            for event in json.load(file)["traceEvents"]:
                if event.get("cat") in ("cuda_runtime", "cuda_driver") and event["ph"] == "X":
                    counts[event["name"]] = counts.get(event["name"], 0) + 1
        return counts

    def test_the_client_finds_its_records(self):
        result = self.client((), PLAIN)
        for line in ("session 3: kernel _Z6k_stepPi: 5", "session 3: call cudaLaunchKernel_v7000: 10",
                     "session 3: operations 25, with a call 25, with a step 25, of steps 5, out of time 0"):
            self.assertIn(line, result.stdout)

    def test_under_the_launcher(self):
        for words in WORDS:
            with self.subTest(" ".join(words)):
                self.check(words)

    def test_under_a_bare_preload(self):
        for words in ((), ("early",), ("clock", "threads")):
            with self.subTest(" ".join(words)):
                self.check(words, BARE)

    def test_with_every_version_of_cupti(self):
        for name, version in CUPTI_VERSIONS.items():
            for words in ((), ("clock",), ("callbacks",), ("finalize",)):
                with self.subTest(" ".join(words), cupti=name):
                    self.check(words, GPUSIM_CUPTI_VERSION=version)

    def test_a_client_that_looks_functions_up(self):
        for number, words in enumerate(WORDS):
            way = (LAUNCHED, BARE)[number % 2]
            with self.subTest(" ".join(words), way=way):
                self.check(words, way, program="lookup")

    def test_a_client_that_looks_functions_up_with_every_version_of_cupti(self):
        for name, version in CUPTI_VERSIONS.items():
            for words in ((), ("clock",), ("early", "finalize")):
                with self.subTest(" ".join(words), cupti=name):
                    self.check(words, program="lookup", GPUSIM_CUPTI_VERSION=version)

    def test_a_client_that_brings_its_own_libcupti(self):
        """As Proton does: of two copies the driver serves one, which is for both, whoever comes first."""
        copy = shutil.copy(os.path.join(support.BUILD, "sim", "libcupti.so.13"), self.path("libcupti.so"))
        for words in ((), ("early",), ("clock", "threads"), ("finalize",), ("callbacks",)):
            with self.subTest(" ".join(words)):
                self.check(words, program="lookup", LOOKUP_CUPTI=copy)

    def test_a_client_with_a_newer_libcupti_than_ours_is_told_how_to_be_served(self):
        flags = ["-I" + os.path.join(CUDA, "include"), "-L" + os.path.join(support.BUILD, "sim")]
        newer = self.compile("libcupti_newer.so", NEWER_SOURCE, "-shared", "-fPIC")
        program = self.compile("ask", ASK_SOURCE, *flags, "-lcudart", "-ldl")
        result = self.run_program([program, newer])
        self.assertEqual((result.returncode, result.stdout), (0, "39 0\n"), result.stderr)
        self.assertIn(f"type: export GPUPROF_CUPTI={newer}", result.stderr)

    def test_what_is_looked_up_is_cuptis_where_nothing_is_shared(self):
        plain = self.client((), PLAIN, program="lookup")
        for way, options, variables in ((BARE, (), {"CUDA_INJECTION64_PATH": "/nonexistent/tool.so"}),
                                        (LAUNCHED, ["--processes=nobody"], {})):
            with self.subTest(options, **variables):
                result = self.client((), way, options, program="lookup", **variables)
                self.assertEqual((result.returncode, result.stdout), (0, plain.stdout), result.stderr)
                self.assertEqual(self.files(".gpuprof"), [])
        result = self.client((), LAUNCHED, ["--share=off"], program="lookup")
        self.assertEqual(result.returncode, 1)
        self.assertIn("39", result.stderr)

    def test_records_in_another_order(self):
        self.check((), GPUSIM_FAULT="shuffled-records")

    def test_beside_all_that_we_can_record(self):
        for trace in ("default,sync,event,module,overhead,api-all", "gpu", "memory", "nvtx", "none"):
            with self.subTest(trace):
                self.check((), options=[f"--trace={trace}"], whole=trace in ("gpu", "default,sync,event,module,overhead,api-all"))

    def test_while_our_recording_comes_and_goes(self):
        for first, options in enumerate((["--after-launches=30", "--launches=50"], ["--delay=0.005", "--duration=0.01"], ["--kernels=k_small"],
                                         ["--graphs=graph"], ["--flush-ms=10"], ["--flush-ms=1000"], ["--stacks=all"])):
            words = ((), ("threads",), ("hurry", "callbacks"))[first % 3]
            with self.subTest(" ".join(words), options=options):
                self.check(words, options=options, whole=False)

    def test_the_calls_that_only_the_client_wants_are_not_in_our_trace(self):
        self.assertEqual(self.check(("callbacks",)), self.check(()))

    def test_a_client_has_its_records_while_we_record_nothing(self):
        for options in (["--capture-range=cudaProfilerApi"], ["--delay=3600"]):
            with self.subTest(options):
                self.assertEqual(self.check((), options=options, whole=False), {})

    def test_what_the_client_keeps_on_is_not_in_our_trace(self):
        """Only definitions: no call, no operation, nothing that CUPTI says it took."""
        self.client((), options=["--delay=3600"], GPUPROF_OUTPUT="share")
        with open(self.path("share.json"), encoding="utf-8") as file:
            kinds = {event.get("cat") for event in json.load(file)["traceEvents"] if event["ph"] == "X"}
        self.assertFalse(kinds & {"kernel", "gpu_memcpy", "gpu_memset", "overhead", "cuda_runtime", "cuda_driver"}, kinds)

    def test_a_client_in_a_library_that_is_loaded_later(self):
        flags = ["-I" + os.path.join(CUDA, "include"), "-L" + os.path.join(support.BUILD, "sim")]
        library = self.compile("client.so", LIBRARY_SOURCE, *flags, "-shared", "-fPIC", "-lcupti")
        program = self.compile("loader", LOADER_SOURCE, *flags, "-lcudart", "-ldl")
        for name, way, variables in (("plain", PLAIN, {}), ("shared", LAUNCHED, {}),
                                     ("straight to CUPTI", BARE, {"CUDA_INJECTION64_PATH": "/nonexistent/tool.so"})):
            with self.subTest(name):
                result = self.run_program([program, library], way, **variables)
                self.assertEqual((result.returncode, result.stdout), (0, "0 0\n0 0\n7\n"), result.stderr)

    def test_two_libraries_with_a_cupti_each(self):
        """Each gets its own, and the one that is not ours is left alone."""
        flags = ["-I" + os.path.join(CUDA, "include"), "-L" + os.path.join(support.BUILD, "sim")]
        client = self.compile("client.so", LIBRARY_SOURCE, *flags, "-shared", "-fPIC", "-lcupti")
        self.compile("other.so", OTHER_CUPTI_SOURCE, "-shared", "-fPIC", "-Wl,-soname,other.so")
        second = self.compile("second.so", OTHER_CLIENT_SOURCE, "-shared", "-fPIC", "-L" + self.folder, "-l:other.so",
                              "-Wl,-rpath," + self.folder)
        program = self.compile("two", TWO_SOURCE, *flags, "-lcudart", "-ldl")
        for way, variables in ((PLAIN, {}), (LAUNCHED, {}), (BARE, {"CUDA_INJECTION64_PATH": "/nonexistent/tool.so"})):
            for libraries, said in (((client, second), "0 0\n77\n0 0\n0\n78\n"), ((second, client), "77\n0 0\n78\n0 0\n0\n")):
                with self.subTest(way, libraries=libraries):
                    result = self.run_program([program, *libraries], way, **variables)
                    self.assertEqual((result.returncode, result.stdout), (0, said), result.stderr)

    def test_a_fork_while_the_clients_clock_is_read(self):
        program = self.compile("forks", FORK_SOURCE, "-I" + os.path.join(CUDA, "include"),
                               "-L" + os.path.join(support.BUILD, "sim"), "-lcudart", "-lcupti", "-pthread")
        result = self.run_program([program], LAUNCHED)
        self.assertEqual((result.returncode, result.stdout), (0, "1 4\n"), result.stderr)

    def test_without_us_in_front_the_client_is_refused(self):
        """The injection variable alone: nothing can stand between the client and CUPTI, and we are first."""
        result = self.client((), PLAIN, CUDA_INJECTION64_PATH=support.LIBRARY)
        self.assertEqual(result.returncode, 1)
        self.assertIn("39", result.stderr)
        self.assertNotIn("no GPU activity", result.stderr)
        said = " ".join(result.stderr.split())
        self.assertEqual(said.count("was loaded by CUDA_INJECTION64_PATH alone: CUPTI serves either gpuprof or a profiler inside the program"),
                         1, result.stderr)

    def test_nothing_is_said_of_that_where_we_are_in_front(self):
        for way, variables in ((BARE, {}), (BARE, {"CUDA_INJECTION64_PATH": support.LIBRARY}), (LAUNCHED, {})):
            with self.subTest(way, **variables):
                result = self.client((), way, **variables)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("GPU busy", result.stderr)
                self.assertNotIn("alone", result.stderr)

    def test_another_tool_that_was_injected_keeps_cupti(self):
        plain = self.client((), PLAIN)
        result = self.client((), BARE, CUDA_INJECTION64_PATH="/nonexistent/tool.so")
        self.assertEqual((result.returncode, result.stdout), (0, plain.stdout), result.stderr)
        self.assertEqual(self.files(".gpuprof"), [])


if __name__ == "__main__":
    support.main()
