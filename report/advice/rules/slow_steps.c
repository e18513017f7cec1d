#include "report/advice/rules/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/host_samples.h"
#include "report/advice/rules/host_time.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/step_calls.h"
#include "report/analysis/idle/call_cause.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/base/text/format.h"
#include "report/tables/host_work.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(SLOW_PERCENT, GP_SLOW_PERCENT, PERCENT, "of the median step: noise stays below it")  \
	LIMIT(REASON_PART, 2, COUNT, "of the additional time: calls with less are not its reason") \
	LIMIT(MORE_PERCENT, 150, PERCENT, "of the usual operations of a step are more work")       \
	LIMIT(LEAST_WARM_UP_NS, 500000000, NS, "beyond usual steps: less is usual")                \
	LIMIT(MOST_USUAL, 1000, COUNT, "usual steps are compared with: more tell the same")        \
	LIMIT(LEAST_ALONE_NS, 100000000, NS,                                                       \
	      "without samples or more work to explain it: less may be preemption")
GP_LIMITS(LIMITS);

#define NUMBERS 4 /* of steps in a sentence */

/* What a slow step did that others did not: a case's detail. */
enum reason {
	UNKNOWN,
	WORKERS,
	CHECKPOINT,
	EVALUATION,
	DATA,
	COMPILING,
	ALLOCATION,
	LOADING,
	COPYING,
	MORE_WORK,
	REASONS
};

static const char *const reason_ids[REASONS] = {
	[UNKNOWN] = "unknown",       [WORKERS] = "workers", [CHECKPOINT] = "checkpoint",
	[EVALUATION] = "evaluation", [DATA] = "data",       [COMPILING] = "compiling",
	[ALLOCATION] = "allocation", [LOADING] = "loading", [COPYING] = "copying",
	[MORE_WORK] = "more work",
};

/* By a part of the innermost function of a library ("_save (torch/serialization.py)"). */
static const struct {
	const char *what;
	enum reason reason;
} library_marks[] = {
	{"_MultiProcessingDataLoaderIter.__init__", WORKERS},
	{"(multiprocessing/popen_", WORKERS},
	{"(multiprocessing/context.py)", WORKERS},
	{"_MultiProcessingDataLoaderIter._shutdown", WORKERS},
	{"(torch/serialization.py)", CHECKPOINT},
	{"(torch/distributed/checkpoint/", CHECKPOINT},
	{"(safetensors/", CHECKPOINT},
	{"(orbax/", CHECKPOINT},
	{"(torch/utils/data/", DATA},
	{"waiting in Connection._recv", DATA},
	{"waiting in Queue.get", DATA},
};

/* By the beginning of the user's function. */
static const struct {
	const char *function;
	enum reason reason;
} user_marks[] = {
	{"eval", EVALUATION}, {"valid", EVALUATION},      {"test", EVALUATION},
	{"save", CHECKPOINT}, {"checkpoint", CHECKPOINT},
};

struct own {
	bool is_warm_up;
	uint64_t longest_ns, median_ns;
	uint64_t operations;       /* in all steps */
	uint64_t usual_operations; /* of a step */
	uint32_t numbers[NUMBERS]; /* of the first steps, from 1 ... */
	uint32_t last;             /* ... and of the last one */
	enum gp_compiler compiler;
	bool has_samples;
	struct gp_step_calls calls; /* what is told without samples */
};

/* The steps of the present process. */
struct walk {
	const struct gp_steps *steps;
	const struct gp_iterations *all;
	const struct gp_phases *phases;
	uint64_t usual_operations;
	uint64_t usual_phase_ns[GP_PHASE_KINDS]; /* 0: few steps have it */
	/* of MOST_USUAL usual steps at most: the calls, and the host's work according to samples */
	struct gp_usual_calls usual_calls;
	struct gp_tally usual_work;
	uint64_t usual_claimed_ns; /* of claimed_ns, on average */
	uint64_t *claimed_ns;      /* of each step: its idle time that earlier rules explain */
	uint32_t *cases;           /* of each step: its case, GP_NONE = none */
};

static uint64_t length_of(const struct gp_iteration *row)
{
	return row->end_ns - row->start_ns;
}

static uint64_t additional_ns(const struct walk *walk, uint32_t step)
{
	return length_of(&walk->all->rows[step]) - walk->steps->median_ns;
}

/* The thread that runs the loop. */
static uint32_t thread_of(const struct gp_model *model, const struct gp_iteration *row)
{
	uint32_t call;

	if (row->range != GP_NONE)
		return model->ranges[row->range].thread_id;
	call = row->first_op == GP_NONE ? GP_NONE : model->ops[row->first_op].call;
	return call == GP_NONE ? model->pid : model->calls[call].thread_id;
}

static struct gp_step_time time_of(const struct gp_advisor *advisor, const struct walk *walk,
				   uint32_t step)
{
	const struct gp_iteration *row = &walk->all->rows[step];

	return (struct gp_step_time){thread_of(advisor->model, row), {row->start_ns, row->end_ns}};
}

/* ---- reasons ---- */

static const struct {
	enum gp_idle_cause cause;
	enum reason reason;
} call_reasons[] = {{GP_IDLE_ALLOC, ALLOCATION}, {GP_IDLE_SETUP, LOADING}, {GP_IDLE_COPY, COPYING}};

/* The reason that calls of that cause are; UNKNOWN: none. */
static enum reason reason_of_cause(enum gp_idle_cause cause)
{
	for (size_t i = 0; i < COUNT(call_reasons); i++)
		if (call_reasons[i].cause == cause)
			return call_reasons[i].reason;
	return UNKNOWN;
}

static bool is_of_calls(enum reason reason)
{
	return reason == ALLOCATION || reason == LOADING || reason == COPYING;
}

static void add_cause(struct gp_advisor *advisor, const struct gp_longer_call *longer,
		      void *context)
{
	uint64_t *cause_ns = context;

	if (!longer->after)
		cause_ns[gp_call_cause(advisor->model, longer->call)] += longer->more_ns;
}

/* The calls that take so much more time than in a usual step. */
static enum reason find_in_calls(struct gp_advisor *advisor, struct walk *walk, uint32_t step,
				 uint64_t least_ns)
{
	const struct gp_step_time time = time_of(advisor, walk, step);
	uint64_t cause_ns[GP_IDLE_CAUSES] = {0};

	gp_longer_calls_each(advisor, &walk->usual_calls, &time, add_cause, cause_ns);
	for (size_t i = 0; i < COUNT(call_reasons); i++)
		if (cause_ns[call_reasons[i].cause] >= least_ns)
			return call_reasons[i].reason;
	return UNKNOWN;
}

static enum reason reason_of_place(const struct gp_host_place *place, enum gp_compiler *compiler)
{
	*compiler = gp_host_place_compiler(place);
	if (*compiler != GP_COMPILER_NONE)
		return COMPILING;
	for (size_t i = 0; i < COUNT(library_marks); i++)
		if (strstr(place->what, library_marks[i].what))
			return library_marks[i].reason;
	for (size_t i = 0; place->own_function && i < COUNT(user_marks); i++)
		if (strncmp(place->own_function, user_marks[i].function,
			    strlen(user_marks[i].function)) == 0)
			return user_marks[i].reason;
	return UNKNOWN;
}

/* Adds the host's work in a step. */
static void add_work(struct gp_advisor *advisor, const struct walk *walk, uint32_t step,
		     struct gp_tally *work)
{
	const struct gp_step_time time = time_of(advisor, walk, step);
	const struct gp_host_window window = {.tally = work,
					      .places = gp_host_places_in(&advisor->scope),
					      .model = advisor->model,
					      .start_ns = time.step.start_ns,
					      .end_ns = time.step.end_ns};

	if (window.places)
		gp_host_work_add(&window, time.thread);
	if (!window.places || work->error < 0)
		advisor->error = -ENOMEM;
}

/* A usual step's part of usual_work. */
static double usual_share(const struct walk *walk)
{
	return walk->usual_calls.steps > 0 ? 1 / (double)walk->usual_calls.steps : 0;
}

/* The place with most samples beyond those of a usual step; false: there is none. */
static bool find_place(struct gp_advisor *advisor, struct walk *walk, uint32_t step,
		       struct gp_host_place *place)
{
	struct gp_host_function *functions = NULL;
	struct gp_tally work = {0};
	uint32_t count = 0;

	add_work(advisor, walk, step, &work);
	gp_host_work_subtract(&work, 0, &walk->usual_work, usual_share(walk));
	if (advisor->error == 0)
		functions = gp_host_work_functions(&work, 0, advisor->scope.host_places, &count);
	if (count > 0)
		*place = gp_host_places_at(advisor->scope.host_places, functions[0].place);
	free(functions);
	gp_tally_free(&work);
	return count > 0;
}

/* Beyond what is usual. */
static uint64_t additional_of_phase_ns(const struct walk *walk, uint32_t step, uint32_t phase)
{
	uint64_t ns = walk->phases->step_ns[GP_PHASE_HOST][step][phase];
	uint64_t usual_ns = walk->usual_phase_ns[phase];

	return ns > usual_ns ? ns - usual_ns : 0;
}

/* The phase with most of the additional time, if it is occasional work. */
static enum reason find_in_phases(const struct walk *walk, uint32_t step, uint64_t least_ns)
{
	static const enum reason reasons[GP_PHASE_KINDS] = {[GP_PHASE_DATA] = DATA,
							    [GP_PHASE_EVALUATION] = EVALUATION,
							    [GP_PHASE_CHECKPOINT] = CHECKPOINT};

	if (walk->phases->by_functions || walk->phases->time_count == 0)
		return UNKNOWN;
	for (uint32_t i = 0; i < GP_PHASE_KINDS; i++)
		if (reasons[i] != UNKNOWN && additional_of_phase_ns(walk, step, i) >= least_ns)
			return reasons[i];
	return UNKNOWN;
}

struct cause {
	enum reason reason;
	uint32_t place; /* the number of the function, or UINT32_MAX */
	enum gp_compiler compiler;
};

/* Occasional phases; calls, which are known exactly; samples of the host; the amount of work. */
static struct cause cause_of(struct gp_advisor *advisor, struct walk *walk, uint32_t step)
{
	const struct gp_iteration *row = &walk->all->rows[step];
	uint64_t least_ns = additional_ns(walk, step) / REASON_PART;
	enum reason phase = find_in_phases(walk, step, least_ns);
	struct cause cause = {.reason = phase == DATA ? UNKNOWN : phase, .place = UINT32_MAX};
	struct gp_host_place place;

	if (phase == UNKNOWN)
		cause.reason = find_in_calls(advisor, walk, step, least_ns);
	if (cause.reason != UNKNOWN)
		return cause;
	if (advisor->model->sample_count > 0 && find_place(advisor, walk, step, &place)) {
		cause.reason = reason_of_place(&place, &cause.compiler);
		if (cause.reason == UNKNOWN || cause.reason == COMPILING)
			cause.place = place.function_number;
	}
	if (phase == DATA && cause.reason != WORKERS)
		return (struct cause){.reason = DATA, .place = UINT32_MAX};
	if (cause.reason == UNKNOWN &&
	    row->op_count * 100 >= walk->usual_operations * MORE_PERCENT) {
		cause.reason = MORE_WORK;
		cause.place = UINT32_MAX;
	}
	return cause;
}

/* ---- cases ---- */

/* Whether findings of earlier rules, about its calls, have the reason. */
static bool is_claimed(const struct walk *walk, uint32_t step, enum reason reason)
{
	return is_of_calls(reason) &&
	       walk->claimed_ns[step] >=
		       walk->usual_claimed_ns + additional_ns(walk, step) / REASON_PART;
}

/* The place of a reason that is of calls is theirs. */
static void vote_for_call(struct gp_advisor *advisor, const struct gp_longer_call *longer,
			  void *context)
{
	struct gp_case *found = context;

	if (!longer->after &&
	    reason_of_cause(gp_call_cause(advisor->model, longer->call)) == found->detail)
		gp_advisor_vote(found, gp_advisor_site(advisor, longer->call), longer->more_ns);
}

static void keep_calls(struct gp_advisor *advisor, struct walk *walk, uint32_t step,
		       struct gp_case *found)
{
	const struct gp_step_time time = time_of(advisor, walk, step);
	struct own *own = found->own;

	if (is_of_calls((enum reason)found->detail))
		gp_longer_calls_each(advisor, &walk->usual_calls, &time, vote_for_call, found);
	else
		gp_step_calls_keep(&own->calls, advisor, found, &walk->usual_calls, &time,
				   additional_ns(walk, step) / REASON_PART);
}

static void add_step(struct gp_advisor *advisor, struct walk *walk, uint32_t step)
{
	const struct gp_step_time time = time_of(advisor, walk, step);
	const struct gp_iteration *row = &walk->all->rows[step];
	bool is_warm_up = walk->steps->parts[step] == GP_RUN_WARM_UP;
	struct cause cause = cause_of(advisor, walk, step);
	uint64_t length_ns = length_of(row);
	struct gp_case *found;
	struct own *own;

	if (is_claimed(walk, step, cause.reason))
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, cause.reason,
				2 * (uint64_t)cause.place + is_warm_up);
	own = found->own;
	if (found->count < NUMBERS)
		own->numbers[found->count] = step + 1;
	own->last = step + 1;
	own->is_warm_up = is_warm_up;
	own->median_ns = walk->steps->median_ns;
	own->operations += row->op_count;
	own->usual_operations = walk->usual_operations;
	own->compiler = cause.compiler;
	if (length_ns > own->longest_ns)
		own->longest_ns = length_ns;
	gp_advisor_show_time(advisor, found, row->start_ns, length_ns);
	gp_advisor_add(advisor, found, row->start_ns, length_ns, additional_ns(walk, step), NULL);
	own->has_samples |= gp_host_samples_add_times(advisor, found, time.thread, &time.step, 1);
	keep_calls(advisor, walk, step, found);
	walk->cases[step] = (uint32_t)(found - advisor->cases);
}

static bool begins_by(const void *element, const void *key)
{
	const struct gp_iteration *row = element;
	const uint64_t *time_ns = key;

	return row->start_ns <= *time_ns;
}

/* The step that a gap begins in, or GP_NONE. */
static uint32_t step_of(const struct gp_advisor *advisor, const struct walk *walk,
			const struct gp_idle_gap *idle_gap)
{
	uint64_t base_ns = advisor->model->base_unix_ns, start_ns = idle_gap->start_ns;
	uint64_t time_ns = start_ns > base_ns ? start_ns - base_ns : 0;
	uint32_t after = gp_array_lower_bound(walk->all->rows, walk->all->count,
					      sizeof(*walk->all->rows), begins_by, &time_ns);

	return after > 0 && walk->all->rows[after - 1].end_ns > time_ns ? after - 1 : GP_NONE;
}

/* All idle gaps of such steps are explained: what a usual step has of them, others have, too. */
static void take_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	const struct walk *walk = advisor->state;
	uint32_t step = step_of(advisor, walk, at->idle_gap);

	if (step != GP_NONE && walk->cases[step] != GP_NONE)
		gp_advisor_tell(advisor, &advisor->cases[walk->cases[step]], at->idle_gap);
}

static uint64_t warm_up_ns(const struct walk *walk)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < walk->steps->counts[GP_RUN_WARM_UP]; i++)
		sum_ns += additional_ns(walk, i);
	return sum_ns;
}

static bool is_looked_at(const struct walk *walk, uint32_t step, bool is_warm_up_long)
{
	return walk->steps->parts[step] == GP_RUN_SLOW ||
	       (walk->steps->parts[step] == GP_RUN_WARM_UP && is_warm_up_long);
}

static uint64_t usual_operations(struct gp_advisor *advisor, const struct gp_iterations *all)
{
	uint64_t *counts = gp_spill_take(((size_t)all->count + 1) * sizeof(*counts)), usual = 0;

	for (uint32_t i = 0; counts && i < all->count; i++)
		counts[i] = all->rows[i].op_count;
	if (counts)
		usual = gp_stats_select(counts, all->count, all->count / 2);
	else
		advisor->error = -ENOMEM;
	gp_spill_free(counts);
	return usual;
}

/* Nothing of a phase that few steps have is usual. */
static void find_usual_phases(struct walk *walk)
{
	const struct gp_phases *phases = walk->phases;

	for (uint32_t i = 0; phases->time_count > 0 && i < GP_PHASE_KINDS; i++)
		if ((uint64_t)phases->rows[i].steps * GP_SLOW_PART > phases->step_count)
			walk->usual_phase_ns[i] = gp_phases_step_ns(phases, GP_PHASE_HOST, i);
}

static void find_claimed(const struct gp_advisor *advisor, struct walk *walk)
{
	const struct gp_process_idle_gaps *process =
		&advisor->basis->idle_gaps.processes[advisor->process];

	for (uint32_t i = 0; i < process->count; i++) {
		const struct gp_idle_gap *idle_gap = process->idle_gaps[i];
		uint32_t step = step_of(advisor, walk, idle_gap);

		if (step != GP_NONE && idle_gap->told != GP_NONE)
			walk->claimed_ns[step] += gp_idle_gap_ns(idle_gap);
	}
}

/* What steps that are not slow have of claimed idle time, of calls and of host work. */
static void find_usual(struct gp_advisor *advisor, struct walk *walk)
{
	uint32_t count = walk->steps->counts[GP_RUN_STEADY], each = count / MOST_USUAL + 1, k = 0;

	for (uint32_t i = 0; i < walk->steps->count && advisor->error == 0; i++) {
		struct gp_step_time time = time_of(advisor, walk, i);

		if (walk->steps->parts[i] != GP_RUN_STEADY)
			continue;
		walk->usual_claimed_ns += walk->claimed_ns[i];
		if (k++ % each != 0)
			continue;
		gp_usual_calls_add(&walk->usual_calls, advisor, &time);
		add_work(advisor, walk, i, &walk->usual_work);
	}
	gp_usual_calls_end(&walk->usual_calls);
	walk->usual_claimed_ns /= count > 0 ? count : 1;
}

/* Leaves the samples of a case that are beyond those of as many usual steps. */
static void leave_out_usual(struct gp_advisor *advisor, struct walk *walk)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i));)
		gp_host_work_subtract(&advisor->host_work, (uint64_t)(found - advisor->cases),
				      &walk->usual_work, (double)found->count * usual_share(walk));
}

/* A busy machine stops a program anywhere: amid calls, too.  The place of samples is theirs. */
static void judge(struct gp_advisor *advisor)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i));) {
		bool has_samples = ((const struct own *)found->own)->has_samples;

		if (has_samples && !is_of_calls((enum reason)found->detail))
			found->site = GP_NO_SITE;
		if (!has_samples && found->detail != MORE_WORK && found->saves_ns < LEAST_ALONE_NS)
			found->count = 0;
	}
}

static void look(struct gp_advisor *advisor)
{
	struct walk walk = {.steps = advisor->loops[advisor->process],
			    .all = &advisor->basis->iterations[advisor->process],
			    .phases = &advisor->basis->phases[advisor->process]};
	bool is_warm_up_long;

	if (!walk.steps ||
	    walk.steps->counts[GP_RUN_SLOW] + walk.steps->counts[GP_RUN_WARM_UP] == 0)
		return;
	is_warm_up_long = warm_up_ns(&walk) >= LEAST_WARM_UP_NS;
	walk.usual_operations = usual_operations(advisor, walk.all);
	find_usual_phases(&walk);
	walk.cases = gp_spill_take(((size_t)walk.steps->count + 1) * sizeof(*walk.cases));
	walk.claimed_ns =
		gp_spill_take_zeroed((size_t)walk.steps->count + 1, sizeof(*walk.claimed_ns));
	if (!walk.cases || !walk.claimed_ns) {
		advisor->error = -ENOMEM;
	} else {
		find_claimed(advisor, &walk);
		find_usual(advisor, &walk);
	}
	for (uint32_t i = 0; advisor->error == 0 && i < walk.steps->count; i++) {
		walk.cases[i] = GP_NONE;
		if (is_looked_at(&walk, i, is_warm_up_long))
			add_step(advisor, &walk, i);
	}
	advisor->state = &walk;
	if (advisor->error == 0)
		gp_advisor_idle_gaps(advisor, 0, NULL, take_gap);
	leave_out_usual(advisor, &walk);
	judge(advisor);
	gp_spill_free(walk.cases);
	gp_spill_free(walk.claimed_ns);
	gp_tally_free(&walk.usual_calls.calls);
	gp_tally_free(&walk.usual_work);
}

/* ---- sentences ---- */

static void print_numbers(FILE *out, const void *context)
{
	const struct gp_case *found = context;
	const struct own *own = found->own;

	if (found->count > NUMBERS && own->last - own->numbers[0] + 1 == found->count) {
		fprintf(out, "%s to %s", gp_format_count(own->numbers[0]).text,
			gp_format_count(own->last).text);
		return;
	}
	for (uint64_t i = 0; i < found->count && i < NUMBERS; i++)
		fprintf(out, "%s%s", i > 0 ? ", " : "", gp_format_count(own->numbers[i]).text);
	if (found->count > NUMBERS)
		fputs(", ...", out);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;
	const struct gp_steps *steps = advisor->loops[found->process];
	uint32_t all = steps->counts[own->is_warm_up ? GP_RUN_WARM_UP : GP_RUN_SLOW];

	gp_document_add_text(values, "reason", reason_ids[found->detail]);
	gp_document_add_flag(values, "is_warm_up", own->is_warm_up);
	gp_document_add_flag(values, "in_loop", !own->is_warm_up);
	if (all > found->count)
		gp_document_add_number(values, "all_count", GP_UNIT_COUNT, all);
	gp_document_add_printed(values, "numbers", print_numbers, found);
	gp_document_add_number(values, "longest_ns", GP_UNIT_NS, own->longest_ns);
	gp_document_add_number(values, "median_ns", GP_UNIT_NS, own->median_ns);
	gp_document_add_number(values, "operations", GP_UNIT_COUNT, own->operations / found->count);
	gp_document_add_number(values, "usual_operations", GP_UNIT_COUNT, own->usual_operations);
	gp_compiler_add_value(own->compiler, values);
	gp_host_samples_add_values(advisor, found, GP_SAMPLE_TIMES, values);
	if (!own->has_samples)
		gp_step_calls_add_values(&own->calls, advisor, values);
	if (!own->has_samples)
		gp_language_add_sampler(advisor->scope.models[found->process],
					advisor->scope.model_count, values);
}

/* The samples name it, or else the calls that are told. */
static bool names_place(const struct gp_case *found)
{
	const struct own *own = found->own;

	return own->has_samples || own->calls.pause_ns > 0 || own->calls.call_ns > 0;
}

const struct gp_rule gp_rule_slow_steps = {
	.id = "slow-steps",
	.title = "some steps of the main loop are much slower than others",
	.found =
		"{count} [{?all_count}of {all_count} slow steps|step[{!count=1}s]][{?is_warm_up} of the warm-up] (number[{!count=1}s] {numbers}) took {mean_ns}[{!count=1} on average, {longest_ns} at most] (median step: {median_ns})"
		"[: {?reason=workers}the DataLoader started its worker processes again"
		"|: {?reason=checkpoint}a checkpoint was written while the GPU waited"
		"|: {?reason=evaluation}an evaluation ran"
		"|: {?reason=data}the loop waited for data"
		"|: {?reason=allocation}the program allocated or freed memory"
		"|: {?reason=loading}code was loaded or compiled"
		"|: {?reason=copying}the host waited in copies"
		"|: {?reason=more work}[{?count=1}it had {operations} GPU operations|they had {operations} GPU operations on average], a usual step has {usual_operations}]"
		"[{samples}|" GP_STEP_CALLS_FOUND "]",
	.change =
		"[{?reason=workers}keep the workers from epoch to epoch: DataLoader(persistent_workers=True); Trainer: dataloader_persistent_workers=True"
		"|{?reason=checkpoint}save less often, or while training goes on: copy the state to the host and write it in a thread (torch.distributed.checkpoint.async_save)"
		"|{?reason=evaluation}evaluate less often, or with fewer batches"
		"|{?reason=data}give the loader more workers (num_workers) or a longer queue (prefetch_factor)"
		"|" GP_COMPILER_CHANGE
		"|{?reason=allocation}allocate the largest sizes before the loop[{?language=torch}, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True]"
		"|{?reason=loading}use each kernel and shape once before the measured part, and pad inputs to a few shapes"
		"|{?reason=copying}copy asynchronously, from page-locked memory"
		"|{?is_warm_up}exclude [{?count=1}this step|these steps] from measurements; if new shapes are the reason, pad inputs to a few shapes"
		"|{?reason=more work}do this work less often, or in another process: gpuprof summary --by iteration lists the steps"
		"|[{?sampler}{?pause_ns}gpuprof records CUDA calls, not the host's computation between them: {sampler} shows it; else ]compare a slow step with a usual one in the timeline; gpuprof summary --by iteration lists the steps]",
	.meaning =
		"A step is slow if it takes {SLOW_PERCENT} % of the median or more. The saving is the time beyond the median, as an average over all steps after the warm-up. Slow steps at the very beginning are warm-up, a one-time cost. The reason is what takes most of the additional time. gpuprof looks in this order: an occasional phase, such as an evaluation or a checkpoint; API calls that allocate, load code or copy for longer than in a usual step; the function that stack samples found most often; more GPU operations than usual. Calls and samples count as far as they exceed those of a usual step: the median of each call site's time over {MOST_USUAL} steps at most, and the average of the samples. Without samples the finding names the call, or the time without a recorded call, that takes most of the additional time. If another finding reports these calls, this rule does not.",
	.remedy =
		"Do occasional work less often, or while the training goes on: keep the workers of the data loader, write checkpoints asynchronously, evaluate in another process. Avoid new shapes.",
	.ignore = "The occasional work is needed, and cannot be made faster.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 1000000,
		      .count = 1,
		      .reason = "Less is within the noise of a machine"},
	.limits = limits,
	.is_of_gpu = true,
	.is_placed_by_samples = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
	.names_place = names_place,
};
