#include "report/advice/rules/gaps.h"

#include <string.h>

#include "report/analysis/idle/call_cause.h"
#include "report/advice/rules/dependency.h"
#include "report/advice/rules/host_time.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/host_samples.h"
#include "report/advice/rules/other_programs.h"

/* The identity of an operation for habits: its name and kind. */
static uint64_t what_is(const struct gp_op *op)
{
	return (uint64_t)op->name << 8 | op->kind << 4 | op->copy_kind;
}

struct gp_tally_row *gp_gaps_pair(struct gp_advisor *advisor, struct gp_tally *habits,
				  const struct gp_op *before, const struct gp_op *after)
{
	const struct gp_call *call =
		after->call == GP_NONE ? NULL : &advisor->model->calls[after->call];
	uint64_t site = call ? gp_advisor_site(advisor, call) : GP_NO_SITE;
	const uint64_t key[GP_TALLY_KEYS] = {what_is(before), what_is(after), site};

	return gp_tally_find(habits, key);
}

/* A module is imported once: if most gaps end in an import, the program itself is imported. */
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

/* A context of the present process whose creation takes half of a gap or more, and its time in it. */
struct making {
	const struct gp_record_context *context; /* NULL: there is none */
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
	own->maker = gp_advisor_api(advisor, making.call);
	own->maker_ns = making.ns;
	own->maker_device = making.context ? gp_scope_device(&advisor->scope, advisor->model,
							     making.context->device_id)
					   : 0;
}

/* Only the creation of a context of another GPU can be saved, as it can run in parallel. */
static uint64_t without_rest_ns(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at,
				uint64_t saves_ns)
{
	struct making making = made_in(advisor->model, at->idle_gap);

	return maker_of(advisor, at, &making) == GP_MAKER_OTHER_GPU && making.ns < saves_ns
		       ? making.ns
		       : saves_ns;
}

/* Whether the calls in a gap explain it better than those around it. */
static bool has_calls(uint8_t cause)
{
	return cause == GP_IDLE_SETUP || cause == GP_IDLE_ALLOC;
}

/* A call with the cause of the longest gap. */
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
	own->call = gp_advisor_api(advisor, call);
	own->call_site = gp_advisor_site(advisor, call);
}

/* The calls of all threads with the cause of a gap, from the ones in progress at its start. */
static void keep_calls(struct gp_advisor *advisor, struct gp_gaps *own,
		       const struct gp_idle_gap *idle_gap)
{
	const struct gp_model *model = advisor->model;
	const struct gp_interval gap = {idle_gap->start_ns - model->base_unix_ns,
					idle_gap->end_ns - model->base_unix_ns};

	own->calls = 0;
	own->call_ns = 0;
	own->call_site = GP_NO_SITE;
	for (uint32_t first = 0; first < model->call_count;) {
		uint32_t thread_id = model->calls[first].thread_id;
		uint32_t from = gp_host_first_call(model, thread_id, gap.start_ns);
		uint32_t end = gp_host_first_call(model, thread_id, gap.end_ns);

		for (uint32_t i = from > first ? from - 1 : from; i < end; i++)
			if (gp_call_cause(model, &model->calls[i]) == idle_gap->cause)
				keep_call(advisor, own, &model->calls[i], &gap);
		first = gp_host_first_call(model, thread_id, UINT64_MAX);
	}
	own->names_call =
		idle_gap->cause == GP_IDLE_ALLOC && gp_advisor_knows(advisor, own->call_site);
}

/* The calls around the longest gap, or around the longest pause of the host in it. */
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
	own->after = gp_advisor_api(advisor, after);
	own->before = gp_advisor_api(advisor, before);
	own->before_site = before ? gp_advisor_site(advisor, before) : GP_NO_SITE;
	own->after_site = gp_advisor_site(advisor, after);
	own->names_ends = at->idle_gap->cause == GP_IDLE_HOST &&
			  gp_advisor_knows(advisor, own->before_site) &&
			  gp_advisor_knows(advisor, own->after_site);
}

/* The longest gap of a case. */
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

/* The GPU of the process that worked longest while this one waited in a synchronization. */
static void keep_beside(const struct gp_advisor *advisor, struct gp_gaps *own,
			const struct gp_idle_gap *idle_gap)
{
	uint64_t most_ns = 0;
	size_t most = 0;

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
			most = device;
		}
	}
	own->beside_ns += most_ns;
	gp_vote(&own->beside, &own->beside_votes_ns, most, most_ns);
}

static bool is_of_new_code(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t base_ns = advisor->model->base_unix_ns;
	struct gp_host_pause pause;

	if (at->idle_gap->cause != GP_IDLE_HOST || gp_idle_gap_ns(at->idle_gap) < GP_NEW_CODE_NS)
		return false;
	pause = gp_host_pause_of(advisor->model, at->call_after->thread_id,
				 at->idle_gap->start_ns - base_ns, at->idle_gap->end_ns - base_ns);
	return pause.after && gp_advisor_class(advisor, pause.after) == GP_API_MODULE &&
	       strstr(gp_model_api(advisor->model, pause.after->api).name, "Load");
}

void gp_gaps_add(struct gp_advisor *advisor, struct gp_case *found, const struct gp_idle_gap_at *at,
		 uint64_t saves_ns)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_gaps *own = found->own;

	if (at->idle_gap->cause == GP_IDLE_SETUP)
		saves_ns = without_rest_ns(advisor, at, saves_ns);
	gp_advisor_add(advisor, found, at->after->start_ns, idle_ns, saves_ns, at->idle_gap);
	gp_advisor_show_idle_gap(advisor, found, at->idle_gap);
	if (found->count == 1)
		own->device = at->idle_gap->device;
	own->is_of_many |= own->device != at->idle_gap->device;
	keep_beside(advisor, own, at->idle_gap);
	if (is_of_new_code(advisor, at)) {
		own->new_code_ns += idle_ns;
		own->new_code_count += advisor->loops[advisor->process] && !advisor->is_outside;
	}
	own->imports += gp_host_time_ends_in_import(advisor, at);
	if (at->idle_gap->cause == GP_IDLE_HOST)
		own->has_samples |= gp_host_samples_add(advisor, found, at, at->idle_gap->end_ns);
	else
		gp_advisor_look_at(advisor, found, at->call_after, gp_call_end_ns(at->call_after));
	if (idle_ns > own->longest_ns)
		keep(advisor, own, at);
}

/* ---- cases of the same work ---- */

/* The values of the longest gap stay, those of all gaps add up. */
static void join_own(struct gp_gaps *into, const struct gp_gaps *from)
{
	struct gp_gaps both = from->longest_ns > into->longest_ns ? *from : *into;

	both.new_code_ns = into->new_code_ns + from->new_code_ns;
	both.new_code_count = into->new_code_count + from->new_code_count;
	both.imports = into->imports + from->imports;
	both.has_samples = into->has_samples || from->has_samples;
	both.device = into->device;
	both.is_of_many = into->is_of_many || from->is_of_many || into->device != from->device;
	*into = both;
}

static void join(struct gp_advisor *advisor, struct gp_case *into, struct gp_case *from)
{
	join_own(into->own, from->own);
	gp_host_samples_move(advisor, from, into);
	for (uint32_t i = 0; i < advisor->told_count; i++)
		if (advisor->told[i]->told == (uint32_t)(from - advisor->cases))
			advisor->told[i]->told = (uint32_t)(into - advisor->cases);
	into->count += from->count;
	into->time_ns += from->time_ns;
	into->count_in_loop += from->count_in_loop;
	into->time_in_loop_ns += from->time_in_loop_ns;
	into->saves_ns += from->saves_ns;
	into->saves_in_loop_ns += from->saves_in_loop_ns;
	if (from->longest.ns > into->longest.ns)
		into->longest = from->longest;
	if (from->sample.seen > into->sample.seen)
		into->sample = from->sample;
	from->count = from->time_ns = from->saves_ns = from->saves_in_loop_ns = 0;
}

/* The key of a case's host work; the text "" if it is not known, or another cause. */
static uint64_t work_of(struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;

	if (found->other_detail != GP_IDLE_HOST || !own->has_samples || own->kind != GP_MAKER_NONE)
		return gp_advisor_text(advisor, "");
	return gp_host_samples_first(advisor, found);
}

static uint64_t process_of(const struct gp_advisor *advisor, const struct gp_case *found)
{
	return advisor->index.rows[found - advisor->cases].key[GP_CASE_PROCESS];
}

static struct gp_tally_row *row_of(struct gp_tally *works, uint64_t work, uint64_t process)
{
	return gp_tally_find(works, (uint64_t[GP_TALLY_KEYS]){work, process});
}

/* Whether the gaps outside of the loop are about as long as those that recur in it. */
static bool is_like(const struct gp_advisor *advisor, const struct gp_case *outside,
		    const struct gp_case *in_loop)
{
	return gp_advisor_recurs(advisor, in_loop) &&
	       outside->time_ns / outside->count <= 2 * (in_loop->time_ns / in_loop->count);
}

/* Work that recurs is no one-time cost where a step of the warm-up does it. */
static void join_outside(struct gp_advisor *advisor, struct gp_tally *works)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i));) {
		uint64_t process = process_of(advisor, found);
		const struct gp_tally_row *row =
			row_of(works, work_of(advisor, found), process & ~UINT64_C(1));
		struct gp_case *in_loop = &advisor->cases[row->sums[0]];

		if (process % 2 == 1 && found->count > 0 && row->count > 0 &&
		    is_like(advisor, found, in_loop))
			join(advisor, in_loop, found);
	}
}

/* The first case of some work has the place. */
void gp_gaps_join(struct gp_advisor *advisor)
{
	struct gp_tally works = {0};
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i));) {
		uint64_t work = work_of(advisor, found);
		struct gp_tally_row *row = row_of(&works, work, process_of(advisor, found));

		if (*gp_advisor_text_of(advisor, work) == '\0')
			continue;
		if (row->count++ == 0)
			row->sums[0] = (uint64_t)(found - advisor->cases);
		else
			join(advisor, &advisor->cases[row->sums[0]], found);
	}
	join_outside(advisor, &works);
	if (works.error < 0)
		advisor->error = works.error;
	gp_tally_free(&works);
}

/* ---- values ---- */

static uint64_t at_work_ns(const struct gp_advisor *advisor, uint64_t device)
{
	return gp_idle_gaps_busy_ns(&advisor->basis->idle_gaps, device, 0, UINT64_MAX);
}

/* Whether the GPU waits because another GPU of the process has much more work. */
static bool has_less_work(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;

	return found->other_detail == GP_IDLE_SYNC && !own->is_of_many &&
	       own->beside_votes_ns > 0 && own->beside_ns * 2 >= found->time_ns &&
	       at_work_ns(advisor, own->device) * 5 <= at_work_ns(advisor, own->beside) * 4;
}

static void add_gpu(const struct gp_advisor *advisor, const struct gp_gaps *own,
		    struct gp_document *values)
{
	size_t count = 0;

	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++)
		count += advisor->basis->idle_gaps.devices[i].last_ns > 0;
	if (own->is_of_many)
		gp_document_add_text(values, "gpu", "one of the GPUs");
	else if (count > 1)
		gp_document_add_words(values, "gpu", "GPU %u", own->device);
	else
		gp_document_add_text(values, "gpu", "the GPU");
}

/* The context that was created, or the longest call of the gap's cause. */
static void add_calls(const struct gp_advisor *advisor, const struct gp_gaps *own,
		      struct gp_document *values)
{
	static const char *const makers[] = {NULL, "first", "other", "again"};

	if (own->kind != GP_MAKER_NONE) {
		gp_document_add_text(values, "context", makers[own->kind]);
		gp_advisor_add_text(advisor, values, "context_function", own->maker);
		gp_document_add_number(values, "context_gpu", GP_UNIT_NUMBER, own->maker_device);
		gp_document_add_number(values, "context_ns", GP_UNIT_NS, own->maker_ns);
	} else if (own->calls > 0) {
		gp_advisor_add_text(advisor, values, "longest_call", own->call);
		gp_document_add_number(values, "longest_call_ns", GP_UNIT_NS, own->call_ns);
		gp_advisor_add_place(advisor, values, "longest_call_place", own->call_site);
		if (own->calls > 1)
			gp_document_add_number(values, "similar_calls", GP_UNIT_COUNT, own->calls);
	}
}

/* The place after a gap is the finding's place, unless the clause is about the host's pause. */
static void add_around(const struct gp_advisor *advisor, const struct gp_case *found, bool is_pause,
		       struct gp_document *values)
{
	const struct gp_gaps *own = found->own;

	gp_document_add_flag(values, "is_pause", is_pause);
	gp_advisor_add_text(advisor, values, "before", own->before);
	gp_advisor_add_place(advisor, values, "before_place", own->before_site);
	gp_advisor_add_text(advisor, values, "after", own->after);
	if (is_pause || own->after_site != found->site)
		gp_advisor_add_place(advisor, values, "after_place", own->after_site);
}

/* The compiler according to samples counts first: calls show only the ends of a gap. */
static enum gp_compiler seen_compiler(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;
	enum gp_compiler compiler =
		own->has_samples ? gp_host_samples_compiler(advisor, found) : GP_COMPILER_NONE;

	return compiler == GP_COMPILER_IMPORT && works_in_import(found) ? GP_COMPILER_NONE
									: compiler;
}

/* A wait ends late if another program has the GPU before the driver notices its end. */
static bool ends_late(const struct gp_advisor *advisor, const struct gp_case *found)
{
	return found->other_detail == GP_IDLE_SYNC && gp_other_programs_bytes(advisor, found) > 0 &&
	       gp_dependency_is_outside(advisor->scope.models[found->process]);
}

/* In steps again and again: a shape is new each time. */
static bool loads_often(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_steps *steps = advisor->loops[found->process];
	const struct gp_gaps *own = found->own;

	return own->new_code_ns * 2 >= found->time_ns && steps &&
	       own->new_code_count >= GP_LOOP_ITERATIONS &&
	       own->new_code_count * GP_NEW_CODE_PART >= gp_steps_recurring(steps);
}

static void add_host(const struct gp_advisor *advisor, const struct gp_case *found,
		     struct gp_document *values)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct gp_gaps *own = found->own;

	gp_document_add_flag(values, "is_waiting",
			     own->has_samples &&
				     gp_host_samples_wait(advisor, found) >= GP_WAIT_THREAD);
	gp_document_add_flag(values, "is_result",
			     own->has_samples &&
				     gp_host_samples_use_result(advisor, found, own->before_site,
								own->after_site));
	gp_document_add_flag(values, "is_new_code", own->new_code_ns * 2 >= found->time_ns);
	if (loads_often(advisor, found))
		gp_document_add_number(values, "new_code_count", GP_UNIT_COUNT,
				       own->new_code_count);
	if (!own->has_samples)
		gp_language_add_sampler(model, advisor->scope.model_count, values);
}

/* The values that only the change needs, for the first reason that applies. */
static void add_change(const struct gp_advisor *advisor, const struct gp_case *found,
		       const struct gp_host_time *host, struct gp_document *values)
{
	const struct gp_gaps *own = found->own;
	enum gp_compiler compiler = seen_compiler(advisor, found);

	if (found->other_detail == GP_IDLE_DEPENDENCY) {
		gp_dependency_add_values(advisor, found, values);
	} else if (ends_late(advisor, found)) {
		gp_document_add_flag(values, "ends_late", true);
		gp_document_add_number(values, "others_bytes", GP_UNIT_BYTES,
				       gp_other_programs_bytes(advisor, found));
	} else {
		gp_compiler_add_value(compiler, values);
		if (compiler == GP_COMPILER_NONE)
			gp_host_time_add_change(host, values);
		if (found->other_detail == GP_IDLE_HOST)
			add_host(advisor, found, values);
	}
	if (!has_less_work(advisor, found))
		return;
	gp_document_add_number(values, "other_gpu", GP_UNIT_NUMBER, own->beside);
	gp_document_add_number(values, "other_gpu_ns", GP_UNIT_NS, own->beside_ns);
	gp_document_add_number(values, "other_busy_ns", GP_UNIT_NS,
			       at_work_ns(advisor, own->beside));
	gp_document_add_number(values, "own_gpu", GP_UNIT_NUMBER, own->device);
	gp_document_add_number(values, "own_busy_ns", GP_UNIT_NS, at_work_ns(advisor, own->device));
}

void gp_gaps_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			struct gp_document *values)
{
	const struct gp_gaps *own = found->own;
	enum gp_idle_cause cause = (enum gp_idle_cause)found->other_detail;
	struct gp_host_time host = kept_host_time(advisor, found);

	add_gpu(advisor, own, values);
	gp_document_add_flag(values, "in_loop", found->saves_in_loop_ns > 0);
	gp_document_add_number(values, "longest_ns", GP_UNIT_NS, own->longest_ns);
	gp_document_add_text(values, "cause", gp_idle_cause_words(cause));
	gp_document_add_flag(values, "is_mostly", own->share < GP_WHOLE_SHARE);
	gp_document_add_flag(values, "is_outside", own->is_outside);
	add_change(advisor, found, &host, values);
	if (has_calls((uint8_t)cause))
		add_calls(advisor, own, values);
	if (own->has_samples)
		gp_host_samples_add_values(advisor, found, GP_SAMPLE_TIMES, values);
	if (cause == GP_IDLE_DEPENDENCY) /* the host's activity does not matter */
		host = (struct gp_host_time){.range = host.range};
	gp_host_time_add_values(&host, values);
	add_around(advisor, found, cause == GP_IDLE_HOST && !own->has_samples, values);
}

bool gp_gaps_names_place(const struct gp_case *found)
{
	const struct gp_gaps *own = found->own;

	return own->has_samples || own->names_call || own->names_ends;
}
