#include "report/model/sums/totals.h"

#include <stdlib.h>

void gp_totals_free(struct gp_totals *t)
{
	gp_sums_free(&t->sums);
	gp_cover_free(&t->cover);
	gp_live_memory_free(&t->memory);
	free(t->usages);
}

/* CUPTI's kind, as far as it fits into an operation. */
static uint8_t short_kind(uint32_t kind)
{
	return kind < GP_OP_KIND_UNKNOWN ? (uint8_t)kind : GP_OP_KIND_UNKNOWN;
}

const struct gp_totals *gp_totals_of(const struct gp_model *model)
{
	static const struct gp_totals none;

	return model->totals ? model->totals : &none;
}

bool gp_totals_any(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (models[i]->totals)
			return true;
	return false;
}

struct gp_op gp_totals_op(const struct gp_sum *sum)
{
	const union gp_any_record *r = &sum->first;
	struct gp_op op = {
		.bytes = sum->timed_bytes,
		.device_id = r->kernel.device_id,
		.name = GP_NONE,
		.shape = GP_NONE,
		.call = GP_NONE,
		.next_op = GP_NONE,
		.detail = sum->detail,
	};

	if (sum->kind == GP_SUM_KERNEL) {
		op.kind = GP_OP_KERNEL;
		op.name = sum->key == GP_SUM_OTHERS ? GP_NONE : r->kernel.name_id;
	} else if (sum->kind == GP_SUM_GRAPH) {
		op.kind = GP_OP_GRAPH;
		op.graph_id = r->graph.graph_id;
	} else if (sum->kind == GP_SUM_COPY) {
		op.kind = GP_OP_COPY;
		op.copy_kind = short_kind(r->copy.copy_kind);
		op.source_kind = short_kind(r->copy.source_kind);
		op.destination_kind = short_kind(r->copy.destination_kind);
	} else {
		op.kind = GP_OP_SET;
		op.destination_kind = short_kind(r->memset.memory_kind);
	}
	return op;
}
