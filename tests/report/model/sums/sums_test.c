/* sums: of each kind of record, and of more kinds than are told apart. */
#include <string.h>

#include "report/model/sums/sums.h"
#include "tests/unit.h"

#define ADD(sums, name, ...)                                                                       \
	assert_int_equal(                                                                          \
		gp_sums_##name(sums, &(const union gp_any_record){.name = {__VA_ARGS__}}), 0)

static void add_kernel(struct gp_sums *sums, uint32_t name_id)
{
	ADD(sums, kernel, .name_id = name_id, .start_ns = 100, .end_ns = 103);
}

/* The only one there is of a kind. */
static const struct gp_sum *find(const struct gp_sums *sums, enum gp_sum_kind kind)
{
	const struct gp_sum *found = NULL;

	for (uint32_t i = 0; i < sums->count; i++)
		if (sums->sums[i]->kind == kind) {
			assert_null(found);
			found = sums->sums[i];
		}
	assert_non_null(found);
	return found;
}

static void sets_graphs_and_ranges_add_up(void **state)
{
	struct gp_sums sums = {0};

	for (uint32_t i = 1; i <= 3; i++) {
		ADD(&sums, memset, .start_ns = 1000 * i, .end_ns = 1000 * i + 10 * i,
		    .bytes = 64 * i);
		ADD(&sums, graph, .graph_id = 5, .start_ns = 1000 * i, .end_ns = 1000 * i + 100);
	}
	ADD(&sums, memset, .bytes = 32); /* without times */
	for (uint8_t op = GP_RANGE_PUSH; op <= GP_RANGE_MARK; op++)
		ADD(&sums, range, .op = op);
	assert_int_equal(find(&sums, GP_SUM_MEMSET)->histogram.count, 3);
	assert_int_equal(find(&sums, GP_SUM_MEMSET)->histogram.total_ns, 60);
	assert_int_equal(find(&sums, GP_SUM_MEMSET)->untimed, 1);
	assert_int_equal(find(&sums, GP_SUM_MEMSET)->bytes, 64 + 128 + 192 + 32);
	assert_int_equal(find(&sums, GP_SUM_MEMSET)->timed_bytes, 64 + 128 + 192);
	assert_int_equal(find(&sums, GP_SUM_MEMSET)->least_bytes, 32);
	assert_int_equal(find(&sums, GP_SUM_MEMSET)->most_bytes, 192);
	assert_int_equal(find(&sums, GP_SUM_GRAPH)->histogram.total_ns, 300);
	assert_int_equal(find(&sums, GP_SUM_GRAPH)->bytes, 0);
	assert_int_equal(sums.ranges, 2); /* a push and a start */
	assert_int_equal(sums.marks, 1);
	gp_sums_free(&sums);
}

/*
 * A damaged trace may have any number of names: memory does not grow with them, and nothing is left
 * out.
 */
static void what_is_beyond_the_limit_is_one(void **state)
{
	const uint32_t more = 10;
	struct gp_sums sums = {0}, whole = {0};

	for (uint32_t i = 0; i < GP_SUM_LIMIT + more; i++)
		add_kernel(&sums, i);
	add_kernel(&sums, 7);
	assert_int_equal(sums.count, GP_SUM_LIMIT);
	assert_non_null(sums.others[GP_SUM_KERNEL]);
	assert_int_equal(sums.others[GP_SUM_KERNEL]->histogram.count, more);
	assert_int_equal(sums.others[GP_SUM_KERNEL]->histogram.total_ns, 3 * more);
	assert_int_equal(sums.sums[7]->histogram.count, 2);
	add_kernel(&whole, GP_SUM_LIMIT + 1); /* told apart there */
	assert_int_equal(gp_sums_join(&whole, &sums), 0);
	assert_int_equal(whole.count, GP_SUM_LIMIT);
	assert_int_equal(whole.others[GP_SUM_KERNEL]->histogram.count, more + 1);
	assert_int_equal(whole.own_kernels, GP_SUM_LIMIT + more + 2);
	gp_sums_free(&sums);
	gp_sums_free(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_graphs_and_ranges_add_up),
		cmocka_unit_test(what_is_beyond_the_limit_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
