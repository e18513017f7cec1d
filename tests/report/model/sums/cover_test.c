#include "report/model/sums/cover.h"
#include "tests/unit.h"

static void add(struct gp_cover *cover, uint32_t device, uint64_t start_ns, uint64_t end_ns)
{
	assert_int_equal(gp_cover_add(cover, device, start_ns, end_ns), 0);
}

static uint64_t ns_of(struct gp_cover *cover, uint32_t device)
{
	uint64_t late_ns, ns;

	assert_int_equal(gp_cover_join(cover), 0);
	ns = gp_cover_ns(cover, device, &late_ns);
	assert_int_equal(late_ns, 0);
	return ns;
}

static void test_times_side_by_side(void **state)
{
	struct gp_cover cover = {0};

	add(&cover, 0, 500, 600);
	add(&cover, 0, 100, 200);
	add(&cover, 7, 100, 110);
	add(&cover, 0, 150, 250);
	add(&cover, 0, 160, 170);
	assert_int_equal(ns_of(&cover, 0), 250);
	assert_int_equal(ns_of(&cover, 7), 10);
	assert_int_equal(ns_of(&cover, 3), 0);
	gp_cover_free(&cover);
}

/* What comes later may lie before, between, and around what was there. */
static void test_any_order(void **state)
{
	struct gp_cover cover = {0};

	add(&cover, 0, 500, 600);
	add(&cover, 0, 100, 200);
	assert_int_equal(ns_of(&cover, 0), 200);
	add(&cover, 0, 300, 400);
	assert_int_equal(ns_of(&cover, 0), 300);
	add(&cover, 0, 200, 300);
	assert_int_equal(ns_of(&cover, 0), 400);
	add(&cover, 0, 50, 550);
	assert_int_equal(ns_of(&cover, 0), 550);
	add(&cover, 0, 0, 1000);
	assert_int_equal(ns_of(&cover, 0), 1000);
	assert_int_equal(cover.devices[0].count, 1);
	gp_cover_free(&cover);
}

/*
 * As of blocks of a trace: what each has is joined there, also what waits, and then with what there
 * is.
 */
static void test_what_another_has_is_taken(void **state)
{
	struct gp_cover cover = {0}, block = {0};

	assert_int_equal(gp_cover_take(&cover, &block), 0);
	for (uint64_t i = 100; i-- > 0;) /* the other way round: most of them wait */
		add(&block, 0, 1000 + 10 * i, 1000 + 10 * i + 5);
	add(&block, 7, 100, 110);
	assert_int_equal(gp_cover_take(&cover, &block), 0);
	assert_int_equal(ns_of(&block, 0), 0);
	assert_int_equal(block.kept, 0);
	add(&block, 0, 995, 1012);
	add(&block, 7, 300, 310);
	assert_int_equal(gp_cover_take(&cover, &block), 0);
	assert_int_equal(ns_of(&cover, 0), 20 + 98 * 5);
	assert_int_equal(ns_of(&cover, 7), 20);
	assert_int_equal(cover.kept, 1 + 98 + 2);
	gp_cover_free(&block);
	gp_cover_free(&cover);
}

/* Only so many are kept: of what reaches back beyond them, the part there is told apart. */
static void test_what_comes_too_late(void **state)
{
	struct gp_cover cover = {0};
	uint64_t late_ns, settled_until_ns;

	for (uint64_t i = 0; i <= GP_COVER_TIMES; i++)
		add(&cover, 0, 1000 + 10 * i, 1000 + 10 * i + 5);
	assert_int_equal(ns_of(&cover, 0), 5 * (GP_COVER_TIMES + UINT64_C(1)));
	assert_true(cover.kept <= GP_COVER_TIMES);
	settled_until_ns = cover.devices[0].settled_until_ns;
	assert_true(settled_until_ns > 1000);
	add(&cover, 0, 600, 800);
	add(&cover, 0, settled_until_ns - 100, settled_until_ns + 1);
	assert_int_equal(gp_cover_join(&cover), 0);
	assert_int_equal(gp_cover_ns(&cover, 0, &late_ns), 5 * (GP_COVER_TIMES + UINT64_C(1)) + 1);
	assert_int_equal(late_ns, 300);
	gp_cover_free(&cover);
}

/* The last first: what each join finds is all of the others. */
static void test_times_that_go_back(void **state)
{
	const uint64_t many = 2 * (uint64_t)GP_COVER_TIMES;
	struct gp_cover cover = {0};
	uint64_t late_ns, ns;

	for (uint64_t i = many; i-- > 0;)
		add(&cover, (uint32_t)(i % 2), 1000 + 10 * i, 1000 + 10 * i + 5);
	assert_int_equal(gp_cover_join(&cover), 0);
	for (uint32_t device = 0; device < 2; device++) {
		ns = gp_cover_ns(&cover, device, &late_ns);
		assert_int_equal(ns + late_ns, 5 * many / 2);
		assert_true(ns >= 5 * (uint64_t)GP_COVER_TIMES / 4);
		assert_int_equal(cover.devices[device].waiting_count, 0);
	}
	gp_cover_free(&cover);
}

/* What waits is within what is kept when half of that is summed up, and counts. */
static void test_what_waits_is_not_late(void **state)
{
	struct gp_cover cover = {0};

	for (uint64_t i = 1; i <= GP_COVER_TIMES / 2;
	     i++) { /* every other one comes after its neighbor */
		add(&cover, 0, 20 * i, 20 * i + 5);
		add(&cover, 0, 20 * i - 10, 20 * i - 5);
	}
	add(&cover, 0, 20 * GP_COVER_TIMES, 20 * GP_COVER_TIMES + 5);
	assert_int_equal(ns_of(&cover, 0), 5 * (GP_COVER_TIMES + UINT64_C(1)));
	assert_true(cover.kept <= GP_COVER_TIMES);
	gp_cover_free(&cover);
}

static uint64_t union_of(struct gp_cover *covers, uint32_t count, uint64_t *more_ns)
{
	const struct gp_cover_device *devices[4];
	uint64_t ns;

	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(gp_cover_join(&covers[i]), 0);
		devices[i] = &covers[i].devices[0];
	}
	assert_int_equal(gp_cover_union(devices, count, &ns, more_ns), 0);
	return ns;
}

static void free_covers(struct gp_cover *covers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		gp_cover_free(&covers[i]);
}

/* Of three processes on one device, the last one after the others: as if they were one. */
static void test_several_covers(void **state)
{
	struct gp_cover covers[3] = {0};
	uint64_t more_ns;

	add(&covers[1], 0, 100, 200);
	add(&covers[1], 0, 300, 400);
	add(&covers[2], 3, 150, 250);
	add(&covers[2], 3, 320, 330);
	add(&covers[0], 7, 1000, 1010);
	assert_int_equal(union_of(covers, 3, &more_ns), 150 + 100 + 10);
	assert_int_equal(more_ns, 0);
	assert_int_equal(union_of(covers, 0, &more_ns), 0);
	free_covers(covers, 3);
}

static void add_many(struct gp_cover *cover, uint64_t from_ns)
{
	for (uint64_t i = 0; i <= GP_COVER_TIMES; i++)
		add(cover, 0, from_ns + 10 * i, from_ns + 10 * i + 5);
}

/*
 * Where times are not kept any more: one after the other it is their sum; side by side it is known
 * in between.
 */
static void test_several_covers_of_many_times(void **state)
{
	const uint64_t each_ns = 5 * (GP_COVER_TIMES + UINT64_C(1));
	struct gp_cover covers[2] = {0};
	uint64_t ns, more_ns, settled_until_ns, settled_ns;

	add_many(&covers[0], 1000);
	settled_until_ns = covers[0].devices[0].settled_until_ns;
	settled_ns = covers[0].devices[0].settled_ns;
	add(&covers[1], 0, 20 * each_ns, 20 * each_ns + 7);
	assert_int_equal(union_of(covers, 2, &more_ns), each_ns + 7);
	assert_int_equal(more_ns, 0);
	gp_cover_free(&covers[1]);

	/* beside what is kept of the first: fills a gap; beside what is not: may do so */
	add(&covers[1], 0, settled_until_ns, settled_until_ns + 5);
	assert_int_equal(union_of(covers, 2, &more_ns), each_ns + 5);
	assert_int_equal(more_ns, 0);
	add(&covers[1], 0, 1005, 1010);
	assert_int_equal(union_of(covers, 2, &more_ns), each_ns + 5);
	assert_int_equal(more_ns, 5);
	gp_cover_free(&covers[1]);

	/* all gaps are filled, or none is: it cannot be more than all the time there was */
	add_many(&covers[1], 1005);
	ns = union_of(covers, 2, &more_ns);
	assert_true(ns < 2 * each_ns);
	assert_true(ns + more_ns >= 2 * each_ns);
	assert_true(ns + more_ns <= 2 * each_ns + 5);
	assert_true(more_ns >= settled_ns && more_ns <= settled_ns + 5);
	free_covers(covers, 2);
}

static void settle(struct gp_cover *cover, uint64_t until_ns, uint64_t ns, uint64_t late_ns)
{
	assert_int_equal(gp_cover_settle(cover, until_ns), 0);
	assert_int_equal(cover->devices[0].settled_ns, ns);
	assert_int_equal(cover->devices[0].late_ns, late_ns);
}

/* Times count where they lie, before and after what is settled. */
static void test_settled_times(void **state)
{
	struct gp_cover cover = {0};

	add(&cover, 0, 1900, 3500);
	add(&cover, 0, 2500, 2600);
	settle(&cover, 2000, 100, 0);
	settle(&cover, 1500, 100, 0);
	settle(&cover, 3000, 1100, 0);
	gp_cover_trim(&cover);
	assert_int_equal(cover.devices[0].capacity, 1);
	assert_int_equal(ns_of(&cover, 0), 1600);
	add(&cover, 0, 2900, 3600); /* 100 ns too late, and 100 ns more */
	settle(&cover, 4000, 1700, 100);
	settle(&cover, 5000, 1700, 100);
	gp_cover_trim(&cover);
	assert_null(cover.devices[0].times);
	add(&cover, 0, 6000, 6100);
	settle(&cover, 7000, 1800, 100);
	gp_cover_free(&cover);
}

/* Of a device that comes after others are settled, too. */
static void test_settled_before_a_device_comes(void **state)
{
	struct gp_cover cover = {0};

	assert_int_equal(gp_cover_settle(&cover, 3000), 0);
	add(&cover, 0, 1000, 3800);
	settle(&cover, 4000, 800, 2000);
	gp_cover_free(&cover);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_side_by_side),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_what_comes_too_late),
		cmocka_unit_test(test_what_another_has_is_taken),
		cmocka_unit_test(test_times_that_go_back),
		cmocka_unit_test(test_what_waits_is_not_late),
		cmocka_unit_test(test_settled_times),
		cmocka_unit_test(test_settled_before_a_device_comes),
		cmocka_unit_test(test_several_covers),
		cmocka_unit_test(test_several_covers_of_many_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
