/*
 * devices: the GPUs of several processes, each once.
 *
 * Two processes may number one GPU differently, and two GPUs alike: report/model/same_gpu.h
 * decides.
 */
#ifndef REPORT_MODEL_DEVICES_H
#define REPORT_MODEL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/model/same_gpu.h"

struct gp_device_entry {
	uint16_t device_id; /* as the first process numbers it */
	uint32_t number;    /* our number: device_id, or a free one if another GPU has that */
	/* as the first process sees it; with the rank of the first that works on it */
	struct gp_gpu gpu;
	const struct gp_record_device *record; /* NULL if no process recorded it */
	const struct gp_record_link *pcie;     /* to the host, NULL if not known */
	const char *name;                      /* "" if not known */
};

/* Zeroed = empty. */
struct gp_device_list {
	struct gp_device_entry *entries;
	size_t count;
	uint32_t least_free; /* all lower numbers are taken */
};

void gp_device_list_free(struct gp_device_list *devices);

/* The entry of a model's device; SIZE_MAX if it is not there. */
size_t gp_device_list_known(const struct gp_device_list *devices, const struct gp_model *model,
			    uint16_t device_id);

/*
 * The entry of a model's device, made if it is not there yet; SIZE_MAX if there is no memory.  Of
 * devices that gp_device_list_all() has found, several threads may ask.
 */
size_t gp_device_list_find(struct gp_device_list *devices, const struct gp_model *model,
			   uint16_t device_id);

/*
 * All devices of the models, in the order of their numbers. Returns 0 or -ENOMEM. Call it with an
 * empty list; gp_device_list_find() appends later ones.
 */
int gp_device_list_all(struct gp_device_list *devices, struct gp_model *const *models,
		       size_t model_count);

/*
 * For each device of the list, which has all of the model's: whether the model has operations on it.
 * Free it; NULL: no memory.
 */
bool *gp_device_list_used(struct gp_device_list *devices, const struct gp_model *model);

/* Whether a process numbers one of them otherwise than we do. */
bool gp_device_list_is_renumbered(const struct gp_device_list *devices);

#endif
