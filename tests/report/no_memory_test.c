/*
 * Each allocation in turn is refused. While a trace is loaded, this is an error of the load, which
 * leaves nothing behind. A command ends with exit status 1 and one line, or its output is the same.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "report/cli/commands.h"
#include "report/load/load_model.h"
#include "report/model/model.h"
#include "report/trace/decode.h"
#include "tests/lib/case_folder.h"
#include "tests/lib/sanitizer.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

/* ---- the C library's allocator, below that of report/base/memory.c ---- */

void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static long left = -1; /* allocations until one is refused, -1 = none is */
static long live;      /* blocks */

#if !UNDER_ASAN && !UNDER_TSAN
static void *allocate(size_t bytes)
{
	void *memory;

	if (left >= 0 && left-- == 0)
		return NULL;
	memory = __libc_memalign(_Alignof(max_align_t), bytes);
	live += memory != NULL;
	return memory;
}

void *__libc_malloc(size_t bytes)
{
	return allocate(bytes);
}

void *__libc_calloc(size_t count, size_t element_bytes)
{
	size_t bytes;
	void *memory =
		__builtin_mul_overflow(count, element_bytes, &bytes) ? NULL : allocate(bytes);

	return memory ? memset(memory, 0, bytes) : NULL;
}

void *__libc_realloc(void *old, size_t bytes)
{
	size_t before = malloc_usable_size(old);
	void *memory = allocate(bytes);

	if (memory && old) {
		memcpy(memory, old, before < bytes ? before : bytes);
		free(old);
	}
	return memory;
}

void free(void *memory)
{
	live -= memory != NULL;
	__libc_free(memory);
}
#endif

/* ---- a trace that has a record of each kind and a definition of each sort ---- */

static void add_one_of_each(struct gp_builder *b)
{
	for (uint8_t kind = GP_RECORD_CALL; kind < GP_RECORD_KIND_LIMIT; kind++) {
		union gp_any_record record = {.head.kind = kind};

		if (kind != GP_RECORD_STRING && kind != GP_RECORD_END && kind != GP_RECORD_ANCHOR)
			gp_builder_add(b, &record);
	}
	for (uint16_t space = GP_STRING_KERNEL; space <= GP_STRING_STALL; space++)
		if (space != GP_STRING_INFO)
			gp_builder_string(b, space, 40, 0, "a text");
	gp_builder_string(b, GP_STRING_INFO, GP_INFO_NOTE, 0, "a note");
	gp_builder_string(b, GP_STRING_DEVICE, 0, GP_NAME_GIVEN, "a device");
}

static void add_work(struct gp_builder *b)
{
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t at_ns = 10000 + i * 1000;

		gp_builder_call(b, GP_TEST_LAUNCH, 100 + i, at_ns, 100);
		gp_builder_kernel(b, 100 + i, at_ns + 200, at_ns + 500 - 50 * (i % 3));
		gp_builder_add(b,
			       &(struct gp_record_range){.kind = GP_RECORD_RANGE,
							 .op = i % 2 ? GP_RANGE_POP : GP_RANGE_PUSH,
							 .ticks = GP_TEST_AT_TICK(at_ns - 10),
							 .text_id = 40});
		gp_builder_memory(b, GP_MEMORY_DEVICE, at_ns + 600, 0x1000 * (1 + i / 2),
				  i % 2 ? 0 : 256);
	}
}

static const char *write_trace(struct gp_builder *b)
{
	gp_builder_init(b);
	gp_builder_start(b);
	gp_builder_chunk(b, 1, 100);
	add_work(b);
	add_one_of_each(b);
	gp_builder_anchor(b, 1000000);
	gp_builder_end(b, 1000000);
	return gp_builder_save(b);
}

/* ---- loading ---- */

static double count_all(const struct gp_model *m)
{
	return m->call_count + 3.0 * m->op_count + 5.0 * m->memory_count + 7.0 * m->range_count +
	       11.0 * m->name_count + 13.0 * m->text_count + 17.0 * m->frame_count +
	       19.0 * m->sample_count + 23.0 * m->sync_count + 29.0 * m->overhead_count +
	       31.0 * m->unified_count + 37.0 * m->pool_count + 41.0 * m->jit_count +
	       43.0 * m->host_function_count + 47.0 * m->stream_count + 53.0 * m->context_count +
	       59.0 * m->thread_count + 61.0 * m->shape_count + 67.0 * m->usage_count +
	       71.0 * m->module_count + 73.0 * m->event_count + 79.0 * m->gate_count +
	       83.0 * m->device_count + 89.0 * m->hw_sample_count + 97.0 * m->stall_count +
	       101.0 * m->energy_count;
}

/* Refuses each allocation of a load in turn, until nothing is refused any more. */
static void refuse_each(const char *path)
{
	struct gp_model *model;
	char message[512];
	long before, refused = 0;
	double expected;

	assert_int_equal(gp_model_load(path, &model, message, sizeof(message)), 0);
	expected = count_all(model);
	gp_model_free(model);
	before = live; /* what is kept for the next load is there now */
	for (;; refused++) {
		int result;

		left = refused;
		result = gp_model_load(path, &model, message, sizeof(message));
		if (left >= 0)
			break;
		if (result == 0) { /* another way was found */
			assert_true(count_all(model) == expected);
			gp_model_free(model);
		} else if (result != -ENOMEM) {
			fail_msg("result %d where allocation %ld was refused", result, refused);
		}
		if (live != before)
			fail_msg("%ld blocks are left where allocation %ld was refused",
				 live - before, refused);
	}
	left = -1;
	assert_true(refused > 1);
	assert_true(count_all(model) == expected);
	gp_model_free(model);
}

static void test_loading(void **state)
{
	struct gp_builder b;

	refuse_each(write_trace(&b));
	gp_builder_free(&b);
}

#define EVENT(cat, name, ts, dur)                                                                  \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":9,\"tid\":5,\"ts\":" ts   \
	",\"dur\":" dur "}"

/* Functions of Python within each other, calls and a kernel. */
static void test_importing(void **state)
{
	static const char text[] =
		"{\"traceEvents\": [" EVENT("python_function", "a.py(1): main", "0", "1000") "," EVENT(
			"python_function", "a.py(5): inner", "10",
			"500") "," EVENT("python_function", "a.py(9): other", "600",
					 "300") "," EVENT("cpu_op", "aten::mm", "20",
							  "100") "," EVENT("user_annotation",
									   "step", "5",
									   "900") ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":5,\"ts\":30,\"dur\":5,\"args\":{\"correlation\":4}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,\"ts\":40,\"dur\":9,\"args\":{\"device\":1,\"context\":2,\"stream\":7,\"correlation\":4}}]}";
	int fd = memfd_create("trace.json", MFD_CLOEXEC);
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	refuse_each(path);
	close(fd);
}

/* ---- commands ---- */

#define MOST_BYTES (8 << 20)

/* One in so many allocations is refused; 1 takes minutes. */
#define STEP_VARIABLE "NO_MEMORY_TEST_STEP"
#define STEP          31

struct outcome {
	int status;
	bool is_refused;
	size_t bytes;
	char text[MOST_BYTES]; /* of the output file, or of stdout */
	char errors[4096];
};

static size_t read_file(const char *path, char *bytes, size_t capacity)
{
	int fd = open(path, O_RDONLY);
	ssize_t taken = fd >= 0 ? read(fd, bytes, capacity - 1) : 0;

	if (fd >= 0)
		close(fd);
	assert_in_range(taken, 0, capacity - 2);
	bytes[taken] = '\0';
	return (size_t)taken;
}

static void redirect(const char *name, int fd)
{
	int file = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(file >= 0 && dup2(file, fd) == fd);
	close(file);
}

static bool *has_refused; /* shared with the child */

static void run_in_child(int (*command)(int, char **), char **arguments, long refused)
{
	int count = 0, status;

	while (arguments[count])
		count++;
	redirect("out", STDOUT_FILENO);
	redirect("errors", STDERR_FILENO);
	*has_refused = true;
	left = refused;
	status = command(count, arguments);
	*has_refused = left < 0;
	left = -1;
	fflush(NULL);
	_exit(status);
}

static size_t count_entries(const char *folder)
{
	DIR *entries = opendir(folder);
	size_t count = 0;

	while (readdir(entries))
		count++;
	closedir(entries);
	return count;
}

static void run(int (*command)(int, char **), char **arguments, long refused, struct outcome *o)
{
	pid_t child;
	int status;

	unlink(in_folder("written"));
	child = fork();
	if (child == 0)
		run_in_child(command, arguments, refused);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status))
		fail_msg("signal %d where allocation %ld was refused", WTERMSIG(status), refused);
	o->status = WEXITSTATUS(status);
	o->is_refused = refused >= 0 && *has_refused;
	o->bytes = read_file(in_folder(access(in_folder("written"), F_OK) == 0 ? "written" : "out"),
			     o->text, sizeof(o->text));
	read_file(in_folder("errors"), o->errors, sizeof(o->errors));
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
	return a->status == b->status && a->bytes == b->bytes &&
	       memcmp(a->text, b->text, a->bytes) == 0;
}

static void refuse_some(int (*command)(int, char **), char **arguments, long step)
{
	static struct outcome whole, now;
	size_t entries;
	long refused = 0;

	run(command, arguments, -1, &whole);
	entries = count_entries(case_folder);
	do {
		run(command, arguments, refused, &now);
		if (is_same(&now, &whole))
			continue;
		if (now.status != 1 || !strstr(now.errors, "memory"))
			fail_msg("%s: status %d, \"%s\" where allocation %ld was refused",
				 arguments[0], now.status, now.errors, refused);
		assert_in_range(count_entries(case_folder), 0, entries); /* no temporary file */
	} while (refused += step, now.is_refused);
	assert_true(refused > 3 * step);
}

static void test_commands(void **state)
{
	const char *step = getenv(STEP_VARIABLE);
	struct gp_builder b;
	char trace[64], written[64];
	const struct {
		int (*run)(int argc, char **argv);
		char *arguments[10];
	} commands[] = {
		{gp_command_summary, {"summary", trace}},
		{gp_command_summary, {"summary", "--by", "kernel,line,stack", trace}},
		{gp_command_summary, {"summary", "--format", "json", trace}},
		{gp_command_advice, {"advice", trace}},
		{gp_command_trace, {"trace", "gpu", trace}},
		{gp_command_diff, {"diff", trace, "--", trace}},
		{gp_command_check, {"check", "--write-baseline", written, trace}},
		{gp_command_html, {"html", "-o", written, trace}},
		{gp_command_export, {"export", "-o", written, trace}},
		{gp_command_export, {"export", "-F", "perfetto", "-o", written, trace}},
		{gp_command_export, {"export", "-F", "sqlite", "-o", written, trace}},
		{gp_command_export, {"export", "-F", "pprof", "-o", written, trace}},
		{gp_command_merge, {"merge", "-o", written, trace, trace}},
	};

	case_folder = new_folder();
	snprintf(trace, sizeof(trace), "%s", in_folder("trace.gpuprof"));
	assert_int_equal(rename(write_trace(&b), trace), 0);
	snprintf(written, sizeof(written), "%s", in_folder("written"));
	has_refused = mmap(NULL, sizeof(*has_refused), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < COUNT(commands); i++)
		refuse_some(commands[i].run, (char **)commands[i].arguments,
			    step ? atol(step) : STEP);
	gp_builder_free(&b);
	munmap(has_refused, sizeof(*has_refused));
	remove_folder(case_folder);
}

/*
 * There no thread helps: which allocation comes when is the same each time, and the C library keeps
 * no stacks of threads.
 */
static void stay_on_one_core(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loading),
		cmocka_unit_test(test_importing),
		cmocka_unit_test(test_commands),
	};

	if (UNDER_ASAN || UNDER_TSAN) {
		puts("skipped: a sanitizer has malloc() for itself");
		return 77;
	}
	stay_on_one_core();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
