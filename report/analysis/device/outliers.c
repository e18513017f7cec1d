#include "report/analysis/device/outliers.h"

#include <stdlib.h>

#include "report/analysis/idle/busy.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

#define LEAST_NS           1000000u /* a shorter operation delays nobody */
#define LEAST_TIME_PERCENT 10       /* of the GPU time: less changes no figure much */
#define LEAST_SIMILAR      10       /* fewer similar operations have no usual time */
#define OUTLIER_MEDIANS    20       /* the usual spread of one kernel is far below */

/* ---- one among those like it ---- */

static bool are_alike(const struct gp_op *a, const struct gp_op *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == GP_OP_KERNEL)
		return a->name == b->name && a->shape == b->shape;
	return a->kind != GP_OP_GRAPH && a->copy_kind == b->copy_kind &&
	       a->source_kind == b->source_kind && a->destination_kind == b->destination_kind;
}

/* Fills in the usual time of similar operations. */
static void compare_with_alike(struct gp_outlier *found, const struct gp_model *model)
{
	const struct gp_op *lone = found->op;
	uint64_t *values = gp_spill_take(2 * ((size_t)model->op_count + 1) * sizeof(*values));
	uint64_t *bytes = values + model->op_count, usual_bytes;
	size_t count = 0;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (are_alike(&model->ops[i], lone)) {
			found->like++;
			found->is_first &=
				model->ops[i].untimed || model->ops[i].start_ns >= lone->start_ns;
			values[count] = model->ops[i].end_ns - model->ops[i].start_ns;
			bytes[count] = model->ops[i].bytes;
			count += !model->ops[i].untimed;
		}
	found->usual_ns = count > 0 ? gp_stats_select(values, count, count / 2) : 0;
	usual_bytes = count > 0 ? gp_stats_select(bytes, count, count / 2) : 0;
	if (usual_bytes > 0 && lone->bytes > usual_bytes)
		found->usual_ns = (uint64_t)((double)found->usual_ns * (double)lone->bytes /
					     (double)usual_bytes);
	gp_spill_free(values);
}

/* The time that two operations of one device share. */
static struct gp_interval shared_time(struct gp_model *const *models,
				      const struct gp_outlier *found, size_t model,
				      const struct gp_op *op)
{
	const struct gp_op *lone = found->op;
	uint64_t from_ns = models[found->model]->base_unix_ns,
		 base_ns = models[model]->base_unix_ns;
	uint64_t start_ns = base_ns + op->start_ns, end_ns = base_ns + op->end_ns;

	return (struct gp_interval){
		start_ns > from_ns + lone->start_ns ? start_ns : from_ns + lone->start_ns,
		end_ns < from_ns + lone->end_ns ? end_ns : from_ns + lone->end_ns};
}

/* How long no other known operation kept its device busy. */
static void find_alone(struct gp_outlier *found, struct gp_model *const *models, size_t model_count,
		       const struct gp_device_list *devices)
{
	const struct gp_op *lone = found->op;
	size_t device = gp_device_list_known(devices, models[found->model], lone->device_id);
	struct gp_interval *others;
	size_t count = 0, capacity = 1;

	for (size_t m = 0; m < model_count; m++)
		capacity += models[m]->op_count;
	others = gp_spill_take(capacity * sizeof(*others));
	for (size_t m = 0; m < model_count; m++)
		for (uint32_t i = 0; i < models[m]->op_count; i++) {
			const struct gp_op *op = &models[m]->ops[i];
			struct gp_interval both = shared_time(models, found, m, op);

			if (op != lone && gp_op_gpu_ns(op) > 0 && both.start_ns < both.end_ns &&
			    gp_device_list_known(devices, models[m], op->device_id) == device)
				others[count++] = both;
		}
	found->alone_ns = lone->end_ns - lone->start_ns - gp_interval_union(others, count);
	gp_spill_free(others);
}

/* ---- all of them ---- */

static uint64_t sum_up(struct gp_model *const *models, size_t model_count)
{
	uint64_t sum_ns = 0;

	for (size_t m = 0; m < model_count; m++)
		for (uint32_t i = 0; i < models[m]->op_count; i++)
			sum_ns += gp_op_gpu_ns(&models[m]->ops[i]);
	return sum_ns;
}

/* Such a kernel waits for those of other devices. */
static bool communicates(const struct gp_kinds *kinds, const struct gp_model *model,
			 const struct gp_op *op)
{
	uint8_t *names;
	bool result;

	if (op->kind != GP_OP_KERNEL)
		return false;
	names = gp_kinds_of_names(kinds, model);
	result = gp_kinds_of_op(names, model, op) == GP_KIND_COMMUNICATION;
	free(names);
	return result;
}

static bool is_great(uint64_t ns, uint64_t all_ns)
{
	return ns >= LEAST_NS && 100 * ns >= LEAST_TIME_PERCENT * all_ns; /* so are ten at most */
}

/* Whether it is an outlier, and longer than the one found before. */
static void try(struct gp_outlier *found, struct gp_model *const *models, struct gp_outlier one,
		const struct gp_kinds *kinds)
{
	const struct gp_op *op = one.op;
	uint64_t ns = gp_op_gpu_ns(op);

	if ((found->op && ns <= gp_op_gpu_ns(found->op)) ||
	    communicates(kinds, models[one.model], op))
		return;
	compare_with_alike(&one, models[one.model]);
	if (one.like >= LEAST_SIMILAR && ns >= OUTLIER_MEDIANS * one.usual_ns)
		*found = one;
}

void gp_outlier_find(struct gp_outlier *found, struct gp_model *const *models, size_t model_count,
		     const struct gp_device_list *devices, const struct gp_kinds *kinds)
{
	uint64_t all_ns = sum_up(models, model_count);

	*found = (struct gp_outlier){.op = NULL};
	for (size_t m = 0; m < model_count; m++)
		for (uint32_t i = 0; i < models[m]->op_count; i++) {
			if (is_great(gp_op_gpu_ns(&models[m]->ops[i]), all_ns))
				try(found, models,
				    (struct gp_outlier){.model = m,
							.op = &models[m]->ops[i],
							.all_ns = all_ns,
							.is_first = true},
				    kinds);
		}
	if (found->op)
		find_alone(found, models, model_count, devices);
}

void gp_outlier_find_wrong(struct gp_outlier *found, struct gp_model *const *models,
			   size_t model_count)
{
	uint64_t all_ns = sum_up(models, model_count);

	*found = (struct gp_outlier){.op = NULL, .all_ns = all_ns, .is_first = true};
	for (size_t m = 0; m < model_count; m++)
		for (uint32_t i = 0; i < models[m]->contradiction_count; i++) {
			const struct gp_contradiction *one = &models[m]->contradictions[i];
			uint64_t ns = one->stated.end_ns - one->stated.start_ns;

			if (!is_great(ns, all_ns) ||
			    (found->op && ns <= found->op->end_ns - found->op->start_ns))
				continue;
			found->model = m;
			found->op = &one->stated;
			found->clashes = one->clashes;
		}
	if (found->op)
		compare_with_alike(found, models[found->model]);
}
