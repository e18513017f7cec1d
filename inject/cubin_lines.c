#include "inject/cubin_lines.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/dwarf_cursor.h"

#define CUDA_MACHINE 190 /* EM_CUDA */
#define TEXT         ".text."
#define MOST_ROWS    (1u << 20) /* of one section */

/* Of the line program: an instruction has the row at or before its offset. */
struct row {
	uint32_t offset; /* of code, in its section */
	uint32_t line;   /* 0 = the end of a sequence */
	uint32_t file;   /* number in the unit's table */
	uint32_t unit;   /* its offset in .debug_line */
};

struct rows {
	struct row *list;
	uint32_t count, capacity;
};

struct gp_cubin_function {
	const struct gp_cubin_lines *lines;
	struct gp_cubin_function *next;
	char *kernel;
	uint64_t start; /* in its section */
	struct rows rows;
	uint32_t symbol;
};

struct part {
	uint8_t *bytes;
	size_t count;
};

/* ".debug_line" has the section of the code as the upper half of each address; see relocate(). */
struct gp_cubin_lines {
	struct part line, symbols, strings;
	struct gp_cubin_function *functions;
};

/* ---- sections ---- */

struct cubin {
	const uint8_t *bytes;
	size_t count;
	Elf64_Ehdr head;
	uint64_t section_count;
	Elf64_Shdr names;
};

static bool read_at(const struct cubin *cubin, uint64_t offset, void *into, size_t bytes)
{
	if (offset > cubin->count || bytes > cubin->count - offset)
		return false;
	memcpy(into, cubin->bytes + offset, bytes);
	return true;
}

static bool read_section(const struct cubin *cubin, uint64_t index, Elf64_Shdr *section)
{
	return index <= cubin->count / sizeof(*section) &&
	       read_at(cubin, cubin->head.e_shoff + index * sizeof(*section), section,
		       sizeof(*section));
}

/* More sections than the header can count are counted in the first section. */
static bool open_cubin(struct cubin *cubin, const void *bytes, size_t count)
{
	Elf64_Shdr first;
	uint64_t names;

	*cubin = (struct cubin){.bytes = bytes, .count = count};
	if (!read_at(cubin, 0, &cubin->head, sizeof(cubin->head)) ||
	    memcmp(cubin->head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    cubin->head.e_ident[EI_CLASS] != ELFCLASS64 || cubin->head.e_machine != CUDA_MACHINE ||
	    cubin->head.e_shentsize != sizeof(Elf64_Shdr) || cubin->head.e_shoff > count ||
	    !read_section(cubin, 0, &first))
		return false;
	cubin->section_count = cubin->head.e_shnum != 0 ? cubin->head.e_shnum : first.sh_size;
	names = cubin->head.e_shstrndx != SHN_XINDEX ? cubin->head.e_shstrndx : first.sh_link;
	return read_section(cubin, names, &cubin->names);
}

static bool is_named(const struct cubin *cubin, const Elf64_Shdr *section, const char *name)
{
	size_t bytes = strlen(name) + 1;
	uint64_t at = section->sh_name;

	return at < cubin->names.sh_size && bytes <= cubin->names.sh_size - at &&
	       cubin->names.sh_offset <= cubin->count &&
	       at + bytes <= cubin->count - cubin->names.sh_offset &&
	       memcmp(cubin->bytes + cubin->names.sh_offset + at, name, bytes) == 0;
}

static uint64_t find_named(const struct cubin *cubin, const char *name, Elf64_Shdr *section)
{
	for (uint64_t i = 1; i < cubin->section_count && read_section(cubin, i, section); i++)
		if (is_named(cubin, section, name))
			return i;
	return 0;
}

static bool is_inside(const struct cubin *cubin, const Elf64_Shdr *section)
{
	return section->sh_type != SHT_NOBITS && section->sh_offset <= cubin->count &&
	       section->sh_size <= cubin->count - section->sh_offset;
}

static bool copy_part(const struct cubin *cubin, const Elf64_Shdr *section, struct part *part)
{
	part->count = section->sh_size;
	part->bytes = malloc(part->count + 1);
	if (part->bytes == NULL)
		return false;
	memcpy(part->bytes, cubin->bytes + section->sh_offset, part->count);
	part->bytes[part->count] = '\0'; /* the last string of a damaged table ends */
	return true;
}

/* ---- symbols ---- */

static bool read_symbol(const struct gp_cubin_lines *lines, uint64_t index, Elf64_Sym *symbol)
{
	if (index >= lines->symbols.count / sizeof(*symbol))
		return false;
	memcpy(symbol, lines->symbols.bytes + index * sizeof(*symbol), sizeof(*symbol));
	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
}

static const char *symbol_name(const struct gp_cubin_lines *lines, const Elf64_Sym *symbol)
{
	return symbol->st_name < lines->strings.count
		       ? (const char *)lines->strings.bytes + symbol->st_name
		       : "";
}

static void relocate_one(struct gp_cubin_lines *lines, const Elf64_Rela *relocation)
{
	uint64_t at = relocation->r_offset, address;
	Elf64_Sym symbol;

	if (at > lines->line.count || sizeof(address) > lines->line.count - at ||
	    !read_symbol(lines, ELF64_R_SYM(relocation->r_info), &symbol))
		return;
	address = (uint64_t)symbol.st_shndx << 32 |
		  (uint32_t)(symbol.st_value + (uint64_t)relocation->r_addend);
	memcpy(lines->line.bytes + at, &address, sizeof(address));
}

/*
 * The line program of every function begins at address 0; a relocation names the function.  The
 * address gets the function's section as its upper half.
 */
static void relocate(struct gp_cubin_lines *lines, const struct cubin *cubin, uint64_t line_section)
{
	Elf64_Shdr section;

	for (uint64_t i = 1; i < cubin->section_count && read_section(cubin, i, &section); i++) {
		bool has_addend = section.sh_type == SHT_RELA;
		size_t bytes = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);

		if ((!has_addend && section.sh_type != SHT_REL) ||
		    section.sh_info != line_section || !is_inside(cubin, &section))
			continue;
		for (uint64_t k = 0; k < section.sh_size / bytes; k++) {
			Elf64_Rela relocation = {0};

			memcpy(&relocation, cubin->bytes + section.sh_offset + k * bytes, bytes);
			relocate_one(lines, &relocation);
		}
	}
}

static bool find_symbols(const struct cubin *cubin, Elf64_Shdr *symbols, Elf64_Shdr *strings)
{
	for (uint64_t i = 1; i < cubin->section_count && read_section(cubin, i, symbols); i++)
		if (symbols->sh_type == SHT_SYMTAB)
			return read_section(cubin, symbols->sh_link, strings);
	return false;
}

struct gp_cubin_lines *gp_cubin_lines_open(const void *bytes, size_t count, size_t most_bytes,
					   size_t *needed_bytes)
{
	struct gp_cubin_lines *lines;
	Elf64_Shdr line, symbols, strings;
	struct cubin cubin;
	uint64_t section;

	*needed_bytes = 0;
	if (!open_cubin(&cubin, bytes, count) ||
	    (section = find_named(&cubin, ".debug_line", &line)) == 0 || line.sh_size == 0 ||
	    !find_symbols(&cubin, &symbols, &strings) || !is_inside(&cubin, &line) ||
	    !is_inside(&cubin, &symbols) || !is_inside(&cubin, &strings))
		return NULL;
	*needed_bytes = line.sh_size + symbols.sh_size + strings.sh_size;
	lines = *needed_bytes <= most_bytes ? calloc(1, sizeof(*lines)) : NULL;
	if (lines == NULL)
		return NULL;
	if (!copy_part(&cubin, &line, &lines->line) ||
	    !copy_part(&cubin, &symbols, &lines->symbols) ||
	    !copy_part(&cubin, &strings, &lines->strings)) {
		gp_cubin_lines_close(lines);
		return NULL;
	}
	relocate(lines, &cubin, section);
	return lines;
}

void gp_cubin_lines_close(struct gp_cubin_lines *lines)
{
	while (lines->functions != NULL) {
		struct gp_cubin_function *function = lines->functions;

		lines->functions = function->next;
		free(function->rows.list);
		free(function->kernel);
		free(function);
	}
	free(lines->line.bytes);
	free(lines->symbols.bytes);
	free(lines->strings.bytes);
	free(lines);
}

/* ---- the line program: DWARF 2 to 4 ---- */

enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC = 9 };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

/* "" at the end: a table of names ends with an empty one. */
static const char *take_text(struct gp_dwarf_cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	size_t rest = (size_t)(cursor->end - cursor->at);
	size_t length = strnlen(text, rest);

	if (length == rest) {
		cursor->at = cursor->end;
		return "";
	}
	cursor->at += length + 1;
	return text;
}

static struct gp_dwarf_cursor take_cursor(struct gp_dwarf_cursor *cursor, uint64_t bytes)
{
	uint64_t rest = (uint64_t)(cursor->end - cursor->at);
	struct gp_dwarf_cursor part = {cursor->at, cursor->at + (bytes < rest ? bytes : rest)};

	cursor->at = part.end;
	return part;
}

struct unit {
	/* the tables are read again for each name */
	struct gp_dwarf_cursor folders, files, program;
	uint64_t step;
	uint8_t line_range, opcode_base;
	int8_t line_base;
	struct gp_dwarf_cursor lengths; /* number of operands, by opcode */
	uint32_t start;
	/* registers; arithmetic is modulo 2^64 */
	uint64_t address, file, line;
};

static bool open_unit(struct gp_dwarf_cursor *section, struct unit *unit)
{
	uint64_t bytes = gp_dwarf_take(section, 4), version;
	bool is_wide = bytes == 0xffffffff;
	struct gp_dwarf_cursor cursor =
		take_cursor(section, is_wide ? gp_dwarf_take(section, 8) : bytes);

	version = gp_dwarf_take(&cursor, 2);
	if (version < 2 || version > 4)
		return false;
	bytes = gp_dwarf_take(&cursor, is_wide ? 8 : 4);
	unit->program = cursor;
	cursor = take_cursor(&unit->program, bytes);
	unit->step = gp_dwarf_take(&cursor, 1);
	if (version >= 4)
		gp_dwarf_take(&cursor, 1); /* operations per instruction */
	gp_dwarf_take(&cursor, 1);         /* whether rows are statements */
	unit->line_base = (int8_t)gp_dwarf_take(&cursor, 1);
	unit->line_range = (uint8_t)gp_dwarf_take(&cursor, 1);
	unit->opcode_base = (uint8_t)gp_dwarf_take(&cursor, 1);
	if (unit->line_range == 0 || unit->opcode_base == 0)
		return false;
	unit->lengths = take_cursor(&cursor, unit->opcode_base - 1u);
	unit->folders = cursor;
	while (*take_text(&cursor) != '\0')
		;
	unit->files = cursor;
	return true;
}

static const char *folder_of(const struct unit *unit, uint64_t number)
{
	struct gp_dwarf_cursor cursor = unit->folders;
	const char *folder = "";

	for (uint64_t i = 0; i < number; i++)
		if (*(folder = take_text(&cursor)) == '\0')
			return "";
	return folder;
}

/* False: the unit has no such file. */
static bool name_file(const struct unit *unit, uint32_t number, struct gp_cubin_place *place)
{
	struct gp_dwarf_cursor cursor = unit->files;
	uint64_t folder = 0;

	place->file = "";
	for (uint32_t i = 0; i < number; i++) {
		place->file = take_text(&cursor);
		if (*place->file == '\0')
			break;
		folder = gp_dwarf_take_uleb(&cursor);
		gp_dwarf_take_uleb(&cursor); /* time */
		gp_dwarf_take_uleb(&cursor); /* size */
	}
	place->folder = place->file[0] != '/' ? folder_of(unit, folder) : "";
	return place->file[0] != '\0';
}

static struct row *new_row(struct rows *rows)
{
	uint32_t capacity = rows->capacity != 0 ? 2 * rows->capacity : 64;
	struct row *list;

	if (rows->count < rows->capacity)
		return &rows->list[rows->count++];
	list = capacity <= MOST_ROWS ? realloc(rows->list, capacity * sizeof(*list)) : NULL;
	if (list == NULL)
		return NULL;
	rows->list = list;
	rows->capacity = capacity;
	return &rows->list[rows->count++];
}

/* Of two rows at one offset the later counts; a row that repeats the one before is left out. */
static bool add_row(struct rows *rows, const struct unit *unit, uint32_t section, bool is_end)
{
	struct row *last = rows->count > 0 ? &rows->list[rows->count - 1] : NULL, *row;
	bool has_line = !is_end && unit->line <= UINT32_MAX;
	uint32_t line = has_line ? (uint32_t)unit->line : 0, file = (uint32_t)unit->file;

	if (unit->address >> 32 != section ||
	    (last != NULL && last->offset <= (uint32_t)unit->address && last->line == line &&
	     last->file == file && last->unit == unit->start && !is_end))
		return true;
	row = last != NULL && last->offset == (uint32_t)unit->address ? last : new_row(rows);
	if (row != NULL)
		*row = (struct row){(uint32_t)unit->address, line, file, unit->start};
	return row != NULL;
}

static void reset(struct unit *unit)
{
	unit->address = 0;
	unit->file = unit->line = 1;
}

/* Further operations are NVIDIA's, about inlined functions. */
static bool run_extended(struct unit *unit, struct rows *rows, uint32_t section)
{
	struct gp_dwarf_cursor operation =
		take_cursor(&unit->program, gp_dwarf_take_uleb(&unit->program));
	uint64_t code = gp_dwarf_take(&operation, 1);
	bool has_memory = true;

	if (code == SET_ADDRESS) {
		unit->address = gp_dwarf_take(&operation, 8);
	} else if (code == END_SEQUENCE) {
		has_memory = add_row(rows, unit, section, true);
		reset(unit);
	}
	return has_memory;
}

static bool run_special(struct unit *unit, struct rows *rows, uint32_t section, uint8_t code)
{
	uint8_t step = (uint8_t)(code - unit->opcode_base);

	unit->address += unit->step * (step / unit->line_range);
	unit->line += (uint64_t)(unit->line_base + step % unit->line_range);
	return add_row(rows, unit, section, false);
}

/* Operations without effect here have as many operands as the head says. */
static void run_other(struct unit *unit, uint8_t code)
{
	bool is_known = code <= unit->lengths.end - unit->lengths.at;
	uint8_t operands = is_known ? unit->lengths.at[code - 1] : 0;

	for (uint8_t i = 0; i < operands; i++)
		gp_dwarf_take_uleb(&unit->program);
}

static bool run_one(struct unit *unit, struct rows *rows, uint32_t section)
{
	uint8_t code = (uint8_t)gp_dwarf_take(&unit->program, 1);

	if (code >= unit->opcode_base)
		return run_special(unit, rows, section, code);
	switch (code) {
	case 0:
		return run_extended(unit, rows, section);
	case COPY:
		return add_row(rows, unit, section, false);
	case ADVANCE_PC:
		unit->address += unit->step * gp_dwarf_take_uleb(&unit->program);
		break;
	case ADVANCE_LINE:
		unit->line += (uint64_t)gp_dwarf_take_sleb(&unit->program);
		break;
	case SET_FILE:
		unit->file = gp_dwarf_take_uleb(&unit->program);
		break;
	case CONST_ADD_PC:
		unit->address += unit->step * ((255u - unit->opcode_base) / unit->line_range);
		break;
	case FIXED_ADVANCE_PC:
		unit->address += gp_dwarf_take(&unit->program, 2);
		break;
	default:
		run_other(unit, code);
	}
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	/* of two sequences, one ends where the next begins */
	return (left->line != 0) - (right->line != 0);
}

/* All rows of one section of code.  Without memory for all, there are none. */
static void decode(const struct gp_cubin_lines *lines, uint32_t section, struct rows *rows)
{
	struct gp_dwarf_cursor cursor = {lines->line.bytes, lines->line.bytes + lines->line.count};
	bool has_memory = true;

	while (has_memory && cursor.at < cursor.end) {
		struct unit unit = {.start = (uint32_t)(cursor.at - lines->line.bytes)};

		if (!open_unit(&cursor, &unit))
			continue;
		reset(&unit);
		while (has_memory && unit.program.at < unit.program.end)
			has_memory = run_one(&unit, rows, section);
	}
	if (!has_memory)
		rows->count = 0;
	if (rows->count > 0)
		qsort(rows->list, rows->count, sizeof(*rows->list), compare_rows);
}

/* ---- functions ---- */

/* The section of a kernel's code also has the functions that only this kernel calls. */
static char *find_kernel(const struct gp_cubin_lines *lines, const Elf64_Sym *function)
{
	Elf64_Sym symbol;

	for (uint64_t i = 0; i < lines->symbols.count / sizeof(symbol); i++)
		if (read_symbol(lines, i, &symbol) && symbol.st_shndx == function->st_shndx &&
		    ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == 0)
			return strdup(symbol_name(lines, &symbol));
	return strdup(symbol_name(lines, function));
}

static struct gp_cubin_function *make_function(struct gp_cubin_lines *lines, uint32_t index,
					       const Elf64_Sym *symbol)
{
	struct gp_cubin_function *function = calloc(1, sizeof(*function));

	if (function == NULL)
		return NULL;
	function->kernel = find_kernel(lines, symbol);
	if (function->kernel == NULL) {
		free(function);
		return NULL;
	}
	function->lines = lines;
	function->symbol = index;
	function->start = symbol->st_value;
	decode(lines, symbol->st_shndx, &function->rows);
	function->next = lines->functions;
	lines->functions = function;
	return function;
}

const struct gp_cubin_function *gp_cubin_lines_function(struct gp_cubin_lines *lines,
							const char *name)
{
	Elf64_Sym symbol;

	for (uint32_t i = 0; i < lines->symbols.count / sizeof(symbol); i++) {
		struct gp_cubin_function *known = lines->functions;

		if (!read_symbol(lines, i, &symbol) || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    strcmp(symbol_name(lines, &symbol), name) != 0)
			continue;
		while (known != NULL && known->symbol != i)
			known = known->next;
		return known != NULL ? known : make_function(lines, i, &symbol);
	}
	return NULL;
}

const char *gp_cubin_function_kernel(const struct gp_cubin_function *function)
{
	return function->kernel;
}

static const struct row *find_row(const struct rows *rows, uint64_t offset)
{
	uint32_t low = 0, high = rows->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows->list[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &rows->list[low - 1] : NULL;
}

bool gp_cubin_function_place(const struct gp_cubin_function *function, uint64_t offset,
			     struct gp_cubin_place *place)
{
	const struct row *row = find_row(&function->rows, function->start + offset);
	const struct part *line = &function->lines->line;
	struct unit unit = {0};
	struct gp_dwarf_cursor cursor;

	if (row == NULL || row->line == 0)
		return false;
	cursor = (struct gp_dwarf_cursor){line->bytes + row->unit, line->bytes + line->count};
	place->line = row->line;
	return open_unit(&cursor, &unit) && name_file(&unit, row->file, place);
}
