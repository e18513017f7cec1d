/*
 * gather: in a row no two events overlap, whatever they are; what nests lies below what holds it.
 */
#include "report/html/gather.h"
#include "report/model/model.h"
#include "tests/unit.h"

static void add(struct gp_html_gather *gather, uint32_t label, uint64_t start_ns, uint64_t end_ns)
{
	assert_int_equal(gp_html_gather_add(gather, &(struct gp_html_event){.start_ns = start_ns,
									    .end_ns = end_ns,
									    .label = label}),
			 0);
}

static uint32_t row_of(const struct gp_html_gather *gather, uint32_t label)
{
	for (uint32_t i = 0; i < gather->count; i++)
		if (gather->events[i].label == label)
			return gather->events[i].row;
	fail_msg("no event %u", label);
	return GP_NONE;
}

static void assert_rows_are_in_order(const struct gp_html_gather *gather)
{
	for (uint32_t i = 1; i < gather->count; i++) {
		const struct gp_html_event *event = &gather->events[i];

		assert_true(event->row >= event[-1].row);
		if (event->row == event[-1].row)
			assert_true(event->start_ns >= event[-1].end_ns);
	}
}

static void test_what_nests_lies_below(void **state)
{
	struct gp_html_gather gather = {0};

	add(&gather, 3, 20, 30);
	add(&gather, 1, 0, 100);
	add(&gather, 2, 10, 50);
	add(&gather, 4, 50, 60);
	add(&gather, 5, 100, 110);
	gp_html_gather_place(&gather, true, 64);
	assert_int_equal(gather.rows, 3);
	assert_int_equal(row_of(&gather, 1), 0);
	assert_int_equal(row_of(&gather, 2), 1);
	assert_int_equal(row_of(&gather, 3), 2);
	assert_int_equal(row_of(&gather, 4), 1);
	assert_int_equal(row_of(&gather, 5), 0);
	assert_rows_are_in_order(&gather);
	gp_html_gather_free(&gather);
}

static bool is_below(void *context, const struct gp_html_event *event)
{
	return event->end_ns - event->start_ns < *(const uint64_t *)context;
}

static uint64_t group(struct gp_html_gather *gather, uint64_t least_ns, uint64_t gap_ns)
{
	const struct gp_html_together how = {
		.is_short = is_below, .context = &least_ns, .gap_ns = gap_ns, .label = 7};

	return gp_html_gather_group(gather, &how);
}

static void test_short_neighbors_become_one(void **state)
{
	struct gp_html_gather gather = {0};

	add(&gather, 1, 0, 4);
	add(&gather, 1, 10, 19); /* not shorter than 9 */
	add(&gather, 1, 20, 24);
	add(&gather, 1, 24, 32);
	add(&gather, 1, 40, 41); /* 8 behind it */
	add(&gather, 1, 50, 51); /* 9 behind that */
	add(&gather, 1, 60, 60);
	add(&gather, 1, 61, 62);
	add(&gather, 1, 60, 63); /* on another row */
	gp_html_gather_place(&gather, false, 64);
	assert_int_equal(group(&gather, 9, 9), 3 + 2);
	assert_rows_are_in_order(&gather);
	assert_int_equal(gather.count, 6);
	assert_int_equal(gather.events[0].label, 1);
	assert_int_equal(gather.events[1].end_ns, 19);
	assert_int_equal(gather.events[2].start_ns, 20);
	assert_int_equal(gather.events[2].end_ns, 41);
	assert_int_equal(gather.events[2].label, 7);
	assert_int_equal(gather.events[2].stack, 3);
	assert_int_equal(gather.events[2].aux, 4 + 8 + 1);
	assert_int_equal(gather.events[2].call, GP_NONE);
	assert_int_equal(gather.events[3].start_ns, 50);
	/* again, and what stands together already is part of it as what it stands for */
	assert_int_equal(group(&gather, 100, 11), 4);
	assert_int_equal(gather.count, 2);
	assert_int_equal(gather.events[0].start_ns, 0);
	assert_int_equal(gather.events[0].end_ns, 63);
	assert_int_equal(gather.events[0].stack, 3 + 4);
	assert_int_equal(gather.events[0].aux, (4 + 8 + 1) + 4 + 9 + 1 + 3);
	gp_html_gather_free(&gather);
}

static void test_what_overlaps_becomes_one(void **state)
{
	struct gp_html_gather gather = {0};

	add(&gather, 1, 0, 20);
	add(&gather, 2, 1, 9);
	add(&gather, 2, 2, 3);
	add(&gather, 2, 8, 12);
	add(&gather, 2, 12, 14); /* begins as the one before ends */
	gp_html_gather_place(&gather, false, 1);
	assert_int_equal(group(&gather, 10, 0), 3);
	assert_rows_are_in_order(&gather);
	assert_int_equal(gather.count, 3);
	assert_int_equal(gather.events[1].row, 1);
	assert_int_equal(gather.events[1].start_ns, 1);
	assert_int_equal(gather.events[1].end_ns, 12);
	assert_int_equal(gather.events[1].stack, 3);
	assert_int_equal(gather.events[1].aux, 8 + 1 + 4);
	assert_int_equal(gather.events[2].start_ns, 12);
	gp_html_gather_free(&gather);
}

static void test_of_two_that_begin_together_the_longer_holds_the_other(void **state)
{
	struct gp_html_gather gather = {0};

	add(&gather, 1, 0, 5);
	add(&gather, 2, 0, 50);
	gp_html_gather_place(&gather, true, 64);
	assert_int_equal(row_of(&gather, 2), 0);
	assert_int_equal(row_of(&gather, 1), 1);
	gp_html_gather_free(&gather);
}

static void test_flat_tracks_use_the_first_free_row(void **state)
{
	struct gp_html_gather gather = {0};

	add(&gather, 1, 0, 10);
	add(&gather, 2, 5, 30);
	add(&gather, 3, 10, 20);
	gp_html_gather_place(&gather, false, 64);
	assert_int_equal(row_of(&gather, 3), 0);
	assert_int_equal(row_of(&gather, 2), 1);
	gp_html_gather_free(&gather);
}

static void test_what_finds_no_place_has_the_last_row(void **state)
{
	struct gp_html_gather gather = {0};

	for (uint32_t i = 0; i < 10; i++)
		add(&gather, i, i, 100 - i);
	gp_html_gather_place(&gather, true, 4);
	assert_int_equal(gather.rows, 5);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(row_of(&gather, i), i < 4 ? i : 4);
	gp_html_gather_free(&gather);
}

/*
 * Two of a level are at the same time as soon as one begins before the one before it ends: what
 * follows goes up again.
 */
static void test_rows_of_a_level_are_below_those_of_the_one_above(void **state)
{
	struct gp_html_gather gather = {0};

	for (uint32_t i = 0; i < 10; i++) {
		add(&gather, 10 + i, 10 * i, 10 * i + 12);
		add(&gather, 30 + i, 10 * i, 10 * i + 5);
		gather.events[gather.count - 1].row = 1;
	}
	assert_int_equal(gp_html_gather_place_levels(&gather, 64), 0);
	assert_int_equal(gather.rows, 3);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(row_of(&gather, 10 + i), i % 2);
		assert_int_equal(row_of(&gather, 30 + i), 2);
	}
	assert_rows_are_in_order(&gather);
	gp_html_gather_free(&gather);
}

static void test_of_too_many_levels_the_last_ones_have_the_last_row(void **state)
{
	struct gp_html_gather gather = {0};

	for (uint32_t i = 0; i < 10; i++) {
		add(&gather, i, 100 - i, 200);
		gather.events[i].row = i / 2;
	}
	assert_int_equal(gp_html_gather_place_levels(&gather, 4), 0);
	assert_int_equal(gather.rows, 5);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(row_of(&gather, i), i < 4 ? i ^ 1 : 4);
	for (uint32_t i = 5; i < 10; i++)
		assert_true(gather.events[i].start_ns >= gather.events[i - 1].start_ns);
	gp_html_gather_free(&gather);
}

static void test_rows_that_are_known_stay(void **state)
{
	struct gp_html_gather gather = {0};
	static const uint32_t rows[] = {2, 0, 1, 0, 9};

	for (uint32_t i = 0; i < 5; i++) {
		add(&gather, i, 10 * i, 10 * i + 5);
		gather.events[i].row = rows[i];
	}
	assert_int_equal(gp_html_gather_order(&gather, 4), 0);
	assert_int_equal(gather.rows, 5);
	assert_int_equal(row_of(&gather, 0), 2);
	assert_int_equal(row_of(&gather, 3), 0);
	assert_int_equal(row_of(&gather, 4), 4);
	assert_rows_are_in_order(&gather);
	gp_html_gather_free(&gather);
}

/* Random events of every kind of overlap. */
static void test_no_row_overlaps(void **state)
{
	uint32_t random = 1;

	for (int nesting = 0; nesting < 2; nesting++) {
		struct gp_html_gather gather = {0};

		for (uint32_t i = 0; i < 5000; i++) {
			random = random * 1664525u + 1013904223u;
			add(&gather, i, random >> 12 & 0xffff,
			    (random >> 12 & 0xffff) + (random & 0x3f));
		}
		gp_html_gather_place(&gather, nesting, 64);
		assert_rows_are_in_order(&gather);
		gp_html_gather_free(&gather);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_nests_lies_below),
		cmocka_unit_test(test_short_neighbors_become_one),
		cmocka_unit_test(test_what_overlaps_becomes_one),
		cmocka_unit_test(test_of_two_that_begin_together_the_longer_holds_the_other),
		cmocka_unit_test(test_flat_tracks_use_the_first_free_row),
		cmocka_unit_test(test_what_finds_no_place_has_the_last_row),
		cmocka_unit_test(test_rows_of_a_level_are_below_those_of_the_one_above),
		cmocka_unit_test(test_of_too_many_levels_the_last_ones_have_the_last_row),
		cmocka_unit_test(test_rows_that_are_known_stay),
		cmocka_unit_test(test_no_row_overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
