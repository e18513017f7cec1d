/*
 * Code that is loaded or compiled when it is first used.
 *
 * first-use speaks where loading code kept the GPU idle, between its first operation and its last,
 * for 3 % of the recorded time and 20 ms in all. jit-compile speaks where the driver compiled code
 * for 3 % of the recorded time and 10 ms.
 */
#include "report/rules/rules.h"

#include "report/array.h"
#include "report/cuda_names.h"
#include "report/format.h"
#include "report/rules/advisor.h"

/*
 * Whether a call loads code: launches do, when their kernel is used first; then a call of that
 * class is inside.
 */
static bool loads_code(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return gp_advisor_class(advisor, call) == GP_API_MODULE;
}

static bool starts_before(const void *element, const void *key)
{
	const struct gp_record_jit *jit = element;
	const uint64_t *time_ns = key;

	return jit->start_ns < *time_ns;
}

/* What jit-compile is about. */
static bool compiles(const struct gp_model *model, const struct gp_call *call)
{
	uint32_t at = gp_array_lower_bound(model->jits, model->jit_count, sizeof(*model->jits),
					   starts_before, &call->start_ns);

	for (; at < model->jit_count && model->jits[at].start_ns < gp_call_end_ns(call); at++)
		if (gp_jit_op_compiles(model->jits[at].op_kind))
			return true;
	return false;
}

static void look_for_loading(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	uint64_t until_ns = 0;

	for (uint32_t i = 0; i < model->call_count && advisor->error == 0; i++) {
		const struct gp_call *call = &model->calls[i];
		uint16_t device = gp_model_context_device(model, call->context_id);
		struct gp_lull *lull;
		uint64_t idle_ns;
		struct gp_case *found;

		if (i > 0 && call->thread_id != model->calls[i - 1].thread_id)
			until_ns = 0;
		if (!loads_code(advisor, call) || call->start_ns < until_ns)
			continue;
		until_ns = gp_call_end_ns(call);
		lull = gp_advisor_lull_at(advisor, device, call->start_ns + call->duration_ns / 2);
		idle_ns = lull ? call->duration_ns - gp_advisor_busy_ns(advisor, device,
									call->start_ns, until_ns)
			       : 0;
		if (idle_ns == 0 || compiles(model, call))
			continue;
		found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
		gp_advisor_add(advisor, found, call->duration_ns, idle_ns,
			       idle_ns * 2 >= gp_lull_ns(lull) ? lull : NULL);
		gp_advisor_vote(found, gp_advisor_site(advisor, call), idle_ns);
	}
}

static void tell_loading(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out,
		"code was loaded %s times while the GPU had work before and after, %s in all: "
		"kernels are loaded when they are first used",
		gp_format_count(found->count).text, gp_format_ns(found->time_ns).text);
}

static void advise_loading(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("run each kernel once before what is measured; CUDA_MODULE_LOADING=EAGER loads all "
	      "at the start",
	      out);
}

const struct gp_rule gp_rule_first_use = {
	.id = "first-use",
	.title = "code is loaded amid the work",
	.meaning = "CUDA loads the code of a kernel, and of the library that it is in, when it is "
		   "first launched (lazy loading): milliseconds in which the host is in the launch "
		   "and "
		   "the GPU idle. It happens once in a process, but counts in a short run and in "
		   "whatever is measured.",
	.change = "Leave the first iterations out of measurements, and of the recording (--delay, "
		  "--capture-range). Warm up each shape that is used. CUDA_MODULE_LOADING=EAGER "
		  "moves "
		  "it all to the start, and loads what is never used, too.",
	.ignore = "The program runs for long: then it is over soon.",
	.threshold = {.saves_percent = 3, .saves_ns = 20000000, .count = 1},
	.look = look_for_loading,
	.tell = tell_loading,
	.advise = advise_loading,
};

/* Who had it compiled, where calls of that class are recorded. */
static void vote_for_compiling(struct gp_advisor *advisor)
{
	for (uint32_t i = 0; i < advisor->model->call_count && advisor->error == 0; i++) {
		const struct gp_call *call = &advisor->model->calls[i];

		if (loads_code(advisor, call) && compiles(advisor->model, call))
			gp_advisor_vote(gp_advisor_case(advisor, GP_NO_SITE, 0, 0),
					gp_advisor_site(advisor, call), call->duration_ns);
	}
}

static void look_for_compiling(struct gp_advisor *advisor)
{
	bool any = false;

	for (uint32_t i = 0; i < advisor->model->jit_count; i++) {
		const struct gp_record_jit *jit = &advisor->model->jits[i];
		uint64_t took_ns = jit->end_ns - jit->start_ns;

		if (!gp_jit_op_compiles(jit->op_kind) || jit->end_ns <= jit->start_ns)
			continue;
		gp_advisor_add(advisor, gp_advisor_case(advisor, GP_NO_SITE, 0, 0), took_ns,
			       took_ns, NULL);
		any = true;
	}
	if (any)
		vote_for_compiling(advisor);
}

static void tell_compiling(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out, "the driver compiled %s piece%s of code, for %s in all",
		gp_format_count(found->count).text, found->count == 1 ? "" : "s",
		gp_format_ns(found->time_ns).text);
}

static void advise_compiling(const struct gp_advisor *advisor, const struct gp_case *found,
			     FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("compile for this GPU beforehand (nvcc -arch=native, -gencode for each), or keep "
	      "the compute cache (CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE)",
	      out);
}

const struct gp_rule gp_rule_jit_compile = {
	.id = "jit-compile",
	.title = "the driver compiles kernels while the program runs",
	.meaning = "The program brings PTX, or code for other GPUs than this one, and the driver "
		   "compiles "
		   "it at its first use. It keeps the result in a cache on disk, unless that is "
		   "too small, "
		   "switched off, or new each time, as in a container.",
	.change = "Build with -gencode for every GPU that is used. Or let the cache stay: "
		  "CUDA_CACHE_PATH on a volume, CUDA_CACHE_MAXSIZE large enough, "
		  "CUDA_CACHE_DISABLE not set.",
	.ignore = "The code is made at run time on purpose and differs each time.",
	.threshold = {.saves_percent = 3, .saves_ns = 10000000, .count = 1},
	.look = look_for_compiling,
	.tell = tell_compiling,
	.advise = advise_compiling,
};
