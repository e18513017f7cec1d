/* Failed API calls by function, error and place. */
#include "report/tables/breakdown.h"

#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/failures.h"
#include "report/trace/cuda_names.h"
#include "report/base/memstream.h"

static const struct gp_table_column columns[] = {
	{"Count", GP_UNIT_COUNT},     {"First", GP_UNIT_NS},       {"Code", GP_UNIT_NUMBER},
	{"Error", GP_UNIT_TEXT},      {"Meaning", GP_UNIT_TEXT},   {"Name", GP_UNIT_TEXT},
	{"Call site", GP_UNIT_TEXT},  {"Called by", GP_UNIT_TEXT}, {"Range", GP_UNIT_TEXT},
	{"Held", GP_UNIT_BYTES},      {"Held by", GP_UNIT_TEXT},   {"Asked min", GP_UNIT_BYTES},
	{"Asked max", GP_UNIT_BYTES}, {"PID", GP_UNIT_NUMBER},     {"Processes", GP_UNIT_COUNT},
};

static void put_held(struct gp_table *table, const struct gp_failures *failures,
		     const struct gp_oom_snapshot *held)
{
	char *text = NULL;
	size_t length;
	FILE *out;

	if (!held->is_known) {
		gp_table_cell(table, gp_value_none());
		gp_table_cell(table, gp_value_none());
		return;
	}
	out = open_memstream(&text, &length);
	gp_oom_snapshot_tell_places(out, held, failures->sites);
	if (out && gp_memstream_close(out, &text) == 0) {
		gp_table_put_whole(table, held->bytes);
		gp_table_put_text(table, text);
	} else {
		table->error = -ENOMEM;
	}
	free(text);
}

static void put_asked(struct gp_table *table, const struct gp_asked *asked)
{
	bool is_known = asked->count > 0;

	gp_table_cell(table, is_known ? gp_value_whole(asked->least_bytes) : gp_value_none());
	gp_table_cell(table, is_known ? gp_value_whole(asked->most_bytes) : gp_value_none());
}

static void put_row(struct gp_scope *scope, struct gp_table *table,
		    const struct gp_failures *failures, const struct gp_failure *row)
{
	struct gp_call_site site = gp_call_sites_at(failures->sites, row->site);

	gp_table_put_whole(table, row->count);
	gp_table_cell(table, gp_value_moment((int64_t)(row->first_unix_ns - scope->start_unix_ns)));
	gp_table_put_whole(table, row->code);
	gp_table_put_text(table, gp_status_symbol(row->code, row->is_driver));
	gp_table_put_text(table, gp_status_name(row->code));
	gp_table_put_text(table, row->function);
	gp_table_put_text(table, row->has_stack ? site.place : "");
	gp_table_put_text(table, row->has_stack ? site.callers : "");
	gp_table_put_text(table, row->range ? row->range : "");
	put_held(table, failures, &row->held);
	put_asked(table, &row->asked);
	gp_scope_put_process(scope, table, scope->models[row->first_process]);
	gp_table_put_whole(table, row->processes);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_failures failures;
	int result = gp_failures_of(&failures, scope->models, scope->model_count);

	for (uint32_t i = 0; result == 0 && i < failures.count; i++)
		put_row(scope, table, &failures, &failures.rows[i]);
	if (result == 0 && failures.count > 0 && scope->messages)
		gp_call_sites_explain(failures.sites, scope->messages);
	gp_failures_free(&failures);
	return result;
}

const struct gp_breakdown gp_breakdown_failure = {
	.word = "api",
	.help = "failed API calls: error, count, place",
	.nothing = "no API call is known to have failed",
	.head = {"failure", "API calls that failed", columns, COUNT(columns)},
	.sort_column = 0,
	.fill = fill,
	.is_in_order = true,
};
