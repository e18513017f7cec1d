#include "report/advice/rules/rules.h"

#include "report/analysis/idle/call_cause.h"
#include "report/analysis/idle/startup_shutdown.h"
#include "report/advice/rules/advisor.h"
#include "report/model/recorded.h"
#include "report/advice/rules/host_time.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/host_samples.h"
#include "report/advice/rules/other_programs.h"
#include "report/advice/rules/outside_cuda.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(SLOW_CONTEXT_NS, 500000000, NS,                                                      \
	      "a context takes 100 to 300 ms; a longer time can change")                           \
	LIMIT(LEAST_CONTEXT_NS, 100000000, NS, "a context takes at least this time")               \
	LIMIT(LEAST_RANGE_NS, 1000000, NS, "a shorter range of NCCL is only a query")              \
	LIMIT(LEAST_HOST_NS, 100000000, NS, "a shorter start is usual")                            \
	LIMIT(USED_TIMES, 2, COUNT, "copies of page-locked memory that pay for locking it")
GP_LIMITS(LIMITS);

/* A case's detail, besides enum gp_end_part: the host's own work. */
#define HOST_WORK ((uint32_t)GP_END_PARTS)

struct own {
	uint64_t make_ns;                /* of the part */
	uint64_t fewer_ns;               /* communicators: all but the shortest */
	uint64_t meanwhile_ns;           /* ... and the rest, as far as there was other work */
	uint32_t contexts;               /* contexts: their number ... */
	bool is_of_one_gpu;              /* ... all of one GPU ... */
	uint64_t longest_ns;             /* ... and the longest */
	uint64_t again_ns;               /* to create contexts after others had been destroyed */
	uint64_t end_ns;                 /* to destroy these */
	uint64_t ending;                 /* the text of the longest call that destroyed one */
	uint64_t bytes;                  /* of page-locked memory */
	bool is_used;                    /* that memory is copied often enough */
	struct gp_outside_cuda own_time; /* of the host */
};

/* Whether half of a gap of the present process lies within that time. */
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

/* Communicators can be created after some GPU work: these gaps are explained. */
static void explain_idle_gaps(struct gp_advisor *advisor, enum gp_end_part part, uint64_t start_ns,
			      uint64_t end_ns)
{
	start_ns += advisor->model->base_unix_ns;
	end_ns += advisor->model->base_unix_ns;
	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++) {
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
		if (model->ranges[i].end_ns - model->ranges[i].start_ns >= LEAST_RANGE_NS &&
		    gp_range_set_up(model, &model->ranges[i]))
			explain_idle_gaps(advisor, GP_END_NCCL, model->ranges[i].start_ns,
					  model->ranges[i].end_ns);
}

/* The call that created a context, if it began before that time; else NULL. */
static const struct gp_call *made_by(const struct gp_model *model, uint32_t context,
				     uint64_t until_ns)
{
	uint32_t at = gp_model_context_call(model, model->contexts[context].id);

	return at != GP_NONE && model->calls[at].start_ns < until_ns ? &model->calls[at] : NULL;
}

/* While a process creates its contexts, others may have work.  Only contexts of the start count. */
static void explain_contexts(struct gp_advisor *advisor, uint64_t until_ns)
{
	const struct gp_model *model = advisor->model;
	uint32_t initializing = gp_initializing_call(model);

	if (initializing != GP_NONE)
		explain_idle_gaps(advisor, GP_END_CONTEXT, model->calls[initializing].start_ns,
				  gp_call_end_ns(&model->calls[initializing]));
	for (uint32_t i = 0; i < model->context_count; i++) {
		const struct gp_call *call = made_by(model, i, until_ns);

		if (call)
			explain_idle_gaps(advisor, GP_END_CONTEXT, call->start_ns,
					  gp_call_made_context_ns(model, call));
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

/* One communicator is needed, but its creation can overlap with the other work before NCCL's use. */
static void look_at_communicators(struct gp_advisor *advisor,
				  const struct gp_startup_shutdown *ends)
{
	uint64_t make_ns = ends->nccl_make_ns, fewer_ns = 0, meanwhile_ns;
	uint64_t needed_ns = make_ns + ends->first.part_ns[GP_END_CONTEXT];
	uint64_t passed_ns = ends->nccl_use_ns - advisor->model->first_call_ns;
	struct own *own;

	if (make_ns < LEAST_RANGE_NS)
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
	for (uint32_t i = 0; i < model->context_count; i++)
		if (model->contexts[i].device_id == device_id && made_by(model, i, until_ns))
			return true;
	return false;
}

static uint64_t made_ns(const struct gp_model *model, const struct gp_call *call)
{
	return gp_call_made_context_ns(model, call) - call->start_ns;
}

/* The time to create contexts, in that span, of GPUs that had one before. */
static uint64_t made_after_ns(const struct gp_model *model, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < model->context_count; i++) {
		const struct gp_call *call = made_by(model, i, until_ns);

		if (call && call->start_ns >= from_ns &&
		    had_context(model, model->contexts[i].device_id, from_ns))
			ns += made_ns(model, call);
	}
	return ns;
}

static void count_contexts(const struct gp_model *model, uint64_t until_ns, struct own *own)
{
	uint32_t initializing = gp_initializing_call(model);
	uint16_t device_id = 0;

	if (initializing != GP_NONE)
		*own = (struct own){.contexts = 1,
				    .is_of_one_gpu = true,
				    .longest_ns = model->calls[initializing].duration_ns};
	for (uint32_t i = 0; i < model->context_count; i++) {
		const struct gp_call *call = made_by(model, i, until_ns);

		if (!call)
			continue;
		if (own->contexts++ == 0)
			device_id = model->contexts[i].device_id;
		own->is_of_one_gpu = (own->contexts == 1 || own->is_of_one_gpu) &&
				     model->contexts[i].device_id == device_id;
		if (made_ns(model, call) > own->longest_ns)
			own->longest_ns = made_ns(model, call);
	}
}

/* The time that remains: of contexts of usual length, created in parallel, the longest. */
static uint64_t needed_for_contexts_ns(const struct own *own)
{
	return own->longest_ns < SLOW_CONTEXT_NS ? own->longest_ns : LEAST_CONTEXT_NS;
}

/* Contexts that are destroyed before their first use are created twice. */
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
	if (again_ns > make_ns)
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

/* Memory that is copied often is worth locking, but in parallel with the rest of the start. */
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
	if (ns > first->part_ns[GP_END_MEMORY])
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

/* ---- the host's own work ---- */

/* The call that launched the operation with that start; NULL: unknown. */
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
	struct gp_outside_cuda own_time;
	struct gp_case *found;

	if (gp_recorded_few_steps(advisor->model)) /* it began in the middle of the program */
		return;
	if (first->ns >= LEAST_HOST_NS)
		starter = find_starter(advisor->model, first->start_ns + first->ns);
	if (!starter || !gp_outside_cuda_find(advisor, first, 0, starter->start_ns, &own_time))
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, HOST_WORK, 0);
	gp_outside_cuda_put(advisor, found, first, starter->thread_id, &own_time);
	((struct own *)found->own)->own_time = own_time;
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

static void add_context_values(const struct gp_advisor *advisor, const struct gp_case *found,
			       struct gp_document *values)
{
	const struct own *own = found->own;

	if (own->again_ns > 0) {
		gp_document_add_number(values, "again_ns", GP_UNIT_NS, own->again_ns);
		gp_advisor_add_text(advisor, values, "ending", own->ending);
		gp_document_add_number(values, "end_ns", GP_UNIT_NS, own->end_ns);
		return;
	}
	if (own->contexts > 1) {
		gp_document_add_number(values, "context_count", GP_UNIT_COUNT, own->contexts);
		gp_document_add_flag(values, "is_one_gpu", own->is_of_one_gpu);
		gp_document_add_number(values, "longest_ns", GP_UNIT_NS, own->longest_ns);
	}
	if (own->longest_ns < SLOW_CONTEXT_NS)
		return;
	gp_document_add_number(values, "least_context_ns", GP_UNIT_NS, LEAST_CONTEXT_NS);
	gp_document_add_number(values, "others_bytes", GP_UNIT_BYTES,
			       gp_other_programs_bytes(advisor, found));
}

static void add_host_values(const struct gp_advisor *advisor, const struct gp_case *found,
			    struct gp_document *values)
{
	const struct own *own = found->own;
	enum gp_compiler compiler = own->own_time.has_samples
					    ? gp_host_samples_compiler(advisor, found)
					    : GP_COMPILER_IMPORT;

	gp_outside_cuda_add_values(advisor, found, &own->own_time, values);
	gp_document_add_flag(values, "may_import", compiler == GP_COMPILER_IMPORT);
	if (compiler != GP_COMPILER_IMPORT)
		gp_compiler_add_value(compiler, values);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	if (found->detail == HOST_WORK) {
		gp_document_add_text(values, "part", "host");
		add_host_values(advisor, found, values);
		return;
	}
	gp_document_add_number(values, "make_ns", GP_UNIT_NS, own->make_ns);
	if (found->detail == GP_END_CONTEXT) {
		gp_document_add_text(values, "part", "contexts");
		add_context_values(advisor, found, values);
	} else if (found->detail == GP_END_MEMORY) {
		gp_document_add_text(values, "part", "memory");
		gp_document_add_number(values, "locked_bytes", GP_UNIT_BYTES, own->bytes);
		gp_document_add_flag(values, "is_used", own->is_used);
	} else {
		gp_document_add_text(values, "part", "communicators");
		gp_document_add_number(values, "fewer_ns", GP_UNIT_NS, own->fewer_ns);
		gp_document_add_flag(values, "can_overlap", own->meanwhile_ns > 0);
	}
}

static bool names_place(const struct gp_case *found)
{
	return found->detail == HOST_WORK;
}

const struct gp_rule gp_rule_start_up = {
	.id = "start-up",
	.title = "the GPU starts its first operation late",
	.found =
		"[{?part=host}until the first operation, " GP_OUTSIDE_CUDA_FOUND
		"|{?part=contexts}creating contexts took {make_ns} before the first operation[, {again_ns} of it after {ending} had destroyed earlier contexts[ in {end_ns}]|: {context_count} of them[{?is_one_gpu}, of the same GPU], the longest for {longest_ns}]"
		"|{?part=memory}allocating {locked_bytes} of page-locked memory took {make_ns} before the first operation"
		"|NCCL took {make_ns} to create communicators]",
	.change =
		"[{?part=host}[" GP_COMPILER_CHANGE
		"|{?may_import}[{?language=native}use several threads, let the GPU begin with the first data, or keep the results for the next run; perf record -g shows the host's time|import only the needed modules (python3 -X importtime lists the times), and read data in other threads or processes]"
		"|let the GPU begin with work that does not need this host work, or do the host work on the GPU or in other processes; import only the needed modules (python3 -X importtime)]"
		"|{?part=contexts}[remove {ending} there: the earlier context can still be used"
		"|[{?context_count}{?is_one_gpu}use one context of a GPU: cuDevicePrimaryCtxRetain returns the context of the CUDA runtime, in place of cuCtxCreate|{?context_count}create them in parallel, each in a thread (cudaSetDevice, then cudaFree(0)), and none for a GPU without work (CUDA_VISIBLE_DEVICES)]"
		"[{?context_count}{?least_context_ns}; and ]"
		"[{?least_context_ns}[measure this without other programs: they held up to {others_bytes} of the GPU's memory, and each slows down the others|keep the driver loaded between runs (nvidia-smi -pm 1)]: a context takes {least_context_ns} at least]]"
		"|{?part=memory}[{?is_used}page-lock it in another thread, in parallel with the rest of the start|page-lock only memory that is copied often: one copy from pageable memory takes less time than page-locking it]"
		"|[create few communicators, and split others from them (ncclCommSplit): {fewer_ns} are for all but one][{?fewer_ns}{?can_overlap}; and ][{?can_overlap}do other work while they are created ([{?language=torch}init_process_group with a device_id|ncclCommInitRankConfig with blocking = 0])]]",
	.meaning =
		"Before its first operation a process creates a context on each GPU and, with NCCL, communicators. Processes create a communicator together: the first one waits for the last. A context takes 100 to 300 ms; contexts of {SLOW_CONTEXT_NS} and more are reported, or the longest of several. A context that is destroyed before its first use (cudaDeviceReset, cuDevicePrimaryCtxRelease, cuCtxDestroy) is created twice. Page-locking is slow, too: the system locks each page. It pays off for memory that is copied at least {USED_TIMES} times, but another thread can do it. The process also imports modules or reads data: stack samples (--host-samples) show what Python did since the first CUDA call; for other programs the finding names the longest time between two calls. All of this is a one-time cost, which hardly matters in a long run. NCCL is recognized by its NVTX ranges: without them, or without nvtx in --trace, its time counts as the program's own. The time before the first CUDA call is not recorded; the summary shows its length.",
	.remedy =
		"Communicators: create few, split others from them (ncclCommSplit), group them (ncclGroupStart, ncclGroupEnd), and create them while the program reads data (ncclCommInitRankConfig with blocking = 0; PyTorch: init_process_group with a device_id). Contexts: create one for each GPU, those of several GPUs in parallel threads; `nvidia-smi -pm 1` keeps the driver loaded between programs. Page-locked memory: use it only for repeated copies, and lock it in another thread. Program: import only the needed modules (`python3 -X importtime` lists their times), read data in several threads, and start the GPU with the first data.",
	.ignore = "The program runs for a long time.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 100000000,
		      .count = 1,
		      .reason = "A shorter start is usual"},
	.limits = limits,
	.is_once = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
	.names_place = names_place,
};
