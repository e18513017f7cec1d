#include "stacks/cfi.h"

#include <stddef.h>
#include <string.h>

#include "stacks/dwarf_cursor.h"

/* Address encodings of .eh_frame: the low half is the format, the high half the base. */
#define FORMAT(encoding)   ((encoding)&0x0fu)
#define RELATION(encoding) ((encoding)&0x70u)
#define FORMAT_ABSOLUTE    0x00u
#define FORMAT_UDATA2      0x02u
#define FORMAT_UDATA4      0x03u
#define FORMAT_UDATA8      0x04u
#define FORMAT_SDATA2      0x0au
#define FORMAT_SDATA4      0x0bu
#define FORMAT_SDATA8      0x0cu
#define RELATION_PC        0x10u
#define OMITTED            0xffu

/* The .eh_frame_hdr of every linker: a table of offsets from the header, sorted by address. */
#define TABLE_ENCODING 0x3bu
#define COUNT_ENCODING FORMAT_UDATA4

#define REMEMBERED 4u

/* On aarch64: return addresses are signed from here on, or no longer (gp_return_address()). */
#if defined(__aarch64__)
#define SIGNS_RETURN 0x2d
#else
#define SIGNS_RETURN 0x00
#endif

/* Reads that never pass the end; beyond it everything reads as zero. */
struct table_row {
	int32_t code; /* both are offsets from the header */
	int32_t description;
};

/* A function's description (FDE), with the part that several descriptions share (CIE). */
struct description {
	struct gp_dwarf_cursor common_program;
	struct gp_dwarf_cursor program;
	uint64_t code_start;
	uint64_t code_end;
	uint64_t code_step;
	int64_t data_step;
	uint8_t encoding;
	bool is_signal;
};

struct machine {
	struct gp_cfi_row row;
	struct gp_cfi_row first; /* after the common program */
	struct gp_cfi_row remembered[REMEMBERED];
	uint32_t remembered_count;
	bool failed;
};

/* ---- reading ---- */

static uint32_t format_bytes(uint8_t encoding)
{
	switch (FORMAT(encoding)) {
	case FORMAT_UDATA2:
	case FORMAT_SDATA2:
		return 2;
	case FORMAT_UDATA4:
	case FORMAT_SDATA4:
		return 4;
	default:
		return 8;
	}
}

static uint64_t take_format(struct gp_dwarf_cursor *cursor, uint8_t encoding)
{
	uint64_t value = gp_dwarf_take(cursor, format_bytes(encoding));

	if (FORMAT(encoding) == FORMAT_SDATA2)
		return (uint64_t)(int16_t)value;
	if (FORMAT(encoding) == FORMAT_SDATA4)
		return (uint64_t)(int32_t)value;
	return value;
}

static uint64_t take_address(struct gp_dwarf_cursor *cursor, uint8_t encoding)
{
	uint64_t base = RELATION(encoding) == RELATION_PC ? (uint64_t)cursor->at : 0;

	return base + take_format(cursor, encoding);
}

/* ---- finding the description ---- */

static const uint8_t *search_table(const uint8_t *header, uint64_t pc)
{
	struct gp_dwarf_cursor cursor = {header, header + 64};

	if (gp_dwarf_take(&cursor, 1) != 1)
		return NULL;
	uint8_t pointer_encoding = (uint8_t)gp_dwarf_take(&cursor, 1);

	if (gp_dwarf_take(&cursor, 1) != COUNT_ENCODING ||
	    gp_dwarf_take(&cursor, 1) != TABLE_ENCODING)
		return NULL;
	gp_dwarf_skip(&cursor, format_bytes(pointer_encoding));

	uint64_t low = 0, high = gp_dwarf_take(&cursor, 4);
	const struct table_row *rows = (const struct table_row *)cursor.at;
	int64_t wanted = (int64_t)(pc - (uint64_t)header);

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (rows[middle].code <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? header + rows[low - 1].description : NULL;
}

/* A block of .eh_frame after its length; empty for the 64-bit form, which no tool emits. */
static struct gp_dwarf_cursor open_block(const uint8_t *at)
{
	struct gp_dwarf_cursor cursor = {at, at + 4};
	uint32_t bytes = (uint32_t)gp_dwarf_take(&cursor, 4);

	cursor.end = bytes != UINT32_MAX ? cursor.at + bytes : cursor.at;
	return cursor;
}

static void read_augmentation(struct gp_dwarf_cursor *cursor, const char *letters,
			      struct description *description)
{
	for (; *letters != '\0'; letters++) {
		if (*letters == 'R') {
			description->encoding = (uint8_t)gp_dwarf_take(cursor, 1);
		} else if (*letters == 'L') {
			gp_dwarf_skip(cursor, 1);
		} else if (*letters == 'P') {
			uint8_t encoding = (uint8_t)gp_dwarf_take(cursor, 1);

			gp_dwarf_skip(cursor, encoding != OMITTED ? format_bytes(encoding) : 0);
		} else if (*letters == 'S') {
			description->is_signal = true;
		}
	}
}

static bool read_common(const uint8_t *at, struct description *description)
{
	struct gp_dwarf_cursor cursor = open_block(at);

	if (gp_dwarf_take(&cursor, 4) != 0)
		return false;
	uint64_t version = gp_dwarf_take(&cursor, 1);
	const char *letters = (const char *)cursor.at;

	gp_dwarf_skip(&cursor, strnlen(letters, (size_t)(cursor.end - cursor.at)) + 1);
	if ((version != 1 && version != 3) || (letters[0] != '\0' && letters[0] != 'z'))
		return false;
	description->code_step = gp_dwarf_take_uleb(&cursor);
	description->data_step = gp_dwarf_take_sleb(&cursor);
	if ((version == 1 ? gp_dwarf_take(&cursor, 1) : gp_dwarf_take_uleb(&cursor)) !=
	    GP_REGISTER_RA)
		return false;
	if (letters[0] == 'z') {
		uint64_t bytes = gp_dwarf_take_uleb(&cursor);
		struct gp_dwarf_cursor augmentation = cursor;

		gp_dwarf_skip(&cursor, bytes);
		read_augmentation(&augmentation, letters + 1, description);
	}
	description->common_program = cursor;
	return true;
}

static bool read_description(const uint8_t *at, struct description *description)
{
	struct gp_dwarf_cursor cursor = open_block(at);
	const uint8_t *common = cursor.at;
	uint32_t back = (uint32_t)gp_dwarf_take(&cursor, 4);
	const char *letters = (const char *)common - back + 9;

	if (back == 0 || !read_common(common - back, description))
		return false;
	description->code_start = take_address(&cursor, description->encoding);
	description->code_end = description->code_start +
				gp_dwarf_take(&cursor, format_bytes(description->encoding));
	if (*letters == 'z')
		gp_dwarf_skip(&cursor, gp_dwarf_take_uleb(&cursor));
	description->program = cursor;
	return true;
}

/* ---- running its program ---- */

static void set_column(struct machine *machine, uint64_t number, enum gp_cfi_how how,
		       int64_t offset)
{
	if (number < GP_REGISTERS)
		machine->row.columns[number] =
			(struct gp_cfi_column){.how = (uint8_t)how, .offset = (int32_t)offset};
}

static void restore_column(struct machine *machine, uint64_t number)
{
	if (number < GP_REGISTERS)
		machine->row.columns[number] = machine->first.columns[number];
}

static struct gp_cfi_column take_expression(struct gp_dwarf_cursor *cursor)
{
	uint64_t bytes = gp_dwarf_take_uleb(cursor);
	struct gp_cfi_column column = {.how = GP_CFI_AT_EXPRESSION, .expression = cursor->at};

	gp_dwarf_skip(cursor, bytes);
	column.expression_bytes = (uint8_t)(cursor->at - column.expression);
	if (bytes > UINT8_MAX)
		column.how = GP_CFI_OTHER;
	return column;
}

static void set_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
	machine->row.cfa_register = (uint32_t)number;
	machine->row.cfa =
		(struct gp_cfi_column){.how = GP_CFI_AT_OFFSET, .offset = (int32_t)offset};
}

static void remember(struct machine *machine)
{
	if (machine->remembered_count < REMEMBERED)
		machine->remembered[machine->remembered_count++] = machine->row;
	else
		machine->failed = true;
}

static void recall(struct machine *machine)
{
	if (machine->remembered_count > 0)
		machine->row = machine->remembered[--machine->remembered_count];
	else
		machine->failed = true;
}

static void run_cfa(struct machine *machine, uint8_t code, struct gp_dwarf_cursor *cursor,
		    int64_t data_step)
{
	struct gp_cfi_row *row = &machine->row;
	uint64_t number;

	switch (code) {
	case 0x0c: /* def_cfa */
		number = gp_dwarf_take_uleb(cursor);
		set_cfa(machine, number, (int64_t)gp_dwarf_take_uleb(cursor));
		break;
	case 0x0d: /* def_cfa_register */
		row->cfa_register = (uint32_t)gp_dwarf_take_uleb(cursor);
		break;
	case 0x0e: /* def_cfa_offset */
		row->cfa.offset = (int32_t)gp_dwarf_take_uleb(cursor);
		break;
	case 0x0f: /* def_cfa_expression */
		row->cfa = take_expression(cursor);
		break;
	case 0x12: /* def_cfa_sf */
		number = gp_dwarf_take_uleb(cursor);
		set_cfa(machine, number, gp_dwarf_take_sleb(cursor) * data_step);
		break;
	default: /* def_cfa_offset_sf */
		row->cfa.offset = (int32_t)(gp_dwarf_take_sleb(cursor) * data_step);
		break;
	}
}

static void run_column(struct machine *machine, uint8_t code, struct gp_dwarf_cursor *cursor,
		       int64_t data_step)
{
	uint64_t number = gp_dwarf_take_uleb(cursor);

	switch (code) {
	case 0x05: /* offset_extended */
		set_column(machine, number, GP_CFI_AT_OFFSET,
			   (int64_t)gp_dwarf_take_uleb(cursor) * data_step);
		break;
	case 0x06: /* restore_extended */
		restore_column(machine, number);
		break;
	case 0x07: /* undefined */
		set_column(machine, number, GP_CFI_UNDEFINED, 0);
		break;
	case 0x08: /* same_value */
		set_column(machine, number, GP_CFI_SAME, 0);
		break;
	case 0x10: /* expression */
		if (number < GP_REGISTERS)
			machine->row.columns[number] = take_expression(cursor);
		else
			take_expression(cursor);
		break;
	case 0x11: /* offset_extended_sf */
		set_column(machine, number, GP_CFI_AT_OFFSET,
			   gp_dwarf_take_sleb(cursor) * data_step);
		break;
	case 0x16: /* val_expression */
		take_expression(cursor);
		set_column(machine, number, GP_CFI_OTHER, 0);
		break;
	default: /* register, val_offset, val_offset_sf: one more operand */
		gp_dwarf_take_uleb(cursor);
		set_column(machine, number, GP_CFI_OTHER, 0);
		break;
	}
}

/* The distance by which the location advances, or 0. */
static uint64_t run_advance(uint8_t code, struct gp_dwarf_cursor *cursor)
{
	static const uint8_t operand_bytes[] = {[2] = 1, [3] = 2, [4] = 4};

	return gp_dwarf_take(cursor, operand_bytes[code]);
}

static void run_other(struct machine *machine, uint8_t code, struct gp_dwarf_cursor *cursor,
		      int64_t data_step)
{
	if (code == 0x0a)
		remember(machine);
	else if (code == 0x0b)
		recall(machine);
	else if (code >= 0x0c && code != 0x10 && code != 0x11 && code <= 0x13)
		run_cfa(machine, code, cursor, data_step);
	else if ((code >= 0x05 && code <= 0x11) || (code >= 0x14 && code <= 0x16))
		run_column(machine, code, cursor, data_step);
	else if (code == 0x2e) /* size of the arguments on the stack, irrelevant for the CFA */
		gp_dwarf_take_uleb(cursor);
	else if (code != 0x00 && code != SIGNS_RETURN)
		machine->failed = true;
}

/* Compute the state of the registers at offset `target` from the function's beginning. */
static void run(struct machine *machine, struct gp_dwarf_cursor cursor,
		const struct description *description, uint64_t target)
{
	uint64_t at = 0;

	while (cursor.at < cursor.end && !machine->failed && at <= target) {
		uint8_t byte = (uint8_t)gp_dwarf_take(&cursor, 1);
		uint8_t low = byte & 0x3f;

		if (byte >> 6 == 1)
			at += low * description->code_step;
		else if (byte >> 6 == 2)
			set_column(machine, low, GP_CFI_AT_OFFSET,
				   (int64_t)gp_dwarf_take_uleb(&cursor) * description->data_step);
		else if (byte >> 6 == 3)
			restore_column(machine, low);
		else if (low >= 0x02 && low <= 0x04)
			at += run_advance(low, &cursor) * description->code_step;
		else
			run_other(machine, low, &cursor, description->data_step);
	}
}

bool gp_cfi_find(const uint8_t *header, uint64_t pc, struct gp_cfi_row *row)
{
	struct description description = {.is_signal = false};
	struct machine machine;
	const uint8_t *at = search_table(header, pc);

	if (at == NULL || !read_description(at, &description) || pc < description.code_start ||
	    pc >= description.code_end)
		return false;
	memset(&machine.row, 0, sizeof(machine.row));
	machine.remembered_count = 0;
	machine.failed = false;
	run(&machine, description.common_program, &description, UINT64_MAX);
	machine.first = machine.row;
	run(&machine, description.program, &description, pc - description.code_start);
	*row = machine.row;
	row->is_signal = description.is_signal;
	row->code_start = description.code_start;
	return !machine.failed;
}
