#include "report/advice/rules/rules.h"

#include <string.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/host_time.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/host_samples.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_NS, 200000, NS, "of host work: less is the launch itself")                     \
	LIMIT(HOST_PERCENT, 80, PERCENT, "of a gap: the host was outside of CUDA")                 \
	LIMIT(LEAST_BYTES, 4096, BYTES, "a smaller copy may be no batch of data")                  \
	LIMIT(LEAST_MB_PER_S, 16, COUNT, "MB/s: data is prepared at least this fast")
GP_LIMITS(LIMITS);

/* The calls around most of the host's time. */
struct most {
	uint64_t ns;
	uint64_t before, after; /* texts */
	uint32_t before_site, after_site;
};

struct own {
	struct most calls;
	bool names_calls;                 /* their lines are known */
	uint64_t range, range_ns;         /* the text of the range with most of the time */
	uint64_t least_bytes, most_bytes; /* of a batch */
	bool has_samples;                 /* there are Python samples of its gaps */
	bool takes_turns;   /* several threads copy, as those of a server that wait for requests */
	uint32_t thread_id; /* the first one */
	uint64_t slow_ns;   /* of the slow batches ... */
	uint64_t usual_ns;  /* ... and of the others */
};

static uint64_t host_ns(const struct gp_idle_gap_at *at)
{
	return gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_HOST);
}

/* The GPU computed, or a result was read; then the host took its time, and copies new data. */
static bool is_wait_for_data(const struct gp_idle_gap_at *at)
{
	bool computed = at->before->kind == GP_OP_KERNEL || at->before->kind == GP_OP_GRAPH ||
			at->before->kind == GP_OP_SET || at->before->copy_kind == GP_COPY_DTOH;

	return computed && at->after->kind == GP_OP_COPY && at->after->copy_kind == GP_COPY_HTOD &&
	       host_ns(at) >= LEAST_NS;
}

static bool is_of_host(const struct gp_idle_gap_at *at)
{
	return host_ns(at) * 100 >= gp_idle_gap_ns(at->idle_gap) * HOST_PERCENT;
}

static bool is_told(const struct gp_idle_gap_at *at)
{
	return at->idle_gap->told != GP_NONE;
}

static bool is_wait(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at, bool of_host,
		    bool explained)
{
	return is_wait_for_data(at) && is_of_host(at) == of_host && is_told(at) == explained &&
	       !gp_advisor_tunes(advisor, at->call_after);
}

static bool is_wait_alone(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return is_wait(advisor, at, true, false);
}

/* What a slow step did that others did not is no habit. */
static bool is_of_slow_step(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return is_told(at) &&
	       gp_rules[advisor->cases[at->idle_gap->told].rule] == &gp_rule_slow_steps;
}

/* A wait before it explains the gap, but the host's own work after that does, too. */
static bool is_wait_behind_others(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return is_wait(advisor, at, true, true) && !is_of_slow_step(advisor, at);
}

static bool is_wait_among_others(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return is_wait(advisor, at, false, false);
}

/* PyTorch's thread that copies the data of DataLoader workers to page-locked memory. */
static bool has_workers(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->thread_count; i++)
		if (strcmp(model->threads[i].name, "pt_data_pin") == 0)
			return true;
	return false;
}

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

/* A launch, or the copy of a result. */
static bool ends_batch(const struct gp_advisor *advisor, const struct gp_call *call)
{
	uint8_t class = gp_advisor_class(advisor, call);

	return class == GP_API_LAUNCH || class == GP_API_GRAPH_LAUNCH ||
	       bytes_of_call(advisor, call, GP_COPY_DTOH) > 0;
}

/* The bytes that the thread copies to the device up to such a call or a long pause. */
static uint64_t bytes_of_batch(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_call *end = advisor->model->calls + advisor->model->call_count;
	uint32_t thread_id = call->thread_id;
	uint64_t bytes = 0, until_ns = call->start_ns;

	if ((size_t)(end - call) > GP_BATCH_CALLS)
		end = call + GP_BATCH_CALLS;
	for (; call < end && call->thread_id == thread_id; call++) {
		if (call->start_ns >= until_ns + LEAST_NS || ends_batch(advisor, call))
			break;
		bytes += bytes_of_call(advisor, call, GP_COPY_HTOD);
		until_ns = gp_call_end_ns(call);
	}
	return bytes;
}

/* The host's own time in a gap, between the calls around it. */
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

/* The last key of the sums of a case in advisor->state. */
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
	struct gp_tally_row *row = gp_tally_find(advisor->state, key);

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
	struct own *own = found->own;
	struct most calls = {.before = gp_advisor_api(advisor, pause->before),
			     .after = gp_advisor_api(advisor, pause->after),
			     .before_site = gp_advisor_site(advisor, pause->before),
			     .after_site = gp_advisor_site(advisor, pause->after)};

	calls.ns = add_habit(advisor, found, &calls, CALLS, ns);
	if (calls.ns > own->calls.ns)
		own->calls = calls;
	own->names_calls = gp_advisor_knows(advisor, own->calls.before_site) &&
			   gp_advisor_knows(advisor, own->calls.after_site);
}

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
	own->has_samples |=
		gp_host_samples_add_counts(advisor, found, thread, pause.start_ns, pause.end_ns);
	range = gp_host_range_of(advisor->model, thread, time.start_ns, time.end_ns);
	if (range)
		keep_range(advisor, found, range, host_ns(at));
	if (pause.before && pause.after)
		keep_calls(advisor, found, &pause, host_ns(at));
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
	gp_advisor_show_idle_gap(advisor, found, at->idle_gap);
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

/* By its samples, the host compiles, imports, or does work of the step: no loader makes it faster. */
static bool is_other_work(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct own *own = found->own;

	return own->has_samples &&
	       (gp_host_samples_compiler_by_count(advisor, found) != GP_COMPILER_NONE ||
		gp_host_samples_are_other_work(advisor, found));
}

/* Such gaps are for the rules of idle time. */
static void drop_other_work(struct gp_advisor *advisor)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;)
		if (is_other_work(advisor, found))
			found->count = 0;
}

static void look(struct gp_advisor *advisor)
{
	struct gp_tally sums = {0};

	advisor->state = &sums;
	/* each kind has its own median; explained gaps first, before this rule explains some */
	gp_advisor_usual_idle_gaps(advisor, LEAST_NS, is_wait_behind_others, take_idle_gap);
	gp_advisor_usual_idle_gaps(advisor, LEAST_NS, is_wait_alone, take_idle_gap);
	gp_advisor_usual_idle_gaps(advisor, LEAST_NS, is_wait_among_others, take_idle_gap);
	gp_advisor_idle_gaps(advisor, LEAST_NS, is_wait_alone, count_slow);
	gp_advisor_idle_gaps(advisor, LEAST_NS, is_wait_alone, take_slow);
	drop_other_work(advisor);
	gp_tally_free(&sums);
}

/* Whether the copies are too small for the time: the host may have done other work. */
static bool is_little(const struct gp_case *found)
{
	return found->bytes / found->count < LEAST_BYTES ||
	       (double)found->bytes < LEAST_MB_PER_S / 1000.0 * (double)found->time_ns;
}

/* Whether the phase in which a loader runs takes that long. */
static bool is_of_loader(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_phases *phases = &advisor->basis->phases[found->process];

	return !phases->by_functions && phases->rows[GP_PHASE_DATA].host_ns * 2 >= found->time_ns;
}

static bool is_most(const struct gp_case *found, uint64_t ns)
{
	return ns * 2 >= found->time_ns;
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct own *own = found->own;
	enum gp_wait wait = gp_host_samples_wait(advisor, found);
	bool has_range = is_most(found, own->range_ns);

	gp_document_add_number(values, "most_bytes", GP_UNIT_BYTES, own->most_bytes);
	if (own->least_bytes < own->most_bytes)
		gp_document_add_number(values, "least_bytes", GP_UNIT_BYTES, own->least_bytes);
	gp_document_add_flag(values, "is_alternating", own->takes_turns);
	if (has_range)
		gp_advisor_add_text(advisor, values, "range", own->range);
	if (own->has_samples) {
		gp_host_samples_add_values(advisor, found, GP_SAMPLE_COUNTS, values);
	} else if (is_most(found, own->calls.ns)) {
		gp_advisor_add_text(advisor, values, "from", own->calls.before);
		gp_advisor_add_place(advisor, values, "from_place", own->calls.before_site);
		gp_advisor_add_text(advisor, values, "to", own->calls.after);
		gp_advisor_add_place(advisor, values, "to_place", own->calls.after_site);
	}
	gp_document_add_flag(values, "is_little",
			     is_little(found) && !is_of_loader(advisor, found) &&
				     wait != GP_WAIT_THREAD && wait != GP_WAIT_POLLING);
	gp_document_add_flag(values, "has_workers", has_workers(model));
	/* gpuprof itself could have sampled Python */
	if (!own->has_samples && !has_range &&
	    (!model->recorder || gp_language_of(model) == GP_LANGUAGE_NATIVE))
		gp_language_add_sampler(model, advisor->scope.model_count, values);
}

static bool names_place(const struct gp_case *found)
{
	const struct own *own = found->own;

	return own->has_samples || (own->names_calls && is_most(found, own->calls.ns));
}

const struct gp_rule gp_rule_data_loading = {
	.id = "data-loading",
	.title = "the GPU waits for host data before a copy",
	.found =
		"the GPU is idle {count} times, for {mean_ns} on average, until the host copies[ between {least_bytes} and] {most_bytes} to it[{?is_alternating}, in several threads alternately]"
		"[{samples}[; in range {range}]|; meanwhile the host was[ in range {range};] in no recorded call[ from {from}[ at {from_place}] to {to}[ at {to_place}]]]",
	.change =
		"[{?is_alternating}{!language=jax}if these threads wait for requests, process several together; ]" /* XLA copies in threads of its own */
		"[{?is_little}move host work that the GPU need not wait for after the next launches, or into another thread[; {sampler} shows that work]"
		"|{?has_workers}the DataLoader's workers are too slow: use more of them (num_workers) where the DataLoader is made, prefetch more (prefetch_factor), or do less work for each sample"
		"|if the host prepares the next data, do it in other [{?language=native}threads|{?language=torch}processes|threads or processes] while the GPU computes[{?language=torch} (num_workers and pin_memory where the DataLoader is made)][{?language=jax}, and copy it before it is needed (jax.device_put returns immediately)]; do other work after the next launches[{!language=native}; if other [{?language=torch}processes|threads or processes] already prepare data, use more of them, or do less work for each sample][; {sampler} shows the host's work]"
		"[{?language=native}; if other threads already prepare data, use more of them, page-locked buffers (cudaMallocHost), or less work for each piece[{!is_alternating}; if the host waits for requests, process several together]]]",
	.meaning =
		"The GPU is idle repeatedly, for {LEAST_NS} and more, while the host is in no recorded CUDA call, and the next operation is a copy to the device. Usually the host reads, decodes, generates or receives data. The finding names the calls around most of that time, the NVTX range, and what Python did according to the stack samples (--host-samples). The saving is that idle time, if other threads prepare as much data as the GPU consumes. Batches that take {GP_USUAL_GAPS} times as long as the median count only if together they take less than half of the time. The same idle time can also be part of a finding about a wait before it: either change helps. If {GP_SPOT_SAMPLES} samples or more find the host mostly at other work than loading data, the rules of idle time report it (gpu-gaps, host-gaps). Loading is: functions of a data loader, functions whose names say so (load..., get_batch, collate, ...), and waiting for another thread or process.",
	.remedy =
		"If the host prepares data, read ahead: use threads or processes that fill page-locked buffers while the GPU computes (PyTorch DataLoader: num_workers, pin_memory, prefetch_factor, persistent_workers). Use cheaper formats, or decode on the GPU (DALI). Move other work after the next launches, or into another thread.",
	.ignore =
		"The host waits for external requests, as a server does. Then batches help, if several requests arrive together.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 2000000,
		      .count = 5,
		      .reason = "Fewer gaps are setup"},
	.limits = limits,
	.takes_explained = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
	.names_place = names_place,
};
