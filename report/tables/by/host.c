/*
 * Python work on the host, in all threads (--host-samples), by line, as a script may be one
 * function.
 */
#include "report/tables/breakdown.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/base/text/format.h"
#include "report/tables/host_work.h"

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,       {"Waited", GP_UNIT_NS}, {"Samples", GP_UNIT_COUNT},
	{"Line", GP_UNIT_TEXT}, {"What", GP_UNIT_TEXT},
};

/* Waiting is not work: it has a separate column and comes last. */
static void put_times(struct gp_table *table, const struct gp_host_function *row, bool waits,
		      uint64_t total_ns)
{
	struct gp_value none = gp_value_none(), whole = gp_value_whole(row->total_ns);

	gp_table_cell(table,
		      waits ? none : gp_value_percent((double)row->total_ns, (double)total_ns));
	gp_table_cell(table, waits ? none : whole);
	gp_table_cell(table, waits ? whole : none);
}

/*
 * The library's function with most of the row's time; empty: the line's own code, or several
 * functions.
 */
static void put_what(struct gp_table *table, const struct gp_host_place *place,
		     const struct gp_host_function *row)
{
	if (gp_host_function_has_what(row, place))
		gp_table_put_text(table, place->what);
	else
		gp_table_cell(table, gp_value_none());
}

static void put_row(struct gp_table *table, const struct gp_host_places *places,
		    const struct gp_host_function *row, uint64_t total_ns)
{
	struct gp_host_place place = gp_host_places_at(places, row->place);

	put_times(table, row, gp_host_place_waits(&place), total_ns);
	gp_table_put_whole(table, row->samples);
	if (*place.own)
		gp_table_put_text(table, place.own);
	else
		gp_table_cell(table, gp_value_none());
	put_what(table, &place, row);
}

static uint64_t sum_of_work(const struct gp_host_places *places,
			    const struct gp_host_function *rows, uint32_t count)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct gp_host_place place = gp_host_places_at(places, rows[i].place);

		sum_ns += gp_host_place_waits(&place) ? 0 : rows[i].total_ns;
	}
	return sum_ns;
}

static void put_rows(struct gp_table *table, const struct gp_host_places *places,
		     const struct gp_tally *tally)
{
	uint32_t count;
	struct gp_host_function *rows = gp_host_work_lines(tally, 0, places, &count);
	uint64_t total_ns;

	total_ns = sum_of_work(places, rows, count);
	for (uint32_t i = 0; i < count; i++)
		put_row(table, places, &rows[i], total_ns);
	free(rows);
}

/* A warning: samples often miss functions that call and return quickly. */
static void warn_missed(const struct gp_scope *scope)
{
	struct gp_python_samples samples = {0};

	for (size_t i = 0; i < scope->model_count; i++)
		gp_host_work_add_samples(&samples, scope->models[i]);
	if (!scope->messages || samples.all == samples.lost)
		return;
	if (gp_host_work_is_much(samples.lost, &samples))
		fprintf(scope->messages,
			"gpuprof: %s of %s samples found no stack, because the thread called and returned meanwhile; the adjacent samples get their time\n",
			gp_format_count(samples.lost).text, gp_format_count(samples.all).text);
	if (gp_host_work_is_much(samples.outside, &samples))
		fprintf(scope->messages,
			"gpuprof: %s of %s samples found a stack without its innermost frames, which called and returned meanwhile; the calling line gets their time\n",
			gp_format_count(samples.outside).text, gp_format_count(samples.all).text);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_host_places *places = gp_host_places_in(scope);
	struct gp_tally tally = {0};

	for (size_t i = 0; i < scope->model_count; i++)
		gp_host_work_add_all(&tally, 0, places, scope->models[i]);
	put_rows(table, places, &tally);
	warn_missed(scope);
	gp_tally_free(&tally);
	return 0;
}

const struct gp_breakdown gp_breakdown_host = {
	.word = "host",
	.help = "lines of Python code on the host, by stack samples",
	.nothing =
		"no Python stack sample was recorded (of a Python program: gpuprof-run --host-samples=5 PROGRAM)",
	.head = {"host", "Python on the host", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
