#include "report/model/same_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/model.h"

static bool is_of_lower_device(const void *element, const void *key)
{
	const struct gp_op *op = element;
	const uint16_t *device_id = key;

	return op->device_id < *device_id;
}

/* Sums and parts of a process cannot tell. */
static bool may_work_on(const struct gp_model *model, uint16_t device_id)
{
	uint32_t at;

	if (!gp_model_is_whole(model))
		return true;
	at = gp_array_lower_bound(model->ops, model->op_count, sizeof(*model->ops),
				  is_of_lower_device, &device_id);
	return at < model->op_count && model->ops[at].device_id == device_id;
}

struct gp_gpu gp_gpu_of(const struct gp_model *model, uint16_t device_id)
{
	const struct gp_record_device *record = gp_model_device(model, device_id);
	char *rank = model->info[GP_INFO_RANK];
	struct gp_gpu gpu = {.device_id = device_id,
			     .boot = model->info[GP_INFO_BOOT_ID],
			     .host = model->info[GP_INFO_HOST]};

	if (record)
		memcpy(gpu.uuid, record->uuid, sizeof(gpu.uuid));
	if (rank && may_work_on(model, device_id))
		gpu.rank = rank;
	return gpu;
}

bool gp_gpu_has_uuid(const struct gp_gpu *gpu)
{
	static const uint8_t none[sizeof(gpu->uuid)];

	return memcmp(gpu->uuid, none, sizeof(none)) != 0;
}

void gp_gpu_which(const struct gp_gpu *gpu, char text[GP_GPU_WHICH_BYTES])
{
	const uint8_t *uuid = gpu->uuid;

	text[0] = '\0';
	if (gp_gpu_has_uuid(gpu))
		snprintf(text, GP_GPU_WHICH_BYTES, "GPU-%02x%02x%02x%02x", uuid[0], uuid[1],
			 uuid[2], uuid[3]);
	else if (gpu->rank)
		snprintf(text, GP_GPU_WHICH_BYTES, "device %u of rank %.16s", gpu->device_id,
			 gpu->rank);
	else if (gpu->host)
		snprintf(text, GP_GPU_WHICH_BYTES, "device %u on %.64s", gpu->device_id, gpu->host);
}

static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

/* Containers of one machine may have names of their own: the boot id counts if both have it. */
static bool are_of_two_machines(const struct gp_gpu *a, const struct gp_gpu *b)
{
	return a->boot && b->boot ? differ(a->boot, b->boot) : differ(a->host, b->host);
}

bool gp_gpu_is_same(const struct gp_gpu *a, const struct gp_gpu *b)
{
	if (gp_gpu_has_uuid(a) && gp_gpu_has_uuid(b))
		return memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0;
	return a->device_id == b->device_id && !are_of_two_machines(a, b) &&
	       !differ(a->rank, b->rank);
}

static int keep_text(char **text)
{
	char *own = *text ? strdup(*text) : NULL;
	int result = *text && !own ? -ENOMEM : 0;

	*text = own;
	return result;
}

int gp_gpu_keep(struct gp_gpu *gpu)
{
	char **const texts[] = {&gpu->boot, &gpu->host, &gpu->rank};
	int result = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		result |= keep_text(texts[i]);
	return result;
}

void gp_gpu_free(struct gp_gpu *gpu)
{
	free(gpu->boot);
	free(gpu->host);
	free(gpu->rank);
	*gpu = (struct gp_gpu){0};
}

void gp_gpu_learn(struct gp_gpu *kept, const struct gp_gpu *same)
{
	if (!kept->rank && same->rank)
		kept->rank = strdup(same->rank);
}
