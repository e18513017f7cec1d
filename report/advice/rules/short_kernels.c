#include "report/advice/rules/rules.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/launch_places.h"
#include "report/advice/rules/host_samples.h"
#include "report/analysis/idle/idle_cause.h"
#include "report/analysis/loop/sequence_text.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(MOST_NS, GP_LAUNCH_PAUSE_NS, NS, "a longer gap or pause is not only a launch")       \
	LIMIT(PAUSE_NS, 20000000, NS, "samples of a longer pause can show other work")             \
	LIMIT(LAUNCH_PERCENT, 80, PERCENT, "of a gap: launch-bound time")                          \
	LIMIT(LEAST_CELLS, 64, COUNT, "time steps of a recurrent cell: fewer are no loop")         \
	LIMIT(CELL_PERCENT, 2, PERCENT,                                                            \
	      "of the launches: a cell has some ten others, backward too")                         \
	LIMIT(LEAST_OPTIMIZER, 64, COUNT, "operations of a step: a fused optimizer has fewer")     \
	LIMIT(OPTIMIZER_PERCENT, 40, PERCENT, "of the loop's operations: less is not the cause")
GP_LIMITS(LIMITS);

/* The state of a look. */
struct launches {
	struct gp_launch_places places;
	struct gp_interval *intervals; /* from launch to launch */
	uint32_t count, capacity;
	uint64_t thread, votes; /* the thread with most launches */
	uint64_t *lengths_ns;   /* of the operations that were launched so */
	uint32_t length_count, length_capacity;
};

static bool waits_for_launch(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);

	return idle_ns <= MOST_NS && at->call_before &&
	       gp_is_launching(advisor->model, at->call_before, at->call_after) &&
	       !gp_advisor_tunes(advisor, at->call_after) &&
	       gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_LAUNCH) * 100 >= idle_ns * LAUNCH_PERCENT;
}

struct own {
	uint64_t sequence; /* the text of one that a graph could launch at once ... */
	uint64_t operations, occurrences; /* ... its length and number; 0 = there is none ... */
	uint64_t sequence_gap_ns;         /* ... and its idle time */
	uint64_t places;                  /* the text of the places that launch */
	uint64_t median_ns; /* of the operations: a few long kernels among them say nothing */
	bool has_samples;   /* there are Python samples of the launches */
	uint32_t cells;     /* operations that are a time step of PyTorch's LSTMCell or GRUCell */
};

/* Of all operations.  cuDNN, which nn.LSTM calls, has other kernels. */
static uint32_t count_cells(const struct gp_model *model)
{
	bool *is_cell = calloc((size_t)model->name_count + 1, sizeof(*is_cell));
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->name_count; i++)
		is_cell[i] = strstr(model->names[i], "lstm_cell_forward") ||
			     strstr(model->names[i], "gru_cell_forward");
	for (uint32_t i = 0; i < model->op_count; i++)
		count += model->ops[i].kind == GP_OP_KERNEL &&
			 model->ops[i].name < model->name_count && is_cell[model->ops[i].name];
	free(is_cell);
	return count;
}

static void note_launch(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	struct launches *times = advisor->state;
	struct gp_interval *last = times->count > 0 ? &times->intervals[times->count - 1] : NULL;
	uint64_t start_ns = at->call_before->start_ns, end_ns = gp_call_end_ns(at->call_after);

	gp_vote(&times->thread, &times->votes, at->call_after->thread_id, 1);
	if (last && start_ns >= last->start_ns && start_ns <= last->end_ns + PAUSE_NS) {
		last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
		return;
	}
	advisor->error = gp_array_grow_spill(&times->intervals, &times->capacity, times->count,
					     sizeof(*times->intervals));
	if (advisor->error == 0 && times->intervals)
		times->intervals[times->count++] = (struct gp_interval){start_ns, end_ns};
}

/* The Python samples between the launches of all devices. */
static bool look_meanwhile(struct gp_advisor *advisor, const struct gp_case *found)
{
	struct launches *times = advisor->state;

	times->count = (uint32_t)gp_interval_join(times->intervals, times->count);
	return gp_host_samples_add_times(advisor, found, (uint32_t)times->thread, times->intervals,
					 times->count);
}

static void note_length(struct gp_advisor *advisor, const struct gp_op *op)
{
	struct launches *all = advisor->state;

	advisor->error = gp_array_grow_spill(&all->lengths_ns, &all->length_capacity,
					     all->length_count, sizeof(*all->lengths_ns));
	if (advisor->error == 0)
		all->lengths_ns[all->length_count++] = op->end_ns - op->start_ns;
}

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);

	note_launch(advisor, at);
	if (advisor->error == 0)
		note_length(advisor, at->after);
	if (found->site == GP_NO_SITE)
		found->site = gp_advisor_site(advisor, at->call_after);
	gp_advisor_add(advisor, found, at->after->start_ns, at->after->end_ns - at->after->start_ns,
		       idle_ns > GP_OPERATION_GAP_NS ? idle_ns - GP_OPERATION_GAP_NS : 0,
		       at->idle_gap);
	gp_launch_places_add(&((struct launches *)advisor->state)->places,
			     gp_advisor_site(advisor, at->call_after), idle_ns);
}

/* A repetition of one kernel is no sequence: its length would be arbitrary. */
static bool is_one_kernel(const struct gp_model *model, const struct gp_sequences *sequences,
			  const struct gp_sequence *row)
{
	uint32_t name = model->ops[sequences->elements[row->first].op].name;

	for (uint32_t i = 1; i < row->length; i++)
		if (model->ops[sequences->elements[row->first + i].op].name != name)
			return false;
	return true;
}

/* A sequence that a graph could launch at once, if it has half of the saving. */
static void note_sequence(struct gp_advisor *advisor, struct gp_case *found,
			  const struct gp_sequences *sequences, const struct gp_sequence *row)
{
	const struct gp_op *op = &advisor->model->ops[sequences->elements[row->first].op];
	struct own *own = found->own;
	char text[GP_SEQUENCE_TEXT_BYTES];

	if (op->graph_id != 0 || row->gap_ns * 2 < found->saves_ns ||
	    row->gap_ns <= own->sequence_gap_ns || is_one_kernel(advisor->model, sequences, row))
		return;
	gp_sequence_text(text, advisor->scope.names, advisor->model, sequences, row);
	own->sequence_gap_ns = row->gap_ns;
	own->sequence = gp_advisor_text(advisor, text);
	own->operations = row->length;
	own->occurrences = row->count;
}

static void look_for_sequence(struct gp_advisor *advisor, struct gp_case *found)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t first = 0, end; advisor->error == 0 && first < model->op_count; first = end) {
		struct gp_sequences sequences;

		end = gp_model_stream_end(model, first);
		if (gp_sequences_are_of_one_kernel(model, first, end))
			continue; /* note_sequence() would take none */
		advisor->error = gp_sequences_of(&sequences, model, advisor->tuning, first, end);
		for (uint32_t i = 0; advisor->error == 0 && i < sequences.count; i++)
			note_sequence(advisor, found, &sequences, &sequences.rows[i]);
		gp_sequences_free(&sequences);
	}
}

static void look(struct gp_advisor *advisor)
{
	struct launches launches = {0};
	struct gp_case *found;
	struct own *own;

	advisor->state = &launches;
	gp_advisor_idle_gaps(advisor, 0, waits_for_launch, take_idle_gap);
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	own = found->own;
	if (advisor->error == 0 && gp_advisor_is_worth(advisor, found)) {
		gp_launch_places_put(advisor, &launches.places, found, "launch them", &own->places);
		if (!gp_advisor_knows(advisor, found->site))
			own->has_samples = look_meanwhile(advisor, found);
		look_for_sequence(advisor, found);
		own->cells = count_cells(advisor->model);
		if (launches.length_count > 0)
			own->median_ns = gp_stats_select(launches.lengths_ns, launches.length_count,
							 launches.length_count / 2);
	}
	gp_spill_free(launches.lengths_ns);
	gp_launch_places_free(&launches.places);
	gp_spill_free(launches.intervals);
}

/* What the phases of a training tell: that the optimizer is most of it, or that it is none. */
static void add_phases(const struct gp_phases *phases, struct gp_document *values)
{
	uint64_t optimizer = phases->rows[GP_PHASE_OPTIMIZER].op_count, all = 0;

	if (phases->time_count == 0 || phases->by_functions)
		return;
	for (uint32_t i = 0; i < GP_PHASE_KINDS; i++)
		all += phases->rows[i].op_count;
	if (optimizer >= (uint64_t)phases->step_count * LEAST_OPTIMIZER &&
	    optimizer * 100 >= all * OPTIMIZER_PERCENT)
		gp_document_add_number(values, "optimizer_operations", GP_UNIT_COUNT,
				       optimizer / phases->step_count);
	gp_document_add_flag(values, "is_inference",
			     phases->rows[GP_PHASE_FORWARD].op_count > 0 &&
				     phases->rows[GP_PHASE_BACKWARD].op_count == 0);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct own *own = found->own;

	gp_document_add_number(values, "median_ns", GP_UNIT_NS, own->median_ns);
	add_phases(&advisor->basis->phases[found->process], values);
	if (gp_advisor_knows(advisor, found->site) && *gp_advisor_text_of(advisor, own->places))
		gp_advisor_add_text(advisor, values, "places", own->places);
	else if (own->has_samples)
		gp_host_samples_add_values(advisor, found, GP_SAMPLE_SHARES, values);
	gp_document_add_flag(values, "is_compiled", gp_language_is_compiled(model));
	gp_document_add_flag(values, "has_cells",
			     own->cells >= LEAST_CELLS &&
				     (uint64_t)own->cells * 100 >=
					     (uint64_t)found->count * CELL_PERCENT);
	if (own->occurrences == 0)
		return;
	gp_document_add_number(values, "sequence_length", GP_UNIT_COUNT, own->operations);
	gp_document_add_number(values, "sequence_count", GP_UNIT_COUNT, own->occurrences);
	gp_advisor_add_text(advisor, values, "sequence", own->sequence);
	gp_document_add_number(values, "sequence_launches", GP_UNIT_COUNT,
			       own->occurrences * own->operations);
}

static bool names_place(const struct gp_case *found)
{
	const struct own *own = found->own;

	return own->has_samples;
}

const struct gp_rule gp_rule_short_kernels = {
	.id = "short-kernels",
	.title = "kernels are shorter than their launches",
	.found =
		"the GPU waits for the launches of [{?step_count}{step_count} operations in each step|{count} operations], half of which run for {median_ns} or less[; {places}|{samples}][; the same {sequence_length} operations repeat {sequence_count} times: {sequence}; a graph needs {sequence_count} launches in place of {sequence_launches}]",
	.change =
		"[{?language=jax}put the whole step into one jax.jit: it fuses kernels, and launches the rest as one|[{?has_cells}compute each sequence by one call of nn.LSTM or nn.GRU, in place of a cell for each time step; or ][let the optimizer launch a few kernels in place of {optimizer_operations} in each step (fused=True or foreach=True); then |{?is_inference}process several inputs together (larger batches), or ]capture the loop's launches in a CUDA graph ([{?language=torch}torch.compile with mode=\"reduce-overhead\", torch.cuda.graphs|{?language=cupy}begin_capture() of a cupy.cuda.Stream|{?language=python}torch.compile with mode=\"reduce-overhead\", torch.cuda.graphs, jax.jit|cudaStreamBeginCapture, cudaGraphLaunch]), [{?language=torch}{?is_compiled}and compile the rest of the loop, such as the optimizer's step|or fuse kernels[{?language=torch} (torch.compile)|{?language=cupy} (cupy.fuse)]]]",
	.meaning =
		"The GPU was idle between two launches (of kernels, memsets or copies on the device) that follow each other within {MOST_NS}: launch-bound time of `gpuprof explain launch-bound`, in gaps of {MOST_NS} at most. Launch-bound time after a wait for the GPU belongs to the rules of waits. A launch takes some microseconds on the host, with a framework ten to fifty. If kernels are shorter, the GPU waits before each one. A CUDA graph launches hundreds of kernels by one call, about a microsecond apart. The saving is the time between the kernels beyond that. The finding names the places that launch, and the innermost function that most launches come from. Without call stacks it names the Python functions that stack samples found between the launches (--host-samples).",
	.remedy =
		"Replace a loop that computes element by element with one operation on all elements. Capture a step in a graph (cudaStreamBeginCapture, torch.cuda.graphs, torch.compile with mode=\"reduce-overhead\") and launch it in each iteration. Fuse elementwise kernels (torch.compile, jax.jit). Larger batches make kernels longer.",
	.ignore = "Shapes or the sequence of kernels change with each iteration.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 1000000,
		      .count = 200,
		      .reason = "Fewer launches are setup"},
	.limits = limits,
	.at = "mostly at",
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
	.names_place = names_place,
};
