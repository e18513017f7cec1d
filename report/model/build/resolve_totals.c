/* Sums, once the definitions are known: turns ids into indices, and counts losses. */
#include "report/model/build/build.h"
#include "report/model/sums/totals.h"

static void resolve_kernel(struct gp_model_builder *b, struct gp_sum *sum)
{
	struct gp_op op = {.kind = GP_OP_KERNEL, .name = sum->first.kernel.name_id};

	gp_resolve_op(b, &op);
	sum->first.kernel.name_id = op.name;
}

static int resolve_copy(struct gp_model_builder *b, struct gp_sum *sum)
{
	const struct gp_op_detail detail = {
		.source_device_id = sum->first.copy.source_device_id,
		.destination_device_id = sum->first.copy.destination_device_id,
	};

	return gp_model_builder_detail(b, &detail, &sum->detail);
}

static int resolve_sum(struct gp_model_builder *b, struct gp_sum *sum)
{
	uint16_t api = sum->first.call.api;

	b->model->losses.ops_untimed += sum->untimed;
	switch (sum->kind) {
	case GP_SUM_CALL:
		b->apis[api / 8] |= (uint8_t)(1u << api % 8);
		return 0;
	case GP_SUM_KERNEL:
		resolve_kernel(b, sum);
		return 0;
	case GP_SUM_COPY:
		return resolve_copy(b, sum);
	default:
		return 0;
	}
}

/* The number of launches without a kernel is known, but not which ones. */
static void account_for_launches(struct gp_model *m, const struct gp_sums *sums)
{
	uint64_t launches = 0, known = sums->own_kernels, missing;

	for (uint32_t i = 0; i < sums->count; i++) {
		const struct gp_sum *sum = sums->sums[i];

		if (sum->kind != GP_SUM_CALL ||
		    gp_model_api_class(m, sum->first.call.api) != GP_API_LAUNCH)
			continue;
		launches += sum->histogram.count;
		m->losses.launches_captured += sum->captured;
		m->losses.launches_failed += sum->failed;
	}
	known += m->losses.launches_captured + m->losses.launches_failed;
	missing = launches > known ? launches - known : 0;
	if (m->gate_count > 0)
		m->losses.launches_outside = missing;
	else if (m->counters[GP_COUNTER_LEFT_OUT_KERNELS] > 0)
		m->losses.launches_left_out = missing;
	else
		m->losses.launches_without_op = missing;
}

int gp_resolve_totals(struct gp_model_builder *b)
{
	struct gp_totals *totals = b->model->totals;
	struct gp_losses *losses = &b->model->losses;
	int result = 0;

	if (!totals)
		return 0;
	for (uint32_t i = 0; i < totals->sums.count && result == 0; i++)
		result = resolve_sum(b, totals->sums.sums[i]);
	losses->ops_reversed += totals->sums.reversed;
	losses->unknown_records += totals->sums.unknown_devices;
	losses->frees_unknown += totals->memory.unknown_frees;
	account_for_launches(b->model, &totals->sums);
	return result;
}
