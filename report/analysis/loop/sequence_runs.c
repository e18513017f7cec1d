#include "report/analysis/loop/sequence_runs.h"

#include "report/base/array.h"
#include "report/base/spill_memory.h"

struct gathering {
	struct gp_sequence_runs *runs;
	uint32_t length; /* of the sequence */
};

static void take_occurrence(void *context, uint32_t element)
{
	struct gathering *gathering = context;
	struct gp_sequence_runs *runs = gathering->runs;
	uint32_t end = element + gathering->length;

	if (runs->count > 0 && runs->rows[runs->count - 1].end == element) {
		runs->rows[runs->count - 1].end = end;
		return;
	}
	gp_array_grow_spill(&runs->rows, &runs->capacity, runs->count, sizeof(*runs->rows));
	if (runs->rows)
		runs->rows[runs->count++] = (struct gp_sequence_run){element, end, 0};
}

/* By the parts of the sequence at its ends. */
static void extend(struct gp_sequence_run *run, const struct gp_sequences *sequences,
		   const struct gp_sequence *of)
{
	const struct gp_sequence_element *elements = sequences->elements;
	const struct gp_sequence_element *sequence = &elements[of->first];
	uint32_t length = of->length, more = 0;

	while (run->first > 0 && more + 1 < length &&
	       elements[run->first - 1].symbol == sequence[length - 1 - more].symbol) {
		run->first--;
		more++;
	}
	run->phase = (length - more) % length;
	for (more = 0; run->end < sequences->element_count && more + 1 < length &&
		       elements[run->end].symbol == sequence[more].symbol;
	     more++)
		run->end++;
}

void gp_sequence_runs_of(struct gp_sequence_runs *runs, const struct gp_sequences *sequences,
			 const struct gp_sequence *sequence)
{
	struct gathering gathering = {.runs = runs, .length = sequence->length};

	*runs = (struct gp_sequence_runs){0};
	gp_sequence_each(sequences, sequence, take_occurrence, &gathering);
	for (uint32_t i = 0; i < runs->count; i++)
		extend(&runs->rows[i], sequences, sequence);
}

void gp_sequence_runs_free(struct gp_sequence_runs *runs)
{
	gp_spill_free(runs->rows);
	*runs = (struct gp_sequence_runs){0};
}
