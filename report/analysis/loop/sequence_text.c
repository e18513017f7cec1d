#include "report/analysis/loop/sequence_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/analysis/idle/activity.h"
#include "report/base/text/utf8.h"

#define NAMED      4 /* operations of a sequence */
#define NAME_BYTES 48

/* Names that are longer are cut, and say so. */
static void name_kernel(const char *name, char *out, size_t size)
{
	bool fits = strlen(name) <= NAME_BYTES;

	snprintf(out, size, "%.*s%s", (int)gp_utf8_cut(name, fits ? NAME_BYTES : NAME_BYTES - 3),
		 name, fits ? "" : "...");
}

static void name_op(struct gp_names *names, const struct gp_model *model, const struct gp_op *op,
		    char *out, size_t size)
{
	char label[GP_ACTIVITY_LABEL_BYTES];

	if (op->graph_id != 0) {
		snprintf(out, size, "[graph %u]", op->graph_id);
	} else if (op->kind == GP_OP_KERNEL) {
		name_kernel(gp_names_short(names, gp_model_kernel_name(model, op)), out, size);
	} else {
		gp_activity_label(label, op);
		snprintf(out, size, "%s", label);
	}
}

/* How many of the sequence are the same, one after the other, from that one on. */
static uint32_t count_same(const struct gp_sequences *sequences, const struct gp_sequence *row,
			   uint32_t from)
{
	const struct gp_sequence_element *elements = &sequences->elements[row->first];
	uint32_t at = from + 1;

	while (at < row->length && elements[at].symbol == elements[from].symbol)
		at++;
	return at - from;
}

void gp_sequence_text(char text[GP_SEQUENCE_TEXT_BYTES], struct gp_names *names,
		      const struct gp_model *model, const struct gp_sequences *sequences,
		      const struct gp_sequence *row)
{
	char name[GP_ACTIVITY_LABEL_BYTES];
	uint32_t at = 0;
	size_t used = 0;

	for (uint32_t i = 0; at < row->length && i < NAMED; i++) {
		uint32_t op = sequences->elements[row->first + at].op;
		uint32_t same = count_same(sequences, row, at);

		name_op(names, model, &model->ops[op], name, sizeof(name));
		used += (size_t)snprintf(text + used, GP_SEQUENCE_TEXT_BYTES - used, "%s%s",
					 i > 0 ? " > " : "", name);
		if (same > 1)
			used += (size_t)snprintf(text + used, GP_SEQUENCE_TEXT_BYTES - used,
						 " (%u times)", same);
		at += same;
	}
	if (at < row->length)
		snprintf(text + used, GP_SEQUENCE_TEXT_BYTES - used, " > %u more",
			 row->length - at);
}
