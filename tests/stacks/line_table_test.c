/*
 * line_table: a converted table has the same line for each instruction as the table with columns.
 */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "stacks/line_table.h"

#define MOST_INSTRUCTIONS 4096u
#define NONE              INT32_MIN

/* The line of each instruction, relative to the first line of the code. */
struct lines {
	int32_t of[MOST_INSTRUCTIONS];
	uint32_t count;
};

struct table {
	uint8_t bytes[1 << 15];
	uint32_t used;
	int32_t line;
};

static void put(struct table *table, unsigned byte)
{
	table->bytes[table->used++] = (uint8_t)byte;
}

static void put_signed(struct table *table, int32_t number)
{
	uint32_t value = number < 0 ? (uint32_t)-number << 1 | 1 : (uint32_t)number << 1;

	for (; value >= 64; value >>= 6)
		put(table, (value & 63) | 64);
	put(table, value);
}

/* Writes an entry as Python 3.11 does, for up to 8 instructions.  The column data is arbitrary. */
static void put_entry(struct table *table, struct lines *lines, unsigned form, int32_t delta,
		      uint32_t instructions)
{
	put(table, 0x80 | form << 3 | (instructions - 1));
	if (form == 13 || form == 14)
		put_signed(table, delta);
	for (unsigned i = form < 10 ? 1 : form < 13 ? 2 : form == 14 ? 3 : 0; i > 0; i--)
		put(table, (unsigned)rand() & 63);
	table->line += delta;
	for (uint32_t i = 0; i < instructions; i++)
		lines->of[lines->count++] = form == 15 ? NONE : table->line;
}

static int32_t any_delta(unsigned form)
{
	if (form == 13 || form == 14)
		return rand() % 8 == 0 ? rand() % 3000 - 1500 : rand() % 9 - 4;
	return form >= 10 && form <= 12 ? (int32_t)form - 10 : 0;
}

static void make(struct table *table, struct lines *lines, uint32_t entries)
{
	*table = (struct table){.used = 0};
	lines->count = 0;
	for (uint32_t i = 0; i < entries; i++) {
		unsigned form = (unsigned)rand() & 15;

		put_entry(table, lines, form, any_delta(form), 1 + (uint32_t)rand() % 8);
	}
}

/* Reads a table pair by pair, as Python 3.10 describes it. */
static void read_pairs(const uint8_t *bytes, uint32_t used, struct lines *lines)
{
	int32_t line = 0;

	lines->count = 0;
	assert_int_equal(used % 2, 0);
	for (uint32_t i = 0; i < used; i += 2) {
		int8_t delta = (int8_t)bytes[i + 1];

		line += delta != -128 ? delta : 0;
		assert_int_equal(bytes[i] % 2, 0);
		for (uint32_t j = 0; j < bytes[i]; j += 2)
			lines->of[lines->count++] = delta != -128 ? line : NONE;
	}
}

static struct table table;
static struct lines wanted, got;
static uint8_t shortened[1 << 15];

static void every_instruction_keeps_its_line(void **state)
{
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t used;

		make(&table, &wanted, 1 + i % 300);
		assert_true(gp_line_table_shorten(table.bytes, table.used, shortened,
						  sizeof(shortened), &used));
		read_pairs(shortened, used, &got);
		assert_int_equal(got.count, wanted.count);
		assert_memory_equal(got.of, wanted.of, wanted.count * sizeof(wanted.of[0]));
	}
}

/* Most entries of a table have the line of the previous one: they become one pair. */
static void instructions_of_a_line_are_one_pair(void **state)
{
	uint32_t used;

	table = (struct table){.used = 0};
	wanted.count = 0;
	for (int i = 0; i < 100; i++)
		put_entry(&table, &wanted, i % 10 == 0 ? 11 : 3, i % 10 == 0, 1);
	assert_true(gp_line_table_shorten(table.bytes, table.used, shortened, sizeof(shortened),
					  &used));
	assert_int_equal(used, 10 * 2);
	assert_int_equal(table.used, 10 * 3 + 90 * 2);
}

static void never_writes_beyond_the_buffer(void **state)
{
	uint32_t whole, used;

	make(&table, &wanted, 100);
	assert_true(gp_line_table_shorten(table.bytes, table.used, shortened, sizeof(shortened),
					  &whole));
	for (uint32_t room = 0; room < whole; room++) {
		uint8_t *into = malloc(room + 1);

		into[room] = 0xa5;
		assert_false(gp_line_table_shorten(table.bytes, table.used, into, room, &used));
		assert_in_range(used, room > 0 ? room - 1 : 0, room);
		assert_memory_equal(into, shortened, used);
		assert_int_equal(into[room], 0xa5);
		free(into);
	}
}

/* Any bytes are accepted: the table may be a copy of an object that was being freed. */
static void any_bytes_are_read(void **state)
{
	uint32_t used;

	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t bytes = i % 200;
		uint8_t *any = malloc(bytes + 1);

		for (uint32_t j = 0; j < bytes; j++)
			any[j] = (uint8_t)(i < 256 ? i : (uint32_t)rand());
		gp_line_table_shorten(any, bytes, shortened, sizeof(shortened), &used);
		assert_in_range(used, 0, sizeof(shortened));
		free(any);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_keeps_its_line),
		cmocka_unit_test(instructions_of_a_line_are_one_pair),
		cmocka_unit_test(never_writes_beyond_the_buffer),
		cmocka_unit_test(any_bytes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
