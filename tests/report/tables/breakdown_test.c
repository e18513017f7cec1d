#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

/*
 * A table of some models; cells are asked for by the text of the row's last column and the title.
 */
struct made {
	struct gp_scope scope;
	struct gp_table sheet;
};

static struct made make(const struct gp_breakdown *breakdown, struct gp_model *const *models,
			size_t count)
{
	struct made made;

	assert_int_equal(gp_scope_open(&made.scope, models, count, false), 0);
	assert_int_equal(gp_breakdown_make(breakdown, &made.scope, &made.sheet), 0);
	return made;
}

static void end(struct made *made)
{
	gp_table_close(&made->sheet);
	gp_scope_close(&made->scope);
}

static struct gp_value cell(const struct made *made, const char *name, const char *title)
{
	const struct gp_table_head *head = made->sheet.head;
	size_t column = gp_table_find_column(head, title);

	assert_true(column < head->column_count);
	for (size_t i = 0; i < gp_table_rows(&made->sheet); i++) {
		const struct gp_value *row = gp_table_row(&made->sheet, i);
		const struct gp_value *last = &row[head->column_count - 1];

		if (last->kind == GP_VALUE_TEXT && strcmp(last->text, name) == 0)
			return row[column];
	}
	fail_msg("there is no row %s", name);
	return gp_value_none();
}

static void expect(const struct made *made, const char *name, const char *title, double expected)
{
	struct gp_value value = cell(made, name, title);

	if (value.kind == GP_VALUE_WHOLE)
		assert_int_equal(value.whole, (uint64_t)expected);
	else
		assert_true(value.kind == GP_VALUE_REAL && value.real == expected);
}

static void expect_none(const struct made *made, const char *name, const char *title)
{
	assert_int_equal(cell(made, name, title).kind, GP_VALUE_NONE);
}

/* The same of the row with that number: of tables that do not end in a name. */
static void expect_at(const struct made *made, size_t row, const char *title, uint64_t expected)
{
	size_t column = gp_table_find_column(made->sheet.head, title);

	assert_true(row < gp_table_rows(&made->sheet) && column < made->sheet.head->column_count);
	assert_int_equal(gp_table_row(&made->sheet, row)[column].whole, expected);
}

static struct gp_op *build_kernel(struct build *b, uint32_t name, uint64_t start_ns,
				  uint64_t end_ns, uint32_t correlation_id)
{
	struct gp_op *op = build_op(b, GP_OP_KERNEL, 7, start_ns, end_ns, correlation_id);

	op->name = name;
	return op;
}

/* ---- idle time ---- */

/* It waits for the kernel at most. */
static void a_device_without_operations_has_no_share_of_idle_time(void **state)
{
	static const struct gp_breakdown *const tables[] = {&gp_breakdown_idle,
							    &gp_breakdown_gap_site};
	struct build b = build_begin(1);
	struct gp_model *model;

	build_device(&b, 0, "NVIDIA H200");
	build_device(&b, 1, "NVIDIA H200");
	build_call(&b, 100, BUILD_LAUNCH, 0, 1000, 1);
	build_kernel(&b, build_name(&b, "k"), 400000, 500000, 1);
	build_call(&b, 100, BUILD_LAUNCH, 900000, 100000, 2);
	model = build_end(&b);
	for (size_t i = 0; i < 2; i++) {
		struct made made = make(tables[i], &model, 1);
		size_t share = gp_table_find_column(made.sheet.head, "Time %");
		size_t device = gp_table_find_column(made.sheet.head, "Device");
		double sum = 0;
		uint32_t others = 0;

		for (size_t row = 0; row < gp_table_rows(&made.sheet); row++) {
			const struct gp_value *cells = gp_table_row(&made.sheet, row);

			if (cells[device].whole == 0)
				sum += cells[share].real;
			else
				others += cells[share].kind == GP_VALUE_NONE;
		}
		assert_true(sum > 99.9 && sum < 100.1);
		assert_int_equal(others, 1);
		end(&made);
	}
	gp_model_free(model);
}

static const char *text_at(const struct made *made, size_t row, const char *title)
{
	size_t column = gp_table_find_column(made->sheet.head, title);
	const struct gp_value *value = &gp_table_row(&made->sheet, row)[column];

	assert_true(column < made->sheet.head->column_count);
	return value->kind == GP_VALUE_TEXT ? value->text : "";
}

/*
 * Every pair of neighbors differs: k (launched at once), copy, set, k, other, k, copy; calls just
 * before each.
 */
static struct gp_model *build_gaps_between_different_operations(void)
{
	struct build b = build_begin(1);
	uint32_t k = build_name(&b, "k"), other = build_name(&b, "other");
	uint64_t at_ns = 100000;

	build_device(&b, 0, "NVIDIA H200");
	for (uint32_t i = 0; i < 7; i++) {
		bool is_copy = i == 1 || i == 6;
		struct gp_op *op;

		build_call(&b, 100,
			   is_copy  ? BUILD_MEMCPY_ASYNC
			   : i == 2 ? BUILD_MEMSET_ASYNC
				    : BUILD_LAUNCH,
			   at_ns - 5000, 3000, i + 1);
		op = build_op(&b,
			      is_copy  ? GP_OP_COPY
			      : i == 2 ? GP_OP_SET
				       : GP_OP_KERNEL,
			      7, at_ns, at_ns + 10000, i + 1);
		if (is_copy) {
			op->copy_kind = i == 1 ? 1 : 2;
			op->source_kind = i == 1 ? 2 : 3;
			op->destination_kind = i == 1 ? 3 : 2;
		} else if (i == 2) {
			op->destination_kind = 3;
		} else {
			op->name = i == 4 ? other : k;
		}
		at_ns += 110000 + i * 1000000;
	}
	build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns, 1000, 99);
	return build_end(&b);
}

/* Longest first: the gap of 100 us and i ms after operation i. */
static void gaps_name_the_operations_around_them(void **state)
{
	static const char *const names[] = {"k", "[memcpy HtoD pinned]", "[memset]", "k", "other",
					    "k", "[memcpy DtoH pinned]"};
	static const char *const calls[] = {
		"cudaLaunchKernel", "cudaMemcpyAsync",  "cudaMemsetAsync", "cudaLaunchKernel",
		"cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync"};
	struct gp_model *model = build_gaps_between_different_operations();
	struct made gaps = make(&gp_breakdown_gap, &model, 1);
	struct made sites = make(&gp_breakdown_gap_site, &model, 1);

	/* the one at the end is the longest */
	assert_string_equal(text_at(&gaps, 0, "Before"), names[6]);
	assert_string_equal(text_at(&gaps, 0, "After"), "");
	assert_string_equal(text_at(&sites, 0, "Before"), names[6]);
	for (size_t row = 1; row < 7; row++) {
		size_t before = 6 - row;

		expect_at(&gaps, row, "Duration", 100000 + before * 1000000);
		assert_string_equal(text_at(&gaps, row, "Before"), names[before]);
		assert_string_equal(text_at(&gaps, row, "Before by"), calls[before]);
		assert_string_equal(text_at(&gaps, row, "After"), names[before + 1]);
		assert_string_equal(text_at(&gaps, row, "After by"), calls[before + 1]);
		expect_at(&sites, row, "Total", 100000 + before * 1000000);
		expect_at(&sites, row, "Gaps", 1);
		assert_string_equal(text_at(&sites, row, "Before"), names[before]);
		assert_string_equal(text_at(&sites, row, "After"), names[before + 1]);
		assert_string_equal(text_at(&sites, row, "After by"), calls[before + 1]);
		assert_string_equal(text_at(&sites, row, "Cause"), "host-bound");
	}
	end(&sites);
	end(&gaps);
	gp_model_free(model);
}

/* ---- kernels and calls ---- */

static void untimed_kernels_are_counted_apart(void **state)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, "twice");
	struct gp_model *model;
	struct made made;

	build_kernel(&b, name, 100, 110, 0);
	build_kernel(&b, name, 200, 230, 0);
	build_kernel(&b, name, 0, 0, 0)->untimed = 1;
	build_kernel(&b, build_name(&b, "never"), 0, 0, 0)->untimed = 1;
	build_op(&b, GP_OP_SET, 7, 300, 310, 0)->destination_kind = 3;
	model = build_end(&b);
	made = make(&gp_breakdown_kernel, &model, 1);
	expect(&made, "twice", "Count", 3);
	expect(&made, "twice", "Untimed", 1);
	expect(&made, "twice", "Total", 40);
	expect(&made, "twice", "Avg", 20);
	expect(&made, "twice", "Med", 20);
	expect(&made, "twice", "StdDev", 10);
	expect(&made, "never", "Total", 0);
	expect_none(&made, "never", "Min");
	end(&made);
	made = make(&gp_breakdown_gpu, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 3);
	expect(&made, "twice", "Total", 40);
	expect(&made, "[memset]", "Time %", 20);
	assert_string_equal(cell(&made, "[memset]", "Category").text, "memset");
	end(&made);
	gp_model_free(model);
}

static void copies_within_the_host_are_copies_and_no_time_of_a_gpu(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;
	struct gp_op *copy;

	build_kernel(&b, build_name(&b, "k"), 100, 110, 0);
	build_call(&b, 1, BUILD_LAUNCH, 150, 20, 1);
	copy = build_op(&b, GP_OP_COPY, 7, 200, 290, 1);
	copy->copy_kind = GP_COPY_HTOH;
	copy->source_kind = GP_COPY_PINNED;
	copy->destination_kind = GP_COPY_PAGEABLE;
	model = build_end(&b);
	made = make(&gp_breakdown_copy_time, &model, 1);
	expect(&made, "[memcpy HtoH pinned to pageable]", "Total", 90);
	end(&made);
	made = make(&gp_breakdown_gpu, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 2);
	expect(&made, "k", "Time %", 100);
	expect(&made, "[memcpy HtoH pinned to pageable]", "Count", 1);
	expect(&made, "[memcpy HtoH pinned to pageable]", "Total", 0);
	expect_none(&made, "[memcpy HtoH pinned to pageable]", "Avg");
	end(&made);
	made = make(&gp_breakdown_kind, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 2);
	expect_at(&made, 1, "Count", 1);
	expect_at(&made, 1, "Total", 0);
	end(&made);
	made = make(&gp_breakdown_queue_kernel, &model, 1);
	expect(&made, "[memcpy HtoH pinned to pageable]", "Count", 1);
	expect(&made, "[memcpy HtoH pinned to pageable]", "GPU time", 0);
	end(&made);
	made = make(&gp_breakdown_stream, &model, 1);
	expect_at(&made, 0, "Copies", 1);
	expect_at(&made, 0, "Total", 10);
	expect_at(&made, 0, "Busy", 10);
	end(&made);
	gp_model_free(model);
}

/* CUPTI does not say it of many in graphs. */
static void sets_of_any_memory_and_of_the_devices_are_one_row(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;

	build_op(&b, GP_OP_SET, 7, 100, 110, 0)->destination_kind = GP_COPY_DEVICE;
	build_op(&b, GP_OP_SET, 7, 200, 210, 0)->destination_kind = GP_ACTIVITY_UNTOLD;
	model = build_end(&b);
	made = make(&gp_breakdown_copy_time, &model, 1);
	expect(&made, "[memset]", "Count", 2);
	end(&made);
	made = make(&gp_breakdown_gpu, &model, 1);
	expect(&made, "[memset]", "Count", 2);
	end(&made);
	gp_model_free(model);
}

static void kernels_of_two_processes_are_one_row(void **state)
{
	struct gp_model *models[2];
	struct made made;

	for (size_t i = 0; i < 2; i++) {
		struct build b = build_begin(1 + (uint32_t)i);

		build_name(&b, i ? "unused" : "same");
		build_kernel(&b, i ? build_name(&b, "same") : 0, 100, 110, 0);
		models[i] = build_end(&b);
	}
	made = make(&gp_breakdown_kernel, models, 2);
	assert_int_equal(gp_table_rows(&made.sheet), 1);
	expect(&made, "same", "Count", 2);
	end(&made);
	made = make(&gp_breakdown_context, models, 2);
	assert_int_equal(gp_table_rows(&made.sheet), 2);
	end(&made);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* The first waits in the queue for 40 ns, the second starts before its call has returned. */
static void a_launch_is_split_into_call_queue_and_kernel(void **state)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, "work");
	struct gp_model *model;
	struct made made;

	build_call(&b, 1, BUILD_LAUNCH, 100, 10, 1);
	build_kernel(&b, name, 150, 180, 1);
	build_call(&b, 1, BUILD_LAUNCH, 200, 100, 2);
	build_kernel(&b, name, 210, 220, 2);
	build_call(&b, 1, BUILD_GRAPH_LAUNCH, 400, 10, 3);
	build_kernel(&b, name, 450, 460, 3);
	model = build_end(&b);
	made = make(&gp_breakdown_exec, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 1);
	expect(&made, "work", "Count", 2);
	expect(&made, "work", "QCount", 1);
	expect(&made, "work", "Total", 80 + 100);
	expect(&made, "work", "AMax", 100);
	expect(&made, "work", "QMin", 40);
	expect(&made, "work", "KAvg", 20);
	end(&made);
	gp_model_free(model);
}

static void failed_calls_are_counted_apart(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;

	build_thread(&b, 1, "main");
	build_call(&b, 1, BUILD_MALLOC, 100, 10, 1);
	build_call(&b, 1, BUILD_MALLOC, 200, 30, 2)->status = 2;
	build_op(&b, GP_OP_SET, 7, 300, 310, 99);
	model = build_end(&b);
	made = make(&gp_breakdown_api, &model, 1);
	expect(&made, "cudaMalloc", "Count", 2);
	expect(&made, "cudaMalloc", "Failed", 1);
	expect(&made, "cudaMalloc", "Total", 40);
	end(&made);
	made = make(&gp_breakdown_thread, &model, 1);
	expect(&made, "main", "Failed", 1);
	expect(&made, "(operations whose call was not recorded)", "GPU ops", 1);
	end(&made);
	gp_model_free(model);
}

/* If the calls of one process have no status, the failed calls of a table's row are unknown. */
static void failed_calls_are_unknown_if_those_of_a_process_are(void **state)
{
	for (size_t unknown = 0; unknown < 3; unknown++) {
		struct gp_model *models[2];
		struct made made;

		for (size_t i = 0; i < COUNT(models); i++) {
			struct build b = build_begin((uint32_t)i + 1);

			build_call(&b, 1, BUILD_MALLOC, 100 + 50 * i, 10, 1)->status = 2;
			models[i] = build_end(&b);
			models[i]->unknown = i == unknown ? GP_UNKNOWN_STATUS : 0;
		}
		made = make(&gp_breakdown_api, models, COUNT(models));
		expect(&made, "cudaMalloc", "Count", 2);
		if (unknown < COUNT(models))
			expect_none(&made, "cudaMalloc", "Failed");
		else
			expect(&made, "cudaMalloc", "Failed", 2);
		end(&made);
		for (size_t i = 0; i < COUNT(models); i++)
			gp_model_free(models[i]);
	}
}

static void a_stream_is_busy_where_any_operation_runs(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;
	size_t column;

	build_kernel(&b, build_name(&b, "k"), 100, 200, 0);
	build_kernel(&b, 0, 150, 160, 0);
	build_kernel(&b, 0, 190, 210, 0);
	build_kernel(&b, 0, 300, 310, 0);
	model = build_end(&b);
	made = make(&gp_breakdown_stream, &model, 1);
	column = gp_table_find_column(made.sheet.head, "Busy");
	assert_int_equal(gp_table_row(&made.sheet, 0)[column].whole, 120);
	assert_int_equal(gp_table_row(&made.sheet, 0)[1].whole, 140);
	end(&made);
	gp_model_free(model);
}

/* ---- ranges ---- */

static uint32_t add_range(struct build *b, uint8_t style, uint32_t text, uint64_t start_ns,
			  uint64_t end_ns, uint32_t parent)
{
	static const char *const texts[] = {"step", "inner", "spot"};
	uint32_t index = BUILD_GROW(b, ranges, range_count);

	if (!b->model->domains) {
		b->model->domains = calloc(1, sizeof(*b->model->domains));
		b->model->range_texts = calloc(3, sizeof(*b->model->range_texts));
		b->model->domains[0] = "";
		memcpy(b->model->range_texts, texts, sizeof(texts));
		b->model->domain_count = 1;
		b->model->range_text_count = 3;
	}
	b->model->ranges[index] = (struct gp_range){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.thread_id = 1,
		.text = text,
		.extended_payload = GP_NONE,
		.parent = parent,
		.level = parent == GP_NONE ? 0 : (uint16_t)(b->model->ranges[parent].level + 1),
		.style = style};
	return index;
}

/*
 * step [100, 200] holds step [110, 150], which holds inner [120, 130]; a mark; inner, never closed.
 */
static struct gp_model *build_ranges(void)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, "work"), outer, again;

	outer = add_range(&b, GP_STYLE_PUSH_POP, 0, 100, 200, GP_NONE);
	again = add_range(&b, GP_STYLE_PUSH_POP, 0, 110, 150, outer);
	add_range(&b, GP_STYLE_PUSH_POP, 1, 120, 130, again);
	add_range(&b, GP_STYLE_MARK, 2, 160, 160, GP_NONE);
	add_range(&b, GP_STYLE_START_END, 2, 170, 400, GP_NONE);
	add_range(&b, GP_STYLE_PUSH_POP, 1, 500, 900, GP_NONE);
	b.model->ranges[5].open = true;
	build_call(&b, 1, BUILD_LAUNCH, 105, 2, 1);
	build_kernel(&b, name, 300, 310, 1);
	build_call(&b, 1, BUILD_LAUNCH, 125, 2, 2);
	build_kernel(&b, name, 310, 330, 2);
	build_call(&b, 2, BUILD_LAUNCH, 126, 2, 3); /* on another thread */
	build_kernel(&b, name, 330, 370, 3);
	build_call(&b, 2, BUILD_LAUNCH, 180, 2, 4);
	build_kernel(&b, name, 400, 480, 4);
	return build_end(&b);
}

static void ranges_have_their_own_time(void **state)
{
	struct gp_model *model = build_ranges();
	struct made made = make(&gp_breakdown_nvtx, &model, 1);

	assert_int_equal(gp_table_rows(&made.sheet), 4);
	expect(&made, "step", "Count", 2);
	expect(&made, "step", "Total", 100 + 40);
	expect(&made, "step", "Self", 60 + 30);
	expect(&made, "inner", "Count", 2);
	expect(&made, "inner", "Open", 1);
	expect(&made, "inner", "Total", 10 + 400);
	expect(&made, "inner", "Max", 400);
	expect(&made, "spot", "Total", 230);
	expect_none(&made, "spot", "Self");
	end(&made);
	gp_model_free(model);
}

static void ranges_that_differ_in_numbers_are_one_group(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;

	build_range(&b, 1, "request 7", 100, 120);
	build_range(&b, 2, "request 1001", 100, 140);
	build_range(&b, 1, "request 8", 200, 230);
	build_range(&b, 1, "drain", 300, 310);
	model = build_end(&b);
	made = make(&gp_breakdown_nvtx_group, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 2);
	expect(&made, "request *", "Count", 3);
	expect(&made, "request *", "Total", 90);
	expect(&made, "request *", "Med", 30);
	expect(&made, "request *", "Max", 40);
	assert_string_equal(cell(&made, "request *", "Longest").text, "request 1001");
	expect(&made, "drain", "Count", 1);
	end(&made);
	gp_model_free(model);
}

static void ranges_are_projected_onto_the_gpu(void **state)
{
	struct gp_model *model = build_ranges();
	struct made made = make(&gp_breakdown_nvtx_gpu, &model, 1);

	assert_int_equal(gp_table_rows(&made.sheet), 3);
	expect(&made, "step", "Count", 2);
	expect(&made, "step", "Total", 30 + 20);
	expect(&made, "step", "GPU ops", 3);
	expect(&made, "step", "GPU time", 30 + 20);
	expect(&made, "step", "Avg ops", 1.5);
	expect(&made, "step", "Avg level", 0.5);
	expect(&made, "step", "Avg children", 1);
	expect(&made, "inner", "Total", 20);
	expect(&made, "inner", "Range time", 10);
	expect(&made, "spot", "Total", 80);
	end(&made);
	gp_model_free(model);
}

static void a_kernel_counts_once_in_each_range_that_it_lies_in(void **state)
{
	static const struct {
		const char *range;
		uint64_t count, total, ranges;
	} expected[] = {{"spot", 1, 80, 1}, {"step", 2, 30, 1}, {"inner", 1, 20, 1}};
	struct gp_model *model = build_ranges();
	struct made made = make(&gp_breakdown_nvtx_kernel, &model, 1);
	const struct gp_table_head *head = made.sheet.head;

	assert_int_equal(gp_table_rows(&made.sheet), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct gp_value *row = gp_table_row(&made.sheet, i);

		assert_string_equal(row[gp_table_find_column(head, "Range")].text,
				    expected[i].range);
		assert_string_equal(row[gp_table_find_column(head, "Name")].text, "work");
		assert_int_equal(row[gp_table_find_column(head, "Count")].whole, expected[i].count);
		assert_int_equal(row[gp_table_find_column(head, "Total")].whole, expected[i].total);
		assert_int_equal(row[gp_table_find_column(head, "Ranges")].whole,
				 expected[i].ranges);
	}
	end(&made);
	gp_model_free(model);
}

/* ---- the driver ---- */

static void syncs_are_gathered_by_what_was_waited_for(void **state)
{
	static const struct gp_record_sync syncs[] = {
		{.sync_kind = 3, .start_ns = 100, .end_ns = 110},
		{.sync_kind = 3, .start_ns = 200, .end_ns = 230},
		{.sync_kind = 4, .start_ns = 300, .end_ns = 310},
		{.sync_kind = 99, .start_ns = 310, .end_ns = 300},
	};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;

	for (size_t i = 0; i < 4; i++) {
		uint32_t index = BUILD_GROW(&b, syncs, sync_count);

		b.model->syncs[index] = syncs[i];
	}
	model = build_end(&b);
	made = make(&gp_breakdown_sync, &model, 1);
	expect(&made, "stream", "Count", 2);
	expect(&made, "stream", "Time %", 80);
	expect(&made, "context", "Total", 10);
	expect(&made, "Unknown", "Total", 0);
	end(&made);
	gp_model_free(model);
}

static void code_comes_from_compiler_driver_and_calls(void **state)
{
	static const struct gp_record_jit jits[] = {
		{.op_kind = 3, .entry_kind = 1, .start_ns = 100, .end_ns = 200, .cache_bytes = 7},
		{.op_kind = 1, .entry_kind = 77, .start_ns = 300, .end_ns = 310, .cache_bytes = 9},
	};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;

	for (size_t i = 0; i < 2; i++) {
		uint32_t index = BUILD_GROW(&b, jits, jit_count);

		b.model->jits[index] = jits[i];
	}
	build_api(&b, 900, "cuModuleLoadData", GP_API_MODULE);
	build_call(&b, 1, 900, 50, 400, 1);
	build_overhead(&b, 5 << 16, 60, 70);
	build_overhead(&b, 1 << 16, 70, 80);
	model = build_end(&b);
	made = make(&gp_breakdown_module, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 4);
	expect(&made, "compile PTX to CUBIN", "Cache size", 7);
	expect(&made, "compile PTX to CUBIN", "Total", 100);
	expect(&made, "load from cache Unknown", "Count", 1);
	expect(&made, "cuModuleLoadData", "Total", 400);
	expect(&made, "Lazy Function Loading", "Total", 10);
	end(&made);
	made = make(&gp_breakdown_overhead, &model, 1);
	expect(&made, "Buffer Flush", "Count", 1);
	expect(&made, "Lazy Function Loading", "Count", 1);
	end(&made);
	gp_model_free(model);
}

static void unified_memory_has_bytes_or_faults(void **state)
{
	static const struct gp_record_unified events[] = {
		{.counter_kind = 1, .start_ns = 100, .end_ns = 200, .value = 4096},
		{.counter_kind = 1, .start_ns = 200, .end_ns = 300, .value = 8192},
		{.counter_kind = 3, .start_ns = 400, .end_ns = 400, .value = 0xdeadbeef},
		{.counter_kind = 4, .start_ns = 500, .end_ns = 600, .value = 12},
		{.counter_kind = 2,
		 .start_ns = 600,
		 .end_ns = 700,
		 .value = 100,
		 .address = 0x2000},
	};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;

	for (size_t i = 0; i < 5; i++) {
		uint32_t index = BUILD_GROW(&b, unifieds, unified_count);

		b.model->unifieds[index] = events[i];
	}
	model = build_end(&b);
	made = make(&gp_breakdown_unified, &model, 1);
	expect(&made, "migration HtoD", "Count", 2);
	expect(&made, "migration HtoD", "Bytes", 12288);
	expect(&made, "migration HtoD", "GB/s", 61.44);
	expect(&made, "page fault of the CPU", "Faults", 1);
	expect_none(&made, "page fault of the CPU", "Device");
	expect(&made, "page fault of a GPU", "Faults", 12);
	end(&made);
	made = make(&gp_breakdown_unified_address, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 2);
	expect_at(&made, 0, "HtoD", 12288);
	expect_at(&made, 0, "CPU faults", 1);
	expect_at(&made, 0, "GPU faults", 12);
	expect_at(&made, 0, "Total", 200);
	expect_at(&made, 1, "Address", 0x2000);
	expect_at(&made, 1, "DtoH", 100);
	end(&made);
	made = make(&gp_breakdown_unified_fault, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 1);
	expect_at(&made, 0, "Instruction", 0xdeadbeef);
	end(&made);
	gp_model_free(model);
}

static void memory_that_a_context_took_with_it_has_no_call(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct made made;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 64);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 200, 0x2000, 32);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 300, 0x1000, 0);
	model = build_end(&b);
	model->memory[2].call = GP_NONE;
	made = make(&gp_breakdown_memory, &model, 1);
	expect(&made, "cudaMalloc", "Count", 2);
	expect(&made, "cudaMalloc", "Total", 96);
	expect(&made, "cudaMalloc", "API time", 20);
	expect(&made, "(the context's end)", "Total", 64);
	expect(&made, "(the context's end)", "API time", 0);
	end(&made);
	gp_model_free(model);
}

/* ---- the list ---- */

/* ---- graphs and pools ---- */

/* The row whose cell of the last column is that number. */
static size_t row_of(const struct made *made, uint64_t number)
{
	const size_t columns = made->sheet.head->column_count;

	for (size_t i = 0; i < gp_table_rows(&made->sheet); i++) {
		const struct gp_value *last = &gp_table_row(&made->sheet, i)[columns - 1];

		if (last->kind == GP_VALUE_WHOLE && last->whole == number)
			return i;
	}
	fail_msg("there is no row %lu", number);
	return 0;
}

static struct gp_op *build_graph_op(struct build *b, enum gp_op_kind kind, uint32_t graph_id,
				    uint64_t start_ns, uint64_t end_ns, uint32_t correlation_id)
{
	struct gp_op *op = build_op(b, kind, 7, start_ns, end_ns, correlation_id);

	op->graph_id = graph_id;
	return op;
}

/*
 * Two launches of graph 3, the second with operations that overlap and begin out of order; one of
 * graph 4 as a whole.
 */
static void graphs_have_their_launches_and_operations(void **state)
{
	struct build b = build_begin(17);
	uint32_t k = build_name(&b, "k");
	struct gp_model *model;
	struct made made;

	build_call(&b, 100, BUILD_GRAPH_LAUNCH, 0, 10, 1);
	build_call(&b, 100, BUILD_GRAPH_LAUNCH, 20, 10, 2);
	build_call(&b, 100, BUILD_GRAPH_LAUNCH, 40, 10, 3);
	build_call(&b, 100, BUILD_LAUNCH, 60, 10, 4);
	build_graph_op(&b, GP_OP_KERNEL, 3, 100, 150, 1)->name = k;
	build_graph_op(&b, GP_OP_COPY, 3, 160, 170, 1);
	build_graph_op(&b, GP_OP_SET, 3, 170, 175, 1);
	build_graph_op(&b, GP_OP_KERNEL, 3, 230, 400, 2)->name = k;
	build_graph_op(&b, GP_OP_KERNEL, 3, 210, 220, 2)->name = k;
	build_graph_op(&b, GP_OP_KERNEL, 3, 0, 0, 2)->untimed = 1;
	build_graph_op(&b, GP_OP_GRAPH, 4, 500, 900, 3);
	build_kernel(&b, k, 1000, 1100, 4);
	model = build_end(&b);
	made = make(&gp_breakdown_graph, &model, 1);
	assert_int_equal(gp_table_rows(&made.sheet), 2);
	size_t row = row_of(&made, 3);

	expect_at(&made, row, "Total", 50 + 10 + 5 + 170 + 10);
	expect_at(&made, row, "Launches", 2);
	expect_at(&made, row, "Min", 75);
	expect_at(&made, row, "Max", 190);
	expect_at(&made, row, "Count", 6);
	expect_at(&made, row, "Untimed", 1);
	expect_at(&made, row, "Kernels", 4);
	expect_at(&made, row, "Copies", 1);
	expect_at(&made, row, "Memsets", 1);
	expect_at(&made, row, "Graphs", 0);
	expect_at(&made, row, "PID", 17);
	row = row_of(&made, 4);
	expect_at(&made, row, "Total", 400);
	expect_at(&made, row, "Launches", 1);
	expect_at(&made, row, "Max", 400);
	expect_at(&made, row, "Kernels", 0);
	expect_at(&made, row, "Graphs", 1);
	end(&made);
	gp_model_free(model);
}

static void build_pool(struct build *b, uint16_t device, uint64_t address, uint8_t op,
		       uint64_t reserved_bytes, uint64_t used_bytes)
{
	uint32_t index = BUILD_GROW(b, pools, pool_count);

	b->model->pools[index] = (struct gp_record_pool){.device_id = device,
							 .address = address,
							 .op = op,
							 .reserved_bytes = reserved_bytes,
							 .used_bytes = used_bytes};
}

/* Of device 0 the only pool, which allocations need not name; of device 1 two. */
static struct gp_model *build_pools(void)
{
	struct build b = build_begin(17);

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	build_op(&b, GP_OP_SET, 7, 10, 20, 0);
	build_op(&b, GP_OP_SET, 7, 10, 20, 0)->device_id = 1;
	build_pool(&b, 0, 0x100, 1, 1000, 0);
	build_pool(&b, 0, 0x100, 3, 4000, 1000); /* trims */
	build_pool(&b, 0, 0x100, 3, 2000, 2500);
	build_pool(&b, 1, 0x200, 1, 50, 40);
	build_pool(&b, 1, 0x300, 2, 60, 10);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 100, 0x10000, 256);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 200, 0x20000, 512);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_ASYNC, 300, 0x10000, 256);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 400, 0x30000, 64)->pool = 0x300;
	b.model->memory[3].device_id = 1;
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 500, 0x40000, 32)->device_id = 1;
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 600, 0x50000, 9999);
	return build_end(&b);
}

static void expect_pool(const struct made *made, size_t row, const uint64_t expected[8])
{
	static const char *const titles[] = {"Reserved",  "Unused", "Most used", "Left",
					     "Allocated", "Allocs", "Trims",     "Device"};

	for (size_t i = 0; i < 8; i++)
		expect_at(made, row, titles[i], expected[i]);
}

static void pools_have_what_was_allocated_from_them(void **state)
{
	struct gp_model *model = build_pools();
	struct made made = make(&gp_breakdown_memory_pool, &model, 1);

	assert_int_equal(gp_table_rows(&made.sheet), 4); /* one of an allocation from either */
	expect_pool(&made, row_of(&made, 0x100),
		    (const uint64_t[]){4000, 3000, 768, 512, 768, 2, 2, 0});
	expect_pool(&made, row_of(&made, 0x200), (const uint64_t[]){50, 10, 0, 0, 0, 0, 0, 1});
	expect_pool(&made, row_of(&made, 0x300), (const uint64_t[]){60, 50, 64, 64, 64, 1, 0, 1});
	expect_pool(&made, 3, (const uint64_t[]){0, 0, 32, 32, 32, 1, 0, 1});
	assert_int_equal(gp_table_row(&made.sheet, 3)[10].kind, GP_VALUE_NONE);
	end(&made);
	model->unknown |= GP_UNKNOWN_ALLOCATIONS;
	made = make(&gp_breakdown_memory_pool, &model, 1);
	expect_at(&made, row_of(&made, 0x100), "Most used", 2500);
	assert_int_equal(gp_table_row(&made.sheet, 0)[4].kind, GP_VALUE_NONE);
	assert_int_equal(gp_table_row(&made.sheet, 0)[5].kind, GP_VALUE_NONE);
	assert_int_equal(gp_table_row(&made.sheet, 0)[6].kind, GP_VALUE_NONE);
	end(&made);
	gp_model_free(model);
}

static void every_table_is_sound(void **state)
{
	struct gp_model *model = build_ranges();

	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++) {
		const struct gp_table_head *head = &(*at)->head;
		struct made made = make(*at, &model, 1);

		assert_true((*at)->sort_column < head->column_count ||
			    (*at)->sort_column == GP_TABLE_AS_ADDED);
		assert_int_equal(made.sheet.cell_count % made.sheet.head->column_count, 0);
		for (size_t i = 0; i < head->column_count; i++)
			assert_int_equal(gp_table_find_column(head, head->columns[i].title), i);
		assert_true(gp_breakdown_is(*at, head->name));
		end(&made);
	}
	gp_model_free(model);
}

/* By pid, by rank where all have one of their own, else by name; of a table with ranks, once. */
static void processes_of_a_job_are_named_by_their_ranks(void **state)
{
	static const struct {
		const char *ranks[2], *title;
		bool is_shared, is_text;
		uint64_t whole;
		const char *text;
	} cases[] = {
		{{NULL, NULL}, "PID", false, false, 11, NULL},
		{{"4", "7"}, "Rank", false, false, 4, NULL},
		{{"4", NULL}, "Process", false, true, 0, "rank 4"},
		{{"4", "4"}, "Process", true, true, 0, "rank 4, pid 11"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gp_model *models[2];
		struct gp_value value;
		struct made made;

		for (uint32_t k = 0; k < 2; k++) {
			struct build b = build_begin(11 + k);

			build_device(&b, 0, "GPU");
			if (cases[i].ranks[k])
				build_info(&b, GP_INFO_RANK, cases[i].ranks[k]);
			build_kernel(&b, build_name(&b, "k"), 0, 100 - 50 * k, 0);
			models[k] = build_end(&b);
			models[k]->shares_rank = cases[i].is_shared;
		}
		made = make(&gp_breakdown_stream, models, 2);
		value = gp_table_row(&made.sheet,
				     0)[gp_table_find_column(made.sheet.head, cases[i].title)];
		assert_int_equal(value.kind, cases[i].is_text ? GP_VALUE_TEXT : GP_VALUE_WHOLE);
		if (cases[i].is_text)
			assert_string_equal(value.text, cases[i].text);
		else
			assert_int_equal(value.whole, cases[i].whole);
		end(&made);
		made = make(&gp_breakdown_process, models, 2);
		assert_int_equal(made.sheet.head->column_count,
				 gp_breakdown_process.head.column_count -
					 (strcmp(cases[i].title, "Rank") == 0));
		assert_int_equal(gp_table_rows(&made.sheet), 2);
		end(&made);
		gp_model_free(models[0]);
		gp_model_free(models[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_without_operations_has_no_share_of_idle_time),
		cmocka_unit_test(gaps_name_the_operations_around_them),
		cmocka_unit_test(untimed_kernels_are_counted_apart),
		cmocka_unit_test(copies_within_the_host_are_copies_and_no_time_of_a_gpu),
		cmocka_unit_test(sets_of_any_memory_and_of_the_devices_are_one_row),
		cmocka_unit_test(kernels_of_two_processes_are_one_row),
		cmocka_unit_test(a_launch_is_split_into_call_queue_and_kernel),
		cmocka_unit_test(failed_calls_are_counted_apart),
		cmocka_unit_test(failed_calls_are_unknown_if_those_of_a_process_are),
		cmocka_unit_test(a_stream_is_busy_where_any_operation_runs),
		cmocka_unit_test(ranges_have_their_own_time),
		cmocka_unit_test(ranges_that_differ_in_numbers_are_one_group),
		cmocka_unit_test(ranges_are_projected_onto_the_gpu),
		cmocka_unit_test(a_kernel_counts_once_in_each_range_that_it_lies_in),
		cmocka_unit_test(syncs_are_gathered_by_what_was_waited_for),
		cmocka_unit_test(code_comes_from_compiler_driver_and_calls),
		cmocka_unit_test(unified_memory_has_bytes_or_faults),
		cmocka_unit_test(memory_that_a_context_took_with_it_has_no_call),
		cmocka_unit_test(graphs_have_their_launches_and_operations),
		cmocka_unit_test(pools_have_what_was_allocated_from_them),
		cmocka_unit_test(every_table_is_sound),
		cmocka_unit_test(processes_of_a_job_are_named_by_their_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
