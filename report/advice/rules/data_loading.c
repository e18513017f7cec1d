/*
 * The GPU waits for the host, and then for a copy.  Speaks where before copies to the device, of
 * one call site, the GPU had nothing to do while the host did something of its own, in no call of
 * CUDA, for 200 us and more: at least 5 times, 10 % of the recorded time and 2 ms, not counting
 * what is ten times as long as the median: such slow batches are told with the others of a place
 * that is told, if they come to less than half of what these do.  Idle times that rules before it
 * explain count, too, where the host was in no call for four fifths of them.  Not where the host
 * compiled, or imported. What else was in such idle times, as the copy itself if it is slow, is for
 * others.
 */
#include "report/advice/rules/rules.h"

#include <string.h>

#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/host_time.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/meanwhile.h"
#include "report/base/text/text.h"

/* Of idle times of equal kind, those that take most of all. */
struct most {
	uint64_t ns;
	uint64_t before, after; /* the texts of the calls around them ... */
	uint32_t before_site, after_site;
};

struct own {
	struct most calls;                /* around what the host did ... */
	bool names_calls;                 /* ... whose line is known */
	uint64_t range, range_ns;         /* the text of the range that the host was in for most */
	uint64_t least_bytes, most_bytes; /* of a batch */
	bool has_looks;                   /* at Python's stacks, of any of its idle times */
	bool takes_turns; /* several threads copy, as those of a server do that wait for requests */
	uint32_t thread_id; /* the first one */
	uint64_t slow_ns;   /* what is ten times as long as usual, in all ... */
	uint64_t usual_ns;  /* ... beside the others */
};

#define LEAST_NS 200000u

/* On average; with less the host may have done anything. */
#define LEAST_BYTES 4096u

/* Nor does reading, decoding or making data take so long: 16 MB/s. */
#define LEAST_BYTES_PER_NS 0.016
#define MOST_CALLS         64u /* of those that are looked at for the copies of a batch */

static uint64_t host_ns(const struct gp_idle_gap_at *at)
{
	return gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_HOST);
}

/*
 * The GPU computed, or cleared its memory, and a result may have been fetched: then comes new data,
 * which the host took its time for.
 */
static bool is_wait_for_data(const struct gp_idle_gap_at *at)
{
	bool computed = at->before->kind == GP_OP_KERNEL || at->before->kind == GP_OP_GRAPH ||
			at->before->kind == GP_OP_SET || at->before->copy_kind == GP_COPY_DTOH;

	return computed && at->after->kind == GP_OP_COPY && at->after->copy_kind == GP_COPY_HTOD &&
	       host_ns(at) >= LEAST_NS;
}

static bool is_of_host(const struct gp_idle_gap_at *at)
{
	return host_ns(at) * 5 >= gp_idle_gap_ns(at->idle_gap) * 4;
}

static bool is_told(const struct gp_idle_gap_at *at)
{
	return at->idle_gap->told != GP_NONE;
}

static bool is_wait_alone(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return is_wait_for_data(at) && is_of_host(at) && !is_told(at) &&
	       !gp_advisor_tunes(advisor, at->call_after);
}

/*
 * That the host waited before it, in a copy say, is one reason: what it did then for itself is
 * another.
 */
static bool is_wait_behind_others(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return is_wait_for_data(at) && is_of_host(at) && is_told(at) &&
	       !gp_advisor_tunes(advisor, at->call_after);
}

static bool is_wait_among_others(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return is_wait_for_data(at) && !is_of_host(at) && !is_told(at) &&
	       !gp_advisor_tunes(advisor, at->call_after);
}

/*
 * PyTorch calls the thread so that takes data from a DataLoader's workers and puts it into
 * page-locked memory.
 */
static bool has_workers(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->thread_count; i++)
		if (strcmp(model->threads[i].name, "pt_data_pin") == 0)
			return true;
	return false;
}

/* What a call copies so, which may be several at once. */
static uint64_t bytes_of_call(const struct gp_advisor *advisor, const struct gp_call *call,
			      uint8_t copy_kind)
{
	const struct gp_op *ops = advisor->model->ops;
	uint64_t bytes = 0;

	for (uint32_t at = call->first_op; at != GP_NONE; at = ops[at].next_op)
		if (ops[at].copy_kind == copy_kind)
			bytes += ops[at].bytes;
	return bytes;
}

/* With that the host has the GPU compute with the data, or takes what it has computed. */
static bool ends_batch(const struct gp_advisor *advisor, const struct gp_call *call)
{
	uint8_t class = gp_advisor_class(advisor, call);

	return class == GP_API_LAUNCH || class == GP_API_GRAPH_LAUNCH ||
	       bytes_of_call(advisor, call, GP_COPY_DTOH) > 0;
}

/*
 * What the thread copies to the device from that call on until such a call, or until it does
 * something else for long.
 */
static uint64_t bytes_of_batch(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_call *end = advisor->model->calls + advisor->model->call_count;
	uint32_t thread_id = call->thread_id;
	uint64_t bytes = 0, until_ns = call->start_ns;

	if ((size_t)(end - call) > MOST_CALLS)
		end = call + MOST_CALLS;
	for (; call < end && call->thread_id == thread_id; call++) {
		if (call->start_ns >= until_ns + LEAST_NS || ends_batch(advisor, call))
			break;
		bytes += bytes_of_call(advisor, call, GP_COPY_HTOD);
		until_ns = gp_call_end_ns(call);
	}
	return bytes;
}

/*
 * What the host did for itself, from the end of the call before, if that waited, until the call
 * that the idle time ended with: in these it was in CUDA.
 */
static struct gp_interval own_time(const struct gp_advisor *advisor,
				   const struct gp_idle_gap_at *at)
{
	uint64_t base_ns = advisor->model->base_unix_ns, until_ns = at->call_after->start_ns;
	uint64_t from_ns = at->idle_gap->start_ns - base_ns;

	if (at->idle_gap->end_ns - base_ns < until_ns)
		until_ns = at->idle_gap->end_ns - base_ns;
	if (at->call_before && at->call_before->thread_id == at->call_after->thread_id &&
	    gp_call_end_ns(at->call_before) > from_ns)
		from_ns = gp_call_end_ns(at->call_before);
	return (struct gp_interval){from_ns, until_ns > from_ns ? until_ns : from_ns};
}

/* In advisor->habits: the last key of what is kept there of a case. */
enum { CALLS, RANGES };

static uint64_t add_habit(struct gp_advisor *advisor, const struct gp_case *found,
			  const struct most *calls, uint64_t what, uint64_t ns)
{
	const uint64_t key[GP_TALLY_KEYS] = {(uint64_t)(found - advisor->cases),
					     calls->before,
					     calls->after,
					     calls->before_site,
					     calls->after_site,
					     UINT64_MAX - what};
	struct gp_tally_row *row = gp_tally_find(&advisor->habits, key);

	row->sums[0] += ns;
	return row->sums[0];
}

static void keep_range(struct gp_advisor *advisor, struct gp_case *found, const char *range,
		       uint64_t ns)
{
	struct own *own = found->own;
	const struct most key = {.before = gp_advisor_text(advisor, range)};
	uint64_t range_ns = add_habit(advisor, found, &key, RANGES, ns);

	if (range_ns > own->range_ns) {
		own->range_ns = range_ns;
		own->range = key.before;
	}
}

static void keep_calls(struct gp_advisor *advisor, struct gp_case *found,
		       const struct gp_host_pause *pause, uint64_t ns)
{
	const struct gp_model *model = advisor->model;
	struct own *own = found->own;
	struct most calls = {
		.before = gp_advisor_text(advisor, gp_model_api(model, pause->before->api).name),
		.after = gp_advisor_text(advisor, gp_model_api(model, pause->after->api).name),
		.before_site = gp_advisor_site(advisor, pause->before),
		.after_site = gp_advisor_site(advisor, pause->after)};

	calls.ns = add_habit(advisor, found, &calls, CALLS, ns);
	if (calls.ns > own->calls.ns)
		own->calls = calls;
	own->names_calls = gp_advisor_knows(advisor, own->calls.before_site) &&
			   gp_advisor_knows(advisor, own->calls.after_site);
}

/* What is known of the thread meanwhile. */
static void look_meanwhile(struct gp_advisor *advisor, struct gp_case *found,
			   const struct gp_idle_gap_at *at)
{
	const struct gp_interval time = own_time(advisor, at);
	uint32_t thread = at->call_after->thread_id;
	struct own *own = found->own;
	struct gp_host_pause pause;
	const char *range;

	if (time.start_ns == time.end_ns || found == &advisor->spare)
		return;
	pause = gp_host_pause_of(advisor->model, thread, time.start_ns, time.end_ns);
	own->has_looks |=
		gp_meanwhile_add_looks(advisor, found, thread, pause.start_ns, pause.end_ns);
	range = gp_host_range_of(advisor->model, thread, time.start_ns, time.end_ns);
	if (range)
		keep_range(advisor, found, range, host_ns(at));
	if (pause.before && pause.after)
		keep_calls(advisor, found, &pause, host_ns(at));
	if (advisor->habits.error < 0)
		advisor->error = advisor->habits.error;
}

static struct gp_case *case_after(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return gp_advisor_case(advisor, gp_advisor_site(advisor, at->call_after), 0, 0);
}

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t waited_ns = host_ns(at), bytes = bytes_of_batch(advisor, at->call_after);
	struct gp_case *found = case_after(advisor, at);
	struct own *own = found->own;
	bool explains = waited_ns * 2 >= gp_idle_gap_ns(at->idle_gap) && !is_told(at);

	gp_advisor_add(advisor, found, at->idle_gap->start_ns - advisor->model->base_unix_ns,
		       waited_ns, waited_ns, explains ? at->idle_gap : NULL);
	gp_advisor_show_idle_gap(found, at->idle_gap);
	found->bytes += bytes;
	if (found->count == 1) {
		own->thread_id = at->call_after->thread_id;
		own->least_bytes = bytes;
	}
	own->least_bytes = bytes < own->least_bytes ? bytes : own->least_bytes;
	own->most_bytes = bytes > own->most_bytes ? bytes : own->most_bytes;
	own->takes_turns |= own->thread_id != at->call_after->thread_id;
	look_meanwhile(advisor, found, at);
}

static void count_slow(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	struct gp_case *found = case_after(advisor, at);
	struct own *own = found->own;

	own->usual_ns = found->saves_ns;
	own->slow_ns += host_ns(at);
}

static void take_slow(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	const struct gp_case *found = case_after(advisor, at);
	const struct own *own = found->own;

	if (2 * own->slow_ns < own->usual_ns && gp_advisor_is_worth(advisor, found))
		take_idle_gap(advisor, at);
}

/*
 * Where looks found a compiler at work, or imports, what comes then being a copy is chance: the
 * rules of idle times tell that.
 */
static void leave_to_others(struct gp_advisor *advisor)
{
	for (uint32_t i = 0; i < advisor->case_count; i++) {
		struct gp_case *found = &advisor->cases[i];
		const struct own *own = found->own;

		if (gp_advisor_is_present(advisor, found) && own->has_looks &&
		    gp_meanwhile_compiler_by_looks(advisor, found) != GP_COMPILER_NONE)
			found->count = 0;
	}
}

static void look(struct gp_advisor *advisor)
{
	/*
	 * what is usual for the one says nothing of the other; those that others explain first,
	 * while they are told apart
	 */
	gp_advisor_usual_idle_gaps(advisor, LEAST_NS, is_wait_behind_others, take_idle_gap);
	gp_advisor_usual_idle_gaps(advisor, LEAST_NS, is_wait_alone, take_idle_gap);
	gp_advisor_usual_idle_gaps(advisor, LEAST_NS, is_wait_among_others, take_idle_gap);
	/* of those that are waits alone, which the usual ones explain */
	gp_advisor_idle_gaps(advisor, LEAST_NS, is_wait_alone, count_slow);
	gp_advisor_idle_gaps(advisor, LEAST_NS, is_wait_alone, take_slow);
	leave_to_others(advisor);
}

/* Whether it is data at all that the host made meanwhile. */
static bool is_little(const struct gp_case *found)
{
	return found->bytes / found->count < LEAST_BYTES ||
	       (double)found->bytes < LEAST_BYTES_PER_NS * (double)found->time_ns;
}

/* Most of that time was so. */
static bool is_most(const struct gp_case *found, uint64_t ns)
{
	return ns * 2 >= found->time_ns;
}

/* "cudaMemcpyAsync at main (x.cu:7)" */
static void tell_call(const struct gp_advisor *advisor, uint64_t name, uint32_t site, FILE *out)
{
	fputs(gp_advisor_text_of(advisor, name), out);
	if (gp_advisor_knows(advisor, site))
		fprintf(out, " at %s", gp_call_sites_at(advisor->sites, site).place);
}

static void tell_range(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (!is_most(found, own->range_ns))
		return;
	fputs(" in range ", out);
	gp_text_print(out, gp_advisor_text_of(advisor, own->range));
}

/* Where nobody looked. */
static void tell_calls(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	fputs("; meanwhile the host was", out);
	tell_range(advisor, found, out);
	fprintf(out, "%s in no recorded call", is_most(found, own->range_ns) ? ";" : "");
	if (!is_most(found, own->calls.ns))
		return;
	fputs(" from ", out);
	tell_call(advisor, own->calls.before, own->calls.before_site, out);
	fputs(" to ", out);
	tell_call(advisor, own->calls.after, own->calls.after_site, out);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	fprintf(out, "%s times the GPU is idle, for %s on average, until the host copies",
		gp_format_count(found->count).text,
		gp_format_ns(found->time_ns / found->count).text);
	if (own->least_bytes < own->most_bytes)
		fprintf(out, " between %s and", gp_format_bytes(own->least_bytes).text);
	fprintf(out, " %s to it", gp_format_bytes(own->most_bytes).text);
	if (own->takes_turns)
		fputs(", in several threads alternately", out);
	if (!own->has_looks) {
		tell_calls(advisor, found, out);
		return;
	}
	gp_meanwhile_tell_counts(advisor, found, out);
	if (is_most(found, own->range_ns))
		fputs(";", out);
	tell_range(advisor, found, out);
}

static const char more_workers[] =
	"workers of a DataLoader prepare data already, and not fast enough: more of them (num_workers), further ahead (prefetch_factor), or less work for each sample";

static const char not_before[] =
	"what the host does there that the GPU need not wait for goes after the next launches, or into another thread";

#define ELSE_LATER "else after the next launches"
#define WHERE_SOME "; where some do already, in more of them, or with less work for each sample"
#define IN_PYTHON                                                                                  \
	"where that prepares the next data, do so in other threads or processes while the GPU "    \
	"computes, "

static const char *const ahead[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] =
		"where that prepares the next data, do so in other threads while the GPU computes, " ELSE_LATER,
	[GP_LANGUAGE_PYTHON] = IN_PYTHON ELSE_LATER WHERE_SOME,
	[GP_LANGUAGE_TORCH] =
		"where that prepares the next data, do so in other processes while the GPU computes (DataLoader: num_workers, pin_memory), " ELSE_LATER
			WHERE_SOME,
	[GP_LANGUAGE_CUPY] = IN_PYTHON ELSE_LATER WHERE_SOME,
	[GP_LANGUAGE_JAX] = IN_PYTHON
	"and put it there before it is needed (jax.device_put returns immediately), " ELSE_LATER
		WHERE_SOME,
};

static const char more_in_threads[] =
	"; where some threads do already, in more of them, in page-locked buffers (cudaMallocHost), or with less work for each piece";

/*
 * Where neither looks nor a range say what the host did, and ours was the recorder that could have
 * looked.
 */
static void advise_to_sample(const struct gp_advisor *advisor, const struct gp_case *found,
			     FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct own *own = found->own;

	if (own->has_looks || is_most(found, own->range_ns) ||
	    (model->recorder && gp_language_of(model) != GP_LANGUAGE_NATIVE))
		return;
	fputs("; ", out);
	gp_language_sampler(model, advisor->scope.model_count, out);
	fputs(" tells what it is", out);
}

/* Of Python looks tell whether it waits for requests. */
static void advise_ahead(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	gp_language_advise(advisor, found, ahead, out);
	advise_to_sample(advisor, found, out);
	if (gp_language_of(advisor->scope.models[found->process]) != GP_LANGUAGE_NATIVE)
		return;
	fputs(more_in_threads, out);
	if (!own->takes_turns)
		fputs("; if it waits for requests, take several together", out);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	enum gp_wait wait = gp_meanwhile_wait(advisor, found);

	/* XLA copies in threads of its own, which wait for nobody's requests */
	if (own->takes_turns &&
	    gp_language_of(advisor->scope.models[found->process]) != GP_LANGUAGE_JAX)
		fputs("if these threads wait for requests, take several together; ", out);
	if (is_little(found) && wait != GP_WAIT_THREAD && wait != GP_WAIT_POLLING) {
		fputs(not_before, out);
		advise_to_sample(advisor, found, out);
	} else if (has_workers(advisor->scope.models[found->process])) {
		fputs(more_workers, out);
	} else {
		advise_ahead(advisor, found, out);
	}
}

static bool names_place(const struct gp_case *found)
{
	const struct own *own = found->own;

	return own->has_looks || (own->names_calls && is_most(found, own->calls.ns));
}

const struct gp_rule gp_rule_data_loading = {
	.id = "data-loading",
	.title = "the GPU waits for host data before a copy",
	.meaning =
		"The GPU is idle repeatedly while the host is in no recorded CUDA call, and the next operation is a copy to the device. Usually the host reads, decodes, generates or receives data. The finding names the calls around most of that time, the NVTX range, and what Python did according to the stack samples (--host-samples). The saving is that idle time, if other threads prepare as much data as the GPU consumes. Batches that take ten times as long as the others count only if together they take less than half of the time. The same idle time can also be part of a finding about a wait before it: either change helps. If the samples find a compiler or imports, the rules of idle time report it.",
	.change =
		"If the host prepares data, read ahead: use threads or processes that fill page-locked buffers while the GPU computes (PyTorch DataLoader: num_workers, pin_memory, prefetch_factor, persistent_workers). Use cheaper formats, or decode on the GPU (DALI). Move other work after the next launches, or into another thread.",
	.ignore =
		"The host waits for external requests, as a server does. Then batches help, if several requests arrive together.",
	.threshold = {.saves_percent = 10, .saves_ns = 2000000, .count = 5},
	.looks_beside = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
	.names_place = names_place,
};
