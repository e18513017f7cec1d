#include "report/analysis/loop/phase_events.h"

#include <stdlib.h>

#include "report/analysis/loop/phase_lines.h"
#include "report/analysis/loop/phase_ranges.h"
#include "report/analysis/loop/training_steps.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"

/* A copy to the host of so few bytes reads values, which are then printed or compared. */
#define VALUE_BYTES 256u
/*
 * The shares of its calls that make a thread one of the backward pass: calls of the pass together
 * with those that exchange gradients meanwhile, and calls of the pass alone.
 */
#define BACKWARD_PERCENT       90u
#define BACKWARD_ALONE_PERCENT 10u
#define MOST_OF_RUN            256u /* more do not change what a gap is */

struct thread {
	uint32_t first, end;                    /* in calls */
	uint32_t in_loop, backward, exchanging; /* calls */
	bool is_named_backward;                 /* PyTorch named it so */
};

struct search {
	struct gp_phase_events *events;
	const struct gp_model *model;
	const struct gp_iterations *iterations;
	const uint8_t *marks;
	enum gp_phase_rules rules;
	struct thread *threads;
	uint32_t thread_count, thread_capacity;
};

static bool ends_before(const void *element, const void *key)
{
	const struct gp_interval *stretch = element;
	const uint64_t *time_ns = key;

	return stretch->end_ns <= *time_ns;
}

static bool is_in_loop(const struct gp_iterations *iterations, uint64_t time_ns)
{
	uint32_t at = gp_array_lower_bound(iterations->stretches, iterations->stretch_count,
					   sizeof(*iterations->stretches), ends_before, &time_ns);

	return at < iterations->stretch_count && iterations->stretches[at].start_ns <= time_ns;
}

/* ---- the phase of a call alone ---- */

static enum gp_phase_kind phase_of_copy(const struct gp_op *op)
{
	if (op->kind != GP_OP_COPY)
		return GP_PHASE_NONE;
	if (op->copy_kind == GP_COPY_HTOD)
		return GP_PHASE_TO_DEVICE;
	return op->copy_kind == GP_COPY_DTOH && op->bytes <= VALUE_BYTES ? GP_PHASE_LOGGING
									 : GP_PHASE_NONE;
}

static enum gp_phase_kind phase_of_call(const struct search *search, const struct gp_call *call)
{
	enum gp_phase_kind phase = GP_PHASE_NONE;

	if (call->stack != GP_NONE)
		phase = (enum gp_phase_kind)search->marks[call->stack];
	if (phase == GP_PHASE_NONE && search->rules == GP_PHASE_RULES_TRAINING &&
	    call->first_op != GP_NONE)
		phase = phase_of_copy(&search->model->ops[call->first_op]);
	return phase;
}

/* ---- threads ---- */

static bool is_backward(const struct search *search, const struct thread *thread)
{
	uint64_t all = thread->in_loop, backward = thread->backward;

	return search->rules == GP_PHASE_RULES_TRAINING && all > 0 &&
	       (thread->is_named_backward ||
		((backward + thread->exchanging) * 100 >= all * BACKWARD_PERCENT &&
		 backward * 100 >= all * BACKWARD_ALONE_PERCENT));
}

static void count_call(struct search *search, struct thread *thread, uint32_t index)
{
	const struct gp_call *call = &search->model->calls[index];

	thread->end = index + 1;
	if (!is_in_loop(search->iterations, call->start_ns))
		return;
	search->events->of_calls[index] = (uint8_t)phase_of_call(search, call);
	thread->in_loop++;
	thread->backward += search->events->of_calls[index] == GP_PHASE_BACKWARD;
	thread->exchanging += search->events->of_calls[index] == GP_PHASE_COMMUNICATION;
}

static void find_threads(struct search *search)
{
	const struct gp_call *calls = search->model->calls;

	for (uint32_t i = 0; i < search->model->call_count; i++) {
		if (i == 0 || calls[i].thread_id != calls[i - 1].thread_id) {
			gp_array_grow(&search->threads, &search->thread_capacity,
				      search->thread_count, sizeof(*search->threads));
			search->threads[search->thread_count++] =
				(struct thread){.first = i, .end = i};
		}
		count_call(search, &search->threads[search->thread_count - 1], i);
	}
	for (uint32_t i = 0; i < search->thread_count; i++)
		search->threads[i].is_named_backward =
			search->threads[i].in_loop > 0 &&
			gp_training_is_backward_thread(
				search->model,
				search->model->calls[search->threads[i].first].thread_id);
}

/* Work that few steps have: a launch of it stands among others of it. */
static bool is_occasional(uint8_t phase)
{
	return phase == GP_PHASE_EVALUATION || phase == GP_PHASE_CHECKPOINT;
}

static bool has_own_stack(const struct gp_call *call)
{
	return call->stack != GP_NONE && !call->is_estimated;
}

/* A copy of a batch is known by itself; the kernels of an evaluation are those of a forward pass. */
static uint8_t phase_without_stack(const struct search *search, const struct gp_call *call,
				   uint8_t estimated, uint8_t last)
{
	enum gp_phase_kind phase = call->first_op != GP_NONE
					   ? phase_of_copy(&search->model->ops[call->first_op])
					   : GP_PHASE_NONE;

	if (phase != GP_PHASE_NONE)
		return (uint8_t)phase;
	return estimated == GP_PHASE_EVALUATION ? (uint8_t)GP_PHASE_FORWARD : last;
}

/* Where an estimated stack is of such a phase, the recorded one before it or behind it must be, too. */
static void settle_estimates(struct search *search, const struct thread *thread)
{
	const struct gp_call *calls = search->model->calls;
	uint8_t *phases = search->events->of_calls, last = GP_PHASE_NONE;
	uint32_t next = thread->first;

	for (uint32_t i = thread->first; i < thread->end; i++) {
		if (has_own_stack(&calls[i]))
			last = phases[i];
		if (!calls[i].is_estimated || !is_occasional(phases[i]) || phases[i] == last)
			continue;
		while (next < thread->end && (next <= i || !has_own_stack(&calls[next])))
			next++;
		if (next == thread->end || phases[next] != phases[i])
			phases[i] = phase_without_stack(search, &calls[i], phases[i], last);
	}
}

/* The one with most calls in the loop, of those that are not of the backward pass if any is. */
static const struct thread *main_thread(const struct search *search)
{
	const struct thread *found = NULL;
	bool found_is_backward = true;

	for (uint32_t i = 0; i < search->thread_count; i++) {
		const struct thread *thread = &search->threads[i];
		bool is_less = is_backward(search, thread);

		if (thread->in_loop > 0 &&
		    (!found || (found_is_backward && !is_less) ||
		     (found_is_backward == is_less && thread->in_loop > found->in_loop))) {
			found = thread;
			found_is_backward = is_less;
		}
	}
	return found;
}

/* ---- events ---- */

static bool is_of_training(uint8_t phase)
{
	return phase == GP_PHASE_FORWARD || phase == GP_PHASE_BACKWARD ||
	       phase == GP_PHASE_GRADIENTS || phase == GP_PHASE_OPTIMIZER;
}

static void add_event(struct search *search, uint32_t index, bool is_backward_thread)
{
	struct gp_phase_events *events = search->events;
	const struct gp_call *call = &search->model->calls[index];
	bool is_launch = call->first_op != GP_NONE;

	if (!is_in_loop(search->iterations, call->start_ns))
		return;
	events->launches += is_launch;
	events->with_stack += is_launch && call->stack != GP_NONE;
	if (events->of_calls[index] == GP_PHASE_NONE && is_backward_thread)
		events->of_calls[index] = GP_PHASE_BACKWARD;
	events->is_training |= is_of_training(events->of_calls[index]);
	if (events->of_calls[index] == GP_PHASE_NONE && call->stack == GP_NONE &&
	    search->rules == GP_PHASE_RULES_STACKS)
		return;
	gp_array_grow_spill(&events->rows, &events->capacity, events->count, sizeof(*events->rows));
	events->rows[events->count++] = (struct gp_phase_event){.start_ns = call->start_ns,
								.end_ns = gp_call_end_ns(call),
								.call = index,
								.phase = events->of_calls[index],
								.edge = GP_PHASE_NO_EDGE};
}

static void add_thread(struct search *search, const struct thread *thread)
{
	bool is_backward_thread = is_backward(search, thread);

	if (search->rules == GP_PHASE_RULES_TRAINING)
		settle_estimates(search, thread);
	for (uint32_t i = thread->first; i < thread->end; i++)
		add_event(search, i, is_backward_thread);
}

/*
 * A run of equal samples is as many, MOST_OF_RUN at most, at equal distances; the first and the
 * last are certain.
 */
static void add_samples(struct search *search, const struct gp_sample *run)
{
	struct gp_phase_events *events = search->events;
	uint32_t count = run->count < MOST_OF_RUN ? run->count : MOST_OF_RUN;
	uint64_t step_ns = count > 1 ? (run->end_ns - run->start_ns) / (count - 1) : 0;

	for (uint32_t i = 0; run->stack != GP_NONE && i < count; i++) {
		uint64_t time_ns = run->start_ns + i * step_ns;

		if (!is_in_loop(search->iterations, time_ns))
			continue;
		gp_array_grow_spill(&events->samples, &events->sample_capacity,
				    events->sample_count, sizeof(*events->samples));
		events->is_training |= is_of_training(search->marks[run->stack]);
		events->samples[events->sample_count++] = (struct gp_phase_sample){
			.time_ns = time_ns,
			.least_ns = i + 1 < count ? run->start_ns : run->end_ns,
			.most_ns = i > 0 ? run->end_ns : run->start_ns,
			.stack = run->stack,
			.phase = search->marks[run->stack]};
	}
}

GP_COMPARE_BY_TWO(compare_events, struct gp_phase_event, start_ns, edge)

static void gather(struct search *search)
{
	struct gp_phase_events *events = search->events;
	const struct thread *most = main_thread(search);

	if (most)
		add_thread(search, most);
	if (!most)
		return;
	events->thread_id = search->model->calls[most->first].thread_id;
	for (uint32_t i = 0; i < search->thread_count; i++)
		if (&search->threads[i] != most && is_backward(search, &search->threads[i]))
			add_thread(search, &search->threads[i]);
	for (uint32_t i = 0; i < search->model->sample_count; i++)
		if (search->model->samples[i].thread_id == events->thread_id)
			add_samples(search, &search->model->samples[i]);
	gp_array_sort(events->rows, events->count, sizeof(*events->rows), compare_events, NULL);
}

/* ---- estimated stacks ---- */

static bool is_of_model(const struct gp_phase_event *event)
{
	return event->phase == GP_PHASE_FORWARD || event->phase == GP_PHASE_EVALUATION;
}

static bool copies_to_device(const struct search *search, const struct gp_phase_event *event)
{
	const struct gp_call *call = &search->model->calls[event->call];
	const struct gp_op *op =
		call->first_op != GP_NONE ? &search->model->ops[call->first_op] : NULL;

	return op && op->kind == GP_OP_COPY && op->copy_kind == GP_COPY_HTOD;
}

/* Or a call between its launches: a wait of its copy. */
static bool is_of_batch(const struct search *search, const struct gp_phase_event *event)
{
	return (is_of_model(event) || event->phase == GP_PHASE_NONE) &&
	       !copies_to_device(search, event);
}

static bool is_recorded(const struct search *search, const struct gp_phase_event *event)
{
	return !search->model->calls[event->call].is_estimated;
}

/* What a recorded stack says; else that a backward pass follows. */
static enum gp_phase_kind phase_of_batch(const struct search *search, uint32_t first, uint32_t end)
{
	const struct gp_phase_events *events = search->events;

	if (end < events->count && events->rows[end].phase == GP_PHASE_BACKWARD)
		return GP_PHASE_FORWARD;
	for (uint32_t i = first; i < end; i++)
		if (is_recorded(search, &events->rows[i]) && is_of_model(&events->rows[i]))
			return (enum gp_phase_kind)events->rows[i].phase;
	return GP_PHASE_NONE;
}

/* Without a copy between an evaluation and the next forward pass, a recorded stack parts them. */
static uint32_t end_of_evaluation(const struct search *search, uint32_t first, uint32_t end)
{
	const struct gp_phase_event *rows = search->events->rows;

	for (uint32_t i = end; i > first; i--)
		if (rows[i - 1].phase == GP_PHASE_EVALUATION && is_recorded(search, &rows[i - 1]))
			return i;
	return end;
}

static void mend(struct search *search, struct gp_phase_event *event, enum gp_phase_kind phase)
{
	bool is_before = phase == GP_PHASE_FORWARD && copies_to_device(search, event);

	if (search->model->calls[event->call].is_estimated)
		event->phase = is_before ? GP_PHASE_TO_DEVICE : (uint8_t)phase;
}

/*
 * Forward and evaluation launch the same kernels, so that an estimated stack may be of the other:
 * all that one batch launches, from one copy to the next, is of one of them.
 */
static void mend_batches(struct search *search)
{
	struct gp_phase_events *events = search->events;

	for (uint32_t i = 0, end; i < events->count; i = end) {
		enum gp_phase_kind phase;

		end = i + 1;
		if (!is_of_model(&events->rows[i]))
			continue;
		if (i > 0 && events->rows[i - 1].phase == GP_PHASE_TO_DEVICE &&
		    copies_to_device(search, &events->rows[i - 1]))
			i--;
		while (end < events->count && is_of_batch(search, &events->rows[end]))
			end++;
		phase = phase_of_batch(search, i, end);
		if (phase == GP_PHASE_FORWARD) {
			uint32_t part = end_of_evaluation(search, i, end);

			phase = part < end ? GP_PHASE_EVALUATION : phase;
			end = part;
		}
		for (uint32_t k = i; phase != GP_PHASE_NONE && k < end; k++)
			mend(search, &events->rows[k], phase);
	}
}

/* ---- phases that the stack does not tell ---- */

static void learn_lines(struct search *search)
{
	struct gp_phase_events *events = search->events;
	struct gp_phase_lines *lines = gp_phase_lines_new(search->model);

	for (uint32_t i = 0; i < events->count; i++) {
		uint32_t stack = search->model->calls[events->rows[i].call].stack;

		if (stack != GP_NONE && events->rows[i].phase != GP_PHASE_NONE)
			gp_phase_lines_add(lines, stack, (enum gp_phase_kind)events->rows[i].phase);
	}
	for (uint32_t i = 0; i < events->count; i++) {
		uint32_t stack = search->model->calls[events->rows[i].call].stack;

		if (stack != GP_NONE && events->rows[i].phase == GP_PHASE_NONE)
			events->rows[i].phase = (uint8_t)gp_phase_lines_find(lines, stack);
	}
	for (uint32_t i = 0; i < events->sample_count; i++)
		if (events->samples[i].phase == GP_PHASE_NONE)
			events->samples[i].phase =
				(uint8_t)gp_phase_lines_find(lines, events->samples[i].stack);
	gp_phase_lines_free(lines);
}

/* A wait is for what came before: a copy, a value. */
static void fill_waits(struct search *search)
{
	struct gp_phase_events *events = search->events;

	for (uint32_t i = 1; i < events->count; i++) {
		struct gp_phase_event *event = &events->rows[i];
		uint16_t api = search->model->calls[event->call].api;

		if (event->phase == GP_PHASE_NONE &&
		    gp_model_api_class(search->model, api) == GP_API_SYNC)
			event->phase = events->rows[i - 1].phase;
	}
}

static enum gp_phase_kind between(enum gp_phase_kind before, enum gp_phase_kind after,
				  bool has_stack)
{
	if (before == after && before != GP_PHASE_NONE)
		return before;
	if (before == GP_PHASE_TO_DEVICE || before == GP_PHASE_FORWARD ||
	    after == GP_PHASE_FORWARD || after == GP_PHASE_BACKWARD)
		return GP_PHASE_FORWARD;
	if (!has_stack && before != GP_PHASE_NONE)
		return GP_PHASE_OPTIMIZER;
	return before == GP_PHASE_BACKWARD ? GP_PHASE_GRADIENTS : GP_PHASE_OTHER;
}

static bool has_stack(const struct search *search, const struct gp_phase_event *event)
{
	return search->model->calls[event->call].stack != GP_NONE;
}

/* Runs of events of no known phase get that of their neighbors. */
static void fill_between(struct search *search)
{
	struct gp_phase_events *events = search->events;
	enum gp_phase_kind before = GP_PHASE_NONE;

	for (uint32_t i = 0, end; i < events->count; i = end) {
		enum gp_phase_kind after = GP_PHASE_NONE;

		for (end = i; end < events->count && events->rows[end].phase == GP_PHASE_NONE;)
			end++;
		if (end < events->count)
			after = (enum gp_phase_kind)events->rows[end].phase;
		for (uint32_t k = i; k < end; k++)
			events->rows[k].phase =
				(uint8_t)(search->rules == GP_PHASE_RULES_TRAINING
						  ? between(before, after,
							    has_stack(search, &events->rows[k]))
						  : GP_PHASE_OTHER);
		before = after == GP_PHASE_LOGGING ? before : after;
		end += end < events->count;
	}
	for (uint32_t i = 0; i < events->count; i++)
		events->of_calls[events->rows[i].call] = events->rows[i].phase;
}

/* ---- ranges ---- */

static void add_edge(struct gp_phase_events *events, uint64_t time_ns, uint8_t phase,
		     enum gp_phase_edge edge)
{
	gp_array_grow_spill(&events->rows, &events->capacity, events->count, sizeof(*events->rows));
	events->rows[events->count++] = (struct gp_phase_event){.start_ns = time_ns,
								.end_ns = time_ns,
								.call = GP_NONE,
								.phase = phase,
								.edge = (uint8_t)edge};
}

static void add_edges(struct search *search, const struct gp_phase_ranges *ranges)
{
	struct gp_phase_events *events = search->events;

	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct gp_phase_range *row = &ranges->rows[i];

		events->is_training |= is_of_training(row->phase);
		if (is_in_loop(search->iterations, row->start_ns))
			add_edge(events, row->start_ns, row->phase, GP_PHASE_BEGINS);
		if (is_in_loop(search->iterations, row->end_ns))
			add_edge(events, row->end_ns, row->phase, GP_PHASE_ENDS);
	}
}

/* What the program says of its own thread is right. */
static void overrule(struct search *search, const struct gp_phase_ranges *ranges)
{
	struct gp_phase_events *events = search->events;

	for (uint32_t i = 0; i < events->count; i++) {
		struct gp_phase_event *event = &events->rows[i];
		const struct gp_call *call = &search->model->calls[event->call];
		enum gp_phase_kind phase = gp_phase_ranges_at(ranges, event->start_ns);

		if (phase != GP_PHASE_NONE && call->thread_id == events->thread_id)
			event->phase = (uint8_t)phase;
	}
	for (uint32_t i = 0; i < events->sample_count; i++) {
		enum gp_phase_kind phase = gp_phase_ranges_at(ranges, events->samples[i].time_ns);

		if (phase != GP_PHASE_NONE)
			events->samples[i].phase = (uint8_t)phase;
	}
}

/* Then neighbors and lines tell the rest. */
static void take_ranges(struct search *search, struct gp_phase_ranges *ranges)
{
	gp_phase_ranges_of(ranges, search->model, search->events->thread_id);
	if (ranges->count > 0)
		overrule(search, ranges);
}

static void show_ranges(struct search *search, const struct gp_phase_ranges *ranges)
{
	if (ranges->count > 0)
		add_edges(search, ranges);
	if (ranges->count > 0)
		gp_array_sort(search->events->rows, search->events->count,
			      sizeof(*search->events->rows), compare_events, NULL);
}

void gp_phase_events_of(struct gp_phase_events *events, const struct gp_model *model,
			const struct gp_iterations *iterations, const uint8_t *marks,
			enum gp_phase_rules rules)
{
	struct search search = {.events = events,
				.model = model,
				.iterations = iterations,
				.marks = marks,
				.rules = rules};
	struct gp_phase_ranges ranges = {0};

	*events = (struct gp_phase_events){
		.of_calls = gp_spill_take_zeroed(model->call_count + (size_t)1, 1)};
	find_threads(&search);
	gather(&search);
	if (rules == GP_PHASE_RULES_TRAINING)
		mend_batches(&search);
	if (rules == GP_PHASE_RULES_TRAINING && events->count > 0)
		take_ranges(&search, &ranges);
	learn_lines(&search);
	if (rules == GP_PHASE_RULES_TRAINING)
		fill_waits(&search);
	fill_between(&search);
	show_ranges(&search, &ranges);
	gp_phase_ranges_free(&ranges);
	free(search.threads);
}

void gp_phase_events_free(struct gp_phase_events *events)
{
	gp_spill_free(events->rows);
	gp_spill_free(events->samples);
	gp_spill_free(events->of_calls);
	*events = (struct gp_phase_events){0};
}
