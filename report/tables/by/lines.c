/*
 * GPU time by line of the user's code: what the line launches itself, and what the backward pass
 * launches for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/analysis/analysis.h"
#include "report/base/text/format.h"
#include "report/model/process_name.h"
#include "report/symbols/call_site.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/lines.h"

#define LINE_BYTES 2048

static const struct gp_table_column columns[GP_LINE_COLUMNS] = {
	GP_SHARE_COLUMNS, /* GP_LINE_SHARE, GP_LINE_TOTAL */
	[GP_LINE_LAUNCHED] = {"Launched", GP_UNIT_NS},
	[GP_LINE_BACKWARD] = {"Backward", GP_UNIT_NS},
	[GP_LINE_LIKELY] = {"Likely %", GP_UNIT_PERCENT},
	[GP_LINE_ESTIMATED] = {"Estimated %", GP_UNIT_PERCENT},
	[GP_LINE_COUNT] = {"Count", GP_UNIT_COUNT},
	[GP_LINE_PID] = {"PID", GP_UNIT_NUMBER},
	[GP_LINE_PLACE] = {"Line", GP_UNIT_TEXT},
	GP_SAMPLED_COLUMNS, /* GP_LINE_WHOLE_RUN, GP_LINE_ERROR */
};

enum { BACKWARD = GP_SCOPE_UNTIMED + 1, LIKELY, ESTIMATED };
enum { PROCESS, LINE };

struct gathering {
	struct gp_scope *scope;
	struct gp_tally *tally;
	const struct gp_model *model;
	const struct gp_backward *backward;
	struct gp_call_sites *sites;
	uint64_t process; /* the model's index */
	uint64_t *
		texts; /* by number of a site: its line's number in the scope, plus 1; 0 = not known */
	uint32_t text_count, text_capacity;
};

static uint64_t text_of_site(struct gathering *at, const struct gp_call *call)
{
	uint32_t site = gp_call_sites_find(at->sites, at->model, call);

	while (at->text_count <= site) {
		gp_array_grow(&at->texts, &at->text_capacity, at->text_count, sizeof(*at->texts));
		at->texts[at->text_count++] = 0;
	}
	if (at->texts[site] == 0)
		at->texts[site] =
			1 + gp_scope_text(at->scope, gp_call_sites_at(at->sites, site).place);
	return at->texts[site] - 1;
}

static uint64_t text_of(struct gathering *at, const struct gp_call *call,
			enum gp_backward_answer answer)
{
	char text[LINE_BYTES];

	if (!call)
		return gp_scope_text(at->scope, "(" GP_SITE_WITHOUT_STACK ")");
	if (*gp_backward_reason(answer) == '\0')
		return text_of_site(at, call);
	snprintf(text, sizeof(text), "(backward pass: %s)", gp_backward_reason(answer));
	return gp_scope_text(at->scope, text);
}

static void take_op(struct gathering *at, const struct gp_op *op)
{
	const struct gp_call *call = gp_model_op_stack_call(at->model, op);
	uint32_t stack;
	enum gp_backward_answer answer =
		gp_backward_answer_of(at->backward, at->model, call, &stack);
	uint64_t key[GP_TALLY_KEYS] = {at->process, text_of(at, call, answer)};
	struct gp_tally_row *row = gp_tally_find(at->tally, key);
	uint64_t before_ns = row->series[0].total, ns;

	gp_scope_count_gpu_op(at->tally, row, op);
	gp_scope_sample(at->scope, at->tally, row, at->process, op);
	ns = row->series[0].total - before_ns;
	row->sums[BACKWARD] += answer != GP_BACKWARD_NOT ? ns : 0;
	row->sums[LIKELY] += answer == GP_BACKWARD_LIKELY ? ns : 0;
	row->sums[ESTIMATED] += call && call->is_estimated ? ns : 0;
}

static int take_model(struct gp_scope *scope, struct gp_tally *tally, size_t process)
{
	struct gp_analysis *analysis = gp_scope_analysis(scope);
	const struct gp_model *model = scope->models[process];
	struct gp_slice_filter filter = gp_slice_filter_of_part(model);
	struct gathering at = {.scope = scope,
			       .tally = tally,
			       .model = model,
			       .backward = analysis ? &analysis->backward[process] : NULL,
			       .sites = gp_scope_new_sites(scope),
			       .process = process};

	for (uint32_t i = 0; i < model->op_count; i++)
		if (gp_slice_filter_has(&filter, model->ops[i].start_ns, model->ops[i].end_ns))
			take_op(&at, &model->ops[i]);
	gp_call_sites_free(at.sites);
	free(at.texts);
	return 0;
}

/* In the order of enum gp_line_column. */
static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	uint64_t ns = row->series[0].total, backward_ns = row->sums[BACKWARD];

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, ns - backward_ns);
	gp_table_put_whole(table, backward_ns);
	gp_table_cell(table, gp_value_percent((double)row->sums[LIKELY], (double)backward_ns));
	gp_table_cell(table, gp_value_percent((double)row->sums[ESTIMATED], (double)ns));
	gp_table_put_whole(table, row->count);
	gp_scope_put_process(scope, table, scope->models[row->key[PROCESS]]);
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[LINE]));
	gp_scope_put_sampled(scope, table, row);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_models(scope, table, take_model, put_row);
}

const struct gp_breakdown gp_breakdown_line = {
	.help = "lines of the user's code: GPU time that they launch, and that the backward pass launches for them",
	.nothing = "no GPU operation was recorded; `gpuprof summary FILE` shows the recorded data",
	.head = {"line", "GPU time by line", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
