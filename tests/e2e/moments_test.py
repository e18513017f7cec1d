"""CUDA calls at odd moments: before any other code of the program and after all of it, with a cancellation pending, and interrupted by
a handler that ends the program."""
import gzip
import json
import os
import re

import support
from support import BARE, LAUNCHED, PLAIN, Case, own_lines

CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
LIBCUDA = (f"-L{support.BUILD}/sim", "-lcuda")

CALLS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuModuleLoadData(void **, const void *), cuCtxSetCurrent(void *);
extern int cuModuleGetFunction(void **, void *, const char *), cuCtxSynchronize(void);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";
static void *context, *kernel;

static void start(void)
{
	void *module;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, ptx) ||
	    cuModuleGetFunction(&kernel, module, "step_kernel"))
		_exit(3);
}

static int launch(void)
{
	return cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}
"""

# A library that the program needs: the loader starts it before us, and ends it after us.
EARLY_AND_LATE = CALLS + r"""
static __attribute__((constructor)) void begin(void)
{
	start();
	for (int i = 0; i < 10; i++)
		if (launch())
			_exit(4);
}

static __attribute__((destructor)) void end(void)
{
	int failures = 0;

	for (int i = 0; i < 10; i++)
		failures += launch() != 0;
	cuCtxSynchronize();  // so that the last kernel's times are known before the process ends
	fprintf(stderr, "late failures %d\n", failures);
}

int work(void);

int work(void)
{
	for (int i = 0; i < 10; i++)
		if (launch())
			return 5;
	return cuCtxSynchronize();
}
"""

MAIN = r"""
#include <dlfcn.h>

int work(void);

int main(void)
{
#ifdef LIBRARY
	void *library = dlopen(LIBRARY, RTLD_NOW);
	int (*function)(void) = library ? (int (*)(void))dlsym(library, "work") : 0;

	return function ? function() : 6;
#else
	return work();
#endif
}
"""

CANCELLED = CALLS + r"""
static int launched;

static void *cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	cuCtxSetCurrent(context);
	for (launched = 0; launched < 1000 && !launch(); launched++)
		;
	pthread_testcancel();
	return NULL;
}

int main(void)
{
	start();
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, NULL, cancelled, NULL) || pthread_join(thread, &result))
			return 4;
		printf("launched %d, cancelled %d\n", launched, result == PTHREAD_CANCELED);
	}
	return cuCtxSynchronize();
}
"""

INTERRUPTED = CALLS + r"""
static void end(int number)
{
	(void)number;
	_exit(9);
}

int main(void)
{
	struct itimerval timer = {{0, 0}, {0, 100000}};

	start();
	signal(SIGALRM, end);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (!launch())
		;
	return 5;
}
"""


# NVTX is told of a tool once, at the first call of each shared object.
EARLY_RANGES = r"""
#include <nvtx3/nvToolsExt.h>

void later(void);

static __attribute__((constructor)) void begin(void)
{
	nvtxRangePushA("early");
	nvtxRangePop();
}

void later(void)
{
	nvtxRangePushA("later");
	nvtxRangePop();
}
"""

MAIN_OF_RANGES = r"""
void later(void);

int main(void)
{
	later();
	return 0;
}
"""

SHOW = r"""
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	const char *cuda = getenv("CUDA_INJECTION64_PATH"), *nvtx = getenv("NVTX_INJECTION64_PATH");

	printf("%s %s\n", cuda ? cuda : "none", nvtx ? nvtx : "none");
	return 0;
}
"""

BEGIN = r"""
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

int main(void)
{
	int number = errno;
	const char *text = dlerror();

	printf("%d %s\n", number, text ? text : "nothing");
	return 0;
}
"""


class Moments(Case):

    def compare(self, program):
        """The result without us, to which the others, which come with it, are the same."""
        results = {}
        for way in (PLAIN, BARE, LAUNCHED):
            results[way] = self.run_program([program], way, LD_LIBRARY_PATH=f"{self.folder}:{support.LIBRARIES}",
                                            GPUPROF_OUTPUT=way.split()[0])
            self.assertEqual((results[way].returncode, results[way].stdout), (results[PLAIN].returncode, results[PLAIN].stdout),
                             results[way].stderr)
        return results

    def count(self, way, key, value):
        (name,) = [name for name in self.files() if re.fullmatch(way.split()[0] + r"\.json(\.gz)?", name)]
        with (gzip.open if name.endswith(".gz") else open)(self.path(name), "rt", encoding="utf-8") as file:
            return sum(event.get(key) == value for event in json.load(file)["traceEvents"])

    def launches(self, way):
        return self.count(way, "name", "cuLaunchKernel")

    def link_early(self, *flags):
        self.compile("libearly.so", EARLY_AND_LATE, "-shared", "-fPIC", *LIBCUDA)
        return self.compile("program", MAIN, *flags, f"-L{self.folder}", "-ldl", *LIBCUDA)

    def test_main_begins_without_an_error(self):
        self.assertEqual(self.compare(self.compile("program", BEGIN, "-ldl"))[PLAIN].stdout, "0 nothing\n")

    def test_in_a_constructor_before_ours(self):
        """Under a bare preload the driver was not told of us: that is said, and not that the program did not use the GPU."""
        results = self.compare(self.link_early("-Wl,--no-as-needed", "-learly"))
        self.assertEqual((results[PLAIN].returncode, results[PLAIN].stderr), (0, "late failures 0\n"))
        self.assert_one_line(own_lines(results[BARE].stderr)[0], "no GPU activity is recorded", "constructor", "gpuprof-run")
        self.assertNotIn("no GPU activity", results[LAUNCHED].stderr)
        self.assertGreaterEqual(self.launches(LAUNCHED), 20)
        self.assertEqual(self.count(LAUNCHED, "cat", "kernel"), self.launches(LAUNCHED))
        for way in (BARE, LAUNCHED):
            self.assertIn("late failures 0\n", results[way].stderr)
            self.assertNotIn("nothing was recorded", results[way].stderr)

    def test_ranges_in_a_constructor_before_ours(self):
        self.compile("libearly.so", EARLY_RANGES, "-shared", "-fPIC", "-ldl", "-I" + os.path.join(CUDA, "include"))
        program = self.compile("program", MAIN_OF_RANGES, f"-L{self.folder}", "-Wl,--no-as-needed", "-learly")
        self.compare(program)
        self.assertEqual((self.count(LAUNCHED, "name", "early"), self.count(LAUNCHED, "name", "later")), (1, 1))

    def test_what_the_launcher_tells_the_driver_and_nvtx(self):
        """Programs that no library gets into, such as static ones, are told of none; nor is NVTX where ranges stay free."""
        show = "echo ${CUDA_INJECTION64_PATH-none} ${NVTX_INJECTION64_PATH-none}"
        static = self.compile("static", SHOW, "-static")
        for options, variables, cuda, nvtx in (((), {}, support.LIBRARY, support.LIBRARY), (("--trace=gpu",), {}, support.LIBRARY, "none"),
                                               (("--trace=gpu", "-c", "nvtx:x"), {}, support.LIBRARY, support.LIBRARY),
                                               ((), {"CUDA_INJECTION64_PATH": "/a.so", "NVTX_INJECTION64_PATH": "/b.so"}, "/a.so", "/b.so")):
            with self.subTest(options, **variables):
                result = self.run_program(["sh", "-c", show], LAUNCHED, options, **variables)
                self.assertEqual(result.stdout, f"{cuda} {nvtx}\n", result.stderr)
                if not variables:
                    self.assertEqual(self.run_program([static], LAUNCHED, options).stdout, "none none\n")

    def test_in_a_constructor_before_ours_with_the_variable(self):
        """As a program that a recorded one has started: the driver loads us, or calls us before our constructor."""
        program = self.link_early("-Wl,--no-as-needed", "-learly")
        for way in (PLAIN, BARE, LAUNCHED):
            result = self.run_program([program], way, LD_LIBRARY_PATH=f"{self.folder}:{support.LIBRARIES}",
                                      CUDA_INJECTION64_PATH=support.LIBRARY, GPUPROF_OUTPUT=way.split()[0])
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("late failures 0\n", result.stderr)
            self.assertNotIn("no GPU activity", result.stderr)
            self.assertGreaterEqual(self.launches(way), 20)
            self.assertEqual(self.count(way, "cat", "kernel"), self.launches(way))

    def test_in_constructors_and_destructors_that_come_after_ours(self):
        results = self.compare(self.link_early('-DLIBRARY="libearly.so"'))
        self.assertEqual((results[PLAIN].returncode, results[PLAIN].stderr), (0, "late failures 10\n"))  # CUDA has ended
        for way in (BARE, LAUNCHED):
            self.assertIn(results[PLAIN].stderr, results[way].stderr)
            self.assertGreaterEqual(self.launches(way), 20)

    def test_a_cancellation_that_is_pending(self):
        program = self.compile("program", CANCELLED, *LIBCUDA, "-lpthread")
        self.assertEqual(self.compare(program)[PLAIN].stdout, "launched 1000, cancelled 1\n" * 20)
        for way in (BARE, LAUNCHED):
            self.assertEqual(self.launches(way), 20000)

    def test_a_handler_that_ends_the_program(self):
        program = self.compile("program", INTERRUPTED, *LIBCUDA)
        for _ in range(5):
            self.assertEqual(self.compare(program)[PLAIN].returncode, 9)
            for way in (BARE, LAUNCHED):
                self.assertGreater(self.launches(way), 0)


if __name__ == "__main__":
    support.main()
