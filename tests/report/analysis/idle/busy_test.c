#include <stdlib.h>

#include "report/analysis/idle/busy.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define SPAN 200
#define US   1000u /* ns */

/* Two streams of device 0 that overlap, one operation of device 1, one without times. */
static struct gp_model *build_two_devices(void)
{
	struct build b = build_begin(1);

	build_call(&b, 1, BUILD_LAUNCH, 100, 10, 1);
	build_call(&b, 1, BUILD_DEVICE_SYNC, 900, 100, 9);
	build_op(&b, GP_OP_KERNEL, 7, 200, 400, 1);
	build_op(&b, GP_OP_KERNEL, 8, 300, 500, 2);
	build_op(&b, GP_OP_KERNEL, 7, 950, 1100, 3);
	build_op(&b, GP_OP_KERNEL, 7, 600, 700, 4)->untimed = 1;
	build_op(&b, GP_OP_COPY, 7, 100, 200, 5)->device_id = 1;
	return build_end(&b);
}

static void devices_are_apart_and_the_window_clips(void **state)
{
	struct gp_model *model = build_two_devices();
	struct gp_device_list devices = {0};
	struct gp_window window = gp_busy_window(&model, 1);
	struct gp_busy *busy = gp_busy_of(&model, 1, window, &devices);

	assert_int_equal(window.start_unix_ns, BUILD_BASE_UNIX_NS + 100);
	assert_int_equal(window.end_unix_ns, BUILD_BASE_UNIX_NS + 1000);
	assert_int_equal(devices.count, 2);
	assert_int_equal(busy[0].operations, 3);
	assert_int_equal(busy[0].inside_ns, 300 + 50);
	assert_int_equal(busy[0].outside_ns, 100);
	assert_int_equal(busy[1].inside_ns, 100);
	free(busy);
	gp_device_list_free(&devices);
	gp_model_free(model);
}

/* Both use the same GPU under different numbers, half of the time at once. */
static void processes_share_a_gpu_by_its_uuid(void **state)
{
	struct build first = build_begin(1), second = build_begin(2);
	struct gp_model *models[2];
	struct gp_device_list devices = {0};
	struct gp_busy *busy;

	build_device(&first, 3, "GPU");
	build_device(&second, 0, "GPU");
	second.model->devices[0].uuid[3] = 3;
	second.model->base_unix_ns += 50;
	build_call(&first, 1, BUILD_LAUNCH, 0, 1000, 1);
	build_op(&first, GP_OP_KERNEL, 7, 100, 200, 1)->device_id = 3;
	build_op(&second, GP_OP_KERNEL, 7, 100, 200, 1);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	busy = gp_busy_of(models, 2, gp_busy_window(models, 2), &devices);
	assert_int_equal(devices.count, 1);
	assert_int_equal(devices.entries[0].device_id, 3);
	assert_int_equal(busy[0].inside_ns, 150);
	free(busy);
	gp_device_list_free(&devices);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* CUDA_VISIBLE_DEVICES has each process call its own GPU 0. */
static void gpus_of_one_number_are_told_apart(void **state)
{
	struct build first = build_begin(1), second = build_begin(2);
	struct gp_model *models[2];
	struct gp_device_list devices = {0};

	build_device(&first, 0, "GPU");
	build_device(&second, 0, "GPU");
	build_device(&second, 1, "GPU");
	first.model->devices[0].uuid[3] = 1;
	second.model->devices[0].uuid[3] = 2;
	second.model->devices[1].uuid[3] = 1;
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	assert_int_equal(gp_device_list_find(&devices, models[0], 0), 0);
	assert_int_equal(gp_device_list_find(&devices, models[1], 0), 1);
	assert_int_equal(gp_device_list_find(&devices, models[1], 1), 0);
	assert_int_equal(devices.count, 2);
	assert_int_equal(devices.entries[0].number, 0);
	assert_int_equal(devices.entries[1].device_id, 0);
	assert_int_equal(devices.entries[1].number, 1);
	gp_device_list_free(&devices);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void copies_within_the_host_keep_no_device_busy(void **state)
{
	struct gp_device_list devices = {0};
	struct build b = build_begin(1);
	struct gp_busy *busy;

	build_call(&b, 1, BUILD_LAUNCH, 0, SPAN, 1);
	build_op(&b, GP_OP_KERNEL, 7, 100, 110, 1);
	build_op(&b, GP_OP_COPY, 7, 20, 60, 2)->copy_kind = GP_COPY_HTOH;
	build_op(&b, GP_OP_COPY, 7, 120, 125, 3)->copy_kind = GP_COPY_HTOH + 1;
	b.model = build_end(&b);
	busy = gp_busy_of(&b.model, 1, gp_busy_window(&b.model, 1), &devices);
	assert_int_equal(busy[0].operations, 2);
	assert_int_equal(busy[0].inside_ns, 15);
	free(busy);
	gp_device_list_free(&devices);
	gp_model_free(b.model);
}

static void without_calls_the_operations_are_the_window(void **state)
{
	struct build b = build_begin(1);
	struct gp_window window;

	build_op(&b, GP_OP_KERNEL, 7, 100, 200, 1);
	build_op(&b, GP_OP_KERNEL, 7, 300, 450, 2);
	b.model = build_end(&b);
	window = gp_busy_window(&b.model, 1);
	assert_int_equal(window.end_unix_ns - window.start_unix_ns, 350);
	gp_model_free(b.model);
}

/*
 * A process of 100 us that was killed was heard of until 700 us, another one began at 500 us: no
 * time is there in which none lived.
 */
static void who_was_killed_lived_until_it_was_last_heard_of(void **state)
{
	struct build builds[] = {build_begin(1), build_begin(2)};
	struct gp_model *models[2];
	uint64_t lives_ns;

	for (size_t i = 0; i < 2; i++) {
		build_call(&builds[i], 1, BUILD_LAUNCH, i * 500 * US, 100 * US, 1);
		models[i] = build_end(&builds[i]);
		models[i]->end_ns = 700 * US;
	}
	gp_busy_lives_ns(&lives_ns, models, 2);
	assert_int_equal(lives_ns, 200 * US);
	models[0]->losses.closed = false;
	gp_busy_lives_ns(&lives_ns, models, 2);
	assert_int_equal(lives_ns, 700 * US);
	assert_true(gp_busy_is_open(models[0]));
	assert_false(gp_busy_is_open(models[1]));
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* Against marking: operations that overlap and parts that were recorded, by chance. */
static void what_was_not_recorded_is_no_time_of_the_gpu(void **state)
{
	srand(5);
	for (int round = 0; round < 300; round++) {
		struct build b = build_begin(1);
		struct gp_device_list devices = {0};
		uint8_t busy_at[SPAN] = {0};
		uint64_t inside = 0, possible = 0, all = 0, gate = 0;
		struct gp_busy *busy;
		bool on = true;

		build_call(&b, 1, BUILD_LAUNCH, 0, SPAN, 1);
		for (uint32_t i = 0; i < 6; i++) {
			uint64_t start = (uint64_t)rand() % SPAN;
			uint64_t end = start + (uint64_t)rand() % (SPAN + 1 - start);

			build_op(&b, GP_OP_KERNEL, 7, start, end, 2 + i);
			memset(busy_at + start, 1, end - start);
		}
		for (uint64_t ns = 0; ns < SPAN; ns++) {
			if (ns > gate + 3 && rand() % 20 == 0) {
				on = !on;
				gate = ns;
				build_gate(&b, on, GP_GATE_PROFILER, ns);
			}
			possible += on;
			inside += on && busy_at[ns];
			all += busy_at[ns];
		}
		b.model = build_end(&b);
		busy = gp_busy_of(&b.model, 1, gp_busy_window(&b.model, 1), &devices);
		assert_int_equal(busy[0].possible_ns, possible);
		assert_int_equal(busy[0].inside_ns, inside);
		assert_int_equal(busy[0].outside_ns, all - inside);
		free(busy);
		gp_device_list_free(&devices);
		gp_model_free(b.model);
	}
}

/*
 * Recording went on before the first call and after the last one: all of it is as long as its parts
 * are.
 */
static void a_part_counts_from_where_recording_was_switched_on(void **state)
{
	struct build b = build_begin(1);
	struct gp_device_list devices = {0};
	struct gp_busy *busy;

	build_call(&b, 1, BUILD_LAUNCH, 1000, 100, 1);
	build_op(&b, GP_OP_KERNEL, 7, 1100, 1300, 1);
	build_gate(&b, false, GP_GATE_START, 0);
	build_gate(&b, true, GP_GATE_PROFILER, 900);
	build_gate(&b, false, GP_GATE_PROFILER, 1500);
	b.model = build_end(&b);
	busy = gp_busy_of(&b.model, 1, gp_busy_window(&b.model, 1), &devices);
	assert_int_equal(busy[0].possible_ns, 600);
	assert_int_equal(busy[0].inside_ns, 200);
	assert_int_equal(busy[0].outside_ns, 0);
	free(busy);
	gp_device_list_free(&devices);
	gp_model_free(b.model);
}

/*
 * One records in part, which goes on behind its last call; the other's trace does, too, but not its
 * life.
 */
static void who_never_paused_counts_from_call_to_call(void **state)
{
	struct build part = build_begin(1), whole = build_begin(2);
	struct gp_model *models[2];
	struct gp_busy_parts parts;

	build_call(&part, 1, BUILD_LAUNCH, 0, 100, 1);
	build_gate(&part, false, GP_GATE_API, 400);
	build_call(&whole, 1, BUILD_LAUNCH, 1000, 100, 1);
	whole.model->end_ns = 5000;
	models[0] = build_end(&part);
	models[1] = build_end(&whole);
	assert_int_equal(gp_busy_parts_of(&parts, models, 2, gp_busy_window(models, 2)), 0);
	assert_int_equal(parts.total_ns, 400 + 100);
	free(parts.intervals);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* What was launched before a part has no record: what waits for it tells when it had ended. */
static void what_ran_on_into_a_part_is_no_idle_time(void **state)
{
	static const struct {
		uint64_t op_start_ns, counts_from_ns;
	} cases[] = {
		{1100 + GP_BUSY_LATENCY_NS, 900},
		{1101 + GP_BUSY_LATENCY_NS, 1101 + GP_BUSY_LATENCY_NS},
		{500000, 300000}, /* after the part: nothing is known of it */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		struct gp_busy_parts parts;
		uint64_t start_ns = cases[i].op_start_ns;

		build_call(&b, 1, BUILD_LAUNCH, 1000, 100, 1);
		build_call(&b, 1, BUILD_LAUNCH, 400000, 1000, 2);
		build_op(&b, GP_OP_KERNEL, 7, start_ns, start_ns + 10, 1);
		build_op(&b, GP_OP_KERNEL, 8, 500020, 500030, 2);
		build_gate(&b, false, GP_GATE_START, 0);
		build_gate(&b, true, GP_GATE_PROFILER, 900);
		build_gate(&b, false, GP_GATE_PROFILER, 300000);
		b.model = build_end(&b);
		assert_int_equal(gp_busy_parts_of(&parts, &b.model, 1, gp_busy_window(&b.model, 1)),
				 0);
		assert_int_equal(parts.total_ns, 300000 - cases[i].counts_from_ns);
		assert_int_equal(parts.count, parts.total_ns > 0);
		free(parts.intervals);
		gp_model_free(b.model);
	}
}

/*
 * Operations without times are of no part, and where none begins in a part, the next one's first is
 * its first.
 */
static void the_first_operation_of_each_part(void **state)
{
	struct build b = build_begin(1);

	build_call(&b, 1, BUILD_LAUNCH, 10, 5, 1);
	build_op(&b, GP_OP_KERNEL, 7, 700, 710, 1);
	build_op(&b, GP_OP_KERNEL, 7, 350, 360, 1);
	b.model->ops[1].untimed = 1;
	build_op(&b, GP_OP_KERNEL, 8, 600, 610, 1);
	for (uint64_t i = 1; i <= 8; i++)
		build_gate(&b, i % 2 == 0, GP_GATE_API, 100 * i);
	b.model = build_end(&b);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(b.model->ops[b.model->gates[i].first_op].start_ns, 600);
	assert_int_equal(b.model->ops[b.model->gates[6].first_op].start_ns, 700);
	assert_int_equal(b.model->gates[7].first_op, GP_NONE);
	gp_model_free(b.model);
}

/* One records its first half, the other its second. */
static void any_process_s_recording_counts(void **state)
{
	struct build first = build_begin(1), second = build_begin(2);
	struct gp_device_list devices = {0};
	struct gp_model *models[2];
	struct gp_busy *busy;

	build_call(&first, 1, BUILD_LAUNCH, 0, 1000, 1);
	build_op(&first, GP_OP_KERNEL, 7, 100, 300, 1);
	build_gate(&first, false, GP_GATE_API, 400);
	build_call(&second, 1, BUILD_LAUNCH, 0, 1000, 1);
	build_op(&second, GP_OP_KERNEL, 7, 200, 700, 1);
	build_gate(&second, false, GP_GATE_START, 0);
	build_gate(&second, true, GP_GATE_API, 300);
	build_gate(&second, false, GP_GATE_API, 600);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	busy = gp_busy_of(models, 2, gp_busy_window(models, 2), &devices);
	assert_int_equal(busy[0].possible_ns, 600);
	assert_int_equal(busy[0].inside_ns, 500);
	assert_int_equal(busy[0].outside_ns, 100);
	free(busy);
	gp_device_list_free(&devices);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/*
 * The one paused while the other worked on: no device's idle time, and the other's is known
 * throughout.
 */
static void what_others_record_says_nothing_of_a_device(void **state)
{
	struct build paused = build_begin(1), whole = build_begin(2);
	struct gp_device_list devices = {0};
	struct gp_model *models[2];
	struct gp_busy *busy;

	build_device(&paused, 0, "GPU");
	build_call(&paused, 1, BUILD_LAUNCH, 0, 100, 1);
	build_op(&paused, GP_OP_KERNEL, 7, 200, 300, 1);
	build_gate(&paused, false, GP_GATE_API, 400);
	build_device(&whole, 1, "GPU");
	build_call(&whole, 1, BUILD_LAUNCH, 0, 1000, 1);
	build_op(&whole, GP_OP_KERNEL, 7, 500, 700, 1)->device_id = 1;
	models[0] = build_end(&paused);
	models[1] = build_end(&whole);
	busy = gp_busy_of(models, 2, gp_busy_window(models, 2), &devices);
	assert_int_equal(devices.count, 2);
	assert_int_equal(busy[0].possible_ns, 400);
	assert_int_equal(busy[0].inside_ns, 100);
	assert_int_equal(busy[1].possible_ns, 1000);
	assert_int_equal(busy[1].inside_ns, 200);
	free(busy);
	gp_device_list_free(&devices);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_apart_and_the_window_clips),
		cmocka_unit_test(processes_share_a_gpu_by_its_uuid),
		cmocka_unit_test(gpus_of_one_number_are_told_apart),
		cmocka_unit_test(who_was_killed_lived_until_it_was_last_heard_of),
		cmocka_unit_test(what_was_not_recorded_is_no_time_of_the_gpu),
		cmocka_unit_test(a_part_counts_from_where_recording_was_switched_on),
		cmocka_unit_test(who_never_paused_counts_from_call_to_call),
		cmocka_unit_test(what_ran_on_into_a_part_is_no_idle_time),
		cmocka_unit_test(the_first_operation_of_each_part),
		cmocka_unit_test(any_process_s_recording_counts),
		cmocka_unit_test(what_others_record_says_nothing_of_a_device),
		cmocka_unit_test(copies_within_the_host_keep_no_device_busy),
		cmocka_unit_test(without_calls_the_operations_are_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
