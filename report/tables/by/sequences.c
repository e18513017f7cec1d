/* Repeated sequences of operations. */
#include "report/analysis/idle/queue.h"
#include "gpuprof/count.h"
#include "report/analysis/loop/sequences.h"
#include "report/tables/breakdown.h"
#include "report/analysis/loop/sequence_text.h"

static const struct gp_table_column columns[] = {
	{"Gaps", GP_UNIT_NS},         {"Span", GP_UNIT_NS},          {"GPU time", GP_UNIT_NS},
	{"API time", GP_UNIT_NS},     {"Count", GP_UNIT_COUNT},      {"Length", GP_UNIT_COUNT},
	{"Avg span", GP_UNIT_NS},     {"Covers %", GP_UNIT_PERCENT}, {"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER},   {"Context", GP_UNIT_NUMBER},   {"Stream", GP_UNIT_NUMBER},
	{"Operations", GP_UNIT_TEXT},
};

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_model *model,
		    const struct gp_sequences *sequences, const struct gp_sequence *row)
{
	const struct gp_op *op = &model->ops[sequences->elements[row->first].op];
	char text[GP_SEQUENCE_TEXT_BYTES];
	const uint64_t numbers[] = {row->gap_ns,  row->span_ns, row->gpu_ns,
				    row->call_ns, row->count,   row->length};

	for (size_t i = 0; i < COUNT(numbers); i++)
		gp_table_put_whole(table, numbers[i]);
	gp_table_cell(table, gp_value_real((double)row->span_ns / (double)row->count));
	gp_table_cell(table, gp_value_percent((double)(row->count * row->length),
					      (double)sequences->own_count));
	gp_scope_put_process(scope, table, model);
	gp_table_put_whole(table, gp_scope_device(scope, model, op->device_id));
	gp_table_put_whole(table, op->context_id);
	gp_table_put_whole(table, op->stream_id);
	gp_sequence_text(text, scope->names, model, sequences, row);
	gp_table_put_text(table, text);
}

static void fill_model(struct gp_scope *scope, struct gp_table *table, const struct gp_model *model)
{
	struct gp_tuning tuning;

	gp_tuning_of(&tuning, model);
	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		struct gp_sequences sequences;

		end = gp_model_stream_end(model, first);
		gp_sequences_of(&sequences, model, &tuning, first, end);
		for (uint32_t i = 0; i < sequences.count; i++)
			put_row(scope, table, model, &sequences, &sequences.rows[i]);
		gp_sequences_free(&sequences);
	}
	gp_tuning_free(&tuning);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	for (size_t i = 0; i < scope->model_count; i++)
		fill_model(scope, table, scope->models[i]);
	return 0;
}

const struct gp_breakdown gp_breakdown_sequence = {
	.help = "repeated sequences of operations, for graphs and fusion",
	.nothing = "no sequence of operations came three times in a stream",
	.head = {"sequence", "Sequences of operations", columns, COUNT(columns)},
	.sort_column = 0,
	.fold_before = 12,
	.fill = fill,
};
