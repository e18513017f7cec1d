#include "report/advice/rules/host_time.h"

#include "report/base/array.h"

#define MOST_NESTED 4u /* calls in each other */

static enum gp_compiler compiler_of(const struct gp_tuning *tuning, const struct gp_call *call)
{
	enum gp_compiler compiler;

	if (!call || call->stack == GP_NONE)
		return GP_COMPILER_NONE;
	compiler = (enum gp_compiler)tuning->marks[call->stack].compiler;
	/* the ranges of XLA are better */
	return compiler == GP_COMPILER_JAX && tuning->compiling_count > 0 ? GP_COMPILER_NONE
									  : compiler;
}

/* Imports matter only in the thread that the GPU waits for. */
static enum gp_compiler compiler_for(const struct gp_tuning *tuning, const struct gp_call *call,
				     bool is_own)
{
	enum gp_compiler compiler = compiler_of(tuning, call);

	return compiler == GP_COMPILER_IMPORT && !is_own ? GP_COMPILER_NONE : compiler;
}

bool gp_host_time_ends_in_import(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return compiler_of(advisor->tuning, at->call_after) == GP_COMPILER_IMPORT;
}

/* A compiler counts for more than an import. */
static void note_compiler(struct gp_host_time *host, enum gp_compiler compiler,
			  enum gp_host_moment moment)
{
	if (compiler == GP_COMPILER_NONE)
		return;
	if (host->compiler == GP_COMPILER_NONE || host->compiler == GP_COMPILER_IMPORT) {
		host->moments = host->compiler == compiler ? host->moments : 0;
		host->compiler = compiler;
	}
	if (host->compiler == compiler)
		host->moments |= moment;
}

static uint64_t overlap_ns(uint64_t a_start, uint64_t a_end, uint64_t b_start, uint64_t b_end)
{
	uint64_t start = a_start > b_start ? a_start : b_start, end = a_end < b_end ? a_end : b_end;

	return start < end ? end - start : 0;
}

/* A time of a thread, on the process's timeline. */
struct window {
	uint64_t start_ns, end_ns;
	uint32_t thread;
};

static bool is_before(const void *element, const void *key)
{
	const struct gp_call *call = element;
	const struct window *window = key;

	return call->thread_id != window->thread ? call->thread_id < window->thread
						 : call->start_ns < window->start_ns;
}

uint32_t gp_host_first_call(const struct gp_model *model, uint32_t thread, uint64_t start_ns)
{
	const struct window window = {.start_ns = start_ns, .thread = thread};

	return gp_array_lower_bound(model->calls, model->call_count, sizeof(*model->calls),
				    is_before, &window);
}

static void look_at_thread(const struct gp_advisor *advisor, struct gp_host_time *host,
			   const struct window *window, bool is_own)
{
	const struct gp_model *model = advisor->model;
	uint32_t at = gp_host_first_call(model, window->thread, window->start_ns);
	uint64_t until_ns = 0, load_ns = 0;

	for (; at < model->call_count && model->calls[at].thread_id == window->thread &&
	       model->calls[at].start_ns < window->end_ns;
	     at++) {
		const struct gp_call *call = &model->calls[at];

		note_compiler(host, compiler_for(advisor->tuning, call, is_own), GP_HOST_WITHIN);
		if (gp_advisor_class(advisor, call) != GP_API_MODULE || call->start_ns < until_ns)
			continue;
		until_ns = gp_call_end_ns(call);
		load_ns += overlap_ns(call->start_ns, until_ns, window->start_ns, window->end_ns);
	}
	if (load_ns > host->load_ns)
		host->load_ns = load_ns;
}

/*
 * Whether the thread was outside of imports before the window, according to its last call with a
 * stack.  A program that is itself imported is always in an import.
 */
static bool began_outside_imports(const struct gp_advisor *advisor, const struct window *window)
{
	const struct gp_call *calls = advisor->model->calls;
	uint32_t at = gp_host_first_call(advisor->model, window->thread, window->start_ns);

	for (uint32_t i = 0; i < GP_LOOK_BACK && at > 0; i++) {
		const struct gp_call *call = &calls[--at];

		if (call->thread_id != window->thread)
			return false;
		if (call->stack != GP_NONE)
			return advisor->tuning->marks[call->stack].compiler == GP_COMPILER_NONE;
	}
	return false;
}

static bool begins_until(const void *element, const void *key)
{
	const struct gp_range *range = element;
	const struct window *window = key;

	return range->thread_id != window->thread ? range->thread_id < window->thread
						  : range->start_ns <= window->start_ns;
}

/* The range that was open last in the middle of the window, or one around it. */
static const char *find_range(const struct gp_model *model, const struct window *window)
{
	uint64_t length_ns = window->end_ns - window->start_ns;
	const struct window middle = {.start_ns = window->start_ns + length_ns / 2,
				      .thread = window->thread};
	uint32_t at = gp_array_lower_bound(model->ranges, model->range_count,
					   sizeof(*model->ranges), begins_until, &middle);

	while (at > 0 && model->ranges[at - 1].style != GP_STYLE_PUSH_POP)
		at--;
	for (at = at > 0 ? at - 1 : GP_NONE; at != GP_NONE; at = model->ranges[at].parent) {
		const struct gp_range *range = &model->ranges[at];

		if (range->thread_id != window->thread)
			return NULL;
		if (overlap_ns(range->start_ns, range->end_ns, window->start_ns, window->end_ns) *
			    5 >=
		    length_ns * 4)
			return gp_model_range_text(model, range);
	}
	return NULL;
}

const char *gp_host_range_of(const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns)
{
	return find_range(model, &(struct window){start_ns, end_ns, thread});
}

static const struct gp_call *of_thread(const struct gp_model *model, uint32_t index,
				       uint32_t thread)
{
	return index < model->call_count && model->calls[index].thread_id == thread
		       ? &model->calls[index]
		       : NULL;
}

/* The call before an index that ends last: calls can be nested. */
static const struct gp_call *last_before(const struct gp_model *model, uint32_t at, uint32_t thread)
{
	const struct gp_call *last = NULL;

	for (uint32_t i = 1; i <= MOST_NESTED && i <= at; i++) {
		const struct gp_call *call = of_thread(model, at - i, thread);

		if (call && (!last || gp_call_end_ns(call) > gp_call_end_ns(last)))
			last = call;
	}
	return last;
}

struct gp_host_pause gp_host_pause_of(const struct gp_model *model, uint32_t thread,
				      uint64_t start_ns, uint64_t end_ns)
{
	uint32_t at = gp_host_first_call(model, thread, start_ns);
	const struct gp_call *before = last_before(model, at, thread);
	struct gp_host_pause longest = {0};

	for (uint64_t reached_ns = start_ns; reached_ns < end_ns; at++) {
		const struct gp_call *after = of_thread(model, at, thread);
		uint64_t until_ns = after && after->start_ns < end_ns ? after->start_ns : end_ns;

		if (before && gp_call_end_ns(before) > reached_ns)
			reached_ns = gp_call_end_ns(before);
		if (until_ns > reached_ns &&
		    until_ns - reached_ns > longest.end_ns - longest.start_ns)
			longest = (struct gp_host_pause){before, after, reached_ns, until_ns};
		if (until_ns == end_ns)
			break;
		if (!before || gp_call_end_ns(after) > gp_call_end_ns(before))
			before = after;
	}
	return longest;
}

struct gp_host_time gp_host_time_of(const struct gp_advisor *advisor,
				    const struct gp_idle_gap_at *at)
{
	const struct gp_model *model = advisor->model;
	const struct gp_tuning *tuning = advisor->tuning;
	struct gp_host_time host = {.total_ns = gp_idle_gap_ns(at->idle_gap)};
	struct window window = {.start_ns = at->idle_gap->start_ns - model->base_unix_ns,
				.end_ns = at->idle_gap->end_ns - model->base_unix_ns};

	note_compiler(&host, compiler_for(tuning, at->call_before, false), GP_HOST_BEFORE);
	note_compiler(&host, compiler_for(tuning, at->call_after, true), GP_HOST_AFTER);
	if (at->call_after->stack != GP_NONE)
		host.tuner = (enum gp_tuner)tuning->marks[at->call_after->stack].tuner;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		window.thread = model->threads[i].id;
		look_at_thread(advisor, &host, &window, window.thread == at->call_after->thread_id);
	}
	window.thread = at->call_after->thread_id;
	if (host.compiler == GP_COMPILER_IMPORT && !began_outside_imports(advisor, &window))
		host.compiler = GP_COMPILER_NONE;
	host.range = find_range(model, &window);
	for (uint32_t i = 0; i < tuning->compiling_count; i++)
		host.xla_ns +=
			overlap_ns(tuning->compiling[i].start_ns, tuning->compiling[i].end_ns,
				   window.start_ns, window.end_ns);
	return host;
}

static void add_long(struct gp_document *values, const char *id, uint64_t ns, uint64_t total_ns)
{
	if (ns >= total_ns / 100 * GP_HOST_PERCENT)
		gp_document_add_number(values, id, GP_UNIT_NS, ns);
}

void gp_host_time_add_values(const struct gp_host_time *host, struct gp_document *values)
{
	static const char *const moments[] = {
		"",
		"when it began",
		"in it",
		"when it began",
		"when it ended",
		"when it began and when it ended",
		"when it ended",
		"when it began and when it ended",
	};

	add_long(values, "xla_ns", host->xla_ns, host->total_ns);
	if (host->compiler != GP_COMPILER_NONE) {
		gp_document_add_text(values, "compiler", gp_compiler_name(host->compiler));
		gp_document_add_text(values, "compiler_moment", moments[host->moments]);
	}
	if (host->tuner != GP_TUNER_NONE)
		gp_document_add_text(values, "tuner", gp_tuner_name(host->tuner));
	gp_document_add_text(values, "range", host->range);
	add_long(values, "load_ns", host->load_ns, host->total_ns);
}

static enum gp_compiler compiler_to_change(const struct gp_host_time *host)
{
	if (host->xla_ns * 2 >= host->total_ns)
		return GP_COMPILER_JAX;
	if (host->load_ns * 2 >= host->total_ns)
		return GP_COMPILER_NONE;
	return host->tuner == GP_TUNER_XLA ? GP_COMPILER_JAX : host->compiler;
}

void gp_compiler_add_value(enum gp_compiler compiler, struct gp_document *values)
{
	if (compiler != GP_COMPILER_NONE)
		gp_document_add_text(values, "compiled_by", gp_compiler_name(compiler));
}

void gp_host_time_add_change(const struct gp_host_time *host, struct gp_document *values)
{
	enum gp_compiler compiler = compiler_to_change(host);

	gp_compiler_add_value(compiler, values);
	if (compiler == GP_COMPILER_NONE && host->load_ns * 2 < host->total_ns &&
	    host->tuner != GP_TUNER_NONE)
		gp_document_add_text(values, "tuned_by", gp_tuner_name(host->tuner));
}
