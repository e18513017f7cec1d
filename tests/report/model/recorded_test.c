#include "report/model/recorded.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

static void a_kind_is_recorded_as_trace_says(void **state)
{
	static const struct {
		const char *options, *kind;
		bool recorded;
	} cases[] = {
		{NULL, "gpu", true},
		{NULL, "sync", false},
		{"OUTPUT=x", "memory", true},
		{"TRACE=memory", "memory", true},
		{"TRACE=memory", "gpu", false},
		{"A=b\nTRACE=memory,sync\nFILTER=gpu", "gpu", false},
		{"A=b\nTRACE=memory,sync\nFILTER=gpu", "sync", true},
		{"TRACE=default,sync", "gpu", true},
		{"TRACE=api-all", "gpu", true},
		{"TRACE=api-all", "api-all", true},
		{"TRACE=none", "nvtx", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);

		if (cases[i].options)
			build_info(&b, GP_INFO_OPTIONS, cases[i].options);
		b.model = build_end(&b);
		if (gp_recorded_kind(b.model, cases[i].kind) != cases[i].recorded)
			fail_msg("%s of %s", cases[i].kind,
				 cases[i].options ? cases[i].options : "the default");
		gp_model_free(b.model);
	}
}

static void what_never_paused_is_one_part(void **state)
{
	struct build b = build_begin(1);
	struct gp_recorded_part part;
	uint32_t next = 0;

	b.model->end_ns = 700;
	b.model = build_end(&b);
	assert_true(gp_recorded_part(b.model, &next, &part));
	assert_int_equal(part.start_ns, 0);
	assert_int_equal(part.end_ns, 700);
	assert_false(gp_recorded_part(b.model, &next, &part));
	gp_model_free(b.model);
}

static void what_never_began_has_no_part(void **state)
{
	struct build b = build_begin(1);
	struct gp_recorded_part part;
	uint32_t next = 0;

	build_gate(&b, false, GP_GATE_START, 5);
	b.model = build_end(&b);
	assert_false(gp_recorded_part(b.model, &next, &part));
	gp_model_free(b.model);
}

static void assert_lacks_operations(struct gp_model *model, uint64_t *number)
{
	*number = 1;
	assert_string_equal(gp_recorded_why_not_all(model), "operations are missing");
	*number = 0;
	assert_null(gp_recorded_why_not_all(model));
}

static void operations_may_be_missing_for_many_reasons(void **state)
{
	static const enum gp_counter harmless[] = {GP_COUNTER_HOOKS, GP_COUNTER_BUFFER_WAITS,
						   GP_COUNTER_CUT_STRINGS, GP_COUNTER_TEXTS_UNKNOWN,
						   GP_COUNTER_LEFT_OUT_OLD};
	struct build b = build_begin(1);
	struct gp_model *model = b.model = build_end(&b);

	assert_null(gp_recorded_why_not_all(model));
	assert_lacks_operations(model, &model->counters[GP_COUNTER_LOST_CUPTI]);
	assert_lacks_operations(model, &model->counters[GP_COUNTER_LOST_MAX_FILE]);
	assert_lacks_operations(model, &model->counters[GP_COUNTER_LEFT_OUT_KERNELS]);
	assert_lacks_operations(model, &model->losses.launches_without_op);
	assert_lacks_operations(model, &model->losses.damaged_bytes);
	assert_lacks_operations(model, &model->losses.ops_untimed);
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		model->counters[harmless[i]] = 1;
	assert_null(gp_recorded_why_not_all(model));
	model->losses.cut = true;
	assert_string_equal(gp_recorded_why_not_all(model),
			    "the file was cut: operations may be missing");
	model->losses.closed = false;
	assert_string_equal(gp_recorded_why_not_all(model),
			    "the trace has no end: operations may be missing");
	model->losses.live = true;
	assert_string_equal(gp_recorded_why_not_all(model),
			    "the process still runs: operations may be missing");
	gp_model_free(model);
}

static void how_a_process_ended(void **state)
{
	static const struct {
		struct gp_losses losses;
		const char *text;
	} cases[] = {
		{{.closed = true}, "-"}, /* by an older version */
		{{.closed = true, .end_way = GP_END_STATUS}, "exit 0"},
		{{.closed = true, .end_way = GP_END_STATUS, .end_status = 137}, "exit 137"},
		{{.closed = true, .end_way = GP_END_EXEC}, "exec"},
		{{.killed = true, .end_way = GP_END_SIGNAL, .end_status = 11}, "SIGSEGV"},
		{{.killed = true}, "killed or crashed"},
		{{.live = true}, "running"},
		{{.cut = true}, "-"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);

		b.model = build_end(&b);
		b.model->losses = cases[i].losses;
		assert_string_equal(gp_recorded_how_ended(b.model).text, cases[i].text);
		gp_model_free(b.model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_is_recorded_as_trace_says),
		cmocka_unit_test(what_never_paused_is_one_part),
		cmocka_unit_test(what_never_began_has_no_part),
		cmocka_unit_test(operations_may_be_missing_for_many_reasons),
		cmocka_unit_test(how_a_process_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
