/*
 * gpu_numbers: an export's numbers for the GPUs of several processes, one process after the other.
 *
 * As in report/model/devices.h, but no model is needed once the next one comes. With one process,
 * the numbers are those of the process.
 */
#ifndef REPORT_MODEL_GPU_NUMBERS_H
#define REPORT_MODEL_GPU_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/model/same_gpu.h"

struct gp_gpu_number {
	struct gp_gpu gpu; /* kept */
	uint32_t number;
};

/* Zeroed = empty. */
struct gp_gpu_numbers {
	struct gp_gpu_number *gpus;
	uint32_t count, capacity;
	uint32_t known; /* of earlier models: two GPUs of one process stay two */
	uint32_t of_device[GP_DEVICE_LIMIT]; /* index in gpus of the model's devices, or GP_NONE */
};

void gp_gpu_numbers_free(struct gp_gpu_numbers *numbers);

/* The next calls are about another process. */
void gp_gpu_numbers_next(struct gp_gpu_numbers *numbers);

/*
 * The number of a device of the model; *is_new, if not NULL, is whether no process had it before.
 * Without memory, device_id.
 */
uint32_t gp_gpu_numbers_find(struct gp_gpu_numbers *numbers, const struct gp_model *model,
			     uint16_t device_id, bool *is_new);

#endif
