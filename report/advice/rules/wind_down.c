/*
 * What NCCL takes to end its communicators, what it takes to end contexts after the last operation,
 * and what a program that is recorded alone does for itself between its last operation and its last
 * call, if that is a fifth of that time.  Speaks of what takes 5 % of the recorded time and 100 ms.
 */
#include "report/advice/rules/rules.h"

#include "report/analysis/idle/startup_shutdown.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/own_time.h"

/* A case's detail. */
enum { COMMUNICATORS, CONTEXTS, HOST_WORK };

/* Less managed memory that comes back costs nothing to speak of. */
#define LEAST_RETURNED_BYTES (1u << 20)
/* Prefetching it is advised where its way back took at least this part of what is told. */
#define LEAST_RETURNED_PART 10

/* Managed memory that came back from the GPU since the host touched it. */
struct returned {
	uint64_t bytes, pieces, ns, faults;
};

struct own {
	struct returned returned;
	uint64_t nccl_ns;
	uint64_t contexts_ns;
	uint64_t function;           /* the text of what ended contexts, the longest */
	struct gp_own_time own_time; /* the program's */
	uint64_t unlooked_ns;        /* its end that no look at Python reaches */
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

/*
 * From the last look at any thread on, whether it found a stack or not: they end before the
 * interpreter does.  Without any: 0.
 */
static uint64_t find_unlooked(const struct gp_model *model, const struct gp_end *last)
{
	uint64_t from_ns = last->start_ns, end_ns = last->start_ns + last->ns;

	for (uint32_t i = 0; i < model->sample_count; i++)
		if (model->samples[i].end_ns > from_ns)
			from_ns = model->samples[i].end_ns;
	return model->sample_count > 0 && end_ns > from_ns ? end_ns - from_ns : 0;
}

/* Of several processes, others may be at work meanwhile. */
static void look_at_host(struct gp_advisor *advisor, const struct gp_end *last)
{
	struct gp_own_time own_time;
	struct gp_case *found;
	struct own *own;

	if (advisor->scope.model_count != 1 ||
	    !gp_own_time_find(advisor, last, last->start_ns, last->start_ns + last->ns, &own_time))
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, HOST_WORK, 0);
	own = found->own;
	gp_own_time_put(advisor, found, last, advisor->model->pid, &own_time);
	own->unlooked_ns = find_unlooked(advisor->model, last);
	/* what was seen before is no part of that to speak of */
	own_time.has_looks &= own->unlooked_ns * 2 < own_time.ns;
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

static void tell_returned(const struct returned *returned, FILE *out)
{
	if (returned->bytes < LEAST_RETURNED_BYTES)
		return;
	fprintf(out,
		"; meanwhile %s of managed memory came back from the GPU as the host touched it, in %s piece%s and %s",
		gp_format_bytes(returned->bytes).text, gp_format_count(returned->pieces).text,
		returned->pieces == 1 ? "" : "s", gp_format_ns(returned->ns).text);
	if (returned->faults > 0)
		fprintf(out, ", after %s page fault%s", gp_format_count(returned->faults).text,
			returned->faults == 1 ? "" : "s");
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (found->detail == HOST_WORK) {
		gp_own_time_tell(advisor, found, &own->own_time, "after the last", out);
		tell_returned(&own->returned, out);
	} else if (found->detail == CONTEXTS)
		fprintf(out, "ending contexts took %s after the last operation (%s)",
			gp_format_ns(own->contexts_ns).text,
			gp_advisor_text_of(advisor, own->function));
	else
		fprintf(out, "NCCL took %s to end communicators", gp_format_ns(own->nccl_ns).text);
}

#define END_EARLIER                                                                                \
	"do what can be done piece by piece while the GPU still works on what follows, or on the " \
	"GPU"

static const char *const changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] = END_EARLIER "; perf record -g tells what takes it",
	[GP_LANGUAGE_PYTHON] = END_EARLIER,
	[GP_LANGUAGE_TORCH] = END_EARLIER,
	[GP_LANGUAGE_JAX] = END_EARLIER,
	[GP_LANGUAGE_CUPY] = END_EARLIER,
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (own->returned.bytes >= LEAST_RETURNED_BYTES &&
	    own->returned.ns >= own->own_time.ns / LEAST_RETURNED_PART)
		fputs("prefetch what the host will read (cudaMemPrefetchAsync to the host), else each piece takes a page fault; ",
		      out);
	if (found->detail == HOST_WORK && own->unlooked_ns * 2 >= own->own_time.ns)
		fprintf(out,
			"no sample found Python at work in the last %s: it was ending, and what it unloads takes that long; os._exit(), once all files are closed, leaves that out",
			gp_format_ns(own->unlooked_ns).text);
	else if (found->detail == HOST_WORK)
		gp_language_advise(advisor, found, changes, out);
	else if (found->detail == CONTEXTS)
		fprintf(out,
			"leave %s out before the program ends%s: then the driver frees all by itself; only tools that look for what was never freed need it",
			gp_advisor_text_of(advisor, own->function),
			gp_language_of(advisor->scope.models[found->process]) == GP_LANGUAGE_NATIVE
				? ""
				: ", or, where a library calls it as Python ends, end by os._exit() once all files are closed");
	else
		fputs("create few communicators, split others from them (ncclCommSplit), and destroy them as a group (ncclGroupStart, ncclGroupEnd)",
		      out);
}

/* The second clause of what the program did says when, or which calls. */
static bool names_place(const struct gp_case *found)
{
	return found->detail == HOST_WORK;
}

const struct gp_rule gp_rule_wind_down = {
	.id = "wind-down",
	.title = "the process continues long after the last GPU operation",
	.meaning =
		"Between its last operation and its last CUDA call a process checks or writes results, for example. Stack samples (--host-samples) show what Python did; if no sample falls into half of that time, Python was exiting. For other programs the finding names the longest time between two calls. With several processes it names neither, as the others may still work. NCCL needs time to destroy communicators (known by its NVTX ranges). Calls that destroy contexts (cudaDeviceReset, cuDevicePrimaryCtxRelease, cuCtxDestroy) are not needed: the driver destroys contexts at exit. All of this is a one-time cost, which hardly matters in a long run. The time after the last CUDA call is not recorded.",
	.change =
		"Process results in pieces while the GPU works, or on the GPU. Communicators: create few, and destroy them as a group (ncclGroupStart, ncclGroupEnd). Contexts: remove cudaDeviceReset and similar calls before the exit, unless a tool such as compute-sanitizer needs them to report leaks.",
	.ignore =
		"The program runs for a long time, or it checks the results of the GPU, as tests and benchmarks do.",
	.threshold = {.saves_percent = 5, .saves_ns = 100000000, .count = 1},
	.is_once = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
	.names_place = names_place,
};
