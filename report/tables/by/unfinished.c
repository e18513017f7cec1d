/* Launches whose kernel had not ended when the process, or the trace of it, ended. */
#include "report/tables/breakdown.h"

#include <errno.h>
#include <stdio.h>

#include "gpuprof/count.h"
#include "report/symbols/call_site.h"
#include "report/analysis/device/unfinished.h"

#define PLACE_BYTES 2048

static const struct gp_table_column columns[] = {
	{"Launched", GP_UNIT_NS}, {"Open", GP_UNIT_NS},    {"State", GP_UNIT_TEXT},
	{"PID", GP_UNIT_NUMBER},  {"TID", GP_UNIT_NUMBER}, {"CorrID", GP_UNIT_NUMBER},
	{"API", GP_UNIT_TEXT},    {"Name", GP_UNIT_TEXT},  {"Call site", GP_UNIT_TEXT},
};

static void put_place(struct gp_table *table, const struct gp_model *model,
		      const struct gp_call *call, struct gp_call_sites *sites)
{
	char text[PLACE_BYTES] = "";

	if (call->stack != GP_NONE)
		snprintf(text, sizeof(text), "%s%s", gp_call_site_mark(call),
			 gp_call_sites_at(sites, gp_call_sites_find(sites, model, call)).place);
	gp_table_put_text(table, text);
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_model *model,
		    const struct gp_unfinished *row, struct gp_call_sites *sites)
{
	const struct gp_call *call = &model->calls[row->call];
	const char *mangled = gp_unfinished_name(model, row);

	gp_table_cell(table, gp_value_moment((int64_t)(model->base_unix_ns + call->start_ns -
						       scope->start_unix_ns)));
	gp_table_put_whole(table, row->open_ns);
	gp_table_put_text(table, gp_unfinished_state_name(row->state));
	gp_scope_put_process(scope, table, model);
	gp_table_put_whole(table, call->thread_id);
	gp_table_put_whole(table, call->correlation_id);
	gp_table_put_text(table, gp_model_api(model, call->api).name);
	gp_table_put_text(table, scope->full_names ? gp_names_full(scope->names, mangled)
						   : gp_names_short(scope->names, mangled));
	put_place(table, model, call, sites);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_call_sites *sites = gp_call_sites_new();
	int result = 0;

	for (size_t m = 0; m < scope->model_count && result == 0; m++) {
		struct gp_unfinished_list list;

		result = gp_unfinished_find(scope->models[m], &list);
		for (uint32_t i = 0; i < list.count && result == 0; i++)
			put_row(scope, table, scope->models[m], &list.rows[i], sites);
		gp_unfinished_free(&list);
	}
	gp_call_sites_free(sites);
	return result;
}

const struct gp_breakdown gp_breakdown_unfinished = {
	.word = "unfinished",
	.help = "kernels that never ended, or whose end is unknown, by launch",
	.nothing =
		"no kernel is known to be unfinished; the summary counts launches without a record",
	.head = {"unfinished", "Kernels without a known end", columns, COUNT(columns)},
	.sort_column = 0,
	.fill = fill,
	.is_in_order = true,
};
