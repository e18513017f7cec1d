#include "report/advice/rules/dependency.h"

#include <string.h>

#include "gpuprof/count.h"
#include "report/model/recorded.h"
#include "report/advice/rules/other_programs.h"

/* In names of functions and graph nodes that make a stream wait for more than GPU work. */
static const char *const waits[] = {"HostFunc",           "HostNode",     "StreamAddCallback",
				    "StreamWaitValue",    "BatchMemOp",   "StreamMemOp",
				    "ExternalSemaphores", "IpcOpenEvent", "MemPrefetch"};

static const char *const prefetch[] = {"MemPrefetch"};

static bool is_any(const char *function, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(function, parts[i]))
			return true;
	return false;
}

/* Whether a call that enqueues something else than work has one of these parts in its name. */
static bool calls_any(const struct gp_model *model, const char *const *parts, size_t count)
{
	for (uint32_t i = 0; i < model->call_count; i++) {
		uint8_t class = gp_model_api_class(model, model->calls[i].api);

		if ((class == GP_API_HOST || class == GP_API_CONTROL) &&
		    is_any(gp_model_api(model, model->calls[i].api).name, parts, count))
			return true;
	}
	return false;
}

bool gp_dependency_is_outside(const struct gp_model *model)
{
	if (model->recorder || !gp_recorded_has_all_operations(model))
		return false;
	if (model->host_function_count > 0 || !gp_model_uses_one_gpu(model))
		return false;
	return !calls_any(model, waits, COUNT(waits));
}

void gp_dependency_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			      struct gp_document *values)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const char *reason = "unknown";

	if (gp_dependency_is_outside(model)) {
		reason = "programs";
		gp_document_add_number(values, "others_bytes", GP_UNIT_BYTES,
				       gp_other_programs_bytes(advisor, found));
		gp_document_add_flag(values, "may_migrate",
				     gp_model_may_have_managed_memory(model));
	} else if (!gp_recorded_has_all_operations(model)) {
		reason = "missing";
		gp_document_add_number(values, "left_out_kernels", GP_UNIT_COUNT,
				       model->counters[GP_COUNTER_LEFT_OUT_KERNELS]);
		gp_document_add_text(values, "why_missing", gp_recorded_why_not_all(model));
	} else if (calls_any(model, prefetch, COUNT(prefetch))) {
		reason = "prefetch";
	}
	gp_document_add_text(values, "dependency", reason);
}
