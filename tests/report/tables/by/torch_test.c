/* torch: the tables of PyTorch's snapshot: segments, blocks by call site, memory by purpose. */
#include "tests/unit.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/memory/torch_snapshot.h"
#include "report/tables/breakdown.h"
#include "report/tables/summary_by.h"
#include "tests/report/model_builder.h"

/* On two devices; of the first, one is whole and free, and one is small. */
static struct gp_torch_segment segments[] = {
	{0x1000, 600, {300, 100, 200}, 150, 2, false, false, 0, 3},
	{0x2000, 500, {0, 0, 500}, 500, 2, false, false, 0, GP_NONE},
	{0x3000, 70, {70, 0, 0}, 0, 2, true, false, 0, 4},
	{0x4000, 90, {0, 90, 0}, 0, 5, false, true, 7, GP_NONE},
};

static struct gp_torch_block blocks[] = {
	{0x1000, 200, 180, 0, 0, GP_TORCH_ALLOCATED, GP_TORCH_PARAMETERS},
	{0x10c8, 100, 99, 0, 0, GP_TORCH_ALLOCATED, GP_TORCH_ACTIVATIONS},
	{0x112c, 100, 98, 0, 0, GP_TORCH_WAITING, GP_TORCH_ACTIVATIONS},
	{0x1190, 200, 0, 0, 0, GP_TORCH_FREE, GP_TORCH_UNKNOWN},
	{0x2000, 500, 0, 1, 0, GP_TORCH_FREE, GP_TORCH_UNKNOWN},
	{0x3000, 70, 64, 2, 1, GP_TORCH_ALLOCATED, GP_TORCH_PARAMETERS},
	{0x4000, 90, 88, 3, 1, GP_TORCH_WAITING, GP_TORCH_GRADIENTS},
};

static struct gp_torch_peak peak = {
	.device_id = 2,
	.bytes = {[GP_TORCH_PARAMETERS] = 244, [GP_TORCH_GRADIENTS] = 400},
	.cached_bytes = 30,
};

struct scene {
	struct gp_torch_snapshot snapshot;
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table table;
};

static void make(struct scene *s, const struct gp_breakdown *breakdown, uint32_t peak_count)
{
	const struct gp_place places[] = {
		{.function = "f", .file = "/me/a.py", .module = "", .line = 7},
		{.function = "g", .file = "/me/b.py", .module = "", .line = 8}};
	struct build b = build_begin(1);

	build_device(&b, 2, "GPU");
	build_device(&b, 5, "GPU");
	*s = (struct scene){.snapshot = {.segments = segments,
					 .blocks = blocks,
					 .segment_count = COUNT(segments),
					 .block_count = COUNT(blocks),
					 .peaks = &peak,
					 .peak_count = peak_count,
					 .sites = gp_call_sites_new()},
			    .model = build_end(&b)};
	assert_int_equal(gp_call_sites_of_places(s->snapshot.sites, &places[0], 1), 0);
	assert_int_equal(gp_call_sites_of_places(s->snapshot.sites, &places[1], 1), 1);
	assert_int_equal(gp_scope_open(&s->scope, &s->model, 1, false), 0);
	s->scope.torch = &s->snapshot;
	assert_int_equal(gp_breakdown_make(breakdown, &s->scope, &s->table), 0);
}

static void forget(struct scene *s)
{
	gp_table_close(&s->table);
	gp_scope_close(&s->scope);
	gp_call_sites_free(s->snapshot.sites);
	gp_model_free(s->model);
}

static void assert_numbers(const struct gp_value *row, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (row[i].kind != GP_VALUE_WHOLE || row[i].whole != numbers[i])
			fail_msg("column %zu is %lu, not %lu", i, row[i].whole, numbers[i]);
}

/* Free memory counts as split in segments with other blocks alone. */
static void segments_of_a_kind_are_a_row(void **state)
{
	static const struct {
		uint64_t numbers[10];
		const char *kind;
	} rows[] = {
		{{1100, 2, 1, 300, 100, 700, 200, 500, 2, 0}, "larger blocks"},
		{{90, 1, 0, 0, 90, 0, 0, 0, 5, 7}, "blocks of any size, expandable"},
		{{70, 1, 1, 70, 0, 0, 0, 0, 2, 0}, "blocks up to 1MiB"},
	};
	struct scene s;

	(void)state;
	make(&s, &gp_breakdown_torch_segment, 1);
	assert_int_equal(gp_table_rows(&s.table), COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_numbers(gp_table_row(&s.table, i), rows[i].numbers, 10);
		assert_string_equal(gp_table_row(&s.table, i)[10].text, rows[i].kind);
	}
	forget(&s);
}

static void blocks_have_sites_and_states(void **state)
{
	static const struct {
		uint64_t numbers[4];
		const char *state, *place;
	} rows[] = {
		{{300, 279, 2, 2}, "allocated", "f (a.py:7)"},
		{{100, 98, 1, 2}, "waiting", "f (a.py:7)"},
		{{90, 88, 1, 5}, "waiting", "g (b.py:8)"},
		{{70, 64, 1, 2}, "allocated", "g (b.py:8)"},
	};
	struct scene s;

	(void)state;
	make(&s, &gp_breakdown_torch_block, 1);
	assert_int_equal(gp_table_rows(&s.table), COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct gp_value *row = gp_table_row(&s.table, i);

		assert_numbers(row, rows[i].numbers, 4);
		assert_string_equal(row[4].text, rows[i].state);
		assert_string_equal(row[5].text, rows[i].place);
	}
	forget(&s);
}

/* The peak of a purpose that has no block now, and of cached memory, too. */
static void memory_has_a_purpose(void **state)
{
	static const struct {
		uint64_t numbers[5]; /* bytes, requested, blocks, at the peak, device */
		const char *category;
	} rows[] = {
		{{700, 0, 2, 30, 2}, "cached"},      {{270, 244, 2, 244, 2}, "parameters"},
		{{100, 99, 1, 0, 2}, "activations"}, {{100, 98, 1, 0, 2}, "waiting"},
		{{90, 88, 1, 0, 5}, "waiting"},      {{0, 0, 0, 400, 2}, "gradients"},
	};
	struct scene s;

	(void)state;
	make(&s, &gp_breakdown_torch_category, 1);
	assert_int_equal(gp_table_rows(&s.table), COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct gp_value *row = gp_table_row(&s.table, i);

		assert_string_equal(row[6].text, rows[i].category);
		assert_numbers(row + 1, rows[i].numbers, 5);
	}
	assert_true(gp_table_row(&s.table, 0)->real > 55.5 &&
		    gp_table_row(&s.table, 0)->real < 55.6);
	forget(&s);
	make(&s, &gp_breakdown_torch_category, 0);
	assert_int_equal(gp_table_rows(&s.table), COUNT(rows) - 1);
	for (size_t i = 0; i < COUNT(rows) - 1; i++)
		assert_int_equal(gp_table_row(&s.table, i)[4].kind, GP_VALUE_NONE);
	forget(&s);
}

/* The tables that a user asks for have the snapshot, too. */
static void the_snapshot_is_that_of_the_request(void **state)
{
	struct gp_summary_by by = {.words = "torch-segment", .format = gp_table_format_find("csv")};
	char *text = NULL;
	struct scene s;
	size_t bytes;

	(void)state;
	make(&s, &gp_breakdown_torch_segment, 1);
	for (uint32_t has_it = 0; has_it <= 1; has_it++) {
		FILE *out = open_memstream(&text, &bytes);

		by.torch = has_it ? &s.snapshot : NULL;
		assert_int_equal(gp_summary_by_print(out, &s.model, 1, &by), 0);
		fclose(out);
		assert_int_equal(strstr(text, "larger blocks") != NULL, has_it);
		free(text);
	}
	forget(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_of_a_kind_are_a_row),
		cmocka_unit_test(blocks_have_sites_and_states),
		cmocka_unit_test(memory_has_a_purpose),
		cmocka_unit_test(the_snapshot_is_that_of_the_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
