/*
 * spans: a window has what runs in it; where that is too much, short events become one and nothing
 * is lost.
 */
#include <string.h>
#include "tests/unit.h"

#include <jansson.h>

#include "report/serve/spans.h"
#include "tests/report/model_builder.h"

#define KERNELS 1000u

/*
 * Kernels of 300 ns every 1000 ns from +200 on, one of 50,000 ns on another stream; a range-like
 * call at 0 and a copy at the end.
 */
static struct gp_model *make_model(void)
{
	struct build b = build_begin(42);
	uint32_t name = build_name(&b, "_Z4stepPf");
	uint32_t shape = build_shape(&b, 10, 64);
	struct gp_op *op;

	build_device(&b, 0, "Device");
	build_call(&b, 100, BUILD_LAUNCH, 0, 100, 0)->status = 700;
	for (uint32_t i = 0; i < KERNELS; i++) {
		op = build_op(&b, GP_OP_KERNEL, 7, 1000 * i + 200, 1000 * i + 500, 0);
		op->name = name;
		op->shape = shape;
	}
	build_op(&b, GP_OP_KERNEL, 9, 100000, 150000, 0)->name = name;
	build_op(&b, GP_OP_COPY, 9, 2000000, 2000000, 0)->bytes = 4096;
	return build_end(&b);
}

static json_t *query(const struct gp_spans *spans, struct gp_span_query query)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	json_error_t error;
	json_t *json;

	assert_non_null(out);
	assert_int_equal(gp_spans_write(spans, &query, out), 0);
	fclose(out);
	json = json_loads(text, 0, &error);
	assert_non_null(json);
	free(text);
	return json;
}

static json_int_t integer(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

/* Of all spans. */
struct sums {
	json_int_t spans, events, busy_ns;
};

static struct sums add_up(const json_t *json, const char *kind)
{
	struct sums sums = {0};
	size_t t, r, s;
	json_t *track, *row, *span;

	json_array_foreach(json_object_get(json, "tracks"), t, track)
		json_array_foreach(json_object_get(track, "rows"), r, row)
			json_array_foreach(row, s, span)
	{
		const char *is = json_string_value(json_object_get(span, "kind"));
		bool is_group = json_object_get(span, "count") != NULL;

		if (kind && strcmp(is, kind) != 0)
			continue;
		sums.spans++;
		sums.events += is_group ? integer(span, "count") : 1;
		sums.busy_ns += integer(span, is_group ? "busy" : "duration");
	}
	return sums;
}

struct scene {
	struct gp_model *models[1];
	struct gp_spans *spans;
};

static void set_up(struct scene *scene)
{
	scene->models[0] = make_model();
	assert_int_equal(gp_spans_new(scene->models, 1, &scene->spans), 0);
}

static void tear_down(struct scene *scene)
{
	gp_spans_free(scene->spans);
	gp_model_free(scene->models[0]);
}

static const struct gp_span_query all = {.from_ns = -1000000, .to_ns = 100000000, .limit = 100000};

/*
 * The timeline begins with the program: CUPTI has overhead of its own before, which moves nothing.
 */
static void test_what_starting_took_is_left_out(void **state)
{
	struct build b = build_begin(1);
	struct gp_spans *spans;
	struct gp_model *model;
	json_t *json;

	build_call(&b, 100, BUILD_DEVICE_SYNC, 500000, 1000, 0);
	build_overhead(&b, 1 << 16, 100, 200);
	build_overhead(&b, 1 << 16, 600000, 600200);
	b.model->first_ns = 500000;
	model = build_end(&b);
	assert_int_equal(gp_spans_new(&model, 1, &spans), 0);
	json = query(spans, all);
	assert_int_equal(add_up(json, "overhead").events, 1);
	assert_int_equal(add_up(json, "overhead").busy_ns, 200);
	json_decref(json);
	gp_spans_free(spans);
	gp_model_free(model);
}

static void test_all_of_a_trace(void **state)
{
	struct scene scene;
	struct sums sums;
	json_t *json;

	set_up(&scene);
	json = query(scene.spans, all);
	sums = add_up(json, NULL);
	assert_int_equal(sums.spans, KERNELS + 3);
	assert_int_equal(integer(json, "found"), KERNELS + 3);
	assert_int_equal(integer(json, "events"), KERNELS + 3);
	assert_int_equal(integer(json, "spans"), KERNELS + 3);
	assert_int_equal(integer(json, "resolution"), 0);
	assert_int_equal(integer(json, "from"), 0);
	assert_int_equal(integer(json, "to"), 2000001);
	assert_int_equal(add_up(json, "kernel").busy_ns, KERNELS * 300 + 50000);
	assert_int_equal(json_array_size(json_object_get(json, "tracks")), 3);
	json_decref(json);
	tear_down(&scene);
}

/* The only span of a window. */
static json_t *only(const json_t *json)
{
	json_t *tracks = json_object_get(json, "tracks");
	json_t *rows = json_object_get(json_array_get(tracks, 0), "rows");
	json_t *row = json_array_get(rows, json_array_size(rows) - 1);

	assert_int_equal(json_array_size(tracks), 1);
	assert_int_equal(json_array_size(row), 1);
	return json_array_get(row, 0);
}

static void test_spans_tell_what_they_are(void **state)
{
	struct scene scene;
	json_t *json, *span;

	set_up(&scene);
	json = query(scene.spans,
		     (struct gp_span_query){.from_ns = 400, .to_ns = 1000, .limit = 9});
	span = only(json);
	assert_int_equal(integer(span, "start"), 200);
	assert_int_equal(integer(span, "duration"), 300);
	assert_string_equal(json_string_value(json_object_get(span, "kind")), "kernel");
	assert_string_equal(json_string_value(json_object_get(span, "name")), "step");
	assert_int_equal(json_integer_value(json_array_get(json_object_get(span, "grid"), 0)), 10);
	json_decref(json);
	json = query(scene.spans,
		     (struct gp_span_query){.from_ns = 2000000, .to_ns = 2000001, .limit = 9});
	span = only(json);
	assert_string_equal(json_string_value(json_object_get(span, "kind")), "copy");
	assert_int_equal(integer(span, "bytes"), 4096);
	json_decref(json);
	json = query(scene.spans, (struct gp_span_query){.from_ns = -9, .to_ns = 100, .limit = 9});
	span = only(json);
	assert_string_equal(json_string_value(json_object_get(span, "kind")), "call");
	assert_int_equal(integer(span, "result"), 700);
	json_decref(json);
	tear_down(&scene);
}

/* What only touches the window is not in it; what runs into it is, as a whole. */
static void test_edges_of_a_window(void **state)
{
	static const struct {
		int64_t from_ns, to_ns;
		uint64_t least_ns;
		json_int_t found;
	} cases[] = {
		{500, 1200, 0, 0},      {499, 1200, 0, 1},        {500, 1201, 0, 1},
		{499, 1201, 0, 2},      {2000000, 3000000, 0, 1}, {1999999, 2000000, 0, 0},
		{0, 3000000, 301, 1},   {0, 3000000, 50001, 0},   {0, 3000000, 300, KERNELS + 1},
		{120000, 120001, 0, 1}, {3000000, 4000000, 0, 0}, {-500, -400, 0, 0},
		{-500, 1, 0, 1},        {120300, 120301, 0, 2},
	};
	struct scene scene;

	set_up(&scene);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *json =
			query(scene.spans, (struct gp_span_query){.from_ns = cases[i].from_ns,
								  .to_ns = cases[i].to_ns,
								  .least_ns = cases[i].least_ns,
								  .limit = 100000});

		assert_int_equal(integer(json, "found"), cases[i].found);
		assert_int_equal(add_up(json, NULL).spans, cases[i].found);
		json_decref(json);
	}
	tear_down(&scene);
}

static void test_nothing_is_lost_where_spans_become_one(void **state)
{
	static const uint32_t limits[] = {20, 50, 100, 500, 1002};
	struct scene scene;

	set_up(&scene);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct gp_span_query few = all;
		struct sums sums;
		json_t *json;

		few.limit = limits[i];
		json = query(scene.spans, few);
		sums = add_up(json, NULL);
		assert_true(sums.spans <= limits[i]);
		assert_int_equal(sums.spans, integer(json, "spans"));
		assert_int_equal(sums.events, KERNELS + 3);
		assert_int_equal(integer(json, "left_out"), 0);
		assert_true(integer(json, "resolution") > 0);
		assert_int_equal(add_up(json, "kernel").busy_ns, KERNELS * 300 + 50000);
		json_decref(json);
	}
	tear_down(&scene);
}

/* With less room than rows, what is left out is counted. */
static void test_the_limit_holds(void **state)
{
	struct gp_span_query one = all;
	struct scene scene;
	struct sums sums;
	json_t *json;

	set_up(&scene);
	one.limit = 1;
	json = query(scene.spans, one);
	sums = add_up(json, NULL);
	assert_int_equal(sums.spans, 1);
	assert_int_equal(sums.events + integer(json, "left_out"), KERNELS + 3);
	json_decref(json);
	tear_down(&scene);
}

static void test_a_trace_without_events(void **state)
{
	struct build b = build_begin(42);
	struct scene scene = {.models = {build_end(&b)}};
	json_t *json;

	assert_int_equal(gp_spans_new(scene.models, 1, &scene.spans), 0);
	json = query(scene.spans, all);
	assert_int_equal(integer(json, "found"), 0);
	assert_int_equal(json_array_size(json_object_get(json, "tracks")), 0);
	json_decref(json);
	tear_down(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_a_trace),
		cmocka_unit_test(test_what_starting_took_is_left_out),
		cmocka_unit_test(test_spans_tell_what_they_are),
		cmocka_unit_test(test_edges_of_a_window),
		cmocka_unit_test(test_nothing_is_lost_where_spans_become_one),
		cmocka_unit_test(test_the_limit_holds),
		cmocka_unit_test(test_a_trace_without_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
