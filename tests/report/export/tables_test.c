/*
 * Formats of events: CSV, JSON lines, SQLite, with names that would break them; these and
 * Perfetto's, where out cannot be written.
 */
#include "tests/unit.h"

#include <errno.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/export/export.h"
#include "tests/lib/temporary.h"
#include "tests/report/model_builder.h"

#define HOSTILE "a\"',\n\x1b\xff; DROP TABLE StringIds; --</script>"

static const struct gp_export_options everything = {.measure = GP_STACK_METRICS};

/* A launch and its kernel, both with that name; an untimed kernel; an allocation that is left. */
static struct gp_model *model_of(const char *name)
{
	struct build b = build_begin(4242);
	struct gp_op *op;

	build_device(&b, 0, name);
	build_thread(&b, 100, name);
	build_info(&b, GP_INFO_PROGRAM, name);
	build_call(&b, 100, BUILD_LAUNCH, 1000, 10, 1);
	op = build_op(&b, GP_OP_KERNEL, 7, 2000, 2500, 1);
	op->name = build_name(&b, name);
	op->shape = build_shape(&b, 3, 128);
	op = build_op(&b, GP_OP_KERNEL, 7, 1000, 1000, 2);
	op->untimed = 1;
	b.model->losses.ops_untimed = 1;
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 5000, 0x7f0000001000, UINT64_MAX);
	return build_end(&b);
}

static char *export(const struct gp_exporter *exporter, const struct gp_model *model)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(gp_export_model(exporter, model, &everything, out), 0);
	fclose(out);
	return text;
}

static void test_every_row_of_csv_is_a_line(void **state)
{
	struct gp_model *model = model_of(HOSTILE);
	char *text = export(&gp_exporter_csv, model);
	size_t lines = 0;

	for (const char *at = text; *at; at++) {
		assert_true(*at == '\n' || (unsigned char)*at >= ' ');
		lines += *at == '\n';
	}
	/* the titles; process, device, thread, 2 missing, 2 calls, 2 kernels, allocation */
	assert_int_equal(lines, 11);
	assert_non_null(strstr(text, "kernel,\"a\"\"',\\n\\x1b\\xff; DROP TABLE"));
	free(text);
	gp_model_free(model);
}

static void test_every_json_line_is_an_object(void **state)
{
	struct gp_model *model = model_of(HOSTILE);
	char *text = export(&gp_exporter_jsonl, model), *line, *rest = text;
	bool has_kernel = false;

	while ((line = strsep(&rest, "\n")) && *line) {
		json_error_t error;
		json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
		const char *kind = json_string_value(json_object_get(object, "kind"));

		assert_non_null(kind);
		if (strcmp(kind, "kernel") == 0 && json_object_get(object, "duration_ns")) {
			has_kernel = true;
			assert_int_equal(json_integer_value(json_object_get(object, "duration_ns")),
					 500);
			assert_string_equal(
				json_string_value(json_object_get(object, "name")),
				"a\"',\n\x1b\xef\xbf\xbd; DROP TABLE StringIds; --</script>");
		}
		json_decref(object);
	}
	assert_true(has_kernel);
	free(text);
	gp_model_free(model);
}

/* What another recorder does not say is no zero. */
static void test_what_is_not_known_is_empty(void **state)
{
	struct gp_model *model = model_of("k");
	char *text;

	model->unknown = GP_UNKNOWN_STATUS | GP_UNKNOWN_SHARED_PARTS;
	text = export(&gp_exporter_jsonl, model);
	assert_null(strstr(text, "\"status\""));
	assert_null(strstr(text, "\"static_shared_bytes\""));
	assert_non_null(strstr(text, "\"dynamic_shared_bytes\""));
	assert_non_null(strstr(text, "without the return codes of calls"));
	free(text);
	gp_model_free(model);
}

/* ---- SQLite ---- */

struct database {
	char path[64];
	sqlite3 *db;
};

static struct database open_database(const struct gp_model *model)
{
	struct database database = {.path = "/tmp/gpuprof-test-XXXXXX"};
	int fd = temporary_file(database.path);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

	assert_non_null(out);
	assert_int_equal(gp_export_model(&gp_exporter_sqlite, model, &everything, out), 0);
	fclose(out);
	assert_int_equal(sqlite3_open_v2(database.path, &database.db, SQLITE_OPEN_READONLY, NULL),
			 SQLITE_OK);
	return database;
}

static void close_database(struct database *database)
{
	sqlite3_close(database->db);
	unlink(database->path);
}

/* The first cell of the first row. */
static char *ask(struct database *database, const char *query)
{
	sqlite3_stmt *statement;
	char *text;

	assert_int_equal(sqlite3_prepare_v2(database->db, query, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	text = strdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return text;
}

static void assert_answer(struct database *database, const char *query, const char *answer)
{
	char *text = ask(database, query);

	assert_string_equal(text, answer);
	free(text);
}

static void test_what_is_not_known_is_null_in_sqlite(void **state)
{
	static const char query[] =
		"SELECT quote(staticSharedMemory) || ' ' || dynamicSharedMemory || ' ' || quote(localMemoryPerThread) FROM CUPTI_ACTIVITY_KIND_KERNEL";
	struct gp_model *model = model_of("k");
	struct database database = open_database(model);

	assert_answer(&database, query, "1024 512 0");
	close_database(&database);
	model->unknown = GP_UNKNOWN_SHARED_PARTS | GP_UNKNOWN_LOCAL;
	database = open_database(model);
	assert_answer(&database, query, "NULL 512 NULL");
	close_database(&database);
	gp_model_free(model);
}

static void test_names_in_sqlite(void **state)
{
	struct gp_model *model = model_of(HOSTILE);
	struct database database = open_database(model);

	assert_answer(&database, "PRAGMA integrity_check", "ok");
	assert_answer(
		&database,
		"SELECT value FROM StringIds JOIN CUPTI_ACTIVITY_KIND_KERNEL ON id = mangledName",
		"a\"',\n\x1b\xef\xbf\xbd; DROP TABLE StringIds; --</script>");
	assert_answer(&database, "SELECT count(*) FROM TARGET_INFO_GPU", "1");
	assert_answer(&database, "SELECT end - start FROM CUPTI_ACTIVITY_KIND_KERNEL", "500");
	assert_answer(&database, "SELECT bytes FROM CUDA_GPU_MEMORY_USAGE_EVENTS", "-1");
	assert_answer(&database, "SELECT globalTid % 0x1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME",
		      "100");
	assert_answer(&database,
		      "SELECT globalPid / 0x1000000 % 0x1000000 FROM CUPTI_ACTIVITY_KIND_KERNEL",
		      "4242");
	close_database(&database);
	gp_model_free(model);
}

/* What the peak of a copy is measured against; a trace may say anything of it. */
static void test_links_have_a_table_of_their_own(void **state)
{
	static const char query[] =
		"SELECT group_concat(quote(kind) || ' ' || quote(generation) || ' ' || lanes || ' ' || quote(peakBandwidth)) FROM TARGET_INFO_GPU_LINK JOIN TARGET_INFO_GPU AS gpu ON gpu.id = gpuId";
	struct gp_record_link links[] = {
		{.link_kind = GP_LINK_PCIE, .generation = 4, .lanes = 16},
		{.link_kind = GP_LINK_NVLINK, .lanes = 18, .lane_mbytes_per_s = 26562},
		{.link_kind = 7, .lanes = UINT32_MAX, .lane_mbytes_per_s = UINT32_MAX},
	};
	struct gp_model *model = model_of("k");
	struct database database = open_database(model);

	assert_answer(&database,
		      "SELECT count(*) FROM sqlite_master WHERE name = 'TARGET_INFO_GPU_LINK'",
		      "0");
	close_database(&database);
	model->links = links;
	model->link_count = 3;
	database = open_database(model);
	assert_answer(
		&database, query,
		"'PCIe' 4 16 31507692307,'NVLink' NULL 18 478116000000,NULL NULL 4294967295 NULL");
	close_database(&database);
	model->links = NULL;
	model->link_count = 0;
	gp_model_free(model);
}

/* An operation without times is in no table of times, and that is said. */
static void test_what_is_left_out_of_sqlite_is_said(void **state)
{
	struct gp_model *model = model_of("k");
	struct database database = open_database(model);

	assert_answer(&database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL", "1");
	assert_answer(
		&database,
		"SELECT count(*) FROM DIAGNOSTIC_EVENT WHERE text LIKE '1 GPU operation% without timestamps%'",
		"1");
	close_database(&database);
	gp_model_free(model);
}

static void test_kernels_base_names(void **state)
{
	static const struct {
		const char *mangled, *base;
	} cases[] = {
		{"_Z7k_emptyv", "k_empty"},
		{"_ZN2at6native13reduce_kernelILi512EfEEvT0_", "reduce_kernel"},
		{"_ZN12_GLOBAL__N_16hiddenEv", "hidden"},
		{"plain", "plain"},
		{"a::b<c::d>(e::f)", "b"},
		{"x::", "x::"},
		{"<>", "<>"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = model_of(cases[i].mangled);
		struct database database = open_database(model);

		assert_answer(
			&database,
			"SELECT value FROM StringIds JOIN CUPTI_ACTIVITY_KIND_KERNEL ON id = shortName",
			cases[i].base);
		close_database(&database);
		gp_model_free(model);
	}
}

/* A full disk is an error, not a broken file. */
static void test_out_that_is_full(void **state)
{
	static const struct gp_exporter *const exporters[] = {
		&gp_exporter_csv, &gp_exporter_jsonl, &gp_exporter_sqlite, &gp_exporter_perfetto,
		&gp_exporter_openmetrics};
	struct gp_model *model = model_of("k");

	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++) {
		FILE *out = fopen("/dev/full", "w");

		assert_non_null(out);
		assert_int_equal(gp_export_model(exporters[i], model, &everything, out), -EIO);
		fclose(out);
	}
	gp_model_free(model);
}

/* A file without a name is written all the same, and none is left. */
static void test_a_file_without_a_name(void **state)
{
	struct gp_model *model = model_of("k");
	FILE *out = tmpfile();
	char link[32], name[256] = "";

	assert_non_null(out);
	assert_int_equal(gp_export_model(&gp_exporter_sqlite, model, &everything, out), 0);
	assert_true(ftell(out) > 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fileno(out));
	assert_true(readlink(link, name, sizeof(name) - 1) > 0);
	assert_int_not_equal(access(name, F_OK), 0);
	fclose(out);
	gp_model_free(model);
}

static const struct gp_model *get_none(void *context, size_t index)
{
	(void)context;
	(void)index;
	return NULL;
}

static void test_no_process(void **state)
{
	static const struct gp_exporter *const exporters[] = {
		&gp_exporter_csv, &gp_exporter_jsonl, &gp_exporter_sqlite, &gp_exporter_perfetto,
		&gp_exporter_openmetrics};
	const struct gp_export_source source = {.count = 2, .get = get_none};

	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++) {
		FILE *out = tmpfile();

		assert_non_null(out);
		assert_int_equal(exporters[i]->write(&source, &everything, out), -ENODATA);
		fclose(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_of_csv_is_a_line),
		cmocka_unit_test(test_every_json_line_is_an_object),
		cmocka_unit_test(test_what_is_not_known_is_empty),
		cmocka_unit_test(test_what_is_not_known_is_null_in_sqlite),
		cmocka_unit_test(test_links_have_a_table_of_their_own),
		cmocka_unit_test(test_names_in_sqlite),
		cmocka_unit_test(test_what_is_left_out_of_sqlite_is_said),
		cmocka_unit_test(test_kernels_base_names),
		cmocka_unit_test(test_out_that_is_full),
		cmocka_unit_test(test_a_file_without_a_name),
		cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
