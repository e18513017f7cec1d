#include "report/cli/pile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/message.h"
#include "report/base/spill_memory.h"
#include "report/base/text/format.h"
#include "report/import/import.h"
#include "report/load/command.h"
#include "report/load/load_model.h"
#include "report/load/traces.h"
#include "report/trace/trace_place.h"

struct gp_pile_process {
	const char *path;
	uint32_t number; /* in its file */
	struct gp_trace_place place;
	bool shares_rank; /* with another one */
	bool failed;      /* and reported */
	bool warned;      /* loaded once, and its losses reported */
};

static const struct gp_model *get(void *context, size_t index)
{
	struct gp_pile *pile = context;
	struct gp_pile_process *process = &pile->processes[index];
	const struct gp_load_options options = {
		.save_to = -1, .process = process->number, .clocks = pile->clocks};
	char message[GP_MESSAGE_BYTES];

	if (process->failed || (pile->model && pile->at == index))
		return process->failed ? NULL : pile->model;
	gp_model_free(pile->model);
	pile->model = NULL;
	pile->at = index;
	if (gp_model_load_with(process->path, &options, &pile->model, message, sizeof(message)) ==
	    0) {
		pile->model->shares_rank = process->shares_rank;
		if (!process->warned)
			gp_traces_warn(pile->model);
		process->warned = true;
		return pile->model;
	}
	process->failed = pile->any_failed = true;
	gp_command_fail(0, "%s", message);
	return NULL;
}

/* Adds the processes of a trace file, which must live as long as the pile. */
static void add(struct gp_pile *pile, const char *path)
{
	uint32_t count = gp_import_process_count(path);

	for (uint32_t i = 0; i < count; i++) {
		gp_array_grow(&pile->processes, &pile->capacity, pile->count,
			      sizeof(*pile->processes));
		pile->processes[pile->count++] =
			(struct gp_pile_process){.path = path, .number = i};
	}
}

static bool are_of_several_hosts(const struct gp_pile *pile)
{
	const char *first = "";

	for (uint32_t i = 0; i < pile->count; i++) {
		const char *id = pile->processes[i].place.boot_id;

		if (*id && *first && strcmp(first, id) != 0)
			return true;
		first = *id ? id : first;
	}
	return false;
}

static int compare_ranks(const void *a, const void *b, const void *context)
{
	const struct gp_pile_process *left = a, *right = b;

	(void)context;
	return strcmp(left->place.rank, right->place.rank);
}

static void mark_shared(struct gp_pile *pile)
{
	struct gp_pile_process *processes = pile->processes;
	uint32_t *order =
		gp_array_order(processes, pile->count, sizeof(*processes), compare_ranks, NULL);

	for (uint32_t i = 1; i < pile->count; i++) {
		struct gp_pile_process *one = &processes[order[i - 1]];
		struct gp_pile_process *next = &processes[order[i]];

		if (*one->place.rank && strcmp(one->place.rank, next->place.rank) == 0)
			one->shares_rank = next->shares_rank = true;
	}
	gp_spill_free(order);
}

static void explain_clocks(const struct gp_host_clocks *clocks)
{
	uint32_t aligned = 0;
	uint64_t error_ns = 0;

	for (uint32_t i = 0; i < clocks->count; i++) {
		aligned += clocks->hosts[i].is_known;
		if (clocks->hosts[i].is_known && clocks->hosts[i].error_ns > error_ns)
			error_ns = clocks->hosts[i].error_ns;
	}
	if (aligned == clocks->count)
		fprintf(stderr,
			"gpuprof: the clocks of %u hosts are aligned by collective operations, within %s\n",
			clocks->count, gp_format_ns(error_ns).text);
	else
		fprintf(stderr,
			"gpuprof: %u of %u hosts (or boots of one host) are aligned by wall clocks only, which may differ by milliseconds: too few collective operations end at the same time\n",
			clocks->count - aligned, clocks->count);
}

/* Loads each model once more, to find the clocks of their hosts. */
static void align(struct gp_pile *pile)
{
	if (!are_of_several_hosts(pile))
		return;
	for (uint32_t i = 0; i < pile->count; i++) {
		const struct gp_model *model = get(pile, i);

		if (model)
			gp_clock_fit_add(&pile->fit, model);
	}
	gp_clock_fit_solve(&pile->fit);
	gp_model_free(pile->model);
	pile->model = NULL;
	pile->clocks = &pile->fit.clocks;
	explain_clocks(pile->clocks);
}

void gp_pile_open(struct gp_pile *pile, char **paths, size_t count)
{
	char message[GP_MESSAGE_BYTES];

	gp_traces_name_once(paths, &count);
	for (size_t i = 0; i < count; i++)
		if (gp_trace_files_add(&pile->files, paths[i], message, sizeof(message)) != 0) {
			gp_command_fail(0, "%s", message);
			pile->any_failed = true;
		}
	for (uint32_t i = 0; i < pile->files.count; i++)
		add(pile, pile->files.files[i].path);
	for (uint32_t i = 0; i < pile->count; i++)
		pile->processes[i].place = gp_trace_place_of(pile->processes[i].path);
	mark_shared(pile);
	align(pile);
}

struct gp_export_source gp_pile_source(struct gp_pile *pile)
{
	return (struct gp_export_source){.count = pile->count, .get = get, .context = pile};
}

void gp_pile_close(struct gp_pile *pile)
{
	gp_model_free(pile->model);
	gp_clock_fit_free(&pile->fit);
	free(pile->processes);
	gp_trace_files_free(&pile->files);
	*pile = (struct gp_pile){0};
}
