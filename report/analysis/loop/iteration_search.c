#include "report/analysis/loop/iteration_search.h"

#include <errno.h>

#include "report/analysis/loop/sequence_runs.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"

#define BEGINNING_OPS  64u /* at most: more make no iteration clearer */
#define MISSING_OPS    16u /* of the sequence, in a row: more are another work */
#define ENDS           2u  /* of the stream: each makes one iteration whole or not, by chance */
#define SIMILAR_THIRDS 2u  /* of the sequence: less is no iteration, such as a forward pass */

/* ---- turning the sequence ---- */

struct turning {
	const struct gp_sequence_element *elements;
	struct gp_sequence sequence;
	struct gp_sequence_runs runs;
};

/*
 * How often each rotation of the sequence is whole in the runs. A rotation that begins at a run's
 * own beginning, or as far after it as the run is longer than whole sequences, is in it once more
 * than the others: differences[p] = how many more rotation p has than rotation p - 1.
 */
static void count_turns(const struct turning *turning, int64_t *differences)
{
	uint32_t length = turning->sequence.length;

	for (uint32_t i = 0; i < turning->runs.count; i++) {
		const struct gp_sequence_run *run = &turning->runs.rows[i];
		uint32_t rest = (run->end - run->first) % length;
		uint32_t last = run->phase + rest;

		differences[run->phase]++;
		if (last + 1 < length) {
			differences[last + 1]--;
		} else if (last >= length) {
			differences[0]++;
			differences[last - length + 1]--;
		}
	}
}

#define NOWHERE UINT32_MAX

/*
 * The element at which the turn is whole first; NOWHERE: it never is, as other operations come after
 * each of the sequence.
 */
static uint32_t place_of_turn(const struct turning *turning, uint32_t turn)
{
	uint32_t length = turning->sequence.length;

	for (uint32_t i = 0; i < turning->runs.count; i++) {
		const struct gp_sequence_run *run = &turning->runs.rows[i];
		uint32_t skipped = (turn + length - run->phase) % length;

		if (run->end - run->first >= skipped + length)
			return run->first + skipped;
	}
	return NOWHERE;
}

/*
 * The turns that are whole most often: of these the first and the last, seen from the beginning of
 * the first run.
 */
static void find_turns(const struct turning *turning, uint32_t *first, uint32_t *last)
{
	uint32_t length = turning->sequence.length, start;
	int64_t *differences = gp_spill_take_zeroed((size_t)length + 1, sizeof(*differences));
	int64_t most = INT64_MIN;

	count_turns(turning, differences);
	for (uint32_t i = 1; i < length; i++)
		differences[i] += differences[i - 1];
	start = turning->runs.count > 0 ? turning->runs.rows[0].phase : 0;
	for (uint32_t i = 0; i < length; i++) {
		uint32_t turn = (start + i) % length;

		if (differences[turn] > most)
			*first = turn;
		if (differences[turn] >= most)
			*last = turn;
		if (differences[turn] > most)
			most = differences[turn];
	}
	gp_spill_free(differences);
}

static bool takes_from_host(const struct gp_model *model, const struct turning *turning,
			    uint32_t turn)
{
	uint32_t element = turning->sequence.first + turn % turning->sequence.length;
	const struct gp_op *op = &model->ops[turning->elements[element].op];

	return op->kind == GP_OP_COPY && op->copy_kind == GP_COPY_HTOD;
}

/*
 * The rotation that begins with a copy from the host, and does not end with one: the input of an
 * iteration; length = there is none.
 */
static uint32_t find_input(const struct gp_model *model, const struct turning *turning)
{
	uint32_t length = turning->sequence.length;

	for (uint32_t turn = 0; turn < length; turn++)
		if (takes_from_host(model, turning, turn) &&
		    !takes_from_host(model, turning, turn + length - 1))
			return turn;
	return length;
}

/* The sequence, turned in the ways that may be best. */
enum { BY_INPUT, FIRST_OF_MOST, LAST_OF_MOST, TURNS };

struct turn {
	uint32_t number; /* index in the sequence */
	uint32_t place;
};

static void find_best_turns(const struct gp_sequences *sequences, const struct gp_model *model,
			    const struct gp_sequence *sequence, struct turn turns[TURNS])
{
	struct turning turning = {.elements = sequences->elements, .sequence = *sequence};
	uint32_t first = 0, last = 0, input;

	gp_sequence_runs_of(&turning.runs, sequences, sequence);
	find_turns(&turning, &first, &last);
	input = find_input(model, &turning);
	turns[FIRST_OF_MOST].number = first;
	turns[LAST_OF_MOST].number = last;
	turns[BY_INPUT].number = input < sequence->length ? input : first;
	for (int i = 0; i < TURNS; i++)
		turns[i].place = place_of_turn(&turning, turns[i].number);
	gp_sequence_runs_free(&turning.runs);
}

/* ---- passes that are like it ---- */

struct search {
	struct gp_iteration_search *passes;
	const struct gp_sequence_element *elements;
	struct gp_sequence_element *sequence; /* turned */
	uint32_t count, length;
	uint32_t whole;     /* passes that are the sequence itself */
	uint32_t beginning; /* operations by which one is known; 0 = there is nothing */
	uint32_t next;      /* the first element that no pass has yet */
};

/*
 * How many operations from the first on are nowhere else in the sequence in that order; 0 = too
 * many.
 */
static void measure_beginning(struct search *search)
{
	uint32_t *others = gp_spill_take(((size_t)search->length + 1) * sizeof(*others));
	uint32_t count = 0, at;

	for (at = 1; at < search->length; at++)
		others[count++] = at;
	for (at = 0; count > 0 && at < search->length && at < BEGINNING_OPS; at++) {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < count; i++)
			if (search->sequence[(others[i] + at) % search->length].symbol ==
			    search->sequence[at].symbol)
				others[kept++] = others[i];
		count = kept;
	}
	search->beginning = count == 0 ? at : 0;
	gp_spill_free(others);
}

static bool begins_at(const struct search *search, uint32_t at, uint32_t end)
{
	if (search->beginning == 0 || end - at < search->beginning)
		return false;
	for (uint32_t i = 0; i < search->beginning; i++)
		if (search->elements[at + i].symbol != search->sequence[i].symbol)
			return false;
	return true;
}

static void add(struct search *search, struct gp_pass pass)
{
	struct gp_iteration_search *passes = search->passes;

	gp_array_grow_spill(&passes->rows, &passes->capacity, passes->count, sizeof(pass));
	passes->rows[passes->count++] = pass;
}

/*
 * Which of the next operations of the sequence is like that element; the sequence's length: none.
 */
static uint32_t find_next(const struct search *search, uint32_t from, uint32_t element)
{
	for (uint32_t i = from; i < search->length && i < from + MISSING_OPS; i++)
		if (search->sequence[i].symbol == search->elements[element].symbol)
			return i;
	return search->length;
}

/* One that begins like the sequence and lasts to the next at most. */
static void take_like(struct search *search, uint32_t first, uint32_t end)
{
	struct gp_pass pass = {first, first};
	uint32_t next = 0, like = 0;

	for (uint32_t at = first; at < end && next < search->length; at++) {
		uint32_t found = find_next(search, next, at);

		if (found == search->length)
			continue;
		next = found + 1;
		pass.end = at + 1;
		like++;
	}
	if (3ull * like >= (uint64_t)SIMILAR_THIRDS * search->length)
		add(search, pass);
}

/* The operations between two iterations that are the sequence itself. */
static void take_between(struct search *search, uint32_t end)
{
	uint32_t first = search->count;

	for (uint32_t at = search->next; at < end; at++) {
		if (!begins_at(search, at, end))
			continue;
		if (first < at)
			take_like(search, first, at);
		first = at;
	}
	if (first < end)
		take_like(search, first, end);
}

static void take_whole(void *context, uint32_t element)
{
	struct search *search = context;

	take_between(search, element);
	add(search, (struct gp_pass){element, element + search->length});
	search->next = element + search->length;
	search->whole++;
}

static void search_passes(struct search *search, const struct gp_sequences *sequences,
			  uint32_t place)
{
	const struct gp_sequence whole = {.first = place, .length = search->length};

	measure_beginning(search);
	if (place != NOWHERE)
		gp_sequence_each(sequences, &whole, take_whole, search);
	take_between(search, search->count);
}

static void passes_of(struct gp_iteration_search *passes, uint32_t *whole,
		      const struct gp_sequences *sequences, const struct gp_sequence *sequence,
		      const struct turn *turn)
{
	uint32_t length = sequence->length;
	struct search search = {.passes = passes,
				.elements = sequences->elements,
				.sequence = gp_spill_take(length * sizeof(*search.sequence)),
				.count = sequences->element_count,
				.length = length};

	*passes = (struct gp_iteration_search){0};
	for (uint32_t i = 0; i < length; i++)
		search.sequence[i] =
			sequences->elements[sequence->first + (turn->number + i) % length];
	search_passes(&search, sequences, turn->place);
	*whole = turn->place != NOWHERE ? search.whole : passes->count;
	gp_spill_free(search.sequence);
}

void gp_iteration_search_of(struct gp_iteration_search *passes,
			    const struct gp_sequences *sequences, const struct gp_model *model,
			    const struct gp_sequence *sequence)
{
	struct turn turns[TURNS] = {{0}};
	uint32_t most_whole = 0;

	find_best_turns(sequences, model, sequence, turns);
	*passes = (struct gp_iteration_search){0};
	for (int i = 0; i < TURNS; i++) {
		struct gp_iteration_search more;
		uint32_t whole;

		passes_of(&more, &whole, sequences, sequence, &turns[i]);
		if (more.count > passes->count ||
		    (more.count == passes->count && whole > most_whole + ENDS)) {
			gp_iteration_search_free(passes);
			*passes = more;
			most_whole = whole;
		} else {
			gp_iteration_search_free(&more);
		}
	}
}

void gp_iteration_search_free(struct gp_iteration_search *passes)
{
	gp_spill_free(passes->rows);
	*passes = (struct gp_iteration_search){0};
}
