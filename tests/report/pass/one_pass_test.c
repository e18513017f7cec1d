/* one_pass: records that come one by one, out of rings of a process that was killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/pass/one_pass.h"

/* What is given to the loader. */
struct given {
	uint32_t count, last_thread;
	uint8_t last_kind;
	int answer;
};

static int take(void *context, uint32_t ring_thread, const union gp_any_record *record,
		const char *text)
{
	struct given *given = context;

	(void)text;
	given->count++;
	given->last_thread = ring_thread;
	given->last_kind = record->head.kind;
	return given->answer;
}

static int add(struct gp_one_pass *pass, const void *record, size_t bytes)
{
	union gp_any_record any = {0};

	memcpy(&any, record, bytes);
	return gp_one_pass_record(pass, 100, &any, NULL);
}

#define ADD(pass, type, ...) add(pass, &(struct type){__VA_ARGS__}, sizeof(struct type))

static int add_usage(struct gp_one_pass *pass, uint16_t device, uint64_t ticks, uint64_t free_bytes)
{
	return ADD(pass, gp_record_usage, .kind = GP_RECORD_USAGE, .device_id = device,
		   .ticks = ticks, .free_bytes = free_bytes);
}

static void records_one_by_one_come_to_the_same(void **state)
{
	struct given given = {0};
	struct gp_one_pass *pass = gp_one_pass_new(&(struct gp_one_pass_sink){take, &given});
	struct gp_totals totals;
	uint64_t unknown;

	(void)state;
	assert_non_null(pass);
	assert_int_equal(gp_one_pass_drain(pass), 0);
	assert_int_equal(
		ADD(pass, gp_record_kernel, .kind = GP_RECORD_KERNEL, .start_ns = 10, .end_ns = 30),
		0);
	assert_int_equal(given.count, 0); /* summed up, and nobody else's */
	assert_int_equal(add_usage(pass, 1, 50, 500), 0);
	assert_int_equal(add_usage(pass, 0, 60, 600), 0);
	assert_int_equal(add_usage(pass, 1, 40, 400), 0); /* older */
	assert_int_equal(add_usage(pass, 0, 70, 700), 0);
	assert_int_equal(add_usage(pass, GP_DEVICE_LIMIT, 80, 800), 0); /* no device has it */
	assert_int_equal(given.count, 0);
	assert_int_equal(ADD(pass, gp_record_context_end, .kind = GP_RECORD_CONTEXT_END, .id = 3),
			 0);
	assert_int_equal(given.count, 1); /* the loader's, too */
	assert_int_equal(given.last_kind, GP_RECORD_CONTEXT_END);
	assert_int_equal(given.last_thread, 100);
	given.answer = -12;
	assert_int_equal(ADD(pass, gp_record_anchor, .kind = GP_RECORD_ANCHOR), -12);
	assert_int_equal(gp_one_pass_end(pass, &totals, &unknown), 0);
	assert_int_equal(unknown, 0);
	assert_int_equal(totals.sums.count, 1);
	assert_int_equal(totals.sums.sums[0]->spread.total_ns, 20);
	assert_int_equal(totals.usage_count, 2);
	assert_int_equal(totals.usages[0].free_bytes, 500);
	assert_int_equal(totals.usages[1].free_bytes, 700);
	gp_totals_free(&totals);
	gp_one_pass_free(pass);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_one_by_one_come_to_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
