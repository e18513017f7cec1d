/*
 * The page of one screen: what it leaves out is counted, and nothing of what is missing is left
 * out.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary/summary.h"
#include "report/base/text/text.h"
#include "tests/report/expect.h"
#include "tests/report/stack_builder.h"

#define KERNELS 30
#define US      1000u

static char *print(struct gp_model *model, bool brief)
{
	const struct gp_summary_options options = {.brief = brief, .row_limit = 12};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_summary_print(out, &model, 1, &options), 0);
	fclose(out);
	return text;
}

/*
 * Kernels that take longer from one to the next, a copy that is fast and one that is slow, memory
 * of each kind.
 */
static struct build build_many(void)
{
	struct build b = build_begin(42);
	char name[16];

	build_info(&b, GP_INFO_PROGRAM, "many");
	build_device(&b, 0, "NVIDIA H200");
	for (uint32_t i = 0; i < KERNELS; i++) {
		uint64_t at_ns = (1 + i) * 100 * US;

		snprintf(name, sizeof(name), "kernel%02u", i);
		build_name(&b, name);
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + (1 + i) * US, i + 1)->name = i;
	}
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 1000, 0x1000, 1 << 20);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 1100, 0x2000, 1 << 20);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 1200, 0x3000, 1 << 21);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_PINNED, 100500, 0x3000, 0);
	build_usage(&b, 0, 90000, 150109880320 - (1u << 30), 150109880320);
	return b;
}

static void add_copy(struct build *b, uint64_t at_ns, uint64_t length_ns, uint64_t bytes,
		     uint8_t kind)
{
	struct gp_op *op;

	build_call(b, 100, BUILD_MEMCPY_ASYNC, at_ns, 1000, (uint32_t)at_ns);
	op = build_op(b, GP_OP_COPY, 7, at_ns, at_ns + length_ns, (uint32_t)at_ns);
	op->copy_kind = kind;
	op->source_kind = kind == 1 ? 2 : 3;
	op->destination_kind = kind == 1 ? 3 : 2;
	op->bytes = bytes;
}

static void what_it_leaves_out_is_counted(void **state)
{
	struct build b = build_many();
	struct gp_model *model;
	size_t lines = 0;
	char *text, *rest, *line;

	add_copy(&b, 5000 * US, 100 * US, 3 << 20, 1);
	add_copy(&b, 6000 * US, 100 * US, 8, 2);
	model = build_end(&b);
	text = print(model, true);
	/* the largest five: the two copies and 30, 29 and 28 of 465 us of kernels */
	expect(text, "  kernel29\n");
	expect(text, "  kernel27\n");
	expect_not(text, "kernel26");
	expect(text, "  ... 27 more, 378.0us (56.8 %)\n");
	expect(text,
	       " in all (launches, copies, memory, waits, startup; --trace=api-all records every one)\n");
	expect(text, "  copies: DtoH pinned 8B; HtoD pinned 3.000MiB, 31.46 GB/s\n");
	expect(text, "More: gpuprof summary --full FILE");
	for (rest = text; (line = strsep(&rest, "\n")) != NULL; lines++)
		if (gp_text_columns(line) > 110)
			fail_msg("%zu columns: %s", gp_text_columns(line), line);
	assert_true(lines < 50);
	free(text);
	gp_model_free(model);
}

/*
 * Functions, ranges, and GPUs that do nothing but have memory: a page of more than 50 lines, had
 * each table all of its rows.
 */
static struct build build_more_than_a_screen(uint32_t things)
{
	struct build b = build_many();
	static char names[64][16];

	b.model->domains = calloc(1, sizeof(*b.model->domains));
	b.model->domain_count = 1;
	assert_non_null(b.model->domains);
	b.model->domains[0] = "";
	for (uint32_t i = 0; i < things; i++) {
		snprintf(names[i], sizeof(names[i]), "thing%c%c", 'a' + i / 26, 'a' + i % 26);
		build_api(&b, (uint16_t)(300 + i), names[i], GP_API_OTHER);
		build_call(&b, 101, (uint16_t)(300 + i), (1 + i) * 50 * US, 40 * US, 0);
		build_range(&b, 100, names[i], (1 + i) * 100 * US, (1 + i) * 100 * US + 50 * US);
		build_device(&b, (uint16_t)(1 + i), "NVIDIA H200");
		build_usage(&b, (uint16_t)(1 + i), 90000, 1 << 30, 150109880320);
	}
	return b;
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		lines++;
	return lines;
}

/* The less there is room for, the fewer rows tables have; nothing of the rest is left out. */
static void tables_give_way_to_what_has_no_rows(void **state)
{
	for (uint32_t things = 6; things <= 60; things *= 10) {
		struct build b = build_more_than_a_screen(things);
		struct gp_model *model = build_end(&b);
		char *text = print(model, true), *whole = print(model, false);

		assert_in_range(lines_of(text), 40, 50);
		assert_true(lines_of(whole) > 60);
		expect(text, things == 6 ? "  GPU 1-6  not used by this program\n"
					 : "  GPU 1-60  not used by this program\n");
		expect(text, "kernel29");
		expect(text, " more, ");
		expect(text, "\nMore: gpuprof summary --full FILE");
		expect(text, "\nRecords\n");
		expect(text, "\nRanges: ");
		free(whole);
		free(text);
		gp_model_free(model);
	}
}

/* Small kinds have no row where there is no room for it, and are counted as all that has none. */
static void memory_without_a_row_is_counted(void **state)
{
	struct build b = build_more_than_a_screen(7);
	struct gp_model *model;
	char *text;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 5000 * US, 0x4000000000, 16ull << 30);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 5001 * US, 0x5000, 8 << 20);
	model = build_end(&b);
	text = print(model, true);
	expect(text, "  GPU 5\n  ... 3 more\n"); /* two GPUs, and what is page-locked */
	free(text);
	gp_model_free(model);
}

/* Where no copy has times, how fast they were is not known. */
static void untimed_copies_have_no_rate(void **state)
{
	struct build b = build_many();
	struct gp_model *model;
	char *text;

	add_copy(&b, 5000 * US, 0, 4096, 1);
	b.model->ops[b.model->op_count - 1].untimed = 1;
	b.model->losses.ops_untimed = 1;
	model = build_end(&b);
	text = print(model, true);
	expect(text, "  copies: HtoD pinned 4.000KiB\n");
	expect_not(text, "host-to-host");
	free(text);
	gp_model_free(model);
}

static void copies_within_the_host_are_no_work_of_a_gpu(void **state)
{
	struct build b = build_many();
	struct gp_model *model;
	char *text;

	add_copy(&b, 5000 * US, 100 * US, 4096, GP_COPY_HTOH);
	model = build_end(&b);
	text = print(model, true);
	expect(text, "GPU activities: 465.0us in all");
	expect(text, "also: 1 copy from host to host, not GPU work");
	free(text);
	text = print(model, false);
	expect(text, " 1 from host to host took 100.0us on the CPU: they are not GPU work");
	free(text);
	gp_model_free(model);
}

/* What is known of a device's memory is one row, however it was allocated. */
static void a_device_has_one_row_of_memory(void **state)
{
	struct build b = build_many();
	struct gp_model *model = build_end(&b);
	char *text = print(model, true);

	expect(text,
	       "\n      Peak      At  Allocs  Frees      Left  Blocks    In use        Of  Memory\n"
	       "  2.000MiB  +110ns       2      0  2.000MiB       2  1.000GiB  139.8GiB  GPU 0\n"
	       "  2.000MiB  +210ns       1      1        0B       0         -         -  pinned host\n"
	       "  Never freed: not known; 2.000MiB in 2 blocks were left, perhaps in the cache of an allocator\n");
	free(text);
	gp_model_free(model);
}

/* One large block may well live as long as the program; many small ones rather leak. */
static void most_blocks_have_their_place_too(void **state)
{
	struct build b = build_many();
	uint32_t once = build_python(&b, BUILD_OUTERMOST, "app.py", "setup", 1);
	uint32_t often = build_python(&b, BUILD_OUTERMOST, "app.py", "step", 2);
	struct gp_model *model;
	char *text;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 5000 * US, 0x800000, 4 << 20);
	build_stack_of_last(&b, once);
	for (uint32_t i = 0; i < 40; i++) {
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 5000 * US + i * 20, 0xf0000 + i,
			     1);
		build_stack_of_last(&b, often);
	}
	build_stacks_end(&b);
	model = build_end(&b);
	text = print(model, true);
	expect(text, "4.000MiB of it at setup (app.py:1), 40 of the blocks at step (app.py:2)\n");
	free(text);
	gp_model_free(model);
}

/*
 * Half of the time a kernel of 1 ms, half of it none: what may be done is said, and what it says
 * stands before the tables.
 */
static void advice_stands_before_the_tables(void **state)
{
	struct build b = build_begin(42);
	struct gp_model *model;
	char *text;

	build_device(&b, 0, "NVIDIA H200");
	for (uint32_t i = 0; i < 50; i++) {
		build_call(&b, 100, BUILD_LAUNCH, i * 2000 * US, 10 * US, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, i * 2000 * US + 20 * US, i * 2000 * US + 1020 * US,
			 i + 1);
		build_call(&b, 100, BUILD_DEVICE_SYNC, i * 2000 * US + 10 * US, 1015 * US, 0);
	}
	model = build_end(&b);
	text = print(model, true);
	expect(text, "\nAdvice: largest possible savings out of ");
	expect(text, " sync-in-loop: ");
	expect(text, "\n          -> ");
	assert_true(strstr(text, "\nAdvice: ") < strstr(text, "\nGPU activities: "));
	free(text);
	gp_model_free(model);
}

static void calls_that_failed_have_their_column(void **state)
{
	struct build b = build_many();
	struct gp_model *model;
	char *text;

	model = build_end(&b);
	text = print(model, true);
	expect_not(text, "Failed");
	free(text);
	gp_model_free(model);
	b = build_many();
	build_call(&b, 100, BUILD_LAUNCH, 30000, 100, 99)->status = 701;
	model = build_end(&b);
	text = print(model, true);
	expect(text, "  Failed  ");
	expect(text, "  failed: 1 x cudaLaunchKernel: too many resources requested for launch ");
	free(text);
	gp_model_free(model);
}

/* Every line of the whole page that says what is missing, between these. */
static void expect_lines_of(const char *whole, const char *from, const char *to, const char *text)
{
	const char *begin = strstr(whole, from), *end;
	char *lines, *rest, *line;

	assert_non_null(begin);
	end = strstr(begin, to);
	assert_non_null(end);
	rest = lines = strndup(begin, (size_t)(end - begin));
	while ((line = strsep(&rest, "\n")) != NULL)
		expect(text, line);
	free(lines);
}

static void nothing_that_is_missing_is_left_out(void **state)
{
	struct build b = build_many();
	struct gp_model *model;
	char *whole, *text;

	for (size_t i = 0; i < GP_COUNTERS; i++)
		b.model->counters[i] = 7;
	b.model->losses.damaged_bytes = 1234;
	b.model->losses.ops_reversed = 12;
	build_call(&b, 100, BUILD_LAUNCH, 30000, 100, 99);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 95000, 0x7777, 0);
	model = build_end(&b);
	model->losses.closed = false;
	whole = print(model, false);
	text = print(model, true);
	expect_lines_of(whole, "INCOMPLETE: ", "\ngpuprof: many", text);
	expect_lines_of(whole, "\nRecords\n", "\ngpuprof's own cost", text);
	expect(text, "\n  gpuprof's own cost: about ");
	expect(text, "; operations are missing)\n");
	free(whole);
	free(text);
	gp_model_free(model);
}

/* An operation whose call has no stack may be of tuning, too. */
static void of_tuning_the_least_is_known_without_stacks(void **state)
{
	for (int with_stacks = 0; with_stacks < 2; with_stacks++) {
		struct build b = build_begin(42);
		struct gp_model *model;
		uint32_t stack;
		char *text;

		build_device(&b, 0, "NVIDIA H200");
		stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);
		build_name(&b, "RedzoneAllocatorKernelImpl");
		build_name(&b, "mine");
		for (uint32_t i = 0; i < 4; i++) {
			build_call(&b, 100, BUILD_LAUNCH, (1 + i) * US, 10, i + 1);
			if (with_stacks)
				build_stack_of_last(&b, stack);
			build_op(&b, GP_OP_KERNEL, 7, (1 + i) * US, (1 + i) * US + 500, i + 1)
				->name = i % 2;
		}
		build_stacks_end(&b);
		model = build_end(&b);
		text = print(model, true);
		expect(text, with_stacks ? "XLA's autotuner 50.0 % of the GPU time"
					 : "XLA's autotuner at least 50.0 % of the GPU time");
		free(text);
		text = print(model, false);
		expect(text, "     100.0  RedzoneAllocatorKernelImpl\n");
		expect(text, "         -  mine\n");
		free(text);
		gp_model_free(model);
	}
}

/*
 * A large block that one caller of a wrapper keeps, many small ones of another, and one that is
 * freed again.
 */
static void callers_of_a_wrapper_are_told_apart(void **state)
{
	static const char *const callers[] = {"keep", "leak", "leak", "use"};
	struct build b = build_begin(42);
	struct gp_model *model;
	char *text;

	build_device(&b, 0, "NVIDIA H200");
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t caller = build_python(&b, BUILD_OUTERMOST, "train.py", callers[i], 5);

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 1000 * (i + 1),
			     0x1000000 * (i + 1), i == 0 ? 1 << 20 : 1 << 10);
		build_stack_of_last(&b, build_python(&b, caller, "train.py", "checked", 9));
	}
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 5000, 0x4000000, 0);
	build_stacks_end(&b);
	model = build_end(&b);
	text = print(model, true);
	expect(text,
	       "Never freed: 1.002MiB in 3 blocks, 1.000MiB of it at checked (train.py:9) < keep (train.py:5),\n    2 of the blocks at checked (train.py:9) < leak (train.py:5)\n");
	free(text);
	gp_model_free(model);
}

/*
 * Where there is no room for all callers, the one that tells stays whole: those before it are
 * wrappers.
 */
static void the_caller_that_tells_is_not_cut(void **state)
{
	static const char *const callers[] = {"step", "evaluate"};
	struct build b = build_begin(42);
	struct gp_model *model;
	char *text;

	build_device(&b, 0, "NVIDIA H200");
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t caller = build_python(&b, BUILD_OUTERMOST, "training.py", callers[i], 15);
		uint32_t get = build_python(&b, caller, "training.py", "Cache.get", 11);

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 1000 * (i + 1),
			     0x1000000 * (i + 1), i == 0 ? 1 << 20 : 1 << 10);
		build_stack_of_last(&b, build_python(&b, get, "training.py", "alloc", 7));
	}
	build_stacks_end(&b);
	model = build_end(&b);
	text = print(model, true);
	expect(text, "1.000MiB of it at alloc (training.py:7) < ... < step (training.py:15)\n");
	free(text);
	gp_model_free(model);
}

/* Of the H200's 139.8 GiB XLA takes three quarters in advance; a block of the user's is in use. */
static void the_pool_of_xla_is_not_all_in_use(void **state)
{
	static const struct {
		const char *module;
		uint64_t bytes;
		bool is_pool;
	} cases[] = {{"/v/xla_cuda_plugin.so", 112582410240, true},
		     {"/v/xla_cuda_plugin.so", 1 << 30, false},
		     {"/home/me/app", 112582410240, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(42);
		uint32_t line = build_python(&b, BUILD_OUTERMOST, "train.py", "main", 1);
		struct gp_model *model;
		char *text;

		build_device(&b, 0, "NVIDIA H200");
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 1000, 0x1000, cases[i].bytes);
		build_stack_of_last(&b, build_native(&b, line, cases[i].module, 0x10));
		build_stacks_end(&b);
		model = build_end(&b);
		text = print(model, true);
		assert_int_equal(strstr(text, "104.9GiB of the peak is XLA's preallocated pool") !=
					 NULL,
				 cases[i].is_pool);
		free(text);
		gp_model_free(model);
	}
}

/* What libraries hold is no leak; they are named, first who holds most. */
static void caches_are_not_counted_as_leaks(void **state)
{
	for (int several = 0; several < 2; several++) {
		struct build b = build_begin(42);
		uint32_t main_line = build_python(&b, BUILD_OUTERMOST, "train.py", "main", 1);
		uint32_t torch = build_native(&b, main_line, "/x/torch/lib/libc10_cuda.so", 0x10);
		uint32_t cupy =
			build_native(&b, main_line, "/x/cupy/cuda/memory.cpython-312.so", 0x10);
		uint32_t pinned = build_native(&b, main_line,
					       "/x/cupy/cuda/pinned_memory.cpython-312.so", 0x10);
		uint32_t blas = build_native(&b, torch, "/x/lib/libcublas.so.13", 0x10);
		struct gp_model *model;
		char *text;

		build_device(&b, 0, "NVIDIA H200");
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 1000, 0x1000, 1 << 20);
		build_stack_of_last(&b, torch);
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 2000, 0x200000, 2 << 20);
		build_stack_of_last(&b, several ? cupy : torch);
		if (several) {
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 2500, 0x9000, 1 << 20);
			build_stack_of_last(&b, pinned);
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 2600, 0x800000,
				     2 << 20);
			build_stack_of_last(&b, blas);
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 2700, 0xb00000,
				     1 << 20);
			build_stack_of_last(&b, blas);
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 2800, 0xc00000,
				     1 << 20);
			build_stack_of_last(&b, blas);
		}
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 3000, 0x400000, 512);
		build_stack_of_last(&b, main_line);
		build_stacks_end(&b);
		model = build_end(&b);
		text = print(model, false);
		expect(text,
		       several ? "\nNever freed: 512B in 1 block, not counting 8.000MiB kept by cuBLAS, CuPy and PyTorch\n"
			       : "\nNever freed: 512B in 1 block, not counting 3.000MiB kept by PyTorch\n");
		free(text);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_leaves_out_is_counted),
		cmocka_unit_test(tables_give_way_to_what_has_no_rows),
		cmocka_unit_test(memory_without_a_row_is_counted),
		cmocka_unit_test(copies_within_the_host_are_no_work_of_a_gpu),
		cmocka_unit_test(untimed_copies_have_no_rate),
		cmocka_unit_test(a_device_has_one_row_of_memory),
		cmocka_unit_test(most_blocks_have_their_place_too),
		cmocka_unit_test(advice_stands_before_the_tables),
		cmocka_unit_test(calls_that_failed_have_their_column),
		cmocka_unit_test(nothing_that_is_missing_is_left_out),
		cmocka_unit_test(callers_of_a_wrapper_are_told_apart),
		cmocka_unit_test(the_caller_that_tells_is_not_cut),
		cmocka_unit_test(the_pool_of_xla_is_not_all_in_use),
		cmocka_unit_test(caches_are_not_counted_as_leaks),
		cmocka_unit_test(of_tuning_the_least_is_known_without_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
