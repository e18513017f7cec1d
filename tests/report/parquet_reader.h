/*
 * parquet_reader: prints a file of report/codec/parquet.h as text, and checks what its metadata say
 * of offsets and sizes.
 *
 * Written from the descriptions of Parquet and Thrift's compact protocol, for what gpuprof writes:
 * gzip pages, optional columns of INT64, DOUBLE and BYTE_ARRAY.
 */
#ifndef TESTS_REPORT_PARQUET_READER_H
#define TESTS_REPORT_PARQUET_READER_H

#include "tests/unit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The tables of an export. */
static const char *const parquet_tables[] = {
	"ops",     "calls",  "ranges", "memory",      "samples",    "syncs", "energy",
	"missing", "others", "ranks",  "collectives", "iterations", "idle"};
#define PARQUET_TABLES (sizeof(parquet_tables) / sizeof(parquet_tables[0]))

struct parquet_bytes {
	const uint8_t *at, *end;
};

static inline const uint8_t *parquet_take(struct parquet_bytes *bytes, size_t count)
{
	const uint8_t *at = bytes->at;

	assert_true((size_t)(bytes->end - at) >= count);
	bytes->at += count;
	return at;
}

static inline uint64_t parquet_number(struct parquet_bytes *bytes, size_t count)
{
	uint64_t value = 0;

	memcpy(&value, parquet_take(bytes, count), count);
	return value;
}

static inline uint64_t parquet_varint(struct parquet_bytes *bytes)
{
	uint64_t value = 0, byte = 128;

	for (unsigned shift = 0; byte >= 128; shift += 7) {
		byte = *parquet_take(bytes, 1);
		value |= (byte & 127) << shift;
	}
	return value;
}

static inline int64_t parquet_zigzag(struct parquet_bytes *bytes)
{
	uint64_t value = parquet_varint(bytes);

	return (int64_t)(value >> 1 ^ -(value & 1));
}

/* ---- Thrift ---- */

/* A whole number, a binary, or the fields of a struct or elements of a list. */
struct parquet_node {
	int id;
	int64_t number;
	struct parquet_bytes bytes;
	struct parquet_node *nodes;
	size_t count;
};

static inline struct parquet_node parquet_value(struct parquet_bytes *bytes, unsigned type);

static inline struct parquet_node *parquet_add(struct parquet_node *node)
{
	node->nodes = realloc(node->nodes, (node->count + 1) * sizeof(*node->nodes));
	assert_non_null(node->nodes);
	return &node->nodes[node->count++];
}

static inline struct parquet_node parquet_struct(struct parquet_bytes *bytes)
{
	struct parquet_node node = {.count = 0};
	int id = 0;

	for (uint8_t head; (head = *parquet_take(bytes, 1)) != 0;) {
		struct parquet_node field = parquet_value(bytes, head & 15);

		assert_true(head >> 4 > 0); /* else the id follows, which gpuprof never needs */
		field.id = id += head >> 4;
		*parquet_add(&node) = field;
	}
	return node;
}

static inline struct parquet_node parquet_value(struct parquet_bytes *bytes, unsigned type)
{
	enum { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };
	struct parquet_node node = {.count = 0};

	if (type == STRUCT)
		return parquet_struct(bytes);
	if (type == LIST) {
		unsigned head = *parquet_take(bytes, 1);
		uint64_t count = head >> 4 < 15 ? head >> 4 : parquet_varint(bytes);

		for (uint64_t i = 0; i < count; i++)
			*parquet_add(&node) = parquet_value(bytes, head & 15);
	} else if (type == BINARY) {
		uint64_t count = parquet_varint(bytes);

		node.bytes.at = parquet_take(bytes, count);
		node.bytes.end = bytes->at;
	} else {
		assert_true(type == I32 || type == I64);
		node.number = parquet_zigzag(bytes);
	}
	return node;
}

static inline void parquet_free(struct parquet_node *node)
{
	for (size_t i = 0; i < node->count; i++)
		parquet_free(&node->nodes[i]);
	free(node->nodes);
}

/* NULL: there is none. */
static inline const struct parquet_node *parquet_find(const struct parquet_node *node, int id)
{
	for (size_t i = 0; i < node->count; i++)
		if (node->nodes[i].id == id)
			return &node->nodes[i];
	return NULL;
}

static inline const struct parquet_node *parquet_at(const struct parquet_node *node, int id)
{
	const struct parquet_node *found = parquet_find(node, id);

	assert_non_null(found);
	return found;
}

static inline char *parquet_text(struct parquet_bytes bytes)
{
	char *text = strndup((const char *)bytes.at, (size_t)(bytes.end - bytes.at));

	assert_non_null(text);
	return text;
}

/* ---- encodings ---- */

static inline uint64_t parquet_bits(const uint8_t *bytes, size_t first, unsigned count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value |= (uint64_t)(bytes[(first + i) / 8] >> (first + i) % 8 & 1) << i;
	return value;
}

/* Up to the end; the last run may be longer than the values. */
static inline void parquet_runs(struct parquet_bytes *page, unsigned bits, uint64_t *values,
				size_t count)
{
	size_t done = 0;

	while (page->at < page->end) {
		uint64_t head = parquet_varint(page);
		size_t length = head & 1 ? (head >> 1) * 8 : head >> 1;
		const uint8_t *from =
			parquet_take(page, head & 1 ? length * bits / 8 : (bits + 7) / 8);

		for (size_t i = 0; i < length && done < count; i++)
			values[done++] = parquet_bits(from, head & 1 ? i * bits : 0, bits);
	}
	assert_int_equal(done, count);
}

static inline void parquet_deltas(struct parquet_bytes *page, uint64_t *values, size_t count)
{
	uint64_t block = parquet_varint(page), parts = parquet_varint(page);

	assert_int_equal(parquet_varint(page), count);
	uint64_t value = (uint64_t)parquet_zigzag(page);

	for (size_t done = 0; done < count;) {
		if (done == 0)
			values[done++] = value;
		if (done == count)
			break;
		uint64_t least = (uint64_t)parquet_zigzag(page);
		const uint8_t *widths = parquet_take(page, parts);

		for (uint64_t part = 0; part < parts && done < count; part++) {
			const uint8_t *from = parquet_take(page, block / parts * widths[part] / 8);

			for (size_t i = 0; i < block / parts && done < count; i++)
				values[done++] = value +=
					least + parquet_bits(from, i * widths[part], widths[part]);
		}
	}
}

/* ---- pages ---- */

enum { PARQUET_INT64 = 2, PARQUET_DOUBLE = 5, PARQUET_BYTES = 6 };
enum { PARQUET_PLAIN = 0, PARQUET_RLE = 3, PARQUET_DELTAS = 5, PARQUET_DICTIONARY = 8 };

/* A page, to be freed, and its header. */
static inline uint8_t *parquet_page(struct parquet_bytes *file, struct parquet_node *header,
				    struct parquet_bytes *page)
{
	*header = parquet_struct(file);

	size_t bytes = (size_t)parquet_at(header, 2)->number;
	size_t packed = (size_t)parquet_at(header, 3)->number;
	uint8_t *data = malloc(bytes + 1);
	z_stream zip = {.next_in = (uint8_t *)parquet_take(file, packed),
			.avail_in = (unsigned)packed,
			.next_out = data,
			.avail_out = (unsigned)bytes + 1};

	assert_int_equal(inflateInit2(&zip, 31), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	assert_int_equal(zip.total_out, bytes);
	assert_int_equal(zip.avail_in, 0);
	inflateEnd(&zip);
	*page = (struct parquet_bytes){data, data + bytes};
	return data;
}

/* A column of a group. */
struct parquet_column {
	int64_t type, encoding;
	bool is_unsigned;
	char **texts; /* its dictionary */
	size_t text_count;
};

static inline char *parquet_cell(const struct parquet_column *column, uint64_t value)
{
	char *text;
	double real;

	memcpy(&real, &value, sizeof(real));
	if (column->type == PARQUET_BYTES) {
		assert_true(value < column->text_count);
		return strdup(column->texts[value]);
	}
	assert_true(column->type == PARQUET_DOUBLE ? asprintf(&text, "%.9g", real) > 0
		    : column->is_unsigned          ? asprintf(&text, "0x%" PRIx64, value) > 0
					  : asprintf(&text, "%" PRId64, (int64_t)value) > 0);
	return text;
}

static inline void parquet_values(const struct parquet_column *column, struct parquet_bytes *page,
				  uint64_t *values, size_t count)
{
	if (column->encoding == PARQUET_DICTIONARY)
		parquet_runs(page, *parquet_take(page, 1), values, count);
	else if (column->encoding == PARQUET_DELTAS)
		parquet_deltas(page, values, count);
	else
		for (size_t i = 0; i < count; i++)
			values[i] = parquet_number(page, 8);
	assert_ptr_equal(page->at, page->end);
}

/* Cells that are NULL have no value. */
static inline void parquet_data(const struct parquet_column *column, struct parquet_bytes *file,
				char **cells, size_t rows)
{
	struct parquet_node header;
	struct parquet_bytes page, levels;
	uint8_t *data = parquet_page(file, &header, &page);
	uint64_t *is_there = calloc(rows + 1, sizeof(*is_there));
	uint64_t *values = calloc(rows + 1, sizeof(*values));
	size_t count = 0, used = 0;

	assert_int_equal(parquet_at(&header, 1)->number, 0);
	assert_int_equal(parquet_at(parquet_at(&header, 5), 1)->number, rows);
	assert_int_equal(parquet_at(parquet_at(&header, 5), 2)->number, column->encoding);
	assert_int_equal(parquet_at(parquet_at(&header, 5), 3)->number, PARQUET_RLE);
	assert_int_equal(parquet_at(parquet_at(&header, 5), 4)->number, PARQUET_RLE);
	size_t bytes = parquet_number(&page, 4);

	levels.at = parquet_take(&page, bytes);
	levels.end = page.at;
	parquet_runs(&levels, 1, is_there, rows);
	for (size_t i = 0; i < rows; i++)
		count += is_there[i];
	parquet_values(column, &page, values, count);
	for (size_t i = 0; i < rows; i++)
		cells[i] = is_there[i] ? parquet_cell(column, values[used++]) : NULL;
	free(is_there);
	free(values);
	free(data);
	parquet_free(&header);
}

static inline void parquet_dictionary(struct parquet_column *column, struct parquet_bytes *file)
{
	struct parquet_node header;
	struct parquet_bytes page;
	uint8_t *data = parquet_page(file, &header, &page);

	assert_int_equal(parquet_at(&header, 1)->number, 2);
	assert_int_equal(parquet_at(parquet_at(&header, 7), 2)->number, PARQUET_PLAIN);
	column->text_count = (size_t)parquet_at(parquet_at(&header, 7), 1)->number;
	column->texts = calloc(column->text_count + 1, sizeof(char *));
	for (size_t i = 0; i < column->text_count; i++) {
		size_t length = parquet_number(&page, 4);
		const uint8_t *text = parquet_take(&page, length);

		column->texts[i] = parquet_text((struct parquet_bytes){text, text + length});
	}
	assert_ptr_equal(page.at, page.end);
	free(data);
	parquet_free(&header);
}

/* Bytes of the pages from `at` on, with their headers, unpacked. */
static inline int64_t parquet_plain_bytes(struct parquet_bytes pages)
{
	int64_t bytes = 0;

	while (pages.at < pages.end) {
		const uint8_t *start = pages.at;
		struct parquet_node header = parquet_struct(&pages);

		bytes += pages.at - start + parquet_at(&header, 2)->number;
		parquet_take(&pages, (size_t)parquet_at(&header, 3)->number);
		parquet_free(&header);
	}
	return bytes;
}

/* ---- files ---- */

static inline void parquet_put_range(FILE *out, const struct parquet_column *column,
				     const struct parquet_node *statistics)
{
	struct parquet_bytes most, least;

	fprintf(out, ", %" PRId64 " null", parquet_at(statistics, 3)->number);
	if (parquet_find(statistics, 5) == NULL) {
		assert_null(parquet_find(statistics, 6));
		return;
	}
	most = parquet_at(statistics, 5)->bytes;
	least = parquet_at(statistics, 6)->bytes;
	char *from = parquet_cell(column, parquet_number(&least, 8));
	char *to = parquet_cell(column, parquet_number(&most, 8));

	fprintf(out, ", %s to %s", from, to);
	free(from);
	free(to);
}

/* A column's cells, after a line about it.  Returns the end of its pages. */
static inline const uint8_t *parquet_read_column(FILE *out, const uint8_t *file,
						 const struct parquet_node *chunk,
						 const struct parquet_node *field, char **cells,
						 size_t rows)
{
	const struct parquet_node *facts = parquet_at(chunk, 3);
	const struct parquet_node *dictionary = parquet_find(facts, 11);
	struct parquet_column column = {.type = parquet_at(facts, 1)->number};
	const struct parquet_node *converted = parquet_find(field, 6);
	const uint8_t *start = file + parquet_at(chunk, 2)->number;
	struct parquet_bytes pages = {start, start + parquet_at(facts, 7)->number};
	char *name = parquet_text(parquet_at(facts, 3)->nodes[0].bytes);
	char *title = parquet_text(parquet_at(field, 4)->bytes);

	assert_string_equal(name, title);
	assert_int_equal(parquet_at(field, 1)->number, column.type);
	assert_int_equal(parquet_at(field, 3)->number, 1); /* optional */
	column.is_unsigned = converted != NULL && column.type == PARQUET_INT64;
	if (converted != NULL)
		assert_int_equal(converted->number, column.is_unsigned ? 14 : 0);
	assert_int_equal(converted != NULL, column.is_unsigned || column.type == PARQUET_BYTES);
	assert_int_equal(parquet_at(facts, 2)->nodes[0].number, PARQUET_RLE);
	column.encoding = parquet_at(facts, 2)->nodes[1].number;
	assert_int_equal(parquet_at(facts, 4)->number, 2); /* gzip */
	assert_int_equal(parquet_at(facts, 5)->number, rows);
	assert_int_equal(parquet_at(facts, 6)->number, parquet_plain_bytes(pages));
	if (dictionary != NULL) {
		assert_ptr_equal(file + dictionary->number, pages.at);
		parquet_dictionary(&column, &pages);
	}
	assert_ptr_equal(file + parquet_at(facts, 9)->number, pages.at);
	parquet_data(&column, &pages, cells, rows);
	assert_ptr_equal(pages.at, pages.end);
	fprintf(out, "%s: type %" PRId64 ", encoding %" PRId64 ", %zu texts", name, column.type,
		column.encoding, column.text_count);
	parquet_put_range(out, &column, parquet_at(facts, 12));
	fputs("\n", out);
	for (size_t i = 0; i < column.text_count; i++)
		free(column.texts[i]);
	free(column.texts);
	free(name);
	free(title);
	return pages.end;
}

static inline void parquet_put_rows(FILE *out, char **cells, size_t rows, size_t columns)
{
	for (size_t row = 0; row < rows; row++)
		for (size_t c = 0; c < columns; c++) {
			char *cell = cells[c * rows + row];

			fprintf(out, "%s%s", cell ? cell : "", c + 1 < columns ? "|" : "\n");
			free(cell);
		}
}

static inline void parquet_print_group(FILE *out, const uint8_t *file,
				       const struct parquet_node *group,
				       const struct parquet_node *schema)
{
	const struct parquet_node *chunks = parquet_at(group, 1);
	size_t rows = (size_t)parquet_at(group, 3)->number;
	const uint8_t *start = file + parquet_at(group, 5)->number, *end = start;
	char **cells = calloc(chunks->count * rows + 1, sizeof(*cells));
	int64_t plain_bytes = 0;

	fprintf(out, "-- group of %zu rows\n", rows);
	assert_int_equal(chunks->count + 1, schema->count);
	for (size_t c = 0; c < chunks->count; c++) {
		const struct parquet_node *chunk = &chunks->nodes[c];

		assert_ptr_equal(file + parquet_at(chunk, 2)->number, end);
		end = parquet_read_column(out, file, chunk, &schema->nodes[c + 1], cells + c * rows,
					  rows);
		plain_bytes += parquet_at(parquet_at(chunk, 3), 6)->number;
	}
	assert_int_equal(parquet_at(group, 2)->number, plain_bytes);
	assert_ptr_equal(start + parquet_at(group, 6)->number, end);
	parquet_put_rows(out, cells, rows, chunks->count);
	free(cells);
}

/* For each group of rows a line for each column, then the rows. */
static inline void parquet_print(FILE *out, const char *file, size_t length)
{
	const uint8_t *bytes = (const uint8_t *)file;
	struct parquet_bytes rest = {bytes + length - 8, bytes + length};
	struct parquet_node footer;
	int64_t rows = 0;

	assert_memory_equal(file, "PAR1", 4);
	assert_memory_equal(file + length - 4, "PAR1", 4);
	rest.at -= parquet_number(&(struct parquet_bytes){rest.at, rest.end}, 4);
	footer = parquet_struct(&rest);
	assert_ptr_equal(rest.at, bytes + length - 8);
	assert_int_equal(parquet_at(&footer, 1)->number, 2);
	assert_memory_equal(parquet_at(&footer, 6)->bytes.at, "gpuprof", 7);
	const struct parquet_node *groups = parquet_at(&footer, 4),
				  *schema = parquet_at(&footer, 2);

	assert_memory_equal(parquet_at(&schema->nodes[0], 4)->bytes.at, "schema", 6);
	assert_int_equal(parquet_at(&schema->nodes[0], 5)->number, schema->count - 1);
	for (size_t i = 0; i < groups->count; i++) {
		parquet_print_group(out, bytes, &groups->nodes[i], schema);
		rows += parquet_at(&groups->nodes[i], 3)->number;
	}
	assert_int_equal(parquet_at(&footer, 3)->number, rows);
	parquet_free(&footer);
}

#endif
