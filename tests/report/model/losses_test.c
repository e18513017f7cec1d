/* Losses: every one has its words and its count, and the words fit one as well as many. */
#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/model/losses.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

static void each_has_a_name_a_kind_and_a_sentence_of_its_own(void **state)
{
	for (unsigned i = 0; i < GP_LOSSES; i++) {
		assert_true(strlen(gp_loss_table[i].name) > 0);
		assert_true(strlen(gp_loss_table[i].sentence) > 0);
		assert_true(strlen(gp_loss_table[i].sentence) < 200);
		for (unsigned k = 0; k < i; k++) {
			assert_string_not_equal(gp_loss_table[i].name, gp_loss_table[k].name);
			assert_string_not_equal(gp_loss_table[i].sentence,
						gp_loss_table[k].sentence);
		}
	}
}

static void one_is_singular(void **state)
{
	static const struct {
		uint64_t count;
		const char *sentence, *text;
	} cases[] = {
		{1, "records dropped", "1 record dropped"},
		{2, "records dropped", "2 records dropped"},
		{1234, "final flushes given up", "1,234 final flushes given up"},
		{1, "final flushes given up", "1 final flush given up"},
		{1, "launches without record", "1 launch without record"},
		{1, "CUPTI buffers, cut", "1 CUPTI buffer, cut"},
		{1, "incomplete traces: the end", "1 incomplete trace: the end"},
		{1, "memory", "1 memory"},
	};
	char text[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		gp_loss_text(text, sizeof(text), cases[i].count, cases[i].sentence);
		assert_string_equal(text, cases[i].text);
	}
}

struct taken {
	unsigned numbers[GP_LOSSES], count;
	uint64_t sum;
};

static void take(void *context, const struct gp_loss *loss, uint64_t count)
{
	struct taken *taken = context;

	taken->numbers[taken->count++] = (unsigned)(loss - gp_loss_table);
	taken->sum += count;
}

static void each_yields_losses_but_no_strain_and_no_telemetry(void **state)
{
	static const unsigned expected[] = {GP_COUNTER_LOST_CUPTI,       GP_COUNTER_TEXTS_UNKNOWN,
					    GP_LOST_DAMAGED_BYTES,       GP_LOST_END,
					    GP_LOST_OPERATIONS_REVERSED, GP_LOST_STATUS};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct taken taken = {.count = 0};

	b.model->counters[GP_COUNTER_LOST_CUPTI] = 2;
	b.model->counters[GP_COUNTER_TEXTS_UNKNOWN] = 3;
	b.model->counters[GP_COUNTER_RING_WAITS] = 1000;
	b.model->counters[GP_COUNTER_HOOKS] = 1000;
	model = build_end(&b);
	model->losses.closed = false;
	model->losses.damaged_bytes = 4;
	model->losses.ops_reversed = 5;
	model->losses.frees_unknown = 1000;
	model->unknown = GP_UNKNOWN_STATUS;
	gp_loss_each(model, take, &taken);
	assert_int_equal(taken.count, COUNT(expected));
	assert_memory_equal(taken.numbers, expected, sizeof(expected));
	assert_int_equal(taken.sum, 2 + 3 + 4 + 1 + 5 + 1);
	taken = (struct taken){.count = 0};
	gp_loss_each_of_part(model, take, &taken);
	assert_int_equal(taken.count, 0);
	model->part.is_one = true;
	gp_loss_each_of_part(model, take, &taken);
	assert_int_equal(taken.count, 1);
	model->part.is_one = false;
	gp_model_free(model);
}

/* By the key of an export, and by the sentence, which older exports have alone. */
static void each_that_joining_does_not_find_is_restored(void **state)
{
	static const unsigned others[] = {GP_LOST_DAMAGED_BYTES, GP_LOST_UNREADABLE_RECORDS,
					  GP_LOST_OPERATIONS_UNTIMED, GP_LOST_STATUS,
					  GP_LOST_ALLOCATIONS};

	for (unsigned i = 0; i < GP_COUNTERS + COUNT(others); i++) {
		unsigned number = i < GP_COUNTERS ? i : others[i - GP_COUNTERS];
		const struct gp_loss *loss = &gp_loss_table[number];
		char key[64];

		snprintf(key, sizeof(key), GP_LOSS_KEY "%s", loss->name);
		for (unsigned by = 0; by < 2; by++) {
			struct build b = build_begin(1);
			struct gp_model *model = build_end(&b);

			gp_loss_restore(model, loss->name, 1);
			assert_int_equal(gp_loss_count(model, number), 0);
			gp_loss_restore(model, by == 0 ? key : loss->sentence, 1);
			assert_int_equal(gp_loss_count(model, number), 1);
			gp_model_free(model);
		}
	}
}

static void what_keep_last_left_out_is_outside_of_the_trace(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;

	b.model->counters[GP_COUNTER_LEFT_OUT_OLD] = 9;
	model = build_end(&b);
	assert_false(gp_loss_has_lost_operations(model));
	model->counters[GP_COUNTER_LOST_NESTED] = 1;
	assert_true(gp_loss_has_lost_operations(model));
	model->counters[GP_COUNTER_LOST_NESTED] = 0;
	model->losses.launches_without_op = 1;
	assert_true(gp_loss_has_lost_operations(model));
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_a_name_a_kind_and_a_sentence_of_its_own),
		cmocka_unit_test(one_is_singular),
		cmocka_unit_test(each_yields_losses_but_no_strain_and_no_telemetry),
		cmocka_unit_test(each_that_joining_does_not_find_is_restored),
		cmocka_unit_test(what_keep_last_left_out_is_outside_of_the_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
