/* memory_page: the tables of memory by call site, and the totals below them. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/tables/breakdown.h"
#include "report/tables/memory_page.h"
#include "tests/report/expect.h"
#include "tests/report/stack_builder.h"

/* The page, each run of spaces one space. */
static char *print(struct gp_model *const *models, size_t count, size_t row_limit)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	const struct gp_memory_page_options options = {.row_limit = row_limit, .messages = out};

	assert_int_equal(gp_memory_page_print(out, models, count, &options), 0);
	fclose(out);
	squeeze(text, " ");
	return text;
}

static struct gp_model *end(struct build *b)
{
	for (uint32_t i = 0; i < b->model->memory_count; i++)
		b->model->memory[i].device_id = 3;
	build_stacks_end(b);
	return build_end(b);
}

static char *print_one(struct build *b)
{
	struct gp_model *model = end(b);
	char *text = print(&model, 1, 0);

	gp_model_free(model);
	return text;
}

static void allocate(struct build *b, uint32_t stack, enum gp_memory_kind kind, uint64_t time_ns,
		     uint64_t address, uint64_t bytes)
{
	build_memory(b, GP_MEMORY_ALLOC, kind, time_ns, address, bytes);
	build_stack_of_last(b, stack);
}

/* Of three sites two leave device memory, one of them through a caller, one pinned memory. */
static struct build begin(void)
{
	struct build b = build_begin(42);
	uint32_t outer = build_python(&b, BUILD_OUTERMOST, "a.py", "main", 1);
	uint32_t inner = build_python(&b, outer, "b.py", "make", 2);
	uint32_t other = build_python(&b, outer, "c.py", "keep", 3);

	build_info(&b, GP_INFO_PROGRAM, "app");
	build_thread(&b, 100, "main");
	build_device(&b, 3, "GPU");
	allocate(&b, inner, GP_MEMORY_DEVICE, 1000, 0x10000, 4096);
	allocate(&b, inner, GP_MEMORY_DEVICE, 2000, 0x20000, 4096);
	allocate(&b, other, GP_MEMORY_DEVICE, 3000, 0x30000, 1024);
	allocate(&b, outer, GP_MEMORY_PINNED, 4000, 0x40000, 512);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_PINNED, 5000, 0x40000, 0);
	allocate(&b, inner, GP_MEMORY_DEVICE, 6000, 0x50000, 2048);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 7000, 0x20000, 0);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 8000, 0x50000, 0);
	return b;
}

static void the_totals_are_of_all_sites(void **state)
{
	struct build b = begin();
	char *text = print_one(&b);

	(void)state;
	expect(text, "gpuprof: app, pid 42: ");
	expect(text, "\nNever freed\n Bytes Blocks Memory Device Call site\n"
		     " 4.000KiB 1 device 3 make (b.py:2)\n by main (a.py:1)\n"
		     " 1.000KiB 1 device 3 keep (c.py:3)\n by main (a.py:1)\n\n");
	expect(text, " allocations 5 of 11.50KiB; the calls took 50ns, the frees 30ns\n"
		     " temporary 1 (20.0 %)");
	expect(text, " leaked 5.000KiB in 2 blocks from 2 call sites\n"
		     " peak 11.00KiB of GPU 3's device memory at +6.000us\n"
		     " peak 512B of pinned host memory at +4.000us\n over time ");
	free(text);
}

/* Mapped memory of another process has no bytes, and a library keeps its own. */
static void what_is_left_may_be_no_leak(void **state)
{
	struct build b = begin();
	uint32_t cached = build_native(&b, BUILD_OUTERMOST, "/x/torch/lib/libc10_cuda.so", 1);
	char *text;

	(void)state;
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_IPC, 9000, 0x60000, 1 << 20);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_IPC, 9100, 0x70000, 1 << 20);
	allocate(&b, cached, GP_MEMORY_DEVICE, 9200, 0x80000, 3 << 20);
	b.model->losses.closed = false;
	text = print_one(&b);
	expect(text,
	       "\nKept by libraries\n Bytes Blocks At peak Memory Device Allocator Call site\n"
	       " 3.000MiB 1 3.000MiB device 3 PyTorch libc10_cuda.so+0x0\n\n");
	expect(text, " allocations 8 of 3.011MiB; ");
	expect(text, " not freed 5.000KiB in 2 blocks from 2 call sites; 3.000MiB more is kept by "
		     "libraries; 2 mappings of other processes' memory left open\n");
	free(text);
}

/* A free waits for a kernel from 100 us to 1 ms: its call begins at 200 us. */
static void waits_are_told_by_function(void **state)
{
	struct build b = begin();
	char *text;

	(void)state;
	build_call(&b, 100, BUILD_LAUNCH, 90000, 500, 1);
	build_op(&b, GP_OP_KERNEL, 7, 100000, 1000000, 1);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 200010, 0x10000, 0);
	b.model->calls[b.model->call_count - 1].duration_ns = 810000;
	text = print_one(&b);
	expect(text, " 800.0us 1 800.0us 810.0us 4 cudaFree ");
	free(text);
}

/* Without a leak the page has the memory that libraries keep; mapped memory is not theirs. */
static void what_libraries_keep_is_no_leak(void **state)
{
	(void)state;
	for (uint32_t keeps = 0; keeps <= 1; keeps++) {
		struct build b = build_begin(42);
		uint32_t cached =
			build_native(&b, BUILD_OUTERMOST, "/x/torch/lib/libc10_cuda.so", 1);
		struct gp_scope scope;
		struct gp_model *model;
		const char *nothing;

		build_device(&b, 3, "GPU");
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_IPC, 9000, 0x60000, 1 << 20);
		if (keeps)
			allocate(&b, cached, GP_MEMORY_DEVICE, 9200, 0x80000, 3 << 20);
		model = end(&b);
		assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
		nothing = gp_breakdown_memory_leak.say_nothing(&scope);
		assert_int_equal(strstr(nothing, "3.000MiB is kept by libraries") != NULL, keeps);
		gp_scope_close(&scope);
		gp_model_free(model);
	}
}

static void the_limit_folds_rows(void **state)
{
	struct build b = begin();
	struct gp_model *model = end(&b);
	char *text = print(&model, 1, 1);

	(void)state;
	expect(text, " 4.000KiB 1 device 3 make (b.py:2)\n by main (a.py:1)\n ... 1 more\n");
	expect(text,
	       " 90.9 10.00KiB 3 6.000us device 3 - make (b.py:2)\n by main (a.py:1)\n ... 2 more\n");
	free(text);
	text = print(&model, 1, 3);
	expect_not(text, " more\n");
	free(text);
	gp_model_free(model);
}

/* Pools of allocators are known without allocations, and the page draws them. */
static void pools_have_a_page_of_their_own(void **state)
{
	(void)state;
	for (uint32_t has_pool = 0; has_pool <= 1; has_pool++) {
		struct build b = build_begin(42);
		char *text;

		build_device(&b, 0, "GPU");
		if (has_pool) {
			uint32_t at = BUILD_GROW(&b, pools, pool_count);

			b.model->pools[at] = (struct gp_record_pool){
				.time_ns = 10, .reserved_bytes = 64, .op = 1};
		}
		text = print_one(&b);
		assert_int_equal(strstr(text, "gpuprof html FILE") != NULL, has_pool);
		free(text);
	}
}

/* The page of memory alone says why there are no allocations. */
static void without_allocations_the_reason_is_said(void **state)
{
	static const struct {
		const char *options, *recorder, *words;
	} cases[] = {
		{NULL, NULL, "\n nothing was allocated while recording was on\n"},
		{"TRACE=nvtx", NULL, "\n allocations were not recorded: "},
		{"TRACE=nvtx", "torch.profiler", "\n the trace lacks the allocations "},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct build b = build_begin(42);
		char *text;

		if (cases[i].options)
			build_info(&b, GP_INFO_OPTIONS, cases[i].options);
		b.model->recorder = cases[i].recorder;
		text = print_one(&b);
		expect(text, cases[i].words);
		expect_not(text, "In all");
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_totals_are_of_all_sites),
		cmocka_unit_test(what_is_left_may_be_no_leak),
		cmocka_unit_test(waits_are_told_by_function),
		cmocka_unit_test(what_libraries_keep_is_no_leak),
		cmocka_unit_test(the_limit_folds_rows),
		cmocka_unit_test(pools_have_a_page_of_their_own),
		cmocka_unit_test(without_allocations_the_reason_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
