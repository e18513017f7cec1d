#include "report/advice/rules/other_programs.h"

#include "report/model/memory_stats.h"

/* The most that a process held on all GPUs, with managed memory, which can lie there. */
static uint64_t most_held(const struct gp_model *model)
{
	uint64_t now = 0, most = 0;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		if (gp_memory_is_of_host(model->memory[i].memory_kind))
			continue;
		gp_memory_apply(&now, &model->memory[i]);
		if (now > most)
			most = now;
	}
	return most;
}

uint64_t gp_other_programs_bytes(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_scope *scope = &advisor->scope;
	const struct gp_model *model = scope->models[found->process];
	const uint64_t context_bytes = (uint64_t)GP_CONTEXT_GIB << 30;
	uint64_t own = 0, most = 0;

	for (size_t i = 0; i < scope->model_count; i++)
		own += most_held(scope->models[i]) + context_bytes;
	for (uint32_t i = 0; i < model->usage_count; i++) {
		const struct gp_usage *usage = &model->usages[i];
		uint64_t used = usage->free_bytes < usage->total_bytes
					? usage->total_bytes - usage->free_bytes
					: 0;

		if (used > most)
			most = used;
	}
	return most > own ? most - own + scope->model_count * context_bytes : 0;
}
