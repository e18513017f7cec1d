#include "report/symbols/frame_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/base/array.h"
#include "report/base/memstream.h"

#define MOST_TEXT_BYTES (256u << 20)
#define MOST_RATIO      1032 /* the best compression ratio of deflate */
#define HEXADECIMAL     16

struct name {
	uint64_t address;
	uint32_t module_id;
	uint32_t first, count; /* range in places */
};

struct gp_frame_names {
	struct name *names; /* sorted by (module, address) after unpacking */
	struct gp_elf_place *places;
	uint32_t name_count, name_capacity, place_count, place_capacity;
	char *text; /* the unpacked text, which holds the texts of the places */
};

struct gp_frame_names *gp_frame_names_new(void)
{
	return calloc(1, sizeof(struct gp_frame_names));
}

void gp_frame_names_free(struct gp_frame_names *names)
{
	if (!names)
		return;
	free(names->names);
	free(names->places);
	free(names->text);
	free(names);
}

static int add_place(struct gp_frame_names *names, const struct gp_elf_place *place)
{
	int error = gp_array_grow(&names->places, &names->place_capacity, names->place_count,
				  sizeof(*names->places));

	if (error == 0)
		names->places[names->place_count++] = *place;
	return error;
}

int gp_frame_names_add(struct gp_frame_names *names, uint32_t module_id, uint64_t address,
		       const struct gp_elf_place *places, size_t count)
{
	int error = gp_array_grow(&names->names, &names->name_capacity, names->name_count,
				  sizeof(*names->names));

	if (error != 0)
		return error;
	names->names[names->name_count++] =
		(struct name){address, module_id, names->place_count, (uint32_t)count};
	for (size_t i = 0; i < count && error == 0; i++)
		error = add_place(names, &places[i]);
	return error;
}

size_t gp_frame_names_count(const struct gp_frame_names *names)
{
	return names->name_count;
}

/* ---- search ---- */

static int compare_names(const void *a, const void *b)
{
	const struct name *left = a, *right = b;

	if (left->module_id != right->module_id)
		return left->module_id < right->module_id ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

size_t gp_frame_names_find(const struct gp_frame_names *names, uint32_t module_id, uint64_t address,
			   const struct gp_elf_place **places)
{
	const struct name key = {.address = address, .module_id = module_id}, *found;

	if (!names || names->name_count == 0)
		return 0;
	found = bsearch(&key, names->names, names->name_count, sizeof(key), compare_names);
	if (!found)
		return 0;
	*places = &names->places[found->first];
	return found->count;
}

/*
 * ---- packing: each place is "module address line\0function\0file\0" with hexadecimal numbers ----
 */

static void print_place(FILE *out, const struct name *name, const struct gp_elf_place *place)
{
	fprintf(out, "%" PRIx32 " %" PRIx64 " %" PRIx32 "%c%s%c%s%c", name->module_id,
		name->address, place->line, '\0', place->function ? place->function : "", '\0',
		place->file ? place->file : "", '\0');
}

static int deflate_text(const char *text, size_t length, struct gp_packed_names *packed)
{
	uLongf bytes = compressBound(length);
	uint8_t *deflated = length <= MOST_TEXT_BYTES ? malloc(bytes) : NULL;

	if (!deflated || compress(deflated, &bytes, (const Bytef *)text, length) != Z_OK) {
		free(deflated);
		return -ENOMEM;
	}
	*packed = (struct gp_packed_names){deflated, bytes, length};
	return 0;
}

int gp_frame_names_pack(const struct gp_frame_names *names, struct gp_packed_names *packed)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int result = -ENOMEM;

	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->name_count; i++)
		for (uint32_t j = 0; j < names->names[i].count; j++)
			print_place(out, &names->names[i],
				    &names->places[names->names[i].first + j]);
	if (gp_memstream_close(out, &text) == 0)
		result = deflate_text(text, length, packed);
	free(text);
	return result;
}

/* ---- unpacking ---- */

struct row {
	uint32_t module_id;
	uint64_t address;
	struct gp_elf_place place;
};

static const char *text_or_null(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

/* Takes the row at *at and moves *at after it. Returns false if it is not complete. */
static bool take_row(const char **at, const char *end, struct row *row)
{
	const char *fields[3];
	char *rest;

	for (size_t i = 0; i < 3; i++) {
		if (*at == end)
			return false;
		fields[i] = *at;
		*at += strlen(*at) + 1; /* the text ends in a NUL */
	}
	row->module_id = (uint32_t)strtoul(fields[0], &rest, HEXADECIMAL);
	row->address = strtoull(rest, &rest, HEXADECIMAL);
	row->place.line = (uint32_t)strtoul(rest, &rest, HEXADECIMAL);
	row->place.function = text_or_null(fields[1]);
	row->place.file = text_or_null(fields[2]);
	return *rest == '\0';
}

/*
 * A row with the address of the previous row is the function that the previous one is inlined into.
 */
static int add_row(struct gp_frame_names *names, const struct row *row)
{
	struct name *last = names->name_count > 0 ? &names->names[names->name_count - 1] : NULL;

	if (!last || last->module_id != row->module_id || last->address != row->address)
		return gp_frame_names_add(names, row->module_id, row->address, &row->place, 1);
	if (last->count >= GP_ELF_PLACES)
		return 0;
	last->count++;
	return add_place(names, &row->place);
}

static bool take_rows(struct gp_frame_names *names, size_t length)
{
	const char *at = names->text, *end = at + length;
	struct row row;

	while (at < end)
		if (!take_row(&at, end, &row) || add_row(names, &row) != 0)
			return false;
	if (names->name_count > 0)
		qsort(names->names, names->name_count, sizeof(*names->names), compare_names);
	return true;
}

static bool inflate_text(struct gp_frame_names *names, const struct gp_packed_names *packed)
{
	uLongf length = packed->text_bytes;

	if (length == 0 || length > MOST_TEXT_BYTES || length / MOST_RATIO > packed->length)
		return false;
	names->text = malloc(length);
	return names->text &&
	       uncompress((Bytef *)names->text, &length, packed->bytes, packed->length) == Z_OK &&
	       length == packed->text_bytes && names->text[length - 1] == '\0';
}

struct gp_frame_names *gp_frame_names_unpack(const struct gp_packed_names *packed)
{
	struct gp_frame_names *names = gp_frame_names_new();

	if (names && inflate_text(names, packed) && take_rows(names, packed->text_bytes))
		return names;
	gp_frame_names_free(names);
	return NULL;
}
