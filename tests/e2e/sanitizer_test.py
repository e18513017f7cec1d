"""Programs made with a sanitizer of threads or addresses: they end as without us, nothing of ours is taken for a race or a leak, and their own mistakes are
reported."""
import re
import unittest

import support
from support import BARE, LAUNCHED, PLAIN, Case

PROGRAM = r"""
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/gpuprof.h"

#define BLOCK_BYTES 100

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuModuleLoadData(void **, const void *);
extern int cuModuleGetFunction(void **, void *, const char *), cuCtxSynchronize(void), cuCtxSetCurrent(void *);
extern int cuMemAlloc_v2(unsigned long *, unsigned long), cuMemFree_v2(unsigned long);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";
static void *kernel, *context;
static char *volatile block;
static int has_race;
static long raced;
static atomic_int turn; /* who writes `raced` next: in an order, but in none that is promised */

static void write_in_turn(int number)
{
	for (int i = number; has_race && number < 2 && i < 400; i += 2) {
		while (atomic_load_explicit(&turn, memory_order_relaxed) != i)
			sched_yield();
		raced = i;
		atomic_store_explicit(&turn, i + 1, memory_order_relaxed);
	}
}

static void *work(void *number)
{
	unsigned long memory;
	char message[32];

	write_in_turn((int)(long)number);
	if (cuCtxSetCurrent(context))
		exit(3);
	for (int i = 0; i < 3000; i++) {
		snprintf(message, sizeof(message), "step %d", i % 100);
		gpuprof_range_push(message);
		if (cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
			exit(4);
		if (i % 10 == 0 && (cuMemAlloc_v2(&memory, 4096) || cuMemFree_v2(memory)))
			exit(5);
		gpuprof_range_pop();
	}
	if (cuCtxSynchronize())
		exit(6);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	void *module;

	block = malloc(BLOCK_BYTES);
	block[argc > 1 && !strcmp(argv[1], "overflow") ? BLOCK_BYTES : 0] = 1;
	has_race = argc > 1 && !strcmp(argv[1], "race");
	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, ptx) ||
	    cuModuleGetFunction(&kernel, module, "step_kernel"))
		return 1;
	for (long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 2;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("launches 12000\n");
	return 9;
}
"""
RACE = 66  # the sanitizer's exit status


class ThreadSanitizer(Case):

    def check_with(self, compiler):
        program = self.compile("program", PROGRAM, compiler, "-g", "-fsanitize=thread", f"-I{support.ROOT}/include",
                               f"-L{support.BUILD}/sim", "-lcuda", "-lpthread")
        if self.run_program([program], PLAIN).returncode != 9:
            self.skipTest(f"{compiler}'s thread sanitizer does not run here")
        for way in (BARE, LAUNCHED):
            for stacks in ("alloc", "all"):
                result = self.run_program([program], way, GPUPROF_STACKS=stacks, GPUPROF_OUTPUT="t")
                self.assertEqual((result.returncode, result.stdout), (9, "launches 12000\n"), result.stderr)
                self.assertNotIn("ThreadSanitizer", result.stderr)
                self.assertIn("all 12,000 launches have their kernel record", result.stderr)
        for way in (PLAIN, BARE, LAUNCHED):
            result = self.run_program([program, "race"], way, GPUPROF_OUTPUT="t")
            self.assertEqual((result.returncode, result.stdout), (RACE, "launches 12000\n"), result.stderr)
            reports = re.findall("^SUMMARY: ThreadSanitizer.*", result.stderr, re.MULTILINE)
            self.assertTrue(reports and all("write_in_turn" in report for report in reports), result.stderr)

    @unittest.skipIf(support.ON_GPU, "the driver races by itself")
    def test_gcc(self):
        self.check_with("gcc")

    @unittest.skipIf(support.ON_GPU, "the driver races by itself")
    def test_clang(self):
        self.check_with("clang")


class AddressSanitizer(Case):

    def check_with(self, compiler):
        program = self.compile("program", PROGRAM, compiler, "-g", "-fsanitize=address,undefined", f"-I{support.ROOT}/include",
                               f"-L{support.BUILD}/sim", "-lcuda", "-lpthread")
        if self.run_program([program], PLAIN, ASAN_OPTIONS="detect_leaks=0").returncode != 9:
            self.skipTest(f"{compiler}'s address sanitizer does not run here")
        for way in (BARE, LAUNCHED):
            order = "verify_asan_link_order=0:" if way == BARE else ""  # gcc's wants to be the first library; the launcher says so itself
            for stacks in ("alloc", "all"):
                result = self.run_program([program], way, GPUPROF_STACKS=stacks, GPUPROF_OUTPUT="t", ASAN_OPTIONS=order + "detect_leaks=0")
                self.assertEqual((result.returncode, result.stdout), (9, "launches 12000\n"), result.stderr)
                self.assertNotIn("Sanitizer", result.stderr)
                self.assertIn("all 12,000 launches have their kernel record", result.stderr)
            result = self.run_program([program, "overflow"], way, GPUPROF_OUTPUT="t", ASAN_OPTIONS=order)
            self.assertEqual(result.returncode, self.run_program([program, "overflow"], PLAIN).returncode)
            self.assertIn("heap-buffer-overflow", result.stderr)
            # the simulated device leaks
            result = self.run_program([program], way, GPUPROF_OUTPUT="t", ASAN_OPTIONS=order + "exitcode=9")
            frames = [line for line in result.stderr.splitlines() if line.startswith("    #")]
            self.assertEqual([line for line in frames if re.search("libgpuprof|inject/|collector/|stacks/", line)], [])

    def test_gcc(self):
        self.check_with("gcc")

    def test_clang(self):
        self.check_with("clang")


if __name__ == "__main__":
    support.main()
