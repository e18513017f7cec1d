#include "tests/unit.h"

#include <stdlib.h>

#include "report/base/lanes.h"

struct slice {
	uint64_t start, end;
	uint32_t lane;
};

static uint32_t place(struct gp_lanes *lanes, uint64_t start, uint64_t end)
{
	uint32_t lane = UINT32_MAX;

	assert_int_equal(gp_lanes_place(lanes, start, end, &lane), 0);
	return lane;
}

static void touching_slices_share_a_lane(void **state)
{
	struct gp_lanes lanes = {0};

	assert_int_equal(gp_lanes_begin(&lanes, false), 0);
	assert_int_equal(place(&lanes, 0, 10), 0);
	assert_int_equal(place(&lanes, 10, 20), 0);
	assert_int_equal(place(&lanes, 15, 30), 1);
	assert_int_equal(place(&lanes, 20, 22), 0);
	assert_int_equal(lanes.count, 2);
	gp_lanes_free(&lanes);
}

static void what_a_stream_did_is_never_nested(void **state)
{
	struct gp_lanes lanes = {0};

	assert_int_equal(gp_lanes_begin(&lanes, false), 0);
	assert_int_equal(place(&lanes, 0, 100), 0);
	assert_int_equal(place(&lanes, 10, 20), 1);
	assert_int_equal(place(&lanes, 20, 20), 1);
	assert_int_equal(place(&lanes, 20, 30), 2);
	gp_lanes_free(&lanes);
}

static void calls_nest_but_do_not_cross(void **state)
{
	struct gp_lanes lanes = {0};

	assert_int_equal(gp_lanes_begin(&lanes, true), 0);
	assert_int_equal(place(&lanes, 0, 100), 0);
	assert_int_equal(place(&lanes, 10, 50), 0);
	assert_int_equal(place(&lanes, 20, 60), 1);
	assert_int_equal(place(&lanes, 50, 100), 0);
	assert_int_equal(place(&lanes, 50, 55), 1);
	gp_lanes_free(&lanes);
}

/* Deeper nesting than viewers show goes to further lanes, and nothing breaks. */
static void very_deep_nesting_spills(void **state)
{
	struct gp_lanes lanes = {0};

	assert_int_equal(gp_lanes_begin(&lanes, true), 0);
	for (uint64_t i = 0; i < 20 * GP_NESTING_DEPTH; i++) {
		uint32_t lane = place(&lanes, i, 100000 - i);

		if (i < GP_NESTING_LANES * GP_NESTING_DEPTH)
			assert_int_equal(lane, i / GP_NESTING_DEPTH);
		else
			assert_true(lane >= GP_NESTING_LANES);
	}
	gp_lanes_free(&lanes);
}

static bool cross(const struct slice *a, const struct slice *b)
{
	return a->start < b->start && b->start < a->end && a->end < b->end;
}

static void check_pair(const struct slice *a, const struct slice *b, bool nesting)
{
	if (a->lane != b->lane)
		return;
	assert_true(a->start != b->start);
	if (nesting)
		assert_false(cross(a, b));
	else
		assert_true(b->start >= a->end);
}

/* Few or many overlaps, zero lengths, equal starts: the promise holds for every pair of slices. */
static void check_random(bool nesting, int spread, int length)
{
	struct gp_lanes lanes = {0};
	struct slice slices[200];
	uint64_t now = 0;

	assert_int_equal(gp_lanes_begin(&lanes, nesting), 0);
	for (size_t i = 0; i < 200; i++) {
		now += (uint64_t)(rand() % spread);
		slices[i] = (struct slice){.start = now, .end = now + (uint64_t)(rand() % length)};
		slices[i].lane = place(&lanes, slices[i].start, slices[i].end);
		assert_true(slices[i].lane < lanes.count);
		for (size_t k = 0; k < i; k++)
			check_pair(&slices[k], &slices[i], nesting);
	}
	gp_lanes_free(&lanes);
}

static void no_lane_ever_holds_slices_that_cross(void **state)
{
	srand(4);
	for (int round = 0; round < 300; round++)
		check_random(round % 2, 1 + rand() % 5, 1 + rand() % 40);
}

/* As many lanes as slices: the time must not grow with the square. */
static void a_hundred_thousand_lanes_are_no_trouble(void **state)
{
	struct gp_lanes lanes = {0};

	assert_int_equal(gp_lanes_begin(&lanes, true), 0);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(place(&lanes, i, 200000 + i), i);
	assert_int_equal(place(&lanes, 200010, 200011), 0);
	gp_lanes_free(&lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(touching_slices_share_a_lane),
		cmocka_unit_test(what_a_stream_did_is_never_nested),
		cmocka_unit_test(calls_nest_but_do_not_cross),
		cmocka_unit_test(very_deep_nesting_spills),
		cmocka_unit_test(no_lane_ever_holds_slices_that_cross),
		cmocka_unit_test(a_hundred_thousand_lanes_are_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
