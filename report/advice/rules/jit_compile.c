#include "report/advice/rules/rules.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/code.h"

struct own {
	uint64_t calls_ns; /* of the calls in which it compiled; 0 = unknown */
	bool is_made;      /* a compiler in the program generated the code */
};

/* Whether a compiler in the program makes the call: its code cannot be compiled beforehand. */
static bool makes_code(const struct gp_advisor *advisor, const struct gp_call *call)
{
	uint8_t compiler = call->stack == GP_NONE ? GP_COMPILER_NONE
						  : advisor->tuning->marks[call->stack].compiler;

	return compiler != GP_COMPILER_NONE && compiler != GP_COMPILER_IMPORT;
}

/* Time of the driver's compiler, on the process's timeline. */
struct span {
	uint64_t start_ns, end_ns;
	uint16_t device_id;
};

struct spans {
	struct span *rows;
	uint32_t count, capacity;
};

static void note_time(struct spans *spans, struct span span)
{
	gp_array_grow(&spans->rows, &spans->capacity, spans->count, sizeof(span));
	spans->rows[spans->count++] = span;
}

static void take_compilations(struct gp_advisor *advisor, struct spans *spans)
{
	for (uint32_t i = 0; i < advisor->model->jit_count; i++) {
		const struct gp_record_jit *jit = &advisor->model->jits[i];

		if (!gp_jit_op_compiles(jit->op_kind) || jit->end_ns <= jit->start_ns)
			continue;
		gp_advisor_add(advisor, gp_advisor_case(advisor, GP_NO_SITE, 0, 0), jit->start_ns,
			       jit->end_ns - jit->start_ns, 0, NULL);
		note_time(spans, (struct span){jit->start_ns, jit->end_ns, jit->device_id});
	}
}

/* A call explains a gap of which it is half or more. */
static void explain_idle_gap(struct gp_advisor *advisor, const struct gp_case *found,
			     const struct gp_call *call)
{
	uint16_t device_id = gp_model_context_device(advisor->model, call->context_id);
	struct gp_idle_gap *idle_gap =
		gp_advisor_idle_gap_at(advisor, device_id, call->start_ns + call->duration_ns / 2);

	if (idle_gap && idle_gap->told == GP_NONE &&
	    call->duration_ns * 2 >= gp_idle_gap_ns(idle_gap))
		gp_advisor_tell(advisor, found, idle_gap);
}

/* A call that loads or launches code: its time to read and write the cache is saved, too. */
static void take_call(struct gp_advisor *advisor, const struct gp_call *call, struct spans *spans)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	struct own *own = found->own;

	explain_idle_gap(advisor, found, call);
	gp_advisor_vote(found, gp_advisor_site(advisor, call), call->duration_ns);
	gp_advisor_show(advisor, found, call);
	own->calls_ns += call->duration_ns;
	own->is_made |= makes_code(advisor, call);
	note_time(spans, (struct span){call->start_ns, gp_call_end_ns(call),
				       gp_model_context_device(advisor->model, call->context_id)});
}

static void take_calls(struct gp_advisor *advisor, struct spans *spans)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];
		uint8_t class = gp_advisor_class(advisor, call);

		if ((class == GP_API_MODULE || class == GP_API_LAUNCH) &&
		    gp_call_compiles(model, call))
			take_call(advisor, call, spans);
	}
}

GP_COMPARE_BY(compare_spans, struct span, start_ns)

/* The idle time of the GPU in these spans; threads that compile in parallel save it once. */
static void save_idle(struct gp_advisor *advisor, struct spans *spans)
{
	uint64_t reached_ns = 0;

	gp_array_sort(spans->rows, spans->count, sizeof(*spans->rows), compare_spans, NULL);
	for (uint32_t i = 0; i < spans->count; i++) {
		const struct span *one = &spans->rows[i];
		uint64_t from_ns = one->start_ns > reached_ns ? one->start_ns : reached_ns;

		if (one->end_ns <= from_ns)
			continue;
		reached_ns = one->end_ns;
		gp_advisor_save(
			advisor, gp_advisor_case(advisor, GP_NO_SITE, 0, 0), from_ns,
			one->end_ns - from_ns -
				gp_advisor_busy_ns(advisor, one->device_id, from_ns, one->end_ns));
	}
}

static void look(struct gp_advisor *advisor)
{
	struct spans spans = {0};

	take_compilations(advisor, &spans);
	if (spans.count > 0)
		take_calls(advisor, &spans);
	save_idle(advisor, &spans);
	free(spans.rows);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	if (own->calls_ns > found->time_ns)
		gp_document_add_number(values, "calls_ns", GP_UNIT_NS, own->calls_ns);
	gp_document_add_flag(values, "is_generated", own->is_made);
}

const struct gp_rule gp_rule_jit_compile = {
	.id = "jit-compile",
	.title = "the driver compiles kernels while the program runs",
	.found =
		"the driver compiled code for this GPU {count} time[{!count=1}s], for {time_ns} in all[, in calls that took {calls_ns}]",
	.change =
		"[{?is_generated}the program generates the code at run time: call it once before the measured part, and keep|compile for this GPU beforehand (nvcc -arch=native, -gencode for each), or keep] the compute cache (CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE)",
	.meaning =
		"The program contains PTX, or code for other GPUs only, and the driver compiles it at the first use. The saving is the time of these calls in which the GPU was idle. The driver caches the result on disk, unless the cache is too small, disabled, or new in each run, as in a container.",
	.remedy =
		"Build with -gencode for every GPU in use. Or keep the cache: CUDA_CACHE_PATH on a volume, CUDA_CACHE_MAXSIZE large enough, CUDA_CACHE_DISABLE not set.",
	.ignore = "The program generates different code in each run on purpose.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 10000000,
		      .count = 1,
		      .reason = "Less time is one small kernel"},
	.is_once = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
