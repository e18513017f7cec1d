#include "report/advice/rules/rules.h"

#include "report/analysis/idle/startup_shutdown.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/outside_cuda.h"

/* A case's detail. */
enum { COMMUNICATORS, CONTEXTS, HOST_WORK };

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_RETURNED_BYTES, 1048576, BYTES, "less managed memory migrates quickly")        \
	LIMIT(LEAST_RETURNED_PART, 10, COUNT, "of the end: a shorter migration is not its cause")
GP_LIMITS(LIMITS);

/* Managed memory that migrated to the host after the last operation. */
struct returned {
	uint64_t bytes, pieces, ns, faults;
};

struct own {
	struct returned returned;
	uint64_t nccl_ns;
	uint64_t contexts_ns;
	uint64_t function;               /* the text of the longest call that destroyed a context */
	struct gp_outside_cuda own_time; /* of the host */
	uint64_t unlooked_ns;            /* its end, without Python samples */
};

static struct returned find_returned(const struct gp_model *model, uint64_t start_ns)
{
	struct returned returned = {0};

	for (uint32_t i = 0; i < model->unified_count; i++) {
		const struct gp_record_unified *event = &model->unifieds[i];

		if (event->start_ns < start_ns)
			continue;
		if (event->counter_kind == GP_UNIFIED_CPU_FAULT) {
			returned.faults++;
		} else if (event->counter_kind == GP_UNIFIED_DTOH &&
			   event->flags != GP_UNIFIED_CAUSE_USER) {
			returned.bytes += event->value;
			returned.pieces++;
			returned.ns += event->end_ns > event->start_ns
					       ? event->end_ns - event->start_ns
					       : 0;
		}
	}
	return returned;
}

/* The time after the last Python sample: samples end before the interpreter.  Without samples: 0. */
static uint64_t find_unlooked(const struct gp_model *model, const struct gp_end *last)
{
	uint64_t from_ns = last->start_ns, end_ns = last->start_ns + last->ns;

	for (uint32_t i = 0; i < model->sample_count; i++)
		if (model->samples[i].end_ns > from_ns)
			from_ns = model->samples[i].end_ns;
	return model->sample_count > 0 && end_ns > from_ns ? end_ns - from_ns : 0;
}

/* With several processes, others may still work. */
static void look_at_host(struct gp_advisor *advisor, const struct gp_end *last)
{
	struct gp_outside_cuda own_time;
	struct gp_case *found;
	struct own *own;

	if (advisor->scope.model_count != 1 ||
	    !gp_outside_cuda_find(advisor, last, last->start_ns, last->start_ns + last->ns,
				  &own_time))
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, HOST_WORK, 0);
	own = found->own;
	gp_outside_cuda_put(advisor, found, last, advisor->model->pid, &own_time);
	own->unlooked_ns = find_unlooked(advisor->model, last);
	/* the samples before that show too little of it */
	own_time.has_samples &= own->unlooked_ns * 2 < own_time.ns;
	own->own_time = own_time;
	own->returned = find_returned(advisor->model, last->start_ns);
}

static void look_at_contexts(struct gp_advisor *advisor, const struct gp_end *last)
{
	uint64_t ns = last->part_ns[GP_END_NO_CONTEXT];
	struct gp_case *found;
	struct own *own;

	if (!last->ending || ns == 0)
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, CONTEXTS, 0);
	gp_advisor_add(advisor, found, last->ending->start_ns, ns, ns, NULL);
	gp_advisor_show(advisor, found, last->ending);
	found->site = gp_advisor_site(advisor, last->ending);
	own = found->own;
	own->contexts_ns = ns;
	own->function =
		gp_advisor_text(advisor, gp_model_api(advisor->model, last->ending->api).name);
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_startup_shutdown *ends = gp_advisor_ends(advisor);
	struct gp_case *found;

	if (!ends)
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, COMMUNICATORS, 0);
	if (ends->nccl_end_ns > 0)
		gp_advisor_add(advisor, found, 0, ends->nccl_end_ns, ends->nccl_end_ns, NULL);
	((struct own *)found->own)->nccl_ns = ends->nccl_end_ns;
	look_at_contexts(advisor, &ends->last);
	look_at_host(advisor, &ends->last);
}

static void add_returned(const struct own *own, struct gp_document *values)
{
	const struct returned *returned = &own->returned;

	if (returned->bytes < LEAST_RETURNED_BYTES)
		return;
	gp_document_add_number(values, "returned_bytes", GP_UNIT_BYTES, returned->bytes);
	gp_document_add_number(values, "returned_pieces", GP_UNIT_COUNT, returned->pieces);
	gp_document_add_number(values, "returned_ns", GP_UNIT_NS, returned->ns);
	gp_document_add_number(values, "fault_count", GP_UNIT_COUNT, returned->faults);
	gp_document_add_flag(values, "needs_prefetch",
			     returned->ns >= own->own_time.ns / LEAST_RETURNED_PART);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	static const char *const parts[] = {"communicators", "contexts", "host"};
	const struct own *own = found->own;

	gp_document_add_text(values, "part", parts[found->detail]);
	if (found->detail == HOST_WORK) {
		gp_outside_cuda_add_values(advisor, found, &own->own_time, values);
		add_returned(own, values);
		if (own->unlooked_ns * 2 >= own->own_time.ns)
			gp_document_add_number(values, "exit_ns", GP_UNIT_NS, own->unlooked_ns);
	} else if (found->detail == CONTEXTS) {
		gp_document_add_number(values, "contexts_ns", GP_UNIT_NS, own->contexts_ns);
		gp_advisor_add_text(advisor, values, "ending", own->function);
	} else {
		gp_document_add_number(values, "nccl_ns", GP_UNIT_NS, own->nccl_ns);
	}
}

static bool names_place(const struct gp_case *found)
{
	return found->detail == HOST_WORK;
}

const struct gp_rule gp_rule_wind_down = {
	.id = "wind-down",
	.title = "the process continues long after the last GPU operation",
	.found =
		"[{?part=host}after the last operation, " GP_OUTSIDE_CUDA_FOUND
		"[; meanwhile {returned_bytes} of managed memory migrated to the host on access, in {returned_pieces} piece[{!returned_pieces=1}s] and {returned_ns}[, after {fault_count} page fault[{!fault_count=1}s]]]"
		"|{?part=contexts}destroying contexts took {contexts_ns} after the last operation ({ending})"
		"|NCCL took {nccl_ns} to destroy communicators]",
	.change =
		"[{?part=host}[{?needs_prefetch}prefetch the memory that the host reads (cudaMemPrefetchAsync to the host), else each piece takes a page fault; ]"
		"[no change is known: the last {exit_ns} have no Python sample, because Python deletes its objects and modules then"
		"|process the results in pieces while the GPU works on the next ones, or on the GPU[{?language=native}; perf record -g shows the host's time]]"
		"|{?part=contexts}remove {ending} before the program ends: the driver frees everything itself; only tools that report unfreed memory need it"
		"|create few communicators, split others from them (ncclCommSplit), and destroy them as a group (ncclGroupStart, ncclGroupEnd)]",
	.meaning =
		"Between its last operation and its last CUDA call, a process may check or write results, for example. Stack samples (--host-samples) show what Python did; if no sample falls into half of that time, Python was exiting. For other programs the finding names the longest time between two calls. With several processes it names neither, as the others may still work. NCCL needs time to destroy communicators (known by its NVTX ranges). Calls that destroy contexts (cudaDeviceReset, cuDevicePrimaryCtxRelease, cuCtxDestroy) are not needed: the driver destroys contexts at exit. All of this is a one-time cost, which hardly matters in a long run. The time after the last CUDA call is not recorded.",
	.remedy =
		"Process results in pieces while the GPU works, or on the GPU. Communicators: create few, and destroy them as a group (ncclGroupStart, ncclGroupEnd). Contexts: remove cudaDeviceReset and similar calls before the exit, unless a tool such as compute-sanitizer needs them to report leaks.",
	.ignore =
		"The program runs for a long time, or it checks the results of the GPU, as tests and benchmarks do.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 100000000,
		      .count = 1,
		      .reason = "A shorter end is usual"},
	.limits = limits,
	.is_once = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
	.names_place = names_place,
};
