#include "report/cli/large_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/base/message.h"
#include "report/load/command.h"
#include "report/load/load_model.h"

static int take(void *context, struct gp_model *model)
{
	struct gp_job *job = context;

	if (!gp_traces_have_run(job->models, job->count, model))
		return gp_job_add(job, model);
	gp_model_free(model);
	return 0;
}

/* A rank, by its number in the job; *model NULL: it can no longer be read, which has a line on stderr. */
static int load(const struct gp_job *job, size_t process, struct gp_model **model)
{
	const struct gp_load_options options = {.save_to = -1, .clocks = &job->fit.clocks};
	const struct gp_model *known = job->models[process];
	char message[GP_MESSAGE_BYTES];
	int result = gp_model_load_with(known->path, &options, model, message, sizeof(message));

	if (result == 0) {
		(*model)->shares_rank = known->shares_rank;
		return 0;
	}
	*model = NULL;
	if (result != -ENOMEM)
		gp_command_fail(0, "%s", message);
	return result == -ENOMEM ? result : 0;
}

static int load_shown(const struct gp_job *job, struct gp_traces *traces)
{
	traces->models = calloc(job->shown_count + 1, sizeof(*traces->models));
	for (uint32_t i = 0; i < job->shown_count; i++) {
		struct gp_model **model = &traces->models[traces->count];
		int result = load(job, job->shown[i], model);

		if (result != 0)
			return result;
		traces->count += *model != NULL;
	}
	return traces->count > 0 ? 0 : -ENODATA;
}

int gp_large_job_each(const struct gp_job *job, int (*use)(void *context, struct gp_model *rank),
		      void *context)
{
	int result = 0;

	for (uint32_t i = 0; i < job->ranks.count && result == 0; i++) {
		struct gp_model *model;

		result = load(job, job->ranks.rows[i].process, &model);
		if (result == 0 && model)
			result = use(context, model);
		gp_model_free(model);
	}
	return result;
}

static int compare(struct gp_job *job, char *const *paths, size_t count, bool *any_failed)
{
	int result = gp_traces_each(paths, count, take, job, any_failed);

	if (result == 0 && job->count < 2)
		result = -ENODATA;
	return result == 0 ? gp_job_end(job) : result;
}

/* traces NULL: without the ranks that are shown. */
static int compare_and_load(struct gp_job *job, struct gp_traces *traces, char *const *paths,
			    size_t count, bool *any_failed)
{
	int result;

	*job = (struct gp_job){0};
	if (!gp_traces_are_many(paths, count, GP_JOB_SHOWN))
		return -ENODATA;
	gp_command_hold();
	result = compare(job, paths, count, any_failed);
	if (result == 0 && traces)
		result = load_shown(job, traces);
	gp_command_release(result != -ENODATA);
	return result;
}

int gp_large_job_load(struct gp_job *job, struct gp_traces *traces, char *const *paths,
		      size_t count)
{
	*traces = (struct gp_traces){0};
	return compare_and_load(job, traces, paths, count, &traces->any_failed);
}

int gp_large_job_compare(struct gp_job *job, char *const *paths, size_t count, bool *any_failed)
{
	return compare_and_load(job, NULL, paths, count, any_failed);
}

void gp_large_job_explain(const struct gp_job *job, const char *what)
{
	fprintf(stderr, "gpuprof: %s about ", what);
	gp_job_print_shown(job, stderr);
	fputs("\n", stderr);
}
