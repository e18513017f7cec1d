/* The ranks of a job, one after the other. */
#include "report/tables/by/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/analysis.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/text/format.h"
#include "report/model/process_name.h"

/* Its main loop needs the analysis of the model. */
static int add_row(struct gp_job *job, struct gp_model *model, size_t process)
{
	struct gp_model *const models[] = {model};
	struct gp_scope scope;
	int result = gp_scope_open(&scope, models, 1, true);
	const struct gp_analysis *analysis = result == 0 ? gp_scope_analysis(&scope) : NULL;

	result = analysis ? gp_ranks_add(&job->ranks, job->fit.kinds, model, process,
					 &analysis->steps[0])
			  : -ENOMEM;
	gp_scope_close(&scope);
	return result;
}

int gp_job_add(struct gp_job *job, struct gp_model *model)
{
	int result = gp_model_rank(model) == GP_NONE ? -ENODATA : 0;
	uint32_t process = job->fit.process_count;

	if (result == 0) {
		gp_array_grow(&job->models, &job->capacity, job->count, sizeof(struct gp_model *));
		gp_array_grow(&job->activities, &job->activity_capacity, job->count,
			      sizeof(*job->activities));
	}
	if (result == 0)
		result = gp_clock_fit_add(&job->fit, model);
	if (result == 0)
		result = add_row(job, model, process);
	if (result == 0)
		result = gp_rank_activity_of(model, job->fit.kinds, &job->activities[job->count]);
	if (result != 0) {
		gp_model_free(model);
		return result;
	}
	gp_model_shrink(model);
	job->models[job->count++] = model;
	return 0;
}

/* Marks those that share a rank; the order stays. */
static int mark_shared(const struct gp_job *job)
{
	struct gp_model **models = calloc((size_t)job->count + 1, sizeof(struct gp_model *));
	int result;

	memcpy((void *)models, (const void *)job->models, job->count * sizeof(struct gp_model *));
	result = gp_process_order(models, job->count);
	free((void *)models);
	return result;
}

/* The start of each rank is aligned, too, but for the drift since its first record. */
static void set_clocks(const struct gp_job *job)
{
	for (uint32_t i = 0; i < job->count; i++) {
		struct gp_model *model = job->models[i];
		const struct gp_host_clock *clock =
			gp_host_clock_find(&job->fit.clocks, model->info[GP_INFO_BOOT_ID]);

		if (!clock)
			continue;
		model->clock = *clock;
		if (clock->is_known)
			model->base_unix_ns =
				gp_host_clock_unix_ns(clock, model->base_monotonic_ns);
	}
}

/* ---- the ranks that are shown ---- */

static void show(struct gp_job *job, size_t process)
{
	for (uint32_t i = 0; i < job->shown_count; i++)
		if (job->shown[i] == process)
			return;
	if (job->shown_count < GP_JOB_SHOWN)
		job->shown[job->shown_count++] = (uint32_t)process;
}

static int compare_held_up(const void *a, const void *b, const void *context)
{
	const struct gp_rank_row *left = a, *right = b;
	uint64_t left_ns = left->values[GP_RANK_HELD_UP].whole;
	uint64_t right_ns = right->values[GP_RANK_HELD_UP].whole;

	(void)context;
	return left_ns != right_ns ? (left_ns < right_ns ? 1 : -1)
				   : (left->rank > right->rank) - (left->rank < right->rank);
}

static int compare_numbers(const void *a, const void *b, const void *context)
{
	const struct gp_job *job = context;
	const uint32_t *left = a, *right = b;
	uint32_t left_rank = gp_model_rank(job->models[*left]);
	uint32_t right_rank = gp_model_rank(job->models[*right]);

	return (left_rank > right_rank) - (left_rank < right_rank);
}

/* The two that the others wait for longest, and waiting ones; the lowest rank; the next late ones. */
static int choose(struct gp_job *job)
{
	uint32_t *order = gp_array_order(job->ranks.rows, job->ranks.count,
					 sizeof(*job->ranks.rows), compare_held_up, NULL);

	for (uint32_t i = 0; i < job->ranks.count && job->shown_count < GP_JOB_SHOWN; i++) {
		const struct gp_rank_row *row = &job->ranks.rows[order[i]];

		if (i == 2)
			show(job, job->ranks.rows[0].process);
		show(job, row->process);
		for (uint32_t k = 0; k < row->peer_count; k++)
			show(job, row->peers[k]);
	}
	gp_spill_free(order);
	gp_array_sort(job->shown, job->shown_count, sizeof(*job->shown), compare_numbers, job);
	return 0;
}

int gp_job_end(struct gp_job *job)
{
	int result = mark_shared(job);

	if (result == 0)
		result = gp_clock_fit_solve(&job->fit);
	if (result == 0)
		result = gp_ranks_end(&job->ranks, &job->fit.collectives, job->count);
	if (result == 0)
		result = gp_bus_bandwidths_of(job->models, job->count, &job->fit.collectives,
					      &job->bandwidths);
	if (result == 0)
		result = gp_collective_ranks_of(&job->fit.collectives, &job->collective_ranks);
	if (result == 0)
		result = gp_what_if_of(&job->fit.collectives, &job->what_if);
	if (result == 0)
		result = gp_axes_find(&job->axes, job->models, job->count, &job->fit.collectives);
	set_clocks(job);
	gp_collectives_free(&job->fit.collectives);
	return result == 0 ? choose(job) : result;
}

void gp_job_print_shown(const struct gp_job *job, FILE *out)
{
	fprintf(out, "%u of %s ranks, those that the others wait for longest and some that wait: ",
		job->shown_count, gp_format_count(job->count).text);
	for (uint32_t i = 0; i < job->shown_count; i++)
		fprintf(out, "%s%u", i > 0 ? ", " : "", gp_model_rank(job->models[job->shown[i]]));
}

void gp_job_free(struct gp_job *job)
{
	for (uint32_t i = 0; i < job->count; i++)
		gp_model_free(job->models[i]);
	free((void *)job->models);
	free(job->activities);
	gp_ranks_free(&job->ranks);
	gp_bus_bandwidths_free(&job->bandwidths);
	gp_axes_free(&job->axes);
	gp_tally_free(&job->collective_ranks);
	gp_clock_fit_free(&job->fit);
	*job = (struct gp_job){0};
}
