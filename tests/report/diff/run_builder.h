/* run_builder: sets of runs with made-up figures, for the tests of what compares runs. */
#ifndef TESTS_REPORT_DIFF_RUN_BUILDER_H
#define TESTS_REPORT_DIFF_RUN_BUILDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/run_set.h"

static inline void *run_memory(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	if (!memory)
		abort();
	return memory;
}

/*
 * Runs whose metrics are all 0 and that have so many kernels, each launched once: "kernel_00", ...
 */
static inline struct gp_run_set runs_make(uint32_t count, uint32_t kernel_count)
{
	struct gp_run_set set = {.runs = run_memory(count, sizeof(*set.runs)), .count = count};

	for (uint32_t i = 0; i < count; i++) {
		struct gp_named_list *kernels = &set.runs[i].figures.named[GP_NAMED_KERNEL];

		set.runs[i].name = strdup("run");
		kernels->count = kernel_count;
		kernels->rows = run_memory(kernel_count, sizeof(*kernels->rows));
		for (uint32_t k = 0; k < kernel_count; k++) {
			kernels->rows[k].name = run_memory(16, 1);
			snprintf(kernels->rows[k].name, 16, "kernel_%02u", k % 100);
			kernels->rows[k].count = 1;
		}
	}
	return set;
}

/* Add a row to each run. */
static inline void runs_name(struct gp_run_set *set, enum gp_named_kind kind, const char *name,
			     double count, double total_ns)
{
	for (uint32_t i = 0; i < set->count; i++) {
		struct gp_named_list *list = &set->runs[i].figures.named[kind];

		list->rows = realloc(list->rows, (list->count + 1) * sizeof(*list->rows));
		if (!list->rows)
			abort();
		list->rows[list->count++] = (struct gp_named_figure){
			.name = strdup(name), .count = count, .total_ns = total_ns};
		gp_named_sort(list);
	}
}

static inline void runs_set(struct gp_run_set *set, enum gp_metric metric, double value)
{
	for (uint32_t i = 0; i < set->count; i++)
		set->runs[i].figures.values[metric] = value;
}

/* All times of a run: each kernel's is its share of what all take. */
static inline void runs_vary(struct gp_run_set *set, uint32_t run, double total_ns)
{
	struct gp_named_list *kernels = &set->runs[run].figures.named[GP_NAMED_KERNEL];

	for (int metric = 0; metric < GP_METRICS; metric++)
		set->runs[run].figures.values[metric] = total_ns;
	for (uint32_t k = 0; k < kernels->count; k++)
		kernels->rows[k].total_ns = total_ns / kernels->count;
}

static inline void runs_fact(struct gp_run_set *set, enum gp_machine_fact fact, const char *text)
{
	free(set->machine.facts[fact]);
	set->machine.facts[fact] = strdup(text);
}

#endif
