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

static int load_shown(const struct gp_job *job, struct gp_traces *traces)
{
	const struct gp_load_options options = {.save_to = -1, .clocks = &job->fit.clocks};
	char message[GP_MESSAGE_BYTES];

	traces->models = calloc(job->shown_count + 1, sizeof(*traces->models));
	if (!traces->models)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->shown_count; i++) {
		const struct gp_model *model = job->models[job->shown[i]];
		int result =
			gp_model_load_with(model->path, &options, &traces->models[traces->count],
					   message, sizeof(message));

		if (result == -ENOMEM)
			return result;
		if (result == 0)
			traces->models[traces->count++]->shares_rank = model->shares_rank;
		else
			gp_command_fail(0, "%s", message);
	}
	return traces->count > 0 ? 0 : -ENODATA;
}

static int load(struct gp_job *job, struct gp_traces *traces, char *const *paths, size_t count)
{
	bool any_failed = false;
	int result = gp_traces_each(paths, count, take, job, &any_failed);

	if (result == 0 && job->count < 2)
		result = -ENODATA;
	if (result == 0)
		result = gp_job_end(job);
	if (result == 0)
		result = load_shown(job, traces);
	traces->any_failed = any_failed;
	return result;
}

int gp_large_job_load(struct gp_job *job, struct gp_traces *traces, char *const *paths,
		      size_t count)
{
	int result;

	*job = (struct gp_job){0};
	*traces = (struct gp_traces){0};
	if (!gp_traces_are_many(paths, count, GP_JOB_SHOWN))
		return -ENODATA;
	gp_command_hold();
	result = load(job, traces, paths, count);
	gp_command_release(result != -ENODATA);
	return result;
}

void gp_large_job_explain(const struct gp_job *job, const char *what)
{
	fprintf(stderr, "gpuprof: %s about ", what);
	gp_job_print_shown(job, stderr);
	fputs("\n", stderr);
}
