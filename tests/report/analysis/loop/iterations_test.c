#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/loop/iterations.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define TEXTS 256 /* more than a model has ranges */

/* A text that lives as long as a model: the model has only pointers to texts. */
static const char *keep(const char *text)
{
	static char kept[TEXTS][32];
	static size_t next;
	char *at = kept[next++ % TEXTS];

	snprintf(at, sizeof(kept[0]), "%s", text);
	return at;
}

static int compare_ranges(const void *a, const void *b, const void *context)
{
	const struct gp_range *left = a, *right = b;

	(void)context;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->end_ns < right->end_ns) - (left->end_ns > right->end_ns);
}

/* The innermost of its thread that it lies in. */
static uint32_t parent_of(const struct gp_range *ranges, uint32_t index)
{
	for (uint32_t i = index; i > 0 && ranges[i - 1].thread_id == ranges[index].thread_id; i--)
		if (ranges[i - 1].end_ns >= ranges[index].end_ns)
			return i - 1;
	return GP_NONE;
}

static struct gp_model *end(struct build *b)
{
	struct gp_range *ranges = b->model->ranges;

	build_check(gp_array_sort(ranges, b->model->range_count, sizeof(*ranges), compare_ranges,
				  NULL) == 0);
	for (uint32_t i = 0; i < b->model->range_count; i++)
		ranges[i].parent = parent_of(ranges, i);
	return build_end(b);
}

/* A kernel, launched at a time, that runs 100 ns later for 50 ns. */
static void build_kernel(struct build *b, uint64_t time_ns, uint32_t name)
{
	uint32_t id = b->model->call_count + 1;

	build_call(b, 1, BUILD_LAUNCH, time_ns, 5, id);
	build_op(b, GP_OP_KERNEL, 7, time_ns + 100, time_ns + 150, id)->name = name;
}

static struct gp_iterations find(const struct gp_model *model)
{
	struct gp_iterations found;
	struct gp_tuning tuning;

	assert_int_equal(gp_tuning_of(&tuning, model), 0);
	assert_int_equal(gp_iterations_of(&found, model, &tuning), 0);
	gp_tuning_free(&tuning);
	for (uint32_t i = 0; i < found.count; i++) {
		assert_true(found.rows[i].end_ns >= found.rows[i].start_ns);
		if (i > 0 && model->gate_count == 0 && !found.rows[i - 1].ends_stretch)
			assert_int_equal(found.rows[i].start_ns, found.rows[i - 1].end_ns);
	}
	return found;
}

/* Epochs of steps of layers: the step it is. */
static struct build build_epochs(const char *step_format)
{
	struct build b = build_begin(1);
	char text[32];

	build_name(&b, "k");
	for (uint64_t step = 0; step < 12; step++) {
		uint64_t at = step * 1000;

		if (step % 4 == 0)
			build_range(&b, 1, "epoch", at, at + 3990);
		snprintf(text, sizeof(text), step_format, (unsigned)step);
		build_range(&b, 1, keep(text), at, at + 980);
		build_range(&b, 1, "forward", at, at + 300);
		build_kernel(&b, at + 10, 0);
		build_kernel(&b, at + 500, 0);
	}
	return b;
}

/* Three checkpoints, in which the thread is for longer than in all the steps together. */
static void checkpoints_are_no_steps(void **state)
{
	struct build b = build_epochs("step %u");
	struct gp_iterations found;
	struct gp_model *model;

	for (uint64_t at = 20000; at < 320000; at += 100000) {
		build_range(&b, 1, "checkpoint", at, at + 90000);
		build_kernel(&b, at + 10, 0);
	}
	model = end(&b);
	found = find(model);
	assert_string_equal(found.name, "step *");
	assert_int_equal(found.count, 12);
	gp_iterations_free(&found);
	gp_model_free(model);
}

static void steps_are_found_by_their_ranges(void **state)
{
	struct build b = build_epochs("step %u");
	struct gp_model *model = end(&b);
	struct gp_iterations found = find(model);

	assert_true(found.by_range);
	assert_int_equal(found.count, 12);
	assert_string_equal(found.name, "step *");
	assert_int_equal(found.rows[0].start_ns, 10); /* its first call */
	assert_int_equal(found.rows[1].start_ns, 1000);
	assert_int_equal(found.rows[11].end_ns, 11000 + 980);
	gp_iterations_free(&found);
	gp_model_free(model);
}

/* Each submits four times, at these distances, and works on the host till its end. */
static struct gp_iterations find_submits(uint64_t distance_ns)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;

	build_name(&b, "k");
	for (uint64_t step = 0; step < 12; step++) {
		build_range(&b, 1, "step", step * 1000, step * 1000 + 990);
		for (uint64_t i = 0; i < 4; i++) {
			uint64_t at = step * 1000 + i * distance_ns;

			build_range(&b, 1, "submit", at, at + 9);
			build_kernel(&b, at, 0);
		}
	}
	model = end(&b);
	found = find(model);
	gp_model_free(model);
	return found;
}

/* What takes the time of a step is in none of the four, or in all of them. */
static void of_ranges_in_each_other_those_that_hold_the_time_are_the_loop(void **state)
{
	struct gp_iterations steps = find_submits(20), submits = find_submits(250);

	assert_string_equal(steps.name, "step");
	assert_int_equal(steps.count, 12);
	assert_int_equal(steps.rows[11].end_ns - steps.rows[0].start_ns, 11990);
	assert_string_equal(submits.name, "submit");
	assert_int_equal(submits.count, 48);
	gp_iterations_free(&steps);
	gp_iterations_free(&submits);
}

/* Each of three threads serves requests; a fourth only begins to. */
static void threads_that_do_the_same_are_counted(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;

	build_name(&b, "k");
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t thread = i == 9 ? 4 : 1 + i % 3;
		char text[32];

		snprintf(text, sizeof(text), "request %u", i);
		build_range(&b, thread, keep(text), i * 1000, i * 1000 + 900);
		build_kernel(&b, i * 1000 + 10, 0);
		b.model->calls[b.model->call_count - 1].thread_id = thread;
	}
	model = end(&b);
	found = find(model);
	assert_string_equal(found.name, "request *");
	assert_int_equal(found.count, 3);
	assert_int_equal(found.threads, 3);
	gp_iterations_free(&found);
	gp_model_free(model);
}

/*
 * A call that copies takes long before the GPU does anything of it; before the fourth the host does
 * something else, which is of the third.
 */
static void an_iteration_begins_with_its_first_call(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;

	build_name(&b, "k");
	for (uint64_t i = 0; i < 12; i++) {
		uint64_t at = 1000 + i * 1000 + (i >= 3) * 300;
		uint32_t id = b.model->call_count + 1;

		build_call(&b, 1, BUILD_MEMCPY_ASYNC, at, 600, id);
		build_op(&b, GP_OP_COPY, 7, at + 500, at + 550, id)->copy_kind = GP_COPY_HTOD;
		build_kernel(&b, at + 700, 0);
	}
	model = end(&b);
	found = find(model);
	assert_int_equal(found.count, 12);
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(found.rows[i].end_ns - found.rows[i].start_ns,
				 i == 11 ? 850 : (i == 2 ? 1300 : 1000));
	gp_iterations_free(&found);
	gp_model_free(model);
}

/* The first step's range is there long before: what the host did then is in no report's time. */
static void an_iteration_begins_no_sooner_than_the_first_call(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;

	build_name(&b, "k");
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t at = 5000 + i * 1000;

		build_range(&b, 1, "step", i > 0 ? at - 20 : 100, at + 900);
		build_kernel(&b, at, 0);
	}
	model = end(&b);
	found = find(model);
	assert_int_equal(found.count, 4);
	assert_int_equal(found.rows[0].start_ns, 5000);
	assert_int_equal(found.rows[1].start_ns, 5980);
	gp_iterations_free(&found);
	gp_model_free(model);
}

/*
 * Steps 3 and 7 are the last before a pause; that of the first shows only on the host: its kernels
 * run on into it.
 */
static void a_pause_is_no_part_of_an_iteration(void **state)
{
	static const uint64_t last_ns[2][3] = {{640, 640, 640}, {650, 900, 980}};
	static const uint64_t first_ns[2] = {1000, 990}; /* of a range: from its first call on */

	for (int by_range = 0; by_range < 2; by_range++) {
		struct build b = build_epochs("step %u");
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "j");
		for (uint32_t op = 1; op < b.model->op_count; op += 2)
			b.model->ops[op].name = 1;
		if (!by_range)
			b.model->range_count = 0;
		build_gate(&b, false, GP_GATE_RANGE, 3505);
		build_gate(&b, true, GP_GATE_RANGE, 3995);
		build_gate(&b, false, GP_GATE_RANGE, 7900);
		build_gate(&b, true, GP_GATE_RANGE, 7995);
		model = end(&b);
		found = find(model);
		assert_int_equal(found.by_range, by_range);
		assert_int_equal(found.count, 12);
		for (uint32_t row = 0; row < 12; row++)
			assert_int_equal(found.rows[row].end_ns - found.rows[row].start_ns,
					 row % 4 == 3 ? last_ns[by_range][row / 4]
					 : row == 0   ? first_ns[by_range]
						      : 1000);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

static void pytorch_says_what_a_step_is(void **state)
{
	struct build b = build_epochs("other");
	struct gp_iterations found;
	struct gp_model *model;

	for (uint32_t i = 0; i < 3; i++) {
		char text[32];

		snprintf(text, sizeof(text), "ProfilerStep#%u", i + 8);
		build_range(&b, 1, keep(text), 4 * i * 1000 + 1, 4 * i * 1000 + 2000);
	}
	model = end(&b);
	found = find(model);
	assert_int_equal(found.count, 3);
	assert_string_equal(found.name, "ProfilerStep#*");
	gp_iterations_free(&found);
	gp_model_free(model);
}

static void build_category(struct build *b, uint32_t id, const char *name)
{
	uint32_t index = BUILD_GROW(b, texts, text_count);

	b->model->texts[index] = (struct gp_text){.space = GP_STRING_CATEGORY,
						  .id = id,
						  .length = (uint32_t)strlen(name),
						  .bytes = build_copy_text(name)};
}

/*
 * Of torch.profiler's ranges: a backward pass, which another thread launches, does more than the
 * step's own thread. Operators alone tell nothing.
 */
static void operators_name_no_step(void **state)
{
	for (int is_marked = 0; is_marked <= 1; is_marked++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "k");
		build_category(&b, 1, "operator");
		build_category(&b, 2, "annotation");
		for (uint64_t step = 0; step < 4; step++) {
			build_range(&b, 1, "step", step * 1000, step * 1000 + 900);
			b.model->ranges[b.model->range_count - 1].category = is_marked ? 2 : 1;
			build_kernel(&b, step * 1000 + 10, 0);
			build_range(&b, 2, "backward", step * 1000 + 200, step * 1000 + 800);
			b.model->ranges[b.model->range_count - 1].category = 1;
			for (uint32_t i = 0; i < 3; i++) {
				build_kernel(&b, step * 1000 + 300 + 100 * i, 0);
				b.model->calls[b.model->call_count - 1].thread_id = 2;
			}
		}
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, is_marked ? 4 : 0);
		assert_string_equal(found.name, is_marked ? "step" : "");
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/* Those of emit_nvtx() have no category: their names tell. */
static void operators_and_parts_of_modules_name_no_step(void **state)
{
	static const char *const names[] = {"aten::linear",
					    "aten::linear, op_id = 7",
					    "AddmmBackward0, seq = 12",
					    "autograd::engine::evaluate_function: AddmmBackward0",
					    "Thunk:#hlo_op=copy.4,unique_hlo_op_id=12#",
					    "XlaCompileBackend:#module=jit_step,program_id=7#"};

	for (size_t name = 0; name < sizeof(names) / sizeof(names[0]); name++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "k");
		for (uint64_t step = 0; step < 8; step++) {
			build_range(&b, 1, "step", step * 1000, step * 1000 + 900);
			build_kernel(&b, step * 1000 + 10, 0);
			build_range(&b, 2, names[name], step * 1000 + 200, step * 1000 + 800);
			for (uint32_t i = 0; i < 3; i++) {
				build_kernel(&b, step * 1000 + 300 + 100 * i, 0);
				b.model->calls[b.model->call_count - 1].thread_id = 2;
			}
		}
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, 8);
		assert_string_equal(found.name, "step");
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/* JAX's operations, one by one, each a module; then steps; then a call so much later. */
static struct gp_iterations find_modules(uint32_t steps, uint64_t later_ns)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;
	uint64_t at = 0;

	build_name(&b, "k");
	for (uint32_t i = 0; i < 40; i++, at += 1000) {
		build_range(&b, 1, "XlaModule:#hlo_module=jit_add,program_id=7#", at, at + 900);
		build_kernel(&b, at + 10, 0);
	}
	for (uint32_t i = 0; i < steps; i++, at += 1000) {
		build_range(&b, 1, "XlaModule:#hlo_module=jit_step,program_id=9#", at, at + 900);
		for (uint32_t part = 0; part < 4; part++) {
			uint64_t start = at + 10 + part * 200;

			build_range(&b, 1, "Thunk:#hlo_op=dot#", start, start + 90);
			build_kernel(&b, start, 0);
		}
	}
	build_call(&b, 1, BUILD_DEVICE_SYNC, at + later_ns, 10, b.model->call_count + 1);
	model = end(&b);
	found = find(model);
	gp_model_free(model);
	return found;
}

static void modules_of_one_operation_are_the_loop_if_nothing_else_is(void **state)
{
	struct gp_iterations found = find_modules(6, 0);

	assert_int_equal(found.count, 6);
	assert_string_equal(found.name, "XlaModule:#hlo_module=jit_step,program_id=*#");
	gp_iterations_free(&found);
	found = find_modules(0, 0);
	assert_int_equal(found.count, 40);
	assert_string_equal(found.name, "XlaModule:#hlo_module=jit_add,program_id=*#");
	gp_iterations_free(&found);
	/* what comes first in a run is no loop */
	found = find_modules(0, 20 * 40 * 1000);
	assert_int_equal(found.count, 0);
	gp_iterations_free(&found);
	/* steps are, however long the run */
	found = find_modules(6, 20 * 40 * 1000);
	assert_int_equal(found.count, 6);
	gp_iterations_free(&found);
}

/* A graph that repeats the operations of a layer: each launch is one iteration. */
static void a_launch_of_a_graph_is_one_iteration(void **state)
{
	(void)state;
	for (uint32_t launches = 1; launches <= 4; launches += 3) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "product");
		build_name(&b, "add");
		for (uint64_t i = 0; i < launches; i++) {
			build_call(&b, 1, BUILD_LAUNCH, i * 10000, 5, (uint32_t)i + 1);
			for (uint64_t k = 0; k < 16; k++)
				build_op(&b, GP_OP_KERNEL, 7, i * 10000 + 100 + k * 100,
					 i * 10000 + 150 + k * 100, (uint32_t)i + 1)
					->name = k % 2;
		}
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, launches == 4 ? 4 : 0);
		if (launches == 4)
			assert_int_equal(found.rows[1].op_count, 16);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/*
 * A sort that is called once in each step, and an all-reduce twice: operations tell; only where
 * they do not, a library's ranges do.
 */
static void ranges_of_libraries_name_no_step(void **state)
{
	for (int operations = 0; operations <= 1; operations++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_domain(&b, "CCCL");
		build_name(&b, "k");
		build_name(&b, "sort");
		for (uint64_t step = 0; step < 20; step++) {
			build_kernel(&b, step * 1000, 0);
			build_range(&b, 1, "cub::DeviceRadixSort", step * 1000 + 490,
				    step * 1000 + 600);
			b.model->ranges[b.model->range_count - 1].domain = 1;
			build_kernel(&b, step * 1000 + 500, (uint32_t)operations);
		}
		model = end(&b);
		found = find(model);
		assert_int_equal(found.by_range, !operations);
		assert_int_equal(found.count, 20);
		assert_int_equal(found.rows[1].start_ns, operations ? 1000 : 1490);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/*
 * Every tenth step is followed by one kernel in a range: that names no loop, unless there is
 * nothing else.
 */
static void ranges_with_a_small_part_of_the_work_are_no_loop(void **state)
{
	for (uint32_t kernels = 0; kernels <= 4; kernels += 4) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		for (uint32_t name = 0; name < 5; name++)
			build_name(&b, "k");
		for (uint64_t step = 0; step < 60; step++) {
			for (uint32_t k = 0; k < kernels; k++)
				build_kernel(&b, step * 1000 + k * 100, k);
			if (step % 10 != 9)
				continue;
			build_range(&b, 1, "validate", step * 1000 + 490, step * 1000 + 600);
			build_kernel(&b, step * 1000 + 500, 4);
		}
		model = end(&b);
		found = find(model);
		assert_int_equal(found.by_range, kernels == 0);
		assert_int_equal(found.count, kernels == 0 ? 6 : 60);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/* Recursion is no loop, nor are ranges without GPU work. */
static void what_nests_or_starts_nothing_is_no_loop(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;

	build_name(&b, "k");
	for (uint32_t i = 0; i < 5; i++) {
		build_range(&b, 1, "recurse", i, 1000 - i);
		build_range(&b, 2, "load", i * 100, i * 100 + 90);
	}
	build_kernel(&b, 500, 0);
	model = end(&b);
	found = find(model);
	assert_int_equal(found.count, 0);
	gp_iterations_free(&found);
	gp_model_free(model);
}

static void without_ranges_operations_tell(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;

	for (uint32_t i = 0; i < 8; i++)
		build_name(&b, (char[]){(char)('a' + i), '\0'});
	for (uint32_t i = 0; i < 6; i++)
		build_kernel(&b, i * 10, i);
	for (uint32_t pass = 0; pass < 40; pass++)
		for (uint32_t i = 0; i < 3; i++)
			build_kernel(&b, 1000 + pass * 1000 + i * 200, 5 + i);
	model = end(&b);
	found = find(model);
	assert_false(found.by_range);
	assert_int_equal(found.count, 40);
	assert_int_equal(found.rows[1].start_ns - found.rows[0].start_ns, 1000);
	assert_int_equal(found.rows[39].end_ns, 1000 + 39 * 1000 + 400 + 150);
	assert_int_equal(found.rows[0].range, GP_NONE);
	gp_iterations_free(&found);
	gp_model_free(model);
}

/*
 * Half of the passes while it makes them, half while it ends them; some outside are the program's.
 */
static void what_nccl_repeats_for_its_communicators_is_no_loop(void **state)
{
	static const uint32_t ends[] = {21000, 41000, 30000};

	for (int i = 0; i < 3; i++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_domain(&b, "NCCL");
		for (uint32_t name = 0; name < 3; name++)
			build_name(&b, (char[]){(char)('a' + name), '\0'});
		for (uint32_t pass = 0; pass < 40; pass++)
			for (uint32_t name = 0; name < 3; name++)
				build_kernel(&b, 1000 + pass * 1000 + name * 200, name);
		build_range(&b, 1, "ncclCommInitRank", 900, 20900);
		build_range(&b, 1, "ncclCommDestroy", 20950, ends[i]);
		b.model->ranges[0].domain = b.model->ranges[1].domain = 1;
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, i == 1 ? 0 : 40);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

static void a_repeat_that_is_a_small_part_is_no_loop(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;

	for (uint32_t i = 0; i < 30; i++)
		build_name(&b, (char[]){(char)('a' + i % 26), (char)('a' + i / 26), '\0'});
	for (uint32_t i = 0; i < 27; i++)
		build_kernel(&b, i * 1000, i);
	for (uint32_t i = 0; i < 6; i++)
		build_kernel(&b, 30000 + i * 1000, 28 + i % 2);
	model = end(&b);
	found = find(model);
	assert_int_equal(found.count, 0);
	gp_iterations_free(&found);
	gp_model_free(model);
	b = build_begin(1);
	model = end(&b);
	found = find(model);
	assert_int_equal(found.count, 0);
	gp_iterations_free(&found);
	gp_model_free(model);
}

/* 120 short kernels of 40 passes, and one as long as so many of them, as far from them. */
static uint32_t count_beside_long(uint32_t length_ns, uint64_t at_ns)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;
	uint32_t count;

	for (uint32_t name = 0; name < 4; name++)
		build_name(&b, (char[]){(char)('a' + name), '\0'});
	for (uint32_t pass = 0; pass < 40; pass++)
		for (uint32_t name = 0; name < 3; name++)
			build_kernel(&b, 1000 + pass * 1000 + name * 200, name);
	build_kernel(&b, at_ns, 3);
	b.model->ops[b.model->op_count - 1].end_ns += length_ns;
	model = end(&b);
	found = find(model);
	count = found.count;
	gp_iterations_free(&found);
	gp_model_free(model);
	return count;
}

/* As the making of parameters; a loop with little work of the GPU may still take long. */
static void what_has_little_of_the_work_and_of_the_time_is_no_loop(void **state)
{
	assert_int_equal(count_beside_long(20 * 120 * 50, 1000000), 0);
	assert_int_equal(count_beside_long(20 * 120 * 50, 50000), 40);
	assert_int_equal(count_beside_long(0, 1000000), 40);
}

/* Launches of one kernel repeat in blocks of any length; a second kernel makes passes of them. */
static void one_operation_again_and_again_is_no_loop(void **state)
{
	for (uint32_t others = 0; others <= 1; others++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "a");
		build_name(&b, "b");
		for (uint32_t i = 0; i < 5000; i++)
			build_kernel(&b, i * 1000, i % 50 == 0 ? others : 0);
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, others * 100);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/* ---- loops as programs have them, told by their operations alone ---- */

enum {
	H2D,
	FORWARD_A,
	FORWARD_B,
	BACKWARD_B,
	BACKWARD_A,
	STEP,
	METRIC,
	D2H,
	OTHER,
	SHAPES = OTHER + 40
};

struct stream {
	struct build b;
	uint64_t time_ns;
	uint32_t id;
	uint32_t passes; /* that were built */
	uint64_t starts_ns[256];
};

static struct stream begin_stream(void)
{
	struct stream stream = {.b = build_begin(1), .id = 7};

	for (int name = 0; name < SHAPES; name++)
		build_name(&stream.b,
			   (char[]){(char)('a' + name / 26), (char)('a' + name % 26), '\0'});
	return stream;
}

static void put(struct stream *stream, int what)
{
	uint32_t id = stream->b.model->call_count + 1;
	bool copy = what == H2D || what == D2H;
	struct gp_op *op;

	build_call(&stream->b, 1, BUILD_LAUNCH, stream->time_ns, 5, id);
	op = build_op(&stream->b, copy ? GP_OP_COPY : GP_OP_KERNEL, stream->id,
		      stream->time_ns + 100, stream->time_ns + 150, id);
	op->name = copy ? GP_NONE : (uint32_t)what;
	if (copy)
		op->copy_kind = what == H2D ? GP_COPY_HTOD : GP_COPY_DTOH;
	stream->time_ns += 200;
}

static void put_all(struct stream *stream, const int *what, int count)
{
	for (int i = 0; i < count; i++)
		put(stream, what[i]);
}
#define PUT(stream, ...)                                                                           \
	put_all(stream, (const int[]){__VA_ARGS__},                                                \
		sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/* A pass begins with the launch of the next operation. */
static void mark(struct stream *stream)
{
	stream->starts_ns[stream->passes++] = stream->time_ns;
}

static void train(struct stream *stream)
{
	mark(stream);
	PUT(stream, H2D, FORWARD_A, FORWARD_B, BACKWARD_B, BACKWARD_A, STEP, STEP);
}

static void evaluate(struct stream *stream)
{
	for (int batch = 0; batch < 4; batch++)
		PUT(stream, H2D, FORWARD_A, FORWARD_B, METRIC);
	PUT(stream, D2H);
}

/* Every pass that was built, but for so many, and nothing else. */
static void expect_passes(struct stream *stream, uint32_t left_out)
{
	struct gp_model *model = end(&stream->b);
	struct gp_iterations found = find(model);

	assert_int_equal(found.count, stream->passes - left_out);
	for (uint32_t i = 0; i < found.count; i++)
		assert_int_equal(found.rows[i].start_ns, stream->starts_ns[i + left_out]);
	gp_iterations_free(&found);
	gp_model_free(model);
}

static void an_evaluation_now_and_then_cuts_no_step(void **state)
{
	for (uint32_t steps = 31; steps <= 248; steps *= 2) {
		struct stream stream = begin_stream();

		for (uint32_t step = 0; step < steps; step++) {
			if (step % 31 == 30)
				evaluate(&stream);
			train(&stream);
		}
		expect_passes(&stream, 0);
	}
}

/*
 * The 5th writes its loss, the 7th clips in the middle, the last batch of an epoch is of another
 * shape.
 */
static void a_pass_may_do_more_and_something_else(void **state)
{
	struct stream stream = begin_stream();

	for (int step = 0; step < 100; step++) {
		mark(&stream);
		PUT(&stream, H2D, FORWARD_A);
		put(&stream, step % 20 == 19 ? OTHER : FORWARD_B);
		if (step % 7 == 6)
			PUT(&stream, OTHER + 1, OTHER + 2);
		PUT(&stream, BACKWARD_B, BACKWARD_A, STEP, STEP);
		if (step % 5 == 4)
			PUT(&stream, METRIC, D2H);
	}
	expect_passes(&stream, 0);
}

/* The first passes try things out and fill what is kept. */
static void warming_up_is_part_of_the_loop(void **state)
{
	struct stream stream = begin_stream();

	PUT(&stream, OTHER, OTHER + 1, OTHER + 2, H2D, OTHER + 3);
	for (int step = 0; step < 40; step++) {
		mark(&stream);
		PUT(&stream, H2D, FORWARD_A);
		for (int tried = 0; step == 0 && tried < 9; tried++)
			put(&stream, OTHER + 4 + tried);
		PUT(&stream, FORWARD_B, BACKWARD_B, BACKWARD_A);
		if (step < 3)
			PUT(&stream, OTHER + 20);
		PUT(&stream, STEP, STEP);
	}
	expect_passes(&stream, 0);
}

static void accumulated_gradients_are_one_pass(void **state)
{
	struct stream stream = begin_stream();

	for (int step = 0; step < 40; step++) {
		mark(&stream);
		for (int batch = 0; batch < 4; batch++)
			PUT(&stream, H2D, FORWARD_A, FORWARD_B, BACKWARD_B, BACKWARD_A);
		PUT(&stream, STEP, STEP, STEP, METRIC);
	}
	expect_passes(&stream, 0);
}

/* From 2 to 5 batches for each step: what repeats is the batch. */
static void of_a_varying_number_of_batches_each_is_a_pass(void **state)
{
	struct stream stream = begin_stream();

	for (int step = 0; step < 30; step++) {
		for (int batch = 0; batch < 2 + step * step % 4; batch++) {
			mark(&stream);
			PUT(&stream, H2D, FORWARD_A, FORWARD_B, BACKWARD_B, BACKWARD_A);
		}
		PUT(&stream, STEP);
	}
	expect_passes(&stream, 0);
}

/* Epochs of 12 batches and what comes after them; layers, of which nothing goes to the host. */
static void batches_are_passes_and_layers_are_none(void **state)
{
	for (int layers = 0; layers <= 1; layers++) {
		struct stream stream = begin_stream();

		for (int epoch = 0; epoch < 10; epoch++) {
			if (layers) {
				mark(&stream);
				PUT(&stream, H2D);
			}
			for (int i = 0; i < 12; i++) {
				if (!layers) {
					mark(&stream);
					PUT(&stream, H2D);
				}
				PUT(&stream, FORWARD_A, FORWARD_B, BACKWARD_A);
			}
			PUT(&stream, METRIC, D2H);
		}
		expect_passes(&stream, 0);
	}
}

/*
 * After every 10th of two operations come two others, of which one is as theirs: what repeats most
 * is several of them, cut anywhere.
 */
static void short_passes_are_not_several_at_once(void **state)
{
	for (int passes = 40; passes <= 160; passes *= 2) {
		struct stream stream = begin_stream();

		for (int step = 0; step < passes; step++) {
			mark(&stream);
			PUT(&stream, H2D, STEP);
			if (step % 10 == 9)
				PUT(&stream, D2H, STEP);
		}
		expect_passes(&stream, 0);
	}
}

/* What comes after every 10th has a quarter as many operations as these. */
static void a_long_evaluation_makes_no_pass_of_ten(void **state)
{
	struct stream stream = begin_stream();

	for (int step = 0; step < 100; step++) {
		train(&stream);
		if (step % 10 == 9)
			evaluate(&stream);
	}
	expect_passes(&stream, 0);
}

/*
 * A result is read in each pass, and after every 20th a picture: what begins and ends a pass is the
 * same copy.
 */
static void what_looks_like_a_pass_begun_before_is_none(void **state)
{
	struct stream stream = begin_stream();

	PUT(&stream, H2D, H2D);
	for (int step = 0; step < 200; step++) {
		mark(&stream);
		PUT(&stream, FORWARD_A, FORWARD_B, METRIC, D2H);
		if (step % 20 == 0)
			PUT(&stream, D2H);
	}
	expect_passes(&stream, 0);
}

/*
 * Each has kernels of its own shapes, but for the step at its end; what is like a pass's part comes
 * in each.
 */
static void passes_of_changing_shapes_are_found_by_what_they_share(void **state)
{
	struct stream stream = begin_stream();

	srand(7);
	for (int step = 0; step < 60; step++) {
		int layers = 3 + rand() % 3;

		mark(&stream);
		PUT(&stream, STEP, STEP, METRIC);
		for (int layer = 0; layer < layers; layer++)
			PUT(&stream, FORWARD_A, OTHER + rand() % 12, OTHER + 12 + rand() % 12);
		for (int layer = 0; layer < layers; layer++)
			PUT(&stream, BACKWARD_A, OTHER + 24 + rand() % 12);
	}
	expect_passes(&stream, 0);
}

/* As cuDNN runs an LSTM: that stream has more operations than the one whose work a pass is. */
static void a_stream_that_helps_within_a_pass_is_not_the_loop(void **state)
{
	struct stream stream = begin_stream();

	for (int pass = 0; pass < 12; pass++) {
		train(&stream);
		stream.id = 9;
		for (int time = 0; time < 10; time++)
			PUT(&stream, OTHER, OTHER + 1);
		stream.id = 7;
	}
	expect_passes(&stream, 0);
}

/* A stream that copies alone is no loop, how few kernels a pass may have. */
static void copies_ahead_on_a_stream_of_their_own_are_not_the_loop(void **state)
{
	struct stream stream = begin_stream();

	for (int pass = 0; pass < 40; pass++) {
		stream.id = 9;
		PUT(&stream, H2D);
		stream.id = 7;
		mark(&stream);
		PUT(&stream, FORWARD_A, FORWARD_B, BACKWARD_B, BACKWARD_A);
	}
	expect_passes(&stream, 0);
}

/* Any ranges at all: passes are in order and none is longer than time goes. */
static void any_ranges_are_read(void **state)
{
	srand(5);
	for (int round = 0; round < 300; round++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;
		char text[16];

		build_name(&b, "k");
		for (int i = rand() % 40; i > 0; i--) {
			uint64_t start = (uint64_t)rand() % 5000;

			snprintf(text, sizeof(text), "%.*s%d", rand() % 3, "abc", rand() % 3);
			build_range(&b, (uint32_t)rand() % 3, keep(text), start,
				    start + (uint64_t)rand() % 500);
		}
		for (int i = rand() % 40; i > 0; i--)
			build_kernel(&b, (uint64_t)rand() % 5000, rand() % 4 ? 0 : GP_NONE);
		model = end(&b);
		found = find(model);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/* A pass of two kernels in a stream. */
static void build_pass(struct build *b, uint32_t stream, uint64_t at_ns, uint64_t first_ns)
{
	for (uint32_t name = 0; name < 2; name++) {
		uint32_t id = b->model->op_count + 1;
		uint64_t start_ns = at_ns + name * first_ns;

		build_call(b, 1, BUILD_LAUNCH, start_ns - 100, 5, id);
		build_op(b, GP_OP_KERNEL, stream, start_ns, start_ns + 50, id)->name = name;
	}
}

/*
 * One loop after the other, each in a stream of its own, and so many passes of the second one,
 * which last ten times as long.
 */
static void of_streams_that_do_as_much_the_longer_loop_counts(void **state)
{
	static const uint32_t longer[] = {40, 38, 20};

	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "one");
		build_name(&b, "two");
		for (uint64_t pass = 0; pass < 40; pass++)
			build_pass(&b, 7, 1000 + pass * 1000, 300);
		for (uint64_t pass = 0; pass < longer[i]; pass++)
			build_pass(&b, 8, 100000 + pass * 10000, 3000);
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, longer[i] > 20 ? longer[i] : 40);
		assert_int_equal(found.rows[0].start_ns, longer[i] > 20 ? 99900 : 900);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/* Four, of which the last has an operation of another kind in each pass, or fewer passes. */
static void streams_that_do_the_same_are_counted(void **state)
{
	for (int differs = 0; differs < 3; differs++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "one");
		build_name(&b, "two");
		build_name(&b, "three");
		for (uint32_t stream = 7; stream < 11; stream++)
			for (uint64_t pass = 0; pass < (differs == 2 && stream == 10 ? 30 : 40);
			     pass++) {
				build_pass(&b, stream, 1000 + pass * 1000 + stream, 300);
				if (differs == 1 && stream == 10)
					b.model->ops[b.model->op_count - 1].name = 2;
			}
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, 40);
		assert_int_equal(found.streams, differs ? 3 : 4);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/*
 * So often a copy to the device in the default stream, and three launches of one kernel in another:
 * always the same, or a new one each time.  No stream repeats anything but one operation.
 */
static void copies_and_kernels_of_different_streams_are_one_loop(void **state)
{
	for (uint32_t way = 0; way < 3; way++) {
		uint32_t times = way == 2 ? 7 : 12;
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "k");
		for (uint32_t i = 0; i < times; i++) {
			uint32_t id = b.model->call_count + 1;
			struct gp_op *op;

			build_call(&b, 1, BUILD_MEMCPY_ASYNC, i * 10000, 50, id);
			op = build_op(&b, GP_OP_COPY, 7, i * 10000 + 100, i * 10000 + 150, id);
			op->copy_kind = GP_COPY_HTOD;
			for (uint32_t k = 1; k <= 3; k++) {
				build_kernel(&b, i * 10000 + k * 1000, 0);
				b.model->ops[b.model->op_count - 1].stream_id =
					way == 1 ? 13 + i : 13;
			}
		}
		model = build_end(&b);
		found = find(model);
		assert_int_equal(found.count, way == 2 ? 0 : times);
		for (uint32_t i = 0; i < found.count; i++) {
			/* in a stream of its own nothing says that it had to wait for what */
			assert_int_equal(found.rows[i].start_ns, i * 10000 + (way == 1 ? 1100 : 0));
			assert_int_equal(found.rows[i].op_count, 4);
			assert_int_equal(model->ops[found.rows[i].first_op].kind, GP_OP_COPY);
		}
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/*
 * Two kernels in each of 32 streams, launched at once, eight streams at a time or one after the
 * other begin: pieces of one job, or a pipeline.
 */
static void what_runs_side_by_side_in_bunches_is_no_loop(void **state)
{
	for (uint32_t in_bunches = 0; in_bunches <= 1; in_bunches++) {
		struct build b = build_begin(1);
		struct gp_iterations found;
		struct gp_model *model;

		build_name(&b, "a");
		build_name(&b, "b");
		for (uint32_t i = 0; i < 32; i++) {
			uint64_t start_ns = 10000 + (in_bunches ? i / 8 * 200000ull + i % 8 * 200
								: i * 25000ull);

			for (uint32_t name = 0; name < 2; name++) {
				uint32_t id = b.model->op_count + 1;

				build_call(&b, 1, BUILD_LAUNCH, id * 100, 50, id);
				build_op(&b, GP_OP_KERNEL, 7 + i, start_ns + name * 100000ull,
					 start_ns + (name + 1) * 100000ull - 100, id)
					->name = name;
			}
		}
		model = end(&b);
		found = find(model);
		assert_int_equal(found.count, in_bunches ? 0 : 32);
		gp_iterations_free(&found);
		gp_model_free(model);
	}
}

/*
 * A loop that runs ahead, 20 times and again 20 times: a copy in one stream whenever the host is
 * there, and three kernels in another that take 900 ns of the GPU, launched every 100 ns.  The
 * 20th's second kernel takes 1 us more.  Between the two, 50 other kernels and a long pause.
 */
static void a_loop_that_runs_ahead_lasts_as_long_as_its_kernels(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_model *model;
	uint64_t at_ns = 1000, free_ns = 0;

	build_name(&b, "k");
	build_name(&b, "other");
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t id = b.model->call_count + 1;

		build_call(&b, 1, BUILD_MEMCPY_ASYNC, at_ns, 5, id);
		build_op(&b, GP_OP_COPY, 7, at_ns + 5, at_ns + 15, id)->copy_kind = GP_COPY_HTOD;
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t start_ns = at_ns + 100 > free_ns ? at_ns + 100 : free_ns;

			free_ns = start_ns + (i == 19 && k == 1 ? 1300 : 300);
			build_call(&b, 1, BUILD_LAUNCH, at_ns + 20 + k * 10, 5, ++id);
			build_op(&b, GP_OP_KERNEL, 13, start_ns, free_ns, id)->name = 0;
		}
		at_ns += 100;
		for (uint32_t k = 0; i == 19 && k < 50; k++, at_ns += 10, free_ns += 10) {
			build_call(&b, 1, BUILD_LAUNCH, at_ns, 5, ++id);
			build_op(&b, GP_OP_KERNEL, 13, free_ns, free_ns + 10, id)->name = 1;
		}
		at_ns = i == 19 ? free_ns + 200000 : at_ns;
	}
	model = end(&b);
	found = find(model);
	assert_int_equal(found.count, 40);
	for (uint32_t i = 0; i < found.count; i++) {
		const struct gp_iteration *row = &found.rows[i];
		bool is_first = i % 20 == 0; /* its copy is waited for */

		assert_int_equal(row->op_count, 4);
		assert_int_equal(row->ends_stretch, i == 19);
		assert_int_equal(row->end_ns - row->start_ns,
				 i == 19 ? 1900 : (is_first ? 1000 : 900));
	}
	gp_iterations_free(&found);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_ranges_in_each_other_those_that_hold_the_time_are_the_loop),
		cmocka_unit_test(an_iteration_begins_with_its_first_call),
		cmocka_unit_test(an_iteration_begins_no_sooner_than_the_first_call),
		cmocka_unit_test(threads_that_do_the_same_are_counted),
		cmocka_unit_test(a_loop_that_runs_ahead_lasts_as_long_as_its_kernels),
		cmocka_unit_test(copies_and_kernels_of_different_streams_are_one_loop),
		cmocka_unit_test(of_streams_that_do_as_much_the_longer_loop_counts),
		cmocka_unit_test(streams_that_do_the_same_are_counted),
		cmocka_unit_test(what_runs_side_by_side_in_bunches_is_no_loop),
		cmocka_unit_test(steps_are_found_by_their_ranges),
		cmocka_unit_test(checkpoints_are_no_steps),
		cmocka_unit_test(a_pause_is_no_part_of_an_iteration),
		cmocka_unit_test(pytorch_says_what_a_step_is),
		cmocka_unit_test(operators_name_no_step),
		cmocka_unit_test(operators_and_parts_of_modules_name_no_step),
		cmocka_unit_test(modules_of_one_operation_are_the_loop_if_nothing_else_is),
		cmocka_unit_test(a_launch_of_a_graph_is_one_iteration),
		cmocka_unit_test(ranges_of_libraries_name_no_step),
		cmocka_unit_test(ranges_with_a_small_part_of_the_work_are_no_loop),
		cmocka_unit_test(what_nests_or_starts_nothing_is_no_loop),
		cmocka_unit_test(without_ranges_operations_tell),
		cmocka_unit_test(what_nccl_repeats_for_its_communicators_is_no_loop),
		cmocka_unit_test(a_repeat_that_is_a_small_part_is_no_loop),
		cmocka_unit_test(what_has_little_of_the_work_and_of_the_time_is_no_loop),
		cmocka_unit_test(one_operation_again_and_again_is_no_loop),
		cmocka_unit_test(an_evaluation_now_and_then_cuts_no_step),
		cmocka_unit_test(a_pass_may_do_more_and_something_else),
		cmocka_unit_test(warming_up_is_part_of_the_loop),
		cmocka_unit_test(accumulated_gradients_are_one_pass),
		cmocka_unit_test(of_a_varying_number_of_batches_each_is_a_pass),
		cmocka_unit_test(batches_are_passes_and_layers_are_none),
		cmocka_unit_test(short_passes_are_not_several_at_once),
		cmocka_unit_test(a_long_evaluation_makes_no_pass_of_ten),
		cmocka_unit_test(what_looks_like_a_pass_begun_before_is_none),
		cmocka_unit_test(passes_of_changing_shapes_are_found_by_what_they_share),
		cmocka_unit_test(a_stream_that_helps_within_a_pass_is_not_the_loop),
		cmocka_unit_test(copies_ahead_on_a_stream_of_their_own_are_not_the_loop),
		cmocka_unit_test(any_ranges_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
