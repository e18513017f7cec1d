#include "report/codec/parquet.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/base/array.h"
#include "report/base/text/utf8.h"
#include "report/codec/interner.h"
#include "report/codec/parquet_encoding.h"
#include "report/codec/thrift.h"

/* Numbers of the format's definition (parquet.thrift). */
enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTES = 6 };
enum { CONVERTED_UTF8 = 0, CONVERTED_UINT64 = 14 };
enum { IS_OPTIONAL = 1, CODEC_GZIP = 2, FORMAT_VERSION = 2 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };

static const char magic[4] = {'P', 'A', 'R', '1'};

#define GZIP_WINDOW 31 /* zlib's value for gzip's header and the largest window */
#define LEVEL       1  /* differences and dictionaries leave little for higher levels */
#define NO_OFFSET   (-1)

struct column {
	struct gp_parquet_column type;
	/* of the rows that have one: numbers, bits of a double, numbers of texts */
	uint64_t *values;
	uint32_t *rows; /* of the values */
	uint32_t value_count, value_capacity, row_capacity;
	struct gp_interner texts;
	/* in the current group's part of the file */
	int64_t dictionary_offset, data_offset, end_offset, plain_bytes;
};

struct gp_parquet {
	FILE *out;
	z_stream zip;
	int64_t written;
	uint64_t total_rows;
	uint32_t rows; /* of the current group */
	struct gp_protobuf page;
	uint8_t *packed; /* the page, compressed */
	size_t packed_bytes, packed_room;
	struct gp_thrift groups; /* their metadata, written at the end */
	size_t group_count;
	int error;
	size_t column_count;
	struct column columns[];
};

static void put(struct gp_parquet *file, const void *bytes, size_t count)
{
	if (file->error == 0 && count > 0 && fwrite(bytes, 1, count, file->out) != count)
		file->error = -EIO;
	file->written += (int64_t)count;
}

/* ---- rows ---- */

void gp_parquet_open(struct gp_parquet **file, FILE *out, const struct gp_parquet_column *columns,
		     size_t count)
{
	struct gp_parquet *opened = calloc(1, sizeof(*opened) + count * sizeof(opened->columns[0]));

	*file = opened;
	opened->out = out;
	opened->column_count = count;
	for (size_t i = 0; i < count; i++)
		opened->columns[i].type = columns[i];
	if (deflateInit2(&opened->zip, LEVEL, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		opened->error = -ENOMEM;
	put(opened, magic, sizeof(magic));
}

static void store(struct gp_parquet *file, size_t index, uint64_t value)
{
	struct column *column = &file->columns[index];
	uint32_t count = column->value_count;

	if (file->error == 0)
		file->error = gp_array_grow(&column->values, &column->value_capacity, count,
					    sizeof(*column->values));
	if (file->error == 0)
		file->error = gp_array_grow(&column->rows, &column->row_capacity, count,
					    sizeof(*column->rows));
	if (file->error != 0)
		return;
	column->values[count] = value;
	column->rows[count] = file->rows;
	column->value_count++;
}

void gp_parquet_put_whole(struct gp_parquet *file, size_t column, uint64_t value)
{
	store(file, column, value);
}

void gp_parquet_put_real(struct gp_parquet *file, size_t column, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	store(file, column, bits);
}

/* The dictionary has the texts with their NUL. */
void gp_parquet_put_text(struct gp_parquet *file, size_t column, const char *text)
{
	bool is_new;
	uint32_t number;

	if (file->error != 0)
		return;
	number = gp_interner_number(&file->columns[column].texts, text, strlen(text) + 1, &is_new);
	if (number == 0)
		file->error = -ENOMEM;
	else
		store(file, column, number - 1);
}

void gp_parquet_end_row(struct gp_parquet *file)
{
	file->rows++;
	if (file->rows == GP_PARQUET_GROUP_ROWS)
		gp_parquet_end_group(file);
}

/* ---- pages ---- */

static bool make_room(struct gp_parquet *file)
{
	/* deflateBound() forgets gzip's header if the stream is at its end */
	size_t room =
		deflateReset(&file->zip) == Z_OK ? deflateBound(&file->zip, file->page.used) : 0;
	uint8_t *packed = room > file->packed_room ? realloc(file->packed, room) : file->packed;

	if (!packed)
		return false;
	file->packed = packed;
	file->packed_room = room > file->packed_room ? room : file->packed_room;
	return true;
}

static void compress_page(struct gp_parquet *file)
{
	if (file->page.error != 0 || !make_room(file)) {
		file->error = -ENOMEM;
		return;
	}
	file->zip.next_in = file->page.bytes;
	file->zip.avail_in = (uInt)file->page.used;
	file->zip.next_out = file->packed;
	file->zip.avail_out = (uInt)file->packed_room;
	if (deflate(&file->zip, Z_FINISH) != Z_STREAM_END)
		file->error = -EIO;
	file->packed_bytes = file->packed_room - file->zip.avail_out;
}

static void put_data_header(struct gp_thrift *header, uint32_t rows, int encoding)
{
	gp_thrift_begin(header, 5);
	gp_thrift_i32(header, 1, (int32_t)rows);
	gp_thrift_i32(header, 2, encoding);
	gp_thrift_i32(header, 3, RLE); /* of definition levels */
	gp_thrift_i32(header, 4, RLE); /* of repetition levels: there are none */
	gp_thrift_end(header);
}

static void put_dictionary_header(struct gp_thrift *header, uint32_t texts)
{
	gp_thrift_begin(header, 7);
	gp_thrift_i32(header, 1, (int32_t)texts);
	gp_thrift_i32(header, 2, PLAIN);
	gp_thrift_end(header);
}

/* The page, compressed, after its header.  Returns its size with the header, uncompressed. */
static int64_t put_page(struct gp_parquet *file, int type, uint32_t values, int encoding)
{
	struct gp_thrift header = {.depth = 0};
	size_t page_bytes = file->page.used;

	if (page_bytes > INT32_MAX)
		file->error = -EOVERFLOW;
	if (file->error == 0)
		compress_page(file);
	gp_thrift_i32(&header, 1, type);
	gp_thrift_i32(&header, 2, (int32_t)page_bytes);
	gp_thrift_i32(&header, 3, (int32_t)file->packed_bytes);
	if (type == DATA_PAGE)
		put_data_header(&header, values, encoding);
	else
		put_dictionary_header(&header, values);
	gp_thrift_end(&header);
	if (header.bytes.error != 0)
		file->error = header.bytes.error;
	put(file, header.bytes.bytes, header.bytes.used);
	page_bytes += header.bytes.used;
	gp_protobuf_free(&header.bytes);
	put(file, file->packed, file->packed_bytes);
	file->page.used = 0;
	return (int64_t)page_bytes;
}

static void put_le32(struct gp_protobuf *page, uint32_t value)
{
	uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
			   (uint8_t)(value >> 24)};

	gp_protobuf_raw(page, bytes, sizeof(bytes));
}

/* A bit for each row that has a value. */
static int put_bits_of_rows(struct gp_protobuf *levels, const struct column *column, uint32_t rows)
{
	uint64_t *bits = calloc(rows, sizeof(*bits));

	for (uint32_t i = 0; i < column->value_count; i++)
		bits[column->rows[i]] = 1;
	gp_parquet_put_packed(levels, bits, rows, 1);
	free(bits);
	return levels->error;
}

/* Which rows have a value, after the number of bytes that this takes. */
static int put_levels(struct gp_parquet *file, const struct column *column)
{
	struct gp_protobuf levels = {0};
	int result = 0;

	if (column->value_count == file->rows || column->value_count == 0)
		gp_parquet_put_run(&levels, column->value_count > 0, file->rows);
	else
		result = put_bits_of_rows(&levels, column, file->rows);
	put_le32(&file->page, (uint32_t)levels.used);
	gp_protobuf_raw(&file->page, levels.bytes, levels.used);
	gp_protobuf_free(&levels);
	return result;
}

static void put_dictionary(struct gp_parquet *file, struct column *column)
{
	for (uint32_t i = 0; i < column->texts.count && file->error == 0; i++) {
		char *text = gp_utf8_repair(column->texts.bytes + column->texts.entries[i].offset);
		size_t length = text ? strlen(text) : 0;

		if (!text)
			file->error = -ENOMEM;
		put_le32(&file->page, (uint32_t)length);
		gp_protobuf_raw(&file->page, text, length);
		free(text);
	}
	column->dictionary_offset = file->written;
	column->plain_bytes += put_page(file, DICTIONARY_PAGE, column->texts.count, PLAIN);
}

static int put_values(struct gp_parquet *file, const struct column *column)
{
	unsigned bits = column->texts.count > 1 ? gp_parquet_bits(column->texts.count - 1) : 1;
	uint8_t width = (uint8_t)bits;

	if (column->type.type == GP_PARQUET_TEXT) {
		gp_protobuf_raw(&file->page, &width, 1);
		gp_parquet_put_packed(&file->page, column->values, column->value_count, bits);
		return RLE_DICTIONARY;
	}
	if (column->type.type == GP_PARQUET_REAL) {
		gp_protobuf_raw(&file->page, column->values,
				column->value_count * sizeof(*column->values));
		return PLAIN;
	}
	gp_parquet_put_deltas(&file->page, column->values, column->value_count);
	return DELTA_BINARY_PACKED;
}

static void put_column(struct gp_parquet *file, struct column *column)
{
	int encoding;

	column->plain_bytes = 0;
	column->dictionary_offset = NO_OFFSET;
	if (column->type.type == GP_PARQUET_TEXT)
		put_dictionary(file, column);
	column->data_offset = file->written;
	if (file->error == 0)
		file->error = put_levels(file, column);
	encoding = put_values(file, column);
	column->plain_bytes += put_page(file, DATA_PAGE, file->rows, encoding);
	column->end_offset = file->written;
}

/* ---- metadata of groups ---- */

static int type_of(const struct column *column)
{
	return column->type.type == GP_PARQUET_TEXT   ? TYPE_BYTES
	       : column->type.type == GP_PARQUET_REAL ? TYPE_DOUBLE
						      : TYPE_INT64;
}

static void put_encodings(struct gp_thrift *groups, const struct column *column)
{
	int encoding = column->type.type == GP_PARQUET_TEXT   ? RLE_DICTIONARY
		       : column->type.type == GP_PARQUET_REAL ? PLAIN
							      : DELTA_BINARY_PACKED;

	gp_thrift_list(groups, 2, GP_THRIFT_I32, 2);
	gp_thrift_element_i32(groups, RLE);
	gp_thrift_element_i32(groups, encoding);
}

/* Readers skip groups by the range of their numbers. */
static void put_statistics(struct gp_thrift *groups, const struct column *column, uint32_t rows)
{
	uint64_t flip = column->type.type == GP_PARQUET_SIGNED ? UINT64_C(1) << 63 : 0;
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t i = 0; i < column->value_count; i++) {
		uint64_t value = column->values[i] ^ flip;

		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	gp_thrift_begin(groups, 12);
	gp_thrift_i64(groups, 3, rows - column->value_count);
	if (type_of(column) == TYPE_INT64 && column->value_count > 0) {
		least ^= flip;
		most ^= flip;
		gp_thrift_binary(groups, 5, &most, sizeof(most));
		gp_thrift_binary(groups, 6, &least, sizeof(least));
	}
	gp_thrift_end(groups);
}

static void put_chunk(struct gp_thrift *groups, const struct column *column, uint32_t rows)
{
	bool has_dictionary = column->dictionary_offset != NO_OFFSET;
	int64_t first = has_dictionary ? column->dictionary_offset : column->data_offset;

	gp_thrift_element_begin(groups);
	gp_thrift_i64(groups, 2, first);
	gp_thrift_begin(groups, 3);
	gp_thrift_i32(groups, 1, type_of(column));
	put_encodings(groups, column);
	gp_thrift_list(groups, 3, GP_THRIFT_BINARY, 1);
	gp_thrift_element_text(groups, column->type.name);
	gp_thrift_i32(groups, 4, CODEC_GZIP);
	gp_thrift_i64(groups, 5, rows);
	gp_thrift_i64(groups, 6, column->plain_bytes);
	gp_thrift_i64(groups, 7, column->end_offset - first);
	gp_thrift_i64(groups, 9, column->data_offset);
	if (has_dictionary)
		gp_thrift_i64(groups, 11, column->dictionary_offset);
	put_statistics(groups, column, rows);
	gp_thrift_end(groups);
	gp_thrift_end(groups);
}

static void put_group(struct gp_parquet *file, int64_t start)
{
	struct gp_thrift *groups = &file->groups;
	int64_t plain_bytes = 0;

	groups->depth = 0;
	gp_thrift_element_begin(groups);
	gp_thrift_list(groups, 1, GP_THRIFT_STRUCT, file->column_count);
	for (size_t i = 0; i < file->column_count; i++) {
		put_chunk(groups, &file->columns[i], file->rows);
		plain_bytes += file->columns[i].plain_bytes;
	}
	gp_thrift_i64(groups, 2, plain_bytes);
	gp_thrift_i64(groups, 3, file->rows);
	gp_thrift_i64(groups, 5, start);
	gp_thrift_i64(groups, 6, file->written - start);
	gp_thrift_end(groups);
	file->group_count++;
}

void gp_parquet_end_group(struct gp_parquet *file)
{
	int64_t start = file->written;

	if (file->rows == 0 || file->error != 0) {
		file->rows = 0;
		return;
	}
	for (size_t i = 0; i < file->column_count; i++)
		put_column(file, &file->columns[i]);
	put_group(file, start);
	for (size_t i = 0; i < file->column_count; i++) {
		file->columns[i].value_count = 0;
		gp_interner_free(&file->columns[i].texts);
	}
	file->total_rows += file->rows;
	file->rows = 0;
}

/* ---- the end of the file ---- */

static void put_schema(struct gp_thrift *footer, const struct gp_parquet *file)
{
	gp_thrift_list(footer, 2, GP_THRIFT_STRUCT, file->column_count + 1);
	gp_thrift_element_begin(footer);
	gp_thrift_text(footer, 4, "schema");
	gp_thrift_i32(footer, 5, (int32_t)file->column_count);
	gp_thrift_end(footer);
	for (size_t i = 0; i < file->column_count; i++) {
		const struct column *column = &file->columns[i];

		gp_thrift_element_begin(footer);
		gp_thrift_i32(footer, 1, type_of(column));
		gp_thrift_i32(footer, 3, IS_OPTIONAL);
		gp_thrift_text(footer, 4, column->type.name);
		if (column->type.type == GP_PARQUET_TEXT)
			gp_thrift_i32(footer, 6, CONVERTED_UTF8);
		if (column->type.type == GP_PARQUET_UNSIGNED)
			gp_thrift_i32(footer, 6, CONVERTED_UINT64);
		gp_thrift_end(footer);
	}
}

static void put_footer(struct gp_parquet *file)
{
	struct gp_thrift footer = {.depth = 0};
	struct gp_protobuf length = {0};

	gp_thrift_i32(&footer, 1, FORMAT_VERSION);
	put_schema(&footer, file);
	gp_thrift_i64(&footer, 3, (int64_t)file->total_rows);
	gp_thrift_list(&footer, 4, GP_THRIFT_STRUCT, file->group_count);
	gp_protobuf_raw(&footer.bytes, file->groups.bytes.bytes, file->groups.bytes.used);
	gp_thrift_text(&footer, 6, "gpuprof");
	gp_thrift_end(&footer);
	put_le32(&length, (uint32_t)footer.bytes.used);
	if (footer.bytes.error != 0 || length.error != 0 || file->groups.bytes.error != 0)
		file->error = -ENOMEM;
	put(file, footer.bytes.bytes, footer.bytes.used);
	put(file, length.bytes, length.used);
	put(file, magic, sizeof(magic));
	gp_protobuf_free(&footer.bytes);
	gp_protobuf_free(&length);
}

int gp_parquet_close(struct gp_parquet *file)
{
	int error;

	gp_parquet_end_group(file);
	if (file->error == 0)
		put_footer(file);
	error = file->error;
	for (size_t i = 0; i < file->column_count; i++) {
		free(file->columns[i].values);
		free(file->columns[i].rows);
		gp_interner_free(&file->columns[i].texts);
	}
	deflateEnd(&file->zip);
	gp_protobuf_free(&file->page);
	free(file->packed);
	gp_protobuf_free(&file->groups.bytes);
	free(file);
	return error;
}
