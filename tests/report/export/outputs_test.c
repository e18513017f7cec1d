/*
 * Every table, event list and text format of one scene is what tests/data/outputs/ holds: which
 * row, name and cause a value belongs to.
 *
 * After a wanted change: OUTPUTS_TEST_WRITES=1 build/tests/report/export/outputs_test, and read the diff.
 */
#include "tests/unit.h"

#include <errno.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "report/tables/breakdown.h"
#include "report/tables/event_list.h"
#include "report/export/export.h"
#include "report/summary/summary_document.h"
#include "tests/lib/temporary.h"
#include "tests/report/parquet_reader.h"
#include "tests/report/put_rows.h"
#include "tests/report/scene_builder.h"

#define FOLDER "tests/data/outputs/"

static char *read_expected(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t bytes = 0;

	assert_non_null(file);
	assert_true(getdelim(&text, &bytes, '\0', file) >= 0);
	fclose(file);
	return text;
}

/* Up to the first line that differs. */
static void compare(const char *name, const char *found, const char *expected)
{
	for (uint32_t line = 1; *found != '\0' || *expected != '\0'; line++) {
		size_t length = strcspn(found, "\n"), wanted = strcspn(expected, "\n");

		if (length != wanted || memcmp(found, expected, length) != 0)
			fail_msg("%s, line %u:\n  found    %.*s\n  expected %.*s", name, line,
				 (int)length, found, (int)wanted, expected);
		found += length + (found[length] == '\n');
		expected += wanted + (expected[wanted] == '\n');
	}
}

/* Sentences for people, and the version, are no values. */
static void drop_sentences(char *text)
{
	static const char *const beginnings[] = {"# HELP", "\"metadata\"", "\"exporter\"",
						 "EXPORT_PRODUCT_VERSION"};
	char *to = text;

	for (const char *line = text; *line != '\0';) {
		size_t length = strcspn(line, "\n");
		bool is_kept = true;

		length += line[length] == '\n';
		for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
			is_kept &= strncmp(line, beginnings[i], strlen(beginnings[i])) != 0;
		if (is_kept) {
			memmove(to, line, length);
			to += length;
		}
		line += length;
	}
	*to = '\0';
}

/* text is freed. */
static void expect(const char *name, char *text)
{
	char path[128], *expected;

	drop_sentences(text);
	snprintf(path, sizeof(path), FOLDER "%s", name);
	if (getenv("OUTPUTS_TEST_WRITES")) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	expected = read_expected(path);
	compare(name, text, expected);
	free(expected);
	free(text);
}

/* ---- tables and lists ---- */

static void every_table_has_its_rows(void **state)
{
	struct gp_model *model = scene_make();
	struct gp_scope scope;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++) {
		struct gp_table sheet;

		assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
		assert_int_equal(gp_breakdown_make(*at, &scope, &sheet), 0);
		fprintf(out, "== %s\n", (*at)->head.name);
		put_rows(out, &sheet);
		gp_table_close(&sheet);
		gp_scope_close(&scope);
	}
	fclose(out);
	gp_model_free(model);
	expect("tables.csv", text);
}

static void every_list_has_its_rows(void **state)
{
	static const struct gp_event_list_part parts[] = {
		{0, UINT64_MAX, 0}, {500 * SCENE_US, 1500 * SCENE_US, 0}, {0, UINT64_MAX, 2}};
	struct gp_model *model = scene_make();
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (const struct gp_event_list *const *at = gp_event_lists; *at; at++)
		for (size_t i = 0; i < 3; i++) {
			struct gp_table_writer writer;
			struct gp_scope scope;
			uint64_t rows = 0;

			fprintf(out, "== %s, part %zu\n", (*at)->word, i);
			assert_int_equal(gp_scope_open(&scope, &model, 1, true), 0);
			gp_table_writer_open(&writer, &gp_table_csv, out, false);
			assert_int_equal(
				gp_event_list_write(*at, &scope, &parts[i], &writer, &rows), 0);
			assert_int_equal(gp_table_writer_close(&writer), 0);
			fprintf(out, "%lu rows\n", rows);
			gp_scope_close(&scope);
		}
	fclose(out);
	gp_model_free(model);
	expect("lists.csv", text);
}

/* ---- the summary ---- */

/* Texts for people are no values. */
static void put_fields(FILE *out, const struct gp_fields *fields)
{
	for (uint32_t i = 0; i < fields->count; i++) {
		const struct gp_document_field *field = &fields->fields[i];

		if (strcmp(field->id, "text") == 0)
			continue;
		fprintf(out, "%s%s=%s", i > 0 ? " " : "", field->id,
			field->value.kind == GP_VALUE_TEXT   ? field->value.text
			: field->value.kind == GP_VALUE_NONE ? ""
							     : gp_value_number(&field->value).text);
	}
	fputs("\n", out);
}

static void the_summary_has_its_sections(void **state)
{
	struct gp_model *model = scene_make();
	struct gp_document document = {0};
	struct gp_summary summary;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_summary_open(&summary, &model, 1, NULL), 0);
	assert_int_equal(gp_summary_describe(&summary, &document), 0);
	put_fields(out, &document.facts);
	for (uint32_t i = 0; i < document.count; i++) {
		fprintf(out, "== %s\n", document.sections[i].id);
		for (uint32_t row = 0; row < document.sections[i].count; row++)
			put_fields(out, &document.sections[i].rows[row]);
	}
	fclose(out);
	gp_document_free(&document);
	gp_summary_close(&summary);
	gp_model_free(model);
	expect("summary.txt", text);
}

/* ---- formats ---- */

static char *export(const struct gp_exporter *exporter, const struct gp_export_options *options,
		    size_t *bytes)
{
	struct gp_model *model = scene_make();
	char *text;
	FILE *out = open_memstream(&text, bytes);

	assert_int_equal(gp_export_model(exporter, model, options, out), 0);
	fclose(out);
	gp_model_free(model);
	return text;
}

static void every_text_format_has_its_events(void **state)
{
	static const struct {
		const struct gp_exporter *exporter;
		const char *name;
	} rows[] = {
		{&gp_exporter_csv, "events.csv"},
		{&gp_exporter_jsonl, "events.jsonl"},
		{&gp_exporter_folded, "stacks.folded"},
		{&gp_exporter_speedscope, "stacks.speedscope.json"},
		{&gp_exporter_openmetrics, "metrics.txt"},
	};
	const struct gp_export_options options = {.measure = GP_STACK_METRICS};
	size_t bytes;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(rows[i].name, export(rows[i].exporter, &options, &bytes));
}

static void the_chrome_trace_has_its_events(void **state)
{
	const struct gp_export_options options = {
		.measure = GP_STACK_METRICS, .counters = true, .critical_path = true};
	size_t bytes;

	expect("chrome.json", export(&gp_exporter_chrome, &options, &bytes));
}

/* ---- protobuf: fields by number, without a schema; what parses as a message is one ---- */

struct wire {
	const uint8_t *at, *end;
};

static bool take_varint(struct wire *wire, uint64_t *value)
{
	*value = 0;
	for (uint32_t shift = 0; wire->at < wire->end && shift < 64; shift += 7) {
		uint8_t byte = *wire->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_fixed(struct wire *wire, uint64_t *value, size_t bytes)
{
	if ((size_t)(wire->end - wire->at) < bytes)
		return false;
	*value = 0;
	memcpy(value, wire->at, bytes);
	wire->at += bytes;
	return true;
}

static bool put_message(FILE *out, struct wire wire, uint32_t depth);

static bool is_text(const uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] < ' ' || at[i] == 0x7f)
			return false;
	return bytes > 0;
}

static bool put_bytes(FILE *out, struct wire *wire, uint32_t depth)
{
	uint64_t bytes;
	struct wire inner;

	if (!take_varint(wire, &bytes) || bytes > (uint64_t)(wire->end - wire->at))
		return false;
	inner = (struct wire){wire->at, wire->at + bytes};
	wire->at += bytes;
	if (is_text(inner.at, bytes)) {
		fprintf(out, " \"%.*s\"", (int)bytes, (const char *)inner.at);
		return true;
	}
	if (put_message(NULL, inner, depth + 1)) {
		fputs(" {", out);
		put_message(out, inner, depth + 1);
		fputs(" }", out);
	} else {
		for (size_t i = 0; i < bytes; i++)
			fprintf(out, " %02x", inner.at[i]);
	}
	return true;
}

/* Whether it is one; out may be NULL. */
static bool put_message(FILE *out, struct wire wire, uint32_t depth)
{
	FILE *sink = out ? out : fopen("/dev/null", "w");
	bool is_message = wire.at < wire.end || depth > 0;

	while (is_message && wire.at < wire.end) {
		uint64_t key, value = 0;

		is_message = take_varint(&wire, &key) && key >> 3 > 0 && key >> 3 < 20000;
		if (!is_message)
			break;
		fprintf(sink, "%s%lu:", depth == 0 ? "\n" : " ", key >> 3);
		if ((key & 7) == 2)
			is_message = put_bytes(sink, &wire, depth);
		else if ((key & 7) == 0)
			is_message = take_varint(&wire, &value);
		else if ((key & 7) == 1 || (key & 7) == 5)
			is_message = take_fixed(&wire, &value, (key & 7) == 1 ? 8 : 4);
		else
			is_message = false;
		if ((key & 7) != 2)
			fprintf(sink, " %lu", value);
	}
	if (!out)
		fclose(sink);
	return is_message;
}

/* Of a gzip member, what is in it; of all else itself.  Either is to be freed. */
static char *unpacked(char *bytes, size_t *count)
{
	const size_t most = 1u << 20;
	z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (unsigned)*count};
	char *out;

	if (*count < 2 || memcmp(bytes, "\x1f\x8b", 2) != 0)
		return bytes;
	out = malloc(most);
	assert_non_null(out);
	stream.next_out = (unsigned char *)out;
	stream.avail_out = (unsigned)most;
	assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	*count = stream.total_out;
	inflateEnd(&stream);
	free(bytes);
	return out;
}

static void expect_messages(const struct gp_exporter *exporter, const char *name)
{
	const struct gp_export_options options = {
		.measure = GP_STACK_METRICS, .counters = true, .critical_path = true};
	size_t bytes, length;
	char *trace = unpacked(export(exporter, &options, &bytes), &bytes), *text;
	FILE *out = open_memstream(&text, &length);

	assert_true(put_message(out, (struct wire){(uint8_t *)trace, (uint8_t *)trace + bytes}, 0));
	fputs("\n", out);
	fclose(out);
	free(trace);
	expect(name, text);
}

static void every_binary_format_has_its_messages(void **state)
{
	expect_messages(&gp_exporter_perfetto, "perfetto.txt");
	expect_messages(&gp_exporter_pprof, "pprof.txt");
}

/* ---- columns: a line for each ---- */

struct columns {
	const char *bytes;
	const json_t *column;
};

static uint64_t member(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* A number of a text, a narrow number or a wide one. */
static int64_t number_at(const struct columns *c, size_t row, const char *type)
{
	const char *values = c->bytes + member(c->column, "values");
	int64_t wide;
	int32_t narrow;

	if (strcmp(type, "int64") == 0) {
		memcpy(&wide, values + row * sizeof(wide), sizeof(wide));
		return wide;
	}
	memcpy(&narrow, values + row * sizeof(narrow), sizeof(narrow));
	return narrow;
}

static void put_text(FILE *out, const struct columns *c, size_t number)
{
	const char *offsets = c->bytes + member(c->column, "text_offsets");
	int32_t ends[2];

	memcpy(ends, offsets + number * sizeof(*ends), sizeof(ends));
	fprintf(out, " '%.*s'", ends[1] - ends[0],
		c->bytes + member(c->column, "text_bytes") + ends[0]);
}

/* An empty row is "-". */
static void put_column(FILE *out, const struct columns *c, size_t rows)
{
	const char *type = json_string_value(json_object_get(c->column, "type"));
	const char *valid =
		member(c->column, "empty_rows") > 0 ? c->bytes + member(c->column, "valid") : NULL;

	fprintf(out, "%s %s:", json_string_value(json_object_get(c->column, "name")), type);
	for (size_t row = 0; row < rows; row++) {
		int64_t number = number_at(c, row, type);

		if (valid && !(valid[row / 8] >> row % 8 & 1))
			fputs(" -", out);
		else if (strcmp(type, "text") == 0)
			put_text(out, c, (size_t)number);
		else
			fprintf(out, " %ld", number);
	}
	fputs("\n", out);
}

static void the_columns_have_their_rows(void **state)
{
	const struct gp_export_options options = {.measure = GP_STACK_METRICS};
	uint64_t length;
	size_t bytes, text_bytes, i, k;
	char *file = export(&gp_exporter_columns, &options, &bytes), *text;
	FILE *out = open_memstream(&text, &text_bytes);
	json_t *root, *table;
	struct columns c = {.bytes = file};

	(void)state;
	assert_memory_equal(file + bytes - 8, "gpcols01", 8);
	memcpy(&length, file + bytes - 16, sizeof(length));
	root = json_loadb(file + bytes - 16 - length, length, 0, NULL);
	assert_non_null(root);
	json_array_foreach(json_object_get(root, "tables"), i, table)
	{
		size_t rows = member(table, "rows");
		json_t *column;

		fprintf(out, "== %s: %zu\n", json_string_value(json_object_get(table, "name")),
			rows);
		json_array_foreach(json_object_get(table, "columns"), k, column)
		{
			c.column = column;
			put_column(out, &c, rows);
		}
	}
	fclose(out);
	json_decref(root);
	free(file);
	expect("columns.txt", text);
}

/* ---- SQLite ---- */

static int put_cells(void *out, int count, char **cells, char **names)
{
	(void)names;
	for (int i = 0; i < count; i++)
		fprintf(out, "%s%s", cells[i] ? cells[i] : "", i + 1 < count ? "|" : "\n");
	return 0;
}

static int put_table(void *context, int count, char **cells, char **names)
{
	void **both = context;
	char query[256];

	(void)count;
	(void)names;
	fprintf(both[1], "== %s\n", cells[0]);
	snprintf(query, sizeof(query), "SELECT * FROM \"%s\"", cells[0]);
	return sqlite3_exec(both[0], query, put_cells, both[1], NULL);
}

static void the_database_has_its_rows(void **state)
{
	const struct gp_export_options options = {.measure = GP_STACK_METRICS};
	char path[] = "/tmp/outputs-test-XXXXXX", *text;
	size_t bytes, length;
	char *database = export(&gp_exporter_sqlite, &options, &bytes);
	int fd = temporary_file(path);
	sqlite3 *opened;
	FILE *out = open_memstream(&text, &length);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, database, bytes), bytes);
	close(fd);
	free(database);
	assert_int_equal(sqlite3_open(path, &opened), SQLITE_OK);
	assert_int_equal(sqlite3_exec(opened,
				      "SELECT name FROM sqlite_master WHERE type = 'table' "
				      "ORDER BY name",
				      put_table, (void *[]){opened, out}, NULL),
			 SQLITE_OK);
	sqlite3_close(opened);
	unlink(path);
	fclose(out);
	expect("sqlite.txt", text);
}

/* ---- Parquet ---- */

/* The file of a host and table, which is removed. */
static void put_parquet(FILE *out, const char *folder, const char *table, const char *host)
{
	char path[256], *bytes = NULL;
	size_t length = 0, found;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s.parquet", folder, table, host);
	file = fopen(path, "r");
	assert_non_null(file);
	while ((found = fread((bytes = realloc(bytes, length + 4096)) + length, 1, 4096, file)) > 0)
		length += found;
	fclose(file);
	fprintf(out, "== %s of %s\n", table, host);
	parquet_print(out, bytes, length);
	free(bytes);
	assert_int_equal(unlink(path), 0);
}

static struct gp_model *make_second_process(void)
{
	struct build b = build_begin(77);

	build_info(&b, GP_INFO_HOST, "../node 8");
	build_info(&b, GP_INFO_RANK, "4");
	build_info(&b, GP_INFO_WORLD_SIZE, "16");
	build_info(&b, GP_INFO_LOCAL_RANK, "1");
	build_info(&b, GP_INFO_JOB, "job 5");
	build_device(&b, 0, "the only GPU");
	build_call(&b, 100, BUILD_LAUNCH, 5000, 10, 2);
	build_op(&b, GP_OP_KERNEL, 7, 6000, 7000, 2)->name = build_name(&b, "step");
	for (uint32_t i = 0; i < 4; i++) /* by turns: each kind is numbered for itself */
		build_op(&b, GP_OP_KERNEL, 7, 8000 + 100 * i, 8050 + 100 * i, 0)->name =
			i < 2 ? build_name(&b, i == 0 ? "ncclDevKernel_AllReduce"
						      : "ncclDevKernel_Broadcast")
			      : i - 1;
	return build_end(&b);
}

static const struct gp_model *get_model(void *models, size_t index)
{
	return ((const struct gp_model **)models)[index];
}

static void the_parquet_tables_have_their_rows(void **state)
{
	const struct gp_export_options options = {.measure = GP_STACK_METRICS};
	struct build b = scene_begin();
	char folder[] = "/tmp/outputs-test-XXXXXX", path[64], message[256], *text;
	struct gp_model *models[3];
	struct gp_export_source source = {.count = 3, .get = get_model, .context = models};
	size_t length;
	FILE *out = open_memstream(&text, &length);

	build_info(&b, GP_INFO_HOST, "node7");
	build_info(&b, GP_INFO_RANK, "3");
	models[0] = scene_end(&b);
	models[1] = make_second_process();
	models[1]->first_ns = 1200; /* a part of its process */
	models[2] = NULL;           /* could not be read */
	assert_non_null(temporary_folder(folder));
	assert_int_equal(gp_exporter_parquet.write_folder(&source, &options, folder, message,
							  sizeof(message)),
			 0);
	assert_int_equal(gp_exporter_parquet.write_folder(&source, &options, folder, message,
							  sizeof(message)),
			 -EEXIST);
	for (size_t i = 0; i < PARQUET_TABLES; i++) {
		put_parquet(out, folder, parquet_tables[i], "node7");
		put_parquet(out, folder, parquet_tables[i], "_._node_8");
		snprintf(path, sizeof(path), "%s/%s", folder, parquet_tables[i]);
		assert_int_equal(rmdir(path), 0); /* there is nothing else */
	}
	assert_int_equal(rmdir(folder), 0);
	fclose(out);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
	expect("parquet.txt", text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_has_its_rows),
		cmocka_unit_test(every_list_has_its_rows),
		cmocka_unit_test(the_summary_has_its_sections),
		cmocka_unit_test(every_text_format_has_its_events),
		cmocka_unit_test(the_chrome_trace_has_its_events),
		cmocka_unit_test(the_columns_have_their_rows),
		cmocka_unit_test(every_binary_format_has_its_messages),
		cmocka_unit_test(the_database_has_its_rows),
		cmocka_unit_test(the_parquet_tables_have_their_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
