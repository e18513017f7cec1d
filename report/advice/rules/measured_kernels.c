#include "report/advice/rules/measured_kernels.h"

#include <math.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/recorded.h"

/* Parallel to the rows of the tally: a kernel's name, shape and device. */
struct row {
	double sum[GP_ROLES];
	uint32_t count[GP_ROLES];
	struct gp_measured_kernel kernel;
	double share; /* of its time that could be saved */
};

struct gp_measured_kernels {
	struct gp_tally tally;
	struct row *rows;
	uint32_t count, capacity;
	uint32_t measured; /* the first of them; no share of the others can be saved */
};

enum { NAME, SHAPE, DEVICE };

/* NULL: no memory. */
static struct row *row_of(struct gp_measured_kernels *k, const struct gp_model *model,
			  const struct gp_op *op)
{
	const struct gp_tally_row *found = gp_tally_find(
		&k->tally,
		(uint64_t[GP_TALLY_KEYS]){
			[NAME] = op->name, [SHAPE] = op->shape, [DEVICE] = op->device_id});

	if (k->count < k->tally.count) {
		gp_array_grow(&k->rows, &k->capacity, k->count, sizeof(*k->rows));
		k->rows[k->count++] =
			(struct row){.kernel = {.device = gp_model_device(model, op->device_id),
						.shape = op->shape < model->shape_count
								 ? &model->shapes[op->shape]
								 : NULL}};
	}
	return &k->rows[found - k->tally.rows];
}

static void take_values(struct gp_measured_kernels *k, const struct gp_model *model,
			const enum gp_roofline_role *roles)
{
	struct row *row = NULL;

	for (uint32_t i = 0; i < model->counted_count; i++) {
		const struct gp_counted *at = &model->counted[i];
		enum gp_roofline_role role = roles[at->counter];

		if (at->op == GP_NONE)
			continue;
		if (!row || at->op != at[-1].op) {
			row = row_of(k, model, &model->ops[at->op]);
			row->kernel.measured++;
		}
		if (role == GP_ROLES || !isfinite(at->value))
			continue;
		row->sum[role] += at->value;
		row->count[role]++;
	}
	k->measured = k->count;
	for (uint32_t i = 0; i < k->count; i++) {
		row = &k->rows[i];
		for (int role = 0; role < GP_ROLES; role++)
			row->kernel.means[role] = row->count[role] > 0
							  ? row->sum[role] / row->count[role]
							  : (double)NAN;
	}
}

static struct gp_measured_kernels *measure(const struct gp_model *model)
{
	struct gp_measured_kernels *k = calloc(1, sizeof(*k));
	enum gp_roofline_role *roles =
		gp_roofline_roles(model->counter_texts, model->counter_text_count);

	take_values(k, model, roles);
	free(roles);
	return k;
}

void gp_measured_kernels_free(struct gp_measured_kernels *k)
{
	if (!k)
		return;
	gp_tally_free(&k->tally);
	free(k->rows);
	free(k);
}

static void take_launch(struct gp_advisor *advisor, const struct gp_op *op, const struct row *row)
{
	const struct gp_call *call = gp_model_op_cause(advisor->model, op);
	uint64_t took_ns = op->end_ns - op->start_ns;
	uint64_t name = gp_advisor_text(advisor, gp_model_kernel_name(advisor->model, op));
	struct gp_case *found = gp_advisor_case(
		advisor, call ? gp_advisor_site(advisor, call) : GP_NO_SITE, name, 0);
	double saves_ns = (double)took_ns * fmin(row->share, 1);
	struct gp_measured_own *own;

	gp_advisor_add(advisor, found, op->start_ns, took_ns, (uint64_t)saves_ns, NULL);
	gp_advisor_show_time(advisor, found, op->start_ns, took_ns);
	own = found->own;
	if (saves_ns > own->saves_ns)
		*own = (struct gp_measured_own){row->kernel, saves_ns};
}

static void take_launches(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];
		const struct row *row;

		if (op->kind != GP_OP_KERNEL || op->untimed ||
		    advisor->tuning->of[i] != GP_TUNER_NONE)
			continue;
		row = row_of(advisor->measured, model, op);
		if (row->share > 0)
			take_launch(advisor, op, row);
	}
}

void gp_measured_kernels_add(struct gp_advisor *advisor, gp_measured_judge *judge)
{
	struct gp_measured_kernels *k = advisor->measured;
	bool saves = false;

	if (advisor->model->counted_count == 0 || !gp_recorded_has_kernels(advisor->model))
		return;
	if (!k)
		k = advisor->measured = measure(advisor->model);
	for (uint32_t i = 0; i < k->measured; i++) {
		k->rows[i].share = judge(&k->rows[i].kernel);
		saves |= k->rows[i].share > 0;
	}
	if (saves)
		take_launches(advisor);
}

void gp_measured_kernels_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				    struct gp_document *values)
{
	const struct gp_measured_own *own = found->own;

	gp_document_add_text(values, "kernel", gp_scope_kernel_of(&advisor->scope, found->detail));
	gp_document_add_number(values, "measured", GP_UNIT_COUNT, own->kernel.measured);
}
