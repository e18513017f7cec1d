#include "report/advice/rules/dependency.h"

#include <string.h>

#include "gpuprof/count.h"
#include "report/base/text/format.h"
#include "report/model/recorded.h"
#include "report/advice/rules/neighbors.h"

/*
 * In names of functions of both APIs, and of nodes of graphs: what makes a stream wait for others
 * than the GPU's own work.
 */
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

/*
 * Whether there is a call with one of these parts in its name, of those that set something up in a
 * stream.
 */
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

static bool has_one_gpu(const struct gp_model *model)
{
	for (uint32_t i = 1; i < model->op_count; i++)
		if (model->ops[i].device_id != model->ops[0].device_id)
			return false;
	return true;
}

bool gp_dependency_is_outside(const struct gp_model *model)
{
	if (!gp_recorded_has_all_operations(model))
		return false;
	if (model->host_function_count > 0 || !has_one_gpu(model))
		return false;
	return !calls_any(model, waits, COUNT(waits));
}

static void advise_on_others(const struct gp_advisor *advisor, const struct gp_case *found,
			     FILE *out)
{
	uint64_t bytes = gp_neighbors_bytes(advisor, found);

	if (bytes > 0)
		fprintf(out,
			"programs take turns on a GPU, and others held up to %s of its memory: give this one a GPU of its own, or let them share it by MPS (nvidia-cuda-mps-control)",
			gp_format_bytes(bytes).text);
	else
		fprintf(out,
			"another process may have had the GPU (nvidia-smi lists them): they take turns%s",
			gp_model_may_have_managed_memory(advisor->scope.models[found->process])
				? "; or managed memory was moved (--trace=default,unified tells)"
				: "");
}

/* What is not recorded nobody sees at work. */
static void advise_on_missing(const struct gp_model *model, FILE *out)
{
	uint64_t kernels = model->counters[GP_COUNTER_LEFT_OUT_KERNELS];

	if (kernels > 0)
		fprintf(out,
			"%s kernels of the process's own are left out by --kernels, and may have had the GPU: record without that, to see",
			gp_format_count(kernels).text);
	else
		fprintf(out, "%s, and one of the process's own may have had the GPU",
			gp_recorded_why_not_all(model));
}

void gp_dependency_advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->process];

	if (gp_dependency_is_outside(model))
		advise_on_others(advisor, found, out);
	else if (!gp_recorded_has_all_operations(model))
		advise_on_missing(model, out);
	else if (calls_any(model, prefetch, COUNT(prefetch)))
		fputs("the process moves managed memory itself (cudaMemPrefetchAsync), and what comes next in the stream waits for that: --trace=default,unified records it; or another process had the GPU (nvidia-smi lists them)",
		      out);
	else
		fputs("see what the operation waits for: a host function, another device, another process; or other programs had the GPU (nvidia-smi lists them)",
		      out);
}
