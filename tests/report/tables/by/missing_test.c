/* What traces lack, by process: every counter of a loss, and what is not counted. */
#include "tests/unit.h"

#include <string.h>

#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

enum { COUNT, PID, WHAT, LOSS };

static uint64_t count_of(struct gp_table *sheet, uint64_t pid, const char *name)
{
	for (uint64_t i = 0; i < gp_table_rows(sheet); i++) {
		const struct gp_value *row = gp_table_row(sheet, i);

		if (row[PID].whole == pid && strcmp(row[LOSS].text, name) == 0)
			return row[COUNT].whole;
	}
	return 0;
}

static void two_processes_of_which_one_lacks_much(void **state)
{
	struct build whole = build_begin(7), b = build_begin(8);
	struct gp_model *models[2];
	struct gp_scope scope;
	struct gp_table sheet;

	models[0] = build_end(&whole);
	models[1] = build_end(&b);
	models[1]->losses.closed = false;
	models[1]->losses.launches_without_op = 3;
	models[1]->counters[GP_COUNTER_LOST_RING_FULL] = 4;
	models[1]->counters[GP_COUNTER_LEFT_OUT_OLD] = 5;
	models[1]->counters[GP_COUNTER_UNKNOWN_RECORDS] = 6;
	models[1]->counters[GP_COUNTER_TEXTS_UNKNOWN] = 7;
	models[1]->counters[GP_COUNTER_RING_WAITS] = 8; /* nothing was lost by these */
	assert_int_equal(gp_scope_open(&scope, models, 2, true), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_missing, &scope, &sheet), 0);
	assert_int_equal(gp_table_rows(&sheet), 6);
	assert_int_equal(count_of(&sheet, 8, "END"), 1);
	assert_int_equal(count_of(&sheet, 8, "LAUNCHES_WITHOUT_RECORD"), 3);
	assert_int_equal(count_of(&sheet, 8, "LOST_RING_FULL"), 4);
	assert_int_equal(count_of(&sheet, 8, "LEFT_OUT_OLD"), 5);
	assert_int_equal(count_of(&sheet, 8, "UNKNOWN_RECORDS"), 6);
	assert_int_equal(count_of(&sheet, 8, "TEXTS_UNKNOWN"), 7);
	gp_table_close(&sheet);
	gp_scope_close(&scope);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_processes_of_which_one_lacks_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
