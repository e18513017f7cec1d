/*
 * machine: the machine of a run and the options of its recording.  Times, or even counts, of runs
 * are comparable only if these are equal.
 */
#ifndef REPORT_DIFF_MACHINE_H
#define REPORT_DIFF_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model/model.h"

enum gp_machine_fact {
	GP_MACHINE_GPUS, /* each with its SMs, memory, compute capability and clock */
	GP_MACHINE_DRIVER,
	GP_MACHINE_CUPTI,
	GP_MACHINE_GPUPROF,
	GP_MACHINE_OPTIONS, /* those that decide which data is recorded */
	GP_MACHINE_PROGRAM,
	GP_MACHINE_FACTS
};

/* Texts are valid UTF-8 without control characters, "" if unknown.  Zeroed = empty. */
struct gp_machine {
	char *facts[GP_MACHINE_FACTS];
	/* another profiler recorded one of its traces: the options are unknown */
	bool is_of_others;
};

/* The models are one run.  Returns 0 or -ENOMEM; call gp_machine_free() in either case. */
int gp_machine_of(struct gp_model *const *models, size_t model_count, struct gp_machine *machine);
void gp_machine_free(struct gp_machine *machine);

/*
 * Returns "8 x NVIDIA H200, ..." for a text that names each GPU, as older baselines do; free it.
 * NULL: no memory.
 */
char *gp_machine_join_gpus(const char *gpus);

/* Whether it recorded with --sample, so that totals are unknown. */
bool gp_machine_is_sampled(const struct gp_machine *machine);

/* "gpus", "driver", ...: the name in files. */
const char *gp_machine_fact_name(enum gp_machine_fact fact);

/* The title for people: "GPU", "driver for CUDA", ... */
const char *gp_machine_fact_title(enum gp_machine_fact fact);

/* Whether the first GPUs of both have another name, as far as it is known. */
bool gp_machine_has_other_gpu(const struct gp_machine *a, const struct gp_machine *b);

/* "" if the fact is unknown. */
const char *gp_machine_fact(const struct gp_machine *machine, enum gp_machine_fact fact);

/* The same for people: "the default" or "unknown" instead of "". */
const char *gp_machine_fact_text(const struct gp_machine *machine, enum gp_machine_fact fact);

#endif
