#include "report/advice/rules/advisor.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/analysis/idle/busy.h"
#include "report/tables/host_work.h"
#include "report/model/recorded.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

const struct gp_limit gp_shared_limits[] = {GP_SHARED_LIMITS(GP_LIMIT_ROW){.id = NULL}};

static struct gp_case *append(struct gp_advisor *advisor, uint32_t site, uint64_t detail,
			      uint64_t other_detail)
{
	gp_array_grow(&advisor->cases, &advisor->case_capacity, advisor->case_count,
		      sizeof(*advisor->cases));
	advisor->cases[advisor->case_count] =
		(struct gp_case){.rule = advisor->rule,
				 .site = site,
				 .detail = detail,
				 .other_detail = other_detail,
				 .process = advisor->process,
				 .own = calloc(1, gp_rules[advisor->rule]->own_bytes + 1)};
	return &advisor->cases[advisor->case_count++];
}

struct gp_case *gp_advisor_case(struct gp_advisor *advisor, uint32_t site, uint64_t detail,
				uint64_t other_detail)
{
	const uint64_t key[GP_TALLY_KEYS] = {advisor->rule, site, detail, other_detail,
					     2 * advisor->process + advisor->is_outside};
	const struct gp_tally_row *row = gp_tally_find(&advisor->index, key);
	size_t number;

	number = (size_t)(row - advisor->index.rows);
	return number < advisor->case_count ? &advisor->cases[number]
					    : append(advisor, site, detail, other_detail);
}

struct gp_case *gp_advisor_next_case(const struct gp_advisor *advisor, uint32_t *index)
{
	while (*index < advisor->case_count) {
		struct gp_case *found = &advisor->cases[(*index)++];

		if (found->rule == advisor->rule && found->process == advisor->process)
			return found;
	}
	return NULL;
}

uint32_t gp_advisor_site(struct gp_advisor *advisor, const struct gp_call *call)
{
	uint32_t *known = call->stack == GP_NONE ? &advisor->sites_without_stack[call->api] : NULL;
	uint32_t site;

	if (known && *known != GP_NO_SITE)
		return *known;
	site = gp_call_sites_find(advisor->sites, advisor->model, call);
	if (known)
		*known = site;
	return site;
}

static bool is_in_loop(const struct gp_advisor *advisor, uint64_t at_ns)
{
	const struct gp_steps *loop = advisor->loops[advisor->process];

	return at_ns == GP_ALL_THE_TIME || (loop && loop->recurs[gp_steps_part_at(loop, at_ns)]);
}

void gp_advisor_save(const struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		     uint64_t saves_ns)
{
	found->saves_ns += saves_ns;
	found->saves_in_loop_ns += is_in_loop(advisor, at_ns) ? saves_ns : 0;
}

void gp_advisor_count(const struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		      uint64_t time_ns)
{
	bool in_loop = is_in_loop(advisor, at_ns);

	found->count++;
	found->time_ns += time_ns;
	found->count_in_loop += in_loop;
	found->time_in_loop_ns += in_loop ? time_ns : 0;
}

void gp_advisor_tell(struct gp_advisor *advisor, const struct gp_case *found,
		     struct gp_idle_gap *idle_gap)
{
	if (found != &advisor->spare)
		gp_array_grow_spill(&advisor->told, &advisor->told_capacity, advisor->told_count,
				    sizeof(struct gp_idle_gap *));
	if (found == &advisor->spare)
		return;
	idle_gap->told = (uint32_t)(found - advisor->cases);
	advisor->told[advisor->told_count++] = idle_gap;
}

/* A gap that ends with the first operation of the loop lies before the loop. */
static uint64_t start_of(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap)
{
	uint64_t base_ns = advisor->model->base_unix_ns;

	return idle_gap->start_ns > base_ns ? idle_gap->start_ns - base_ns : 0;
}

void gp_advisor_add(struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		    uint64_t time_ns, uint64_t saves_ns, struct gp_idle_gap *idle_gap)
{
	if (idle_gap)
		at_ns = start_of(advisor, idle_gap);
	if (idle_gap)
		gp_advisor_tell(advisor, found, idle_gap);
	gp_advisor_count(advisor, found, at_ns, time_ns);
	gp_advisor_save(advisor, found, at_ns, saves_ns);
}

static void add_stretch(struct gp_advisor *advisor, const struct gp_case *found,
			struct gp_stretch stretch)
{
	if (found == &advisor->spare || stretch.end_ns <= stretch.start_ns)
		return;
	stretch.number = (uint32_t)(found - advisor->cases);
	gp_array_grow_spill(&advisor->stretches, &advisor->stretch_capacity, advisor->stretch_count,
			    sizeof(*advisor->stretches));
	advisor->stretches[advisor->stretch_count++] = stretch;
}

void gp_advisor_stretch(struct gp_advisor *advisor, const struct gp_case *found, uint64_t start_ns,
			uint64_t end_ns, double share)
{
	add_stretch(advisor, found,
		    (struct gp_stretch){start_ns, end_ns, end_ns, .share = (float)share});
}

void gp_advisor_stretch_until(struct gp_advisor *advisor, const struct gp_case *found,
			      const struct gp_call *call, uint64_t until_ns)
{
	add_stretch(
		advisor, found,
		(struct gp_stretch){call->start_ns, gp_call_end_ns(call), until_ns, .share = 1});
}

GP_COMPARE_BY_TWO(compare_stretches, struct gp_stretch, number, start_ns)

/* The longest idle time of a device of the process. */
static uint64_t most_idle_ns(const struct gp_advisor *advisor, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t busy_ns = UINT64_MAX;

	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++) {
		uint64_t ns;

		if (advisor->devices[i] == SIZE_MAX)
			continue;
		ns = gp_advisor_busy_ns(advisor, (uint16_t)i, start_ns, end_ns);
		busy_ns = ns < busy_ns ? ns : busy_ns;
	}
	return busy_ns == UINT64_MAX ? end_ns - start_ns : end_ns - start_ns - busy_ns;
}

/* Up to where a stretch may save; a process has no idle time after its last call. */
static uint64_t end_of_reach(const struct gp_advisor *advisor, uint32_t index)
{
	const struct gp_stretch *one = &advisor->stretches[index];
	struct gp_model *const model = advisor->scope.models[advisor->process];
	bool is_last = index + 1 == advisor->stretch_count || one[1].number != one->number;
	uint64_t end_ns = is_last ? gp_busy_window(&model, 1).end_unix_ns - model->base_unix_ns
				  : one[1].start_ns;

	if (end_ns > one->until_ns)
		end_ns = one->until_ns;
	return end_ns > one->end_ns ? end_ns : one->end_ns;
}

/*
 * A stretch, and what the one before could not save, limited by the idle time.  What it cannot save
 * itself is carried on, unless its time ends before.
 */
static uint64_t within_idle_ns(const struct gp_advisor *advisor, uint32_t index, uint64_t from_ns,
			       uint64_t ns, uint64_t *carried_ns)
{
	uint64_t end_ns = end_of_reach(advisor, index);
	uint64_t idle_ns = most_idle_ns(advisor, from_ns, end_ns);
	uint64_t saved_ns = ns + *carried_ns < idle_ns ? ns + *carried_ns : idle_ns;
	bool goes_on = end_ns < advisor->stretches[index].until_ns;

	*carried_ns = goes_on && ns > saved_ns ? ns - saved_ns : 0;
	return saved_ns;
}

static void save_stretches(struct gp_advisor *advisor, bool only_idle)
{
	uint64_t reached_ns = 0, carried_ns = 0;

	gp_array_sort(advisor->stretches, advisor->stretch_count, sizeof(*advisor->stretches),
		      compare_stretches, NULL);
	for (uint32_t i = 0; i < advisor->stretch_count; i++) {
		const struct gp_stretch *one = &advisor->stretches[i];
		uint64_t from_ns = one->start_ns, ns;

		if (i == 0 || one->number != one[-1].number)
			reached_ns = carried_ns = 0;
		if (from_ns < reached_ns)
			from_ns = reached_ns;
		if (one->end_ns <= from_ns)
			continue;
		reached_ns = one->end_ns;
		ns = one->end_ns - from_ns;
		if (only_idle)
			ns = within_idle_ns(advisor, i, from_ns, ns, &carried_ns);
		gp_advisor_save(advisor, &advisor->cases[one->number], from_ns,
				(uint64_t)((double)ns * (double)one->share));
	}
	advisor->stretch_count = 0;
}

void gp_advisor_save_once(struct gp_advisor *advisor)
{
	save_stretches(advisor, false);
}

void gp_advisor_save_idle_once(struct gp_advisor *advisor)
{
	save_stretches(advisor, true);
}

static void show(const struct gp_advisor *advisor, struct gp_case *found, uint64_t start_ns,
		 uint64_t duration_ns, uint64_t cost_ns)
{
	struct gp_shown shown = {advisor->model->base_unix_ns + start_ns, duration_ns, cost_ns};

	if (duration_ns > found->longest.ns)
		found->longest = shown;
	if (duration_ns > 0 && (!advisor->loops[advisor->process] || is_in_loop(advisor, start_ns)))
		gp_shown_add(&found->sample, &shown);
}

void gp_advisor_show_time(const struct gp_advisor *advisor, struct gp_case *found,
			  uint64_t start_ns, uint64_t duration_ns)
{
	show(advisor, found, start_ns, duration_ns, duration_ns);
}

/* In the numbers of the sums of host_work: samples within calls. */
#define AT_CALLS (UINT64_C(1) << 33)

void gp_advisor_look_at(struct gp_advisor *advisor, const struct gp_case *found,
			const struct gp_call *call, uint64_t end_ns)
{
	struct gp_host_window window = {.tally = &advisor->host_work,
					.sum = AT_CALLS | (uint64_t)(found - advisor->cases),
					.model = advisor->model,
					.start_ns = call->start_ns,
					.end_ns = end_ns,
					.weight = GP_HOST_LOOKS};

	if (call->stack != GP_NONE || advisor->model->sample_count == 0 || found == &advisor->spare)
		return;
	window.places = gp_host_places_in(&advisor->scope);
	gp_host_work_add(&window, call->thread_id);
}

struct gp_seen gp_advisor_seen(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_host_places *places = advisor->scope.host_places;
	struct gp_seen seen = {.place = ""};
	struct gp_host_spot spot;

	if (!places)
		return seen;
	spot = gp_host_work_spot(&advisor->host_work, AT_CALLS | (uint64_t)(found - advisor->cases),
				 places);
	seen.count = spot.ns / GP_PYTHON_SAMPLE;
	seen.all = spot.all_ns / GP_PYTHON_SAMPLE;
	seen.is_line = spot.is_line;
	if (seen.all >= GP_SPOT_SAMPLES)
		seen.place = spot.text;
	return seen;
}

void gp_advisor_show(struct gp_advisor *advisor, struct gp_case *found, const struct gp_call *call)
{
	gp_advisor_look_at(advisor, found, call, gp_call_end_ns(call));
	gp_advisor_show_time(advisor, found, call->start_ns, call->duration_ns);
}

void gp_advisor_show_wait(struct gp_advisor *advisor, struct gp_case *found,
			  const struct gp_call *call, const struct gp_idle_gap *after,
			  uint64_t saves_ns)
{
	uint64_t end_ns = after->end_ns - advisor->model->base_unix_ns;

	gp_advisor_look_at(advisor, found, call, gp_call_end_ns(call));
	show(advisor, found, call->start_ns, end_ns - call->start_ns, saves_ns);
}

void gp_advisor_show_idle_gap(const struct gp_advisor *advisor, struct gp_case *found,
			      const struct gp_idle_gap *idle_gap)
{
	gp_advisor_show_time(advisor, found, start_of(advisor, idle_gap), gp_idle_gap_ns(idle_gap));
}

void gp_vote(uint64_t *winner, uint64_t *votes, uint64_t candidate, uint64_t weight)
{
	if (*winner == candidate) {
		*votes += weight;
	} else if (*votes >= weight) {
		*votes -= weight;
	} else {
		*votes = weight - *votes;
		*winner = candidate;
	}
}

void gp_advisor_vote(struct gp_case *found, uint32_t site, uint64_t ns)
{
	uint64_t winner = found->site;

	gp_vote(&winner, &found->votes_ns, site, ns);
	found->site = (uint32_t)winner;
}

uint64_t gp_advisor_text(struct gp_advisor *advisor, const char *text)
{
	return gp_scope_text(&advisor->scope, text);
}

const char *gp_advisor_text_of(const struct gp_advisor *advisor, uint64_t number)
{
	return gp_scope_text_of(&advisor->scope, number);
}

uint64_t gp_advisor_api(struct gp_advisor *advisor, const struct gp_call *call)
{
	return gp_advisor_text(advisor, call ? gp_model_api(advisor->model, call->api).name : "");
}

void gp_advisor_add_text(const struct gp_advisor *advisor, struct gp_document *values,
			 const char *id, uint64_t number)
{
	gp_document_add_text(values, id, gp_advisor_text_of(advisor, number));
}

void gp_advisor_add_place(const struct gp_advisor *advisor, struct gp_document *values,
			  const char *id, uint32_t site)
{
	if (gp_advisor_knows(advisor, site))
		gp_document_add_text(values, id, gp_call_sites_at(advisor->sites, site).place);
}

const struct gp_startup_shutdown *gp_advisor_ends(struct gp_advisor *advisor)
{
	if (!advisor->has_ends)
		gp_startup_shutdown_of(&advisor->ends, advisor->model);
	advisor->has_ends = true;
	return &advisor->ends;
}

const struct gp_memory_sites *gp_advisor_memory(struct gp_advisor *advisor)
{
	struct gp_scope *scope = &advisor->scope;

	if (!advisor->has_memory)
		gp_memory_sites_of(&scope->models[advisor->process], 1, &scope->devices,
				   GP_MEMORY_ALL, &advisor->memory);
	advisor->has_memory = true;
	return &advisor->memory;
}

bool gp_advisor_knows(const struct gp_advisor *advisor, uint32_t site)
{
	return site != GP_NO_SITE &&
	       !strstr(gp_call_sites_at(advisor->sites, site).place, GP_SITE_WITHOUT_STACK);
}

uint32_t gp_advisor_same_site(struct gp_advisor *advisor, const struct gp_call_sites *others,
			      uint32_t site)
{
	return gp_call_sites_of_text(advisor->sites, gp_call_sites_at(others, site));
}

const struct gp_op *gp_advisor_op(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_op *op =
		call->first_op == GP_NONE ? NULL : &advisor->model->ops[call->first_op];

	return op && !op->untimed ? op : NULL;
}

void gp_advisor_claim(struct gp_advisor *advisor, uint32_t op)
{
	if (!advisor->is_claimed)
		advisor->is_claimed = gp_spill_take_zeroed(advisor->model->op_count,
							   sizeof(*advisor->is_claimed));
	advisor->is_claimed[op] = true;
}

static size_t device_of(const struct gp_advisor *advisor, uint16_t device_id)
{
	return device_id < GP_DEVICE_LIMIT ? advisor->devices[device_id] : SIZE_MAX;
}

uint64_t gp_advisor_busy_ns(const struct gp_advisor *advisor, uint16_t device_id, uint64_t start_ns,
			    uint64_t end_ns)
{
	uint64_t base_ns = advisor->model->base_unix_ns;

	return gp_idle_gaps_busy_ns(&advisor->basis->idle_gaps, device_of(advisor, device_id),
				    base_ns + start_ns, base_ns + end_ns);
}

struct gp_idle_gap *gp_advisor_idle_gap_at(const struct gp_advisor *advisor, uint16_t device_id,
					   uint64_t time_ns)
{
	return gp_idle_gaps_at(&advisor->basis->idle_gaps, device_of(advisor, device_id),
			       advisor->model->base_unix_ns + time_ns);
}

/* The calls of other profilers have no known context: their operations have. */
static uint16_t device_of_call(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_op *op = gp_advisor_op(advisor, call);

	return op ? op->device_id : gp_model_context_device(advisor->model, call->context_id);
}

struct gp_idle_gap *gp_advisor_idle_gap_after(const struct gp_advisor *advisor,
					      const struct gp_call *call)
{
	return gp_advisor_idle_gap_at(advisor, device_of_call(advisor, call), gp_call_end_ns(call));
}

uint64_t gp_advisor_take(const struct gp_advisor *advisor, struct gp_idle_gap *idle_gap,
			 uint64_t ns)
{
	uint64_t left_ns;

	if (idle_gap->taker != advisor->rule)
		idle_gap->taken_ns = 0;
	idle_gap->taker = advisor->rule;
	left_ns = gp_idle_gap_ns(idle_gap) - idle_gap->taken_ns;
	if (ns > left_ns)
		ns = left_ns;
	idle_gap->taken_ns += ns;
	return ns;
}

uint64_t gp_advisor_host_part_ns(const struct gp_idle_gap *idle_gap)
{
	return gp_idle_gap_ns(idle_gap) - gp_idle_gap_cause_ns(idle_gap, GP_IDLE_DEPENDENCY);
}

uint64_t gp_advisor_waited_ns(const struct gp_advisor *advisor, const struct gp_call *call)
{
	uint64_t busy_ns = gp_advisor_busy_ns(advisor, device_of_call(advisor, call),
					      call->start_ns, gp_call_end_ns(call));

	return busy_ns + GP_RETURN_NS < call->duration_ns ? busy_ns + GP_RETURN_NS
							  : call->duration_ns;
}

uint64_t gp_advisor_wait_saves_ns(struct gp_advisor *advisor, const struct gp_call *call,
				  uint64_t most_ns, struct gp_idle_gap **idle_gap)
{
	struct gp_idle_gap *after = gp_advisor_idle_gap_after(advisor, call);
	uint64_t saves_ns, waited_ns;

	*idle_gap = NULL;
	if (!after || after->told != GP_NONE)
		return 0;
	waited_ns = gp_advisor_waited_ns(advisor, call);
	if (waited_ns > most_ns)
		waited_ns = most_ns;
	if (waited_ns > gp_advisor_host_part_ns(after))
		waited_ns = gp_advisor_host_part_ns(after);
	saves_ns = gp_advisor_take(advisor, after, waited_ns);
	if (saves_ns * 2 >= gp_idle_gap_ns(after))
		*idle_gap = after;
	return saves_ns;
}

struct gp_idle_gap *gp_advisor_next_idle_gap(const struct gp_advisor *advisor,
					     const struct gp_idle_gap *idle_gap)
{
	const struct gp_device_idle_gaps *device =
		&advisor->basis->idle_gaps.devices[idle_gap->device];
	uint32_t next = (uint32_t)(idle_gap - device->idle_gaps) + 1;

	return next < device->count ? &device->idle_gaps[next] : NULL;
}

static const struct gp_call *call_of(const struct gp_advisor *advisor, struct gp_op_at at)
{
	uint32_t call = at.model == advisor->process ? advisor->model->ops[at.op].call : GP_NONE;

	return call == GP_NONE ? NULL : &advisor->model->calls[call];
}

static struct gp_idle_gap_at idle_gap_at(const struct gp_advisor *advisor,
					 struct gp_idle_gap *idle_gap)
{
	return (struct gp_idle_gap_at){
		.idle_gap = idle_gap,
		.before = gp_op_of(advisor->scope.models, idle_gap->before),
		.after = gp_op_of(advisor->scope.models, idle_gap->after),
		.call_before = call_of(advisor, idle_gap->before),
		.call_after = call_of(advisor, idle_gap->after),
	};
}

struct idle_gap_walk {
	gp_idle_gap_filter *filter;
	uint64_t least_ns;
	uint32_t next;
};

/* Skips whole blocks of the millions of short gaps. */
static void skip_short(const struct gp_process_idle_gaps *process, struct idle_gap_walk *walk)
{
	while (walk->next % GP_IDLE_GAPS_BLOCK == 0 && walk->next < process->count &&
	       process->longest_ns[walk->next / GP_IDLE_GAPS_BLOCK] < walk->least_ns)
		walk->next += GP_IDLE_GAPS_BLOCK;
}

static bool next_idle_gap(struct gp_advisor *advisor, struct idle_gap_walk *walk,
			  struct gp_idle_gap_at *at)
{
	const struct gp_process_idle_gaps *process =
		&advisor->basis->idle_gaps.processes[advisor->process];

	while (advisor->error == 0) {
		struct gp_idle_gap *idle_gap;

		skip_short(process, walk);
		if (walk->next >= process->count)
			return false;
		idle_gap = process->idle_gaps[walk->next++];
		if (gp_idle_gap_ns(idle_gap) < walk->least_ns ||
		    idle_gap->cause == GP_IDLE_UNKNOWN ||
		    (idle_gap->told != GP_NONE && !gp_rules[advisor->rule]->takes_explained))
			continue;
		*at = idle_gap_at(advisor, idle_gap);
		if (at->call_after && (!walk->filter || walk->filter(advisor, at)))
			return true;
	}
	return false;
}

static void take_gap(struct gp_advisor *advisor, gp_idle_gap_take *take,
		     const struct gp_idle_gap_at *at)
{
	advisor->is_outside = advisor->loops[advisor->process] &&
			      !is_in_loop(advisor, start_of(advisor, at->idle_gap));
	take(advisor, at);
	advisor->is_outside = false;
}

void gp_advisor_idle_gaps(struct gp_advisor *advisor, uint64_t least_ns, gp_idle_gap_filter *filter,
			  gp_idle_gap_take *take)
{
	struct idle_gap_walk walk = {.filter = filter, .least_ns = least_ns};
	struct gp_idle_gap_at at;

	while (next_idle_gap(advisor, &walk, &at))
		take_gap(advisor, take, &at);
}

bool gp_advisor_waits_for_host(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint8_t cause = at->idle_gap->cause;

	(void)advisor;
	return cause != GP_IDLE_COPY && cause != GP_IDLE_ALLOC && cause != GP_IDLE_SETUP &&
	       cause != GP_IDLE_PROFILER;
}

static uint64_t usual_most_ns(struct gp_idle_gap *const *idle_gaps, uint32_t count)
{
	uint64_t *lengths_ns = gp_spill_take(((size_t)count + 1) * sizeof(*lengths_ns));
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < count; i++)
		lengths_ns[i] = gp_idle_gap_ns(idle_gaps[i]);
	if (count > 0)
		most_ns = GP_USUAL_GAPS * gp_stats_select(lengths_ns, count, count / 2);
	gp_spill_free(lengths_ns);
	return most_ns;
}

void gp_advisor_usual_idle_gaps(struct gp_advisor *advisor, uint64_t least_ns,
				gp_idle_gap_filter *filter, gp_idle_gap_take *take)
{
	struct idle_gap_walk walk = {.filter = filter, .least_ns = least_ns};
	uint32_t count = 0, capacity = 0;
	struct gp_idle_gap **idle_gaps = NULL;
	struct gp_idle_gap_at at;
	uint64_t most_ns;

	while (next_idle_gap(advisor, &walk, &at)) {
		gp_array_grow_spill(&idle_gaps, &capacity, count, sizeof(*idle_gaps));
		idle_gaps[count++] = at.idle_gap;
	}
	most_ns = usual_most_ns(idle_gaps, count);
	for (uint32_t i = 0; i < count; i++)
		if (gp_idle_gap_ns(idle_gaps[i]) <= most_ns) {
			at = idle_gap_at(advisor, idle_gaps[i]);
			take_gap(advisor, take, &at);
		}
	gp_spill_free(idle_gaps);
}

/* Whether a saving of that time reaches the threshold. */
static bool is_much(const struct gp_rule_threshold *least, uint64_t saves_ns, uint64_t of_ns)
{
	double percent = of_ns > 0 ? (double)saves_ns * 100 / (double)of_ns : 100;

	return (saves_ns >= least->saves_ns && percent >= least->saves_percent) ||
	       (least->or_ns > 0 && saves_ns >= least->or_ns && percent >= least->or_percent);
}

static uint64_t judged_loop_ns(const struct gp_advisor *advisor)
{
	uint64_t least_ns = advisor->span_ns / GP_LOOP_PART;

	return advisor->loop_ns > least_ns ? advisor->loop_ns : least_ns;
}

/* A few recorded steps stand for the whole loop. */
static bool is_sample(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_rule *rule = gp_rules[found->rule];

	return gp_recorded_few_steps(advisor->scope.models[found->process]) &&
	       advisor->loop_ns * 2 >= advisor->span_ns && !rule->is_once &&
	       rule->threshold.saves_ns > 0;
}

static struct gp_rule_threshold threshold_of(const struct gp_advisor *advisor,
					     const struct gp_case *found)
{
	struct gp_rule_threshold least = gp_rules[found->rule]->threshold;

	if (is_sample(advisor, found)) {
		least.count /= GP_SAMPLE_PART;
		least.saves_ns /= GP_SAMPLE_PART;
		least.or_ns /= GP_SAMPLE_PART;
	}
	return least;
}

bool gp_advisor_recurs(const struct gp_advisor *advisor, const struct gp_case *found)
{
	struct gp_rule_threshold least = threshold_of(advisor, found);

	return advisor->loop_ns > 0 && !gp_rules[found->rule]->is_once &&
	       found->saves_in_loop_ns >= advisor->span_ns / GP_RUN_PART &&
	       is_much(&least, found->saves_in_loop_ns, judged_loop_ns(advisor));
}

bool gp_advisor_is_worth(const struct gp_advisor *advisor, const struct gp_case *found)
{
	struct gp_rule_threshold least = threshold_of(advisor, found);

	if (found->is_grave)
		return true;
	return found->count > 0 && found->count >= least.count && found->bytes >= least.bytes &&
	       (is_much(&least, found->saves_ns, advisor->span_ns) ||
		gp_advisor_recurs(advisor, found));
}
