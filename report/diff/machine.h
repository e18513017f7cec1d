/*
 * machine: what runs were made on and how they were recorded: what has to be the same for their
 * times, or even their counts, to be comparable.
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
	GP_MACHINE_OPTIONS, /* that say what is recorded */
	GP_MACHINE_PROGRAM,
	GP_MACHINE_FACTS
};

/* Texts are valid UTF-8 without control characters, "" where nothing is known.  Zeroed = empty. */
struct gp_machine {
	char *facts[GP_MACHINE_FACTS];
	/* another recorder than gpuprof made a trace of it: of its options nothing is known */
	bool is_of_others;
};

/* Of the processes of one run.  Returns 0 or -ENOMEM; gp_machine_free() in either case. */
int gp_machine_of(struct gp_model *const *models, size_t model_count, struct gp_machine *machine);
void gp_machine_free(struct gp_machine *machine);

/* "gpus", "driver", ...: names in files. */
const char *gp_machine_fact_name(enum gp_machine_fact fact);

/* The words for people: "GPU", "driver for CUDA", ... */
const char *gp_machine_fact_title(enum gp_machine_fact fact);

/* "" where the fact is absent. */
const char *gp_machine_fact(const struct gp_machine *machine, enum gp_machine_fact fact);

/* The same for people: "the default" or "not known" where it is absent. */
const char *gp_machine_fact_text(const struct gp_machine *machine, enum gp_machine_fact fact);

#endif
