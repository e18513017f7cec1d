/*
 * A program that starts Python repeatedly in itself, as the whole interpreter or as another one
 * beside the first: for tests/stacks/python_test.py.
 *
 *     python_again LIBPYTHON PROBE TRACE whole|beside|late
 *
 * Each time the same program runs, with another name of its function.  Prints `NAME ID` for every
 * captured stack: the name of the function and the stack's id.  With TRACE `-` none is captured, to
 * check that this Python can be restarted at all.  late: sampling begins before Python is loaded,
 * and Python starts once; no stack is captured.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES 20

static void *must_find(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (found == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return found;
}

static void *must_load(const char *path, int how)
{
	void *library = dlopen(path, how);

	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(77);
	}
	return library;
}

/* The used functions of the interpreter. */
static struct {
	void (*initialize)(void);
	int (*finalize)(void);
	void *(*new_interpreter)(void);
	void (*end_interpreter)(void *thread);
	void *(*swap)(void *thread);
	int (*run)(const char *program, void *flags);
} python;

static void load_python(const char *path)
{
	void *library = must_load(path, RTLD_NOW | RTLD_GLOBAL);

	python.initialize = must_find(library, "Py_Initialize");
	python.finalize = must_find(library, "Py_FinalizeEx");
	python.new_interpreter = must_find(library, "Py_NewInterpreter");
	python.end_interpreter = must_find(library, "Py_EndInterpreter");
	python.swap = must_find(library, "PyThreadState_Swap");
	python.run = must_find(library, "PyRun_SimpleStringFlags");
}

static bool run_program(const char *take, char name)
{
	char program[1024];

	snprintf(program, sizeof(program),
		 "import ctypes\n"
		 "def f%c(x):\n"
		 "  return ctypes.%s()\n"
		 "print('f%c', f%c(1))\n"
		 "print('f%c', f%c(1), flush=True)\n",
		 name, take, name, name, name, name);
	return python.run(program, NULL) == 0;
}

static bool run_whole(const char *take)
{
	for (int i = 0; i < TIMES; i++) {
		python.initialize();
		if (!run_program(take, (char)('a' + i)) || python.finalize() != 0)
			return false;
	}
	return true;
}

static bool run_beside(const char *take)
{
	python.initialize();
	void *first = python.swap(NULL);

	for (int i = 0; i < TIMES; i++) {
		python.swap(first);
		void *other = python.new_interpreter();

		if (!run_program(take, (char)('a' + i)))
			return false;
		python.end_interpreter(other);
	}
	return true;
}

/* A function that works for a second, sampled since before there is a Python. */
static bool run_late(const char *library, void *probe, const char *trace)
{
	int (*start)(const char *) = must_find(probe, "probe_start");
	int (*sample)(unsigned) = must_find(probe, "probe_sample");
	unsigned (*stop_samples)(void) = must_find(probe, "probe_stop_samples");
	int (*stop)(void) = must_find(probe, "probe_stop");

	if (start(trace) != 0 || sample(1000) != 0)
		return false;
	load_python(library);
	python.initialize();
	bool ran = python.run("import time\n"
			      "def working():\n"
			      "  end = time.monotonic() + 1\n"
			      "  while time.monotonic() < end:\n"
			      "    sum(range(1000))\n"
			      "working()\n",
			      NULL) == 0;

	return stop_samples() > 0 && python.finalize() == 0 && ran && stop() == 0;
}

int main(int argc, char **argv)
{
	char take[512] = "CDLL(None).getpid";

	if (argc != 5)
		return 2;
	bool is_taken = strcmp(argv[3], "-") != 0;
	void *probe = must_load(argv[2], RTLD_NOW);
	int (*start)(const char *) = must_find(probe, "probe_start");
	int (*stop)(void) = must_find(probe, "probe_stop");

	if (strcmp(argv[4], "late") == 0)
		return !run_late(argv[1], probe, argv[3]);
	load_python(argv[1]);
	if (is_taken) {
		snprintf(take, sizeof(take), "CDLL('%s').probe_capture", argv[2]);
		if (start(argv[3]) != 0)
			return 1;
	}
	if (!(strcmp(argv[4], "beside") == 0 ? run_beside : run_whole)(take))
		return 1;
	return is_taken && stop() != 0;
}
