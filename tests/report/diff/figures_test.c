#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "gpuprof/count.h"
#include "tests/report/wheres_of.h"
#include "report/diff/figures.h"
#include "../stack_builder.h"

#define PAGEABLE 1
#define PINNED   2
#define DEVICE   3

static void build_copy(struct build *b, uint8_t copy_kind, uint8_t source, uint8_t flags,
		       uint64_t start_ns, uint64_t bytes)
{
	struct gp_op *op = build_op(b, GP_OP_COPY, 7, start_ns, start_ns + 100, 0);

	op->copy_kind = copy_kind;
	op->source_kind = source;
	op->destination_kind = copy_kind == 2 ? PINNED : DEVICE;
	op->flags = flags;
	op->bytes = bytes;
}

static void build_kernel(struct build *b, uint32_t name, uint32_t shape, uint64_t start_ns,
			 uint64_t end_ns)
{
	struct gp_op *op = build_op(b, GP_OP_KERNEL, 7, start_ns, end_ns, 0);

	op->name = name;
	op->shape = shape;
}

/*
 * From 0 to 2000: launches 100 to 200, kernels 300 to 400 and 500 to 700, copies 600, 900, 1200,
 * 2000 is the end.
 */
static struct gp_model *build_program(void)
{
	struct build b = build_begin(1);
	uint32_t add = build_name(&b, "_Z3addPf"), mul = build_name(&b, "mul\x1b");
	uint32_t shape = build_shape(&b, 10, 1024);

	build_device(&b, 0, "GPU");
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 50, 0x1000, 4096);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 60, 0x9000, 100);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 70, 0x8000, 1000);
	build_stack_of_last(&b, build_python(&b, BUILD_OUTERMOST, "a.py", "main", 1));
	build_stacks_end(&b);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 1500, 0x1000, 0);
	build_call(&b, 100, BUILD_LAUNCH, 100, 20, 0);
	build_call(&b, 100, BUILD_LAUNCH, 150, 50, 0)->status = 1;
	build_call(&b, 100, BUILD_GRAPH_LAUNCH, 210, 10, 0);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1600, 400, 0);
	build_kernel(&b, add, shape, 300, 400);
	build_kernel(&b, add, shape, 500, 700);
	build_kernel(&b, mul, GP_NONE, 800, 810);
	build_copy(&b, 1, PAGEABLE, 1, 600, 64);
	build_copy(&b, 1, PAGEABLE, 0, 900, 32);
	build_copy(&b, 2, DEVICE, 1, 1200, 16);
	build_op(&b, GP_OP_SET, 7, 1300, 1310, 0)->bytes = 8;
	return build_end(&b);
}

static void assert_metric(const struct gp_figures *figures, enum gp_metric metric, double value)
{
	if (figures->values[metric] != value)
		fail_msg("%s is %g, not %g", gp_metric_rows[metric].name, figures->values[metric],
			 value);
}

static void every_metric_counts_what_it_says(void **state)
{
	struct gp_model *model = build_program();
	const struct gp_named_figure *leak;
	struct gp_figures figures;

	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_metric(&figures, GP_METRIC_LAUNCHES, 2);
	assert_metric(&figures, GP_METRIC_GRAPH_LAUNCHES, 1);
	assert_metric(&figures, GP_METRIC_KERNELS, 3);
	assert_metric(&figures, GP_METRIC_COPIES, 3);
	assert_metric(&figures, GP_METRIC_COPIES_HTOD, 2);
	assert_metric(&figures, GP_METRIC_COPIES_DTOH, 1);
	assert_metric(&figures, GP_METRIC_COPIES_OTHER, 0);
	assert_metric(&figures, GP_METRIC_PAGEABLE_ASYNC, 1);
	assert_metric(&figures, GP_METRIC_SETS, 1);
	assert_metric(&figures, GP_METRIC_SYNCS, 1);
	assert_metric(&figures, GP_METRIC_ALLOCATIONS, 3);
	assert_metric(&figures, GP_METRIC_FAILURES, 1);
	assert_metric(&figures, GP_METRIC_BYTES_HTOD, 96);
	assert_metric(&figures, GP_METRIC_BYTES_DTOH, 16);
	assert_metric(&figures, GP_METRIC_BYTES_SET, 8);
	assert_metric(&figures, GP_METRIC_BYTES_ALLOCATED, 5196);
	assert_metric(&figures, GP_METRIC_BYTES_PEAK, 5096);
	assert_metric(&figures, GP_METRIC_BYTES_LEAKED, 1100);
	leak = gp_named_find(&figures.named[GP_NAMED_LEAK], "main (a.py:1)");
	assert_non_null(leak);
	assert_true(leak->count == 1 && leak->total_ns == 1000);
	assert_non_null(gp_named_find(&figures.named[GP_NAMED_LINE], "main (a.py:1)"));
	assert_metric(&figures, GP_METRIC_WALL, 1960); /* from the first allocation's call on */
	assert_metric(&figures, GP_METRIC_KERNEL_TIME, 310);
	assert_metric(&figures, GP_METRIC_COPY_TIME, 300);
	assert_metric(&figures, GP_METRIC_SET_TIME, 10);
	assert_metric(&figures, GP_METRIC_GPU_BUSY, 520);
	assert_metric(&figures, GP_METRIC_GPU_IDLE, 1960 - 520);
	assert_metric(&figures, GP_METRIC_EXPOSED_COPIES, 210);
	assert_metric(&figures, GP_METRIC_LAUNCH_TIME, 80);
	assert_metric(&figures, GP_METRIC_SYNC_TIME, 400);
	assert_metric(&figures, GP_METRIC_MEMORY_CALL_TIME, 40);
	gp_figures_free(&figures);
	gp_model_free(model);
}

static double sum_of_causes(const struct gp_figures *figures)
{
	double sum = 0;

	for (int metric = 0; metric < GP_METRICS; metric++)
		if (strncmp(gp_metric_rows[metric].name, "idle_", 5) == 0)
			sum += figures->values[metric];
	return sum;
}

/*
 * Copies, communication and many causes, each of another length: ten gaps, with a call of each kind
 * in them.
 */
static struct gp_model *build_causes(void)
{
	static const uint16_t apis[] = {BUILD_MALLOC, BUILD_MEMCPY_ASYNC, BUILD_DEVICE_SYNC, 1, 0};
	struct build b = build_begin(1);
	uint32_t kernel = build_name(&b, "k"), nccl = build_name(&b, "ncclDevKernel_AllReduce");
	uint64_t at_ns = 1000000;

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	build_api(&b, 1, "cudaStreamCreate", GP_API_CONTROL);
	build_op(&b, GP_OP_KERNEL, 9, 10000, 11000, 200)->device_id = 1;
	for (uint32_t i = 0; i < COUNT(apis); i++) {
		if (apis[i] != 0)
			build_call(&b, 100, apis[i], at_ns - 500000, 60000 * (i + 1), 100 + i);
		build_call(&b, 100, BUILD_LAUNCH, at_ns - 5000 * (i + 1), 1000, i + 1);
		build_kernel(&b, i == 3 ? nccl : kernel, GP_NONE, at_ns, at_ns + 7000 * (i + 1));
		b.model->ops[b.model->op_count - 1].correlation_id = i + 1;
		at_ns += 1000000;
	}
	build_copy(&b, 1, PINNED, 1, at_ns, 64);
	build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns, 1000, 99);
	return build_end(&b);
}

/* What the table of idle times says of the devices that were used. */
static uint64_t state_of(const struct gp_wheres *wheres, unsigned state)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < wheres->count; i++)
		ns += wheres->devices[i].state_ns[state];
	return ns;
}

/* Under its own name. */
static void each_cause_has_its_own_metric(void **state)
{
	static const struct {
		enum gp_metric metric;
		enum gp_idle_cause cause;
	} rows[] = {
		{GP_METRIC_IDLE_HOST, GP_IDLE_HOST},
		{GP_METRIC_IDLE_LAUNCH, GP_IDLE_LAUNCH},
		{GP_METRIC_IDLE_SYNC, GP_IDLE_SYNC},
		{GP_METRIC_IDLE_COPY, GP_IDLE_COPY},
		{GP_METRIC_IDLE_ALLOC, GP_IDLE_ALLOC},
		{GP_METRIC_IDLE_STARTUP, GP_IDLE_SETUP},
		{GP_METRIC_IDLE_DEPENDENCY, GP_IDLE_DEPENDENCY},
		{GP_METRIC_IDLE_PROFILER, GP_IDLE_PROFILER},
		{GP_METRIC_IDLE_UNUSED, GP_IDLE_UNUSED},
		{GP_METRIC_IDLE_UNKNOWN, GP_IDLE_UNKNOWN},
	};
	struct gp_model *model = build_causes();
	struct gp_window window = gp_busy_window(&model, 1);
	struct gp_device_list devices = {0};
	struct gp_wheres wheres = {0};
	struct gp_figures figures;
	char message[64];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));
	uint32_t seen = 0;

	assert_int_equal(COUNT(rows), GP_IDLE_CAUSES);
	assert_int_equal(gp_device_list_all(&devices, &model, 1), 0);
	wheres_of(&wheres, &model, 1, window, &devices, kinds, 0);
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t ns = state_of(&wheres, GP_STATE_IDLE + rows[i].cause);

		assert_metric(&figures, rows[i].metric, (double)ns);
		seen += ns > 0;
	}
	assert_true(seen >= 6); /* so that one in place of another shows */
	assert_metric(&figures, GP_METRIC_EXPOSED_COPIES, 100);
	assert_metric(&figures, GP_METRIC_EXPOSED_COMMUNICATION, 28000);
	assert_metric(&figures, GP_METRIC_GPU_IDLE, sum_of_causes(&figures));
	gp_figures_free(&figures);
	gp_wheres_free(&wheres);
	gp_device_list_free(&devices);
	gp_kinds_free(kinds);
	gp_model_free(model);
}

/* A loop of ranges: the first one is warm-up, one is slow. */
static struct gp_figures figures_of_steps(uint32_t steps)
{
	struct build b = build_begin(1);
	uint64_t at_ns = 1000000;
	struct gp_figures figures;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_name(&b, "k");
	for (uint32_t i = 0; i < steps; i++) {
		uint64_t ns = i == 0 ? 9000000 : i == 4 ? 5000000 : 2000000 + i % 3 * 1000;

		build_range(&b, 1, "step", at_ns, at_ns + ns);
		build_call(&b, 1, BUILD_LAUNCH, at_ns + 1000, 5000, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 20000, i + 1)->name = 0;
		at_ns += ns;
	}
	model = build_end(&b);
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	gp_model_free(model);
	return figures;
}

static void the_step_time_is_that_of_steady_steps_and_needs_enough(void **state)
{
	struct gp_figures figures = figures_of_steps(12);

	assert_metric(&figures, GP_METRIC_STEP, 2001000);
	assert_metric(&figures, GP_METRIC_STEP_SPREAD, 2000);
	assert_true(figures.values[GP_METRIC_STEP_MEAN] > 2050000);
	gp_figures_free(&figures);
	figures = figures_of_steps(5);
	assert_true(isnan(figures.values[GP_METRIC_STEP]));
	assert_true(isnan(figures.values[GP_METRIC_STEP_SPREAD]));
	gp_figures_free(&figures);
	figures = figures_of_steps(0);
	assert_true(isnan(figures.values[GP_METRIC_STEP]));
	gp_figures_free(&figures);
}

/* A kernel that was launched with the one before it, and waited for an event. */
static void what_a_device_waited_for_is_told_of_all_its_idle_time(void **state)
{
	struct build b = build_begin(1);
	struct gp_figures figures;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, 0, 1000, 1);
	build_call(&b, 100, BUILD_LAUNCH, 1000, 1000, 2);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1040000, 1000, 9);
	build_op(&b, GP_OP_KERNEL, 7, 3000, 10000, 1)->name = build_name(&b, "k");
	build_op(&b, GP_OP_KERNEL, 8, 1010000, 1020000, 2)->name = 0;
	build_op(&b, GP_OP_KERNEL, 8, 1030000, 1031000, 3)->name = 0; /* its call is gone */
	model = build_end(&b);
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_metric(&figures, GP_METRIC_IDLE_DEPENDENCY, 1000000);
	assert_metric(&figures, GP_METRIC_IDLE_UNKNOWN, 20000); /* to the end, too */
	assert_metric(&figures, GP_METRIC_GPU_IDLE, sum_of_causes(&figures));
	gp_figures_free(&figures);
	gp_model_free(model);
}

/*
 * A device that the program has nothing for; one that it is about to use where there is no
 * operation at all.
 */
static void an_unused_device_is_not_idle(void **state)
{
	for (int used = 0; used <= 1; used++) {
		struct build b = build_begin(1);
		struct gp_figures figures;
		struct gp_model *model;

		build_device(&b, 0, "GPU");
		build_device(&b, 1, "GPU");
		build_call(&b, 100, BUILD_LAUNCH, 0, 1000, 1);
		if (used)
			build_op(&b, GP_OP_KERNEL, 7, 200, 500, 1)->name = build_name(&b, "k");
		model = build_end(&b);
		assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
		assert_metric(&figures, GP_METRIC_GPU_IDLE, used ? 700 : 2000);
		assert_metric(&figures, GP_METRIC_GPU_IDLE, sum_of_causes(&figures));
		gp_figures_free(&figures);
		gp_model_free(model);
	}
}

/* Of a call of 5 ms, 4 are the context's that it made first. */
static void a_context_is_no_memory_call_s_time(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_figures figures;

	build_context_made_by(&b, 1, 7, 9);
	build_overhead(&b, 3u << 16, 1000, 4001000);
	b.model->overheads[0].thread_id = 100;
	build_call(&b, 100, BUILD_MALLOC, 1000, 5000000, 9);
	model = build_end(&b);
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_metric(&figures, GP_METRIC_MEMORY_CALL_TIME, 1000000);
	gp_figures_free(&figures);
	gp_model_free(model);
}

static void kernels_operations_and_calls_are_found_by_name(void **state)
{
	struct gp_model *model = build_program();
	const struct gp_named_figure *row;
	struct gp_figures figures;

	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	row = gp_named_find(&figures.named[GP_NAMED_KERNEL], "_Z3addPf");
	assert_non_null(row);
	assert_true(row->count == 2 && row->total_ns == 300 && row->median_ns == 150);
	assert_true(row->occupancy == 1);
	row = gp_named_find(&figures.named[GP_NAMED_KERNEL], "mul\\x1b");
	assert_non_null(row);
	assert_true(isnan(row->occupancy));
	assert_non_null(gp_named_find(&figures.named[GP_NAMED_OTHER], "[memcpy HtoD pageable]"));
	row = gp_named_find(&figures.named[GP_NAMED_CALL], "cudaLaunchKernel");
	assert_non_null(row);
	assert_true(row->count == 2 && row->total_ns == 70);
	assert_null(gp_named_find(&figures.named[GP_NAMED_CALL], "cudaNothing"));
	gp_figures_free(&figures);
	gp_model_free(model);
}

/* Communication does not count as computing; a process without a rank is not part of the job. */
static void ranks_are_found_by_name(void **state)
{
	struct gp_model *models[3];
	const struct gp_named_figure *row;
	struct gp_figures figures;

	for (uint32_t i = 0; i < 3; i++) {
		struct build b = build_begin(i + 1);
		uint32_t gemm = build_name(&b, "gemm"), reduce = build_name(&b, "ncclAllReduce");

		build_device(&b, 0, "GPU");
		if (i < 2)
			build_info(&b, GP_INFO_RANK, i == 0 ? "7" : "4");
		build_op(&b, GP_OP_KERNEL, 7, 1000, 1300 + 100 * i, 0)->name = gemm;
		build_op(&b, GP_OP_KERNEL, 7, 2000, 9000, 0)->name = reduce;
		models[i] = build_end(&b);
	}
	assert_int_equal(gp_figures_of(models, 3, &figures), 0);
	assert_int_equal(figures.named[GP_NAMED_RANK].count, 2);
	row = gp_named_find(&figures.named[GP_NAMED_RANK], "rank 4");
	assert_non_null(row);
	assert_true(row->count == 2 && row->total_ns == 400 && isnan(row->median_ns));
	gp_figures_free(&figures);
	assert_int_equal(gp_figures_of(models, 1, &figures), 0);
	assert_int_equal(figures.named[GP_NAMED_RANK].count, 0);
	gp_figures_free(&figures);
	for (uint32_t i = 0; i < 3; i++)
		gp_model_free(models[i]);
}

static void what_was_not_recorded_is_not_known(void **state)
{
	struct gp_model *model = build_program();
	struct build b = {.model = model};
	struct gp_figures figures;

	build_info(&b, GP_INFO_OPTIONS, "TRACE=gpu");
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_metric(&figures, GP_METRIC_LAUNCHES, 2);
	assert_true(isnan(figures.values[GP_METRIC_BYTES_PEAK]));
	assert_true(isnan(figures.values[GP_METRIC_SYNCS]));
	gp_figures_free(&figures);
	gp_model_free(model);
}

static void a_sampled_run_has_no_totals(void **state)
{
	struct build b = {.model = build_program()};
	struct gp_figures figures;

	build_info(&b, GP_INFO_OPTIONS, "SAMPLE=1%");
	assert_int_equal(gp_figures_of(&b.model, 1, &figures), 0);
	for (int metric = 0; metric < GP_METRICS; metric++)
		if (metric != GP_METRIC_STEP && metric != GP_METRIC_STEP_SPREAD &&
		    metric != GP_METRIC_ENERGY && metric != GP_METRIC_CLOCKS_LOWERED)
			assert_true(isnan(figures.values[metric]));
	assert_int_equal(figures.named[GP_NAMED_KERNEL].count, 2);
	assert_true(isnan(figures.named[GP_NAMED_KERNEL].rows[0].count) &&
		    isnan(figures.named[GP_NAMED_KERNEL].rows[0].total_ns));
	gp_figures_free(&figures);
	gp_model_free(b.model);
}

/* Traces of AMD's GPUs name the host, not the kind of its memory. */
static void unknown_memory_is_not_page_locked(void **state)
{
	struct gp_model *model = build_program();
	struct gp_figures figures;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (model->ops[i].kind == GP_OP_COPY && model->ops[i].copy_kind == 1)
			model->ops[i].source_kind = 0;
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_true(isnan(figures.values[GP_METRIC_PAGEABLE_ASYNC]));
	assert_metric(&figures, GP_METRIC_LAUNCHES, 2);
	gp_figures_free(&figures);
	gp_model_free(model);
}

static void the_host_of_a_trace_without_calls_is_not_known(void **state)
{
	struct build b = build_begin(1);
	struct gp_figures figures;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_kernel(&b, 0, GP_NONE, 100, 200);
	model = build_end(&b);
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_metric(&figures, GP_METRIC_KERNELS, 1);
	assert_true(isnan(figures.values[GP_METRIC_LAUNCHES]));
	assert_true(isnan(figures.values[GP_METRIC_SYNCS]));
	assert_true(isnan(figures.values[GP_METRIC_IDLE_HOST]));
	assert_true(isnan(figures.values[GP_METRIC_IDLE_UNKNOWN]));
	gp_figures_free(&figures);
	gp_model_free(model);
}

static void what_python_did_is_found_by_name(void **state)
{
	struct gp_model *model = build_program();
	struct gp_sample samples[] = {
		{.start_ns = 100, .end_ns = 500, .stack = 0, .thread_id = 100, .count = 3},
		{.start_ns = 700, .end_ns = 700, .stack = 0, .thread_id = 100, .count = 1}};
	struct gp_figures figures;
	const struct gp_named_figure *row;

	model->samples = samples;
	model->sample_count = 2;
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_int_equal(figures.named[GP_NAMED_HOST].count, 1);
	row = gp_named_find(&figures.named[GP_NAMED_HOST], "main (a.py)");
	assert_non_null(row);
	assert_true(row->count == 4 && row->total_ns == 600 && isnan(row->median_ns));
	gp_figures_free(&figures);
	model->samples = NULL; /* the test's own */
	gp_model_free(model);
}

static void metrics_are_found_by_name(void **state)
{
	for (int i = 0; i < GP_METRICS; i++)
		assert_int_equal(gp_metric_find(gp_metric_rows[i].name), i);
	assert_int_equal(gp_metric_find("kernel"), GP_METRICS);
	assert_int_equal(gp_metric_find(""), GP_METRICS);
}

/*
 * A static kernel, of another number each time its file is built; and two of one name and file, in
 * two folders.
 */
static void a_kernel_has_the_name_of_every_build(void **state)
{
	static const char *const recorded[] = {
		"__nv_static_36__5d6eaf31_9_jacobi_cu_48d272dc_30849__Z6hiddenPi",
		"__nv_static_35__00000000_9_jacobi_cu_48d272dc_1234__Z6hiddenPi",
		"_ZN46_GLOBAL__N__e369a470_9_trevc3_cu_2d52f3d7_12341fEv",
	};
	static const char hidden[] = "__nv_static_14__0_9_jacobi_cu__Z6hiddenPi";
	struct build b = build_begin(1);
	struct gp_figures figures;
	struct gp_model *model;

	for (uint32_t i = 0; i < 3; i++)
		build_kernel(&b, build_name(&b, recorded[i]), GP_NONE, 1000 * i, 1000 * i + 10 + i);
	model = build_end(&b);
	assert_int_equal(gp_figures_of(&model, 1, &figures), 0);
	assert_int_equal(figures.named[GP_NAMED_KERNEL].count, 2);
	assert_int_equal((int)gp_named_find(&figures.named[GP_NAMED_KERNEL], hidden)->count, 2);
	assert_int_equal((int)gp_named_find(&figures.named[GP_NAMED_KERNEL], hidden)->total_ns, 21);
	assert_non_null(
		gp_named_find(&figures.named[GP_NAMED_KERNEL], "_ZN23_GLOBAL__N__9_trevc3_cu1fEv"));
	gp_figures_free(&figures);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_has_the_name_of_every_build),
		cmocka_unit_test(every_metric_counts_what_it_says),
		cmocka_unit_test(what_a_device_waited_for_is_told_of_all_its_idle_time),
		cmocka_unit_test(each_cause_has_its_own_metric),
		cmocka_unit_test(the_step_time_is_that_of_steady_steps_and_needs_enough),
		cmocka_unit_test(an_unused_device_is_not_idle),
		cmocka_unit_test(a_context_is_no_memory_call_s_time),
		cmocka_unit_test(kernels_operations_and_calls_are_found_by_name),
		cmocka_unit_test(ranks_are_found_by_name),
		cmocka_unit_test(what_was_not_recorded_is_not_known),
		cmocka_unit_test(a_sampled_run_has_no_totals),
		cmocka_unit_test(unknown_memory_is_not_page_locked),
		cmocka_unit_test(the_host_of_a_trace_without_calls_is_not_known),
		cmocka_unit_test(what_python_did_is_found_by_name),
		cmocka_unit_test(metrics_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
