/*
 * What a thread did between two of its calls, and why devices had nothing to do, at once and call
 * by call.
 */
#include <string.h>

#include "report/analysis/host/call_sums.h"
#include "report/analysis/idle/gpu_line.h"
#include "tests/report/wheres_of.h"
#include "tests/unit.h"
#include "tests/lib/dice.h"
#include "tests/report/model_builder.h"

#define CALLS    600u
#define DEVICES  5u
#define LAUNCHES 4000u

/* Calls of three threads: apart, one right behind the other, within each other, of no length. */
static struct gp_model *build_calls(uint64_t *dice)
{
	static const uint16_t apis[] = {BUILD_LAUNCH, BUILD_DEVICE_SYNC, BUILD_MALLOC,
					BUILD_MEMCPY_ASYNC};
	struct build b = build_begin(1);

	for (uint32_t thread = 1; thread <= 3; thread++) {
		uint64_t at_ns = 1000;

		for (uint32_t i = 0; i < CALLS; i++) {
			build_call(&b, thread, apis[roll_dice(dice) % 4], at_ns,
				   roll_dice(dice) % 100, 0);
			at_ns += roll_dice(dice) % 100;
		}
	}
	return build_end(&b);
}

static void check_calls(const struct gp_model *m, const struct gp_call_sums *sums, uint32_t first,
			uint32_t end)
{
	uint64_t found_ns[GP_IDLE_CAUSES] = {0}, right_ns[GP_IDLE_CAUSES] = {0}, reached_ns = 0;
	uint64_t from_ns;
	uint32_t start = first;

	while (start > 0 && m->calls[start - 1].thread_id == m->calls[first].thread_id)
		start--;
	for (uint32_t i = start; i < first; i++)
		if (m->calls[i].start_ns + m->calls[i].duration_ns > reached_ns)
			reached_ns = m->calls[i].start_ns + m->calls[i].duration_ns;
	from_ns = reached_ns;
	if (from_ns != m->calls[first - 1].start_ns + m->calls[first - 1].duration_ns) {
		assert_int_equal(gp_call_sums_add(sums, first, end, found_ns), 0);
		return;
	}
	for (uint64_t ns = reached_ns, i = first; i < end; ns++) { /* each ns by itself */
		const struct gp_call *call = &m->calls[i];

		while (i < end && m->calls[i].start_ns + m->calls[i].duration_ns <= ns)
			i++;
		if (i == end)
			break;
		call = &m->calls[i];
		right_ns[call->start_ns <= ns ? gp_call_cause(m, call) : GP_IDLE_HOST]++;
		reached_ns = ns + 1;
	}
	assert_int_equal(gp_call_sums_add(sums, first, end, found_ns), reached_ns - from_ns);
	assert_memory_equal(found_ns, right_ns, sizeof(found_ns));
}

static void test_against_every_ns(void **state)
{
	uint64_t dice = DICE;
	struct gp_model *m = build_calls(&dice);
	struct gp_call_sums sums = {0};

	gp_call_sums_of(&sums, m);
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t thread = (uint32_t)(roll_dice(&dice) % 3) * CALLS;
		uint32_t first = 1 + (uint32_t)(roll_dice(&dice) % (CALLS - 1));
		uint32_t end = first + (uint32_t)(roll_dice(&dice) % (CALLS - first + 1));

		check_calls(m, &sums, thread + first, thread + end);
	}
	gp_call_sums_free(&sums);
	gp_model_free(m);
}

/* Two threads launch on five devices; now and then something keeps all of them waiting. */
static struct gp_model *build_devices(uint64_t *dice)
{
	static const uint16_t others[] = {BUILD_DEVICE_SYNC, BUILD_MALLOC, BUILD_MEMCPY_ASYNC};
	struct build b = build_begin(1);
	uint64_t at_ns[2] = {1000, 1300};

	for (uint32_t i = 0; i < LAUNCHES; i++) {
		uint32_t thread = (uint32_t)(roll_dice(dice) % 2);
		uint64_t length_ns = 100 + roll_dice(dice) % 3000, *at = &at_ns[thread];
		struct gp_op *op;

		if (roll_dice(dice) % 20 == 0) {
			build_call(&b, 1 + thread, others[roll_dice(dice) % 3], *at, length_ns * 9,
				   0);
			*at += length_ns * 9 + roll_dice(dice) % 500;
		}
		build_call(&b, 1 + thread, BUILD_LAUNCH, *at, length_ns, 1 + i);
		op = build_op(&b, GP_OP_KERNEL, 7, *at + length_ns / 2,
			      *at + length_ns / 2 + roll_dice(dice) % 2000, 1 + i);
		op->device_id = (uint16_t)(roll_dice(dice) % DEVICES);
		if (roll_dice(dice) % 50 == 0) {
			build_overhead(&b, 7 << 16, *at + length_ns / 4, *at + length_ns);
			b.model->overheads[b.model->overhead_count - 1].thread_id = 1 + thread;
		}
		*at += length_ns + roll_dice(dice) % 500;
	}
	return build_end(&b);
}

static void check_device(const struct gp_gpu_line *line, const struct gp_where *where)
{
	uint64_t ns[GP_STATES] = {0}, from_ns = line->start_ns;

	for (size_t i = 0; i < line->count; i++) {
		if (line->states[i] > 0)
			ns[line->states[i]] += line->ends_ns[i] - from_ns;
		from_ns = line->ends_ns[i];
	}
	assert_memory_equal(ns, where->state_ns, sizeof(ns));
	assert_true(line->count > 1000);
}

/* A line has the order of all that happened; sums do without it. */
static void test_sums_are_those_of_the_line(void **state)
{
	char message[64];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));
	uint64_t dice = DICE;
	struct gp_model *m = build_devices(&dice);
	struct gp_window window = gp_busy_window(&m, 1);
	struct gp_device_list devices = {0};
	struct gp_wheres wheres;
	struct gp_gpu_lines lines;

	assert_int_equal(gp_device_list_all(&devices, &m, 1), 0);
	assert_int_equal(devices.count, DEVICES);
	wheres_of(&wheres, &m, 1, window, &devices, kinds, 4);
	assert_int_equal(gp_gpu_lines_of(&lines, &m, 1, window, &devices, kinds), 0);
	for (size_t i = 0; i < devices.count; i++)
		check_device(&lines.devices[i], &wheres.devices[i]);
	gp_gpu_lines_free(&lines);
	gp_wheres_free(&wheres);
	gp_device_list_free(&devices);
	gp_kinds_free(kinds);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_every_ns),
		cmocka_unit_test(test_sums_are_those_of_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
