#include "report/analysis/memory/reserved_pool.h"

#include <string.h>

#include "report/model/memory_ledger.h"
#include "report/symbols/call_site.h"

#define LEAST_PERCENT 25 /* of the GPU's memory: XLA_PYTHON_CLIENT_MEM_FRACTION may ask for less */

/* The largest block of a GPU, if it has that much of the GPU's memory; NULL: there is none. */
static const struct gp_memory_event *largest_block(const struct gp_model *model)
{
	const struct gp_memory_event *largest = NULL;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		const struct gp_record_device *device = gp_model_device(model, event->device_id);

		if (event->op == GP_MEMORY_ALLOC && gp_memory_is_of_device(event->memory_kind) &&
		    event->call != GP_NONE && device && device->memory_bytes > 0 &&
		    event->bytes >= device->memory_bytes / 100 * LEAST_PERCENT &&
		    (!largest || event->bytes > largest->bytes))
			largest = event;
	}
	return largest;
}

uint64_t gp_reserved_pool_bytes(const struct gp_model *model)
{
	const struct gp_memory_event *block = largest_block(model);
	struct gp_call_sites *sites = block ? gp_call_sites_new() : NULL;
	uint64_t bytes = 0;

	if (sites) {
		uint32_t site = gp_call_sites_find(sites, model, &model->calls[block->call]);

		if (strcmp(gp_call_sites_at(sites, site).owner, "XLA") == 0)
			bytes = block->bytes;
	}
	gp_call_sites_free(sites);
	return bytes;
}
