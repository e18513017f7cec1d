/*
 * The chunks of a circle: those that are gone do not count, copies of their definitions do, a gap
 * is noticed.
 */

#include "tests/unit.h"

#include <string.h>

#include "report/trace/chunk_order.h"

static struct gp_chunk_order order;

static int begin(void **unused)
{
	(void)unused;
	memset(&order, 0, sizeof(order));
	return 0;
}

static int end(void **unused)
{
	(void)unused;
	gp_chunk_order_free(&order);
	return 0;
}

static void add(uint64_t sequence, uint32_t ring, enum gp_chunk_form form, uint64_t position)
{
	struct gp_chunk_header header = {
		.sequence = sequence, .ring = ring, .form = form, .position = position};

	assert_int_equal(gp_chunk_order_add(&order, &header, 8 + sequence), 0);
}

static void of_ring(uint64_t sequence)
{
	add(sequence, 1, GP_CHUNK_PACKED, 1000 * sequence);
}

static void check(const uint64_t *sequences, uint32_t count, uint64_t missing)
{
	assert_int_equal(gp_chunk_order_settle(&order), 0);
	assert_int_equal(order.count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(order.places[i].header.sequence, sequences[i]);
		assert_int_equal(order.places[i].offset, 8 + sequences[i]);
	}
	assert_int_equal(order.missing, missing);
}

#define CHECK_ORDER(missing, ...)                                                                  \
	check((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8, missing)

static void chunks_come_in_their_order(void **unused)
{
	(void)unused;
	of_ring(2);
	of_ring(3);
	add(0, 0, GP_CHUNK_PACKED, 0);
	of_ring(1);
	CHECK_ORDER(0, 0, 1, 2, 3);
}

/*
 * The floor is where a chunk of ring 0 says; that of a ring means something else by its position.
 */
static void what_is_below_the_floor_is_gone(void **unused)
{
	(void)unused;
	add(9, 0, GP_CHUNK_PACKED, 6);
	of_ring(10);
	of_ring(4); /* still stands where it was */
	of_ring(5);
	add(6, 0, GP_CHUNK_PACKED, 3);
	of_ring(7);
	of_ring(8);
	CHECK_ORDER(0, 6, 7, 8, 9, 10);
}

static void copies_count_where_their_originals_are_gone(void **unused)
{
	(void)unused;
	add(5, 0, GP_CHUNK_KEPT, 0);
	add(8, 0, GP_CHUNK_KEPT, 6);
	add(7, 0, GP_CHUNK_PACKED, 6);
	of_ring(6);
	add(9, 0, GP_CHUNK_KEPT, 2);
	CHECK_ORDER(0, 5, 6, 7, 9);
}

static void a_gap_is_missing_chunks(void **unused)
{
	(void)unused;
	add(10, 0, GP_CHUNK_PACKED, 6);
	of_ring(8);
	of_ring(11);
	CHECK_ORDER(3, 8, 10, 11);
}

static void a_saved_chunk_says_nothing_of_the_floor(void **unused)
{
	(void)unused;
	of_ring(0);
	add(1, 2, GP_CHUNK_SLOTS, 700);
	add(2, 0, GP_CHUNK_SLOTS, 700);
	CHECK_ORDER(0, 0, 1, 2);
}

/* A later look, when the process has written on: only what is new, and the floor has moved. */
static void what_was_given_out_does_not_come_again(void **unused)
{
	(void)unused;
	of_ring(0);
	of_ring(1);
	of_ring(2);
	CHECK_ORDER(0, 0, 1, 2);
	gp_chunk_order_begin(&order);
	add(5, 0, GP_CHUNK_PACKED, 2);
	add(6, 0, GP_CHUNK_KEPT, 0);
	of_ring(2);
	of_ring(3);
	of_ring(4);
	CHECK_ORDER(0, 3, 4, 5);
	gp_chunk_order_begin(&order);
	of_ring(8);
	CHECK_ORDER(2, 8);
}

static void the_same_twice_is_survived(void **unused)
{
	(void)unused;
	of_ring(1);
	of_ring(1);
	of_ring(UINT64_MAX);
	assert_int_equal(gp_chunk_order_settle(&order), 0);
	assert_true(order.missing > 0);
}

/* Only what stands where it stood, as it was. */
static void what_was_there_before_is_known(void **unused)
{
	(void)unused;
	of_ring(5);
	of_ring(9);
	add(10, 0, GP_CHUNK_PACKED, 9);
	assert_int_equal(gp_chunk_order_settle(&order), 0);
	gp_chunk_order_begin(&order);
	assert_null(gp_chunk_order_known(&order, 8));
	assert_int_equal(gp_chunk_order_known(&order, 8 + 5)->sequence, 5);
	assert_null(gp_chunk_order_known(&order, 8 + 6));
	assert_int_equal(gp_chunk_order_known(&order, 8 + 10)->sequence, 10);
	assert_null(gp_chunk_order_known(&order, 8 + 11));
}

static void an_empty_list_stays_empty(void **unused)
{
	(void)unused;
	assert_int_equal(gp_chunk_order_settle(&order), 0);
	assert_int_equal(order.count + order.missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chunks_come_in_their_order, begin, end),
		cmocka_unit_test_setup_teardown(what_is_below_the_floor_is_gone, begin, end),
		cmocka_unit_test_setup_teardown(copies_count_where_their_originals_are_gone, begin,
						end),
		cmocka_unit_test_setup_teardown(a_gap_is_missing_chunks, begin, end),
		cmocka_unit_test_setup_teardown(a_saved_chunk_says_nothing_of_the_floor, begin,
						end),
		cmocka_unit_test_setup_teardown(what_was_given_out_does_not_come_again, begin, end),
		cmocka_unit_test_setup_teardown(the_same_twice_is_survived, begin, end),
		cmocka_unit_test_setup_teardown(what_was_there_before_is_known, begin, end),
		cmocka_unit_test_setup_teardown(an_empty_list_stays_empty, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
