/* Names of functions that go into a trace and come out of it again. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/symbols/frame_names.h"
#include "tests/unit.h"

static const struct gp_elf_place inlined[] = {{"_Z5innerv", "/src/a.h", 7},
					      {"_Z5outerv", "/src/a.cu", 70}};
static const struct gp_elf_place no_file = {.function = "jit \t\n\"code"};

static struct gp_frame_names *round_trip(const struct gp_frame_names *names)
{
	struct gp_packed_names packed;
	struct gp_frame_names *again;

	assert_int_equal(gp_frame_names_pack(names, &packed), 0);
	again = gp_frame_names_unpack(&packed);
	free(packed.bytes);
	assert_non_null(again);
	return again;
}

static void what_is_packed_is_found_again(void **unused)
{
	struct gp_frame_names *names = gp_frame_names_new(), *again;
	const struct gp_elf_place *places;

	(void)unused;
	assert_int_equal(gp_frame_names_add(names, 9, 0x7f0000001234, inlined, 2), 0);
	assert_int_equal(gp_frame_names_add(names, 2, 0x7f0000001234, &no_file, 1), 0);
	assert_int_equal(gp_frame_names_add(names, 0, UINT64_MAX, &no_file, 1), 0);
	again = round_trip(names);
	assert_int_equal(gp_frame_names_count(again), 3);
	assert_int_equal(gp_frame_names_find(again, 9, 0x7f0000001234, &places), 2);
	assert_string_equal(places[0].function, "_Z5innerv");
	assert_string_equal(places[0].file, "/src/a.h");
	assert_int_equal(places[0].line, 7);
	assert_string_equal(places[1].function, "_Z5outerv");
	assert_int_equal(places[1].line, 70);
	assert_int_equal(gp_frame_names_find(again, 0, UINT64_MAX, &places), 1);
	assert_string_equal(places[0].function, no_file.function);
	assert_null(places[0].file);
	assert_int_equal(gp_frame_names_find(again, 9, 0x1234, &places), 0);
	assert_int_equal(gp_frame_names_find(again, 3, 0x7f0000001234, &places), 0);
	assert_int_equal(gp_frame_names_find(NULL, 3, 1, &places), 0);
	gp_frame_names_free(again);
	gp_frame_names_free(names);
}

static struct gp_frame_names *unpack(const void *text, size_t length, uint64_t claimed)
{
	uint8_t bytes[4096];
	uLongf packed_length = sizeof(bytes);
	struct gp_packed_names packed = {bytes, 0, claimed};

	assert_int_equal(compress(bytes, &packed_length, text, length), Z_OK);
	packed.length = packed_length;
	return gp_frame_names_unpack(&packed);
}

static void assert_refused(const void *text, size_t length, uint64_t claimed)
{
	assert_null(unpack(text, length, claimed));
}

static void damage_is_no_name(void **unused)
{
	static const char row[] = "1 2a 3\0f\0a.c";
	static const char rest[] = "1 2a 3\0f";
	static const char no_numbers[] = "1 2a x\0f\0a.c";
	uint8_t noise[64] = {0x78, 0x9c, 1, 2, 3};
	struct gp_frame_names *names = unpack(row, sizeof(row), sizeof(row));

	(void)unused;
	assert_non_null(names);
	gp_frame_names_free(names);
	assert_refused(row, sizeof(row), sizeof(row) + 1);
	assert_refused(row, sizeof(row), sizeof(row) - 1);
	assert_refused(row, sizeof(row), 0);
	assert_refused(row, sizeof(row), UINT64_MAX);
	assert_refused(row, sizeof(row) - 1, sizeof(row) - 1); /* no NUL at its end */
	assert_refused(rest, sizeof(rest), sizeof(rest));
	assert_refused(no_numbers, sizeof(no_numbers), sizeof(no_numbers));
	assert_null(gp_frame_names_unpack(&(struct gp_packed_names){noise, sizeof(noise), 100}));
}

/* More than can be inlined into each other: the rest is left out, and what follows is read. */
static void too_many_places_of_one_address_are_left_out(void **unused)
{
	struct gp_frame_names *names = gp_frame_names_new(), *again;
	const struct gp_elf_place *places;
	const struct gp_elf_place many[GP_ELF_PLACES + 5] = {{"first", "f", 1}};

	(void)unused;
	assert_int_equal(gp_frame_names_add(names, 1, 5, many, GP_ELF_PLACES + 5), 0);
	assert_int_equal(gp_frame_names_add(names, 1, 6, inlined, 2), 0);
	again = round_trip(names);
	assert_int_equal(gp_frame_names_find(again, 1, 5, &places), GP_ELF_PLACES);
	assert_string_equal(places[0].function, "first");
	assert_null(places[1].function);
	assert_int_equal(gp_frame_names_find(again, 1, 6, &places), 2);
	assert_string_equal(places[0].function, "_Z5innerv");
	gp_frame_names_free(again);
	gp_frame_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_packed_is_found_again),
		cmocka_unit_test(damage_is_no_name),
		cmocka_unit_test(too_many_places_of_one_address_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
