/*
 * Code that the driver compiles while the program runs.  Speaks where that took 3 % of the recorded
 * time and 10 ms in which the GPU had nothing to do.
 */
#include "report/rules/rules.h"

#include "report/cuda_names.h"
#include "report/format.h"
#include "report/rules/advisor.h"
#include "report/rules/code.h"

/* Whether the call is made by a compiler that the program runs: what that makes nobody can compile beforehand. */
static bool makes_code(const struct gp_advisor *advisor, const struct gp_call *call)
{
	uint8_t compiler = call->stack == GP_NONE ? GP_COMPILER_NONE
						  : advisor->tuning->marks[call->stack].compiler;

	return compiler != GP_COMPILER_NONE && compiler != GP_COMPILER_IMPORT;
}

/* Who had it compiled, where calls of that class are recorded. */
static void vote(struct gp_advisor *advisor)
{
	const struct gp_call_list *loads = gp_advisor_calls(advisor, GP_API_MODULE);

	for (uint32_t i = 0; i < loads->count && advisor->error == 0; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, loads, i);
		struct gp_case *found;

		if (!gp_call_compiles(advisor->model, call))
			continue;
		found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
		gp_advisor_vote(found, gp_advisor_site(advisor, call), call->duration_ns);
		gp_advisor_show(advisor, found, call);
		if (makes_code(advisor, call))
			found->extra++;
	}
}

/* Threads that compile at the same time save it once: jits are in the order of their starts. */
static void look(struct gp_advisor *advisor)
{
	uint64_t reached_ns = 0;
	bool any = false;

	for (uint32_t i = 0; i < advisor->model->jit_count; i++) {
		const struct gp_record_jit *jit = &advisor->model->jits[i];
		uint64_t from_ns = jit->start_ns > reached_ns ? jit->start_ns : reached_ns;
		uint64_t alone_ns = jit->end_ns > from_ns ? jit->end_ns - from_ns : 0;

		if (!gp_jit_op_compiles(jit->op_kind) || jit->end_ns <= jit->start_ns)
			continue;
		gp_advisor_add(advisor, gp_advisor_case(advisor, GP_NO_SITE, 0, 0), jit->start_ns,
			       jit->end_ns - jit->start_ns,
			       alone_ns > 0 ? alone_ns - gp_advisor_busy_ns(advisor, jit->device_id,
									    from_ns, jit->end_ns)
					    : 0,
			       NULL);
		if (jit->end_ns > reached_ns)
			reached_ns = jit->end_ns;
		any = true;
	}
	if (any)
		vote(advisor);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out, "the driver compiled code for this GPU %s time%s, for %s in all",
		gp_format_count(found->count).text, found->count == 1 ? "" : "s",
		gp_format_ns(found->time_ns).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out, "%s the compute cache (CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE)",
		found->extra > 0
			? "it is code that was made at run time: call it once before what is "
			  "measured, and keep"
			: "compile for this GPU beforehand (nvcc -arch=native, -gencode for "
			  "each), or keep");
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
	.is_once = true,
	.look = look,
	.tell = tell,
	.advise = advise,
};
