#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/stream/live_ranges.h"
#include "tests/unit.h"

static struct gp_live_ranges *begin(void)
{
	struct gp_live_ranges *ranges = calloc(1, sizeof(*ranges));

	assert_non_null(ranges);
	return ranges;
}

static void end(struct gp_live_ranges *ranges)
{
	gp_live_ranges_free(ranges);
	free(ranges);
}

static void take(struct gp_live_ranges *ranges, uint8_t op, uint32_t thread, uint32_t domain,
		 uint32_t text, uint64_t range)
{
	const struct gp_record_range record = {
		.op = op, .domain_id = domain, .text_id = text, .range_id = range};

	gp_live_ranges_take(ranges, &record, thread);
}

static void define(struct gp_live_ranges *ranges, uint32_t id, const char *text)
{
	assert_int_equal(gp_live_ranges_define(ranges, id, text, (uint32_t)strlen(text)), 0);
}

/* The messages of those that are open, as "step forward ". */
static void assert_open(struct gp_live_ranges *ranges, const char *expected)
{
	char texts[256] = "";

	for (uint32_t i = 0; i < ranges->open_count; i++) {
		strcat(texts, gp_live_ranges_text(ranges, &ranges->open[i]));
		strcat(texts, " ");
	}
	assert_string_equal(texts, expected);
}

static void test_ranges_of_threads_and_domains(void **state)
{
	struct gp_live_ranges *ranges = begin();

	define(ranges, 1, "step");
	define(ranges, 2, "forward");
	define(ranges, 3, "other");
	take(ranges, GP_RANGE_PUSH, 100, 0, 1, 0);
	take(ranges, GP_RANGE_PUSH, 100, 0, 2, 0);
	take(ranges, GP_RANGE_PUSH, 200, 0, 3, 0);
	take(ranges, GP_RANGE_PUSH, 100, 5, 3, 0);
	take(ranges, GP_RANGE_MARK, 100, 0, 3, 0);
	assert_open(ranges, "step forward other other ");
	take(ranges, GP_RANGE_POP, 100, 0, 0, 0);
	assert_open(ranges, "step other other ");
	take(ranges, GP_RANGE_POP, 300, 0, 0, 0);
	take(ranges, GP_RANGE_POP, 200, 0, 0, 0);
	take(ranges, GP_RANGE_POP, 100, 0, 0, 0);
	assert_int_equal(ranges->open_count, 1);
	assert_int_equal(ranges->open[0].domain_id, 5);
	end(ranges);
}

/* Any thread may close what another one has started; pushes and pops leave it alone. */
static void test_ranges_that_are_started_and_ended(void **state)
{
	struct gp_live_ranges *ranges = begin();

	define(ranges, 1, "copy");
	take(ranges, GP_RANGE_START, 100, 0, 1, 77);
	take(ranges, GP_RANGE_START, 100, 0, 1, 78);
	take(ranges, GP_RANGE_POP, 100, 0, 0, 0);
	take(ranges, GP_RANGE_END, 200, 0, 0, 77);
	take(ranges, GP_RANGE_END, 200, 0, 0, 79);
	assert_int_equal(ranges->open_count, 1);
	assert_int_equal(ranges->open[0].range_id, 78);
	end(ranges);
}

/* Records of two threads come in any order. */
static void test_an_end_that_comes_before_its_start(void **state)
{
	struct gp_live_ranges *ranges = begin();

	take(ranges, GP_RANGE_END, 200, 0, 0, 77);
	take(ranges, GP_RANGE_START, 100, 0, 1, 77);
	take(ranges, GP_RANGE_START, 100, 0, 1, 78);
	assert_int_equal(ranges->open_count, 1);
	assert_int_equal(ranges->open[0].range_id, 78);
	end(ranges);
}

static void test_more_texts_than_are_kept(void **state)
{
	struct gp_live_ranges *ranges = begin();

	define(ranges, 7, "old");
	take(ranges, GP_RANGE_PUSH, 100, 0, 7, 0);
	for (uint32_t i = 8; i < 100000; i++)
		define(ranges, i, "new");
	assert_open(ranges, " ");
	take(ranges, GP_RANGE_POP, 100, 0, 0, 0);
	take(ranges, GP_RANGE_PUSH, 100, 0, 99999, 0);
	assert_open(ranges, "new ");
	end(ranges);
}

/* The last ones are kept. */
static void test_ranges_that_are_never_closed(void **state)
{
	struct gp_live_ranges *ranges = begin();

	for (uint64_t i = 0; i < 3 * GP_LIVE_OPEN_RANGES; i++)
		take(ranges, GP_RANGE_START, 100, 0, 1, i);
	assert_true(ranges->open_count <= GP_LIVE_OPEN_RANGES);
	assert_true(ranges->open_count >= GP_LIVE_OPEN_RANGES / 2);
	assert_int_equal(ranges->open[ranges->open_count - 1].range_id,
			 3 * GP_LIVE_OPEN_RANGES - 1);
	end(ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_of_threads_and_domains),
		cmocka_unit_test(test_ranges_that_are_started_and_ended),
		cmocka_unit_test(test_an_end_that_comes_before_its_start),
		cmocka_unit_test(test_more_texts_than_are_kept),
		cmocka_unit_test(test_ranges_that_are_never_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
