/* By sequence of operations that comes again and again. */
#include <errno.h>
#include <stdio.h>

#include "report/activity.h"
#include "report/answers/queue.h"
#include "report/answers/sequences.h"
#include "report/breakdown.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NAMED        4 /* operations of a sequence */
#define NAME_COLUMNS 48
#define TEXT_BYTES   512

static const struct gp_sheet_column columns[] = {
	{"Gaps", GP_UNIT_NS},         {"Span", GP_UNIT_NS},          {"GPU time", GP_UNIT_NS},
	{"API time", GP_UNIT_NS},     {"Count", GP_UNIT_COUNT},      {"Length", GP_UNIT_COUNT},
	{"Avg span", GP_UNIT_NS},     {"Covers %", GP_UNIT_PERCENT}, {"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER},   {"Context", GP_UNIT_NUMBER},   {"Stream", GP_UNIT_NUMBER},
	{"Operations", GP_UNIT_TEXT},
};

static void name_op(struct gp_scope *scope, const struct gp_model *model, const struct gp_op *op,
		    char *out, size_t size)
{
	char label[GP_ACTIVITY_LABEL_BYTES];

	if (op->graph_id != 0) {
		snprintf(out, size, "[graph %u]", op->graph_id);
	} else if (op->kind == GP_OP_KERNEL) {
		snprintf(out, size, "%.*s", NAME_COLUMNS,
			 gp_names_short(scope->names, gp_model_kernel_name(model, op)));
	} else {
		gp_activity_label(label, op);
		snprintf(out, size, "%s", label);
	}
}

/* "a > b > c > d > 8 more" */
static void put_text(struct gp_scope *scope, struct gp_sheet *sheet, const struct gp_model *model,
		     const struct gp_sequences *sequences, const struct gp_sequence *row)
{
	char text[TEXT_BYTES], name[GP_ACTIVITY_LABEL_BYTES];
	size_t used = 0;

	for (uint32_t i = 0; i < row->length && i < NAMED; i++) {
		uint32_t op = sequences->elements[row->first + i].op;

		name_op(scope, model, &model->ops[op], name, sizeof(name));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i > 0 ? " > " : "", name);
	}
	if (row->length > NAMED)
		snprintf(text + used, sizeof(text) - used, " > %u more", row->length - NAMED);
	gp_scope_put_text(sheet, text);
}

static void put_row(struct gp_scope *scope, struct gp_sheet *sheet, const struct gp_model *model,
		    const struct gp_sequences *sequences, const struct gp_sequence *row)
{
	const struct gp_op *op = &model->ops[sequences->elements[row->first].op];
	const uint64_t numbers[] = {row->gap_ns,  row->span_ns, row->gpu_ns,
				    row->call_ns, row->count,   row->length};

	for (size_t i = 0; i < COUNT(numbers); i++)
		gp_scope_put_whole(sheet, numbers[i]);
	gp_sheet_cell(sheet, gp_value_real((double)row->span_ns / (double)row->count));
	gp_sheet_cell(sheet, gp_value_percent((double)(row->count * row->length),
					      (double)sequences->element_count));
	gp_scope_put_whole(sheet, model->pid);
	gp_scope_put_whole(sheet, gp_scope_device(scope, model, op->device_id));
	gp_scope_put_whole(sheet, op->context_id);
	gp_scope_put_whole(sheet, op->stream_id);
	put_text(scope, sheet, model, sequences, row);
}

static int fill_model(struct gp_scope *scope, struct gp_sheet *sheet, const struct gp_model *model)
{
	int result = 0;

	for (uint32_t first = 0, end; result == 0 && first < model->op_count; first = end) {
		struct gp_sequences sequences;

		end = gp_queue_end(model, first);
		result = gp_sequences_of(&sequences, model, first, end);
		for (uint32_t i = 0; result == 0 && i < sequences.count; i++)
			put_row(scope, sheet, model, &sequences, &sequences.rows[i]);
		gp_sequences_free(&sequences);
	}
	return result;
}

static int fill(struct gp_scope *scope, struct gp_sheet *sheet)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < scope->model_count; i++)
		result = fill_model(scope, sheet, scope->models[i]);
	return result;
}

const struct gp_breakdown gp_breakdown_sequence = {
	.help = "sequences of operations that come again and again: for graphs and fusion",
	.nothing = "no sequence of operations came three times in a stream",
	.head = {"sequence", "Sequences of operations", columns, COUNT(columns)},
	.sort_column = 0,
	.fold_before = 12,
	.fill = fill,
};
