/* GPU time by operator, as the stacks of the launches tell it: aten::mm; else kernels by name. */
#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/analysis/idle/activity.h"
#include "report/analysis/loop/phase_places.h"
#include "report/base/text/format.h"
#include "report/symbols/operators.h"
#include "report/tables/breakdown.h"
#include "report/model/process_name.h"

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Avg", GP_UNIT_NS},
	{"Estimated %", GP_UNIT_PERCENT},
	{"PID", GP_UNIT_NUMBER},
	{"Operator", GP_UNIT_TEXT},
	{"Backward node", GP_UNIT_TEXT},
	{"Mostly in", GP_UNIT_TEXT},
	GP_SAMPLED_COLUMNS,
};

enum { ESTIMATED = GP_SCOPE_UNTIMED + 1, PLACE };
enum { PROCESS, NAME, NODE, IS_KERNEL };

/* The texts' numbers of a stack's operator. */
struct known {
	uint32_t name, node;
	bool is_known;
};

struct gathering {
	struct gp_scope *scope;
	struct gp_tally *tally;
	const struct gp_model *model;
	uint64_t process; /* the model's index */
	uint64_t *kernels;
	struct known *stacks; /* by frame */
	struct gp_symbols *symbols;
	struct gp_phase_places *places; /* by row */
	const struct gp_backward *backward;
	uint64_t ns, without_stack_ns;
};

static struct known operator_of(struct gathering *at, uint32_t stack)
{
	struct known *known = &at->stacks[stack];

	if (!known->is_known) {
		struct gp_operator found = gp_operator_of_stack(at->symbols, at->model, stack);

		known->name = (uint32_t)gp_scope_text(at->scope, found.name);
		known->node = (uint32_t)gp_scope_text(at->scope, found.node);
		known->is_known = true;
	}
	return *known;
}

/* The key of an operation whose stack has no operator. */
static void put_own_name(struct gathering *at, const struct gp_op *op, uint64_t *key)
{
	char label[GP_ACTIVITY_LABEL_BYTES];

	key[IS_KERNEL] = op->kind == GP_OP_KERNEL;
	if (key[IS_KERNEL]) {
		key[NAME] = gp_scope_name(at->scope, at->model, op, at->kernels);
		return;
	}
	gp_activity_label(label, op);
	key[NAME] = gp_scope_text(at->scope, label);
}

static void take_op(struct gathering *at, const struct gp_op *op)
{
	const struct gp_call *call = gp_model_op_stack_call(at->model, op);
	uint32_t stack = call ? call->stack : GP_NONE;
	uint64_t key[GP_TALLY_KEYS] = {at->process}, before_ns;
	struct gp_tally_row *row;
	uint32_t line;

	key[NAME] = key[NODE] = gp_scope_text(at->scope, "");
	if (stack != GP_NONE) {
		struct known known = operator_of(at, stack);

		key[NAME] = known.name;
		key[NODE] = known.node;
	}
	if (*gp_scope_text_of(at->scope, key[NAME]) == '\0')
		put_own_name(at, op, key);
	row = gp_tally_find(at->tally, key);
	before_ns = row->series[0].total;
	gp_scope_count_gpu_op(at->tally, row, op);
	gp_scope_sample(at->scope, at->tally, row, at->process, op);

	uint64_t ns = row->series[0].total - before_ns;

	row->sums[ESTIMATED] += call && call->is_estimated ? ns : 0;
	at->ns += ns;
	at->without_stack_ns += stack == GP_NONE ? ns : 0;
	if (gp_backward_answer_of(at->backward, at->model, call, &line) == GP_BACKWARD_NOT &&
	    line == GP_NONE)
		line = stack;
	gp_phase_places_add(at->places, line, (uint32_t)(row - at->tally->rows), ns);
}

/* The model's rows are from that one on. */
static void find_places(struct gathering *at, uint32_t first)
{
	for (uint32_t i = first; i < at->tally->count; i++) {
		char *place = gp_phase_places_most(at->places, i, false);

		at->tally->rows[i].sums[PLACE] = gp_scope_text(at->scope, place);
		free(place);
	}
}

static void warn_without_stacks(const struct gathering *at)
{
	if (at->scope->messages && at->without_stack_ns * 2 > at->ns)
		fprintf(at->scope->messages,
			"gpuprof: %s: %s of %s GPU time come from launches without a call stack: their rows are kernels, not operators (--stacks=all records all stacks)\n",
			gp_process_name(at->model).text, gp_format_ns(at->without_stack_ns).text,
			gp_format_ns(at->ns).text);
}

static int take_model(struct gp_scope *scope, struct gp_tally *tally, size_t process)
{
	const struct gp_model *model = scope->models[process];
	struct gp_slice_filter filter = gp_slice_filter_of_part(model);
	const struct gp_analysis *analysis = gp_scope_analysis(scope);
	struct gathering at = {
		.scope = scope,
		.tally = tally,
		.model = model,
		.process = process,
		.kernels = gp_scope_names(model),
		.stacks = calloc((size_t)model->frame_count + 1, sizeof(*at.stacks)),
		.symbols = gp_symbols_new(),
		.places = gp_phase_places_new(model),
		.backward = analysis ? &analysis->backward[process] : NULL,
	};
	uint32_t first = tally->count;

	if (analysis) {
		for (uint32_t i = 0; i < model->op_count; i++)
			if (gp_slice_filter_has(&filter, model->ops[i].start_ns,
						model->ops[i].end_ns))
				take_op(&at, &model->ops[i]);
		find_places(&at, first);
		warn_without_stacks(&at);
	}
	gp_phase_places_free(at.places);
	gp_symbols_free(at.symbols);
	free(at.stacks);
	free(at.kernels);
	return 0;
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	const struct gp_tally_series *times = &row->series[0];

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_cell(table, times->count > 0 ? gp_value_real((double)times->total / times->count)
					      : gp_value_none());
	gp_table_cell(table, gp_value_percent((double)row->sums[ESTIMATED], (double)times->total));
	gp_scope_put_process(scope, table, scope->models[row->key[PROCESS]]);
	gp_table_put_text(table, row->key[IS_KERNEL] ? gp_scope_kernel_of(scope, row->key[NAME])
						     : gp_scope_text_of(scope, row->key[NAME]));
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[NODE]));
	gp_table_put_text(table, gp_scope_text_of(scope, row->sums[PLACE]));
	gp_scope_put_sampled(scope, table, row);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_models(scope, table, take_model, put_row);
}

const struct gp_breakdown gp_breakdown_operator = {
	.help = "operators of PyTorch, by the call stacks of their launches: GPU time, place; other kernels by name",
	.nothing = "no GPU operation was recorded; `gpuprof summary FILE` shows the recorded data",
	.head = {"operator", "GPU time by operator", columns, COUNT(columns)},
	.sort_column = 1,
	.fold_before = 6,
	.fill = fill,
};
