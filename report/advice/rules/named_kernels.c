#include "report/advice/rules/named_kernels.h"

#include <fnmatch.h>
#include <stdlib.h>

bool gp_named_kernels_match(const char *name, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* By number of a name: the time of such kernels, and whether it is one. */
struct names {
	uint64_t *ns;
	bool *is_such;
};

static void open_names(struct names *names, const struct gp_model *model,
		       bool (*is_such)(const char *name))
{
	names->ns = calloc((size_t)model->name_count + 1, sizeof(*names->ns));
	names->is_such = calloc((size_t)model->name_count + 1, sizeof(*names->is_such));
	for (uint32_t i = 0; i < model->name_count; i++)
		names->is_such[i] = is_such(model->names[i]);
}

static void close_names(struct names *names)
{
	free(names->ns);
	free(names->is_such);
}

static void take(struct gp_advisor *advisor, const struct gp_op *op, unsigned saved_percent)
{
	const struct gp_call *call = gp_model_op_cause(advisor->model, op);
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	uint64_t ns = gp_op_gpu_ns(op);

	gp_advisor_add(advisor, found, op->start_ns, ns, ns * saved_percent / 100, NULL);
	if (call)
		gp_advisor_vote(found, gp_advisor_site(advisor, call), ns);
	gp_advisor_show_time(advisor, found, op->start_ns, ns);
}

void gp_named_kernels_add(struct gp_advisor *advisor, bool (*is_such)(const char *name),
			  unsigned saved_percent)
{
	const struct gp_model *model = advisor->model;
	struct names names = {0};
	struct gp_named_kernels *own;
	uint64_t all_ns = 0;
	uint32_t most = 0;

	open_names(&names, model, is_such);
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		all_ns += gp_op_gpu_ns(op);
		if (op->kind != GP_OP_KERNEL || op->untimed || op->name >= model->name_count ||
		    !names.is_such[op->name] || advisor->tuning->of[i] != GP_TUNER_NONE ||
		    gp_advisor_is_claimed(advisor, i))
			continue;
		take(advisor, op, saved_percent);
		names.ns[op->name] += gp_op_gpu_ns(op);
		if (names.ns[op->name] > names.ns[most])
			most = op->name;
	}
	if (model->name_count > 0 && names.ns[most] > 0) {
		own = gp_advisor_case(advisor, GP_NO_SITE, 0, 0)->own;
		own->kernel = gp_advisor_text(advisor, model->names[most]);
		own->all_ns = all_ns;
	}
	close_names(&names);
}

void gp_named_kernels_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				 struct gp_document *values)
{
	const struct gp_named_kernels *own = found->own;

	gp_document_add_text(values, "kernel", gp_scope_kernel_of(&advisor->scope, own->kernel));
	gp_document_add(values, "percent", GP_UNIT_PERCENT,
			gp_value_percent((double)found->time_ns, (double)own->all_ns));
}
