#include "report/analysis/loop/phases.h"

#include <stdlib.h>
#include <string.h>

#include "report/analysis/loop/bounds.h"
#include "report/analysis/loop/phase_events.h"
#include "report/analysis/loop/phase_functions.h"
#include "report/analysis/loop/phase_gaps.h"
#include "report/analysis/idle/where.h"
#include "report/analysis/loop/phase_places.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

struct search {
	struct gp_phases *phases;
	const struct gp_model *model;
	const struct gp_iterations *iterations;
	const uint8_t *kinds; /* of names of kernels */
	struct gp_phase_events events;
	struct gp_phase_functions functions; /* empty, or in place of marks */
	struct gp_phase_places *places;
	uint32_t step; /* while times are taken: the last one that began before */
};

/* ---- times of the host ---- */

static void add_time(struct gp_phases *phases, const struct gp_phase_time *time)
{
	struct gp_phase_time *last =
		phases->time_count > 0 ? &phases->times[phases->time_count - 1] : NULL;

	if (last && last->step == time->step && last->phase == time->phase &&
	    last->end_ns == time->start_ns) {
		last->end_ns = time->end_ns;
		return;
	}
	gp_array_grow_spill(&phases->times, &phases->time_capacity, phases->time_count,
			    sizeof(*phases->times));
	phases->times[phases->time_count++] = *time;
}

/* The part of a time in the step at its start. */
static struct gp_phase_time cut(struct search *search, struct gp_phase_time time)
{
	const struct gp_iteration *rows = search->iterations->rows;
	uint32_t count = search->iterations->count;

	while (search->step + 1 < count && rows[search->step + 1].start_ns <= time.start_ns)
		search->step++;
	time.step = search->step;
	if (time.step + 1 < count && rows[time.step + 1].start_ns < time.end_ns)
		time.end_ns = rows[time.step + 1].start_ns;
	return time;
}

static void take_piece(void *context, const struct gp_phase_piece *piece)
{
	struct search *search = context;
	struct gp_phases *phases = search->phases;
	struct gp_phase *phase = &phases->rows[piece->phase];
	struct gp_phase_time rest = {
		.start_ns = piece->start_ns, .end_ns = piece->end_ns, .phase = piece->phase};
	uint64_t ns = piece->end_ns - piece->start_ns;

	phase->host_ns += ns;
	phase->split_ns += piece->is_split ? ns : 0;
	gp_phase_places_add(search->places, piece->stack, piece->phase, ns);
	while (rest.start_ns < rest.end_ns) {
		struct gp_phase_time part = cut(search, rest);

		phases->step_ns[GP_PHASE_HOST][part.step][part.phase] +=
			part.end_ns - part.start_ns;
		add_time(phases, &part);
		rest.start_ns = part.end_ns;
	}
}

/* ---- operations ---- */

static bool is_earlier(const void *element, const void *key)
{
	const struct gp_phase_time *time = element;
	const uint64_t *time_ns = key;

	return time->end_ns <= *time_ns;
}

static bool is_begun(const void *element, const void *key)
{
	const struct gp_iteration *row = element;
	const uint64_t *time_ns = key;

	return row->start_ns <= *time_ns;
}

/* NONE: the call is not of the loop. */
static enum gp_phase_kind phase_of_call(const struct search *search, uint32_t index)
{
	const struct gp_phases *phases = search->phases;
	const struct gp_call *call = &search->model->calls[index];
	uint32_t at = gp_array_lower_bound(phases->times, phases->time_count,
					   sizeof(*phases->times), is_earlier, &call->start_ns);

	if (at == phases->time_count || phases->times[at].start_ns > call->start_ns)
		return GP_PHASE_NONE;
	return search->events.of_calls[index] != GP_PHASE_NONE
		       ? (enum gp_phase_kind)search->events.of_calls[index]
		       : (enum gp_phase_kind)phases->times[at].phase;
}

static void take_ops(struct search *search, uint32_t index, enum gp_phase_kind launched)
{
	struct gp_phases *phases = search->phases;
	const struct gp_call *call = &search->model->calls[index];
	uint32_t step =
		gp_array_lower_bound(search->iterations->rows, phases->step_count,
				     sizeof(*search->iterations->rows), is_begun, &call->start_ns);

	for (uint32_t i = call->first_op; i != GP_NONE; i = search->model->ops[i].next_op) {
		const struct gp_op *op = &search->model->ops[i];
		enum gp_phase_kind phase = launched;

		if (!phases->by_functions &&
		    gp_kinds_of_op(search->kinds, search->model, op) == GP_KIND_COMMUNICATION)
			phase = gp_phase_inside(launched, GP_PHASE_COMMUNICATION);
		phases->of_ops[i] = (uint8_t)phase;
		phases->rows[phase].op_count++;
		phases->rows[phase].gpu_ns += gp_op_gpu_ns(op);
		phases->step_ns[GP_PHASE_GPU][step > 0 ? step - 1 : 0][phase] += gp_op_gpu_ns(op);
	}
}

static void take_calls(struct search *search)
{
	search->phases->of_ops = gp_spill_take_zeroed((size_t)search->model->op_count + 1, 1);
	for (uint32_t i = 0; i < search->model->call_count; i++) {
		enum gp_phase_kind phase = search->model->calls[i].first_op == GP_NONE
						   ? GP_PHASE_NONE
						   : phase_of_call(search, i);

		if (phase != GP_PHASE_NONE)
			take_ops(search, i, phase);
	}
}

/* ---- one try, with the marks of frames ---- */

static void empty(struct gp_phases *phases)
{
	for (int i = 0; i < GP_PHASE_KINDS; i++) {
		free(phases->rows[i].name);
		free(phases->rows[i].place);
	}
	gp_spill_free(phases->times);
	gp_spill_free(phases->of_ops);
	for (int i = 0; i < GP_PHASE_MEASURES; i++)
		gp_spill_free(phases->step_ns[i]);
	gp_spill_free(phases->scratch);
	*phases = (struct gp_phases){0};
}

static void open_phases(struct search *search)
{
	struct gp_phases *phases = search->phases;
	size_t steps = search->iterations->count;

	empty(phases);
	phases->step_count = search->iterations->count;
	phases->launches = search->events.launches;
	phases->with_stack = search->events.with_stack;
	phases->sample_count = search->events.sample_count;
	phases->scratch = gp_spill_take(steps * sizeof(*phases->scratch));
	for (int i = 0; i < GP_PHASE_MEASURES; i++) {
		phases->step_ns[i] = gp_spill_take_zeroed(steps, sizeof(*phases->step_ns[i]));
	}
	search->step = 0;
	gp_phase_places_free(search->places);
	search->places = gp_phase_places_new(search->model);
}

static void try_marks(struct search *search, const uint8_t *marks, enum gp_phase_rules rules)
{
	gp_phase_events_free(&search->events);
	gp_phase_events_of(&search->events, search->model, search->iterations, marks, rules);
	open_phases(search);
	gp_phase_gaps_split(&search->events, search->model, search->iterations, rules, take_piece,
			    search);
}

static uint64_t sum_host(struct gp_phases *phases)
{
	phases->host_ns = 0;
	for (int i = 0; i < GP_PHASE_KINDS; i++)
		phases->host_ns += phases->rows[i].host_ns;
	return phases->host_ns;
}

static bool has_percent(const struct gp_phases *phases, enum gp_phase_kind phase, uint32_t percent)
{
	return phases->rows[phase].host_ns * 100 >= phases->host_ns * percent;
}

/* Whether it is no training, or nearly all is one phase, or unknown. */
static bool is_undivided(const struct search *search)
{
	struct gp_phases *phases = search->phases;
	bool found = sum_host(phases) == 0 || !search->events.is_training;

	for (int i = 0; i < GP_PHASE_KINDS; i++)
		found |= has_percent(phases, (enum gp_phase_kind)i, GP_PHASE_WHOLE_PERCENT);
	return found || has_percent(phases, GP_PHASE_OTHER, 50);
}

/* The loop would be in a function that has the name of a phase. */
static bool is_misnamed(struct gp_phases *phases)
{
	static const enum gp_phase_kind kinds[] = {GP_PHASE_DATA, GP_PHASE_EVALUATION,
						   GP_PHASE_CHECKPOINT, GP_PHASE_LOGGING};
	bool found = false;

	sum_host(phases);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		found |= has_percent(phases, kinds[i], GP_PHASE_WHOLE_PERCENT);
	return found;
}

static void try_training(struct search *search, bool by_names)
{
	uint8_t *marks;

	gp_phase_marks_of(search->model, by_names, &marks);
	try_marks(search, marks, GP_PHASE_RULES_TRAINING);
	free(marks);
}

static void find_functions(struct search *search)
{
	uint32_t *calls = calloc((size_t)search->model->frame_count + 1, sizeof(*calls));

	for (uint32_t i = 0; i < search->events.count; i++) {
		uint32_t call = search->events.rows[i].call;

		if (call != GP_NONE && search->model->calls[call].stack != GP_NONE)
			calls[search->model->calls[call].stack]++;
	}
	gp_phase_functions_of(&search->functions, search->model, calls);
	free(calls);
}

/* If these divide the loop. */
static void try_functions(struct search *search)
{
	find_functions(search);
	if (search->functions.count < 2)
		return;
	try_marks(search, search->functions.marks, GP_PHASE_RULES_STACKS);
	search->phases->by_functions = true;
}

static void find_times(struct search *search)
{
	struct gp_phases *phases = search->phases;

	try_training(search, true);
	if (is_misnamed(phases))
		try_training(search, false);
	if (is_undivided(search))
		try_functions(search);
	if (sum_host(phases) > 0 && (has_percent(phases, GP_PHASE_OTHER, GP_PHASE_WHOLE_PERCENT) ||
				     (!phases->by_functions && !search->events.is_training)))
		empty(phases);
}

/* ---- all of it ---- */

static void describe(struct search *search, enum gp_phase_kind kind)
{
	struct gp_phases *phases = search->phases;
	struct gp_phase *phase = &phases->rows[kind];

	if (phase->host_ns == 0 && phase->op_count == 0)
		return;
	for (uint32_t i = 0; i < phases->step_count; i++)
		phase->steps += phases->step_ns[GP_PHASE_HOST][i][kind] > 0;
	phase->name = strdup(phases->by_functions ? search->functions.names[kind]
						  : gp_phase_kind_name(kind));
	phase->place = gp_phase_places_most(search->places, kind, false);
	if (phase->place && strcmp(phase->name, phase->place) == 0)
		*phase->place = '\0';
}

/* Whether another phase has the same place, as of a wrapper that both call. */
static bool is_shared(const struct gp_phases *phases, int kind)
{
	const char *place = phases->rows[kind].place;

	for (int i = 1; i < GP_PHASE_KINDS; i++)
		if (i != kind && phases->rows[i].place && strcmp(phases->rows[i].place, place) == 0)
			return *place != '\0';
	return false;
}

/* Then the caller of the place says more about the phase, unless it is the same, too. */
static void add_callers(struct search *search)
{
	struct gp_phases *phases = search->phases;
	char *alone[GP_PHASE_KINDS] = {NULL};
	bool stays[GP_PHASE_KINDS] = {false};

	for (int i = 1; i < GP_PHASE_KINDS; i++)
		if (phases->rows[i].place && is_shared(phases, i))
			alone[i] = phases->rows[i].place;
	for (int i = 1; i < GP_PHASE_KINDS; i++)
		if (alone[i])
			phases->rows[i].place =
				gp_phase_places_most(search->places, (uint32_t)i, true);
	for (int i = 1; i < GP_PHASE_KINDS; i++)
		stays[i] = alone[i] && is_shared(phases, i);
	for (int i = 1; i < GP_PHASE_KINDS; i++) {
		char *other = stays[i] ? phases->rows[i].place : alone[i];

		if (stays[i])
			phases->rows[i].place = alone[i];
		free(other);
	}
}

static void find_phases(struct search *search)
{
	find_times(search);
	if (search->phases->time_count == 0)
		return;
	take_calls(search);
	for (int i = 1; i < GP_PHASE_KINDS; i++)
		describe(search, (enum gp_phase_kind)i);
	add_callers(search);
}

void gp_phases_of(struct gp_phases *phases, const struct gp_model *model,
		  const struct gp_iterations *iterations, const struct gp_kinds *kinds)
{
	struct gp_iterations host;
	struct search search = {.phases = phases, .model = model, .iterations = &host};
	uint8_t *of_names;

	*phases = (struct gp_phases){0};
	if (model->totals || iterations->count == 0 ||
	    (model->frame_count == 0 && model->range_count == 0)) /* nothing tells phases */
		return;
	gp_bounds_on_host(&host, iterations, model);
	search.kinds = of_names = gp_kinds_of_names(kinds, model);
	find_phases(&search);
	gp_iterations_free(&host);
	gp_phase_places_free(search.places);
	gp_phase_events_free(&search.events);
	gp_phase_functions_free(&search.functions);
	free(of_names);
}

void gp_phases_free(struct gp_phases *phases)
{
	empty(phases);
}

void gp_phases_add_device(struct gp_phases *phases, const struct gp_model *model,
			  const struct gp_gpu_line *line)
{
	for (uint32_t i = 0; i < phases->time_count; i++) {
		const struct gp_phase_time *time = &phases->times[i];
		uint64_t state_ns[GP_STATES] = {0};

		gp_gpu_line_add(line, model->base_unix_ns + time->start_ns,
				model->base_unix_ns + time->end_ns, state_ns);
		phases->step_ns[GP_PHASE_IDLE][time->step][time->phase] +=
			gp_state_idle_ns(state_ns);
		for (size_t k = 0; k < GP_STATES; k++)
			phases->rows[time->phase].state_ns[k] += state_ns[k];
		for (size_t k = 0; time->step >= phases->warm_up && k < GP_STATES; k++)
			phases->rows[time->phase].after_ns[k] += state_ns[k];
	}
}

enum gp_idle_cause gp_phase_idle_cause(const struct gp_phase *phase, uint64_t *idle_ns)
{
	*idle_ns = gp_state_idle_ns(phase->state_ns);
	return gp_state_top_cause(gp_state_idle_ns(phase->after_ns) > 0 ? phase->after_ns
									: phase->state_ns);
}

void gp_phases_add_devices(struct gp_phases *phases, const struct gp_model *model,
			   struct gp_device_list *devices, const struct gp_gpu_lines *lines)
{
	bool *used = phases->time_count > 0 ? gp_device_list_used(devices, model) : NULL;

	for (size_t i = 0; used && i < lines->count; i++)
		if (used[i])
			gp_phases_add_device(phases, model, &lines->devices[i]);
	free(used);
}

uint64_t gp_phases_step_ns(const struct gp_phases *phases, enum gp_phase_measure measure,
			   uint32_t phase)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < phases->step_count; i++)
		if (phases->step_ns[GP_PHASE_HOST][i][phase] > 0)
			phases->scratch[count++] = phases->step_ns[measure][i][phase];
	return (uint64_t)(gp_stats_of(phases->scratch, count).median + 0.5);
}
