/* process_name: the name of a process in reports, by rank in a job or by pid; processes by rank. */
#ifndef REPORT_MODEL_PROCESS_NAME_H
#define REPORT_MODEL_PROCESS_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"

/* The rank of a process in its job; GP_NONE = none, the only one of its job, or not a number. */
uint32_t gp_model_rank(const struct gp_model *model);

/* The number of ranks of its job; 0 = unknown. */
uint32_t gp_model_world_size(const struct gp_model *model);

/* The same, if all of these that have a rank agree, and their ranks are below it. */
uint32_t gp_models_world_size(struct gp_model *const *models, size_t count);

/* Whether these are all ranks of their job, each once. */
bool gp_models_have_all_ranks(struct gp_model *const *models, size_t count);

struct gp_process_name {
	char text[40];
};

/* "rank 17", "rank 17, pid 1153" if several processes have that rank, or "pid 1153". */
struct gp_process_name gp_process_name(const struct gp_model *model);

/*
 * Sorts the models by rank. Those without one follow in their order. Marks models that share a
 * rank, for gp_process_name(). Returns 0 or -ENOMEM.
 */
int gp_process_order(struct gp_model **models, size_t count);

#endif
