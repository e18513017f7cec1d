#include "stacks/python_code_reader.h"

#include <string.h>

#include "stacks/python_code.h"
#include "stacks/snapshot.h"

#define CACHE_BITS 11u
#define CACHE_SIZE (1u << CACHE_BITS)

/*
 * Offsets in CPython's objects, the same in all versions; the state of a str gives the layout of
 * its characters.
 */
#define OBJECT_TYPE       8u
#define OBJECT_SIZE       16u
#define TEXT_STATE        32u
#define TEXT_KIND(state)  (((state) >> 2) & 7u)
#define TEXT_ASCII(state) (((state) >> 6) & 1u)

#define BYTES_START 32u /* offset of the contents of bytes */

#define CODE_BYTES      256u
#define HEAD_BYTES      72u   /* of a str, maximum */
#define MOST_CHARACTERS 4000u /* longer names are not emitted */
#define MOST_TABLE      16368u

struct known {
	uint64_t address;
	uint64_t file, name, table;
	uint32_t first_line;
	uint32_t version;
	struct gp_python_code_seen seen;
};

struct gp_python_code_reader {
	struct known cache[CACHE_SIZE];
	uint8_t object[CODE_BYTES] __attribute__((aligned(8)));
	uint8_t file[HEAD_BYTES + MOST_CHARACTERS * 4] __attribute__((aligned(8)));
	uint8_t name[HEAD_BYTES + MOST_CHARACTERS * 4] __attribute__((aligned(8)));
	uint8_t table[HEAD_BYTES + MOST_TABLE] __attribute__((aligned(8)));
	struct gp_python_code_scratch scratch;
};

size_t gp_python_code_reader_bytes(void)
{
	return sizeof(struct gp_python_code_reader);
}

static uint64_t word_of(const uint8_t *object, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, object + offset, sizeof(word));
	return word;
}

static uint32_t half_of(const uint8_t *object, uint32_t offset)
{
	uint32_t half;

	memcpy(&half, object + offset, sizeof(half));
	return half;
}

/* ---- copies ---- */

/* The needed part of an object, whose size depends on the version. */
static uint32_t bytes_of(const struct gp_python_layout *layout)
{
	const uint32_t ends[] = {layout->code.file + 8u,       layout->code.name + 8u,
				 layout->code.first_line + 4u, layout->code.table + 8u,
				 layout->code.version + 4u,    layout->code.first_traceable + 4u};
	uint32_t most = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		most = ends[i] > most ? ends[i] : most;
	return most;
}

static void set_size(uint8_t *object, uint64_t size)
{
	memcpy(object + OBJECT_SIZE, &size, sizeof(size));
}

/*
 * A str or bytes whose header is copied: its expected type, the start and size of its contents; at
 * most `most`.
 */
struct body {
	uint64_t type;
	uint32_t start;
	uint32_t unit; /* bytes per character */
	uint64_t most; /* in characters */
};

static struct body body_of_text(const struct gp_python_known *python, const uint8_t *copy)
{
	uint32_t state = half_of(copy, TEXT_STATE);

	return (struct body){python->text_type,
			     TEXT_ASCII(state) ? python->layout.text.ascii
					       : python->layout.text.other,
			     TEXT_KIND(state), MOST_CHARACTERS};
}

/* Limit the size from the header.  False: not of the expected type. */
static bool plan_body(struct gp_snapshot_piece *piece, uint64_t address, uint8_t *copy,
		      const struct body *body)
{
	uint64_t size = word_of(copy, OBJECT_SIZE);

	if (word_of(copy, OBJECT_TYPE) != body->type || body->unit > 4)
		return false;
	size = size < body->most ? size : body->most;
	set_size(copy, size);
	*piece = (struct gp_snapshot_piece){address + body->start, copy + body->start,
					    size * body->unit};
	return true;
}

/* The file name, the function name, and the line table. */
static bool copy_parts(struct gp_python_code_reader *reader, const struct gp_python_known *python,
		       const struct known *known)
{
	uint32_t head = python->layout.text.ascii;
	struct gp_snapshot_piece pieces[3] = {{known->file, reader->file, head},
					      {known->name, reader->name, head},
					      {known->table, reader->table, BYTES_START}};

	if (!gp_snapshot_pieces_now(pieces, 3))
		return false;
	struct body file = body_of_text(python, reader->file);
	struct body name = body_of_text(python, reader->name);
	struct body table = {python->bytes_type, BYTES_START, 1, MOST_TABLE};

	return plan_body(&pieces[0], known->file, reader->file, &file) &&
	       plan_body(&pieces[1], known->name, reader->name, &name) &&
	       plan_body(&pieces[2], known->table, reader->table, &table) &&
	       gp_snapshot_pieces_now(pieces, 3);
}

/* ---- ids ---- */

static struct known describe(const struct gp_python_layout *layout, uint64_t address,
			     const uint8_t *object)
{
	return (struct known){
		.address = address,
		.file = word_of(object, layout->code.file),
		.name = word_of(object, layout->code.name),
		.table = word_of(object, layout->code.table),
		.first_line = half_of(object, layout->code.first_line),
		.version = layout->code.version != 0 ? half_of(object, layout->code.version) : 0,
	};
}

static bool is_same(const struct known *a, const struct known *b)
{
	return a->address == b->address && a->file == b->file && a->name == b->name &&
	       a->table == b->table && a->first_line == b->first_line && a->version == b->version;
}

static struct known *place_of(struct gp_python_code_reader *reader, uint64_t code)
{
	return &reader->cache[(code * 0x9e3779b97f4a7c15u) >> (64 - CACHE_BITS)];
}

/*
 * Code without a file may be replaced by other code with the same identity (stacks/python_code.c).
 */
static bool may_be_kept(const struct gp_python_layout *layout,
			const struct gp_python_code_reader *reader, const struct known *known)
{
	const char *file = (const char *)reader->file + layout->text.ascii;

	return known->version != 0 ||
	       (TEXT_ASCII(half_of(reader->file, TEXT_STATE)) && file[0] == '/');
}

bool gp_python_code_reader_find(struct gp_python_code_reader *reader,
				const struct gp_python_known *python, uint64_t code,
				struct gp_python_code_seen *seen)
{
	const struct gp_python_layout *layout = &python->layout;
	const struct gp_python_code_copy copy = {code, reader->object, reader->file, reader->name,
						 reader->table};
	struct known *kept = place_of(reader, code);

	if (!gp_snapshot_now(code, reader->object, bytes_of(layout)) ||
	    word_of(reader->object, OBJECT_TYPE) != python->code_type)
		return false;
	struct known known = describe(layout, code, reader->object);

	if (is_same(kept, &known)) {
		*seen = kept->seen;
		return true;
	}
	if (!copy_parts(reader, python, &known))
		return false;
	known.seen.id = gp_python_code_find_copy(layout, &copy, &reader->scratch);
	known.seen.first_traceable = layout->code.first_traceable != 0
					     ? half_of(reader->object, layout->code.first_traceable)
					     : 0;
	if (may_be_kept(layout, reader, &known))
		*kept = known;
	*seen = known.seen;
	return true;
}
