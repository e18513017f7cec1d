/*
 * Each allocation in turn is refused while a trace is loaded and summed up, and while tables and
 * formats are made of it: there is an error or a result, nothing crashes, and what failed leaves
 * nothing behind.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "report/load/load_model.h"
#include "tests/report/wheres_of.h"
#include "report/analysis/backward/backward.h"
#include "report/analysis/loop/steps.h"
#include "report/diff/check.h"
#include "report/diff/figures.h"
#include "report/export/export.h"
#include "report/model/model.h"
#include "report/summary/summary.h"
#include "report/tables/breakdown.h"
#include "report/trace/decode.h"
#include "tests/lib/sanitizer.h"
#include "tests/report/diff/run_builder.h"
#include "tests/report/parquet_reader.h"
#include "tests/report/scene_builder.h"
#include "tests/report/trace_builder.h"
#include "tests/report/training_builder.h"
#include "tests/unit.h"

#if !UNDER_ASAN && !UNDER_TSAN
/* ---- malloc() and its like, in place of the C library's, which they call ---- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void __libc_free(void *memory);
#endif

static long left = -1; /* allocations until one is refused, -1 = none is */
static long live;      /* blocks */

#define SOME 3 /* of what takes long; loops have the others */

#if !UNDER_ASAN && !UNDER_TSAN
static bool is_refused(void)
{
	if (left < 0 || left-- > 0)
		return false;
	errno = ENOMEM;
	return true;
}

static void *counted(void *memory)
{
	live += memory != NULL;
	return memory;
}

void *malloc(size_t bytes)
{
	return is_refused() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
	return is_refused() ? NULL : counted(__libc_calloc(count, bytes));
}

void *realloc(void *memory, size_t bytes)
{
	if (is_refused())
		return NULL;
	return memory ? __libc_realloc(memory, bytes) : counted(__libc_realloc(memory, bytes));
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

/* ---- what is done with it: 0, or a negative errno value ---- */

/* What came of it, in one number: the same whenever the result is 0.  0 = it is not looked at. */
static double outcome;
static bool is_told; /* by a text: without memory for names, functions are one, and kernels split */

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

static int load(const char *path)
{
	struct gp_model *model;
	char message[512];
	int result = gp_model_load(path, &model, message, sizeof(message));

	if (result == 0) {
		outcome = count_all(model);
		gp_model_free(model);
	}
	return result;
}

static struct gp_model *loaded;

/* Gaps are kept in memory that grows. */
static int find_where(const char *path)
{
	struct gp_window window = gp_busy_window(&loaded, 1);
	struct gp_device_list devices = {0};
	struct gp_wheres wheres = {0};
	char message[512];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));
	int result = kinds ? gp_device_list_all(&devices, &loaded, 1) : -ENOMEM;

	(void)path;
	if (result == 0)
		result = wheres_of(&wheres, &loaded, 1, window, &devices, kinds, 1000);
	outcome = 0;
	for (size_t i = 0; result == 0 && i < wheres.count; i++)
		outcome += (double)wheres.devices[i].gaps_kept + 1000;
	gp_wheres_free(&wheres);
	gp_device_list_free(&devices);
	gp_kinds_free(kinds);
	return result;
}

static int find_figures(const char *path)
{
	struct gp_figures figures;
	int result = gp_figures_of(&loaded, 1, &figures);

	(void)path;
	outcome = 0;
	for (int i = 0; i < GP_METRICS; i++)
		outcome += isnan(figures.values[i]) ? 1 : i * figures.values[i];
	for (int i = 0; i < GP_NAMED_KINDS; i++)
		for (uint32_t row = 0; row < figures.named[i].count; row++)
			outcome += figures.named[i].rows[row].count +
				   1e6 * figures.named[i].rows[row].total_ns;
	gp_figures_free(&figures);
	return result;
}

static struct gp_run_set baseline, now;

static int judge(const char *path)
{
	struct gp_thresholds thresholds;
	struct gp_check check;
	int result;

	(void)path;
	gp_thresholds_open(&thresholds);
	result = gp_check_judge(&baseline, &now, &thresholds, &check);
	outcome = check.count + 100.0 * check.tested + 10000.0 * check.new_count +
		  100000.0 * check.gone_count;
	for (uint32_t i = 0; i < check.count; i++)
		outcome += i * (check.findings[i].baseline + 7 * check.findings[i].verdict);
	gp_check_close(&check);
	gp_thresholds_close(&thresholds);
	return result;
}

/* ---- what is written ---- */

static char written[4 << 20];

static FILE *open_written(void)
{
	return fmemopen(written, sizeof(written), "wb");
}

static void close_written(FILE *out)
{
	long bytes = ftell(out);
	uint32_t hash = 0;

	assert_in_range(bytes, 0, sizeof(written) - 1);
	fclose(out);
	for (long i = 0; i < bytes; i++)
		hash = 31 * hash + (uint8_t)written[i];
	outcome = hash;
	is_told |= memmem(written, (size_t)bytes, "(no memory)", 11) != NULL ||
		   memmem(written, (size_t)bytes, "_Z", 2) != NULL;
}

static int write_chrome(const char *path)
{
	const struct gp_export_options options = {0};
	FILE *out = open_written();
	int result;

	(void)path;
	if (!out)
		return -ENOMEM;
	result = gp_export_model(&gp_exporter_chrome, loaded, &options, out);
	close_written(out);
	return result;
}

static int print_summary(const char *path)
{
	const struct gp_summary_options options = {.row_limit = 12}, screen = {.brief = true};
	FILE *out = fopen("/dev/null", "w");
	int result;

	(void)path;
	if (!out)
		return -ENOMEM;
	result = gp_summary_print(out, &loaded, 1, &options);
	if (result == 0)
		result = gp_summary_print(out, &loaded, 1, &screen);
	fclose(out);
	return result;
}

/* One of `step` allocations in turn, until nothing is refused any more. */
static void refuse_some(int (*act)(const char *), const char *path, long step)
{
	int result = act(path); /* what is kept for the next time is there now */
	double expected = outcome;
	long refused = 0;
	bool is_through = false;

	assert_int_equal(result, 0);
	for (; !is_through; refused += step) {
		long before = live;

		left = refused;
		is_told = false;
		result = act(path);
		is_through = left >= 0;
		left = -1;
		if (result == 0 && outcome != expected && !is_told)
			fail_msg("the refusal of allocation %ld is not told", refused);
		if (result != 0 && result != -ENOMEM)
			fail_msg("result %d where allocation %ld was refused", result, refused);
		if (live != before)
			fail_msg("%ld blocks are left where allocation %ld was refused",
				 live - before, refused);
	}
	assert_int_equal(result, 0);
	assert_true(refused > 1);
}

static void refuse_each(int (*act)(const char *), const char *path)
{
	refuse_some(act, path, 1);
}

static void test_loading(void **state)
{
	struct gp_builder b;

	refuse_each(load, write_trace(&b));
	gp_builder_free(&b);
}

static void test_chrome_trace(void **state)
{
	struct gp_builder b;
	char message[512];

	assert_int_equal(gp_model_load(write_trace(&b), &loaded, message, sizeof(message)), 0);
	refuse_each(write_chrome, NULL);
	gp_model_free(loaded);
	gp_builder_free(&b);
}

static void test_summary(void **state)
{
	struct gp_builder b;
	char message[512];

	assert_int_equal(gp_model_load(write_trace(&b), &loaded, message, sizeof(message)), 0);
	refuse_each(print_summary, NULL);
	gp_model_free(loaded);
	gp_builder_free(&b);
	loaded = scene_make();
	refuse_some(print_summary, NULL, SOME);
	gp_model_free(loaded);
}

static void test_answers(void **state)
{
	struct gp_builder b;
	char message[512];

	assert_int_equal(gp_model_load(write_trace(&b), &loaded, message, sizeof(message)), 0);
	refuse_each(find_where, NULL);
	refuse_each(find_figures, NULL);
	gp_model_free(loaded);
	gp_builder_free(&b);
}

/* ---- tables and formats ---- */

static const struct gp_breakdown *breakdown;
static const struct gp_exporter *exporter;

static double weigh(const struct gp_value *value)
{
	is_told |= value->kind == GP_VALUE_TEXT &&
		   (strstr(value->text, "(no memory)") || strstr(value->text, "_Z"));
	return value->kind == GP_VALUE_REAL    ? value->real
	       : value->kind == GP_VALUE_WHOLE ? (double)value->whole
					       : 0;
}

static int make_table(const char *path)
{
	struct gp_table table = {0};
	struct gp_scope scope;
	int result = gp_scope_open(&scope, &loaded, 1, false);

	(void)path;
	outcome = 0;
	if (result == 0) {
		result = gp_breakdown_make(breakdown, &scope, &table);
		for (size_t i = 0; result == 0 && i < gp_table_rows(&table); i++)
			for (size_t c = 0; c < table.head->column_count; c++)
				outcome += weigh(&gp_table_row(&table, i)[c]) * (double)(c + 1);
		gp_table_close(&table);
	}
	gp_scope_close(&scope);
	return result;
}

static int write_format(const char *path)
{
	const struct gp_export_options options = {.measure = GP_STACK_METRICS};
	FILE *out = open_written();
	int result;

	(void)path;
	if (!out)
		return -ENOMEM;
	result = gp_export_model(exporter, loaded, &options, out);
	close_written(out);
	if (exporter != &gp_exporter_chrome)
		outcome = 0; /* they have names of functions, which may be lacking */
	return result;
}

static void test_tables(void **state)
{
	loaded = scene_make();
	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++) {
		breakdown = *at;
		refuse_each(make_table, NULL);
	}
	gp_model_free(loaded);
}

static void test_formats(void **state)
{
	loaded = scene_make();
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++) {
		exporter = *at;
		if (exporter->write)
			refuse_some(write_format, NULL, SOME);
	}
	gp_model_free(loaded);
}

static int write_tables(const char *path)
{
	const struct gp_export_options options = {.measure = GP_STACK_METRICS};
	struct gp_export_source source = gp_export_source_of(loaded);
	char message[256], name[128];
	int result =
		gp_exporter_parquet.write_folder(&source, &options, path, message, sizeof(message));

	outcome = 0;
	for (size_t i = 0; i < PARQUET_TABLES; i++) {
		snprintf(name, sizeof(name), "%s/%s/unknown.parquet", path, parquet_tables[i]);
		outcome += unlink(name) == 0;
		*strrchr(name, '/') = '\0';
		rmdir(name);
	}
	assert_int_equal(result == 0 ? outcome : 0, outcome); /* a failed one leaves no file */
	rmdir(path);
	return result;
}

static void test_parquet(void **state)
{
	char folder[] = "/dev/shm/gpuprof-test-XXXXXX";

	loaded = scene_make();
	assert_non_null(mkdtemp(folder));
	refuse_some(write_tables, folder, SOME);
	gp_model_free(loaded);
}

static int find_lines(const char *path)
{
	struct gp_backward backward;
	int result = gp_backward_of(&backward, loaded);

	(void)path;
	outcome = 0; /* by the names of functions, which may be lacking */
	gp_backward_free(&backward);
	return result;
}

static void test_lines_of_backward_passes(void **state)
{
	struct training t = training_begin();

	for (uint32_t line = 10; line < 13; line++)
		training_forward(&t, line, "addmm");
	for (unsigned site = 3; site > 0; site--)
		training_node(&t, "AddmmBackward0", site);
	loaded = training_end(&t);
	refuse_each(find_lines, NULL);
	gp_model_free(loaded);
}

/* One kernel is new, one is gone, all else is slower and varies. */
static void test_check(void **state)
{
	baseline = runs_make(20, 4);
	now = runs_make(7, 4);
	for (uint32_t i = 0; i < 20; i++) {
		runs_vary(&baseline, i, 1000 + 10 * i);
		runs_vary(&now, i % 7, 2000 + 10 * i);
	}
	for (uint32_t i = 0; i < 7; i++)
		strcpy(now.runs[i].figures.named[GP_NAMED_KERNEL].rows[3].name, "kernel_99");
	refuse_each(judge, NULL);
	gp_run_set_free(&baseline);
	gp_run_set_free(&now);
}

/* ---- loops ---- */

static int find_loop(const char *path)
{
	struct gp_tuning tuning = {0};
	struct gp_iterations found = {0};
	struct gp_steps steps = {0};
	int result = gp_tuning_of(&tuning, loaded);

	(void)path;
	if (result == 0)
		result = gp_iterations_of(&found, loaded, &tuning);
	if (result == 0)
		result = gp_steps_of(&steps, &found, loaded);
	outcome = found.count + 1e6 * (double)steps.median_ns + steps.counts[GP_RUN_STEADY];
	gp_steps_free(&steps);
	gp_iterations_free(&found);
	gp_tuning_free(&tuning);
	return result;
}

/* A kernel for each letter, in ranges or by themselves; each copy from the host is a "C". */
static struct gp_model *build_letters(const char *letters, bool in_ranges)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	for (char letter = 'a'; letter <= 'z'; letter++)
		build_name(&b, (char[]){letter, '\0'});
	for (uint32_t i = 0; letters[i]; i++) {
		uint64_t at_ns = 1000 + i * 100;
		struct gp_op *op;

		if (in_ranges && letters[i] == 'a')
			build_range(&b, 100, "step", at_ns, at_ns + 290);
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10, i + 1);
		op = build_op(&b, GP_OP_KERNEL, 7, at_ns + 20, at_ns + 80, i + 1);
		op->name = (uint32_t)(letters[i] - 'a');
		if (letters[i] != 'C')
			continue;
		op->kind = GP_OP_COPY;
		op->copy_kind = GP_COPY_HTOD;
		op->name = GP_NONE;
	}
	return build_end(&b);
}

/* By ranges, by a sequence that repeats, and by one that comes regularly among others. */
static void test_loops(void **state)
{
	static const char *const loops[] = {
		"abcabcabcabcabcabcabcabcabcabc",
		"abcaabcbabccabcdabceabcfabcgabchabciabcj",
		"yzabyzcdyzefyzghyzijyzklyzmnyzopyzqryzstyzuv",
		"CyzabCyzcdCyzefCyzghCyzijCyzklCyzmnCyzopCyzqrCyzstCyzuv",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		for (int in_ranges = 0; in_ranges <= 1; in_ranges++) {
			loaded = build_letters(loops[i], in_ranges);
			refuse_each(find_loop, NULL);
			assert_true(outcome > 0);
			gp_model_free(loaded);
		}
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
	refuse_each(load, path);
	close(fd);
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
		cmocka_unit_test(test_chrome_trace),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_importing),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_parquet),
		cmocka_unit_test(test_lines_of_backward_passes),
	};

	if (UNDER_ASAN || UNDER_TSAN) {
		puts("skipped: a sanitizer has malloc() for itself");
		return 77;
	}
	stay_on_one_core();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
