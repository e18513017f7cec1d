/* intern: ids for byte strings. */

#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "collector/intern.h"

static void equal_keys_have_one_id(void **state)
{
	struct gp_intern table = {.last_id = 0};
	char copy[] = "kernel";
	bool is_new;

	assert_int_equal(gp_intern(&table, "kernel", 6, &is_new), 1);
	assert_true(is_new);
	assert_int_equal(gp_intern(&table, copy, 6, &is_new), 1);
	assert_false(is_new);
	/* a prefix is another key, and so is the empty one */
	assert_int_equal(gp_intern(&table, "kernel", 5, &is_new), 2);
	assert_int_equal(gp_intern(&table, "", 0, &is_new), 3);
	assert_true(is_new);
	assert_int_equal(gp_intern(&table, "", 0, &is_new), 3);
	assert_false(is_new);
}

static void a_removed_key_is_new(void **state)
{
	struct gp_intern table = {.last_id = 0};
	bool is_new;

	gp_intern(&table, "one", 3, &is_new);
	for (uint32_t i = 2; i < 10000; i++) {
		assert_int_equal(gp_intern(&table, "another", 7, &is_new), i);
		assert_true(is_new);
		gp_intern_remove_last(&table, "another", 7);
	}
	assert_int_equal(table.entry_count, 1);
	assert_int_equal(table.kept_bytes, 3);
	assert_int_equal(gp_intern(&table, "one", 3, &is_new), 1);
	assert_false(is_new);
}

/* Keys are copied: the caller may change its buffer. */
static void keys_are_copied(void **state)
{
	struct gp_intern table = {.last_id = 0};
	char key[] = "aaaa";
	bool is_new;

	assert_int_equal(gp_intern(&table, key, 4, &is_new), 1);
	key[0] = 'b';
	assert_int_equal(gp_intern(&table, key, 4, &is_new), 2);
	assert_int_equal(gp_intern(&table, "aaaa", 4, &is_new), 1);
}

static void ids_survive_growth(void **state)
{
	struct gp_intern table = {.last_id = 0};
	bool is_new;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 1; i <= 100000; i++) {
			char key[32];
			int length = snprintf(key, sizeof(key), "kernel_%u_of_many", i);

			assert_int_equal(gp_intern(&table, key, (uint32_t)length, &is_new), i);
			assert_int_equal(is_new, pass == 0);
		}
}

/* Longer than a block of the table's memory. */
static void long_keys(void **state)
{
	static char key[600000];
	struct gp_intern table = {.last_id = 0};
	bool is_new;

	memset(key, 'x', sizeof(key));
	assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), 1);
	key[sizeof(key) - 1] = 'y';
	assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), 2);
	key[sizeof(key) - 1] = 'x';
	assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), 1);
}

/*
 * For an endless stream of new keys: one more key gets an id that no other key had, and is found.
 */
static void memory_is_bounded(void **state)
{
	static uint32_t key[1024];
	const uint32_t keys = 3 * (GP_INTERN_MOST_BYTES / sizeof(key)) + 5;
	struct gp_intern table = {.last_id = 0};
	bool is_new;

	for (key[0] = 1; key[0] <= keys; key[0]++) {
		assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), key[0]);
		assert_true(is_new);
		assert_true(table.kept_bytes <= GP_INTERN_MOST_BYTES + sizeof(key));
	}
	key[0] = keys;
	assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), keys);
	assert_false(is_new);
	key[0] = 1; /* forgotten */
	assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), keys + 1);
	assert_true(is_new);
}

/* A full table keeps its known keys.  Only a new key makes it forget them. */
static void a_full_table_knows_its_keys(void **state)
{
	static uint32_t key[1024];
	const uint32_t keys = GP_INTERN_MOST_BYTES / sizeof(key);
	struct gp_intern table = {.last_id = 0};
	bool is_new;

	for (key[0] = 1; key[0] <= keys; key[0]++)
		gp_intern(&table, key, sizeof(key), &is_new);
	assert_int_equal(table.kept_bytes, GP_INTERN_MOST_BYTES);
	for (key[0] = 1; key[0] <= keys; key[0]++) {
		assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), key[0]);
		assert_false(is_new);
	}
	assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), keys + 1);
	assert_int_equal(table.entry_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_have_one_id),
		cmocka_unit_test(keys_are_copied),
		cmocka_unit_test(a_removed_key_is_new),
		cmocka_unit_test(ids_survive_growth),
		cmocka_unit_test(long_keys),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_full_table_knows_its_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
