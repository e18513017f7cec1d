/* cfi: each instruction of an unwind program has its effect and consumes all its operands. */
#include "tests/unit.h"

#include <string.h>

#include "stacks/cfi.h"

#define CODE_AT    4096u /* offset of the function from the header; its code is not read */
#define CODE_BYTES 100u
#define TARGET     50u /* offset of the queried instruction */
#define FP         GP_REGISTER_FP
#define SP         GP_REGISTER_SP
#define RA         GP_REGISTER_RA
#define COLUMN     FP

/*
 * Each program is followed by "register 3 is at CFA - 16", which fails if an operand is left over.
 */
static const struct {
	const char *name;
	uint8_t bytes[20];
	uint32_t count;
	enum gp_cfi_how how; /* of COLUMN */
	int32_t offset;
	uint32_t cfa_register;
	int32_t cfa_offset;
} cases[] = {
	{"nop", {0x00}, 1, GP_CFI_SAME, 0, SP, 8},
	{"offset", {0x80 | FP, 2}, 2, GP_CFI_AT_OFFSET, -16, SP, 8},
	{"restore", {0x80 | FP, 2, 0xc0 | FP}, 3, GP_CFI_SAME, 0, SP, 8},
	{"offset_extended", {0x05, FP, 0x81, 1}, 4, GP_CFI_AT_OFFSET, -129 * 8, SP, 8},
	{"restore_extended", {0x80 | FP, 2, 0x06, FP}, 4, GP_CFI_SAME, 0, SP, 8},
	{"undefined", {0x07, FP}, 2, GP_CFI_UNDEFINED, 0, SP, 8},
	{"same_value", {0x80 | FP, 2, 0x08, FP}, 4, GP_CFI_SAME, 0, SP, 8},
	{"register", {0x09, FP, 12}, 3, GP_CFI_OTHER, 0, SP, 8},
	{"remember_state", {0x0a, 0x80 | FP, 2, 0x0b}, 4, GP_CFI_SAME, 0, SP, 8},
	{"remembered states, last first",
	 {0x0a, 0x80 | FP, 2, 0x0a, 0x80 | FP, 3, 0x0b},
	 7,
	 GP_CFI_AT_OFFSET,
	 -16,
	 SP,
	 8},
	{"def_cfa", {0x0c, FP, 16}, 3, GP_CFI_SAME, 0, FP, 16},
	{"def_cfa_register", {0x0d, FP}, 2, GP_CFI_SAME, 0, FP, 8},
	{"def_cfa_offset", {0x0e, 0x80, 1}, 3, GP_CFI_SAME, 0, SP, 128},
	{"expression", {0x10, FP, 3, 0x77, 0x78, 0x06}, 6, GP_CFI_AT_EXPRESSION, 0, SP, 8},
	{"expression of another register",
	 {0x10, 40, 3, 0x77, 0x78, 0x06},
	 6,
	 GP_CFI_SAME,
	 0,
	 SP,
	 8},
	{"offset_extended_sf", {0x11, FP, 0x7f}, 3, GP_CFI_AT_OFFSET, 8, SP, 8},
	{"def_cfa_sf", {0x12, FP, 0x7e}, 3, GP_CFI_SAME, 0, FP, 16},
	{"def_cfa_offset_sf", {0x13, 0x7d}, 2, GP_CFI_SAME, 0, SP, 24},
	{"val_offset", {0x14, FP, 1}, 3, GP_CFI_OTHER, 0, SP, 8},
	{"val_offset_sf", {0x15, FP, 0x7f}, 3, GP_CFI_OTHER, 0, SP, 8},
	{"val_expression", {0x16, FP, 3, 0x77, 0x78, 0x06}, 6, GP_CFI_OTHER, 0, SP, 8},
	{"GNU_args_size", {0x2e, 0x80, 1}, 3, GP_CFI_SAME, 0, SP, 8},
	{"advance_loc",
	 {0x40 | 50, 0x80 | FP, 2, 0x41, 0x80 | FP, 3},
	 6,
	 GP_CFI_AT_OFFSET,
	 -16,
	 SP,
	 8},
	{"advance_loc1",
	 {0x02, 50, 0x80 | FP, 2, 0x02, 1, 0x80 | FP, 3},
	 8,
	 GP_CFI_AT_OFFSET,
	 -16,
	 SP,
	 8},
	{"advance_loc2",
	 {0x03, 50, 0, 0x80 | FP, 2, 0x03, 1, 0, 0x80 | FP, 3},
	 10,
	 GP_CFI_AT_OFFSET,
	 -16,
	 SP,
	 8},
	{"advance_loc4",
	 {0x04, 50, 0, 0, 0, 0x80 | FP, 2, 0x04, 1, 0, 0, 0, 0x80 | FP, 3},
	 14,
	 GP_CFI_AT_OFFSET,
	 -16,
	 SP,
	 8},
#if defined(__aarch64__)
	{"negate_ra_state", {0x2d}, 1, GP_CFI_SAME, 0, SP, 8},
#endif
	{"an unknown register", {0x80 | 40, 2}, 2, GP_CFI_SAME, 0, SP, 8},
};

static const uint8_t marker[] = {0x83, 2};

struct section {
	_Alignas(8) uint8_t bytes[256];
	size_t used;
};

static void put(struct section *section, const void *bytes, size_t count)
{
	assert_true(section->used + count <= sizeof(section->bytes));
	if (count > 0)
		memcpy(section->bytes + section->used, bytes, count);
	section->used += count;
}

static void put_word(struct section *section, uint32_t word)
{
	put(section, &word, sizeof(word));
}

/* Writes the length of the block that begins at `start`. */
static void end_block(struct section *section, size_t start)
{
	uint32_t bytes = (uint32_t)(section->used - start - 4);

	memcpy(section->bytes + start, &bytes, sizeof(bytes));
}

/* Writes a header with the description of one function, at CODE_AT. */
static void describe(struct section *section, const uint8_t *program, size_t bytes)
{
	static const uint8_t head[] = {1, 0x1b, 0x03, 0x3b};
	/* version, augmentation, code and data steps, return address, encoding; CFA is sp + 8 */
	static const uint8_t common[] = {1, 'z',  'R',  'S', 0, 1,         0x78, RA,
					 1, 0x1b, 0x0c, SP,  8, 0x80 | RA, 1};
	size_t common_at = 20, description_at;

	memset(section, 0, sizeof(*section));
	put(section, head, sizeof(head));
	put_word(section, 0);
	put_word(section, 1);
	put_word(section, CODE_AT);
	put_word(section, 0); /* the offset of the description, set below */
	put_word(section, 0);
	put_word(section, 0);
	put(section, common, sizeof(common));
	end_block(section, common_at);
	description_at = section->used;
	memcpy(section->bytes + 16, &(uint32_t){(uint32_t)description_at}, 4);
	put_word(section, 0);
	put_word(section, (uint32_t)(section->used - common_at));
	put_word(section, (uint32_t)(CODE_AT - section->used));
	put_word(section, CODE_BYTES);
	put(section, "", 1);
	put(section, program, bytes);
	put(section, marker, sizeof(marker));
	end_block(section, description_at);
}

static bool find(const struct section *section, uint64_t offset, struct gp_cfi_row *row)
{
	return gp_cfi_find(section->bytes, (uint64_t)(uintptr_t)section->bytes + CODE_AT + offset,
			   row);
}

static void every_instruction_takes_its_operands(void **state)
{
	struct section section;
	struct gp_cfi_row row;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gp_cfi_column *column = &row.columns[COLUMN];
		bool is_late = strncmp(cases[i].name, "advance", 7) == 0;

		describe(&section, cases[i].bytes, cases[i].count);
		assert_true(find(&section, TARGET, &row));
		if (column->how != cases[i].how || column->offset != cases[i].offset ||
		    row.cfa_register != cases[i].cfa_register ||
		    row.cfa.offset != cases[i].cfa_offset || row.cfa.how != GP_CFI_AT_OFFSET)
			fail_msg("%s: %d at %d, CFA %u + %d", cases[i].name, column->how,
				 column->offset, row.cfa_register, row.cfa.offset);
		if (row.columns[3].how != (is_late ? GP_CFI_SAME : GP_CFI_AT_OFFSET) ||
		    row.columns[3].offset != (is_late ? 0 : -16))
			fail_msg("%s: an operand is left over", cases[i].name);
		assert_int_equal(row.columns[RA].offset, -8);
		assert_true(row.is_signal);
		assert_int_equal(row.code_start, (uintptr_t)section.bytes + CODE_AT);
	}
}

static void expressions_refer_to_their_bytes(void **state)
{
	static const uint8_t of_column[] = {0x10, FP, 3, 0x77, 0x78, 0x06};
	static const uint8_t of_cfa[] = {0x0f, 2, 0x77, 0x20};
	struct section section;
	struct gp_cfi_row row;

	describe(&section, of_column, sizeof(of_column));
	assert_true(find(&section, TARGET, &row));
	assert_int_equal(row.columns[COLUMN].expression_bytes, 3);
	assert_memory_equal(row.columns[COLUMN].expression, of_column + 3, 3);
	describe(&section, of_cfa, sizeof(of_cfa));
	assert_true(find(&section, TARGET, &row));
	assert_int_equal(row.cfa.how, GP_CFI_AT_EXPRESSION);
	assert_int_equal(row.cfa.expression_bytes, 2);
	assert_memory_equal(row.cfa.expression, of_cfa + 2, 2);
	assert_int_equal(row.columns[3].offset, -16);
}

static void only_the_function_is_described(void **state)
{
	struct section section;
	struct gp_cfi_row row;

	describe(&section, NULL, 0);
	assert_true(find(&section, 0, &row));
	assert_true(find(&section, CODE_BYTES - 1, &row));
	assert_false(find(&section, CODE_BYTES, &row));
	assert_false(find(&section, (uint64_t)-1, &row));
	section.bytes[3] = 0x1b; /* not the table that linkers write */
	assert_false(find(&section, 0, &row));
}

static void unusual_forms_have_no_row(void **state)
{
	static const uint8_t programs[][5] = {
		{0x17},                         /* no such instruction */
		{0x0b},                         /* restore_state without remember_state */
		{0x0a, 0x0a, 0x0a, 0x0a, 0x0a}, /* too many remember_state */
	};
	struct section section;
	struct gp_cfi_row row;

	for (size_t i = 0; i < 3; i++) {
		describe(&section, programs[i], sizeof(programs[i]));
		assert_false(find(&section, TARGET, &row));
	}
	describe(&section, programs[2], 4);
	assert_true(find(&section, TARGET, &row));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_takes_its_operands),
		cmocka_unit_test(expressions_refer_to_their_bytes),
		cmocka_unit_test(only_the_function_is_described),
		cmocka_unit_test(unusual_forms_have_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
