#include "report/advice/rules/gaps.h"

#include <string.h>

#include "report/analysis/idle/call_cause.h"
#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/advice/rules/dependency.h"
#include "report/advice/rules/host_time.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/meanwhile.h"
#include "report/advice/rules/neighbors.h"

/* What tells operations apart, whatever their number in the trace. */
static uint64_t what_is(const struct gp_op *op)
{
	return (uint64_t)op->name << 8 | op->kind << 4 | op->copy_kind;
}

struct gp_tally_row *gp_gaps_pair(struct gp_advisor *advisor, const struct gp_op *before,
				  const struct gp_op *after)
{
	const struct gp_call *call =
		after->call == GP_NONE ? NULL : &advisor->model->calls[after->call];
	uint64_t site = call ? gp_advisor_site(advisor, call) : GP_NO_SITE;
	const uint64_t key[GP_TALLY_KEYS] = {advisor->process, what_is(before), what_is(after),
					     site, advisor->rule};

	return gp_tally_find(&advisor->habits, key);
}

/* From which on the cause is the whole of it. */
#define WHOLE_SHARE 230u

/* What is imported, is once: where most end so, the work itself is in an import. */
static bool works_in_import(const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;

	return found->count > 1 && own->imports * 2 > found->count;
}

static struct gp_host_time kept_host_time(const struct gp_advisor *advisor,
					  const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;
	struct gp_host_time host = own->host;

	host.range = gp_advisor_text_of(advisor, own->range);
	if (host.compiler == GP_COMPILER_IMPORT && works_in_import(found))
		host.compiler = GP_COMPILER_NONE;
	return host;
}

static const char *name_of(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return call ? gp_model_api(advisor->model, call->api).name : "";
}

/* A context of the present process that was made in an idle time, and for how long of that. */
struct making {
	const struct gp_record_context *context; /* NULL: none was, for most of it */
	const struct gp_call *call;
	uint64_t ns;
};

static uint64_t overlap_ns(const struct gp_idle_gap *idle_gap, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < idle_gap->start_ns)
		start_ns = idle_gap->start_ns;
	if (end_ns > idle_gap->end_ns)
		end_ns = idle_gap->end_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static struct making made_in(const struct gp_model *model, const struct gp_idle_gap *idle_gap)
{
	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);
		const struct gp_call *call = at != GP_NONE ? &model->calls[at] : NULL;
		uint64_t ns = call ? overlap_ns(idle_gap, model->base_unix_ns + call->start_ns,
						model->base_unix_ns +
							gp_call_made_context_ns(model, call))
				   : 0;

		if (ns > 0 && 2 * ns >= gp_idle_gap_ns(idle_gap))
			return (struct making){&model->contexts[i], call, ns};
	}
	return (struct making){NULL, NULL, 0};
}

/*
 * Of what its own work waited for, a context of another GPU can be made at the same time as the
 * others.
 */
static enum gp_maker maker_of(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at,
			      const struct making *making)
{
	if (!making->context)
		return GP_MAKER_NONE;
	if (at->idle_gap->before.model != advisor->process)
		return GP_MAKER_FIRST;
	return making->context->device_id == at->before->device_id ? GP_MAKER_AGAIN
								   : GP_MAKER_OTHER_GPU;
}

static void keep_maker(struct gp_advisor *advisor, struct gp_gaps *own,
		       const struct gp_idle_gap_at *at)
{
	struct making making = made_in(advisor->model, at->idle_gap);

	own->kind = maker_of(advisor, at, &making);
	own->maker = gp_advisor_text(advisor, name_of(advisor, making.call));
	own->maker_ns = making.ns;
	own->maker_device = making.context ? gp_scope_device(&advisor->scope, advisor->model,
							     making.context->device_id)
					   : 0;
}

/* The rest of such an idle time would be there, whenever the context is made. */
static uint64_t without_rest_ns(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at,
				uint64_t saves_ns)
{
	struct making making = made_in(advisor->model, at->idle_gap);

	return maker_of(advisor, at, &making) == GP_MAKER_OTHER_GPU && making.ns < saves_ns
		       ? making.ns
		       : saves_ns;
}

/* Whether the calls in it say more of it than those around it. */
static bool has_calls(uint8_t cause)
{
	return cause == GP_IDLE_SETUP || cause == GP_IDLE_ALLOC;
}

/* Calls are in the order of threads and starts. */
struct moment {
	uint32_t thread_id;
	uint64_t time_ns;
};

static bool starts_before(const void *element, const void *key)
{
	const struct gp_call *call = element;
	const struct moment *moment = key;

	return call->thread_id != moment->thread_id ? call->thread_id < moment->thread_id
						    : call->start_ns < moment->time_ns;
}

static uint32_t find_call(const struct gp_model *model, uint32_t thread_id, uint64_t time_ns)
{
	const struct moment moment = {thread_id, time_ns};

	return gp_array_lower_bound(model->calls, model->call_count, sizeof(*model->calls),
				    starts_before, &moment);
}

/* A call for what the longest one is caused by: how much of it that took. */
static void keep_call(struct gp_advisor *advisor, struct gp_gaps *own, const struct gp_call *call,
		      const struct gp_interval *gap)
{
	uint64_t start_ns = call->start_ns > gap->start_ns ? call->start_ns : gap->start_ns;
	uint64_t end_ns = gp_call_end_ns(call) < gap->end_ns ? gp_call_end_ns(call) : gap->end_ns;

	if (end_ns <= start_ns)
		return;
	own->calls++;
	if (end_ns - start_ns <= own->call_ns)
		return;
	own->call_ns = end_ns - start_ns;
	own->call = gp_advisor_text(advisor, name_of(advisor, call));
	own->call_site = gp_advisor_site(advisor, call);
}

/*
 * All threads' calls for that cause, each thread's from the one on that was going on when the GPU
 * had nothing to do any more.
 */
static void keep_calls(struct gp_advisor *advisor, struct gp_gaps *own,
		       const struct gp_idle_gap *idle_gap)
{
	const struct gp_model *model = advisor->model;
	const struct gp_interval gap = {idle_gap->start_ns - model->base_unix_ns,
					idle_gap->end_ns - model->base_unix_ns};

	own->calls = 0;
	own->call_ns = 0;
	own->call_site = GP_NO_SITE;
	for (uint32_t first = 0; first < model->call_count && advisor->error == 0;) {
		uint32_t thread_id = model->calls[first].thread_id;
		uint32_t from = find_call(model, thread_id, gap.start_ns);
		uint32_t end = find_call(model, thread_id, gap.end_ns);

		for (uint32_t i = from > first ? from - 1 : from; i < end; i++)
			if (gp_call_cause(model, &model->calls[i]) == idle_gap->cause)
				keep_call(advisor, own, &model->calls[i], &gap);
		first = find_call(model, thread_id, UINT64_MAX);
	}
	own->names_call =
		idle_gap->cause == GP_IDLE_ALLOC && gp_advisor_knows(advisor, own->call_site);
}

/*
 * The calls around the longest one: where the host did something of its own those around that, as
 * far as its thread made some; the GPU may have been idle since a call before these.
 */
static void keep_calls_around(struct gp_advisor *advisor, struct gp_gaps *own,
			      const struct gp_idle_gap_at *at)
{
	uint64_t base_ns = advisor->model->base_unix_ns;
	const struct gp_call *before = at->call_before, *after = at->call_after;
	struct gp_host_pause pause = {0};

	if (at->idle_gap->cause == GP_IDLE_HOST)
		pause = gp_host_pause_of(advisor->model, after->thread_id,
					 at->idle_gap->start_ns - base_ns,
					 at->idle_gap->end_ns - base_ns);
	if (pause.before && pause.after) {
		before = pause.before;
		after = pause.after;
	}
	own->after = gp_advisor_text(advisor, name_of(advisor, after));
	own->before = gp_advisor_text(advisor, name_of(advisor, before));
	own->before_site = before ? gp_advisor_site(advisor, before) : GP_NO_SITE;
	own->after_site = gp_advisor_site(advisor, after);
	own->names_ends = at->idle_gap->cause == GP_IDLE_HOST &&
			  gp_advisor_knows(advisor, own->before_site) &&
			  gp_advisor_knows(advisor, own->after_site);
}

/* It is the longest of its case. */
static void keep(struct gp_advisor *advisor, struct gp_gaps *own, const struct gp_idle_gap_at *at)
{
	own->host = gp_host_time_of(advisor, at);
	own->range = gp_advisor_text(advisor, own->host.range ? own->host.range : "");
	own->share = at->idle_gap->cause_share[at->idle_gap->cause];
	own->longest_ns = gp_idle_gap_ns(at->idle_gap);
	keep_maker(advisor, own, at);
	if (has_calls(at->idle_gap->cause))
		keep_calls(advisor, own, at->idle_gap);
	keep_calls_around(advisor, own, at);
}

/* The GPU of the process's that was at work longest while one waited in a synchronization. */
static void keep_beside(const struct gp_advisor *advisor, struct gp_gaps *own,
			const struct gp_idle_gap *idle_gap)
{
	uint64_t most_ns = 0;
	uint16_t most = 0;

	if (idle_gap->cause != GP_IDLE_SYNC || advisor->basis->idle_gaps.device_count < 2)
		return;
	for (size_t i = 0; i < GP_DEVICE_LIMIT; i++) {
		size_t device = advisor->devices[i];
		uint64_t ns;

		if (device == SIZE_MAX || device == idle_gap->device)
			continue;
		ns = gp_idle_gaps_busy_ns(&advisor->basis->idle_gaps, device, idle_gap->start_ns,
					  idle_gap->end_ns);
		if (ns > most_ns) {
			most_ns = ns;
			most = (uint16_t)device;
		}
	}
	own->beside_ns += most_ns;
	if (own->beside == most) {
		own->beside_votes_ns += most_ns;
	} else if (own->beside_votes_ns >= most_ns) {
		own->beside_votes_ns -= most_ns;
	} else {
		own->beside_votes_ns = most_ns - own->beside_votes_ns;
		own->beside = most;
	}
}

/* Of shorter ones nobody compiles. */
#define NEW_CODE_NS 10000000u

static bool is_of_new_code(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t base_ns = advisor->model->base_unix_ns;
	struct gp_host_pause pause;

	if (at->idle_gap->cause != GP_IDLE_HOST || gp_idle_gap_ns(at->idle_gap) < NEW_CODE_NS)
		return false;
	pause = gp_host_pause_of(advisor->model, at->call_after->thread_id,
				 at->idle_gap->start_ns - base_ns, at->idle_gap->end_ns - base_ns);
	return pause.after && gp_advisor_class(advisor, pause.after) == GP_API_MODULE &&
	       strstr(name_of(advisor, pause.after), "Load");
}

void gp_gaps_add(struct gp_advisor *advisor, struct gp_case *found, const struct gp_idle_gap_at *at,
		 uint64_t saves_ns)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_gaps *own = found->own;

	if (at->idle_gap->cause == GP_IDLE_SETUP)
		saves_ns = without_rest_ns(advisor, at, saves_ns);
	gp_advisor_add(advisor, found, at->after->start_ns, idle_ns, saves_ns, at->idle_gap);
	gp_advisor_show_idle_gap(found, at->idle_gap);
	if (found->count == 1)
		own->device = at->idle_gap->device;
	own->is_of_many |= own->device != at->idle_gap->device;
	keep_beside(advisor, own, at->idle_gap);
	own->new_code_ns += is_of_new_code(advisor, at) ? idle_ns : 0;
	own->imports += gp_host_time_ends_in_import(advisor, at);
	if (at->idle_gap->cause == GP_IDLE_HOST)
		own->has_looks |= gp_meanwhile_add(advisor, found, at, at->idle_gap->end_ns);
	else
		gp_advisor_look_at(advisor, found, at->call_after, gp_call_end_ns(at->call_after));
	if (idle_ns > own->longest_ns)
		keep(advisor, own, at);
}

/* Who made a context; and the longest call that set something up, or allocated. */
static void tell_calls(const struct gp_advisor *advisor, const struct gp_gaps *own, FILE *out)
{
	const char *maker = gp_advisor_text_of(advisor, own->maker);

	if (own->kind == GP_MAKER_FIRST)
		fprintf(out, " (%s made the process's context)", maker);
	else if (own->kind != GP_MAKER_NONE)
		fprintf(out, " (%s made %s context on GPU %u in %s of it)", maker,
			own->kind == GP_MAKER_AGAIN ? "another" : "a", own->maker_device,
			gp_format_ns(own->maker_ns).text);
	if (own->kind != GP_MAKER_NONE || own->calls == 0)
		return;
	fprintf(out, "; %s took %s of it", gp_advisor_text_of(advisor, own->call),
		gp_format_ns(own->call_ns).text);
	if (gp_advisor_knows(advisor, own->call_site))
		fprintf(out, " at %s", gp_call_sites_at(advisor->sites, own->call_site).place);
	if (own->calls > 1)
		fprintf(out, ", the longest of %s such calls", gp_format_count(own->calls).text);
}

static void tell_place(const struct gp_advisor *advisor, uint32_t site, FILE *out)
{
	if (gp_advisor_knows(advisor, site))
		fprintf(out, " at %s", gp_call_sites_at(advisor->sites, site).place);
}

/*
 * "; after cudaMemcpy at main (x.cu:7), before cudaLaunchKernel": where that one is stands
 * elsewhere, if it is the case's place.
 */
static void tell_around(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_gaps *own = found->own;
	const char *before = gp_advisor_text_of(advisor, own->before);

	fprintf(out, "; %s", found->count > 1 ? "the longest " : "");
	if (*before) {
		fprintf(out, "after %s", before);
		tell_place(advisor, own->before_site, out);
		fputs(", ", out);
	}
	fprintf(out, "before %s", gp_advisor_text_of(advisor, own->after));
	if (own->after_site != found->site)
		tell_place(advisor, own->after_site, out);
}

/*
 * "; the host was in no recorded call from cudaMemcpy at main (x.cu:7) to cudaLaunchKernel at main
 * (x.cu:9)": nothing else says where to look.
 */
static void tell_ends(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_gaps *own = found->own;
	const char *before = gp_advisor_text_of(advisor, own->before);

	fprintf(out, "; the host was in no recorded call%s",
		found->count > 1 ? ", the longest time" : "");
	if (*before) {
		fprintf(out, " from %s", before);
		tell_place(advisor, own->before_site, out);
	}
	fprintf(out, " %s %s", *before ? "to" : "until", gp_advisor_text_of(advisor, own->after));
	tell_place(advisor, own->after_site, out);
}

static uint64_t at_work_ns(const struct gp_advisor *advisor, uint16_t device)
{
	return gp_idle_gaps_busy_ns(&advisor->basis->idle_gaps, device, 0, UINT64_MAX);
}

/*
 * Whether the GPU has so much less to do than another one of the process's, which works meanwhile,
 * that this is why.
 */
static bool has_less_work(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;

	return found->other_detail == GP_IDLE_SYNC && !own->is_of_many &&
	       own->beside_votes_ns > 0 && own->beside_ns * 2 >= found->time_ns &&
	       at_work_ns(advisor, own->device) * 5 <= at_work_ns(advisor, own->beside) * 4;
}

/* "the GPU", "GPU 1", "one of the GPUs" */
static void tell_gpu(const struct gp_advisor *advisor, const struct gp_gaps *own, FILE *out)
{
	size_t count = 0;

	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++)
		count += advisor->basis->idle_gaps.devices[i].last_ns > 0;
	if (own->is_of_many)
		fputs("one of the GPUs", out);
	else if (count > 1)
		fprintf(out, "GPU %u", own->device);
	else
		fputs("the GPU", out);
}

void gp_gaps_tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_gaps *own = found->own;
	enum gp_idle_cause cause = (enum gp_idle_cause)found->other_detail;
	struct gp_host_time host = kept_host_time(advisor, found);
	bool is_unseen = cause == GP_IDLE_HOST && !own->has_looks;
	uint64_t looks = 0;

	if (found->count > 1)
		fprintf(out, "%s times ", gp_format_count(found->count).text);
	tell_gpu(advisor, own, out);
	if (found->count > 1)
		fprintf(out, " is idle, for %s on average, %s at most",
			gp_format_ns(found->time_ns / found->count).text,
			gp_format_ns(own->longest_ns).text);
	else
		fprintf(out, " is idle for %s", gp_format_ns(own->longest_ns).text);
	fprintf(out, ": %s%s%s", own->share < WHOLE_SHARE ? "mostly " : "",
		gp_idle_cause_words(cause),
		cause == GP_IDLE_DEPENDENCY ? " (it had been launched, but did not begin)" : "");
	if (own->is_outside)
		fputs("; nothing of this process's held it back", out);
	if (has_less_work(advisor, found))
		fprintf(out, ", while GPU %u was at work for %s of it", own->beside,
			gp_format_ns(own->beside_ns).text);
	if (is_unseen)
		tell_ends(advisor, found, out);
	if (has_calls((uint8_t)cause))
		tell_calls(advisor, own, out);
	if (own->has_looks)
		looks = gp_meanwhile_tell(advisor, found, out);
	if (cause == GP_IDLE_DEPENDENCY) /* it matters where that was, not what the host did */
		host = (struct gp_host_time){.range = host.range};
	gp_host_time_tell(&host, found->count > 1 ? "the longest" : "it", out);
	gp_meanwhile_tell_looks(advisor, found, looks, out);
	if (!is_unseen)
		tell_around(advisor, found, out);
}

/* Where nothing is known of the host, somebody else has to be asked. */
static void advise_to_sample(const struct gp_model *model, size_t process_count, FILE *out)
{
	bool is_native = gp_language_of(model) == GP_LANGUAGE_NATIVE;

	if (model->recorder && !is_native)
		fprintf(out,
			"this trace, of another profiler, does not tell what Python did between calls of CUDA: record it with gpuprof-run, which samples Python's stacks");
	else {
		fputs("gpuprof records CUDA calls, not what the host computes between them: ", out);
		gp_language_sampler(model, process_count, out);
		fputs(" tells", out);
	}
	fputs("; move what can be moved before the first launch, after the last, or into another thread",
	      out);
}

static const char *const changes[GP_IDLE_CAUSES] = {
	[GP_IDLE_LAUNCH] = "launch ahead of the GPU",
	[GP_IDLE_SYNC] = "do not wait where the host reads no result",
	[GP_IDLE_COPY] = "copy ahead, asynchronously, from page-locked memory",
	[GP_IDLE_ALLOC] = "allocate before the work begins, and free after it",
	[GP_IDLE_SETUP] =
		"make streams, graphs and libraries, and load code, before the work begins: a run is shorter only by what need not be made",
	[GP_IDLE_PROFILER] = "nothing: without a profiler that time is not there",
	[GP_IDLE_UNKNOWN] = "look at the timeline: gpuprof export FILE",
};

static const char *const maker_changes[] = {
	[GP_MAKER_FIRST] =
		"make the context earlier, while other processes still have work for the GPU: cudaFree(0) as the first call makes it",
	[GP_MAKER_OTHER_GPU] =
		"make the contexts of all GPUs at the same time, before the work begins, each in a thread (cudaSetDevice, then cudaFree(0)): each takes longer then, so that a part of it is saved; or do without those GPUs whose work is shorter than that",
	[GP_MAKER_AGAIN] =
		"use one context of a GPU from the start to the end: do not end it (cudaDeviceReset), nor make another (cuCtxCreate)",
};

/*
 * What looks found took long in one call, and no look goes into libraries: what was loaded behind
 * it hints at these.
 */
static void advise_on_new_code(enum gp_language language, FILE *out)
{
	fprintf(out,
		"call it once before what is measured, for code is loaded then for the first time: libraries choose or compile kernels there, as cuDNN does for each new shape%s; else ",
		language == GP_LANGUAGE_TORCH
			? " (torch.backends.cudnn.benchmark=False tries out less)"
			: "");
}

/*
 * What looks found for most of the time is what the sentence tells: a call's stack says but what
 * began then, or ended.
 */
static enum gp_compiler seen_compiler(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;
	enum gp_compiler compiler =
		own->has_looks ? gp_meanwhile_compiler(advisor, found) : GP_COMPILER_NONE;

	return compiler == GP_COMPILER_IMPORT && works_in_import(found) ? GP_COMPILER_NONE
									: compiler;
}

/*
 * Waits end some microseconds after the work that they are for, but where another program has the
 * GPU before the driver knows.
 */
static bool is_told_late(const struct gp_advisor *advisor, const struct gp_case *found)
{
	return found->other_detail == GP_IDLE_SYNC && gp_neighbors_bytes(advisor, found) > 0 &&
	       gp_dependency_is_outside(advisor->scope.models[found->process]);
}

/* Nobody waits there, nor is it known who compiles. */
static void advise_on_host(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct gp_gaps *own = found->own;

	if (own->new_code_ns * 2 >= found->time_ns)
		advise_on_new_code(gp_language_of(model), out);
	if (own->has_looks)
		fputs("do that before the first launch, after the last, or in another process; more of it: gpuprof summary --by host FILE, gpuprof trace host FILE",
		      out);
	else
		advise_to_sample(model, advisor->scope.model_count, out);
}

void gp_gaps_advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	struct gp_host_time host = kept_host_time(advisor, found);
	const struct gp_gaps *own = found->own;
	enum gp_compiler compiler = seen_compiler(advisor, found);

	if (found->other_detail == GP_IDLE_SETUP && own->kind != GP_MAKER_NONE)
		fputs(maker_changes[own->kind], out);
	else if (has_less_work(advisor, found))
		fprintf(out,
			"give the GPUs equal shares of the work: GPU %u was at work for %s, GPU %u for %s",
			own->beside, gp_format_ns(at_work_ns(advisor, own->beside)).text,
			own->device, gp_format_ns(at_work_ns(advisor, own->device)).text);
	else if (found->other_detail == GP_IDLE_DEPENDENCY)
		gp_dependency_advise(advisor, found, out);
	else if (is_told_late(advisor, found))
		fprintf(out,
			"the GPU had done all of this process's work, and the host waited on: it is told late where programs take turns, and others held up to %s of the GPU's memory; give this one a GPU of its own, and do not wait where the host reads no result",
			gp_format_bytes(gp_neighbors_bytes(advisor, found)).text);
	else if (compiler != GP_COMPILER_NONE)
		fputs(gp_host_time_change(compiler), out);
	else if (gp_host_time_advise(&host, out))
		return;
	else if (changes[found->other_detail])
		fputs(changes[found->other_detail], out);
	else if (own->has_looks && gp_meanwhile_wait(advisor, found) >= GP_WAIT_THREAD)
		fputs("let what it waits for begin earlier, or more threads or processes do it, or give the GPU other work meanwhile; more of it: gpuprof summary --by host FILE, gpuprof trace host FILE",
		      out);
	else
		advise_on_host(advisor, found, out);
}

bool gp_gaps_names_place(const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;

	return own->has_looks || own->names_call || own->names_ends;
}
