#include "report/analysis/idle/call_cause.h"
#include "report/analysis/idle/startup_shutdown.h"
#include "report/analysis/idle/where.h"
#include "tests/unit.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define MS 1000000u

/* In the domain of that number. */
static void build_range_in(struct build *b, uint32_t domain, const char *text, uint64_t start_ns,
			   uint64_t end_ns)
{
	build_range(b, 100, text, start_ns, end_ns);
	b->model->ranges[b->model->range_count - 1].domain = domain;
}

/*
 * 100 ms for the context; 400 ms of NCCL, 100 ms of which load code; 50 ms of code by itself; a
 * kernel from 1000 to 1010 ms; 300 ms of NCCL; the last call ends at 1500 ms.
 */
static struct build build_process(void)
{
	struct build b = build_begin(1);

	build_domain(&b, "NCCL");
	build_device(&b, 0, "GPU");
	build_api(&b, 98, "cuModuleLoadData", GP_API_MODULE);
	build_context_made_by(&b, 1, 7, 1);
	build_call(&b, 100, BUILD_MALLOC, 0, 100 * MS, 1);
	build_range_in(&b, 1, "ncclCommInitRank", 200 * MS, 600 * MS);
	build_call(&b, 100, 98, 300 * MS, 100 * MS, 2);
	build_call(&b, 100, 98, 700 * MS, 50 * MS, 3);
	build_range_in(&b, 0, "ncclCommInitRank", 800 * MS, 900 * MS);
	build_call(&b, 100, BUILD_LAUNCH, 999 * MS, 10000, 4);
	build_op(&b, GP_OP_KERNEL, 7, 1000 * MS, 1010 * MS, 4);
	build_range_in(&b, 1, "ncclCommDestroy", 1100 * MS, 1400 * MS);
	build_call(&b, 100, BUILD_FREE, 1390 * MS, 40 * MS, 0);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1450 * MS, 50 * MS, 5);
	return b;
}

static void ends_are_split_by_what_they_were_for(void **state)
{
	struct build b = build_process();
	struct gp_model *model = build_end(&b);
	struct gp_startup_shutdown ends;

	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.before_ns, 0); /* nothing says when the process began */
	assert_int_equal(ends.first.ns, 1000 * MS);
	assert_int_equal(ends.first.part_ns[GP_END_NCCL], 400 * MS);
	assert_int_equal(ends.first.part_ns[GP_END_CONTEXT], 100 * MS);
	assert_int_equal(ends.first.part_ns[GP_END_CODE], 50 * MS);
	assert_int_equal(ends.first.own_ns, 450 * MS - 10000);
	assert_string_equal(ends.first.nccl, "ncclCommInitRank");
	assert_int_equal(ends.last.ns, 490 * MS);
	assert_int_equal(ends.last.part_ns[GP_END_NCCL], 300 * MS);
	assert_int_equal(ends.last.part_ns[GP_END_FREE], 30 * MS);
	assert_int_equal(ends.last.own_ns, 110 * MS);
	assert_string_equal(ends.last.nccl, "ncclCommDestroy");
	assert_int_equal(ends.nccl_make_ns, 400 * MS);
	assert_int_equal(ends.nccl_made, 1);
	assert_int_equal(ends.nccl_end_ns, 300 * MS);
	assert_string_equal(ends.nccl_make, "ncclCommInitRank");
	model->counters[GP_COUNTER_HW_SETUP_NS] = 60 * MS;
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.first.part_ns[GP_END_CONTEXT], 40 * MS);
	model->counters[GP_COUNTER_HW_SETUP_NS] = 200 * MS;
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.first.part_ns[GP_END_CONTEXT], 0);
	gp_model_free(model);
}

/*
 * What CUPTI makes ready for it is seen 30 ms after the call's begin: the other 70 ms are those of
 * the allocation, for which it was.
 */
static void a_context_is_made_amid_the_call_that_allocates(void **state)
{
	struct build b = build_process();
	struct gp_model *model;
	struct gp_startup_shutdown ends;

	build_overhead(&b, 3u << 16, 20 * MS, 30 * MS);
	build_overhead(&b, 2u << 16, 40 * MS, 50 * MS);   /* of another kind */
	build_overhead(&b, 3u << 16, 450 * MS, 460 * MS); /* in another call */
	for (uint32_t i = 0; i < b.model->overhead_count; i++)
		b.model->overheads[i].thread_id = 100;
	model = build_end(&b);
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.first.part_ns[GP_END_CONTEXT], 30 * MS);
	assert_int_equal(ends.first.part_ns[GP_END_MEMORY], 70 * MS);
	assert_int_equal(ends.first.part_ns[GP_END_CODE], 50 * MS);
	gp_model_free(model);
}

/* A damaged trace has any number of them: the last ones in the call are looked at. */
static void many_overheads_in_a_call_take_no_time(void **state)
{
	struct build b = build_process();
	struct gp_model *model;
	struct gp_startup_shutdown ends;

	build_overhead(&b, 3u << 16, 20 * MS, 30 * MS);
	b.model->overheads[0].thread_id = 100;
	for (uint32_t i = 0; i < 2000; i++)
		build_overhead(&b, 3u << 16, 31 * MS + i, 31 * MS + i + 1); /* of another thread */
	model = build_end(&b);
	model->overhead_count = 1000;
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.first.part_ns[GP_END_CONTEXT], 30 * MS);
	model->overhead_count = 2001;
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.first.part_ns[GP_END_CONTEXT], 100 * MS);
	gp_model_free(model);
}

/* It began 2 s of the machine's life before the first call. */
static void the_time_before_the_first_call_is_known_by_the_process(void **state)
{
	struct build b = build_process();
	struct gp_model *model;
	struct gp_startup_shutdown ends;

	build_info(&b, GP_INFO_START_TIME, "100");
	b.model->base_monotonic_ns = 3000ull * MS;
	model = build_end(&b);
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.before_ns, 2000ull * MS);
	model->base_monotonic_ns = 500 * MS; /* by another clock: it would have begun after that */
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.before_ns, 0);
	gp_model_free(model);
}

/* 200 ms within NCCL's are of NCCL; what is short, and what only begins so, is none. */
static void contexts_that_are_ended_are_a_part(void **state)
{
	struct build b = build_process();
	struct gp_model *model;
	struct gp_startup_shutdown ends;

	build_api(&b, 97, "cudaDeviceReset", GP_API_CONTROL);
	build_api(&b, 96, "cuDevicePrimaryCtxRelease_v2", GP_API_CONTROL);
	build_api(&b, 95, "cuDevicePrimaryCtxRetain", GP_API_CONTROL);
	build_call(&b, 100, 97, 850 * MS, 20 * MS, 0);
	build_call(&b, 100, 97, 1200 * MS, 230 * MS, 0);
	build_call(&b, 100, 96, 1431 * MS, 9 * MS, 0);
	build_call(&b, 100, 95, 1440 * MS, 9 * MS, 0);
	build_call(&b, 100, 97, 1449 * MS, 99999, 0);
	model = build_end(&b);
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.first.part_ns[GP_END_NO_CONTEXT], 20 * MS);
	assert_int_equal(ends.last.part_ns[GP_END_NCCL], 300 * MS);
	assert_int_equal(ends.last.part_ns[GP_END_NO_CONTEXT], 39 * MS);
	assert_string_equal(gp_model_api(model, ends.last.ending->api).name, "cudaDeviceReset");
	assert_int_equal(ends.last.ending->start_ns, 1200 * MS);
	gp_model_free(model);
}

static void of_parts_and_of_nothing_there_are_no_ends(void **state)
{
	for (int part = 0; part <= 1; part++) {
		struct build b = build_process();
		struct gp_model *model;
		struct gp_startup_shutdown ends;

		if (part)
			build_gate(&b, true, GP_GATE_API, 10 * MS);
		else
			b.model->op_count = 0;
		model = build_end(&b);
		gp_startup_shutdown_of(&ends, model);
		assert_int_equal(ends.first.ns + ends.last.ns, 0);
		assert_int_equal(ends.whole.ns, 0); /* a launch lacks its kernel */
		gp_model_free(model);
	}
}

/* Of a killed process nobody knows when its last operation was. */
static void where_operations_may_be_missing_there_is_no_end(void **state)
{
	struct build b = build_process();
	struct gp_model *model = build_end(&b);
	struct gp_startup_shutdown ends;

	model->losses.closed = false;
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.first.ns, 1000 * MS);
	assert_int_equal(ends.last.ns, 0);
	gp_model_free(model);
}

static void nccl_is_told_once_per_run(void **state)
{
	struct build b = build_process();
	struct gp_model *model = build_end(&b);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "start-up");
	const struct gp_finding *ended = find(&advice, "wind-down");

	assert_non_null(found);
	assert_true(found->rule->is_once);
	assert_int_equal(found->saves_ns, 400 * MS);
	assert_string_equal(found->found, "NCCL took 400.0ms to create communicators");
	assert_non_null(ended);
	assert_true(ended->rule->is_once);
	assert_int_equal(ended->saves_ns, 300 * MS);
	assert_string_equal(ended->found, "NCCL took 300.0ms to destroy communicators");
	assert_null(strstr(found->found, "pid"));
	assert_null(strstr(found->change, "ncclCommSplit"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * From 200 to 400 ms, and from 400 to 600: one of them is needed, and is used right after that, or
 * 110 ms later.
 */
static void what_communicators_could_save_is_bounded(void **state)
{
	for (uint32_t later = 0; later <= 1; later++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_startup_shutdown ends;

		build_domain(&b, "NCCL");
		build_device(&b, 0, "GPU");
		build_context_made_by(&b, 1, 7, 1);
		build_call(&b, 100, BUILD_MALLOC, 0, 200 * MS, 1);
		build_range_in(&b, 1, "ncclCommInitRank", 200 * MS, 350 * MS);
		build_range_in(&b, 1, "ncclCommInitRank", 350 * MS, 600 * MS);
		/* neither is a use of a communicator of NCCL */
		build_range_in(&b, 0, "ncclAllReduce", 601 * MS, 602 * MS);
		build_range_in(&b, 1, "ncclGroupStart", 602 * MS, 603 * MS);
		build_range_in(&b, 1, "ncclAllReduce", (600 + 110 * later) * MS, 711 * MS);
		build_range_in(&b, 1, "ncclAllReduce", 712 * MS, 713 * MS);
		build_call(&b, 100, BUILD_LAUNCH, 700 * MS, 10000, 4);
		build_op(&b, GP_OP_KERNEL, 7, 701 * MS, 720 * MS, 4);
		build_call(&b, 100, BUILD_DEVICE_SYNC, 711 * MS, 9 * MS, 5);
		model = build_end(&b);
		gp_startup_shutdown_of(&ends, model);
		assert_int_equal(ends.nccl_least_ns, 150 * MS);
		assert_int_equal(ends.nccl_use_ns, (600 + 110 * later) * MS);
		advice = ask(&model, 1);
		found = find(&advice, "start-up");
		assert_non_null(found);
		assert_int_equal(found->saves_ns, (250 + 110 * later) * MS);
		assert_non_null(strstr(found->change, "250.0ms are for all but one"));
		assert_true((strstr(found->change, "blocking = 0") != NULL) == (later == 1));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

static void several_communicators_are_to_be_fewer_and_the_process_is_named(void **state)
{
	struct build several = build_process(), other = build_process();
	struct gp_model *models[2];
	struct gp_advice advice;
	const struct gp_finding *found;

	build_range_in(&several, 1, "ncclCommInitRankConfig", 600 * MS, 690 * MS);
	models[0] = build_end(&other);
	models[1] = build_end(&several);
	models[1]->pid = 4711;
	advice = ask(models, 2);
	found = find(&advice, "start-up");
	assert_non_null(found);
	assert_string_equal(found->found, "NCCL took 490.0ms to create communicators");
	assert_int_equal(found->pid, 4711);
	assert_int_equal(found->processes, 2);
	assert_non_null(strstr(found->change, "ncclCommSplit"));
	gp_advice_free(&advice);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/*
 * In a group communicators are made where it ends, by the name of the function that asked for it;
 * collectives are no set-up, in a group or not.
 */
static void a_group_makes_its_communicators_where_it_ends(void **state)
{
	struct build b = build_process();
	struct gp_model *model;
	struct gp_startup_shutdown ends;

	b.model->range_count = 0;
	build_range_in(&b, 1, "ncclGroupStart", 200 * MS, 201 * MS);
	build_range_in(&b, 1, "ncclCommInitRankConfig", 201 * MS, 202 * MS);
	build_range_in(&b, 0, "a range of the program", 202 * MS, 203 * MS);
	build_range_in(&b, 1, "ncclGroupStart", 204 * MS, 205 * MS);
	build_range_in(&b, 1, "ncclGroupEnd", 205 * MS, 206 * MS);
	build_range_in(&b, 1, "ncclGroupEnd", 300 * MS, 600 * MS);
	build_range_in(&b, 1, "ncclGroupStart", 700 * MS, 701 * MS);
	build_range_in(&b, 1, "ncclAllReduce", 701 * MS, 702 * MS);
	build_range_in(&b, 1, "ncclGroupEnd", 702 * MS, 902 * MS);
	build_range_in(&b, 1, "ncclGroupStart", 1100 * MS, 1101 * MS);
	build_range_in(&b, 1, "ncclCommDestroy", 1101 * MS, 1102 * MS);
	build_range_in(&b, 1, "ncclGroupEnd", 1200 * MS, 1400 * MS);
	model = build_end(&b);
	gp_startup_shutdown_of(&ends, model);
	assert_int_equal(ends.nccl_make_ns, 301 * MS);
	assert_string_equal(ends.nccl_make, "ncclCommInitRankConfig");
	assert_int_equal(ends.nccl_made, 1);
	assert_int_equal(ends.nccl_end_ns, 201 * MS);
	assert_string_equal(ends.first.nccl, "ncclCommInitRankConfig");
	assert_string_equal(ends.last.nccl, "ncclCommDestroy");
	gp_model_free(model);
}

/*
 * At the first collective, say, after operations: the code that NCCL loads meanwhile, and that
 * time, are told once.
 */
static void communicators_made_between_operations_are_told_once(void **state)
{
	for (int by_nccl = 0; by_nccl <= 1; by_nccl++) {
		struct build b = build_process();
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_call(&b, 100, BUILD_LAUNCH, 150 * MS, 10000, 6);
		build_op(&b, GP_OP_KERNEL, 7, 151 * MS, 152 * MS, 6);
		build_call(&b, 100, BUILD_LAUNCH, 760 * MS, 10000, 7);
		build_op(&b, GP_OP_KERNEL, 7, 761 * MS, 762 * MS, 7);
		if (!by_nccl)
			b.model->range_count = 0;
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "start-up");
		assert_int_equal(found != NULL, by_nccl);
		assert_non_null(find(&advice, "wind-down")); /* of what the program does, or NCCL */
		assert_int_equal(find(&advice, "first-use") != NULL, !by_nccl);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Other recorders have no contexts: of calls that only ask something, the first slow one before the
 * first operation is the one that initializes. A short one does not, nor does a wait.
 */
static void the_first_slow_question_initializes_if_no_context_is_known(void **state)
{
	static const struct {
		uint64_t asks_ns, expected_ns;
		bool has_context;
	} cases[] = {{300 * MS, 300 * MS, false}, {MS / 2, 0, false}, {300 * MS, 0, true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		struct gp_startup_shutdown ends;
		struct gp_process_calls calls;
		struct gp_model *model;

		build_device(&b, 0, "GPU");
		build_api(&b, 98, "cudaDeviceGetStreamPriorityRange", GP_API_OTHER);
		if (cases[i].has_context)
			build_context_made_by(&b, 1, 7, 99);
		build_call(&b, 100, BUILD_DEVICE_SYNC, 0, 10 * MS, 0);
		build_call(&b, 100, 98, 20 * MS, cases[i].asks_ns, 0);
		build_call(&b, 100, 98, 400 * MS, 10 * MS, 0);
		build_call(&b, 100, BUILD_LAUNCH, 999 * MS, 10000, 4);
		build_op(&b, GP_OP_KERNEL, 7, 1000 * MS, 1010 * MS, 4);
		build_call(&b, 100, 98, 1100 * MS, 10 * MS, 0);
		model = build_end(&b);
		model->recorder = "another";
		if (cases[i].asks_ns < MS) /* the next one is slow, too */
			model->calls[2].duration_ns = MS / 2;
		gp_startup_shutdown_of(&ends, model);
		assert_int_equal(ends.first.part_ns[GP_END_CONTEXT], cases[i].expected_ns);
		gp_process_calls_of(&calls, model);
		assert_int_equal(calls.setups.count, cases[i].expected_ns > 0);
		gp_process_calls_free(&calls);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_split_by_what_they_were_for),
		cmocka_unit_test(a_context_is_made_amid_the_call_that_allocates),
		cmocka_unit_test(many_overheads_in_a_call_take_no_time),
		cmocka_unit_test(the_time_before_the_first_call_is_known_by_the_process),
		cmocka_unit_test(contexts_that_are_ended_are_a_part),
		cmocka_unit_test(of_parts_and_of_nothing_there_are_no_ends),
		cmocka_unit_test(where_operations_may_be_missing_there_is_no_end),
		cmocka_unit_test(nccl_is_told_once_per_run),
		cmocka_unit_test(what_communicators_could_save_is_bounded),
		cmocka_unit_test(several_communicators_are_to_be_fewer_and_the_process_is_named),
		cmocka_unit_test(a_group_makes_its_communicators_where_it_ends),
		cmocka_unit_test(communicators_made_between_operations_are_told_once),
		cmocka_unit_test(the_first_slow_question_initializes_if_no_context_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
