/*
 * What NCCL takes to make its communicators and to end them, contexts that take a second and more to be made, and before the first operation what
 * it took to page-lock memory, and what the program did for itself, if that is most of that time.  Speaks of what takes 5 % of the recorded time and 100 ms.
 */
#include "report/rules/rules.h"

#include <errno.h>

#include "report/answers/call_cause.h"
#include "report/answers/ends.h"
#include "report/array.h"
#include "report/format.h"
#include "report/room.h"
#include "report/rules/advisor.h"
#include "report/rules/language.h"
#include "report/rules/meanwhile.h"

/* With its own code loaded, a context takes 100 to 300 ms. */
#define SLOW_CONTEXT_NS 1000000000u

/* Of a range: what is shorter only asks something. */
#define LEAST_NS 1000000u

/* What is shorter is nobody's start. */
#define LEAST_HOST_NS 100000000u

/* A case's detail, besides those of enum gp_end_part: what the program did for itself. */
#define HOST_WORK ((uint32_t)GP_END_PARTS)
#define HOST_END  ((uint32_t)GP_END_PARTS + 1) /* ... and after the last operation */

struct own {
	uint64_t make_ns, end_ns; /* at the process's start, and at its end */
	uint64_t bytes;           /* of page-locked memory */
	uint64_t whole_ns;        /* of the program's own: what it is a part of ... */
	uint64_t calls;           /* ... the text of the calls around most of it ... */
	bool has_looks;           /* ... and whether Python's part of it is known */
};

#define TEXT_BYTES 1536

/* The longest time between calls is worth a word where it is that part of all of them. */
#define LEAST_PART 10u

/* Whether most of a lull of the present process is within that time. */
static bool is_mostly_in(const struct gp_advisor *advisor, const struct gp_lull *lull,
			 uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < lull->start_ns)
		start_ns = lull->start_ns;
	if (end_ns > lull->end_ns)
		end_ns = lull->end_ns;
	return lull->after.model == advisor->process && gp_lull_is_between(lull) &&
	       end_ns > start_ns && 2 * (end_ns - start_ns) >= gp_lull_ns(lull);
}

/* Communicators may be made when there was some work already: other rules are to leave that time out. */
static void explain_lulls(struct gp_advisor *advisor, const struct gp_range *range)
{
	uint64_t start_ns = advisor->model->base_unix_ns + range->start_ns;
	uint64_t end_ns = advisor->model->base_unix_ns + range->end_ns;

	for (size_t i = 0; i < advisor->basis->lulls.device_count && advisor->error == 0; i++) {
		struct gp_lull *lull =
			gp_lulls_at(&advisor->basis->lulls, i, start_ns + (end_ns - start_ns) / 2);

		if (!lull || lull->told != GP_NONE ||
		    !is_mostly_in(advisor, lull, start_ns, end_ns))
			continue;
		lull->told = (uint32_t)(gp_advisor_case(advisor, GP_NO_SITE, GP_END_NCCL, 0) -
					advisor->cases);
		advisor->has_told = true;
	}
}

static void explain_all(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].end_ns - model->ranges[i].start_ns >= LEAST_NS &&
		    gp_range_is_set_up(model, &model->ranges[i]))
			explain_lulls(advisor, &model->ranges[i]);
}

static void add(struct gp_advisor *advisor, uint32_t part, uint64_t start_ns, uint64_t end_ns)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, part, 0);
	struct own *own = found->own;

	gp_advisor_add(advisor, found, 0, start_ns + end_ns, start_ns + end_ns, NULL);
	own->make_ns = start_ns;
	own->end_ns = end_ns;
}

/* ---- page-locked memory ---- */

static bool makes_context(const struct gp_model *model, uint32_t call)
{
	for (uint32_t i = 0; i < model->context_count; i++)
		if (gp_model_context_call(model, model->contexts[i].id) == call)
			return true;
	return false;
}

/* Of a call that allocates, without the context that it may have made first. */
static uint64_t allocation_ns(const struct gp_model *model, uint32_t index)
{
	const struct gp_call *call = &model->calls[index];

	if (call->duration_ns < LEAST_NS || !makes_context(model, index))
		return call->duration_ns;
	return gp_call_end_ns(call) - gp_call_made_context_ns(model, call);
}

static void look_at_locked(struct gp_advisor *advisor, const struct gp_end *first)
{
	const struct gp_model *model = advisor->model;
	const struct gp_call *longest = NULL;
	uint64_t ns = 0, bytes = 0;
	struct gp_case *found;
	struct own *own;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC || event->call == GP_NONE ||
		    event->memory_kind != GP_MEMORY_PINNED ||
		    event->time_ns > first->start_ns + first->ns)
			continue;
		if (!longest || model->calls[event->call].duration_ns > longest->duration_ns)
			longest = &model->calls[event->call];
		ns += allocation_ns(model, event->call);
		bytes += event->bytes;
	}
	if (ns > first->part_ns[GP_END_MEMORY]) /* of several threads */
		ns = first->part_ns[GP_END_MEMORY];
	if (ns < LEAST_HOST_NS)
		return;
	add(advisor, GP_END_MEMORY, ns, 0);
	found = gp_advisor_case(advisor, GP_NO_SITE, GP_END_MEMORY, 0);
	found->site = gp_advisor_site(advisor, longest);
	gp_advisor_show(advisor, found, longest);
	own = found->own;
	own->bytes = bytes;
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

static void put_call(const struct gp_advisor *advisor, const struct gp_call *call, uint32_t site,
		     char *text, size_t bytes)
{
	bool is_known = gp_advisor_knows(advisor, site);

	snprintf(text, bytes, "%s%s%s", gp_model_api(advisor->model, call->api).name,
		 is_known ? " at " : "",
		 is_known ? gp_call_sites_at(advisor->sites, site).place : "");
}

/* The time in which no thread was in any call, and the longest stretch of that. */
struct own_time {
	uint64_t ns, longest_ns, pieces;
	const struct gp_call *before, *after; /* that longest one; NULL: there is none */
};

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	uint64_t left = calls[*(const uint32_t *)a].start_ns,
		 right = calls[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

/* The calls that began by then, in the order of time; NULL: there is no memory. */
static uint32_t *list_until(const struct gp_model *model, uint64_t to_ns, uint32_t *count)
{
	uint32_t *list = gp_room_take(((size_t)model->call_count + 1) * sizeof(*list));

	*count = 0;
	for (uint32_t i = 0; list && i < model->call_count; i++)
		if (model->calls[i].start_ns <= to_ns)
			list[(*count)++] = i;
	if (list && gp_array_sort(list, *count, sizeof(*list), compare_starts, model->calls) == 0)
		return list;
	gp_room_free(list);
	return NULL;
}

/* From then until the start of the last call that began by to_ns. */
static struct own_time own_time_of(struct gp_advisor *advisor, uint64_t from_ns, uint64_t to_ns)
{
	const struct gp_call *calls = advisor->model->calls, *last = NULL;
	struct own_time own = {0};
	uint32_t count;
	uint32_t *list = list_until(advisor->model, to_ns, &count);

	if (!list)
		advisor->error = -ENOMEM;
	for (uint32_t i = 0; list && i < count; i++) {
		const struct gp_call *call = &calls[list[i]];
		uint64_t reached_ns = last ? gp_call_end_ns(last) : call->start_ns;
		uint64_t since_ns = reached_ns > from_ns ? reached_ns : from_ns;

		if (call->start_ns > since_ns) {
			own.ns += call->start_ns - since_ns;
			own.pieces++;
			if (call->start_ns - since_ns > own.longest_ns)
				own = (struct own_time){own.ns, call->start_ns - since_ns,
							own.pieces, last, call};
		}
		if (!last || gp_call_end_ns(call) > reached_ns)
			last = call;
	}
	gp_room_free(list);
	return own;
}

/* "; that is in 3,210 pieces between its calls, of 1.2ms at most", or "; the longest time between calls is 300.1ms, from cudaFree at main (x.cu:3) to cudaMalloc at load (x.cu:7)" */
static uint64_t text_of_longest(struct gp_advisor *advisor, const struct own_time *own)
{
	char text[TEXT_BYTES], from[TEXT_BYTES / 3], to[TEXT_BYTES / 3];

	/* one of many small pieces is no place to look at */
	if (own->longest_ns * LEAST_PART < own->ns) {
		snprintf(text, sizeof(text),
			 "; that is in %s pieces between its calls, of %s at most",
			 gp_format_count(own->pieces).text, gp_format_ns(own->longest_ns).text);
		return gp_advisor_text(advisor, text);
	}
	put_call(advisor, own->before, gp_advisor_site(advisor, own->before), from, sizeof(from));
	put_call(advisor, own->after, gp_advisor_site(advisor, own->after), to, sizeof(to));
	snprintf(text, sizeof(text), "; the longest time between calls is %s, from %s to %s",
		 gp_format_ns(own->longest_ns).text, from, to);
	return gp_advisor_text(advisor, text);
}

/* Where the program did something else than to call CUDA or NCCL for most of an end. */
static void take_host(struct gp_advisor *advisor, uint32_t detail, const struct gp_end *end,
		      struct own_time time, uint32_t thread)
{
	struct gp_case *found;
	struct own *own;

	time.ns -= time.ns < end->part_ns[GP_END_NCCL] ? time.ns : end->part_ns[GP_END_NCCL];
	if (time.ns < LEAST_HOST_NS || time.ns * 2 < end->ns)
		return;
	add(advisor, detail, time.ns, 0);
	found = gp_advisor_case(advisor, GP_NO_SITE, detail, 0);
	own = found->own;
	own->has_looks = gp_meanwhile_add_time(advisor, found, thread, end->start_ns,
					       end->start_ns + end->ns);
	own->calls = text_of_longest(advisor, &time);
	own->whole_ns = end->ns;
}

static void look_at_host(struct gp_advisor *advisor, const struct gp_end *first)
{
	const struct gp_call *starter = NULL;

	if (first->ns >= LEAST_HOST_NS)
		starter = find_starter(advisor->model, first->start_ns + first->ns);
	if (starter)
		take_host(advisor, HOST_WORK, first, own_time_of(advisor, 0, starter->start_ns),
			  starter->thread_id);
}

/* Of several processes, others may be at work meanwhile. */
static void look_at_host_end(struct gp_advisor *advisor, const struct gp_end *last)
{
	if (last->ns >= LEAST_HOST_NS && advisor->scope.model_count == 1)
		take_host(advisor, HOST_END, last,
			  own_time_of(advisor, last->start_ns, last->start_ns + last->ns),
			  advisor->model->pid);
}

static void tell_host(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	fprintf(out, "%s operation, for %s of %s, the program was in no call of CUDA",
		found->detail == HOST_END ? "after the last" : "until the first",
		gp_format_ns(own->make_ns).text, gp_format_ns(own->whole_ns).text);
	if (own->has_looks)
		gp_meanwhile_tell(advisor, found, out);
	else
		fputs(gp_advisor_text_of(advisor, own->calls), out);
}

#define IMPORT_LESS                                                                                \
	"import only what is used (python3 -X importtime lists what takes how long), and read "    \
	"data in other threads or processes"

static const char *const host_changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] =
		"do what can be done in another thread while the context is made, or "
		"keep it for the next run; perf record -g tells what takes it",
	[GP_LANGUAGE_PYTHON] = IMPORT_LESS,
	[GP_LANGUAGE_TORCH] = IMPORT_LESS,
	[GP_LANGUAGE_JAX] = IMPORT_LESS,
	[GP_LANGUAGE_CUPY] = IMPORT_LESS,
};

#define END_EARLIER                                                                                \
	"do what can be done piece by piece while the GPU still works on what follows, or on the " \
	"GPU"

static const char *const end_changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] = END_EARLIER "; perf record -g tells what takes it",
	[GP_LANGUAGE_PYTHON] = END_EARLIER,
	[GP_LANGUAGE_TORCH] = END_EARLIER,
	[GP_LANGUAGE_JAX] = END_EARLIER,
	[GP_LANGUAGE_CUPY] = END_EARLIER,
};

static void look(struct gp_advisor *advisor)
{
	struct gp_ends ends;

	advisor->error = gp_ends_of(&ends, advisor->model);
	if (advisor->error != 0)
		return;
	if (ends.nccl_make_ns + ends.nccl_end_ns >= LEAST_NS) {
		add(advisor, GP_END_NCCL, ends.nccl_make_ns, ends.nccl_end_ns);
		explain_all(advisor);
	}
	if (ends.first.part_ns[GP_END_CONTEXT] >= SLOW_CONTEXT_NS)
		add(advisor, GP_END_CONTEXT, ends.first.part_ns[GP_END_CONTEXT], 0);
	look_at_locked(advisor, &ends.first);
	look_at_host(advisor, &ends.first);
	look_at_host_end(advisor, &ends.last);
}

/* Whether the process made more than one. */
static bool makes_several(const struct gp_model *model)
{
	struct gp_ends ends;

	return gp_ends_of(&ends, model) == 0 && ends.nccl_made > 1;
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (found->detail == HOST_WORK || found->detail == HOST_END) {
		tell_host(advisor, found, out);
		return;
	}
	if (found->detail == GP_END_CONTEXT) {
		fprintf(out, "making contexts took %s before the first operation",
			gp_format_ns(own->make_ns).text);
		return;
	}
	if (found->detail == GP_END_MEMORY) {
		fprintf(out,
			"allocating %s of page-locked memory took %s before the first operation",
			gp_format_bytes(own->bytes).text, gp_format_ns(own->make_ns).text);
		return;
	}
	fputs("NCCL took ", out);
	if (own->make_ns > 0)
		fprintf(out, "%s to make communicators", gp_format_ns(own->make_ns).text);
	if (own->end_ns > 0)
		fprintf(out, "%s%s to end %s", own->make_ns > 0 ? ", and " : "",
			gp_format_ns(own->end_ns).text,
			own->make_ns > 0 ? "them" : "communicators");
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->process];

	if (found->detail == HOST_WORK)
		gp_language_advise(advisor, found, host_changes, out);
	else if (found->detail == HOST_END)
		gp_language_advise(advisor, found, end_changes, out);
	else if (found->detail == GP_END_CONTEXT)
		fputs("keep the driver loaded between runs (nvidia-smi -pm 1), and let the process "
		      "see only the GPUs that it uses (CUDA_VISIBLE_DEVICES)",
		      out);
	else if (found->detail == GP_END_MEMORY)
		fputs("page-lock only what is copied again and again: one copy from pageable "
		      "memory takes less than to page-lock it",
		      out);
	else
		fprintf(out, "%sdo something else while they are made (%s)",
			makes_several(model)
				? "make few communicators, others from them (ncclCommSplit), and "
				: "",
			gp_language_of(model) == GP_LANGUAGE_TORCH
				? "init_process_group with a device_id"
				: "ncclCommInitRankConfig with blocking = 0");
}

/* The second clause of what the program did says when, or which calls. */
static bool names_place(const struct gp_case *found)
{
	return found->detail == HOST_WORK || found->detail == HOST_END;
}

const struct gp_rule gp_rule_start_up = {
	.id = "start-up",
	.title = "it takes long until the GPU has something to do, or after it had",
	.meaning =
		"A process makes a context on each GPU before its first operation and, with NCCL, "
		"communicators, which all of their processes make together: whoever comes first "
		"waits for the last. Page-locked memory takes long, too: the system finds and "
		"locks each page of it. And it imports, or reads data: what Python did from the "
		"first "
		"call of CUDA on is told by looks at its stacks (--host-samples), of other "
		"programs "
		"the longest time between two calls, and which these are. It is so once in a "
		"process: what is a large part of a short run is nothing in a long one. NCCL's "
		"functions are known by its NVTX ranges alone: of a build of NCCL without them, or "
		"without nvtx in --trace, their time is taken for the program's own. Communicators "
		"are mostly ended after the last operation: that is in its end. Of a process "
		"alone, what it does for itself "
		"between its last operation and its last call is told, too: it checks results, or "
		"writes them. What a process does "
		"before its first call of CUDA is not recorded; the summary's start says how long "
		"it took.",
	.change =
		"Communicators: make few, others from them (ncclCommSplit), all at once "
		"(ncclGroupStart, ncclGroupEnd), while the program reads its data "
		"(ncclCommInitRankConfig with blocking = 0; PyTorch: init_process_group with a "
		"device_id). Contexts: nvidia-smi -pm 1 keeps the driver loaded where no program "
		"does; CUDA_VISIBLE_DEVICES hides GPUs that are not used. Page-locked memory: only "
		"for what is copied again and again. The program's own: "
		"import only what is used (python3 -X importtime lists what takes how long), read "
		"data in another thread while the context is made; after the last operation, what "
		"can be done "
		"piece by piece while the GPU works.",
	.ignore = "The program runs for long: then it is over soon.",
	.threshold = {.saves_percent = 5, .saves_ns = 100000000, .count = 1},
	.is_once = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
	.names_place = names_place,
};
