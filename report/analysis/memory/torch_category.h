/*
 * torch_category: the purpose of a tensor's memory, by the call stack that allocated it, as PyTorch's
 * snapshot has it.
 *
 * The phase of a training step (report/analysis/loop/phase_marks.h) tells most: memory of the backward
 * pass is gradients, and while that runs its temporaries, too; memory of the optimizer its state;
 * memory of the forward pass activations.  Functions that build or move modules allocate parameters,
 * and buffers.  A stack without any of these is of another purpose; without frames, nothing is known.
 */
#ifndef REPORT_ANALYSIS_MEMORY_TORCH_CATEGORY_H
#define REPORT_ANALYSIS_MEMORY_TORCH_CATEGORY_H

#include <stdbool.h>
#include <stdint.h>

#include "report/base/group_by.h"
#include "report/symbols/symbols.h"

enum gp_torch_category {
	GP_TORCH_UNKNOWN, /* no frames, or no memory */
	GP_TORCH_PARAMETERS,
	GP_TORCH_GRADIENTS,
	GP_TORCH_OPTIMIZER,
	GP_TORCH_ACTIVATIONS,
	GP_TORCH_WORKSPACE, /* of libraries: cuBLAS, cuDNN */
	GP_TORCH_OTHER,
	GP_TORCH_CATEGORIES
};

/* What a function, or a stack, says. */
struct gp_torch_purpose {
	uint8_t phase; /* enum gp_phase_kind */
	bool is_known, is_of_parameters, is_of_workspace;
};

/* Zeroed = empty: what functions say, so that each is looked at once. */
struct gp_torch_purposes {
	struct gp_groups functions; /* only keys */
	struct gp_torch_purpose *purposes;
	uint32_t capacity;
};

void gp_torch_purposes_free(struct gp_torch_purposes *purposes);

/*
 * Add a frame to a stack, which begins zeroed, with the outermost one.
 */
void gp_torch_purpose_call(struct gp_torch_purposes *purposes, struct gp_torch_purpose *stack,
			   const struct gp_place *place);

enum gp_torch_category gp_torch_category_of(const struct gp_torch_purpose *stack);

/* "parameters", "optimizer state", ... */
const char *gp_torch_category_name(enum gp_torch_category category);

#endif
