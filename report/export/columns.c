/*
 * The events of a trace as tables of columns, for programs that map them: the Python package.
 *
 * The file has arrays, each at a multiple of 64 bytes, in the byte order of the machine and in the
 * layout of Apache Arrow: numbers of 4 or 8 bytes, bitmaps of valid rows, and for texts the offsets
 * and bytes of a dictionary. After them stands a JSON text that says where each array is, then its
 * length in 8 bytes, then MAGIC.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/codec/interner.h"
#include "report/export/event_rows.h"

#define MAGIC           "gpcols01"
#define ALIGNMENT_BYTES 64
#define NO_TEXT         (-1)

#define BIT(id) GP_EVENT_BIT(id)

/* The last one takes the rest. */
static const struct gp_event_table sheets[] = {
	{"kernels",
	 {"kernel"},
	 GP_EVENT_TIMES | GP_EVENT_QUEUE | GP_EVENT_NODE | GP_EVENT_SHAPE | GP_EVENT_SITE},
	{"copies",
	 {"copy", "memset"},
	 BIT(KIND) | GP_EVENT_TIMES | GP_EVENT_QUEUE | GP_EVENT_NODE | BIT(BYTES) | BIT(SOURCE) |
		 BIT(DESTINATION) | GP_EVENT_SITE},
	{"graphs", {"graph"}, GP_EVENT_TIMES | GP_EVENT_QUEUE | BIT(GRAPH) | GP_EVENT_SITE},
	{"api",
	 {"call"},
	 GP_EVENT_TIMES | BIT(TID) | BIT(CONTEXT) | BIT(CORRELATION) | BIT(BYTES) | BIT(STATUS) |
		 BIT(ERROR) | BIT(CLASS) | BIT(LACKS_OPERATION) | GP_EVENT_SITE},
	{"ranges",
	 {"range", "start/end range", "mark"},
	 BIT(KIND) | GP_EVENT_TIMES | BIT(TID) | BIT(DOMAIN) | BIT(CATEGORY) | BIT(LEVEL) |
		 BIT(PAYLOAD) | BIT(FIELDS) | BIT(ERROR)},
	{"memory",
	 {"allocation", "free"},
	 BIT(KIND) | GP_EVENT_TIMES | BIT(TID) | BIT(DEVICE) | BIT(CORRELATION) | BIT(BYTES) |
		 BIT(ADDRESS) | BIT(MEMORY) | BIT(POOL) | GP_EVENT_SITE},
	{"samples", {"host sample"}, GP_EVENT_TIMES | BIT(TID) | BIT(COUNT)},
	{"syncs", {"sync"}, GP_EVENT_TIMES | GP_EVENT_QUEUE},
	GP_EVENT_ENERGY_TABLE,
	{"missing", {"missing"}, BIT(NAME) | BIT(PID) | BIT(COUNT)},
	{"others", {NULL}, ~(BIT(CLASS) | BIT(LACKS_OPERATION) | GP_EVENT_OF_ENERGY)},
};

#define SHEETS COUNT(sheets)

struct column {
	union {
		int64_t *wide;
		int32_t *narrow; /* numbers, or numbers of texts from 0 */
		void *values;
	};
	uint32_t capacity;
	uint32_t empty_rows;
	uint8_t *valid; /* a bit for each row */
	uint32_t valid_capacity;
	struct gp_interner texts;
};

struct tables {
	struct column columns[SHEETS][GP_EVENT_COLUMNS];
	uint32_t rows[SHEETS];
	uint64_t written; /* bytes of the file */
	int error;
};

/* ---- collecting ---- */

static bool is_text(int column)
{
	return gp_event_columns[column].unit == GP_UNIT_TEXT;
}

/* Columns whose numbers may need more than 31 bits. */
static bool is_wide(int column)
{
	const uint64_t narrow = GP_EVENT_SHAPE | BIT(DEVICE) | BIT(LEVEL) | BIT(IS_ESTIMATED) |
				BIT(LACKS_OPERATION);

	return !is_text(column) && (narrow >> column & 1) == 0;
}

static bool has_column(size_t sheet, int column)
{
	return (sheets[sheet].columns >> column & 1) != 0;
}

static size_t value_bytes(int column)
{
	return is_wide(column) ? sizeof(int64_t) : sizeof(int32_t);
}

/* The number of a text from 0; NO_TEXT if there is no memory. */
static int32_t number_of(struct tables *tables, struct column *column, const char *text)
{
	bool is_new;
	uint32_t number = gp_interner_number(&column->texts, text, strlen(text), &is_new);

	if (number == 0)
		tables->error = -ENOMEM;
	return (int32_t)number - 1;
}

static void store(struct tables *tables, struct column *column, int id, uint32_t row,
		  const struct gp_value *value)
{
	bool has_value = value->kind != GP_VALUE_NONE;
	uint8_t bit = (uint8_t)(1u << row % 8);

	column->valid[row / 8] =
		(uint8_t)((row % 8 == 0 ? 0 : column->valid[row / 8]) | (has_value ? bit : 0));
	column->empty_rows += !has_value;
	if (is_text(id))
		column->narrow[row] = has_value ? number_of(tables, column, value->text) : NO_TEXT;
	else if (is_wide(id))
		column->wide[row] = has_value ? (int64_t)value->whole : 0;
	else
		column->narrow[row] = has_value ? (int32_t)value->whole : 0;
}

static void put_row(struct gp_json *out, const struct gp_value *values, void *context)
{
	struct tables *tables = context;
	size_t sheet = gp_event_table_of(sheets, SHEETS, values[GP_EVENT_KIND].text);
	uint32_t row = tables->rows[sheet];

	for (int c = 0; c < GP_EVENT_COLUMNS && tables->error == 0; c++) {
		struct column *column = &tables->columns[sheet][c];

		if (!has_column(sheet, c))
			continue;
		tables->error = gp_array_grow_spill(&column->values, &column->capacity, row,
						    value_bytes(c));
		if (tables->error == 0)
			tables->error = gp_array_grow_spill(&column->valid, &column->valid_capacity,
							    row / 8, 1);
		if (tables->error == 0)
			store(tables, column, c, row, &values[c]);
	}
	tables->rows[sheet]++;
	out->error = tables->error;
}

/* ---- writing ---- */

/* An array at the next aligned place. Returns its offset. */
static uint64_t put_array(struct tables *tables, struct gp_json *out, const void *bytes,
			  size_t count)
{
	static const char zeros[ALIGNMENT_BYTES];
	size_t gap = (ALIGNMENT_BYTES - tables->written % ALIGNMENT_BYTES) % ALIGNMENT_BYTES;
	uint64_t offset = tables->written + gap;

	if (gap > 0)
		gp_json_bytes(out, zeros, gap);
	if (count > 0)
		gp_json_bytes(out, bytes, count);
	tables->written = offset + count;
	return offset;
}

static void put_member(struct gp_json *index, const char *key, uint64_t value)
{
	gp_json_key(index, key);
	gp_json_unsigned(index, value);
}

/* The dictionary of a column: offsets of 4 bytes, one more than texts, and the bytes. */
static void put_texts(struct tables *tables, struct gp_json *out, struct gp_json *index,
		      const struct gp_interner *texts)
{
	int32_t *offsets = calloc((size_t)texts->count + 1, sizeof(*offsets));

	if (!offsets || texts->used > INT32_MAX) {
		tables->error = -ENOMEM;
	} else {
		for (uint32_t i = 0; i < texts->count; i++)
			offsets[i] = (int32_t)texts->entries[i].offset;
		offsets[texts->count] = (int32_t)texts->used;
		put_member(index, "texts", texts->count);
		put_member(index, "text_offsets",
			   put_array(tables, out, offsets,
				     ((size_t)texts->count + 1) * sizeof(*offsets)));
		put_member(index, "text_bytes", put_array(tables, out, texts->bytes, texts->used));
	}
	free(offsets);
}

static void put_column(struct tables *tables, struct gp_json *out, struct gp_json *index,
		       size_t sheet, int id)
{
	const struct column *column = &tables->columns[sheet][id];
	uint32_t rows = tables->rows[sheet];
	const char *type = is_text(id) ? "text" : is_wide(id) ? "int64" : "int32";

	gp_json_string_after(index, "{\"name\":", gp_event_columns[id].title);
	gp_json_string_after(index, ",\"type\":", type);
	put_member(index, "values", put_array(tables, out, column->values, rows * value_bytes(id)));
	put_member(index, "empty_rows", column->empty_rows);
	if (column->empty_rows > 0)
		put_member(index, "valid",
			   put_array(tables, out, column->valid, ((size_t)rows + 7) / 8));
	if (is_text(id))
		put_texts(tables, out, index, &column->texts);
	gp_json_text(index, "}");
}

static void put_sheet(struct tables *tables, struct gp_json *out, struct gp_json *index,
		      size_t sheet)
{
	const char *separator = "";

	gp_json_string_after(index, "{\"name\":", sheets[sheet].name);
	put_member(index, "rows", tables->rows[sheet]);
	gp_json_text(index, ",\"columns\":[");
	for (int c = 0; c < GP_EVENT_COLUMNS && tables->error == 0; c++) {
		if (!has_column(sheet, c))
			continue;
		gp_json_text(index, separator);
		put_column(tables, out, index, sheet, c);
		separator = ",\n";
	}
	gp_json_text(index, "]}");
}

static void put_end(struct gp_json *out, void *context)
{
	struct tables *tables = context;
	struct gp_json index;
	uint64_t length;

	tables->error = gp_json_open(&index, NULL);
	if (tables->error == 0)
		gp_json_text(&index, "{\"tables\":[");
	for (size_t s = 0; s < SHEETS && tables->error == 0; s++) {
		gp_json_text(&index, s > 0 ? ",\n" : "");
		put_sheet(tables, out, &index, s);
	}
	if (tables->error == 0) {
		gp_json_text(&index, "]}");
		length = index.used;
		gp_json_bytes(out, index.buffer, index.used);
		gp_json_bytes(out, (const char *)&length, sizeof(length));
		gp_json_text(out, MAGIC);
		tables->error = index.error;
	}
	gp_json_close(&index);
	if (tables->error != 0)
		out->error = tables->error;
}

static void free_tables(struct tables *tables)
{
	for (size_t s = 0; s < SHEETS; s++) {
		for (int c = 0; c < GP_EVENT_COLUMNS; c++) {
			gp_spill_free(tables->columns[s][c].values);
			gp_spill_free(tables->columns[s][c].valid);
			gp_interner_free(&tables->columns[s][c].texts);
		}
	}
	free(tables);
}

static int write_columns(const struct gp_export_source *source,
			 const struct gp_export_options *options, FILE *out)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	const struct gp_event_format format = {
		.has_places = true, .put_row = put_row, .put_end = put_end, .context = tables};
	int result = gp_event_rows_write(&format, source, options, out);

	free_tables(tables);
	return result;
}

const struct gp_exporter gp_exporter_columns = {
	.name = "columns",
	.suffix = ".columns",
	.help = "all events as tables of columns, for memory mapping",
	.readers = "gpuprof.open() in Python",
	.heeds = GP_EXPORT_PART,
	.write = write_columns,
};
