/*
 * Errors that nobody looked at.  Speaks where calls of one place that launch, copy, allocate or wait
 * failed with the same error at least 3 times: a program that looks does something else after the
 * first or second.  After an error of the GPU itself every call fails, wherever it is: all of them
 * are one case, at the place that was told first.  Frees while the driver shuts down are no errors
 * of the program.
 */
#include "report/rules/rules.h"

#include "report/activity.h"
#include "report/answers/failures.h"
#include "report/cuda_names.h"
#include "report/format.h"
#include "report/rules/advisor.h"

#define DRIVER_SHUTTING_DOWN 4
#define LASTING              GP_NO_SITE /* in place of a function: of all of them */

/* Detail: the function's number, or LASTING; other_detail: the error; extra: when the first was. */

/* Errors after which a process's context cannot be used any more. */
static bool is_lasting(uint16_t code)
{
	return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

static struct gp_case *lasting_case(struct gp_advisor *advisor, const struct gp_call *call)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, LASTING, call->status);
	uint64_t unix_ns = advisor->model->base_unix_ns + call->start_ns;

	if (found->count == 0 || unix_ns < found->extra) {
		found->extra = unix_ns;
		found->site = gp_advisor_site(advisor, call);
	}
	return found;
}

static void take(struct gp_advisor *advisor, const struct gp_call *call)
{
	struct gp_api api = gp_model_api(advisor->model, call->api);
	uint64_t code = call->status | (uint64_t)GP_API_IS_DRIVER(call->api) << 16;
	struct gp_case *found;

	if (is_lasting(call->status))
		found = lasting_case(advisor, call);
	else if (gp_failure_is_of_work(api.class) && call->status != DRIVER_SHUTTING_DOWN)
		found = gp_advisor_case(advisor, gp_advisor_site(advisor, call),
					gp_advisor_text(advisor, api.name), code);
	else
		return;
	gp_advisor_add(advisor, found, call->start_ns, call->duration_ns, 0, NULL);
	gp_advisor_show(advisor, found, call);
}

static void look(struct gp_advisor *advisor)
{
	for (uint32_t i = 0; i < advisor->model->call_count && advisor->error == 0; i++)
		if (gp_activity_is_failure(advisor->model, &advisor->model->calls[i]))
			take(advisor, &advisor->model->calls[i]);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	char error[GP_FAILURE_ERROR_BYTES];

	gp_failure_error(error, (uint16_t)found->other_detail, found->other_detail >> 16 != 0);
	if (found->detail == LASTING)
		fprintf(out, "%s: it was told first here, and %s calls failed with it", error,
			gp_format_count(found->count).text);
	else
		fprintf(out, "%s failed %s times: %s, and the program went on",
			gp_advisor_text_of(advisor, found->detail),
			gp_format_count(found->count).text, error);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	if (found->detail == LASTING)
		fputs("a kernel before it did that; compute-sanitizer names it. No call works "
		      "after it: end at the first error",
		      out);
	else
		fputs("look at what the call returns, after <<<>>> at cudaGetLastError(): what "
		      "was to be done was not done",
		      out);
}

const struct gp_rule gp_rule_failed_calls = {
	.id = "failed-calls",
	.title = "calls fail, and the program goes on",
	.meaning =
		"The same call failed with the same error again and again. What it was to do was "
		"not done: a kernel that could not be launched computed nothing, and what is "
		"computed from its results is wrong, however fast. Errors of the GPU itself, such "
		"as an illegal memory access, are told by whatever call comes next, and by every "
		"one after that.",
	.change = "Check what every call returns, and cudaGetLastError() after <<<>>>; end, or do "
		  "without, at the first error. `gpuprof summary --by failure` shows every error "
		  "and where it came from; compute-sanitizer finds the kernel behind an illegal "
		  "access. PyTorch: CUDA_LAUNCH_BLOCKING=1 lets the launch itself fail.",
	.ignore = "The program tries what may fail, and has another way: an allocation that is "
		  "tried again after a cache was given up, say.",
	.threshold = {.count = 3},
	.is_of_results = true,
	.look = look,
	.tell = tell,
	.advise = advise,
};
