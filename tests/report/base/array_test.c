#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/memory.h"
#include "report/base/spill_memory.h"
#include "tests/unit.h"

struct item {
	uint32_t key;
	uint32_t serial;
	char text[5]; /* an odd size */
};

static int compare_keys(const void *a, const void *b, const void *context)
{
	const struct item *left = a, *right = b;

	assert_ptr_equal(context, "context");
	return (left->key > right->key) - (left->key < right->key);
}

static void fill(struct item *items, uint32_t count, uint32_t keys)
{
	uint32_t seed = 3;

	for (uint32_t i = 0; i < count; i++) {
		seed = seed * 1664525u + 1013904223u;
		items[i] = (struct item){(seed >> 8) % keys, i, "abcd"};
	}
}

static void test_growth(void **state)
{
	uint32_t *numbers = NULL, capacity = 0, moves = 0, last = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(gp_array_grow(&numbers, &capacity, i, sizeof(*numbers)), 0);
		assert_true(capacity > i);
		moves += capacity != last;
		last = capacity;
		numbers[i] = i;
	}
	assert_true(moves < 30);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(numbers[i], i);
	free(numbers);
}

static void test_growth_ends_at_32_bits(void **state)
{
	uint32_t capacity = UINT32_MAX - 5;
	void *array = NULL;

	gp_memory_begin_attempt();
	assert_int_equal(gp_array_grow(&array, &capacity, UINT32_MAX - 5, 1), -EOVERFLOW);
	assert_false(gp_memory_end_attempt());
	assert_null(array);
}

static void assert_stably_sorted(const struct item *items, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].serial < items[i].serial);
	}
}

static void test_sorting_is_stable(void **state)
{
	static const uint32_t key_counts[] = {1, 2, 50, 100000};
	struct item *items = malloc(2000 * sizeof(*items));

	assert_non_null(items);
	for (uint32_t count = 0; count < 2000; count = count * 2 + 1) {
		for (size_t k = 0; k < 4; k++) {
			uint64_t serials = 0;

			fill(items, count, key_counts[k]);
			assert_int_equal(gp_array_sort(items, count, sizeof(*items), compare_keys,
						       "context"),
					 0);
			assert_stably_sorted(items, count);
			for (uint32_t i = 0; i < count; i++) {
				assert_string_equal(items[i].text, "abcd");
				serials += items[i].serial;
			}
			assert_int_equal(serials,
					 (uint64_t)count * (count > 0 ? count - 1 : 0) / 2);
		}
	}
	free(items);
}

static int count_and_compare(const void *a, const void *b, const void *context)
{
	++*(uint32_t *)(uintptr_t)context;
	return compare_keys(a, b, "context");
}

/*
 * As chunks of four threads by turns have it: far fewer comparisons than sorting takes, 15 an
 * element.
 */
static void test_what_is_ordered_in_parts_is_merged(void **state)
{
	enum { COUNT = 40000, THREADS = 4, CHUNK = 1000 };
	struct item *items = malloc(COUNT * sizeof(*items));
	uint32_t compared = 0;

	assert_non_null(items);
	for (uint32_t i = 0; i < COUNT; i++)
		items[i] = (struct item){i / CHUNK % THREADS, i, "abcd"};
	assert_int_equal(gp_array_sort(items, COUNT, sizeof(*items), count_and_compare, &compared),
			 0);
	assert_stably_sorted(items, COUNT);
	assert_true(compared < 6 * COUNT);
	free(items);
}

/*
 * As a buffer has what several streams did, one operation of each by turns: two or three
 * comparisons an element, and so few again to merge two.
 */
static void test_what_is_ordered_by_turns_is_dealt_out(void **state)
{
	enum { COUNT = 40000, STREAMS = 4 };
	struct item *items = malloc(COUNT * sizeof(*items));
	uint32_t compared = 0;

	assert_non_null(items);
	for (uint32_t i = 0; i < COUNT; i++)
		items[i] = (struct item){i * 7 % STREAMS * COUNT + i / 8, i, "abcd"};
	assert_int_equal(gp_array_sort(items, COUNT, sizeof(*items), count_and_compare, &compared),
			 0);
	assert_stably_sorted(items, COUNT);
	assert_true(compared < 7 * COUNT);
	free(items);
}

static void test_order_leaves_the_array_alone(void **state)
{
	struct item items[] = {{3, 0, ""}, {1, 1, ""}, {3, 2, ""}, {2, 3, ""}};
	const uint32_t expected[] = {1, 3, 0, 2};
	uint32_t *order = gp_array_order(items, 4, sizeof(items[0]), compare_keys, "context");

	assert_non_null(order);
	assert_memory_equal(order, expected, sizeof(expected));
	assert_int_equal(items[0].serial, 0);
	gp_spill_free(order);
}

static bool is_below(const void *element, const void *key)
{
	return ((const struct item *)element)->key < *(const uint32_t *)key;
}

static bool is_until(const void *element, const void *key)
{
	return ((const struct item *)element)->key <= *(const uint32_t *)key;
}

/* Against counting, for every length and every key, with keys that occur several times. */
static void test_lower_bound(void **state)
{
	struct item items[9];

	for (uint32_t count = 0; count <= 9; count++) {
		for (uint32_t i = 0; i < count; i++)
			items[i] = (struct item){i / 2 * 2, i, ""};
		for (uint32_t key = 0; key < 12; key++) {
			uint32_t below = 0, until = 0;

			for (uint32_t i = 0; i < count; i++) {
				below += items[i].key < key;
				until += items[i].key <= key;
			}
			assert_int_equal(gp_array_lower_bound(items, count, sizeof(items[0]),
							      is_below, &key),
					 below);
			assert_int_equal(gp_array_lower_bound(items, count, sizeof(items[0]),
							      is_until, &key),
					 until);
			for (uint32_t last = 0; last <= count; last++) {
				uint32_t near = last;

				assert_int_equal(gp_array_lower_bound_near(items, count,
									   sizeof(items[0]),
									   is_below, &key, &near),
						 below);
				assert_int_equal(near, below);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_growth_ends_at_32_bits),
		cmocka_unit_test(test_sorting_is_stable),
		cmocka_unit_test(test_what_is_ordered_in_parts_is_merged),
		cmocka_unit_test(test_what_is_ordered_by_turns_is_dealt_out),
		cmocka_unit_test(test_order_leaves_the_array_alone),
		cmocka_unit_test(test_lower_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
