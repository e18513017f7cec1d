#include "report/model/build/device_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

#define MOST_CONTEXTS 256u /* no program has as many that it waits for */

static bool waits_for_all(const struct gp_model *model, const struct gp_call *call)
{
	const char *name;

	if (call->status != 0 || call->context_id == 0 ||
	    gp_model_api_class(model, call->api) != GP_API_SYNC)
		return false;
	name = gp_model_api(model, call->api).name;
	return strncmp(name, "cudaDeviceSync", 14) == 0 ||
	       strncmp(name, "cudaThreadSync", 14) == 0 || strncmp(name, "cuCtxSync", 9) == 0;
}

static struct gp_device_wait *find_wait(const struct gp_device_waits *waits, uint32_t context_id)
{
	for (uint32_t i = 0; i < waits->count; i++)
		if (waits->waits[i].context_id == context_id)
			return &waits->waits[i];
	return NULL;
}

static int note_wait(struct gp_device_waits *waits, const struct gp_call *call)
{
	struct gp_device_wait *wait = find_wait(waits, call->context_id);

	if (!wait) {
		if (waits->count == MOST_CONTEXTS)
			return 0;
		if (gp_array_grow(&waits->waits, &waits->capacity, waits->count,
				  sizeof(*waits->waits)) != 0)
			return -ENOMEM;
		wait = &waits->waits[waits->count++];
		*wait = (struct gp_device_wait){call->context_id, 0};
	}
	if (call->start_ns > wait->start_ns)
		wait->start_ns = call->start_ns;
	return 0;
}

int gp_device_waits_find(const struct gp_model *model, struct gp_device_waits *waits)
{
	int result = 0;

	*waits = (struct gp_device_waits){0};
	for (uint32_t i = 0; i < model->call_count && result == 0; i++)
		if (waits_for_all(model, &model->calls[i]))
			result = note_wait(waits, &model->calls[i]);
	return result;
}

void gp_device_waits_free(struct gp_device_waits *waits)
{
	free(waits->waits);
	*waits = (struct gp_device_waits){0};
}

bool gp_device_waits_cover(const struct gp_device_waits *waits, const struct gp_call *launch)
{
	const struct gp_device_wait *wait = find_wait(waits, launch->context_id);

	return wait && wait->start_ns >= gp_call_end_ns(launch);
}
