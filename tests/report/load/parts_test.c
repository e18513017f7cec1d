/* A trace part by part comes to what it comes to as a whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/load/load_model.h"
#include "report/load/parts.h"
#include "tests/unit.h"
#include "tests/lib/dice.h"
#include "tests/report/trace_builder.h"

#define BLOCKS     150u
#define BLOCK_NS   100000u
#define THREADS    3u
#define IN_BLOCK   12u /* launches of a thread */
#define ADDRESSES  8u
#define MOST_DEPTH 5u
#define WORK_RING  (THREADS + 2)
#define MOST_QUEUE 4096u

/* A launch whose kernel has not run yet. */
struct launch {
	uint32_t correlation_id;
	uint32_t stream;
};

struct scene {
	struct gp_builder b;
	uint64_t dice;
	uint32_t next_id;
	struct launch queue[MOST_QUEUE];
	uint32_t queued, done;
	uint32_t depth[THREADS];
	bool is_allocated[THREADS][ADDRESSES];
	uint64_t open_range; /* of start and end; 0 = none */
	uint64_t work_ns;    /* when the device is free */
	bool are_all_timed;
};

static uint32_t roll(struct scene *s, uint32_t most)
{
	return (uint32_t)(roll_dice(&s->dice) >> 11) % most;
}

static void add_range(struct scene *s, uint8_t op, uint64_t ns, uint64_t id)
{
	gp_builder_add(&s->b, &(struct gp_record_range){.kind = GP_RECORD_RANGE,
							.op = op,
							.text_id = 1 + roll(s, 2),
							.domain_id = 0,
							.range_id = id,
							.ticks = GP_TEST_AT_TICK(ns)});
}

static void nest(struct scene *s, uint32_t thread, uint64_t ns)
{
	if (roll(s, 2) == 0 && s->depth[thread] < MOST_DEPTH) {
		add_range(s, GP_RANGE_PUSH, ns, 0);
		s->depth[thread]++;
	} else if (s->depth[thread] > 0) {
		add_range(s, GP_RANGE_POP, ns, 0);
		s->depth[thread]--;
	} else {
		add_range(s, GP_RANGE_MARK, ns, 0);
	}
}

/* Opened by one thread and closed by another. */
static void start_or_end(struct scene *s, uint64_t ns)
{
	add_range(s, s->open_range ? GP_RANGE_END : GP_RANGE_START, ns,
		  s->open_range ? s->open_range : ns);
	s->open_range = s->open_range ? 0 : ns;
}

static void allocate_or_free(struct scene *s, uint32_t thread, uint64_t ns)
{
	uint32_t at = roll(s, ADDRESSES);
	bool *is_allocated = &s->is_allocated[thread][at];

	gp_builder_memory(&s->b, GP_MEMORY_DEVICE, ns, 0x1000 * (thread * ADDRESSES + at + 1),
			  *is_allocated ? 0 : 64 + at);
	*is_allocated = !*is_allocated;
}

static void launch(struct scene *s, uint64_t ns)
{
	struct launch launch = {++s->next_id, 7 + roll(s, 3)};

	gp_builder_call(&s->b, GP_TEST_LAUNCH, launch.correlation_id, ns, 200);
	s->queue[s->queued++ % MOST_QUEUE] = launch;
}

static void add_calls(struct scene *s, uint32_t thread, uint64_t ns)
{
	uint64_t step_ns = BLOCK_NS / (IN_BLOCK + 1);

	gp_builder_chunk(&s->b, 1 + thread, 100 + thread);
	for (uint32_t i = 0; i < IN_BLOCK; i++) {
		uint64_t at_ns = ns + i * step_ns + thread;

		launch(s, at_ns);
		if (roll(s, 3) == 0)
			nest(s, thread, at_ns + 400);
		if (roll(s, 4) == 0)
			allocate_or_free(s, thread, at_ns + 500);
		if (roll(s, 20) == 0)
			start_or_end(s, at_ns + 600);
	}
	if (roll(s, 4) == 0) /* past the end of the chunk's other events */
		gp_builder_call(&s->b, GP_TEST_SYNC, ++s->next_id, ns + BLOCK_NS - 2000,
				3 * BLOCK_NS);
}

/* Two threads share a ring. */
static void add_shared_calls(struct scene *s, uint64_t ns)
{
	gp_builder_chunk(&s->b, THREADS + 1, 0);
	for (uint32_t i = 0; i < 2; i++) {
		gp_builder_add(&s->b,
			       &(struct gp_record_thread){.kind = GP_RECORD_THREAD, .id = 500 + i});
		launch(s, ns + 50 + i);
	}
}

static void add_kernel(struct scene *s, const struct launch *launch, uint64_t start_ns,
		       uint64_t end_ns)
{
	bool has_times = s->are_all_timed || roll(s, 200) > 0;

	gp_builder_add(&s->b, &(struct gp_record_kernel){
				      .kind = GP_RECORD_KERNEL,
				      .correlation_id = launch->correlation_id,
				      .start_ns = has_times ? GP_TEST_CUPTI(start_ns) : 0,
				      .end_ns = has_times ? GP_TEST_CUPTI(end_ns) : 0,
				      .context_id = 1,
				      .stream_id = launch->stream,
				      .name_id = 1,
				      .shape_id = 1,
			      });
}

/* Mostly within the block; else past the end of the chunk's other events. */
static uint64_t roll_end(struct scene *s, uint64_t start_ns)
{
	return GP_TEST_CUPTI(start_ns + (roll(s, 4) == 0 ? 3 * BLOCK_NS : 300));
}

/* One of each kind of event that is neither a call nor an operation. */
static void add_other_events(struct scene *s, uint64_t ns)
{
	gp_builder_add(&s->b, &(struct gp_record_sync){.kind = GP_RECORD_SYNC,
						       .sync_kind = 3,
						       .correlation_id = s->next_id,
						       .start_ns = GP_TEST_CUPTI(ns),
						       .end_ns = roll_end(s, ns),
						       .context_id = 1,
						       .stream_id = 7});
	gp_builder_add(&s->b, &(struct gp_record_overhead){.kind = GP_RECORD_OVERHEAD,
							   .overhead_kind = 2,
							   .thread_id = 100,
							   .start_ns = GP_TEST_CUPTI(ns + 500),
							   .end_ns = roll_end(s, ns + 500)});
	gp_builder_add(&s->b, &(struct gp_record_unified){.kind = GP_RECORD_UNIFIED,
							  .counter_kind = GP_UNIFIED_HTOD,
							  .start_ns = GP_TEST_CUPTI(ns + 600),
							  .end_ns = roll_end(s, ns + 600),
							  .value = 4096 + roll(s, 9),
							  .address = 0x700000});
	gp_builder_add(&s->b, &(struct gp_record_pool){.kind = GP_RECORD_POOL,
						       .time_ns = GP_TEST_CUPTI(ns + 800),
						       .address = 0x90,
						       .reserved_bytes = 1 + roll(s, 99),
						       .op = 3,
						       .pool_kind = 1});
	gp_builder_add(&s->b, &(struct gp_record_host_function){.kind = GP_RECORD_HOST_FUNCTION,
								.correlation_id = s->next_id,
								.start_ns = GP_TEST_CUPTI(ns + 900),
								.end_ns = roll_end(s, ns + 900),
								.context_id = 1,
								.stream_id = 7});
}

/* What was launched up to some blocks ago; some of it has two kernels, as graphs have. */
static void add_work(struct scene *s, uint64_t ns, uint32_t left)
{
	gp_builder_chunk(&s->b, WORK_RING, 999);
	s->work_ns = ns > s->work_ns ? ns : s->work_ns;
	while (s->queued - s->done > left) {
		const struct launch *launch = &s->queue[s->done++ % MOST_QUEUE];

		for (uint32_t i = 0; i <= (roll(s, 10) == 0); i++) {
			add_kernel(s, launch, s->work_ns, s->work_ns + 900);
			s->work_ns += 1000;
		}
	}
	add_other_events(s, ns);
}

static void begin(struct scene *s)
{
	*s = (struct scene){.dice = DICE};
	gp_builder_init(&s->b);
	gp_builder_start(&s->b);
	gp_builder_string(&s->b, GP_STRING_RANGE, 1, 0, "step");
	gp_builder_string(&s->b, GP_STRING_RANGE, 2, 0, "layer");
}

static const char *save(struct scene *s)
{
	gp_builder_chunk(&s->b, 0, 0);
	gp_builder_anchor(&s->b, (uint64_t)BLOCKS * BLOCK_NS);
	gp_builder_end(&s->b, s->work_ns + BLOCK_NS);
	return gp_builder_save(&s->b);
}

static const char *make(struct scene *s, bool are_all_timed)
{
	begin(s);
	s->are_all_timed = are_all_timed;
	gp_builder_chunk(&s->b, 1, 100);
	add_range(s, GP_RANGE_PUSH, 0, 0); /* of all that follows; nobody closes it */
	for (uint32_t block = 0; block < BLOCKS; block++) {
		uint64_t ns = (uint64_t)block * BLOCK_NS;

		for (uint32_t thread = 0; thread < THREADS; thread++)
			add_calls(s, thread, ns);
		if (block % 7 == 3)
			add_shared_calls(s, ns);
		add_work(s, ns, block + 1 < BLOCKS ? roll(s, 150) : 0);
	}
	return save(s);
}

/* ---- what is written ---- */

static struct gp_model *load(const char *path)
{
	struct gp_model *model;
	char message[512];

	assert_int_equal(gp_model_load(path, &model, message, sizeof(message)), 0);
	return model;
}

static char *write_source(const struct gp_exporter *exporter, const struct gp_export_source *source,
			  const struct gp_slice_choice *choice, size_t *length)
{
	const struct gp_export_options options = {.measure = GP_STACK_METRICS, .choice = *choice};
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	assert_non_null(out);
	assert_int_equal(exporter->write(source, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *write_whole(const struct gp_exporter *exporter, const char *path,
			 const struct gp_slice_choice *choice, size_t *length)
{
	struct gp_model *model = load(path);
	const struct gp_export_source source = gp_export_source_of(model);
	char *text = write_source(exporter, &source, choice, length);

	gp_model_free(model);
	return text;
}

static char *write_parts(const struct gp_exporter *exporter, const char *path,
			 const struct gp_slice_choice *choice, uint64_t events, size_t *length)
{
	struct gp_export_source source = {.get = gp_parts_get, .are_parts = true};
	const struct gp_parts_wish wish = {
		.events = events,
		.with_memory = (exporter->heeds & GP_EXPORT_MEMORY) != 0,
	};
	struct gp_parts *parts;
	char *text;

	assert_int_equal(gp_parts_open(path, choice, &wish, &parts), 0);
	source.count = gp_parts_count(parts);
	source.context = parts;
	text = write_source(exporter, &source, choice, length);
	assert_null(gp_parts_trouble(parts));
	gp_parts_close(parts);
	return text;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What is missing of a whole is not known of parts. */
static bool is_compared(const char *line)
{
	return !strstr(line, "missing");
}

/* Lines, sorted; the text is cut up.  NULL ends them. */
static char **lines_of(char *text)
{
	char **lines, *rest = text;
	size_t count = 0, most = 2;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		most++;
	lines = malloc(most * sizeof(*lines)); /* growing line by line is slow with sanitizers */
	assert_non_null(lines);
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (is_compared(line))
			lines[count++] = line;
	}
	lines[count] = NULL;
	qsort(lines, count, sizeof(*lines), compare_lines);
	return lines;
}

static void check_lines(char *found, char *expected)
{
	char **left = lines_of(found), **right = lines_of(expected);
	size_t i = 0;

	for (; left[i] && right[i]; i++)
		assert_string_equal(left[i], right[i]);
	assert_true(!left[i] && !right[i]);
	assert_true(i > 0);
	free(left);
	free(right);
	free(found);
	free(expected);
}

/* ---- tests ---- */

static void check_parts(const struct gp_exporter *exporter, const char *path, uint64_t events)
{
	const struct gp_slice_choice choices[] = {{0}, {.from_ns = 2100000}, {.least_ns = 900}};
	const size_t count = exporter->heeds & GP_EXPORT_PART ? 3 : 1;
	size_t length;

	for (size_t i = 0; i < count; i++)
		check_lines(write_parts(exporter, path, &choices[i], events, &length),
			    write_whole(exporter, path, &choices[i], &length));
}

static void test_all_parts(void **state)
{
	static const struct gp_exporter *const exporters[] = {&gp_exporter_csv, &gp_exporter_jsonl,
							      &gp_exporter_folded,
							      &gp_exporter_openmetrics};
	static const uint64_t events[] = {600, 100000};
	struct scene s;
	const char *path = make(&s, false);

	for (size_t e = 0; e < sizeof(exporters) / sizeof(exporters[0]); e++)
		for (size_t n = 0; n < sizeof(events) / sizeof(events[0]); n++)
			check_parts(exporters[e], path, events[n]);
	gp_builder_free(&s.b);
}

enum { LASTING_SYNC, LASTING_OVERHEAD, LASTING_UNIFIED, LASTING_HOST_FUNCTION, LASTING_KINDS };

/* From 50 ms to 205 ms, in a chunk whose other events end at once. */
static void add_lasting(struct scene *s, int kind)
{
	const uint64_t start_ns = GP_TEST_CUPTI(50005000), end_ns = GP_TEST_CUPTI(205000000);

	if (kind == LASTING_SYNC)
		gp_builder_add(&s->b, &(struct gp_record_sync){.kind = GP_RECORD_SYNC,
							       .sync_kind = 3,
							       .start_ns = start_ns,
							       .end_ns = end_ns,
							       .context_id = 1,
							       .stream_id = 7});
	if (kind == LASTING_OVERHEAD)
		gp_builder_add(&s->b, &(struct gp_record_overhead){.kind = GP_RECORD_OVERHEAD,
								   .overhead_kind = 2,
								   .start_ns = start_ns,
								   .end_ns = end_ns});
	if (kind == LASTING_UNIFIED)
		gp_builder_add(&s->b, &(struct gp_record_unified){.kind = GP_RECORD_UNIFIED,
								  .counter_kind = GP_UNIFIED_HTOD,
								  .start_ns = start_ns,
								  .end_ns = end_ns,
								  .value = 4096});
	if (kind == LASTING_HOST_FUNCTION)
		gp_builder_add(&s->b,
			       &(struct gp_record_host_function){.kind = GP_RECORD_HOST_FUNCTION,
								 .start_ns = start_ns,
								 .end_ns = end_ns,
								 .context_id = 1,
								 .stream_id = 7});
}

/* Calls and kernels each ms for 300 ms, each in chunks of their own. */
static const char *make_lasting(struct scene *s, int kind)
{
	begin(s);
	s->are_all_timed = true;
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t ns = i * UINT64_C(1000000);

		gp_builder_chunk(&s->b, 1, 100);
		for (uint32_t k = 0; k < 10; k++)
			launch(s, ns + 1000 * k);
		gp_builder_chunk(&s->b, WORK_RING, 999);
		if (i == 50) /* the first chunk is in every part */
			add_lasting(s, kind);
		while (s->done < s->queued) {
			const struct launch *next = &s->queue[s->done++ % MOST_QUEUE];

			add_kernel(s, next, ns + 20000 + next->correlation_id, ns + 21000);
		}
	}
	gp_builder_chunk(&s->b, 0, 0);
	gp_builder_anchor(&s->b, 300000000);
	gp_builder_end(&s->b, 300000000);
	return gp_builder_save(&s->b);
}

/* A window that begins long after it, and in which it still lasts. */
static void test_what_outlasts_its_chunk(void **state)
{
	const struct gp_slice_choice window = {.from_ns = 100000000};
	size_t length, without_length = 0;

	for (int kind = LASTING_KINDS; kind >= 0; kind--) {
		struct scene s;
		const char *path = make_lasting(&s, kind);
		char *whole = write_whole(&gp_exporter_csv, path, &window, &length);

		if (kind == LASTING_KINDS)
			without_length = length;
		else
			assert_true(length > without_length);
		check_lines(write_parts(&gp_exporter_csv, path, &window, 500, &length), whole);
		gp_builder_free(&s.b);
	}
}

/* Of a window that is one part all is the same. */
static void test_windows(void **state)
{
	static const struct gp_exporter *const exporters[] = {
		&gp_exporter_folded,
		&gp_exporter_pprof,
		&gp_exporter_speedscope,
	};
	const struct gp_slice_choice windows[] = {
		{.to_ns = 300000},
		{.from_ns = 1000000, .to_ns = 1100000},
		{.from_ns = 3333333, .to_ns = 4444444, .least_ns = 500},
		{.from_ns = 14000000},
	};
	struct scene s;
	const char *path = make(&s, false);

	for (size_t e = 0; e < sizeof(exporters) / sizeof(exporters[0]); e++)
		for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
			size_t found_length, length;
			char *found =
				write_parts(exporters[e], path, &windows[w], 2000, &found_length);
			char *whole = write_whole(exporters[e], path, &windows[w], &length);

			assert_int_equal(found_length, length);
			assert_memory_equal(found, whole, length);
			free(found);
			free(whole);
		}
	gp_builder_free(&s.b);
}

static void test_a_part_is_small(void **state)
{
	const struct gp_slice_choice window = {.from_ns = 3000000, .to_ns = 3100000};
	struct scene s;
	const char *path = make(&s, true);
	struct gp_model *whole = load(path);
	const struct gp_parts_wish wish = {.events = 1000};
	const struct gp_model *part;
	struct gp_parts *parts;

	assert_int_equal(gp_parts_open(path, &window, &wish, &parts), 0);
	part = gp_parts_get(parts, 0);
	assert_non_null(part);
	assert_true(part->call_count + part->op_count > 0);
	assert_true(part->call_count < whole->call_count / 3);
	assert_true(part->op_count < whole->op_count / 3);
	assert_int_equal(part->first_ns, whole->first_ns);
	assert_int_equal(part->last_ns, whole->last_ns);
	assert_int_equal(part->first_call_ns, whole->first_call_ns);
	assert_int_equal(part->last_call_ns, whole->last_call_ns);
	assert_int_equal(part->base_unix_ns, whole->base_unix_ns);
	assert_int_equal(part->thread_count, whole->thread_count);
	gp_parts_close(parts);
	gp_model_free(whole);
	gp_builder_free(&s.b);
}

static const struct gp_range *longest_of(const struct gp_model *model)
{
	const struct gp_range *longest = &model->ranges[0];

	for (uint32_t i = 1; i < model->range_count; i++)
		if (model->ranges[i].end_ns - model->ranges[i].start_ns >
		    longest->end_ns - longest->start_ns)
			longest = &model->ranges[i];
	return longest;
}

/* It is there as it is, but nothing is said of its operations, of which the part has some. */
static void test_a_range_longer_than_a_part(void **state)
{
	const struct gp_slice_choice window = {.from_ns = 3000000, .to_ns = 3100000};
	const struct gp_parts_wish wish = {.events = 1000};
	struct scene s;
	const char *path = make(&s, true);
	struct gp_model *whole = load(path);
	const struct gp_range *expected = longest_of(whole), *found;
	struct gp_parts *parts;

	assert_int_equal(gp_parts_open(path, &window, &wish, &parts), 0);
	assert_non_null(gp_parts_get(parts, 0));
	found = longest_of(gp_parts_get(parts, 0));
	assert_int_equal(found->start_ns, expected->start_ns);
	assert_int_equal(found->end_ns, expected->end_ns);
	assert_int_equal(found->thread_id, expected->thread_id);
	assert_false(expected->is_cut);
	assert_true(expected->op_count > 0);
	assert_true(found->is_cut);
	assert_int_equal(found->op_count, 0);
	assert_int_equal(found->gpu_busy_ns, 0);
	gp_parts_close(parts);
	gp_model_free(whole);
	gp_builder_free(&s.b);
}

static void check_is_refused(struct scene *s, const char *path)
{
	const struct gp_slice_choice all = {0};
	const struct gp_parts_wish wish = {.events = 100};
	struct gp_parts *parts;

	assert_int_equal(gp_parts_open(path, &all, &wish, &parts), -ENOTSUP);
	gp_builder_free(&s->b);
}

static void test_what_only_the_whole_tells(void **state)
{
	struct scene s;

	begin(&s); /* no end */
	add_calls(&s, 0, 0);
	check_is_refused(&s, gp_builder_save(&s.b));
	begin(&s); /* no event */
	check_is_refused(&s, save(&s));
	begin(&s); /* the clock was set */
	add_calls(&s, 0, 0);
	gp_builder_chunk(&s.b, 0, 0);
	gp_builder_add(&s.b, &(struct gp_record_anchor){
				     .kind = GP_RECORD_ANCHOR,
				     .ticks = GP_TEST_AT_TICK(1000000),
				     .monotonic_ns = GP_TEST_MONOTONIC + 1000000,
				     .realtime_ns = GP_TEST_UNIX + 9000000000,
				     .cupti_ticks = GP_TEST_AT_TICK(1000000),
				     .cupti_ns = GP_TEST_CUPTI(9000000000),
			     });
	check_is_refused(&s, save(&s));
	begin(&s); /* inside a conditional node */
	add_calls(&s, 0, 0);
	gp_builder_chunk(&s.b, WORK_RING, 999);
	gp_builder_add(&s.b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
							.graph_id = 3,
							.graph_node_id = 4,
							.start_ns = GP_TEST_CUPTI(1000),
							.end_ns = GP_TEST_CUPTI(2000)});
	check_is_refused(&s, save(&s));
}

#define HANDED_ON 40000u

/*
 * What one thread allocates another frees: a part has those of its time; where it is to have all
 * allocations, the whole is less.
 */
static void test_parts_that_cost_more_than_the_whole(void **state)
{
	const struct gp_slice_choice all = {0};
	const struct gp_parts_wish few = {.events = 8000},
				   each = {.events = 1000, .with_memory = true};
	const struct gp_model *part;
	uint64_t taken = 0;
	struct gp_parts *parts;
	const char *path;
	struct scene s;

	begin(&s);
	for (uint32_t i = 0; i < HANDED_ON; i++) {
		if (i % 200 == 0)
			gp_builder_chunk(&s.b, 1 + i / 200 % 2, 100 + i / 200 % 2);
		gp_builder_memory(&s.b, GP_MEMORY_DEVICE, (uint64_t)i * 10000,
				  0x1000 * (uint64_t)(1 + i / 400 * 400 + i % 200),
				  i % 400 < 200 ? 64 : 0);
	}
	path = save(&s);
	assert_int_equal(gp_parts_open(path, &all, &each, &parts), -ENOTSUP);
	assert_int_equal(gp_parts_open(path, &all, &few, &parts), 0);
	assert_true(gp_parts_count(parts) >= 10);
	for (size_t i = 0; i < gp_parts_count(parts); i++) {
		part = gp_parts_get(parts, i);
		assert_non_null(part);
		taken += part->memory_count;
	}
	assert_true(taken >= HANDED_ON && taken < 2 * HANDED_ON);
	gp_parts_close(parts);
	gp_builder_free(&s.b);
}

/*
 * Every part has all names: with as many of them as events, parts that are small against that would
 * be read for ever.
 */
static void test_many_names_in_each_of_many_parts(void **state)
{
	enum { NAMES = 50000 };
	const struct gp_slice_choice all = {0};
	const struct gp_parts_wish few = {.events = 10000}, each = {.events = 1000};
	struct gp_parts *parts;
	const char *path;
	struct scene s;
	char name[32];

	begin(&s);
	for (uint32_t i = 0; i < NAMES; i++) {
		if (i % 200 == 0)
			gp_builder_chunk(&s.b, 0, 0);
		snprintf(name, sizeof(name), "kernel %u", i);
		gp_builder_string(&s.b, GP_STRING_KERNEL, i + 1, 0, name);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		if (i % 200 == 0)
			gp_builder_chunk(&s.b, 1, 100);
		gp_builder_call(&s.b, GP_TEST_LAUNCH, i + 1, (uint64_t)i * 10000, 1000);
	}
	path = save(&s);
	assert_int_equal(gp_parts_open(path, &all, &each, &parts), -ENOTSUP);
	assert_int_equal(gp_parts_open(path, &all, &few, &parts), 0);
	gp_parts_close(parts);
	gp_builder_free(&s.b);
}

/*
 * As many stretches as are wanted, with about as many events each; their parts have all of them
 * between them.
 */
static void test_files_of_equal_size(void **state)
{
	const struct gp_slice_choice window = {.from_ns = 1000000, .to_ns = 13000000};
	const struct gp_parts_wish wish = {.events = 2300};
	const struct gp_model *part;
	uint64_t starts[6];
	struct gp_parts *parts;
	struct scene s;
	size_t first, end = 0;

	assert_int_equal(gp_parts_open(make(&s, true), &window, &wish, &parts), 0);
	assert_int_equal(gp_parts_cut(parts, starts, 6), 0);
	assert_int_equal(starts[0], 1000000);
	for (size_t i = 1; i < 6; i++) /* blocks are much alike */
		assert_in_range(starts[i], 1000000 + i * 2000000 - 200000,
				1000000 + i * 2000000 + 200000);
	for (size_t i = 0; i < 6; i++) {
		size_t count = gp_parts_between(parts, starts[i],
						i + 1 < 6 ? starts[i + 1] : window.to_ns, &first);

		assert_true(i > 0 ? first == end || first + 1 == end : first == 0);
		part = gp_parts_get(parts, first);
		assert_true(first == 0 || part->part.from_ns <= part->first_ns + starts[i]);
		assert_true(part->part.to_ns > part->first_ns + starts[i]);
		assert_true(count >= 2 && count < 4);
		end = first + count;
	}
	assert_int_equal(end, gp_parts_count(parts));
	gp_parts_close(parts);
	gp_builder_free(&s.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_parts),
		cmocka_unit_test(test_what_outlasts_its_chunk),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_a_part_is_small),
		cmocka_unit_test(test_a_range_longer_than_a_part),
		cmocka_unit_test(test_what_only_the_whole_tells),
		cmocka_unit_test(test_files_of_equal_size),
		cmocka_unit_test(test_many_names_in_each_of_many_parts),
		cmocka_unit_test(test_parts_that_cost_more_than_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
