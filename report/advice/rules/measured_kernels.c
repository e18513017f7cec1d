#include "report/advice/rules/measured_kernels.h"

#include <errno.h>
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

struct rows {
	const struct gp_model *model;
	struct gp_tally tally;
	struct row *rows;
	uint32_t count, capacity;
};

enum { NAME, SHAPE, DEVICE };

static struct gp_tally_row *find(struct rows *rows, const struct gp_op *op)
{
	return gp_tally_find(
		&rows->tally,
		(uint64_t[GP_TALLY_KEYS]){
			[NAME] = op->name, [SHAPE] = op->shape, [DEVICE] = op->device_id});
}

/* NULL: no memory. */
static struct row *row_of(struct rows *rows, const struct gp_op *op)
{
	const struct gp_model *model = rows->model;
	struct gp_tally_row *found = find(rows, op);

	if (rows->tally.error != 0)
		return NULL;
	if (rows->count < rows->tally.count) {
		if (gp_array_grow(&rows->rows, &rows->capacity, rows->count, sizeof(*rows->rows)) !=
		    0)
			return NULL;
		rows->rows[rows->count++] =
			(struct row){.kernel = {.device = gp_model_device(model, op->device_id),
						.shape = op->shape < model->shape_count
								 ? &model->shapes[op->shape]
								 : NULL}};
	}
	return &rows->rows[found - rows->tally.rows];
}

static int take_values(struct rows *rows, const enum gp_roofline_role *roles)
{
	const struct gp_model *model = rows->model;
	struct row *row = NULL;

	for (uint32_t i = 0; i < model->counted_count; i++) {
		const struct gp_counted *at = &model->counted[i];
		enum gp_roofline_role role = roles[at->counter];

		if (at->op == GP_NONE)
			continue;
		if (!row || at->op != at[-1].op) {
			row = row_of(rows, &model->ops[at->op]);
			if (!row)
				return -ENOMEM;
			row->kernel.measured++;
		}
		if (role == GP_ROLES || !isfinite(at->value))
			continue;
		row->sum[role] += at->value;
		row->count[role]++;
	}
	return 0;
}

/* Returns whether anything could be saved. */
static bool judge_rows(struct rows *rows, gp_measured_judge *judge)
{
	bool saves = false;

	for (uint32_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->rows[i];

		for (int role = 0; role < GP_ROLES; role++)
			row->kernel.means[role] = row->count[role] > 0
							  ? row->sum[role] / row->count[role]
							  : (double)NAN;
		row->share = judge(&row->kernel);
		saves |= row->share > 0;
	}
	return saves;
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

static void take_launches(struct gp_advisor *advisor, struct rows *rows)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->op_count && advisor->error == 0; i++) {
		const struct gp_op *op = &model->ops[i];
		const struct row *row;

		if (op->kind != GP_OP_KERNEL || op->untimed ||
		    advisor->tuning->of[i] != GP_TUNER_NONE)
			continue;
		row = row_of(rows, op);
		if (!row)
			advisor->error = -ENOMEM;
		else if (row->share > 0)
			take_launch(advisor, op, row);
	}
}

void gp_measured_kernels_add(struct gp_advisor *advisor, gp_measured_judge *judge)
{
	const struct gp_model *model = advisor->model;
	struct rows rows = {.model = model};
	enum gp_roofline_role *roles;

	if (model->counted_count == 0 || !gp_recorded_has_kernels(model))
		return;
	roles = gp_roofline_roles(model->counter_texts, model->counter_text_count);
	if (!roles || take_values(&rows, roles) != 0)
		advisor->error = -ENOMEM;
	if (judge_rows(&rows, judge))
		take_launches(advisor, &rows);
	gp_tally_free(&rows.tally);
	free(rows.rows);
	free(roles);
}

void gp_measured_kernels_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				    struct gp_document *values)
{
	const struct gp_measured_own *own = found->own;

	gp_document_add_text(values, "kernel", gp_scope_kernel_of(&advisor->scope, found->detail));
	gp_document_add_number(values, "measured", GP_UNIT_COUNT, own->kernel.measured);
}
