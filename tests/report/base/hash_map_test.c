/* hash_map: every element is found by its key, no other one is, however many there are. */
#include "tests/unit.h"

#include <string.h>

#include "report/base/hash_map.h"

#define KEYS 10000u

static uint64_t keys[KEYS];

static bool has_key(const void *elements, uint32_t number, const void *key)
{
	return ((const uint64_t *)elements)[number] == *(const uint64_t *)key;
}

static uint32_t find(const struct gp_hash_map *map, uint64_t key, uint32_t hash)
{
	return gp_hash_find(map, hash, has_key, keys, &key);
}

static void an_empty_map_has_nothing(void **state)
{
	struct gp_hash_map map = {0};

	assert_int_equal(find(&map, 1, 1), GP_HASH_NONE);
	gp_hash_free(&map);
}

/* Every other key is added; hashes of all are good, or the same for sixteen keys each. */
static void keys_are_found_by(uint32_t (*hash_of)(uint64_t key))
{
	struct gp_hash_map map = {0};

	for (uint32_t i = 0; i < KEYS; i++)
		keys[i] = i * UINT64_C(4096);
	for (uint32_t i = 0; i < KEYS; i += 2)
		assert_int_equal(gp_hash_add(&map, hash_of(keys[i]), i), 0);
	assert_int_equal(map.count, KEYS / 2);
	assert_true(map.slot_count >= 2 * map.count);
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(find(&map, keys[i], hash_of(keys[i])),
				 i % 2 == 0 ? i : GP_HASH_NONE);
	gp_hash_free(&map);
	assert_null(map.slots);
	assert_int_equal(map.count, 0);
}

static uint32_t good_hash(uint64_t key)
{
	return gp_hash_bytes(&key, sizeof(key));
}

static uint32_t poor_hash(uint64_t key)
{
	return (uint32_t)(key / 4096 / 16);
}

static void keys_are_found(void **state)
{
	keys_are_found_by(good_hash);
	keys_are_found_by(poor_hash);
}

static void hashes_tell_bytes_apart(void **state)
{
	char bytes[40];

	memset(bytes, 'a', sizeof(bytes));
	for (size_t length = 0; length < sizeof(bytes); length++) {
		uint32_t hash = gp_hash_bytes(bytes, length);

		assert_int_equal(hash, gp_hash_bytes(bytes, length));
		assert_int_not_equal(hash, gp_hash_bytes(bytes, length + 1));
		for (size_t i = 0; i < length; i++) {
			bytes[i] = 'b';
			assert_int_not_equal(hash, gp_hash_bytes(bytes, length));
			bytes[i] = 'a';
		}
	}
	assert_int_equal(gp_hash_text("text"), gp_hash_bytes("text", 4));
}

/* Keys that differ in few bits leave no long runs of used slots. */
static void hashes_are_spread(void **state)
{
	struct gp_hash_map map = {0};
	uint32_t longest = 0, run = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(gp_hash_add(&map, good_hash((uint64_t)i << 20), i), 0);
	for (uint32_t i = 0; i < map.slot_count; i++) {
		run = map.slots[i].number != 0 ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	assert_true(longest < 200);
	gp_hash_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(keys_are_found),
		cmocka_unit_test(hashes_tell_bytes_apart),
		cmocka_unit_test(hashes_are_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
