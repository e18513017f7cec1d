#include "report/analysis/loop/iterations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/analysis/loop/bounds.h"
#include "report/analysis/idle/call_cause.h"
#include "report/analysis/loop/launch_order.h"
#include "report/analysis/loop/iteration_starts.h"
#include "report/analysis/loop/iteration_search.h"
#include "report/analysis/loop/iteration_sequence.h"
#include "report/analysis/idle/queue.h"
#include "report/analysis/loop/module_layers.h"
#include "report/analysis/loop/sequences.h"
#include "report/analysis/loop/stretches.h"
#include "report/analysis/loop/training_steps.h"
#include "report/base/array.h"
#include "report/analysis/idle/busy.h"
#include "report/base/group_by.h"
#include "report/base/text/name_pattern.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

/* Two equal ranges may be chance. */
#define LEAST_ITERATIONS 3
/* Ranges with less than 1 / so much of all operations are no loop. */
#define LEAST_OPS_PART 8u
/* A sequence with less than 1 / so much of the GPU's work, and of the time, is a part of the start. */
#define LEAST_PART 20u
/* Counts and times that differ by less are equal: loops vary a little from run to run. */
#define SIMILAR_RATIO 0.9
/* Fewer that come at regular distances, or in the order of launches, may be chance. */
#define MANY_ITERATIONS 8u
/* So many ranges in an outer one are the loop, and that one is an epoch with an evaluation. */
#define EPOCH_ITERATIONS 32u
/* A stream that copies the data has 1 / so much of the busiest one's operations. */
#define FEEDING_PART 4u
/* Another stream's loop replaces one only if it lasts clearly longer. */
#define LONGER_RATIO 1.5
/* Iterations come in bunches, side by side, if their mean distance is so many medians. */
#define BUNCH_RATIO 4u
#define KEY_BYTES   (GP_ITERATION_NAME_BYTES + 32)

GP_COMPARE_BY(compare_starts, struct gp_iteration, start_ns)

static void add(struct gp_iterations *iterations, struct gp_iteration row)
{
	gp_array_grow_spill(&iterations->rows, &iterations->capacity, iterations->count,
			    sizeof(row));
	iterations->rows[iterations->count++] = row;
}

/*
 * Each lasts to the start of the next, but for the last of a stretch, and one after which recording
 * paused: the time after it is not known.
 */
static void join(struct gp_iterations *iterations, const struct gp_model *model)
{
	for (uint32_t i = 1; i < iterations->count; i++) {
		struct gp_iteration *row = &iterations->rows[i - 1], *next = row + 1;
		bool paused = gp_model_gates_until(model, gp_bounds_begun_ns(model, row)) !=
			      gp_model_gates_until(model, gp_bounds_begun_ns(model, next));

		if (row->ends_stretch)
			continue;
		if (!paused || row->end_ns > next->start_ns)
			row->end_ns = next->start_ns;
		if (!paused && row->first_op != GP_NONE && next->place > row->place)
			row->op_count = next->place - row->place;
	}
}

/* Of rows from their first operation's start to their last one's end. */
static int complete(struct gp_iterations *iterations, const struct gp_model *model)
{
	gp_array_sort(iterations->rows, iterations->count, sizeof(*iterations->rows),
		      compare_starts, NULL);
	gp_bounds_set(iterations, model);
	gp_stretches_mark(iterations);
	join(iterations, model);
	return gp_stretches_gather(iterations);
}

/* ---- by range ---- */

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* A program that XLA runs: a function that is compiled, or one operation of JAX. */
static bool is_xla_module(const char *text)
{
	return begins_with(text, "XlaModule:");
}

/* Ranges of one thread and one text, without the numbers in it. */
struct kind {
	uint64_t count, operations, ended_ns;
	bool nests, is_xla_module;
};

/* Which ranges are compared. */
enum whose { OF_PROGRAM, OF_PROGRAM_OR_LITTLE, OF_LIBRARIES };

struct kinds {
	enum whose whose;
	uint64_t most_operations; /* of one that may be a loop */
	struct gp_groups keys;
	struct kind *rows; /* parallel to the keys */
	uint32_t *of;      /* by range: its kind, or GP_NONE */
	uint32_t capacity;
};

/* The kind's number, made if it is not there yet; GP_NONE if there is no memory. */
static uint32_t find_kind(struct kinds *kinds, const struct gp_model *model,
			  const struct gp_range *range)
{
	char name[GP_ITERATION_NAME_BYTES], key[KEY_BYTES];
	uint32_t before = kinds->keys.count, number;

	gp_name_pattern(name, sizeof(name), gp_model_range_text(model, range));
	snprintf(key, sizeof(key), "%u %u %u %s", range->thread_id, range->domain, range->style,
		 name);
	number = gp_groups_find(&kinds->keys, key);
	if (number == UINT32_MAX || number < before)
		return number;
	gp_array_grow(&kinds->rows, &kinds->capacity, number, sizeof(*kinds->rows));
	kinds->rows[number] = (struct kind){.is_xla_module = is_xla_module(name)};
	return number;
}

/* Libraries have ranges of their own in each call: of the program's loop these say nothing. */
static bool is_of_library(const struct gp_model *model, const struct gp_range *range)
{
	static const char *const domains[] = {"CCCL",     "CUB",      "Thrust",   "NCCL",
					      "cuBLAS",   "cuBLASLt", "cuDNN",    "cuFFT",
					      "cuSPARSE", "cuSOLVER", "cuTENSOR", "NVSHMEM"};

	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++)
		if (range->domain < model->domain_count &&
		    strcasecmp(model->domains[range->domain], domains[i]) == 0)
			return true;
	return false;
}

/*
 * Names of PyTorch's emit_nvtx(): an operator by its namespace, and one iteration's parts with
 * their number.  And its collectives, which torch.profiler calls annotations.
 */
static bool is_named_by_emit_nvtx(const char *text)
{
	static const char *const begin[] = {
		"aten::", "prims::",           "autograd::engine::", "torch::autograd::",
		"nccl:",  "record_param_comms"};

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (*text == *begin[i] && strncmp(text, begin[i], strlen(begin[i])) == 0)
			return true;
	return strstr(text, ", seq = ") != NULL;
}

/* Of XLA's own work: what its compiler does, and the parts of a module that it runs. */
static bool is_named_by_xla(const char *text)
{
	return begins_with(text, "Thunk:") || (begins_with(text, "Xla") && !is_xla_module(text));
}

/*
 * Ranges of PyTorch's operators, which torch.profiler tells from the program's own
 * (report/import/kineto.c).
 */
static bool is_operator(const struct gp_model *model, const struct gp_range *range)
{
	if (range->category != 0 &&
	    strcmp(gp_model_category(model, range->domain, range->category), "operator") == 0)
		return true;
	return is_named_by_emit_nvtx(gp_model_range_text(model, range)) ||
	       is_named_by_xla(gp_model_range_text(model, range));
}

static bool is_asked_for(const struct gp_model *model, const struct gp_range *range,
			 enum whose whose)
{
	return is_of_library(model, range) == (whose == OF_LIBRARIES) && !is_operator(model, range);
}

/* Of a start/end range all threads' operations count: it is taken as it is. */
static bool has_work(const struct gp_model *model, const struct gp_tuning *tuning,
		     const struct gp_range *range, uint32_t *own)
{
	if (range->style == GP_STYLE_MARK || range->gpu_end_ns == 0)
		return false;
	return range->style != GP_STYLE_PUSH_POP || !gp_tuning_has_any(model, tuning) ||
	       gp_tuning_range_has_own(model, tuning, range, own);
}

static void gather_kinds(struct kinds *kinds, const struct gp_model *model,
			 const struct gp_tuning *tuning)
{
	uint32_t own = 0;

	kinds->of = gp_spill_take(((size_t)model->range_count + 1) * sizeof(*kinds->of));
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];
		struct kind *kind;

		kinds->of[i] = GP_NONE;
		if (!is_asked_for(model, range, kinds->whose) ||
		    !has_work(model, tuning, range, &own))
			continue;
		kinds->of[i] = find_kind(kinds, model, range);
		kind = &kinds->rows[kinds->of[i]];
		kind->nests |= range->start_ns < kind->ended_ns;
		kind->ended_ns = range->end_ns;
		kind->operations += range->op_count;
		kind->count++;
	}
}

/* After thread, domain and style. */
static const char *name_of(const struct kinds *kinds, uint32_t number)
{
	const char *name = number < kinds->keys.count ? kinds->keys.rows[number].key : NULL;

	for (int fields = 0; name && fields < 3; fields++) {
		name = strchr(name, ' ');
		name += name != NULL;
	}
	return name ? name : "";
}

/* JAX runs each operation outside of compiled functions as a module of its own. */
static bool is_one_operation(const struct kind *kind)
{
	return kind->is_xla_module && kind->operations < 2 * kind->count;
}

static bool is_loop(const struct kinds *kinds, uint32_t number)
{
	const struct kind *kind = &kinds->rows[number];

	return kind->count >= LEAST_ITERATIONS && !kind->nests &&
	       (kinds->whose == OF_PROGRAM_OR_LITTLE || !is_one_operation(kind));
}

static bool has_most(const struct kinds *kinds, uint32_t number)
{
	return is_loop(kinds, number) && (double)kinds->rows[number].operations >=
						 SIMILAR_RATIO * (double)kinds->most_operations;
}

/*
 * The group with the most operations: the time of a thread in ranges says little, as it is short
 * for launches and long for a checkpoint. Of groups with about as many, the most frequent.
 */
static uint32_t choose(struct kinds *kinds)
{
	uint64_t most = 0;
	uint32_t chosen = GP_NONE;

	for (uint32_t i = 0; i < kinds->keys.count; i++)
		if (is_loop(kinds, i) && kinds->rows[i].operations > kinds->most_operations)
			kinds->most_operations = kinds->rows[i].operations;
	for (uint32_t i = 0; i < kinds->keys.count; i++)
		if (has_most(kinds, i) && kinds->rows[i].count > most) {
			most = kinds->rows[i].count;
			chosen = i;
		}
	return chosen;
}

static uint32_t find_pytorch(const struct kinds *kinds)
{
	for (uint32_t i = 0; i < kinds->keys.count; i++)
		if (is_loop(kinds, i) &&
		    strncmp(name_of(kinds, i), GP_PYTORCH_STEP, strlen(GP_PYTORCH_STEP)) == 0)
			return i;
	return GP_NONE;
}

/* Domain, style and name. */
static const char *behind_thread(const struct kinds *kinds, uint32_t number)
{
	return strchr(kinds->keys.rows[number].key, ' ');
}

/* In how many threads there are loops of such ranges. */
static uint32_t count_threads(const struct kinds *kinds, uint32_t chosen)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < kinds->keys.count; i++)
		count += is_loop(kinds, i) &&
			 strcmp(behind_thread(kinds, i), behind_thread(kinds, chosen)) == 0;
	return count;
}

static void take_ranges(struct gp_iterations *iterations, const struct gp_model *model,
			const struct kinds *kinds, uint32_t chosen)
{
	for (uint32_t i = 0; i < model->range_count; i++)
		if (kinds->of[i] == chosen)
			add(iterations,
			    (struct gp_iteration){.start_ns = model->ranges[i].gpu_start_ns,
						  .end_ns = model->ranges[i].gpu_end_ns,
						  .first_op = GP_NONE,
						  .range = i,
						  .op_count = model->ranges[i].op_count});
	iterations->by_range = true;
	iterations->streams = 0;
	iterations->threads = count_threads(kinds, chosen);
	snprintf(iterations->name, sizeof(iterations->name), "%s", name_of(kinds, chosen));
}

/*
 * For how long a loop goes on, and for how long it would if each took as long as half of them do.
 */
struct extent {
	uint32_t count;
	uint64_t total_ns, usual_ns;
};

static void measure_kind(struct extent *extent, const struct gp_model *model,
			 const struct kinds *kinds, uint32_t number)
{
	struct gp_iterations found = {0};
	uint64_t *lengths_ns;

	take_ranges(&found, model, kinds, number);
	complete(&found, model);
	lengths_ns = gp_spill_take(((size_t)found.count + 1) * sizeof(*lengths_ns));
	*extent = (struct extent){.count = found.count};
	for (uint32_t i = 0; i < found.count; i++) {
		lengths_ns[i] = found.rows[i].end_ns - found.rows[i].start_ns;
		extent->total_ns += lengths_ns[i];
	}
	if (found.count > 0)
		extent->usual_ns =
			found.count * gp_stats_select(lengths_ns, found.count, found.count / 2);
	gp_spill_free(lengths_ns);
	gp_iterations_free(&found);
}

/*
 * The kind that the first of these lies in, of those that started most operations; GP_NONE: in
 * none.
 */
static uint32_t find_outer(const struct kinds *kinds, const struct gp_model *model, uint32_t inner)
{
	uint32_t first = 0, at;

	while (kinds->of[first] != inner)
		first++;
	for (at = model->ranges[first].parent; at != GP_NONE; at = model->ranges[at].parent)
		if (kinds->of[at] != GP_NONE && kinds->of[at] != inner &&
		    has_most(kinds, kinds->of[at]))
			return kinds->of[at];
	return GP_NONE;
}

/*
 * The work of an iteration is in each of the inner ranges, unless they are a short part of it that
 * is done a few times.
 */
static bool is_main(const struct extent *inner, const struct extent *outer)
{
	bool are_many = inner->count >= EPOCH_ITERATIONS * (uint64_t)outer->count;

	return 2 * inner->usual_ns >= outer->total_ns ||
	       (are_many && 2 * inner->usual_ns >= inner->total_ns);
}

/* From the innermost kind outwards. */
static void leave_parts(uint32_t *chosen, const struct kinds *kinds, const struct gp_model *model)
{
	uint32_t outer = find_outer(kinds, model, *chosen);
	struct extent of_inner, of_outer;

	if (outer != GP_NONE)
		measure_kind(&of_inner, model, kinds, *chosen);
	for (; outer != GP_NONE; outer = find_outer(kinds, model, outer)) {
		measure_kind(&of_outer, model, kinds, outer);
		if (is_main(&of_inner, &of_outer))
			return;
		*chosen = outer;
		of_inner = of_outer;
	}
}

/*
 * A validation every tenth step has a small part of all operations, those of all threads together:
 * the steps between them are the loop.
 */
static bool is_little(const struct kinds *kinds, const struct gp_model *model, uint32_t chosen)
{
	const char *text = behind_thread(kinds, chosen);
	uint64_t operations = 0;

	for (uint32_t i = 0; i < kinds->keys.count; i++)
		if (strcmp(behind_thread(kinds, i), text) == 0)
			operations += kinds->rows[i].operations;
	return operations * LEAST_OPS_PART < model->op_count;
}

static void find_by_range(struct gp_iterations *iterations, const struct gp_model *model,
			  const struct gp_tuning *tuning, enum whose whose)
{
	struct kinds kinds = {.whose = whose};
	uint32_t chosen;

	gather_kinds(&kinds, model, tuning);
	chosen = find_pytorch(&kinds);
	if (chosen == GP_NONE) {
		chosen = choose(&kinds);
		if (chosen != GP_NONE && whose == OF_PROGRAM && is_little(&kinds, model, chosen))
			chosen = GP_NONE; /* taken if nothing else tells the loop */
		if (chosen != GP_NONE)
			leave_parts(&chosen, &kinds, model);
	}
	if (chosen != GP_NONE)
		take_ranges(iterations, model, &kinds, chosen);
	gp_groups_free(&kinds.keys);
	free(kinds.rows);
	gp_spill_free(kinds.of);
}

/* ---- by sequence ---- */

/* Untimed operations begin where their call did: the first timed one's start, and the last end. */
static void take_operations(struct gp_iterations *iterations, const struct gp_model *model,
			    uint32_t first, uint32_t end)
{
	struct gp_iteration row = {.start_ns = UINT64_MAX,
				   .first_op = first,
				   .place = first,
				   .range = GP_NONE,
				   .op_count = end - first};

	for (uint32_t i = first; i < end; i++) {
		if (!gp_model_has_place(model, &model->ops[i]))
			continue;
		if (model->ops[i].start_ns < row.start_ns)
			row.start_ns = model->ops[i].start_ns;
		if (model->ops[i].end_ns > row.end_ns)
			row.end_ns = model->ops[i].end_ns;
	}
	if (row.start_ns <= row.end_ns)
		add(iterations, row);
}

static void take_pass(struct gp_iterations *iterations, const struct gp_model *model,
		      const struct gp_sequences *sequences, const struct gp_pass *pass)
{
	take_operations(iterations, model, sequences->elements[pass->first].op,
			sequences->elements[pass->end].op);
}

struct stream {
	uint32_t first, end; /* of its operations */
	uint32_t own, work;  /* those of no tuning; of these, those that are no copies */
	bool feeds;          /* it takes data from the host, or gives it some */
};

static struct stream stream_from(const struct gp_model *model, const struct gp_tuning *tuning,
				 uint32_t first)
{
	struct stream stream = {.first = first, .end = gp_model_stream_end(model, first)};

	stream.feeds = gp_iteration_sequence_has_host_copy(model, first, stream.end);
	for (uint32_t i = first; i < stream.end; i++) {
		bool own = tuning->of[i] == GP_TUNER_NONE;

		stream.own += own;
		stream.work += own && model->ops[i].kind != GP_OP_COPY;
	}
	return stream;
}

/* Where a loop may be; empty = nowhere. */
struct candidates {
	struct stream busiest; /* with the most operations */
	struct stream feeding; /* of those that feed, with the most work */
};

/*
 * A stream that feeds the GPU is the loop's though others are busier, which may be helpers' within
 * a pass (cuDNN runs the steps of an LSTM on streams of its own), where it does a good part as
 * much.  Nothing else than copies is no work.
 */
static struct candidates find_candidates(const struct gp_model *model,
					 const struct gp_tuning *tuning)
{
	struct candidates found = {0};

	for (uint32_t first = 0; first < model->op_count;) {
		struct stream stream = stream_from(model, tuning, first);

		if (stream.own > found.busiest.own)
			found.busiest = stream;
		if (stream.feeds && stream.work > found.feeding.work)
			found.feeding = stream;
		first = stream.end;
	}
	if (found.feeding.work < found.busiest.own / FEEDING_PART)
		found.feeding = (struct stream){0};
	return found;
}

/* From a sequence that repeats. */
static void take_passes(struct gp_iterations *iterations, const struct gp_model *model,
			const struct gp_sequences *sequences,
			const struct gp_iteration_sequence *chosen)
{
	struct gp_iteration_search passes;

	gp_iteration_search_of(&passes, sequences, model, chosen->sequence);
	iterations->passes = chosen->parts;
	for (uint32_t i = 0; i < passes.count; i++)
		take_pass(iterations, model, sequences, &passes.rows[i]);
	gp_iteration_search_free(&passes);
}

/* ---- by a part that is the same in all passes ---- */

/* Where a sequence occurs. */
struct places {
	uint32_t *elements;
	uint32_t count, capacity;
};

static void note_place(void *context, uint32_t element)
{
	struct places *places = context;

	gp_array_grow_spill(&places->elements, &places->capacity, places->count, sizeof(element));
	places->elements[places->count++] = element;
}

static void find_places(struct places *places, const struct gp_sequences *sequences,
			const struct gp_sequence *sequence)
{
	gp_sequence_each(sequences, sequence, note_place, places);
}

/*
 * How far one is from the next, by the median; 0 = they come irregularly, or are no main loop:
 * fewer than nine of ten are between half and twice as far, or they span less than half of the
 * stream.
 */
static void regular_distance(const struct gp_sequences *sequences, const struct places *places,
			     uint64_t *distance)
{
	const uint32_t *elements = places->elements;
	uint32_t count = places->count > 0 ? places->count - 1 : 0, usual = 0;
	uint64_t *distances, median;

	*distance = 0;
	if (count < MANY_ITERATIONS ||
	    2ull * (elements[count] - elements[0]) < sequences->own_count)
		return;
	distances = gp_spill_take(count * sizeof(*distances));
	for (uint32_t i = 0; i < count; i++)
		distances[i] = elements[i + 1] - elements[i];
	median = gp_stats_select(distances, count, count / 2);
	for (uint32_t i = 0; i < count; i++)
		usual += 2 * distances[i] >= median && distances[i] <= 2 * median;
	gp_spill_free(distances);
	if (10ull * usual >= 9ull * count)
		*distance = median;
}

/* Of sequences that come regularly, the one that comes least often: others are parts of passes. */
static void choose_regular(const struct gp_sequences *sequences, const struct gp_sequence **chosen)
{
	uint64_t farthest = 0;

	*chosen = NULL;
	for (uint32_t i = 0; i < sequences->count; i++) {
		struct places places = {0};
		uint64_t distance = 0;

		if (gp_sequence_is_one_operation(sequences, &sequences->rows[i]) ||
		    sequences->rows[i].count <= MANY_ITERATIONS ||
		    2 * sequences->element_count < farthest * sequences->rows[i].count)
			continue; /* the last: they are too near to each other */
		find_places(&places, sequences, &sequences->rows[i]);
		regular_distance(sequences, &places, &distance);
		if (distance > farthest) {
			farthest = distance;
			*chosen = &sequences->rows[i];
		}
		gp_spill_free(places.elements);
	}
}

/* Each pass is from one to the next. */
static void take_regular(struct gp_iterations *iterations, const struct gp_model *model,
			 const struct gp_sequences *sequences, const struct gp_sequence *chosen)
{
	struct places places = {0};

	find_places(&places, sequences, chosen);
	for (uint32_t i = 0; i < places.count; i++) {
		const struct gp_pass pass = {places.elements[i],
					     places.elements[i] + chosen->length};

		take_pass(iterations, model, sequences, &pass);
	}
	gp_spill_free(places.elements);
}

/* ---- all ways ---- */

/* In place of iterations that are parts of a training's steps. */
static void take_training_steps(struct gp_iterations *iterations, const struct gp_model *model,
				const struct stream *stream)
{
	struct gp_training_steps steps;

	gp_training_steps_of(&steps, model, iterations, stream->first, stream->end);
	if (steps.count > 0)
		iterations->count = iterations->passes = 0;
	for (uint32_t i = 0; i < steps.count; i++)
		take_operations(iterations, model, steps.rows[i].first, steps.rows[i].end);
	gp_training_steps_free(&steps);
}

static void find_in_stream(struct gp_iterations *iterations, const struct gp_model *model,
			   const struct gp_tuning *tuning, const struct stream *stream)
{
	struct gp_iteration_sequence chosen = {0};
	const struct gp_sequence *regular;
	struct gp_sequences sequences;

	if (gp_sequences_are_of_one_kernel(model, stream->first, stream->end))
		return; /* which has no passes */
	gp_sequences_of(&sequences, model, tuning, stream->first, stream->end);
	gp_iteration_sequence_choose(&chosen, &sequences, model);
	if (chosen.sequence) {
		take_passes(iterations, model, &sequences, &chosen);
	} else {
		choose_regular(&sequences, &regular);
		if (regular)
			take_regular(iterations, model, &sequences, regular);
	}
	gp_sequences_free(&sequences);
	take_training_steps(iterations, model, stream);
}

/* How long a loop goes on, with all gaps between its parts. */
static void measure(uint64_t *ns, struct gp_iterations *iterations)
{
	uint32_t count = iterations->count > 0 ? iterations->count - 1 : 0;
	uint64_t *periods_ns = gp_spill_take((count + 1) * sizeof(*periods_ns));

	gp_array_sort(iterations->rows, iterations->count, sizeof(*iterations->rows),
		      compare_starts, NULL);
	*ns = 0;
	for (uint32_t i = 0; i < count; i++)
		periods_ns[i] = iterations->rows[i + 1].start_ns - iterations->rows[i].start_ns;
	if (count > 0)
		*ns = count * gp_stats_select(periods_ns, count, count / 2);
	gp_spill_free(periods_ns);
}

/* The hash of an operation, mixed so that sums of several differ. */
static uint64_t hash_of(const struct gp_op *op)
{
	uint64_t what = ((uint64_t)op->name << 8) + (op->kind << 4) + op->copy_kind + 1;

	what *= 0x9e3779b97f4a7c15u;
	return (what ^ (what >> 32)) * 0x9e3779b97f4a7c15u;
}

/* The operations of an iteration, in any order: of the middle one, as the first may warm up. */
static uint64_t work_of(const struct gp_iterations *iterations, const struct gp_model *model)
{
	const struct gp_iteration *row = &iterations->rows[iterations->count / 2];
	uint64_t sum = row->op_count;

	for (uint32_t i = row->first_op; i < row->first_op + row->op_count; i++)
		sum += hash_of(&model->ops[i]);
	return sum;
}

/* As threads that do the same have, each in a stream of its own. */
static bool are_alike(const struct gp_iterations *a, const struct gp_iterations *b,
		      const struct gp_model *model)
{
	double fewer = a->count < b->count ? a->count : b->count;
	double more = a->count < b->count ? b->count : a->count;

	return fewer > 0 && fewer >= SIMILAR_RATIO * more && work_of(a, model) == work_of(b, model);
}

/*
 * The loop of that stream in place of the one that was found, if it goes on for much longer; else
 * it may be another such.
 */
static void try_stream(struct gp_iterations *iterations, const struct gp_model *model,
		       const struct gp_tuning *tuning, const struct stream *stream)
{
	struct gp_iterations other = {.streams = 1};
	uint64_t ns = 0, other_ns = 0;

	find_in_stream(&other, model, tuning, stream);
	measure(&ns, iterations);
	measure(&other_ns, &other);
	if ((double)other_ns > LONGER_RATIO * (double)ns) {
		const struct gp_iterations found = other;

		other = *iterations;
		*iterations = found;
	} else {
		iterations->streams += are_alike(iterations, &other, model);
	}
	gp_iterations_free(&other);
}

/* Does as much, and as one that feeds does that, too. */
static bool is_as_good(const struct stream *stream, const struct stream *best)
{
	return stream->first != best->first &&
	       (double)stream->own >= SIMILAR_RATIO * (double)best->own &&
	       (!best->feeds ||
		(stream->feeds && (double)stream->work >= SIMILAR_RATIO * (double)best->work));
}

/*
 * Of a stream, and of those that are as good, the loop that goes on for longest; of an empty one,
 * as where all is of tuning, none.
 */
static void find_longest(struct gp_iterations *iterations, const struct gp_model *model,
			 const struct gp_tuning *tuning, const struct stream *best)
{
	if (best->end == best->first)
		return;
	iterations->streams = 1;
	find_in_stream(iterations, model, tuning, best);
	for (uint32_t first = 0; first < model->op_count;) {
		struct stream stream =
			first == best->first ? *best : stream_from(model, tuning, first);

		if (is_as_good(&stream, best))
			try_stream(iterations, model, tuning, &stream);
		first = stream.end;
	}
}

static void find_by_sequence(struct gp_iterations *iterations, const struct gp_model *model,
			     const struct gp_tuning *tuning)
{
	struct candidates of = find_candidates(model, tuning);
	bool feeds = of.feeding.end > of.feeding.first;

	if (feeds)
		find_longest(iterations, model, tuning, &of.feeding);
	if (iterations->count == 0 && (!feeds || of.feeding.first != of.busiest.first))
		find_longest(iterations, model, tuning, &of.busiest);
}

/*
 * Whether they run side by side and begin some at a time, as the pieces of one job that has a
 * stream for each: then there is no time from one to the next.
 */
static void come_in_bunches(bool *in_bunches, struct gp_iterations *iterations)
{
	uint64_t usual_ns, beside = 0;

	measure(&usual_ns, iterations);
	for (uint32_t i = 1; i < iterations->count; i++)
		beside += iterations->rows[i].start_ns < iterations->rows[i - 1].end_ns;
	*in_bunches = beside * 2 > iterations->count &&
		      usual_ns * BUNCH_RATIO < iterations->rows[iterations->count - 1].start_ns -
						       iterations->rows[0].start_ns;
}

/*
 * Of all streams together, in the order in which a thread started the operations. A few iterations
 * are pieces of one job, in a stream each, side by side.
 */
static void find_by_launch(struct gp_iterations *iterations, const struct gp_model *model,
			   const struct gp_tuning *tuning)
{
	struct gp_launch_order order;
	bool in_bunches = false;

	gp_launch_order_of(&order, model, tuning);
	if (order.model.op_count > 0) {
		const struct stream all = {.end = order.model.op_count};

		find_in_stream(iterations, &order.model, &order.tuning, &all);
	}
	if (iterations->count < MANY_ITERATIONS)
		iterations->count = iterations->passes = 0;
	if (iterations->count > 0)
		gp_iteration_starts_set(iterations, model, &order);
	if (iterations->count > 0)
		come_in_bunches(&in_bunches, iterations);
	if (in_bunches)
		iterations->count = iterations->passes = 0;
	for (uint32_t i = 0; i < iterations->count; i++)
		iterations->rows[i].first_op = order.indices[iterations->rows[i].place];
	gp_launch_order_free(&order);
}

/* Its ranges that make or end communicators, which take long. */
static void find_set_up(struct gp_interval **set_up, size_t *count, const struct gp_model *model)
{
	uint32_t capacity = 0, found = 0, ranges = gp_nccl_ranges(model);

	*set_up = NULL;
	for (uint32_t i = 0; i < ranges; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (!gp_range_set_up(model, range))
			continue;
		gp_array_grow_spill(set_up, &capacity, found, sizeof(**set_up));
		(*set_up)[found++] = (struct gp_interval){range->start_ns, range->end_ns};
	}
	*count = gp_interval_join(*set_up, found);
}

static bool starts_until(const void *element, const void *key)
{
	const struct gp_interval *interval = element;
	const uint64_t *time_ns = key;

	return interval->start_ns <= *time_ns;
}

/*
 * NCCL copies and fills the same memory again and again while it makes and ends communicators: that
 * is no loop of the program.
 */
static void drop_set_up(struct gp_iterations *iterations, const struct gp_model *model)
{
	struct gp_interval *set_up;
	uint32_t inside = 0;
	size_t count;

	find_set_up(&set_up, &count, model);
	for (uint32_t i = 0; set_up && i < iterations->count; i++) {
		uint64_t ns = gp_bounds_begun_ns(model, &iterations->rows[i]);
		size_t until =
			gp_array_lower_bound(set_up, count, sizeof(*set_up), starts_until, &ns);

		inside += until > 0 && ns < set_up[until - 1].end_ns;
	}
	if (inside == iterations->count)
		iterations->count = iterations->passes = 0;
	gp_spill_free(set_up);
}

/* From the first operation to the last, and how long they take, beside each other or not. */
struct work {
	uint64_t start_ns, end_ns, gpu_ns;
};

static void add_work(struct work *work, const struct gp_op *op)
{
	if (op->start_ns < work->start_ns)
		work->start_ns = op->start_ns;
	if (op->end_ns > work->end_ns)
		work->end_ns = op->end_ns;
	work->gpu_ns += op->end_ns - op->start_ns;
}

/* Parameters that are made one after the other repeat their operations, and are no main loop. */
static bool is_little_part(const struct gp_iterations *iterations, const struct gp_model *model,
			   const struct gp_tuning *tuning)
{
	struct gp_interval loop = {UINT64_MAX, 0};
	struct work all = {.start_ns = UINT64_MAX}, own = {.start_ns = UINT64_MAX};

	for (uint32_t i = 0; i < iterations->count; i++) {
		const struct gp_iteration *row = &iterations->rows[i];

		loop.start_ns = row->start_ns < loop.start_ns ? row->start_ns : loop.start_ns;
		loop.end_ns = row->end_ns > loop.end_ns ? row->end_ns : loop.end_ns;
	}
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->untimed || tuning->of[i] != GP_TUNER_NONE)
			continue;
		add_work(&all, op);
		if (op->start_ns >= loop.start_ns && op->start_ns <= loop.end_ns)
			add_work(&own, op);
	}
	return iterations->count > 0 && own.gpu_ns * LEAST_PART < all.gpu_ns &&
	       (loop.end_ns - loop.start_ns) * LEAST_PART < all.end_ns - all.start_ns;
}

/* The host begins each iteration: what one launch of a graph repeats is one. */
static void merge_of_launches(struct gp_iterations *iterations, const struct gp_model *model)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < iterations->count; i++) {
		const struct gp_iteration *row = &iterations->rows[i];
		uint32_t call = gp_bounds_call(model, row);
		struct gp_iteration *last = kept > 0 ? &iterations->rows[kept - 1] : NULL;

		if (last && call != GP_NONE && call == gp_bounds_call(model, last)) {
			last->end_ns = row->end_ns > last->end_ns ? row->end_ns : last->end_ns;
			last->op_count += row->op_count;
		} else {
			iterations->rows[kept++] = *row;
		}
	}
	if (kept < iterations->count)
		iterations->passes = 0;
	iterations->count = kept >= LEAST_ITERATIONS ? kept : 0;
}

/* A loop that was found by operations may not be the main loop. */
static void drop_other_loop(struct gp_iterations *iterations, const struct gp_model *model,
			    const struct gp_tuning *tuning)
{
	bool are_layers;

	gp_module_layers_find(iterations, model, &are_layers);
	merge_of_launches(iterations, model);
	if (are_layers || is_little_part(iterations, model, tuning))
		iterations->count = iterations->passes = 0;
}

/* Operations of JAX, one by one, that last shortly initialize parameters: the loop is to come. */
static bool are_short_modules(const struct gp_iterations *iterations, const struct gp_model *model)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t i = 0; i < iterations->count; i++) {
		const struct gp_iteration *row = &iterations->rows[i];

		start_ns = row->start_ns < start_ns ? row->start_ns : start_ns;
		end_ns = row->end_ns > end_ns ? row->end_ns : end_ns;
	}
	return iterations->count > 0 && is_xla_module(iterations->name) &&
	       (end_ns - start_ns) * LEAST_PART < gp_model_end_ns(model) - model->first_call_ns;
}

/* If nothing else tells the loop. */
static void find_little(struct gp_iterations *iterations, const struct gp_model *model,
			const struct gp_tuning *tuning)
{
	find_by_range(iterations, model, tuning, OF_PROGRAM_OR_LITTLE);
	if (are_short_modules(iterations, model))
		gp_iterations_free(iterations);
}

int gp_iterations_of(struct gp_iterations *iterations, const struct gp_model *model,
		     const struct gp_tuning *tuning)
{
	*iterations = (struct gp_iterations){0};
	find_by_range(iterations, model, tuning, OF_PROGRAM);
	if (iterations->count == 0)
		find_by_sequence(iterations, model, tuning);
	if (iterations->count == 0)
		find_by_launch(iterations, model, tuning);
	if (!iterations->by_range)
		drop_other_loop(iterations, model, tuning);
	if (iterations->count == 0)
		find_little(iterations, model, tuning);
	drop_set_up(iterations, model);
	if (iterations->count == 0)
		find_by_range(iterations, model, tuning, OF_LIBRARIES);
	return complete(iterations, model);
}

void gp_iterations_free(struct gp_iterations *iterations)
{
	gp_spill_free(iterations->rows);
	gp_spill_free(iterations->stretches);
	*iterations = (struct gp_iterations){0};
}
