#include "report/advice/rules/code.h"

#include "report/base/array.h"
#include "report/trace/cuda_names.h"

static bool starts_before(const void *element, const void *key)
{
	const struct gp_record_jit *jit = element;
	const uint64_t *time_ns = key;

	return jit->start_ns < *time_ns;
}

bool gp_call_compiles(const struct gp_model *model, const struct gp_call *call)
{
	uint32_t at = gp_array_lower_bound(model->jits, model->jit_count, sizeof(*model->jits),
					   starts_before, &call->start_ns);

	for (; at < model->jit_count && model->jits[at].start_ns < gp_call_end_ns(call); at++)
		if (gp_jit_op_compiles(model->jits[at].op_kind))
			return true;
	return false;
}
