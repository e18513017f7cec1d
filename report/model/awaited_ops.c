#include "report/model/awaited_ops.h"

struct gp_awaited_ops gp_awaited_ops_of(const struct gp_model *model)
{
	return (struct gp_awaited_ops){.model = model};
}

static void find_thread(struct gp_awaited_ops *awaited, uint32_t index)
{
	const struct gp_call *calls = awaited->model->calls;
	uint32_t thread_id = calls[index].thread_id;

	awaited->first = index;
	while (awaited->first > 0 && calls[awaited->first - 1].thread_id == thread_id)
		awaited->first--;
	awaited->end = index + 1;
	while (awaited->end < awaited->model->call_count &&
	       calls[awaited->end].thread_id == thread_id)
		awaited->end++;
	awaited->joined_end = awaited->end;
	while (awaited->joined_end > awaited->first &&
	       calls[awaited->joined_end - 1].first_op == GP_NONE)
		awaited->joined_end--;
}

bool gp_awaited_ops_has(struct gp_awaited_ops *awaited, const struct gp_call *call)
{
	const struct gp_model *model = awaited->model;
	uint8_t class = gp_model_api_class(model, call->api);
	uint32_t index = (uint32_t)(call - model->calls);

	if (!gp_model_has_no_op(model, call))
		return false;
	if (class == GP_API_LAUNCH)
		return true;
	if (class != GP_API_GRAPH_LAUNCH && class != GP_API_COPY && class != GP_API_MEMSET)
		return false;
	if (index < awaited->first || index >= awaited->end)
		find_thread(awaited, index);
	return index >= awaited->joined_end;
}
