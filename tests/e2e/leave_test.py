"""Ends that run no exit handlers: the trace is whole all the same, and the program does not notice."""
import json
import os
import signal
import sys
import unittest

import support
from facts import Facts, differences
from support import BARE, GPU, LAUNCHED, PLAIN, Case

WORKERS = """
import multiprocessing, runpy, sys

def work(number):
    sys.argv = ["gpu.py", "launch=%d" % number]
    runpy.run_path({gpu!r}, run_name="__main__")

if __name__ == "__main__":
    workers = [multiprocessing.get_context("fork").Process(target=work, args=(10 * (i + 1),)) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers])
"""

QUICK = """
#include <stdlib.h>
#include <stdio.h>
extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long long *, size_t);
int main(void)
{
	unsigned long long memory;
	void *context;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuMemAlloc_v2(&memory, 4096))
		return 1;
	puts("leak.bytes 4096");
	fflush(stdout);
	quick_exit(7);
}
"""

# A child of vfork() has its parent's memory: what it does at its end must not count as the parent's.
BORROWED = QUICK.replace("#include <stdio.h>", "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>").replace(
    "quick_exit(7);", "if (vfork() == 0)\n\t\texit(0);\n\twait(NULL);\n\t_exit(7);")

# What comes behind our own end of the process: of a library that goes after ours.
LATE = """
#include <signal.h>
void late(void) {}
static __attribute__((destructor)) void crash(void)
{
	raise(SIGSEGV);
}
"""

# A library whose constructor does not return: the thread that loads it holds the loader's lock for ever.
STUCK = r"""
#include <unistd.h>
extern void has_begun(void);
static __attribute__((constructor)) void wait_for_ever(void)
{
	has_begun();
	for (;;)
		pause();
}
"""

# Leaves while the loader's lock is held, and where this thread must allocate nothing: as a handler of a crash in malloc() may.
LEAVES_WHILE_LOADING = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long long *, size_t);
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static __thread volatile int has_the_lock;
static volatile int begun;

static void take_lock(void)
{
	while (has_the_lock)
		pause();
}

void *malloc(size_t bytes) { take_lock(); return __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { take_lock(); return __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { take_lock(); return __libc_realloc(memory, bytes); }
void free(void *memory) { take_lock(); __libc_free(memory); }

void has_begun(void)
{
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
}

static void *load(void *path)
{
	return dlopen(path, RTLD_NOW);
}

static void leave(int number)
{
	(void)number;
	_exit(9);
}

int main(int argc, char **argv)
{
	unsigned long long memory;
	pthread_t thread;
	void *context;

	if (argc != 3 || cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuMemAlloc_v2(&memory, 4096))
		return 1;
	puts("leak.bytes 4096");
	fflush(stdout);
	signal(SIGSEGV, leave);
	if (pthread_create(&thread, NULL, load, argv[1]))
		return 2;
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		;
	has_the_lock = 1;
	if (!strcmp(argv[2], "crash"))
		raise(SIGSEGV);
	_exit(9);
}
"""

PLUGIN = r"""
#include <stdlib.h>
extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuModuleLoadData(void **, const void *);
extern int cuModuleGetFunction(void **, void *, const char *), cuCtxSynchronize(void);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";

void work(int launches)
{
	void *context, *module, *kernel;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, ptx) ||
	    cuModuleGetFunction(&kernel, module, "step_kernel"))
		exit(1);
	while (launches-- > 0)
		cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	cuCtxSynchronize();
}
"""

LOADS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		void *plugin = dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW);

		if (!plugin)
			return puts(dlerror()), 2;
		((void (*)(int))dlsym(plugin, "work"))(20);
	}
	puts("done");
	fflush(stdout);
	_exit(5);
}
"""


class Leave(Case):

    def check(self, command, way, status):
        result = self.run_program(command, way, GPUPROF_OUTPUT="left")
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertNotIn("INCOMPLETE", result.stderr)
        self.assertEqual(differences(Facts(self.path("left.json")), result.stdout), [])
        for name in self.files():
            if name.startswith("left"):
                os.unlink(self.path(name))

    def test_exit_without_handlers(self):
        for way in (BARE, LAUNCHED):
            with self.subTest(way):
                self.check([*GPU, "launch=25", "copy=3", "leak=2", "_exit=3"], way, 3)

    def test_exit_where_the_driver_alone_loads_the_library(self):
        self.run_program([*GPU, "launch=25", "copy=3"], PLAIN)  # it is not there where nothing names it
        self.assertEqual(self.files(".gpuprof"), [])
        for lazy in (None, "1"):  # the program's addresses are bound, or not yet
            result = self.run_program([*GPU, "launch=25", "copy=3", "leak=2", "_exit=3"], PLAIN, GPUPROF_OUTPUT="left",
                                      CUDA_INJECTION64_PATH=support.LIBRARY, LD_BIND_NOW=lazy)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(differences(Facts(self.path("left.json")), result.stdout), [])
            self.assertEqual(self.ended("left"), ["exit 3"])
            for name in self.files():
                os.unlink(self.path(name))

    def test_exit_of_drivers_in_namespaces_of_their_own(self):
        """Each copy of the driver has a copy of our library; the program's own _exit() ends all of their recordings."""
        self.compile("plugin.so", PLUGIN, "-shared", "-fPIC", f"-L{support.BUILD}/sim", "-lcuda")
        program = self.compile("loads", LOADS, "-ldl")
        for way in (PLAIN, BARE, LAUNCHED):
            for count in (1, 2):
                with self.subTest(way, count=count):
                    result = self.run_program([program, str(count)], way, GPUPROF_OUTPUT="left")
                    self.assertEqual((result.returncode, result.stdout), (5, "done\n"), result.stderr)
                    self.assertEqual(len(self.files(".json")), 0 if way == PLAIN else count)
                    for name in self.files(".json"):
                        self.assertEqual(len(Facts(self.path(name)).kernels), 20)
                    for name in self.files():
                        if name.startswith("left"):
                            os.unlink(self.path(name))

    def test_quick_exit(self):
        program = self.compile("quick", QUICK, f"-L{support.BUILD}/sim", "-lcuda")
        for way in (BARE, LAUNCHED):
            with self.subTest(way):
                self.check([program], way, 7)

    def test_a_child_of_vfork_does_not_close_for_its_parent(self):
        program = self.compile("borrowed", BORROWED, "-D_GNU_SOURCE", f"-L{support.BUILD}/sim", "-lcuda")
        for way in (BARE, LAUNCHED):
            with self.subTest(way):
                self.check([program], way, 7)

    def test_while_another_thread_loads_a_library_for_ever(self):
        library = self.compile("stuck.so", STUCK, "-shared", "-fPIC")
        program = self.compile("loads", LEAVES_WHILE_LOADING, "-rdynamic", f"-L{support.BUILD}/sim", "-lcuda", "-lpthread", "-ldl")
        for way in (PLAIN, BARE, LAUNCHED):
            for end in ("leave", "crash"):
                with self.subTest(way, end=end):
                    if way == PLAIN:
                        self.assertEqual(self.run_program([program, library, end], way).returncode, 9)
                    else:
                        self.check([program, library, end], way, 9)

    def test_forked_workers_of_multiprocessing(self):
        script = self.write("workers.py", WORKERS.format(gpu=GPU[-1]))
        result = self.run_program([sys.executable, script])
        self.assertEqual(result.stdout.splitlines()[-1], "[0, 0, 0]", result.stderr)
        self.assertNotIn("INCOMPLETE", result.stderr)
        self.assertEqual(len(self.files(".gpuprof")), 3)
        launches = sorted(len(Facts(self.path(name)).launches()) for name in self.files(".json"))
        self.assertEqual(launches, [10, 20, 30])

    def test_a_forked_child_of_a_recording_process_leaves_at_once(self):
        result = self.run_program([*GPU, "launch=5", "fork", "_exit=0"], BARE, GPUPROF_OUTPUT="left")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.files(".gpuprof"), ["left.gpuprof"])
        self.assertEqual(differences(Facts(self.path("left.json")), result.stdout), [])

    def ended(self, name):
        text = self.run_gpuprof("summary", "--format", "json", "--by", "process", *(self.path(file) for file in self.files(".gpuprof")
                                                                                    if file.startswith(name))).stdout
        return sorted(row["Ended"] for row in json.loads(text)["rows"])

    def test_how_each_ended_is_kept(self):
        quick = self.compile("quick", QUICK, f"-L{support.BUILD}/sim", "-lcuda")
        for number, (way, command, ended) in enumerate((
                (BARE, [*GPU, "launch=2"], "exit 0"),
                (BARE, [*GPU, "launch=2", "_exit=3"], "exit 3"),
                (BARE, [*GPU, "launch=2", "raise=11"], "killed or crashed"),
                (BARE, [quick], "-"),
                (LAUNCHED, [quick], "exit 7"),
                (LAUNCHED, [*GPU, "launch=2", "_exit=200"], "exit 200"),
                (LAUNCHED, [*GPU, "launch=2", "raise=11"], "SIGSEGV"),
                (LAUNCHED, ["sh", "-c", " ".join([*GPU, "launch=2", "raise=15"]) + "; exit 4"], "SIGTERM"),
                (LAUNCHED, ["sh", "-c", " ".join([*GPU, "launch=2", "raise=9"]) + "; exit 4"], "killed or crashed"))):
            with self.subTest(way, command=command):
                self.run_program(command, way, GPUPROF_OUTPUT=f"end{number}-")
                self.assertEqual(self.ended(f"end{number}-"), [ended])
                if ended == "SIGSEGV":
                    self.assertIn("did not close its trace: the process was killed or crashed (SIGSEGV)\n",
                                  self.run_gpuprof("summary", f"end{number}-.gpuprof").stdout)

    def test_what_ended_it_behind_our_end_counts(self):
        self.compile("liblate.so", LATE, "-shared", "-fPIC")
        late = self.compile("late", QUICK.replace("quick_exit(7);", "extern void late(void);\n\tlate();"), f"-L{support.BUILD}/sim", "-lcuda",
                            f"-L{self.folder}", "-llate", f"-Wl,-rpath,{self.folder}")
        self.assertEqual(self.run_program([late], LAUNCHED, GPUPROF_OUTPUT="late").returncode, -signal.SIGSEGV)
        self.assertEqual(self.ended("late"), ["SIGSEGV"])
        self.assertNotIn("INCOMPLETE", self.run_gpuprof("summary", "late.gpuprof").stdout)


if __name__ == "__main__":
    support.main()
