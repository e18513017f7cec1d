#include "report/analysis/loop/iteration_sequence.h"

#include <stdlib.h>

#include "report/analysis/loop/sequence_runs.h"
#include "report/base/array.h"
#include "report/base/interval.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

/* Counts that differ by less are equal: loops vary a little. */
#define SIMILAR_RATIO 0.9
/* The rest may be an evaluation or a checkpoint. */
#define MOST_RATIO (2.0 / 3)
/* So many are a loop: a batch has fewer parts, and a model fewer runs of equal layers. */
#define MANY 8u
/* So many of a hundred runs may have another length: the first, the last, one that was disturbed. */
#define OTHER_PERCENT 10u

/* A sequence that has half of the stream, and how it comes one after the other. */
struct candidate {
	const struct gp_sequence *sequence;
	uint64_t covers;      /* elements in its runs */
	uint32_t runs, usual; /* usual: sequences in a run, the median */
	bool is_constant;     /* nearly all runs have as many */
};

static void add_runs(struct candidate *candidate, const struct gp_sequence_runs *runs)
{
	uint64_t *counts = gp_spill_take(((size_t)runs->count + 1) * sizeof(*counts));
	uint64_t reached = 0;
	uint32_t others = 0;

	for (uint32_t i = 0; i < runs->count; i++) {
		const struct gp_sequence_run *run = &runs->rows[i];

		counts[i] = (run->end - run->first) / candidate->sequence->length;
		candidate->covers += gp_interval_reach(&reached, run->first, run->end);
	}
	candidate->runs = runs->count;
	candidate->usual = (uint32_t)gp_stats_select(counts, runs->count, runs->count / 2);
	for (uint32_t i = 0; i < runs->count; i++)
		others += counts[i] != candidate->usual;
	candidate->is_constant = others <= 1 + runs->count * OTHER_PERCENT / 100;
	gp_spill_free(counts);
}

static void measure(struct candidate *candidate, const struct gp_sequences *sequences)
{
	struct gp_sequence_runs runs;

	gp_sequence_runs_of(&runs, sequences, candidate->sequence);
	if (runs.count > 0)
		add_runs(candidate, &runs);
	gp_sequence_runs_free(&runs);
}

struct search {
	struct candidate *candidates; /* by length */
	uint32_t count;
	uint64_t most_covers;              /* of any */
	const struct candidate *outermost; /* the longest that has about as much as any */
};

static uint64_t share_of(const struct gp_sequence *sequence)
{
	return sequence->count * sequence->length;
}

static int compare_lengths(const void *a, const void *b, const void *context)
{
	const struct candidate *left = a, *right = b;

	(void)context;
	return (left->sequence->length > right->sequence->length) -
	       (left->sequence->length < right->sequence->length);
}

/* Of one operation alone nothing tells where an iteration begins. */
static void find_candidates(struct search *search, const struct gp_sequences *sequences)
{
	search->candidates = calloc((size_t)sequences->count + 1, sizeof(*search->candidates));
	for (uint32_t i = 0; i < sequences->count; i++) {
		const struct gp_sequence *row = &sequences->rows[i];

		if (2 * share_of(row) < sequences->own_count ||
		    gp_sequence_is_one_operation(sequences, row))
			continue;
		search->candidates[search->count].sequence = row;
		measure(&search->candidates[search->count++], sequences);
	}
	gp_array_sort(search->candidates, search->count, sizeof(*search->candidates),
		      compare_lengths, NULL);
}

static void find_outermost(struct search *search)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < search->count; i++) {
		const struct candidate *row = &search->candidates[i];

		most = share_of(row->sequence) > most ? share_of(row->sequence) : most;
		if (row->covers > search->most_covers)
			search->most_covers = row->covers;
	}
	for (uint32_t i = 0; i < search->count; i++) {
		const struct candidate *row = &search->candidates[i], *known = search->outermost;

		if ((double)share_of(row->sequence) >= SIMILAR_RATIO * (double)most &&
		    (!known || row->sequence->length > known->sequence->length))
			search->outermost = row;
	}
}

static bool is_host_copy(const struct gp_op *op)
{
	return op->kind == GP_OP_COPY &&
	       (op->copy_kind == GP_COPY_HTOD || op->copy_kind == GP_COPY_DTOH);
}

bool gp_iteration_sequence_has_host_copy(const struct gp_model *model, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (is_host_copy(&model->ops[i]))
			return true;
	return false;
}

static bool has_host_copy(const struct gp_sequences *sequences, const struct gp_model *model,
			  const struct gp_sequence *sequence)
{
	const struct gp_sequence_element *elements = &sequences->elements[sequence->first];

	return gp_iteration_sequence_has_host_copy(model, elements[0].op,
						   elements[sequence->length].op);
}

/* Sequences in a row that are parts of an iteration: always as many, or layers. */
struct parts {
	uint32_t length, count; /* 0 = there are none */
	bool copy;
};

/* As many as always are layers or batches of an iteration, unless they are many and most of it. */
static bool are_iterations(const struct search *search, const struct candidate *row)
{
	return row->usual >= MANY &&
	       (double)row->covers >= MOST_RATIO * (double)search->most_covers;
}

static bool is_loop_itself(const struct search *search, const struct candidate *row, bool copies,
			   const struct parts *parts)
{
	uint64_t many = MANY * search->outermost->sequence->count;

	if (!copies)
		return !row->is_constant && row->runs >= many;
	return row->sequence->count >= many &&
	       (!row->is_constant || parts->copy || are_iterations(search, row));
}

/* The shortest that is a loop itself; parts: the longest before it that come in a row. */
static const struct candidate *find_loop(const struct search *search,
					 const struct gp_sequences *sequences,
					 const struct gp_model *model, struct parts *parts)
{
	const struct candidate *row;

	for (row = search->candidates; row < search->outermost; row++) {
		uint32_t length = row->sequence->length;
		bool copies = has_host_copy(sequences, model, row->sequence);

		if (row->usual < 2 || length < parts->count * parts->length)
			continue;
		if (is_loop_itself(search, row, copies, parts))
			break;
		*parts = (struct parts){length, row->usual, copies};
	}
	return row;
}

void gp_iteration_sequence_choose(struct gp_iteration_sequence *chosen,
				  const struct gp_sequences *sequences,
				  const struct gp_model *model)
{
	struct search search = {0};
	struct parts parts = {0};

	find_candidates(&search, sequences);
	*chosen = (struct gp_iteration_sequence){0};
	find_outermost(&search);
	if (search.outermost) {
		chosen->sequence = find_loop(&search, sequences, model, &parts)->sequence;
		if ((double)parts.count * parts.length >= SIMILAR_RATIO * chosen->sequence->length)
			chosen->parts = parts.count;
	}
	free(search.candidates);
}
