/*
 * What NCCL takes to make its communicators, contexts that take half a second and more to be made,
 * and before the first operation what it took to page-lock memory, what it took to end contexts
 * that are made again, and what the program did for itself, if that is a fifth of that time.
 * Speaks of what takes 5 % of the recorded time and 100 ms.
 */
#include "report/advice/rules/rules.h"

#include "report/analysis/idle/call_cause.h"
#include "report/analysis/idle/startup_shutdown.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/host_time.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/meanwhile.h"
#include "report/advice/rules/neighbors.h"
#include "report/advice/rules/own_time.h"

/*
 * With its own code loaded, a context takes 100 to 300 ms: that is nobody's to change, and the
 * least of it stays whatever is changed.
 */
#define SLOW_CONTEXT_NS  500000000u
#define LEAST_CONTEXT_NS 100000000u

/* Of a range: what is shorter only asks something. */
#define LEAST_NS 1000000u

/* What is shorter is nobody's start. */
#define LEAST_HOST_NS 100000000u

/* A case's detail, besides those of enum gp_end_part: what the program did for itself. */
#define HOST_WORK ((uint32_t)GP_END_PARTS)

struct own {
	uint64_t make_ns;
	uint64_t fewer_ns;           /* of communicators: of all but the shortest */
	uint64_t meanwhile_ns;       /* of what is left of that, as much as there was else to do */
	uint32_t contexts;           /* those that were made, ... */
	bool is_of_one_gpu;          /* ... all of the same GPU, ... */
	uint64_t longest_ns;         /* ... and the longest of them */
	uint64_t again_ns;           /* of contexts, after others had been ended */
	uint64_t end_ns;             /* what these took to be ended */
	uint64_t ending;             /* the text of what ended them, the longest */
	uint64_t bytes;              /* of page-locked memory */
	bool is_used;                /* that memory, again and again */
	struct gp_own_time own_time; /* the program's */
};

/* Whether most of a idle_gap of the present process is within that time. */
static bool is_mostly_in(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap,
			 uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < idle_gap->start_ns)
		start_ns = idle_gap->start_ns;
	if (end_ns > idle_gap->end_ns)
		end_ns = idle_gap->end_ns;
	return idle_gap->after.model == advisor->process && gp_idle_gap_is_between(idle_gap) &&
	       end_ns > start_ns && 2 * (end_ns - start_ns) >= gp_idle_gap_ns(idle_gap);
}

/*
 * Communicators may be made when there was some work already: other rules are to leave that time
 * out.
 */
static void explain_idle_gaps(struct gp_advisor *advisor, enum gp_end_part part, uint64_t start_ns,
			      uint64_t end_ns)
{
	start_ns += advisor->model->base_unix_ns;
	end_ns += advisor->model->base_unix_ns;

	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count && advisor->error == 0; i++) {
		struct gp_idle_gap *idle_gap = gp_idle_gaps_at(&advisor->basis->idle_gaps, i,
							       start_ns + (end_ns - start_ns) / 2);

		if (!idle_gap || idle_gap->told != GP_NONE ||
		    !is_mostly_in(advisor, idle_gap, start_ns, end_ns))
			continue;
		gp_advisor_tell(advisor, gp_advisor_case(advisor, GP_NO_SITE, part, 0), idle_gap);
	}
}

static void explain_communicators(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].end_ns - model->ranges[i].start_ns >= LEAST_NS &&
		    gp_range_set_up(model, &model->ranges[i]))
			explain_idle_gaps(advisor, GP_END_NCCL, model->ranges[i].start_ns,
					  model->ranges[i].end_ns);
}

/*
 * Of several processes, some have work while others make theirs.  Not those that a process makes
 * amid its own work: they are in no time told here.
 */
static void explain_contexts(struct gp_advisor *advisor, uint64_t until_ns)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);

		if (at != GP_NONE && model->calls[at].start_ns < until_ns)
			explain_idle_gaps(advisor, GP_END_CONTEXT, model->calls[at].start_ns,
					  gp_call_made_context_ns(model, &model->calls[at]));
	}
}

static struct gp_case *add(struct gp_advisor *advisor, uint32_t part, uint64_t ns,
			   uint64_t saves_ns)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, part, 0);

	gp_advisor_add(advisor, found, 0, ns, saves_ns, NULL);
	((struct own *)found->own)->make_ns = ns;
	return found;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- communicators ---- */

/*
 * One has to be made; but meanwhile the program can do whatever else it did until NCCL was used,
 * contexts aside, which come first.
 */
static void look_at_communicators(struct gp_advisor *advisor,
				  const struct gp_startup_shutdown *ends)
{
	uint64_t make_ns = ends->nccl_make_ns, fewer_ns = 0, meanwhile_ns;
	uint64_t needed_ns = make_ns + ends->first.part_ns[GP_END_CONTEXT];
	uint64_t passed_ns = ends->nccl_use_ns - advisor->model->first_call_ns;
	struct own *own;

	if (make_ns < LEAST_NS)
		return;
	if (ends->nccl_least_ns > 0)
		fewer_ns = make_ns - least(make_ns, ends->nccl_least_ns);
	meanwhile_ns = least(make_ns - fewer_ns, passed_ns - least(passed_ns, needed_ns));
	own = add(advisor, GP_END_NCCL, make_ns, fewer_ns + meanwhile_ns)->own;
	own->fewer_ns = fewer_ns;
	own->meanwhile_ns = meanwhile_ns;
	explain_communicators(advisor);
}

/* ---- contexts ---- */

static bool had_context(const struct gp_model *model, uint16_t device_id, uint64_t until_ns)
{
	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);

		if (model->contexts[i].device_id == device_id && at != GP_NONE &&
		    model->calls[at].start_ns < until_ns)
			return true;
	}
	return false;
}

/* What it took from then on, until there was work, to make contexts of GPUs that had one before. */
static uint64_t made_after_ns(const struct gp_model *model, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);

		if (at != GP_NONE && model->calls[at].start_ns >= from_ns &&
		    model->calls[at].start_ns < until_ns &&
		    had_context(model, model->contexts[i].device_id, from_ns))
			ns += gp_call_made_context_ns(model, &model->calls[at]) -
			      model->calls[at].start_ns;
	}
	return ns;
}

/* How many were made until there was work, whether of one GPU, and how long the longest took. */
static void count_contexts(const struct gp_model *model, uint64_t until_ns, struct own *own)
{
	uint16_t device_id = 0;

	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);
		const struct gp_call *call = at != GP_NONE ? &model->calls[at] : NULL;
		uint64_t ns;

		if (!call || call->start_ns >= until_ns)
			continue;
		ns = gp_call_made_context_ns(model, call) - call->start_ns;
		if (own->contexts++ == 0)
			device_id = model->contexts[i].device_id;
		own->is_of_one_gpu = (own->contexts == 1 || own->is_of_one_gpu) &&
				     model->contexts[i].device_id == device_id;
		if (ns > own->longest_ns)
			own->longest_ns = ns;
	}
}

/*
 * What is left whatever is changed: of contexts that take no longer than they do elsewhere, made in
 * several threads, the longest.
 */
static uint64_t needed_for_contexts_ns(const struct own *own)
{
	return own->longest_ns < SLOW_CONTEXT_NS ? own->longest_ns : LEAST_CONTEXT_NS;
}

/*
 * Those that were ended before there was any work are told with what was made after them: without
 * that end it need not be.
 */
static void look_at_contexts(struct gp_advisor *advisor, const struct gp_end *first)
{
	const struct gp_model *model = advisor->model;
	uint64_t make_ns = first->part_ns[GP_END_CONTEXT];
	uint64_t end_ns = first->part_ns[GP_END_NO_CONTEXT], again_ns = 0, saves_ns;
	struct own made = {0}, *own;
	struct gp_case *found;

	if (make_ns < SLOW_CONTEXT_NS)
		return;
	if (first->ending)
		again_ns = made_after_ns(model, gp_call_end_ns(first->ending),
					 first->start_ns + first->ns);
	if (again_ns > make_ns) /* of several threads */
		again_ns = make_ns;
	count_contexts(model, first->start_ns + first->ns, &made);
	saves_ns = make_ns - least(make_ns, needed_for_contexts_ns(&made));
	explain_contexts(advisor, first->start_ns + first->ns);
	found = add(advisor, GP_END_CONTEXT, make_ns, again_ns > 0 ? end_ns + again_ns : saves_ns);
	own = found->own;
	own->contexts = made.contexts;
	own->is_of_one_gpu = made.is_of_one_gpu;
	own->longest_ns = made.longest_ns;
	own->again_ns = again_ns;
	own->end_ns = end_ns;
	if (again_ns == 0)
		return;
	own->ending = gp_advisor_text(advisor, gp_model_api(model, first->ending->api).name);
	found->site = gp_advisor_site(advisor, first->ending);
	gp_advisor_show(advisor, found, first->ending);
}

/* ---- page-locked memory ---- */

/* From so many copies of all of it on, to lock it is worth what it takes. */
#define USED_TIMES 2u

static uint64_t copied_locked_bytes(const struct gp_model *model)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (model->ops[i].kind == GP_OP_COPY &&
		    (model->ops[i].source_kind == GP_COPY_PINNED ||
		     model->ops[i].destination_kind == GP_COPY_PINNED))
			bytes += model->ops[i].bytes;
	return bytes;
}

/*
 * What is copied again and again is to be locked: but meanwhile the program can do what else it did
 * until there was work.
 */
static void look_at_locked(struct gp_advisor *advisor, const struct gp_end *first)
{
	const struct gp_model *model = advisor->model;
	const struct gp_call *longest = NULL;
	uint64_t ns = 0, bytes = 0, saves_ns;
	struct gp_case *found;
	struct own *own;
	bool is_used;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC || event->call == GP_NONE ||
		    event->memory_kind != GP_MEMORY_PINNED ||
		    event->time_ns > first->start_ns + first->ns)
			continue;
		if (!longest || model->calls[event->call].duration_ns > longest->duration_ns)
			longest = &model->calls[event->call];
		ns += gp_call_without_context_ns(model, event->call);
		bytes += event->bytes;
	}
	if (ns > first->part_ns[GP_END_MEMORY]) /* of several threads */
		ns = first->part_ns[GP_END_MEMORY];
	if (ns < LEAST_HOST_NS)
		return;
	is_used = copied_locked_bytes(model) >= USED_TIMES * bytes;
	saves_ns = is_used ? least(ns, first->ns - ns - first->part_ns[GP_END_CONTEXT]) : ns;
	found = add(advisor, GP_END_MEMORY, ns, saves_ns);
	found->site = gp_advisor_site(advisor, longest);
	gp_advisor_show(advisor, found, longest);
	own = found->own;
	own->bytes = bytes;
	own->is_used = is_used;
}

/* ---- what the program does for itself ---- */

/* The call that started the operation which began then; NULL: it is not known. */
static const struct gp_call *find_starter(const struct gp_model *model, uint64_t start_ns)
{
	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed && model->ops[i].start_ns == start_ns)
			return model->ops[i].call == GP_NONE ? NULL
							     : &model->calls[model->ops[i].call];
	return NULL;
}

static void look_at_host(struct gp_advisor *advisor, const struct gp_end *first)
{
	const struct gp_call *starter = NULL;
	struct gp_own_time own_time;
	struct gp_case *found;

	if (first->ns >= LEAST_HOST_NS)
		starter = find_starter(advisor->model, first->start_ns + first->ns);
	if (!starter || !gp_own_time_find(advisor, first, 0, starter->start_ns, &own_time))
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, HOST_WORK, 0);
	gp_own_time_put(advisor, found, first, starter->thread_id, &own_time);
	((struct own *)found->own)->own_time = own_time;
}

#define IMPORT_LESS                                                                                \
	"import only what is used (python3 -X importtime lists what takes how long), and read "    \
	"data in other threads or processes"

static const char *const host_changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] =
		"do it in several threads, let the GPU begin with what is there while the host makes the rest, or keep it for the next run; perf record -g tells what takes it",
	[GP_LANGUAGE_PYTHON] = IMPORT_LESS,
	[GP_LANGUAGE_TORCH] = IMPORT_LESS,
	[GP_LANGUAGE_JAX] = IMPORT_LESS,
	[GP_LANGUAGE_CUPY] = IMPORT_LESS,
};

/* Looks say what the host did, and it was no import. */
static void advise_on_host(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	enum gp_compiler compiler = own->own_time.has_looks ? gp_meanwhile_compiler(advisor, found)
							    : GP_COMPILER_IMPORT;

	if (compiler == GP_COMPILER_IMPORT)
		gp_language_advise(advisor, found, host_changes, out);
	else if (compiler != GP_COMPILER_NONE)
		fputs(gp_host_time_change(compiler), out);
	else
		fputs("let the GPU begin with what needs none of that, do it on the GPU, or in other processes; imports: only what is used (python3 -X importtime)",
		      out);
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_startup_shutdown *ends = gp_advisor_ends(advisor);

	if (!ends)
		return;
	look_at_communicators(advisor, ends);
	look_at_contexts(advisor, &ends->first);
	look_at_locked(advisor, &ends->first);
	look_at_host(advisor, &ends->first);
}

static void tell_contexts(const struct gp_advisor *advisor, const struct own *own, FILE *out)
{
	fprintf(out, "making contexts took %s before the first operation",
		gp_format_ns(own->make_ns).text);
	if (own->again_ns > 0)
		fprintf(out, ", %s of it after %s had taken %s to end what was made before",
			gp_format_ns(own->again_ns).text, gp_advisor_text_of(advisor, own->ending),
			gp_format_ns(own->end_ns).text);
	else if (own->contexts > 1)
		fprintf(out, ": %u of them%s, the longest for %s", own->contexts,
			own->is_of_one_gpu ? ", of the same GPU" : "",
			gp_format_ns(own->longest_ns).text);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (found->detail == HOST_WORK) {
		gp_own_time_tell(advisor, found, &own->own_time, "until the first", out);
		return;
	}
	if (found->detail == GP_END_CONTEXT) {
		tell_contexts(advisor, own, out);
		return;
	}
	if (found->detail == GP_END_MEMORY) {
		fprintf(out,
			"allocating %s of page-locked memory took %s before the first operation",
			gp_format_bytes(own->bytes).text, gp_format_ns(own->make_ns).text);
		return;
	}
	fprintf(out, "NCCL took %s to make communicators", gp_format_ns(own->make_ns).text);
}

/* Beside other programs' the driver is loaded. */
static void advise_on_slow_context(const struct gp_advisor *advisor, const struct gp_case *found,
				   FILE *out)
{
	uint64_t bytes = gp_neighbors_bytes(advisor, found);

	if (bytes > 0)
		fprintf(out,
			"see how long it takes alone: other programs held up to %s of the GPU's memory, and each makes the others' contexts slower; one takes %s at least",
			gp_format_bytes(bytes).text, gp_format_ns(LEAST_CONTEXT_NS).text);
	else
		fprintf(out,
			"keep the driver loaded between runs (nvidia-smi -pm 1): a context takes %s at least",
			gp_format_ns(LEAST_CONTEXT_NS).text);
}

static void advise_on_contexts(const struct gp_advisor *advisor, const struct gp_case *found,
			       FILE *out)
{
	const struct own *own = found->own;

	if (own->contexts > 1)
		fputs(own->is_of_one_gpu
			      ? "use one context of a GPU: cuDevicePrimaryCtxRetain gives the one that the CUDA runtime makes, in place of cuCtxCreate"
			      : "make them at the same time, each in a thread (cudaSetDevice, then cudaFree(0)), and none of a GPU that has no work (CUDA_VISIBLE_DEVICES)",
		      out);
	if (own->longest_ns < SLOW_CONTEXT_NS)
		return;
	if (own->contexts > 1)
		fputs("; and ", out);
	advise_on_slow_context(advisor, found, out);
}

static void advise_on_communicators(enum gp_language language, const struct own *own, FILE *out)
{
	if (own->fewer_ns > 0)
		fprintf(out,
			"make few communicators, others from them (ncclCommSplit): %s are for all but one%s",
			gp_format_ns(own->fewer_ns).text, own->meanwhile_ns > 0 ? "; and " : "");
	if (own->meanwhile_ns > 0)
		fprintf(out, "do something else while they are made (%s)",
			language == GP_LANGUAGE_TORCH ? "init_process_group with a device_id"
						      : "ncclCommInitRankConfig with blocking = 0");
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct own *own = found->own;

	if (found->detail == HOST_WORK)
		advise_on_host(advisor, found, out);
	else if (found->detail == GP_END_CONTEXT && own->again_ns > 0)
		fprintf(out,
			"leave %s out there: the context that was made before would still be good",
			gp_advisor_text_of(advisor, own->ending));
	else if (found->detail == GP_END_CONTEXT)
		advise_on_contexts(advisor, found, out);
	else if (found->detail == GP_END_MEMORY)
		fputs(own->is_used
			      ? "page-lock it in another thread, while the program does the rest of its start"
			      : "page-lock only what is copied again and again: one copy from pageable memory takes less than to page-lock it",
		      out);
	else
		advise_on_communicators(gp_language_of(model), own, out);
}

/* The second clause of what the program did says when, or which calls. */
static bool names_place(const struct gp_case *found)
{
	return found->detail == HOST_WORK;
}

const struct gp_rule gp_rule_start_up = {
	.id = "start-up",
	.title = "the GPU starts its first operation late",
	.meaning =
		"Before its first operation a process creates a context on each GPU and, with NCCL, communicators. Processes create a communicator together: the first one waits for the last. A context takes 100 to 300 ms; contexts of 500 ms and more are reported, or the longest of several. A context that is destroyed before its first use (cudaDeviceReset, cuDevicePrimaryCtxRelease, cuCtxDestroy) is created twice. Page-locking is slow, too: the system locks each page. Memory that is copied at least twice is worth it, but another thread can lock it. The process also imports modules or reads data: stack samples (--host-samples) show what Python did since the first CUDA call; for other programs the finding names the longest time between two calls. All of this is a one-time cost, which hardly matters in a long run. NCCL is recognized by its NVTX ranges: without them, or without nvtx in --trace, its time counts as the program's own. The time before the first CUDA call is not recorded; the summary shows its length.",
	.change =
		"Communicators: create few, split others from them (ncclCommSplit), group them (ncclGroupStart, ncclGroupEnd), and create them while the program reads data (ncclCommInitRankConfig with blocking = 0; PyTorch: init_process_group with a device_id). Contexts: create one for each GPU, those of several GPUs in parallel threads; `nvidia-smi -pm 1` keeps the driver loaded between programs. Page-locked memory: use it only for repeated copies, and lock it in another thread. Program: import only the needed modules (`python3 -X importtime` lists their times), read data in several threads, and start the GPU with the first data.",
	.ignore = "The program runs for a long time.",
	.threshold = {.saves_percent = 5, .saves_ns = 100000000, .count = 1},
	.is_once = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
	.names_place = names_place,
};
