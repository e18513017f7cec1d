#include "report/analysis/memory/torch_category.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/loop/phase_marks.h"
#include "report/base/array.h"
#include "report/symbols/code_owner.h"

#define KEY_BYTES 1100

/* Functions that build, load or move modules. */
static const struct {
	const char *path, *function;
} parameter_rows[] = {
	{"*/torch/nn/modules/module.py", "*_apply"},
	{"*/torch/nn/modules/module.py", "*load_state_dict*"},
	{"*/torch/nn/modules/*", "*__init__"},
	{"*/torch/nn/modules/*", "*reset_parameters"},
	{"*/torch/nn/parameter.py", "*"},
	{"*/torch/nn/init.py", "*"},
	{"*/torch/distributed/fsdp/*param*", "*"},
	{"*/transformers/modeling_utils.py", "*"},
	{"*/transformers/core_model_loading.py", "*"},
	{"*/accelerate/utils/modeling.py", "*"},
};

/* Native functions that allocate what a library works in. */
static const char *const workspace_rows[] = {"*Workspace*", "*getCurrentCUDABlasHandle*",
					     "*run_conv_plan*"};

static const char *const names[GP_TORCH_CATEGORIES] = {
	[GP_TORCH_UNKNOWN] = "unknown",
	[GP_TORCH_PARAMETERS] = "parameters",
	[GP_TORCH_GRADIENTS] = "gradients",
	[GP_TORCH_OPTIMIZER] = "optimizer state",
	[GP_TORCH_ACTIVATIONS] = "activations",
	[GP_TORCH_WORKSPACE] = "workspace",
	[GP_TORCH_OTHER] = "other",
};

const char *gp_torch_category_name(enum gp_torch_category category)
{
	return names[category];
}

void gp_torch_purposes_free(struct gp_torch_purposes *purposes)
{
	gp_groups_free(&purposes->functions);
	free(purposes->purposes);
	*purposes = (struct gp_torch_purposes){0};
}

static struct gp_torch_purpose purpose_of(const struct gp_place *place)
{
	struct gp_torch_purpose purpose = {.phase = (uint8_t)gp_phase_of_place(place, true)};

	for (size_t i = 0; place->kind == GP_FRAME_PYTHON && i < COUNT(parameter_rows); i++)
		purpose.is_of_parameters |=
			gp_code_matches(parameter_rows[i].path, place->file) &&
			fnmatch(parameter_rows[i].function, place->function, 0) == 0;
	for (size_t i = 0; place->kind == GP_FRAME_NATIVE && i < COUNT(workspace_rows); i++)
		purpose.is_of_workspace |= fnmatch(workspace_rows[i], place->function, 0) == 0;
	return purpose;
}

static const struct gp_torch_purpose *find(struct gp_torch_purposes *purposes,
					   const struct gp_place *place)
{
	uint32_t known = purposes->functions.count, number;
	char key[KEY_BYTES];

	snprintf(key, sizeof(key), "%s\n%s", place->function, place->file);
	number = gp_groups_find(&purposes->functions, key);
	gp_array_grow(&purposes->purposes, &purposes->capacity, number,
		      sizeof(*purposes->purposes));
	if (number == known)
		purposes->purposes[number] = purpose_of(place);
	return &purposes->purposes[number];
}

void gp_torch_purpose_call(struct gp_torch_purposes *purposes, struct gp_torch_purpose *stack,
			   const struct gp_place *place)
{
	const struct gp_torch_purpose *called = find(purposes, place);

	stack->is_known = true;
	stack->phase = (uint8_t)gp_phase_inside((enum gp_phase_kind)stack->phase,
						(enum gp_phase_kind)called->phase);
	stack->is_of_parameters |= called->is_of_parameters;
	stack->is_of_workspace |= called->is_of_workspace;
}

enum gp_torch_category gp_torch_category_of(const struct gp_torch_purpose *stack)
{
	if (!stack->is_known)
		return GP_TORCH_UNKNOWN;
	if (stack->is_of_workspace)
		return GP_TORCH_WORKSPACE;
	switch (stack->phase) {
	case GP_PHASE_FORWARD:
	case GP_PHASE_EVALUATION:
		return GP_TORCH_ACTIVATIONS;
	case GP_PHASE_BACKWARD:
		return GP_TORCH_GRADIENTS;
	case GP_PHASE_OPTIMIZER:
		return GP_TORCH_OPTIMIZER;
	default:
		return stack->is_of_parameters ? GP_TORCH_PARAMETERS : GP_TORCH_OTHER;
	}
}
