/* The steps of the critical path, grouped. */
#include "report/analysis/idle/critical_path.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/tables/breakdown.h"
#include "report/symbols/call_site.h"
#include "report/analysis/loop/path_words.h"

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Category", GP_UNIT_TEXT}, {"What", GP_UNIT_TEXT},   {"At", GP_UNIT_TEXT},
};

#define NO_SITE UINT64_MAX

/* The key of a row. */
enum { KIND, IS_KERNEL, WHAT, SITE };

struct gathering {
	struct gp_scope *scope;
	const struct gp_model *model;
	uint64_t *names; /* for gp_scope_name() */
	struct gp_call_sites *sites;
	struct gp_tally *tally;
};

static uint64_t what_is(struct gathering *gathering, const struct gp_path_step *step,
			bool is_kernel)
{
	const struct gp_model *model = gathering->model;
	struct gp_scope *scope = gathering->scope;
	char room[GP_PATH_WORDS_BYTES];

	if (is_kernel)
		return gp_scope_name(scope, model, &model->ops[step->index], gathering->names);
	return gp_scope_text(scope,
			     gp_path_words(room, model, step, scope->names, scope->full_names));
}

/* The call site of a call; time before a call belongs to the same site. */
static uint64_t site_of(struct gathering *gathering, const struct gp_path_step *step)
{
	const struct gp_model *model = gathering->model;
	const struct gp_call *call = !gp_path_is_of_op(step) && step->index != GP_NONE
					     ? &model->calls[step->index]
					     : NULL;
	uint32_t site;

	if (!call || call->stack == GP_NONE)
		return NO_SITE;
	site = gp_call_sites_find(gathering->sites, model, call);
	return gp_scope_text(gathering->scope, gp_call_sites_at(gathering->sites, site).place);
}

static void take_step(struct gathering *gathering, const struct gp_path_step *step)
{
	bool is_kernel = step->kind == GP_PATH_OPERATION &&
			 gathering->model->ops[step->index].kind == GP_OP_KERNEL;
	const uint64_t key[GP_TALLY_KEYS] = {
		[KIND] = step->kind,
		[IS_KERNEL] = is_kernel,
		[WHAT] = what_is(gathering, step, is_kernel),
		[SITE] = site_of(gathering, step),
	};
	struct gp_tally_row *row = gp_tally_find(gathering->tally, key);

	row->count++;
	gp_tally_value(gathering->tally, row, 0, step->end_ns - step->start_ns);
}

static void take_model(struct gp_scope *scope, const struct gp_model *model, struct gp_tally *tally)
{
	struct gathering gathering = {
		.scope = scope,
		.model = model,
		.names = gp_scope_names(model),
		.sites = gp_scope_new_sites(scope),
		.tally = tally,
	};
	struct gp_path path = {0};

	gp_path_of(&path, model);
	for (uint32_t i = 0; i < path.count; i++)
		take_step(&gathering, &path.steps[i]);
	gp_path_free(&path);
	gp_call_sites_free(gathering.sites);
	free(gathering.names);
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_text(table, gp_path_category((uint8_t)row->key[KIND]));
	gp_table_put_text(table, row->key[IS_KERNEL] ? gp_scope_kernel_of(scope, row->key[WHAT])
						     : gp_scope_text_of(scope, row->key[WHAT]));
	if (row->key[SITE] == NO_SITE)
		gp_table_cell(table, gp_value_none());
	else
		gp_table_put_text(table, gp_scope_text_of(scope, row->key[SITE]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t i = 0; i < scope->model_count; i++)
		if (scope->models[i]->call_count > 0)
			take_model(scope, scope->models[i], &tally);
	return gp_scope_rows(scope, table, &tally, 0, put_row);
}

const struct gp_breakdown gp_breakdown_critical_path = {
	.help = "the critical path: the chain of waits that determines the length of the run",
	.nothing = "no call was recorded; `gpuprof summary FILE` shows the recorded data",
	.head = {"critical-path", "Critical path", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
