#include "report/analysis/loop/sequences.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

#define CONTEXTS      4           /* lengths at which repeats are searched */
#define TABLE_BITS    22          /* of the table of each, at most */
#define CANDIDATES    32          /* that are counted exactly */
#define RUN_LEAST_OPS 4           /* of one kind in a row: shorter runs are found as repeats */
#define RUN_MOST_OPS  64          /* longer runs are several */
#define LEAST_COUNT   3           /* twice may be chance */
#define SIMILAR_RATIO 0.9         /* how much of the stream is about as much */
#define GRAPH         0x80000000u /* of symbols */
#define OTHERS        2048u       /* most symbols of operations other than kernels */
#define BASE          0x9e3779b97f4a7c15u

static const uint32_t contexts[CONTEXTS] = {32, 8, 4, 2};

/* Something that was found to repeat. */
struct repeat {
	uint64_t hash;
	uint64_t weight; /* how much of the stream it makes up, about */
	uint32_t first, length;
};

/* The elements from `at` repeat those from `source`. */
struct phrase {
	uint32_t at, source, length;
};

struct parse {
	const struct gp_sequence_element *elements;
	uint32_t count;
	uint64_t *hashes;           /* of the elements before each */
	uint32_t *tables[CONTEXTS]; /* by hash of a context: 1 + where it was last */
	uint64_t powers[CONTEXTS];  /* of BASE */
	unsigned bits;
	struct phrase *phrases;
	uint32_t phrase_count, phrase_capacity;
};

/* ---- elements ---- */

static bool is_of_graph(const struct gp_op *op)
{
	return op->kind == GP_OP_GRAPH || op->graph_id != 0;
}

static uint32_t symbol_of(const struct gp_model *model, const struct gp_op *op)
{
	if (is_of_graph(op))
		return GRAPH | op->graph_id;
	if (op->kind == GP_OP_KERNEL)
		return op->name < model->name_count ? op->name : model->name_count;
	return (model->name_count + 1 + op->kind * 256u + op->copy_kind) & ~GRAPH;
}

/* Nodes of one graph launch. */
static bool is_one_launch(const struct gp_op *a, const struct gp_op *b)
{
	return is_of_graph(a) && is_of_graph(b) && a->graph_id == b->graph_id &&
	       a->call == b->call && a->call != GP_NONE;
}

/* Of an operation of tuning: no other has it. */
static uint32_t lone_symbol(const struct gp_model *model, uint32_t element)
{
	return (model->name_count + OTHERS + element) & ~GRAPH;
}

static bool is_tuning(const struct gp_tuning *tuning, uint32_t op)
{
	return tuning && tuning->of[op] != GP_TUNER_NONE;
}

static void make_elements(struct gp_sequences *sequences, const struct gp_model *model,
			  const struct gp_tuning *tuning, uint32_t first, uint32_t end)
{
	struct gp_sequence_element *elements =
		gp_spill_take((size_t)(end - first + 1) * sizeof(*elements));
	uint32_t count = 0;

	for (uint32_t i = first; i < end; i++) {
		bool tunes = is_tuning(tuning, i);

		if (i > first && is_one_launch(&model->ops[i - 1], &model->ops[i]))
			continue;
		elements[count] = (struct gp_sequence_element){
			tunes ? lone_symbol(model, count) : symbol_of(model, &model->ops[i]), i};
		sequences->own_count += !tunes;
		count++;
	}
	elements[count] = (struct gp_sequence_element){0, end};
	sequences->elements = elements;
	sequences->element_count = count;
}

/* ---- hashes of parts ---- */

static uint64_t power_of(uint32_t exponent)
{
	uint64_t power = 1;

	for (uint64_t base = BASE; exponent > 0; exponent >>= 1, base *= base)
		power *= exponent & 1 ? base : 1;
	return power;
}

static uint64_t hash_of(const struct parse *parse, uint32_t at, uint32_t length, uint64_t power)
{
	return parse->hashes[at + length] - parse->hashes[at] * power;
}

static bool are_equal(const struct parse *parse, uint32_t a, uint32_t b, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (parse->elements[a + i].symbol != parse->elements[b + i].symbol)
			return false;
	return true;
}

static uint64_t slot_of(uint64_t hash, unsigned bits)
{
	return (hash ^ hash >> 29) * BASE >> (64 - bits);
}

/* 1 + the last place of the same context; 0: none. */
static uint32_t last_of(const struct parse *parse, size_t context, uint32_t at)
{
	uint64_t hash = hash_of(parse, at, contexts[context], parse->powers[context]);

	return parse->tables[context][slot_of(hash, parse->bits)];
}

/* ---- repeats ---- */

/* How many elements from `at` are as those from `source`, which ends before `at` at the latest. */
static uint32_t match(const struct parse *parse, uint32_t source, uint32_t at)
{
	uint32_t limit = at - source, length = 0;

	if (limit > parse->count - at)
		limit = parse->count - at;
	while (length < limit &&
	       parse->elements[source + length].symbol == parse->elements[at + length].symbol)
		length++;
	return length;
}

static struct phrase find_phrase(const struct parse *parse, uint32_t at)
{
	struct phrase phrase = {.at = at};

	for (size_t i = 0; i < CONTEXTS && phrase.length == 0; i++) {
		uint32_t last = contexts[i] <= parse->count - at ? last_of(parse, i, at) : 0;
		uint32_t length = last > 0 ? match(parse, last - 1, at) : 0;

		if (length >= contexts[i]) {
			phrase.source = last - 1;
			phrase.length = length;
		}
	}
	return phrase;
}

/* The same operation several times in a row. */
static struct phrase find_run(const struct parse *parse, uint32_t at)
{
	struct phrase run = {at, at, 1};

	while (run.length < RUN_MOST_OPS && at + run.length < parse->count &&
	       parse->elements[at + run.length].symbol == parse->elements[at].symbol)
		run.length++;
	if (run.length < RUN_LEAST_OPS)
		run.length = 0;
	return run;
}

static void remember_by(struct parse *parse, size_t context, uint32_t first, uint32_t end)
{
	const uint64_t *hashes = parse->hashes, *later = hashes + contexts[context];
	uint64_t power = parse->powers[context];
	uint32_t *table = parse->tables[context];
	unsigned bits = parse->bits;

	for (uint32_t at = first; at < end; at++)
		table[slot_of(later[at] - hashes[at] * power, bits)] = at + 1;
}

static void remember(struct parse *parse, uint32_t at, uint32_t length)
{
	for (size_t i = 0; i < CONTEXTS; i++) {
		uint32_t end = at + length;

		if (contexts[i] > parse->count)
			continue;
		if (end > parse->count - contexts[i] + 1)
			end = parse->count - contexts[i] + 1;
		remember_by(parse, i, at, end);
	}
}

static void find_phrases(struct parse *parse)
{
	for (uint32_t at = 0; at < parse->count;) {
		struct phrase phrase = find_phrase(parse, at);

		if (phrase.length == 0)
			phrase = find_run(parse, at);
		if (phrase.length == 0) {
			remember(parse, at++, 1);
			continue;
		}
		gp_array_grow_spill(&parse->phrases, &parse->phrase_capacity, parse->phrase_count,
				    sizeof(phrase));
		parse->phrases[parse->phrase_count++] = phrase;
		remember(parse, at, phrase.length);
		at += phrase.length;
	}
}

/* With hashes alone: for each_occurrence(). */
static void open_hashes(struct parse *parse, const struct gp_sequences *sequences)
{
	uint64_t hash = 0;

	*parse = (struct parse){
		.elements = sequences->elements, .count = sequences->element_count, .bits = 8};
	parse->hashes = gp_spill_take(((size_t)parse->count + 1) * sizeof(*parse->hashes));
	for (uint32_t i = 0; i < parse->count; i++) {
		parse->hashes[i] = hash;
		hash = hash * BASE + parse->elements[i].symbol + 1;
	}
	parse->hashes[parse->count] = hash;
}

static void open_parse(struct parse *parse, const struct gp_sequences *sequences)
{
	open_hashes(parse, sequences);
	while (parse->bits < TABLE_BITS && 1u << parse->bits < parse->count)
		parse->bits++;
	for (size_t i = 0; i < CONTEXTS; i++) {
		parse->powers[i] = power_of(contexts[i]);
		parse->tables[i] =
			gp_spill_take_zeroed((size_t)1 << parse->bits, sizeof(**parse->tables));
	}
}

static void close_parse(struct parse *parse)
{
	for (size_t i = 0; i < CONTEXTS; i++)
		gp_spill_free(parse->tables[i]);
	gp_spill_free(parse->hashes);
	gp_spill_free(parse->phrases);
}

/* ---- the most of it ---- */

/* How often the text at each element was repeated, also through other repeats. */
static uint32_t *weigh(const struct parse *parse)
{
	uint32_t *weights = gp_spill_take(((size_t)parse->count + 1) * sizeof(*weights));

	for (uint32_t i = 0; i < parse->count; i++)
		weights[i] = 1;
	for (uint32_t p = parse->phrase_count; p-- > 0;) {
		const struct phrase *phrase = &parse->phrases[p];

		for (uint32_t i = 0; phrase->source < phrase->at && i < phrase->length; i++)
			weights[phrase->source + i] += weights[phrase->at + i];
	}
	return weights;
}

GP_COMPARE_BY_TWO(compare_hashes, struct repeat, hash, length)

static int compare_weights(const void *a, const void *b, const void *context)
{
	const struct repeat *left = a, *right = b;

	(void)context;
	return (left->weight < right->weight) - (left->weight > right->weight);
}

/* The part that, several times, is the whole: "abab" is two of "ab". */
static uint32_t period_of(const struct parse *parse, uint32_t first, uint32_t length)
{
	for (uint32_t period = 1; period <= length / 2; period++)
		if (length % period == 0 &&
		    are_equal(parse, first, first + period, length - period))
			return period;
	return length;
}

/* Each repeat once, with the weight of its first one. */
static uint32_t drop_equal(struct repeat *repeats, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (kept > 0 && compare_hashes(&repeats[i], &repeats[kept - 1], NULL) == 0) {
			if (repeats[i].weight > repeats[kept - 1].weight)
				repeats[kept - 1].weight = repeats[i].weight;
			if (repeats[i].first < repeats[kept - 1].first)
				repeats[kept - 1].first = repeats[i].first;
			continue;
		}
		repeats[kept++] = repeats[i];
	}
	return kept;
}

static struct repeat *find_repeats(struct parse *parse, uint32_t *count)
{
	struct repeat *repeats =
		gp_spill_take(((size_t)parse->phrase_count + 1) * sizeof(*repeats));
	uint32_t *weights = weigh(parse);

	*count = 0;
	for (uint32_t i = 0; i < parse->phrase_count; i++) {
		const struct phrase *phrase = &parse->phrases[i];

		repeats[(*count)++] = (struct repeat){
			.hash = hash_of(parse, phrase->at, phrase->length,
					power_of(phrase->length)),
			.weight = (uint64_t)weights[phrase->source] * phrase->length,
			.first = phrase->source,
			.length = phrase->length,
		};
	}
	gp_array_sort(repeats, *count, sizeof(*repeats), compare_hashes, NULL);
	gp_spill_free(weights);
	return repeats;
}

/* ---- exact counts ---- */

/* By hash: comparing element by element could take the square of the length. */
static void each_occurrence(const struct parse *parse, const struct gp_sequence *sequence,
			    void (*take)(void *context, uint32_t element), void *context)
{
	uint32_t length = sequence->length;
	uint64_t power = power_of(length);
	uint64_t hash = hash_of(parse, sequence->first, length, power);

	for (uint32_t at = 0; length <= parse->count - at;) {
		if (hash_of(parse, at, length, power) == hash &&
		    are_equal(parse, at, sequence->first, length)) {
			take(context, at);
			at += length;
		} else {
			at++;
		}
	}
}

void gp_sequence_each(const struct gp_sequences *sequences, const struct gp_sequence *sequence,
		      void (*take)(void *context, uint32_t element), void *context)
{
	struct parse parse;

	open_hashes(&parse, sequences);
	each_occurrence(&parse, sequence, take, context);
	close_parse(&parse);
}

/* Of all elements before one. */
struct sums {
	uint64_t gpu_ns, call_ns, gap_ns;
	uint64_t own_gap_ns; /* not a sum: right before it */
};

struct counting {
	struct gp_sequence *sequence;
	const struct gp_sequences *sequences;
	const struct gp_model *model;
	const struct sums *sums; /* by element, one more than there are */
};

/*
 * How long the stream had nothing to do before an operation; ended_ns: when all before it had
 * ended.
 */
static uint64_t gap_before(const struct gp_op *op, uint64_t *ended_ns)
{
	uint64_t gap_ns = *ended_ns > 0 && op->start_ns > *ended_ns ? op->start_ns - *ended_ns : 0;

	if (op->untimed)
		return 0;
	if (op->end_ns > *ended_ns)
		*ended_ns = op->end_ns;
	return gap_ns;
}

static void add_element(struct sums *sums, const struct gp_model *model, uint32_t first,
			uint32_t end, uint64_t *ended_ns)
{
	const struct gp_op *ops = model->ops;

	if (ops[first].call != GP_NONE)
		sums[1].call_ns += model->calls[ops[first].call].duration_ns;
	for (uint32_t i = first; i < end; i++) {
		uint64_t gap_ns = gap_before(&ops[i], ended_ns);

		if (i == first)
			sums[0].own_gap_ns = gap_ns;
		sums[1].gap_ns += gap_ns;
		sums[1].gpu_ns += gp_op_gpu_ns(&ops[i]);
	}
}

static struct sums *sum_up(const struct gp_sequences *sequences, const struct gp_model *model)
{
	struct sums *sums =
		gp_spill_take_zeroed((size_t)sequences->element_count + 1, sizeof(*sums));
	uint64_t ended_ns = 0;

	for (uint32_t i = 0; i < sequences->element_count; i++) {
		sums[i + 1] = sums[i];
		add_element(&sums[i], model, sequences->elements[i].op,
			    sequences->elements[i + 1].op, &ended_ns);
	}
	return sums;
}

static void add_occurrence(void *context, uint32_t at)
{
	struct counting *counting = context;
	struct gp_sequence *sequence = counting->sequence;
	const struct gp_op *ops = counting->model->ops;
	uint32_t end = at + sequence->length;
	const struct sums *from = &counting->sums[at], *to = &counting->sums[end];
	uint64_t start_ns = ops[counting->sequences->elements[at].op].start_ns;
	uint64_t end_ns = ops[counting->sequences->elements[end].op - 1].end_ns;

	sequence->count++;
	sequence->gpu_ns += to->gpu_ns - from->gpu_ns;
	sequence->call_ns += to->call_ns - from->call_ns;
	sequence->gap_ns += to->gap_ns - from->gap_ns - from->own_gap_ns;
	sequence->span_ns += end_ns > start_ns ? end_ns - start_ns : 0;
}

/* The same for the same elements in any order. */
static uint64_t content_of(const struct parse *parse, const struct gp_sequence *sequence)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sequence->length; i++) {
		uint64_t symbol = parse->elements[sequence->first + i].symbol + 1;

		sum += (symbol * BASE ^ symbol << 17) * BASE;
	}
	return sum;
}

/* Of a loop, rotations of its iteration add nothing. */
static bool is_rotation(const struct gp_sequences *sequences, const struct parse *parse,
			const struct gp_sequence *sequence)
{
	uint64_t content = content_of(parse, sequence);

	for (uint32_t i = 0; i < sequences->count; i++) {
		const struct gp_sequence *other = &sequences->rows[i];

		if (other->length == sequence->length && content_of(parse, other) == content)
			return true;
	}
	return false;
}

static void add_sequence(struct gp_sequences *sequences, const struct parse *parse,
			 const struct counting *of, const struct repeat *repeat)
{
	struct gp_sequence sequence = {.first = repeat->first, .length = repeat->length};
	struct counting counting = *of;
	uint32_t period = period_of(parse, repeat->first, repeat->length);

	if (period >= 2)
		sequence.length = period;
	if (is_rotation(sequences, parse, &sequence))
		return;
	counting.sequence = &sequence;
	each_occurrence(parse, &sequence, add_occurrence, &counting);
	if (sequence.count < LEAST_COUNT)
		return;
	gp_array_grow(&sequences->rows, &sequences->capacity, sequences->count, sizeof(sequence));
	sequences->rows[sequences->count++] = sequence;
}

static int compare_coverage(const void *a, const void *b, const void *context)
{
	const struct gp_sequence *left = a, *right = b;
	uint64_t left_covers = left->count * left->length;
	uint64_t right_covers = right->count * right->length;

	(void)context;
	if (left_covers != right_covers)
		return left_covers > right_covers ? -1 : 1;
	return (left->length < right->length) - (left->length > right->length);
}

static void take_repeats(struct gp_sequences *sequences, struct parse *parse,
			 const struct gp_model *model)
{
	uint32_t count;
	struct repeat *repeats = find_repeats(parse, &count);
	struct sums *sums = sum_up(sequences, model);
	struct counting counting = {.sequences = sequences, .model = model, .sums = sums};

	count = drop_equal(repeats, count);
	gp_array_sort(repeats, count, sizeof(*repeats), compare_weights, NULL);
	for (uint32_t i = 0; i < count && i < CANDIDATES; i++)
		add_sequence(sequences, parse, &counting, &repeats[i]);
	gp_spill_free(sums);
	gp_spill_free(repeats);
}

/*
 * Whether it is several of the other, and perhaps a part of one: each element is as the one so many
 * before it.
 */
static bool is_several_of(const struct gp_sequences *sequences, const struct parse *parse,
			  const struct gp_sequence *sequence, const struct gp_sequence *other)
{
	const struct gp_sequence first = {.first = sequence->first, .length = other->length};

	return sequence->length > other->length &&
	       !gp_sequence_is_one_operation(sequences, other) &&
	       content_of(parse, &first) == content_of(parse, other) &&
	       are_equal(parse, sequence->first, sequence->first + other->length,
			 sequence->length - other->length);
}

static bool has_as_much(const struct gp_sequence *sequence, const struct gp_sequence *other)
{
	return (double)other->count * other->length >=
	       SIMILAR_RATIO * (double)sequence->count * sequence->length;
}

/* If one is several of another that has about as much, only its first place is new. */
static void drop_several(struct gp_sequences *sequences, const struct parse *parse)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < sequences->count; i++) {
		const struct gp_sequence *row = &sequences->rows[i];
		bool several = false;

		for (uint32_t other = 0; other < sequences->count && !several; other++)
			several = (other < kept || other > i) &&
				  has_as_much(row, &sequences->rows[other]) &&
				  is_several_of(sequences, parse, row, &sequences->rows[other]);
		if (!several)
			sequences->rows[kept++] = *row;
	}
	sequences->count = kept;
}

int gp_sequences_of(struct gp_sequences *sequences, const struct gp_model *model,
		    const struct gp_tuning *tuning, uint32_t first, uint32_t end)
{
	struct parse parse = {0};

	*sequences = (struct gp_sequences){0};
	make_elements(sequences, model, tuning, first, end);
	open_parse(&parse, sequences);
	find_phrases(&parse);
	take_repeats(sequences, &parse, model);
	gp_array_sort(sequences->rows, sequences->count, sizeof(*sequences->rows), compare_coverage,
		      NULL);
	drop_several(sequences, &parse);
	close_parse(&parse);
	return 0;
}

bool gp_sequence_is_one_operation(const struct gp_sequences *sequences,
				  const struct gp_sequence *sequence)
{
	const struct gp_sequence_element *elements = &sequences->elements[sequence->first];

	for (uint32_t i = 1; i < sequence->length; i++)
		if (elements[i].symbol != elements[0].symbol)
			return false;
	return true;
}

bool gp_sequences_are_of_one_kernel(const struct gp_model *model, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (model->ops[i].kind != GP_OP_KERNEL || is_of_graph(&model->ops[i]) ||
		    model->ops[i].name != model->ops[first].name)
			return false;
	return true;
}

void gp_sequences_free(struct gp_sequences *sequences)
{
	free(sequences->rows);
	gp_spill_free(sequences->elements);
	*sequences = (struct gp_sequences){0};
}
