#include "report/advice/rules/host_time.h"

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/base/text/text.h"

#define LEAST_PERCENT 10   /* of the time: what is less is not worth a word */
#define LOOK_BACK     1000 /* calls, for one with a stack */
#define MOST_NESTED   4u   /* calls in each other */

static const char *const compiler_changes[GP_COMPILERS] = {
	[GP_COMPILER_TORCH] =
		"a function is compiled when it is first called with such shapes: do that before what is measured; what was compiled and tuned is kept for the next run if TORCHINDUCTOR_CACHE_DIR stays (else in /tmp/torchinductor_USER)",
	[GP_COMPILER_TRITON] =
		"a kernel is compiled at its first launch: do that before what is measured, and keep TRITON_CACHE_DIR (else ~/.triton/cache)",
	[GP_COMPILER_JAX] =
		"a function is compiled when it is first called with such shapes: do that before what is measured; JAX keeps what was compiled for the next run in JAX_COMPILATION_CACHE_DIR, if that is set (with jax_persistent_cache_min_compile_time_secs=0 also what took less than a second)",
	[GP_COMPILER_CUPY] =
		"a kernel is compiled when it is first used: do that before what is measured, and keep CUPY_CACHE_DIR (else ~/.cupy/kernel_cache)",
	[GP_COMPILER_NUMBA] =
		"a kernel is compiled when it is first called with such types: do that before what is measured; @cuda.jit(cache=True) keeps it for the next run",
	[GP_COMPILER_EXTENSION] = "build the extension beforehand: setup.py with CUDAExtension",
	[GP_COMPILER_IMPORT] =
		"what is imported while the GPU waits can be imported before the work begins: the run is shorter only without it (python3 -X importtime lists what takes how long)",
};

static const char *const tuner_changes[GP_TUNERS] = {
	[GP_TUNER_INDUCTOR] =
		"kernels are compiled and tried out when they are first used: do that before what is measured; what was chosen is kept for the next run if TORCHINDUCTOR_CACHE_DIR stays (else in /tmp/torchinductor_USER)",
	[GP_TUNER_TRITON] =
		"configurations are compiled and tried out at the first launch with such keys: do that before what is measured, try fewer, or keep the choice (triton.autotune's cache_results=True)",
	[GP_TUNER_CUDNN] =
		"algorithms are tried out for each new shape: do that before what is measured, or switch it off (torch.backends.cudnn.benchmark=False)",
	[GP_TUNER_TUNABLE] =
		"operators are tuned for each new shape: do that once, and run with the results (torch.cuda.tunable.tuning_enable(False))",
};

static enum gp_compiler compiler_of(const struct gp_tuning *tuning, const struct gp_call *call)
{
	enum gp_compiler compiler;

	if (!call || call->stack == GP_NONE)
		return GP_COMPILER_NONE;
	compiler = (enum gp_compiler)tuning->marks[call->stack].compiler;
	/* ranges tell that better */
	return compiler == GP_COMPILER_JAX && tuning->compiling_count > 0 ? GP_COMPILER_NONE
									  : compiler;
}

/* What others import than the thread that the GPU waits for says nothing. */
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

/* What a walk over calls looks at: on the process's timeline. */
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

static uint32_t first_call(const struct gp_model *model, const struct window *window)
{
	return gp_array_lower_bound(model->calls, model->call_count, sizeof(*model->calls),
				    is_before, window);
}

static void look_at_thread(const struct gp_advisor *advisor, struct gp_host_time *host,
			   const struct window *window, bool is_own)
{
	const struct gp_model *model = advisor->model;
	uint32_t at = first_call(model, window);
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
 * Whether the thread was in no import when the window began, as far as its last call with a stack
 * tells.  Else it may do all that it does in that import, as a program does that is itself
 * imported: that says nothing.
 */
static bool began_outside_imports(const struct gp_advisor *advisor, const struct window *window)
{
	const struct gp_call *calls = advisor->model->calls;
	uint32_t at = first_call(advisor->model, window);

	for (uint32_t i = 0; i < LOOK_BACK && at > 0; i++) {
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

/*
 * The last range of the thread that had begun by the middle of the window, or one that it lies in.
 */
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

/*
 * Of the calls before an index the one that ends last: one may be made in another, and end in it.
 */
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
	const struct window window = {start_ns, end_ns, thread};
	uint32_t at = first_call(model, &window);
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

static bool is_much(const struct gp_host_time *host, uint64_t ns)
{
	return ns > 0 && ns >= host->total_ns / 100 * LEAST_PERCENT;
}

static void tell_moments(unsigned moments, FILE *out)
{
	if (moments & GP_HOST_BEFORE)
		fputs(" when it began", out);
	if (moments & GP_HOST_BEFORE && moments & GP_HOST_AFTER)
		fputs(" and", out);
	if (moments & GP_HOST_AFTER)
		fputs(" when it ended", out);
	if (moments == GP_HOST_WITHIN)
		fputs(" in it", out);
}

void gp_host_time_tell(const struct gp_host_time *host, const char *of, FILE *out)
{
	if (is_much(host, host->xla_ns))
		fprintf(out, "; XLA compiled for %s of %s", gp_format_ns(host->xla_ns).text, of);
	if (host->compiler != GP_COMPILER_NONE) {
		fprintf(out, "; %s was %s", gp_compiler_name(host->compiler),
			host->compiler == GP_COMPILER_IMPORT
				? "importing"
				: "compiling, or loading what it had compiled,");
		tell_moments(host->moments, out);
	}
	if (host->tuner != GP_TUNER_NONE)
		fprintf(out, "; what comes then is of %s", gp_tuner_name(host->tuner));
	if (host->range && *host->range) {
		fputs("; in range ", out);
		gp_text_print(out, host->range);
	}
	if (is_much(host, host->load_ns))
		fprintf(out, "; loading code took %s of %s", gp_format_ns(host->load_ns).text, of);
}

const char *gp_host_time_change(enum gp_compiler compiler)
{
	return compiler_changes[compiler];
}

static const char *change_of(const struct gp_host_time *host)
{
	if (host->xla_ns * 2 >= host->total_ns)
		return compiler_changes[GP_COMPILER_JAX];
	if (host->load_ns * 2 >= host->total_ns)
		return NULL;
	if (host->tuner == GP_TUNER_XLA)
		return compiler_changes[GP_COMPILER_JAX];
	if (host->compiler != GP_COMPILER_NONE)
		return compiler_changes[host->compiler];
	return tuner_changes[host->tuner];
}

bool gp_host_time_advise(const struct gp_host_time *host, FILE *out)
{
	const char *change = change_of(host);

	if (change)
		fputs(change, out);
	return change != NULL;
}
