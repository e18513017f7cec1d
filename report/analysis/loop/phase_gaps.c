#include "report/analysis/loop/phase_gaps.h"

#include <stdlib.h>

#define SIZE_CLASSES     40u /* by powers of two of ns */
#define REFUTING_SAMPLES 5u  /* fewer may be of other work by chance */

/*
 * How long the host is in a phase after its last call, and before its first one: PyTorch's Python
 * code around the calls, such as an optimizer's loop over parameters and zero_grad().
 */
static const struct {
	uint32_t after_us, before_us;
} edges[GP_PHASE_KINDS] = {
	[GP_PHASE_DATA] = {1000, 1000},        [GP_PHASE_TO_DEVICE] = {40, 40},
	[GP_PHASE_FORWARD] = {90, 100},        [GP_PHASE_BACKWARD] = {170, 50},
	[GP_PHASE_GRADIENTS] = {20, 370},      [GP_PHASE_OPTIMIZER] = {300, 450},
	[GP_PHASE_COMMUNICATION] = {5, 5},     [GP_PHASE_EVALUATION] = {300, 1000},
	[GP_PHASE_CHECKPOINT] = {6000, 25000}, [GP_PHASE_LOGGING] = {30, 10},
	[GP_PHASE_OTHER] = {50, 50},
};

struct shares {
	double of[GP_PHASE_KINDS]; /* they add up to 1 */
};

struct counts {
	uint32_t of[GP_PHASE_KINDS], all;
};

/* A gap between two events, either NULL at an end of a stretch. */
struct gap {
	const struct gp_phase_event *before, *after;
	uint64_t start_ns, end_ns;
	uint32_t first_sample, end_sample;
};

struct walk {
	const struct gp_phase_events *events;
	const struct gp_model *model;
	enum gp_phase_rules rules;
	struct counts (*pooled)[GP_PHASE_KINDS][SIZE_CLASSES]; /* by the phases around */
	void (*take_gap)(struct walk *walk, const struct gap *gap);
	void (*take)(void *context, const struct gp_phase_piece *piece);
	void *context;
	uint32_t next_event, next_sample;
};

static enum gp_phase_kind phase_before(const struct gap *gap)
{
	return (enum gp_phase_kind)(gap->before ? gap->before : gap->after)->phase;
}

static enum gp_phase_kind phase_after(const struct gap *gap)
{
	return (enum gp_phase_kind)(gap->after ? gap->after : gap->before)->phase;
}

static uint32_t size_class(const struct gap *gap)
{
	uint64_t ns = gap->end_ns - gap->start_ns;
	uint32_t class = 0;

	while (ns > 1 && class + 1 < SIZE_CLASSES) {
		ns /= 2;
		class ++;
	}
	return class;
}

static uint32_t stack_of(const struct walk *walk, const struct gp_phase_event *event)
{
	return event->call == GP_NONE ? GP_NONE : walk->model->calls[event->call].stack;
}

static struct counts *pool_of(const struct walk *walk, const struct gap *gap)
{
	return &walk->pooled[phase_before(gap)][phase_after(gap)][size_class(gap)];
}

/* A sample whose stack does not tell is of both sides, or of other work. */
static enum gp_phase_kind phase_of_sample(const struct walk *walk, const struct gap *gap,
					  uint32_t sample)
{
	enum gp_phase_kind phase = (enum gp_phase_kind)walk->events->samples[sample].phase;
	enum gp_phase_kind before = phase_before(gap), after = phase_after(gap);

	if (phase != GP_PHASE_NONE)
		return phase;
	return before == after ? before : GP_PHASE_OTHER;
}

/* Whether it was in the gap for certain. */
static bool is_in_gap(const struct walk *walk, const struct gap *gap, uint32_t sample)
{
	const struct gp_phase_sample *at = &walk->events->samples[sample];

	return at->least_ns >= gap->start_ns && at->most_ns < gap->end_ns;
}

static struct counts count_samples(const struct walk *walk, const struct gap *gap)
{
	struct counts counts = {.all = 0};

	for (uint32_t i = gap->first_sample; i < gap->end_sample; i++)
		if (is_in_gap(walk, gap, i)) {
			counts.of[phase_of_sample(walk, gap, i)]++;
			counts.all++;
		}
	return counts;
}

/* ---- shares ---- */

/*
 * The weight is that of so many samples. Data may take any time, and the times around it are taken
 * to be right to a half: the variance of so many samples. Of a gap between two other phases that is
 * longer than the table expects, it knows little.
 */
static struct shares table_shares(const struct walk *walk, const struct gap *gap, double *weight)
{
	enum gp_phase_kind before = phase_before(gap), after = phase_after(gap);
	bool has_data = after == GP_PHASE_TO_DEVICE && before != GP_PHASE_DATA;
	double us = (double)(gap->end_ns - gap->start_ns) / 1e3;
	bool has_ended = gap->before && gap->before->edge == GP_PHASE_ENDS;
	bool will_begin = gap->after && gap->after->edge == GP_PHASE_BEGINS;
	double tail_us = has_ended ? 0 : edges[before].after_us;
	double head_us = will_begin ? 0 : edges[after].before_us;
	double data_us = has_data ? edges[GP_PHASE_DATA].before_us : 0;
	double sum_us = tail_us + head_us + data_us;
	struct shares shares = {{0}};

	*weight = GP_PHASE_GAP_PRIOR;
	if (sum_us == 0) { /* the program says that it is of neither */
		shares.of[GP_PHASE_OTHER] = 1;
		return shares;
	}
	if (before == after || walk->rules != GP_PHASE_RULES_TRAINING) {
		shares.of[before] += 0.5;
		shares.of[after] += 0.5;
		return shares;
	}
	if (us > sum_us) {
		*weight *= has_data ? us / sum_us : sum_us / us * sum_us / us;
		data_us = has_data ? us - tail_us - head_us : 0;
		sum_us = tail_us + head_us + data_us;
	}
	shares.of[GP_PHASE_DATA] = data_us / sum_us;
	shares.of[before] += tail_us / sum_us;
	shares.of[after] += head_us / sum_us;
	return shares;
}

/* Samples beside so many that agree with what was known without them. */
static void mix(struct shares *shares, const struct counts *counts, double weight)
{
	for (int i = 0; i < GP_PHASE_KINDS; i++)
		shares->of[i] = (counts->of[i] + weight * shares->of[i]) / (counts->all + weight);
}

/* The table takes for data what the samples mostly find to be something else. */
static bool is_refuted(const struct shares *table, const struct counts *samples)
{
	return table->of[GP_PHASE_DATA] > 0.5 && samples->all >= REFUTING_SAMPLES &&
	       samples->of[GP_PHASE_DATA] * 2 < samples->all;
}

static struct shares shares_of(const struct walk *walk, const struct gap *gap)
{
	double weight;
	struct shares shares = table_shares(walk, gap, &weight);
	struct counts own = count_samples(walk, gap);

	if (is_refuted(&shares, pool_of(walk, gap)))
		weight = 1;
	mix(&shares, pool_of(walk, gap), weight);
	if (own.all >= 2)
		mix(&shares, &own, GP_PHASE_GAP_POOL);
	return shares;
}

/* ---- gaps ---- */

static void pool_gap(struct walk *walk, const struct gap *gap)
{
	struct counts *pool = pool_of(walk, gap), own = count_samples(walk, gap);

	pool->all += own.all;
	for (int i = 0; i < GP_PHASE_KINDS; i++)
		pool->of[i] += own.of[i];
}

/* A sample's stack in the phase; else that of the call beside it. */
static uint32_t stack_in(const struct walk *walk, const struct gap *gap, enum gp_phase_kind phase)
{
	const struct gp_phase_event *beside = NULL;

	for (uint32_t i = gap->first_sample; i < gap->end_sample; i++)
		if (is_in_gap(walk, gap, i) && phase_of_sample(walk, gap, i) == phase)
			return walk->events->samples[i].stack;
	if (gap->after && phase_after(gap) == phase)
		beside = gap->after;
	else if (gap->before && phase_before(gap) == phase)
		beside = gap->before;
	return beside ? stack_of(walk, beside) : GP_NONE;
}

/* The phase before, then those between in the order of a step, then the phase after. */
static void split_gap(struct walk *walk, const struct gap *gap)
{
	struct shares shares = shares_of(walk, gap);
	enum gp_phase_kind first = phase_before(gap), last = phase_after(gap);
	struct gp_phase_piece piece = {.end_ns = gap->start_ns, .is_split = first != last};
	double reached = 0, length = (double)(gap->end_ns - gap->start_ns);

	for (int i = 0; i <= GP_PHASE_KINDS; i++) {
		enum gp_phase_kind phase = (first + i) % GP_PHASE_KINDS;

		if (i == GP_PHASE_KINDS)
			phase = last;
		else if (i > 0 && phase == last)
			continue;
		if (i == GP_PHASE_KINDS && first == last)
			break;
		if (i < GP_PHASE_KINDS && !(shares.of[phase] > 0))
			continue;
		reached += shares.of[phase];
		piece.phase = (uint8_t)phase;
		piece.start_ns = piece.end_ns;
		piece.end_ns = gap->start_ns + (uint64_t)(reached * length + 0.5);
		if (piece.end_ns > gap->end_ns || i == GP_PHASE_KINDS)
			piece.end_ns = gap->end_ns;
		piece.stack = stack_in(walk, gap, phase);
		if (piece.end_ns > piece.start_ns)
			walk->take(walk->context, &piece);
	}
}

/* ---- the walk ---- */

static void walk_gap(struct walk *walk, const struct gp_phase_event *before,
		     const struct gp_phase_event *after, uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_phase_events *events = walk->events;
	struct gap gap = {.before = before, .after = after, .start_ns = start_ns, .end_ns = end_ns};

	if (start_ns >= end_ns)
		return;
	while (walk->next_sample < events->sample_count &&
	       events->samples[walk->next_sample].time_ns < start_ns)
		walk->next_sample++;
	gap.first_sample = walk->next_sample;
	while (walk->next_sample < events->sample_count &&
	       events->samples[walk->next_sample].time_ns < end_ns)
		walk->next_sample++;
	gap.end_sample = walk->next_sample;
	if (before || after)
		walk->take_gap(walk, &gap);
}

static void take_event(const struct walk *walk, const struct gp_phase_event *event,
		       uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_phase_piece piece = {.start_ns = start_ns,
					     .end_ns = end_ns,
					     .stack = stack_of(walk, event),
					     .phase = event->phase};

	if (walk->take && end_ns > start_ns)
		walk->take(walk->context, &piece);
}

static void walk_stretch(struct walk *walk, const struct gp_interval *stretch)
{
	const struct gp_phase_events *events = walk->events;
	const struct gp_phase_event *before = NULL;
	uint64_t at_ns = stretch->start_ns;

	while (walk->next_event < events->count &&
	       events->rows[walk->next_event].start_ns < stretch->end_ns) {
		const struct gp_phase_event *event = &events->rows[walk->next_event++];
		uint64_t end_ns = event->end_ns < stretch->end_ns ? event->end_ns : stretch->end_ns;

		walk_gap(walk, before, event, at_ns, event->start_ns);
		at_ns = event->start_ns > at_ns ? event->start_ns : at_ns;
		take_event(walk, event, at_ns, end_ns);
		at_ns = end_ns > at_ns ? end_ns : at_ns;
		before = event;
	}
	walk_gap(walk, before, NULL, at_ns, stretch->end_ns);
}

static void walk_all(struct walk *walk, const struct gp_iterations *iterations)
{
	walk->next_event = walk->next_sample = 0;
	for (uint32_t i = 0; i < iterations->stretch_count; i++)
		walk_stretch(walk, &iterations->stretches[i]);
}

void gp_phase_gaps_split(const struct gp_phase_events *events, const struct gp_model *model,
			 const struct gp_iterations *iterations, enum gp_phase_rules rules,
			 void (*take)(void *context, const struct gp_phase_piece *piece),
			 void *context)
{
	struct walk walk = {.events = events,
			    .model = model,
			    .rules = rules,
			    .take_gap = pool_gap,
			    .context = context};

	walk.pooled = calloc(GP_PHASE_KINDS, sizeof(*walk.pooled));
	walk_all(&walk, iterations);
	walk.take_gap = split_gap;
	walk.take = take;
	walk_all(&walk, iterations);
	free(walk.pooled);
}
