#include <stdlib.h>

#include "report/analysis/idle/gpu_line.h"
#include "tests/report/wheres_of.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define US 1000u /* ns */

/* What is known of the devices of the models, with the 8 longest gaps of each. */
struct answer {
	struct gp_gpu_lines lines;
	struct gp_device_list devices;
	struct gp_window window;
	struct gp_wheres wheres;
	struct gp_busy *busy;
};

static struct answer ask(struct gp_model *const *models, size_t count)
{
	char message[64];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));
	struct answer answer = {.window = gp_busy_window(models, count)};

	assert_non_null(kinds);
	assert_int_equal(gp_device_list_all(&answer.devices, models, count), 0);
	wheres_of(&answer.wheres, models, count, answer.window, &answer.devices, kinds, 8);
	assert_int_equal(gp_gpu_lines_of(&answer.lines, models, count, answer.window,
					 &answer.devices, kinds),
			 0);
	answer.busy = gp_busy_of(models, count, answer.window, &answer.devices);
	assert_non_null(answer.busy);
	gp_kinds_free(kinds);
	return answer;
}

static void forget(struct answer *answer)
{
	gp_gpu_lines_free(&answer->lines);
	gp_wheres_free(&answer->wheres);
	gp_device_list_free(&answer->devices);
	free(answer->busy);
}

/* The one device of a model. */
static struct answer ask_one(struct build *b, struct gp_model **model)
{
	*model = build_end(b);
	return ask(model, 1);
}

static uint64_t idle_of(const struct answer *answer, enum gp_idle_cause cause)
{
	return answer->wheres.devices[0].state_ns[GP_STATE_IDLE + cause];
}

static uint64_t count_gaps(const struct gp_where *where)
{
	uint64_t count = 0;

	for (enum gp_idle_cause c = 0; c < GP_IDLE_CAUSES; c++)
		count += where->cause_count[c];
	return count;
}

/* ---- the rules, each on a gap from 100 to 300 us between two kernels ---- */

static struct build begin_with_gap(void)
{
	struct build b = build_begin(1);

	build_call(&b, 1, BUILD_LAUNCH, 0, 5 * US, 1);
	build_op(&b, GP_OP_KERNEL, 7, 10 * US, 100 * US, 1);
	build_op(&b, GP_OP_KERNEL, 7, 300 * US, 400 * US, 2);
	build_call(&b, 1, BUILD_DEVICE_SYNC, 310 * US, 90 * US, 9);
	return b;
}

static void a_host_in_no_call_is_host_bound(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 190 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH), 10 * US + 10 * US /* the first */);
	assert_int_equal(count_gaps(&answer.wheres.devices[0]), 2);
	assert_int_equal(answer.wheres.devices[0].cause_count[GP_IDLE_HOST], 1);
	forget(&answer);
	gp_model_free(model);
}

/* From the end of the launch at 0 to the next one: 200 us without a wait are its preparation. */
static void between_launches_a_host_in_no_call_launches(void **state)
{
	static const struct {
		uint64_t at_us, host_us, launch_us;
		uint16_t first;    /* the API function of the first call */
		uint64_t waits_us; /* in a wait between the two */
	} cases[] = {{205, 0, 210, BUILD_LAUNCH, 0},
		     {206, 106, 104, BUILD_LAUNCH, 0},
		     {205, 85, 105, BUILD_LAUNCH, 20},
		     {205, 105, 100, BUILD_MEMCPY_ASYNC, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = begin_with_gap();
		struct gp_model *model;
		struct answer answer;

		b.model->calls[0].api = cases[i].first;
		if (cases[i].waits_us > 0)
			build_call(&b, 1, BUILD_DEVICE_SYNC, 150 * US, cases[i].waits_us * US, 3);
		build_call(&b, 1, BUILD_LAUNCH, cases[i].at_us * US, 60 * US, 2);
		answer = ask_one(&b, &model);
		assert_int_equal(idle_of(&answer, GP_IDLE_HOST), cases[i].host_us * US);
		assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH), cases[i].launch_us * US);
		forget(&answer);
		gp_model_free(model);
	}
}

static void coming_back_from_a_wait_counts_to_the_wait(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_call(&b, 1, BUILD_DEVICE_SYNC, 20 * US, 90 * US, 3); /* until 110 us */
	build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_SYNC), 10 * US + GP_IDLE_RETURN_NS);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 180 * US - GP_IDLE_RETURN_NS);
	forget(&answer);
	gp_model_free(model);
}

/* A wait that begins when the device is idle already is no reason for what comes after it. */
static void a_wait_for_nothing_counts_itself(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_call(&b, 1, BUILD_DEVICE_SYNC, 150 * US, 10 * US, 3);
	build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_SYNC), 10 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 180 * US);
	forget(&answer);
	gp_model_free(model);
}

static void calls_count_by_what_they_are_for(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_api(&b, 1, "cudaStreamCreate", GP_API_CONTROL);
	build_call(&b, 1, BUILD_MALLOC, 110 * US, 20 * US, 3);
	build_call(&b, 1, 1, 130 * US, 30 * US, 4);
	build_call(&b, 1, BUILD_MEMCPY_ASYNC, 160 * US, 40 * US, 5);
	build_call(&b, 1, BUILD_LAUNCH, 290 * US, 50 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_ALLOC), 20 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_SETUP), 30 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_COPY), 40 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 10 * US + 90 * US);
	forget(&answer);
	gp_model_free(model);
}

/* A memset, and a copy on one device, are launched as kernels are, unless the call takes long. */
static void what_is_only_launched_is_launch_bound(void **state)
{
	static const struct {
		uint16_t api;
		enum gp_op_kind kind;
		uint8_t copy_kind;
		uint64_t call_ns;
		enum gp_idle_cause cause;
	} rows[] = {
		{BUILD_MEMSET_ASYNC, GP_OP_SET, 0, 40 * US, GP_IDLE_LAUNCH},
		{BUILD_MEMCPY_ASYNC, GP_OP_COPY, GP_COPY_DTOD, 40 * US, GP_IDLE_LAUNCH},
		{BUILD_MEMCPY_ASYNC, GP_OP_COPY, GP_COPY_DTOD, 100 * US - 1, GP_IDLE_LAUNCH},
		{BUILD_MEMCPY_ASYNC, GP_OP_COPY, GP_COPY_DTOD, 100 * US, GP_IDLE_COPY},
		{BUILD_MEMCPY_ASYNC, GP_OP_COPY, GP_COPY_HTOD, 40 * US, GP_IDLE_COPY},
		{BUILD_MEMCPY_ASYNC, GP_OP_COPY, GP_COPY_DTOH, 40 * US, GP_IDLE_COPY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build b = begin_with_gap();
		struct gp_model *model;
		struct answer answer;

		build_call(&b, 1, rows[i].api, 110 * US, rows[i].call_ns, 5);
		build_op(&b, rows[i].kind, 8, 500 * US, 510 * US, 5)->copy_kind = rows[i].copy_kind;
		build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
		answer = ask_one(&b, &model);
		assert_int_equal(idle_of(&answer, GP_IDLE_COPY),
				 rows[i].cause == GP_IDLE_COPY ? rows[i].call_ns : 0);
		assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH),
				 (10 /* the first */ + 10) * US +
					 (rows[i].cause == GP_IDLE_LAUNCH ? rows[i].call_ns : 0));
		forget(&answer);
		gp_model_free(model);
	}
}

/*
 * Nobody is at work on the host where another thread of it is in a call for the device; a wait
 * keeps only its own thread.
 */
static void calls_of_other_threads_are_no_work_of_the_host(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_call(&b, 2, BUILD_FREE, 110 * US, 50 * US, 3);
	build_call(&b, 3, BUILD_MEMCPY_ASYNC, 140 * US, 40 * US, 4); /* from 160 us on */
	build_call(&b, 3, BUILD_MALLOC, 190 * US, GP_CALL_CAUSE_LEAST_NS - 1, 5);
	build_call(&b, 3, BUILD_DEVICE_SYNC, 210 * US, 70 * US, 6);
	build_call(&b, 1, BUILD_MALLOC, 100 * US, 20 * US, 7); /* the host's own counts first */
	build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_ALLOC), 20 * US + 40 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_COPY), 20 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_SYNC), 0);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 110 * US);
	forget(&answer);
	gp_model_free(model);
}

/* Whatever call the context was made by, and whoever loads code: everybody has to wait. */
static void making_contexts_and_loading_code_is_set_up_for_all(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_api(&b, 1, "cuLibraryLoadData", GP_API_MODULE);
	build_call(&b, 2, BUILD_FREE, 110 * US, 50 * US, 3);
	build_call(&b, 1, BUILD_MALLOC, 120 * US, 20 * US, 4);
	build_call(&b, 1, 1, 270 * US, 15 * US, 5); /* within the launch */
	build_call(&b, 1, BUILD_LAUNCH, 260 * US, 40 * US, 2);
	build_context_made_by(&b, 1, 7, 3);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_SETUP), 50 * US + 15 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_ALLOC), 0);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 10 * US + 100 * US);
	forget(&answer);
	gp_model_free(model);
}

/*
 * Two runs, one after the other: what is between them is no idle time, and each one's end is its
 * own.
 */
static void between_processes_nobody_is_idle(void **state)
{
	struct build builds[] = {begin_with_gap(), begin_with_gap()};
	struct gp_model *models[2];
	struct answer answer;

	for (size_t i = 0; i < 2; i++) {
		build_device(&builds[i], 0, "GPU");
		build_call(&builds[i], 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
		build_call(&builds[i], 1, BUILD_FREE, 420 * US, 30 * US, 4);
		builds[i].model->base_unix_ns += i * 5000 * US;
		models[i] = build_end(&builds[i]);
	}
	answer = ask(models, 2);
	assert_int_equal(answer.busy[0].possible_ns, 2 * 450 * US);
	assert_int_equal(gp_state_wall_ns(answer.wheres.devices[0].state_ns), 2 * 450 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 2 * (190 + 20) * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_ALLOC), 2 * 30 * US);
	assert_int_equal(answer.wheres.devices[0].edge_ns, 2 * (10 + 50) * US);
	forget(&answer);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void what_was_launched_before_waits_for_something(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_call(&b, 1, BUILD_LAUNCH, 50 * US, 5 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_DEPENDENCY), 200 * US);
	forget(&answer);
	gp_model_free(model);
}

static void short_gaps_of_launched_work_are_launch_bound(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct answer answer;

	for (uint32_t i = 0; i < 10; i++) {
		build_call(&b, 1, BUILD_LAUNCH, i * US, US, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, (20 + 3 * i) * US, (21 + 3 * i) * US, i + 1);
	}
	build_call(&b, 1, BUILD_DEVICE_SYNC, 11 * US, 37 * US, 99);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH), 9 * 2 * US + 20 * US);
	assert_int_equal(gp_state_idle_ns(answer.wheres.devices[0].state_ns), 38 * US);
	forget(&answer);
	gp_model_free(model);
}

static struct build build_ten_operations_of_a_call(uint32_t graph_id)
{
	struct build b = build_begin(1);

	build_call(&b, 1, BUILD_LAUNCH, 0, 10 * US, 1);
	for (uint32_t i = 0; i < 10; i++)
		build_op(&b, GP_OP_KERNEL, 7, (20 + 3 * i) * US, (21 + 3 * i) * US, 1)->graph_id =
			graph_id;
	build_call(&b, 1, BUILD_DEVICE_SYNC, 11 * US, 37 * US, 99);
	return b;
}

/*
 * Though they are as short: all of them were put onto the device at once.  Other calls with several
 * operations go on making them.
 */
static void gaps_within_a_launch_of_a_graph_are_its_own(void **state)
{
	struct build b = build_ten_operations_of_a_call(3);
	struct gp_model *model;
	struct answer answer;

	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_DEPENDENCY), 9 * 2 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH), 20 * US);
	forget(&answer);
	gp_model_free(model);
	b = build_ten_operations_of_a_call(0);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_DEPENDENCY), 0);
	forget(&answer);
	gp_model_free(model);
}

static void without_the_call_nothing_is_guessed(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNKNOWN), 200 * US);
	forget(&answer);
	gp_model_free(model);
}

/* A launch between those of the operations around the gap that has no record may have run in it. */
static void what_has_no_record_may_have_run(void **state)
{
	static const struct {
		uint32_t api;
		uint64_t at_us;
		const char *recorder;
		uint64_t unknown_us;
	} rows[] = {
		{BUILD_LAUNCH, 190, NULL, 110},
		{BUILD_LAUNCH, 60, NULL, 200},
		{BUILD_LAUNCH, 295, NULL, 0}, /* after the one that ended it */
		{BUILD_GRAPH_LAUNCH, 190, "torch.profiler", 110},
		{BUILD_GRAPH_LAUNCH, 190, NULL, 0}, /* it has no work for the GPU */
		{BUILD_GRAPH_LAUNCH, 190, "gpuprof, from an exported SQLite file", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build b = begin_with_gap();
		struct gp_model *model;
		struct answer answer;

		build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
		build_call(&b, 2, rows[i].api, rows[i].at_us * US, 5 * US, 3);
		b.model->recorder = rows[i].recorder;
		answer = ask_one(&b, &model);
		assert_int_equal(idle_of(&answer, GP_IDLE_UNKNOWN), rows[i].unknown_us * US);
		forget(&answer);
		gp_model_free(model);
	}
}

/* CUPTI says that the host was held up by it: where it was in no call. */
static void the_profiler_holds_up_hosts_in_no_call(void **state)
{
	const uint32_t compiler = 1, request = 7 << 16;
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_overhead(&b, request, 150 * US, 200 * US);
	build_overhead(&b, request, 180 * US, 210 * US);
	build_overhead(&b, request, 230 * US, 260 * US);
	b.model->overheads[2].thread_id = 99; /* makes no calls */
	build_overhead(&b, compiler, 260 * US, 270 * US);
	build_call(&b, 1, BUILD_MALLOC, 190 * US, 30 * US, 3);
	build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_PROFILER), 40 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_ALLOC), 30 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), (50 + 70) * US);
	forget(&answer);
	gp_model_free(model);
}

/*
 * The launch for which the GPU waits takes so long only for CUPTI; of the other overheads none is
 * of this thread, known and in a call of it.
 */
static void the_profiler_holds_up_calls(void **state)
{
	const uint32_t request = 7 << 16;
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_overhead(&b, request, 160 * US, 240 * US);
	b.model->overheads[0].thread_id = 1;
	build_overhead(&b, request, 250 * US, 260 * US); /* of an unknown one */
	build_overhead(&b, request, 255 * US, 265 * US);
	b.model->overheads[2].thread_id = 2;
	build_overhead(&b, request, 292 * US, 297 * US); /* behind the call */
	b.model->overheads[3].thread_id = 1;
	build_call(&b, 1, BUILD_LAUNCH, 150 * US, 140 * US, 2);
	build_call(&b, 2, BUILD_DEVICE_SYNC, 500 * US, 5 * US, 3);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_PROFILER), 80 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 105 /* the end */ * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH),
			 (10 /* the first */ + 50 /* before the next */ + 60 + 10) * US);
	forget(&answer);
	gp_model_free(model);
}

/* The program stands still while hardware counters are read, in calls too. */
static void a_window_of_counters_is_the_profiler_s(void **state)
{
	struct build b = begin_with_gap();
	struct gp_model *model;
	struct answer answer;

	build_overhead(&b, GP_OVERHEAD_HW_WINDOW, 240 * US, 250 * US);
	build_overhead(&b, GP_OVERHEAD_HW_WINDOW, 150 * US, 200 * US);
	build_call(&b, 1, BUILD_MALLOC, 180 * US, 40 * US, 3);
	build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_PROFILER), 60 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_ALLOC), 20 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), (50 + 20 + 40) * US);
	forget(&answer);
	gp_model_free(model);
}

/*
 * Two processes with a device each: the first one's last call ends at 450 us, the other one's at
 * 1,450 us.
 */
static void build_two(struct gp_model *models[2])
{
	struct build builds[] = {begin_with_gap(), begin_with_gap()};

	for (uint16_t i = 0; i < 2; i++) {
		build_device(&builds[i], i, "GPU");
		for (uint32_t op = 0; op < builds[i].model->op_count; op++)
			builds[i].model->ops[op].device_id = i;
		build_call(&builds[i], 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
		build_call(&builds[i], 1, BUILD_FREE, (420 + i * 1000) * US, 30 * US, 4);
		models[i] = build_end(&builds[i]);
	}
}

/* One process ends early: its device is idle, but waits for nobody. */
static void without_its_processes_a_device_is_not_used(void **state)
{
	struct gp_model *models[2];
	struct answer answer;

	build_two(models);
	answer = ask(models, 2);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNUSED), 1000 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNKNOWN), 0);
	assert_int_equal(answer.wheres.devices[1].state_ns[GP_STATE_IDLE + GP_IDLE_UNUSED], 0);
	forget(&answer);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* It comes after the last operation that is known, before none. */
static void check_unknown_gap(const struct gp_where *where)
{
	uint32_t found = 0;

	for (size_t i = 0; i < where->gaps_kept; i++) {
		const struct gp_gap *gap = &where->gaps[i];

		if (gap->cause != GP_IDLE_UNKNOWN)
			continue;
		found++;
		assert_int_not_equal(gap->before.op, GP_NONE);
		assert_int_equal(gap->after.op, GP_NONE);
	}
	assert_int_equal(found, 1);
}

/* One that was killed lived on after its last recorded call, and may have had its device. */
static void of_a_killed_process_the_end_is_not_known(void **state)
{
	struct gp_model *models[2];
	struct answer answer;

	build_two(models);
	models[0]->losses.closed = false;
	models[0]->end_ns = 950 * US;
	answer = ask(models, 2);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNKNOWN), 500 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNUSED), 500 * US);
	assert_int_equal(answer.wheres.devices[1].state_ns[GP_STATE_IDLE + GP_IDLE_UNKNOWN], 0);
	check_unknown_gap(&answer.wheres.devices[0]);
	forget(&answer);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* A third launches a kernel that never ends: none of its records says on which device. */
static void who_hangs_with_its_first_kernel_may_have_any_device(void **state)
{
	struct build hung = build_begin(3);
	struct gp_model *models[3];
	struct answer answer;

	build_two(models);
	build_call(&hung, 1, BUILD_LAUNCH, 500 * US, 5 * US, 1);
	models[2] = build_end(&hung);
	models[2]->losses.closed = false;
	models[2]->end_ns = 1200 * US;
	answer = ask(models, 3);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNKNOWN), 700 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNUSED), 300 * US);
	assert_int_equal(answer.wheres.devices[1].state_ns[GP_STATE_IDLE + GP_IDLE_UNKNOWN], 0);
	forget(&answer);
	for (size_t i = 0; i < 3; i++)
		gp_model_free(models[i]);
}

/* Whoever records in part lives also before and after the calls in that part. */
static void before_the_first_call_of_a_part_the_host_is_at_work(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct answer answer;

	build_gate(&b, false, GP_GATE_START, 0);
	build_gate(&b, true, GP_GATE_TIME, 100 * US);
	build_gate(&b, false, GP_GATE_TIME, 1000 * US);
	build_call(&b, 1, BUILD_LAUNCH, 300 * US, 5 * US, 1);
	build_op(&b, GP_OP_KERNEL, 7, 310 * US, 400 * US, 1);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_UNUSED), 0);
	assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH), 10 * US);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), (200 + 600) * US);
	forget(&answer);
	gp_model_free(model);
}

/* In ours the first operation has a call. With a range before, the host is known from there on. */
static void before_another_recorder_began_the_host_is_not_known(void **state)
{
	static const struct {
		uint64_t range_ns, unknown_ns, host_ns;
	} cases[] = {{0, 190 * US, 0}, {150 * US, 50 * US, 140 * US}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct answer answer;

		b.model->recorder = "another";
		build_op(&b, GP_OP_KERNEL, 7, 10 * US, 100 * US, 1);
		if (cases[i].range_ns > 0)
			build_range(&b, 1, "step", cases[i].range_ns, 400 * US);
		build_call(&b, 1, BUILD_LAUNCH, 290 * US, 5 * US, 2);
		build_op(&b, GP_OP_KERNEL, 7, 300 * US, 400 * US, 2);
		answer = ask_one(&b, &model);
		assert_int_equal(idle_of(&answer, GP_IDLE_UNKNOWN), cases[i].unknown_ns);
		assert_int_equal(idle_of(&answer, GP_IDLE_HOST), cases[i].host_ns);
		assert_int_equal(idle_of(&answer, GP_IDLE_LAUNCH), 10 * US);
		forget(&answer);
		gp_model_free(model);
	}
}

/* Its launches load code by themselves; those of ours have calls for that. */
static void a_long_launch_of_another_recorder_loads_code(void **state)
{
	static const char *const recorders[] = {"another", NULL, "gpuprof, from an export"};

	for (size_t i = 0; i < sizeof(recorders) / sizeof(recorders[0]); i++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct answer answer;
		enum gp_idle_cause cause = i == 0 ? GP_IDLE_SETUP : GP_IDLE_LAUNCH;

		b.model->recorder = recorders[i];
		build_call(&b, 1, BUILD_LAUNCH, 0, 5 * US, 1);
		build_op(&b, GP_OP_KERNEL, 7, 10 * US, 100 * US, 1);
		build_call(&b, 1, BUILD_LAUNCH, 100 * US, 20000 * US, 2);
		build_op(&b, GP_OP_KERNEL, 7, 20100 * US, 20200 * US, 2);
		answer = ask_one(&b, &model);
		assert_true(idle_of(&answer, cause) >= 20000 * US);
		forget(&answer);
		gp_model_free(model);
	}
}

static void after_the_last_operation_its_thread_tells(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct answer answer;

	build_call(&b, 1, BUILD_LAUNCH, 0, 5 * US, 1);
	build_op(&b, GP_OP_KERNEL, 7, 5 * US, 100 * US, 1);
	build_call(&b, 1, BUILD_DEVICE_SYNC, 20 * US, 90 * US, 3);
	build_call(&b, 1, BUILD_FREE, 400 * US, 100 * US, 4);
	answer = ask_one(&b, &model);
	assert_int_equal(idle_of(&answer, GP_IDLE_SYNC), 10 * US + GP_IDLE_RETURN_NS);
	assert_int_equal(idle_of(&answer, GP_IDLE_HOST), 290 * US - GP_IDLE_RETURN_NS);
	assert_int_equal(idle_of(&answer, GP_IDLE_ALLOC), 100 * US);
	assert_int_equal(answer.wheres.devices[0].edge_ns, 5 * US + 400 * US);
	forget(&answer);
	gp_model_free(model);
}

/* ---- what runs at once ---- */

static void classes_overlap(void **state)
{
	const unsigned both = GP_STATE_COMPUTE | GP_STATE_COMMUNICATION;
	struct build b = build_begin(1);
	const uint64_t *states;
	struct gp_model *model;
	struct answer answer;

	build_name(&b, "ncclDevKernel_AllReduce");
	build_name(&b, "mine");
	build_call(&b, 1, BUILD_LAUNCH, 0, 1000, 1);
	build_op(&b, GP_OP_KERNEL, 7, 0, 500, 1)->name = 1;
	build_op(&b, GP_OP_KERNEL, 8, 400, 700, 2)->name = 0;
	build_op(&b, GP_OP_COPY, 9, 450, 600, 3);
	build_op(&b, GP_OP_KERNEL, 7, 800, 900, 4)->untimed = 1;
	answer = ask_one(&b, &model);
	states = answer.wheres.devices[0].state_ns;
	assert_int_equal(gp_state_any_ns(states, GP_STATE_COMPUTE), 500);
	assert_int_equal(gp_state_any_ns(states, GP_STATE_COMMUNICATION), 300);
	assert_int_equal(gp_state_all_ns(states, both), 100);
	assert_int_equal(gp_state_only_ns(states, GP_STATE_COMMUNICATION), 100);
	assert_int_equal(gp_state_only_ns(states, GP_STATE_COPY), 0);
	assert_int_equal(gp_state_busy_ns(states), 700);
	assert_int_equal(gp_state_wall_ns(states), 1000);
	forget(&answer);
	gp_model_free(model);
}

/* More segments than lie between two kept sums: each span is what it is made of. */
static void spans_are_summed(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct answer answer;

	build_call(&b, 1, BUILD_LAUNCH, 0, 1, 1);
	for (uint32_t i = 0; i < 2000; i++)
		build_op(&b, GP_OP_KERNEL, 7, i * US + 300, i * US + 1000, 0);
	build_call(&b, 1, BUILD_DEVICE_SYNC, 2000 * US - 1, 1, 2);
	answer = ask_one(&b, &model);
	for (uint32_t i = 0; i < 1990; i += 7) {
		uint64_t sum_ns[GP_STATES] = {0}, start_ns = BUILD_BASE_UNIX_NS + i * US + 100;

		gp_gpu_line_add(&answer.lines.devices[0], start_ns, start_ns + 5 * US, sum_ns);
		assert_int_equal(gp_state_busy_ns(sum_ns), 5 * 700);
		assert_int_equal(gp_state_idle_ns(sum_ns), 5 * 300);
	}
	forget(&answer);
	gp_model_free(model);
}

static void the_longest_gaps_are_kept(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct answer answer;
	const struct gp_where *where;

	build_call(&b, 1, BUILD_LAUNCH, 0, 1, 1);
	for (uint32_t i = 0; i < 500; i++)
		build_op(&b, GP_OP_KERNEL, 7, i * US + (i * 37) % 500, (i + 1) * US, 0);
	build_call(&b, 1, BUILD_DEVICE_SYNC, 500 * US - 1, 1, 2);
	answer = ask_one(&b, &model);
	where = &answer.wheres.devices[0];
	assert_int_equal(count_gaps(where), 499);
	assert_int_equal(where->gaps_kept, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(where->gaps[i].end_ns - where->gaps[i].start_ns, 499 - i);
	assert_int_equal(where->gaps[0].after.op, where->gaps[0].before.op + 1);
	forget(&answer);
	gp_model_free(model);
}

/* ---- whatever the trace: causes add up to idle, states to the time that counts ---- */

static void build_any(struct build *b, uint32_t seed)
{
	static const uint16_t apis[] = {BUILD_LAUNCH,       BUILD_MALLOC,      BUILD_FREE,
					BUILD_MEMCPY_ASYNC, BUILD_DEVICE_SYNC, BUILD_GRAPH_LAUNCH};
	bool on = false;

	srand(seed);
	build_name(b, "ncclKernel");
	for (int i = rand() % 60; i > 0; i--)
		build_call(b, 1 + (uint32_t)rand() % 3, apis[rand() % 6], (uint64_t)rand() % 900000,
			   (uint64_t)rand() % 90000, 1 + (uint32_t)rand() % 40);
	for (int i = rand() % 60; i > 0; i--) {
		uint64_t start = (uint64_t)rand() % 900000;
		struct gp_op *op =
			build_op(b, (enum gp_op_kind)(rand() % 4), (uint32_t)rand() % 4, start,
				 start + (uint64_t)rand() % 50000, 1 + (uint32_t)rand() % 40);

		op->name = rand() % 2 ? 0 : GP_NONE;
		op->device_id = (uint16_t)(rand() % 2);
		op->untimed = rand() % 8 == 0;
	}
	for (int i = rand() % 10; i > 0; i--) {
		uint64_t start = (uint64_t)rand() % 900000;

		build_overhead(b, 7 << 16, start, start + (uint64_t)rand() % 90000);
		b->model->overheads[b->model->overhead_count - 1].thread_id = (uint32_t)rand() % 5;
	}
	for (uint64_t at = 0; seed % 3 == 0 && at < 800000; at += 1 + (uint64_t)rand() % 300000)
		build_gate(b, on = !on, GP_GATE_API, at);
}

static void check_device(const struct answer *answer, size_t device)
{
	const struct gp_where *where = &answer->wheres.devices[device];
	const struct gp_busy *busy = &answer->busy[device];
	uint64_t gaps = 0;

	assert_int_equal(gp_state_busy_ns(where->state_ns), busy->inside_ns);
	assert_int_equal(gp_state_idle_ns(where->state_ns), busy->possible_ns - busy->inside_ns);
	assert_int_equal(where->state_ns[0], 0);
	for (size_t i = 0; i < where->gaps_kept; i++) {
		const struct gp_gap *gap = &where->gaps[i];
		uint64_t causes = 0;

		for (enum gp_idle_cause c = 0; c < GP_IDLE_CAUSES; c++)
			causes += gap->cause_ns[c];
		assert_int_equal(causes, gap->end_ns - gap->start_ns);
		gaps += causes;
	}
	assert_true(gaps <= gp_state_idle_ns(where->state_ns));
	if (count_gaps(where) <= 8)
		assert_int_equal(gaps, gp_state_idle_ns(where->state_ns));
}

/* Parts of the line add up to the whole, wherever it is cut. */
static void check_line(const struct answer *answer, size_t device)
{
	const uint64_t end_ns = BUILD_BASE_UNIX_NS + 2000000;
	uint64_t sum_ns[GP_STATES] = {0}, at_ns = 0;

	for (int i = rand() % 5; i > 0; i--) {
		uint64_t next_ns = BUILD_BASE_UNIX_NS + (uint64_t)rand() % 1000000;

		if (next_ns < at_ns)
			continue;
		gp_gpu_line_add(&answer->lines.devices[device], at_ns, next_ns, sum_ns);
		at_ns = next_ns;
	}
	gp_gpu_line_add(&answer->lines.devices[device], at_ns, end_ns, sum_ns);
	assert_memory_equal(sum_ns, answer->wheres.devices[device].state_ns, sizeof(sum_ns));
}

static void causes_partition_idle_time(void **state)
{
	for (uint32_t seed = 1; seed < 1500; seed++) {
		struct gp_model *models[2];
		struct answer answer;

		for (uint32_t i = 0; i < 2; i++) {
			struct build b = build_begin(i + 1);

			build_any(&b, seed * 2 + i);
			models[i] = build_end(&b);
		}
		answer = ask(models, 1 + seed % 2);
		for (size_t i = 0; i < answer.devices.count; i++) {
			check_device(&answer, i);
			check_line(&answer, i);
		}
		forget(&answer);
		gp_model_free(models[0]);
		gp_model_free(models[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_in_no_call_is_host_bound),
		cmocka_unit_test(between_launches_a_host_in_no_call_launches),
		cmocka_unit_test(coming_back_from_a_wait_counts_to_the_wait),
		cmocka_unit_test(a_wait_for_nothing_counts_itself),
		cmocka_unit_test(calls_count_by_what_they_are_for),
		cmocka_unit_test(what_is_only_launched_is_launch_bound),
		cmocka_unit_test(calls_of_other_threads_are_no_work_of_the_host),
		cmocka_unit_test(making_contexts_and_loading_code_is_set_up_for_all),
		cmocka_unit_test(between_processes_nobody_is_idle),
		cmocka_unit_test(what_was_launched_before_waits_for_something),
		cmocka_unit_test(short_gaps_of_launched_work_are_launch_bound),
		cmocka_unit_test(gaps_within_a_launch_of_a_graph_are_its_own),
		cmocka_unit_test(without_the_call_nothing_is_guessed),
		cmocka_unit_test(the_profiler_holds_up_hosts_in_no_call),
		cmocka_unit_test(the_profiler_holds_up_calls),
		cmocka_unit_test(a_window_of_counters_is_the_profiler_s),
		cmocka_unit_test(without_its_processes_a_device_is_not_used),
		cmocka_unit_test(of_a_killed_process_the_end_is_not_known),
		cmocka_unit_test(who_hangs_with_its_first_kernel_may_have_any_device),
		cmocka_unit_test(before_the_first_call_of_a_part_the_host_is_at_work),
		cmocka_unit_test(before_another_recorder_began_the_host_is_not_known),
		cmocka_unit_test(a_long_launch_of_another_recorder_loads_code),
		cmocka_unit_test(after_the_last_operation_its_thread_tells),
		cmocka_unit_test(classes_overlap),
		cmocka_unit_test(spans_are_summed),
		cmocka_unit_test(the_longest_gaps_are_kept),
		cmocka_unit_test(causes_partition_idle_time),
		cmocka_unit_test(what_has_no_record_may_have_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
