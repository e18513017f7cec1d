/* What one format of a timeline shows, all show: each kind of event, and as many of it. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "report/export/export.h"
#include "report/html/tracks.h"
#include "report/timeline/timeline.h"
#include "tests/report/scene_builder.h"

/* Events by category, in the order of kind.def, and values of counters. */
struct counts {
	uint32_t events[GP_TIMELINE_KINDS];
	uint32_t counters;
};

/* The first kind of that category. */
static uint32_t kind_of(const char *category, size_t length)
{
	for (uint32_t kind = 0; kind < GP_TIMELINE_KINDS; kind++)
		if (strlen(gp_timeline_categories[kind]) == length &&
		    memcmp(gp_timeline_categories[kind], category, length) == 0)
			return kind;
	fail_msg("category %.*s", (int)length, category);
	return 0;
}

/* A scene with the kinds that it lacks. */
static struct gp_model *make(void)
{
	struct build b = scene_begin();

	SCENE_ADD(&b, syncs, sync_count,
		  {.sync_kind = 3,
		   .start_ns = 900 * SCENE_US,
		   .end_ns = 950 * SCENE_US,
		   .context_id = 1,
		   .stream_id = 7});
	SCENE_ADD(&b, syncs, sync_count,
		  {.sync_kind = 4,
		   .start_ns = 960 * SCENE_US,
		   .end_ns = 970 * SCENE_US,
		   .context_id = 1,
		   .stream_id = GP_NO_STREAM});
	SCENE_ADD(&b, events, event_count,
		  {.device_ns = 905 * SCENE_US, .context_id = 1, .stream_id = 7, .event_id = 22});
	build_gate(&b, false, GP_GATE_API, 2910 * SCENE_US);
	build_gate(&b, true, GP_GATE_API, 2920 * SCENE_US);
	build_range(&b, 101, "mark", 2950 * SCENE_US, 2950 * SCENE_US);
	b.model->ranges[b.model->range_count - 1].style = GP_STYLE_MARK;
	build_range(&b, 101, "started", 2960 * SCENE_US, 2990 * SCENE_US);
	b.model->ranges[b.model->range_count - 1].style = GP_STYLE_START_END;
	SCENE_ADD(&b, unifieds, unified_count,
		  {.counter_kind = GP_UNIFIED_CPU_FAULT,
		   .start_ns = 656 * SCENE_US,
		   .end_ns = 656 * SCENE_US,
		   .source_device_id = GP_NONE});
	build_op(&b, GP_OP_GRAPH, 9, 3000 * SCENE_US, 3050 * SCENE_US, 0)->graph_id = 5;
	return build_end(&b);
}

/* ---- the walk ---- */

static int note_track(void *context, const struct gp_timeline_track *track)
{
	(void)context;
	(void)track;
	return 0;
}

static int note_event(void *context, const struct gp_timeline_event *event)
{
	const char *category = gp_timeline_categories[event->kind];

	((struct counts *)context)->events[kind_of(category, strlen(category))]++;
	assert_false(event->is_elsewhere);
	assert_true(event->arg_count <= GP_TIMELINE_ARGS);
	return 0;
}

static int note_counter(void *context, const struct gp_timeline_counter *counter)
{
	((struct counts *)context)->counters +=
		counter->changed == GP_NONE ? counter->series_count : 1;
	return 0;
}

static struct counts count_walk_with(const struct gp_slice_choice *choice, bool is_table,
				     bool has_untimed)
{
	static const struct gp_timeline_sink sink = {note_track, note_event, note_counter};
	struct counts counts = {0};
	struct gp_model *model = make();
	struct gp_timeline timeline = {
		.model = model,
		.filter = gp_slice_filter_of(choice, model),
		.is_table = is_table,
		.has_untimed = has_untimed,
		.has_curves = true,
		.has_path = true,
		.host_depth = gp_host_spans_depth(model),
		.names = gp_names_new(),
		.sink = &sink,
		.context = &counts,
	};

	assert_non_null(timeline.names);
	assert_int_equal(gp_timeline_walk(&timeline), 0);
	gp_names_free(timeline.names);
	gp_model_free(model);
	return counts;
}

static struct counts count_walk(const struct gp_slice_choice *choice)
{
	return count_walk_with(choice, false, false);
}

/* ---- what the formats hold ---- */

static char *export(const struct gp_exporter *exporter, const struct gp_slice_choice *choice,
		    size_t *bytes)
{
	const struct gp_export_options options = {
		.counters = true, .critical_path = true, .choice = *choice};
	struct gp_model *model = make();
	char *text;
	FILE *out = open_memstream(&text, bytes);

	assert_int_equal(gp_export_model(exporter, model, &options, out), 0);
	fclose(out);
	gp_model_free(model);
	return text;
}

/* Slices, instants, and the beginnings of what is two events; each counter's event may be several values. */
static struct counts count_chrome(const struct gp_slice_choice *choice)
{
	struct counts counts = {0};
	size_t bytes;
	char *text = export(&gp_exporter_chrome, choice, &bytes);

	for (const char *at = text; (at = strstr(at, "{\"ph\":\"")) != NULL;) {
		char phase = at[7];

		at += strlen("{\"ph\":\"X\",");
		if (!strchr("XBbi", phase))
			continue;
		at += strlen("\"cat\":\"");
		counts.events[kind_of(at, strcspn(at, "\""))]++;
	}
	free(text);
	return counts;
}

struct field {
	uint64_t number, value;
	const uint8_t *bytes; /* of a message or text, value of them; NULL: a number */
};

static uint64_t read_number(const uint8_t **at)
{
	uint64_t number = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
}

static bool read_field(const uint8_t **at, const uint8_t *end, struct field *field)
{
	uint64_t tag;

	if (*at >= end)
		return false;
	tag = read_number(at);
	*field = (struct field){.number = tag >> 3};
	if ((tag & 7) == 1) {
		*at += 8;
	} else {
		field->value = read_number(at);
		if ((tag & 7) == 2) {
			field->bytes = *at;
			*at += field->value;
		}
	}
	return true;
}

/* The last field of that number in a message; bytes and value are 0 if there is none. */
static struct field find(struct field message, uint64_t number)
{
	const uint8_t *at = message.bytes, *end = at ? at + message.value : NULL;
	struct field field, found = {0};

	while (at && read_field(&at, end, &field))
		if (field.number == number)
			found = field;
	return found;
}

/* Names by the lists of interned data that they are in, and their numbers. */
struct names {
	char text[25][64][24];
};

enum { INTERNED_CATEGORIES = 1, INTERNED_STAGES = 24 };

static void note_names(struct names *names, struct field interned)
{
	const uint8_t *at = interned.bytes, *end = at ? at + interned.value : NULL;
	struct field field;

	while (at && read_field(&at, end, &field)) {
		struct field iid = find(field, 1), name = find(field, 2);

		if ((field.number == INTERNED_CATEGORIES || field.number == INTERNED_STAGES) &&
		    iid.value < 64)
			snprintf(names->text[field.number][iid.value], 24, "%.*s", (int)name.value,
				 (const char *)name.bytes);
	}
}

static void count_packet(struct counts *counts, struct names *names, struct field packet)
{
	static const char *const stages[][2] = {
		{"Kernel", "kernel"},
		{"MemoryTransfer", "gpu_memcpy"},
		{"MemorySet", "gpu_memset"},
		{"Graph", "gpu_graph"},
	};
	struct field event = find(packet, 11), stage = find(packet, 53);
	const char *category = names->text[INTERNED_CATEGORIES][find(event, 3).value];
	uint64_t type = find(event, 9).value;

	note_names(names, find(packet, 12));
	if (strcmp(category, "nvtx") == 0)
		category = gp_timeline_categories[GP_TIMELINE_RANGE];
	if (type == 1 || type == 3)
		counts->events[kind_of(category, strlen(category))]++;
	counts->counters += type == 4;
	for (size_t i = 0; i < 4 && stage.bytes; i++)
		if (strcmp(names->text[INTERNED_STAGES][find(stage, 14).value], stages[i][0]) == 0)
			counts->events[kind_of(stages[i][1], strlen(stages[i][1]))]++;
}

static struct counts count_perfetto(const struct gp_slice_choice *choice)
{
	static struct names names;
	struct counts counts = {0};
	size_t bytes;
	char *text = export(&gp_exporter_perfetto, choice, &bytes);
	const uint8_t *at = (const uint8_t *)text, *end = at + bytes;
	struct field packet;

	names = (struct names){0};
	while (read_field(&at, end, &packet))
		count_packet(&counts, &names, packet);
	free(text);
	return counts;
}

/* ---- tables, and the page ---- */

#define BIT(id) GP_TIMELINE_BIT(id)

/* A row for each event of these kinds; other kinds have rows with their word. */
static const struct form {
	const char *words[4]; /* of CSV */
	const char *table;    /* of SQLite, and its condition */
	uint32_t kinds;
} forms[] = {
	{{"call"}, "CUPTI_ACTIVITY_KIND_RUNTIME", GP_TIMELINE_CALLS},
	{{"range", "mark", "start/end range"},
	 "NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
	 BIT(RANGE)},
	{{"kernel"}, "CUPTI_ACTIVITY_KIND_KERNEL", BIT(KERNEL)},
	{{"copy"}, "CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind < 11", BIT(COPY)},
	{{"memset"}, "CUPTI_ACTIVITY_KIND_MEMSET", BIT(MEMSET)},
	{{"graph"}, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", BIT(GRAPH)},
	{{"sync"}, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", BIT(SYNC)},
	{{"overhead"}, "PROFILER_OVERHEAD", BIT(OVERHEAD)},
	{{"event"}, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", BIT(EVENT)},
	{{"recording", "unfinished"}, NULL, BIT(GATE) | BIT(UNFINISHED)},
};

/*
 * Not comparable: only timelines have ranges of streams, the critical path and phases, only tables have
 * allocations and energy samples, and a window takes Python spans into a timeline, Python samples into a table.
 */
#define NOT_IN_FORMS                                                                               \
	(BIT(PYTHON) | BIT(STREAM_RANGE) | BIT(PATH) | BIT(PHASE) | BIT(ALLOCATION) |              \
	 BIT(ENERGY_SAMPLE))

static uint32_t sum_of(const struct counts *counts, uint32_t kinds)
{
	uint32_t sum = 0;

	for (uint32_t kind = 0; kind < GP_TIMELINE_KINDS; kind++)
		sum += (kinds >> kind & 1) != 0 ? counts->events[kind] : 0;
	return sum;
}

static uint32_t count_lines(const char *csv, const char *word)
{
	char line[32];
	uint32_t count = 0;

	snprintf(line, sizeof(line), "\n%s,", word);
	for (const char *at = csv; (at = strstr(at, line)) != NULL; at++)
		count++;
	return count;
}

/* Of a table that is not there: 0. */
static uint32_t count_rows(sqlite3 *db, const char *table)
{
	char query[160];
	sqlite3_stmt *statement = NULL;
	uint32_t count = 0;

	snprintf(query, sizeof(query), "SELECT count(*) FROM %s", table);
	if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		count = (uint32_t)sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return count;
}

/* The caller frees *exported after it closed the database. */
static sqlite3 *open_exported(const struct gp_slice_choice *choice, char **exported)
{
	size_t bytes;
	sqlite3 *db;

	*exported = export(&gp_exporter_sqlite, choice, &bytes);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_deserialize(db, "main", (unsigned char *)*exported,
					     (sqlite3_int64)bytes, (sqlite3_int64)bytes,
					     SQLITE_DESERIALIZE_READONLY),
			 SQLITE_OK);
	return db;
}

static void expect_tables(const struct gp_slice_choice *choice)
{
	struct counts timed = count_walk_with(choice, true, false);
	struct counts walk = count_walk_with(choice, false, true);
	size_t bytes;
	char *csv = export(&gp_exporter_csv, choice, &bytes), *exported;
	sqlite3 *db = open_exported(choice, &exported);
	uint32_t named = NOT_IN_FORMS;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *form = &forms[i];
		uint32_t lines = 0, sum = sum_of(&walk, form->kinds);
		uint32_t rows = sum_of(&timed, form->kinds);

		named |= form->kinds;
		for (size_t w = 0; form->words[w]; w++)
			lines += count_lines(csv, form->words[w]);
		if (lines != sum)
			fail_msg("%s: %u in the walk, %u in CSV", form->words[0], sum, lines);
		if (form->table && count_rows(db, form->table) != rows)
			fail_msg("%s: %u in the walk, %u in SQLite", form->words[0], rows,
				 count_rows(db, form->table));
	}
	for (uint32_t kind = 0; kind < GP_TIMELINE_KINDS; kind++)
		if (!(named >> kind & 1) &&
		    count_lines(csv, gp_timeline_words[kind]) != walk.events[kind])
			fail_msg("%s: %u in the walk, %u in CSV", gp_timeline_words[kind],
				 walk.events[kind], count_lines(csv, gp_timeline_words[kind]));
	sqlite3_close(db);
	free(exported);
	free(csv);
}

/* A kind that it forgets is counted by none of the others. */
static void the_bound_on_slices_has_all_kinds(void **state)
{
	const uint32_t instants_and_spans = NOT_IN_FORMS | BIT(GATE) | BIT(UNFINISHED) | BIT(EVENT);
	const struct gp_slice_choice all = {0};
	struct counts walk = count_walk_with(&all, false, true);
	struct gp_model *model = make();

	assert_int_equal(sum_of(&walk, ~instants_and_spans), gp_export_most_slices(model));
	gp_model_free(model);
}

static int sum_track(void *context, const struct gp_html_track *track,
		     const struct gp_html_gather *gather)
{
	uint32_t *events = context;

	if (strcmp(track->kind, "python") != 0 && strcmp(track->kind, "gpu-ranges") != 0)
		*events += gather->count;
	return 0;
}

static void the_page_has_the_same(void **state)
{
	const uint32_t kinds = ~(BIT(PYTHON) | BIT(GATE) | BIT(UNFINISHED) | BIT(STREAM_RANGE) |
				 BIT(SYNC) | BIT(EVENT) | BIT(PATH));
	const struct gp_slice_choice all = {0};
	struct counts walk = count_walk(&all);
	struct gp_model *model = make();
	struct gp_scope scope;
	uint32_t events = 0;
	struct gp_html_tracks tracks = {.scope = &scope, .take = sum_track, .context = &events};

	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_html_tracks_walk(&tracks), 0);
	assert_int_equal(events, sum_of(&walk, kinds));
	gp_html_tracks_free(&tracks);
	gp_scope_close(&scope);
	gp_model_free(model);
}

/* ---- tests ---- */

static void expect_equal(const struct gp_slice_choice *choice)
{
	struct counts walk = count_walk(choice), chrome = count_chrome(choice);
	struct counts perfetto = count_perfetto(choice);

	for (uint32_t kind = 0; kind < GP_TIMELINE_KINDS; kind++)
		if (chrome.events[kind] != walk.events[kind] ||
		    perfetto.events[kind] != walk.events[kind])
			fail_msg("%s: %u in the walk, %u in Chrome's, %u in Perfetto's",
				 gp_timeline_categories[kind], walk.events[kind],
				 chrome.events[kind], perfetto.events[kind]);
	assert_int_equal(perfetto.counters, walk.counters);
	expect_tables(choice);
}

static void all_formats_have_the_same(void **state)
{
	const struct gp_slice_choice all = {0};

	expect_equal(&all);
}

static void so_they_have_of_a_window(void **state)
{
	const struct gp_slice_choice window = {.from_ns = 500 * SCENE_US, .to_ns = 1500 * SCENE_US};
	const struct gp_slice_choice long_ones = {.least_ns = 20 * SCENE_US};

	expect_equal(&window);
	expect_equal(&long_ones);
}

/* By category: two kinds share one.  Allocations are a counter. */
static void the_scene_has_every_kind(void **state)
{
	const struct gp_slice_choice all = {0};
	struct counts walk = count_walk(&all);

	for (uint32_t kind = 0; kind < GP_TIMELINE_KINDS; kind++) {
		const char *category = gp_timeline_categories[kind];

		if (kind != GP_TIMELINE_ALLOCATION && kind != GP_TIMELINE_ENERGY_SAMPLE &&
		    walk.events[kind_of(category, strlen(category))] == 0)
			fail_msg("no %s", category);
	}
	assert_true(walk.counters > 0);
}

static int fail_at_once(void *context, const struct gp_timeline_track *track)
{
	(void)track;
	(*(uint32_t *)context)++;
	return -7;
}

static void a_failing_sink_ends_the_walk(void **state)
{
	static const struct gp_timeline_sink sink = {fail_at_once, note_event, note_counter};
	struct gp_model *model = make();
	uint32_t calls = 0;
	struct gp_timeline timeline = {.model = model,
				       .filter = gp_slice_filter_of_part(model),
				       .host_depth = gp_host_spans_depth(model),
				       .sink = &sink,
				       .context = &calls};

	assert_int_equal(gp_timeline_walk(&timeline), -7);
	assert_int_equal(calls, 1);
	gp_model_free(model);
}

static void it_knows_whether_anything_is_chosen(void **state)
{
	static const struct {
		struct gp_slice_choice choice;
		bool any;
	} choices[] = {
		{{0}, true},
		{{.from_ns = 100}, true},
		{{.from_ns = 110}, false},
		{{.to_ns = 1}, true},
		{{.from_ns = 20, .to_ns = 90}, false},
		{{.least_ns = 10}, true},
		{{.least_ns = 11}, false},
		{{.from_ns = 105, .is_part = true}, false},
	};
	struct build b = build_begin(1);
	struct gp_record_pool pool = {0};
	struct gp_model *model;

	build_call(&b, 1, BUILD_LAUNCH, 0, 10, 1);
	build_call(&b, 1, BUILD_LAUNCH, 100, 10, 2);
	model = build_end(&b);
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		assert_int_equal(gp_timeline_has_any(model, &choices[i].choice), choices[i].any);
	/* Moments have no duration that could be too short. */
	pool.time_ns = model->first_ns + 50;
	model->pools = &pool;
	model->pool_count = 1;
	assert_true(gp_timeline_has_any(model, &choices[6].choice));
	assert_true(gp_timeline_has_any(model, &choices[4].choice));
	assert_false(gp_timeline_has_any(model, &choices[2].choice));
	model->pools = NULL;
	model->pool_count = 0;
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_formats_have_the_same),
		cmocka_unit_test(so_they_have_of_a_window),
		cmocka_unit_test(the_scene_has_every_kind),
		cmocka_unit_test(the_bound_on_slices_has_all_kinds),
		cmocka_unit_test(the_page_has_the_same),
		cmocka_unit_test(a_failing_sink_ends_the_walk),
		cmocka_unit_test(it_knows_whether_anything_is_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
