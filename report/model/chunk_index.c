#include "report/model/chunk_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/message.h"
#include "report/base/quantile_cut.h"
#include "report/trace/memory_rules.h"
#include "report/model/model.h"
#include "report/base/spill_memory.h"
#include "report/trace/clock_sync.h"
#include "report/trace/trace_read.h"

/*
 * Events that begin so long before the first anchor, or end so long after the last, have no true
 * time.
 */
#define BEYOND_NS (INT64_C(3600) * 1000000000)

/* Two clocks differ by less where they are read together. */
#define CLOSE_NS 1000000

/* How far a record searches back for its other half. */
#define LOOK_BACK 64u

/* So many halves, or so much that each part has anew, cost little, however few events there are. */
#define FEW_LEFTS UINT64_C(1000000)

/* The content of a chunk: times of events, low above high if it has none. */
struct entry {
	uint64_t place; /* in the file; 0 = it has none */
	uint64_t ticks_low, ticks_high, cupti_low, cupti_high;
	int64_t first_ns, last_ns;                     /* of both, on the timeline */
	uint32_t call_low, call_high, op_low, op_high; /* correlation ids */
	uint32_t events;
	uint32_t first_left;
	uint32_t definitions;
	bool has_others;
	bool is_everywhere; /* every part has it */
	uint8_t want;       /* enum gp_chunk_want */
};

/* A value, and the chunk that has it. */
struct extreme {
	uint64_t value;
	uint32_t chunk;
};

/* Numbers, sorted. */
struct numbers {
	uint64_t *values;
	uint32_t count, capacity;
	uint64_t last; /* the key of the search */
};

struct gp_chunk_index {
	struct entry *entries;
	uint32_t count, capacity;
	struct gp_chunk_left *lefts;
	uint32_t left_count, left_capacity;
	uint32_t *order; /* of those with events, by their beginning */
	uint32_t order_count;
	uint64_t events, damaged_bytes;
	int64_t first_ns; /* of the first call or operation, on the timeline */
	int64_t chosen_from_ns, chosen_to_ns;
	int64_t halves_from_ns, halves_to_ns; /* the chosen events, with their other halves */

	/* while it is made */
	struct numbers threads, streams, kinds; /* of memory */
	/* correlation ids that definitions name, or operations without times; sorted at the end */
	struct numbers named;
	struct extreme first_call, last_call, first_op, last_op, first_ticks, first_cupti;
	struct gp_record_anchor *anchors;
	uint32_t anchor_count, anchor_capacity;
	double ticks_per_second;
	bool is_closed, is_saved, with_memory;
	bool has_riddle; /* an operation whose call only the whole trace tells */
};

static struct entry *last_entry(struct gp_chunk_index *x)
{
	return &x->entries[x->count - 1];
}

/* ---- records that are kept ---- */

static bool is_lower(const void *element, const void *value)
{
	return *(const uint64_t *)element < *(const uint64_t *)value;
}

/* 1: it is new; 0 or -ENOMEM. */
static int add_number(struct numbers *numbers, uint64_t value)
{
	uint32_t at;

	if (numbers->count > 0 && numbers->last == value)
		return 0;
	numbers->last = value;
	at = gp_array_lower_bound(numbers->values, numbers->count, sizeof(value), is_lower, &value);
	if (at < numbers->count && numbers->values[at] == value)
		return 0;
	if (gp_array_grow(&numbers->values, &numbers->capacity, numbers->count, sizeof(value)) != 0)
		return -ENOMEM;
	memmove(&numbers->values[at + 1], &numbers->values[at],
		(numbers->count - at) * sizeof(value));
	numbers->values[at] = value;
	numbers->count++;
	return 1;
}

/* Sorted later. Returns 0 or -ENOMEM. */
static int append_number(struct numbers *numbers, uint64_t value)
{
	if (numbers->count > 0 && numbers->values[numbers->count - 1] == value)
		return 0;
	if (gp_array_grow(&numbers->values, &numbers->capacity, numbers->count, sizeof(value)) != 0)
		return -ENOMEM;
	numbers->values[numbers->count++] = value;
	return 0;
}

static int compare_numbers(const void *a, const void *b, const void *context)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	(void)context;
	return (left > right) - (left < right);
}

static void keep_lower(struct extreme *extreme, uint64_t value, uint32_t chunk)
{
	if (value < extreme->value)
		*extreme = (struct extreme){value, chunk};
}

static void keep_higher(struct extreme *extreme, uint64_t value, uint32_t chunk)
{
	if (value > extreme->value)
		*extreme = (struct extreme){value, chunk};
}

static void widen(uint64_t *low, uint64_t *high, uint64_t start, uint64_t end)
{
	*low = start < *low ? start : *low;
	*high = end > *high ? end : *high;
}

/* Nothing is joined by 0. */
static void widen_ids(uint32_t *low, uint32_t *high, uint32_t id)
{
	if (id == 0)
		return;
	*low = id < *low ? id : *low;
	*high = id > *high ? id : *high;
}

static void note_ticks(struct gp_chunk_index *x, uint64_t start, uint64_t end)
{
	struct entry *e = last_entry(x);

	e->events++;
	widen(&e->ticks_low, &e->ticks_high, start, end);
	keep_lower(&x->first_ticks, start, x->count - 1);
}

static void note_cupti(struct gp_chunk_index *x, uint64_t start, uint64_t end)
{
	struct entry *e = last_entry(x);

	e->events++;
	if (start == 0)
		return;
	widen(&e->cupti_low, &e->cupti_high, start, end > start ? end : start);
	keep_lower(&x->first_cupti, start, x->count - 1);
}

/* The first of a thread, a stream, or a kind of memory is in every part. */
static int note_owner(struct gp_chunk_index *x, struct numbers *owners, uint64_t owner)
{
	int result = add_number(owners, owner);

	last_entry(x)->is_everywhere |= result > 0;
	return result < 0 ? result : 0;
}

static int note_call(struct gp_chunk_index *x, const struct gp_record_call *r, uint32_t thread_id)
{
	uint64_t end =
		r->start_ticks + r->duration_low_ticks + ((uint64_t)r->duration_high_ticks << 32);
	struct entry *e = last_entry(x);

	note_ticks(x, r->start_ticks, end);
	widen_ids(&e->call_low, &e->call_high, r->correlation_id);
	keep_lower(&x->first_call, r->start_ticks, x->count - 1);
	keep_higher(&x->last_call, end, x->count - 1);
	return note_owner(x, &x->threads, thread_id);
}

struct operation {
	uint64_t start_ns, end_ns;
	uint32_t correlation_id, context_id, stream_id, graph_id;
	uint16_t device_id;
};

static int note_operation(struct gp_chunk_index *x, const struct operation *op)
{
	struct entry *e = last_entry(x);
	uint64_t end_ns = op->end_ns > op->start_ns ? op->end_ns : op->start_ns;

	if (op->device_id >= GP_DEVICE_LIMIT)
		return 0;
	widen_ids(&e->op_low, &e->op_high, op->correlation_id);
	x->has_riddle |= op->correlation_id == 0 && op->graph_id != 0;
	if (op->start_ns == 0 || op->end_ns == 0) { /* it is where its call is */
		e->is_everywhere = true;
		e->events++;
		return append_number(&x->named, op->correlation_id);
	}
	note_cupti(x, op->start_ns, end_ns);
	keep_lower(&x->first_op, op->start_ns, x->count - 1);
	keep_higher(&x->last_op, end_ns, x->count - 1);
	return note_owner(x, &x->streams, (uint64_t)op->context_id << 32 | op->stream_id);
}

/* ---- halves ---- */

static bool is_same_place(const struct gp_record_memory *a, const struct gp_record_memory *b)
{
	return a->address == b->address &&
	       gp_memory_family(a->memory_kind) == gp_memory_family(b->memory_kind);
}

static bool is_same_stack(const struct gp_chunk_left *a, const struct gp_chunk_left *b)
{
	return a->thread == b->thread && a->record.range.domain_id == b->record.range.domain_id;
}

/*
 * Whether `left` ends `earlier`; *is_between: it may have ended something else, so that nothing
 * before it counts.
 */
static bool is_ended_by(const struct gp_chunk_left *earlier, const struct gp_chunk_left *left,
			bool *is_between)
{
	const union gp_any_record *a = &earlier->record, *b = &left->record;

	if (a->head.kind != b->head.kind)
		return false;
	if (b->head.kind == GP_RECORD_MEMORY) {
		*is_between = is_same_place(&a->memory, &b->memory);
		return *is_between && a->memory.op == GP_MEMORY_ALLOC;
	}
	if (b->range.op == GP_RANGE_END)
		return a->range.op == GP_RANGE_START && a->range.range_id == b->range.range_id;
	*is_between = (a->range.op == GP_RANGE_PUSH || a->range.op == GP_RANGE_POP) &&
		      is_same_stack(earlier, left);
	return *is_between && a->range.op == GP_RANGE_PUSH;
}

static bool drop_other_half(struct gp_chunk_index *x, const struct gp_chunk_left *left)
{
	uint32_t first = last_entry(x)->first_left;
	bool is_between = false;

	for (uint32_t i = x->left_count; i > first && x->left_count - i < LOOK_BACK; i--) {
		struct gp_chunk_left *earlier = &x->lefts[i - 1];

		if (is_ended_by(earlier, left, &is_between)) {
			memmove(earlier, earlier + 1, (x->left_count - i) * sizeof(*earlier));
			x->left_count--;
			return true;
		}
		if (is_between)
			return false;
	}
	return false;
}

static int note_half(struct gp_chunk_index *x, const struct gp_record_view *seen, bool is_end)
{
	const struct gp_chunk_left left = {*seen->record, seen->thread_id, UINT32_MAX};

	if (is_end && drop_other_half(x, &left))
		return 0;
	if (gp_array_grow(&x->lefts, &x->left_capacity, x->left_count, sizeof(left)) != 0)
		return -ENOMEM;
	x->lefts[x->left_count++] = left;
	return 0;
}

/* ---- each kind ---- */

static int index_call(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	return note_call(x, &seen->record->call, seen->thread_id);
}

static int index_memory(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	const struct gp_record_memory *r = &seen->record->memory;
	int result = note_call(x, &r->call, seen->thread_id);

	if (result != 0 || !gp_memory_took_effect(r))
		return result;
	if (note_owner(x, &x->kinds, (uint64_t)r->device_id << 8 | r->memory_kind) != 0)
		return -ENOMEM;
	return note_half(x, seen,
			 !x->with_memory && r->op == GP_MEMORY_FREE &&
				 r->memory_kind != GP_MEMORY_PHYSICAL &&
				 !gp_memory_is_about_handle(r));
}

static int index_range(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	const struct gp_record_range *r = &seen->record->range;

	note_ticks(x, r->ticks, r->ticks);
	if (note_owner(x, &x->threads, seen->thread_id) != 0)
		return -ENOMEM;
	if (r->op == GP_RANGE_MARK)
		return 0;
	return note_half(x, seen, r->op == GP_RANGE_POP || r->op == GP_RANGE_END);
}

#define INDEX_OPERATION(name)                                                                      \
	static int index_##name(struct gp_chunk_index *x, const struct gp_record_view *seen)       \
	{                                                                                          \
		const struct gp_record_##name *r = &seen->record->name;                            \
                                                                                                   \
		return note_operation(x, &(struct operation){r->start_ns, r->end_ns,               \
							     r->correlation_id, r->context_id,     \
							     r->stream_id, r->graph_id,            \
							     r->device_id});                       \
	}
INDEX_OPERATION(kernel)
INDEX_OPERATION(copy)
INDEX_OPERATION(memset)
INDEX_OPERATION(graph)

/* Facts are in every part, whatever their time. */
#define INDEX_TIMES(name, start, end)                                                              \
	static int index_##name(struct gp_chunk_index *x, const struct gp_record_view *seen)       \
	{                                                                                          \
		if (gp_record_is_event(seen->record))                                              \
			note_cupti(x, seen->record->name.start, seen->record->name.end);           \
		return 0;                                                                          \
	}
INDEX_TIMES(overhead, start_ns, end_ns)
#define GP_MODEL_RECORDS(name, kind, key, start, end, anchors) INDEX_TIMES(name, start, end)
#include "report/model/array.def"

static int index_anchor(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	if (gp_array_grow(&x->anchors, &x->anchor_capacity, x->anchor_count, sizeof(*x->anchors)) !=
	    0)
		return -ENOMEM;
	x->anchors[x->anchor_count++] = seen->record->anchor;
	return 0;
}

static int index_string(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	const struct gp_record_string *r = &seen->record->string;
	char digits[24] = "";

	if (r->space != GP_STRING_INFO || r->id != GP_INFO_TICKS_PER_SECOND ||
	    r->length_bytes >= sizeof(digits))
		return 0;
	memcpy(digits, seen->text, r->length_bytes);
	x->ticks_per_second = strtod(digits, NULL);
	return 0;
}

static int index_end(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	x->is_closed |= seen->record->end.reason == GP_END_EXIT;
	return 0;
}

static int index_node(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	return append_number(&x->named, seen->record->node.correlation_id);
}

static int index_stream(struct gp_chunk_index *x, const struct gp_record_view *seen)
{
	return append_number(&x->named, seen->record->stream.correlation_id);
}

/* Facts that only need to be there. */
GP_RECORD_IGNORE(index, shape)
GP_RECORD_IGNORE(index, device)
GP_RECORD_IGNORE(index, context)
GP_RECORD_IGNORE(index, counter)
GP_RECORD_IGNORE(index, usage)
GP_RECORD_IGNORE(index, thread)
GP_RECORD_IGNORE(index, context_end)
GP_RECORD_IGNORE(index, gate)
GP_RECORD_IGNORE(index, frame)
GP_RECORD_IGNORE(index, module)
GP_RECORD_IGNORE(index, link)
GP_RECORD_IGNORE(index, waiting)
GP_RECORD_IGNORE(index, sample)
GP_RECORD_IGNORE(index, in_flight)
GP_RECORD_IGNORE(index, stream_wait)
GP_RECORD_IGNORE(index, hw_window)
GP_RECORD_IGNORE(index, hw_value)
GP_RECORD_IGNORE(index, energy)

static GP_RECORD_VISITOR(visit, index, struct gp_chunk_index)

	static int take_record(void *context, const struct gp_record_view *seen)
{
	struct gp_chunk_index *x = context;
	struct entry *e = last_entry(x);

	if (gp_record_role(seen->record) == GP_ROLE_FACT) {
		e->has_others = true;
		/* anchors cost next to nothing, and a long run has many */
		e->definitions += seen->record->head.kind != GP_RECORD_ANCHOR;
	}
	return visit(x, seen);
}

/* ---- chunk by chunk ---- */

/* Saved rings are taken whole: there is little in them, and it is the end. */
static int take_chunk(struct gp_chunk_index *x, const struct gp_chunk *chunk, uint64_t place)
{
	const struct gp_chunk_header *h = &chunk->header;
	const struct gp_record_sink sink = {take_record, x};
	struct gp_decoded decoded = {0};
	int result;

	if (gp_array_grow(&x->entries, &x->capacity, x->count, sizeof(*x->entries)) != 0)
		return -ENOMEM;
	x->entries[x->count++] = (struct entry){
		.place = place,
		.ticks_low = UINT64_MAX,
		.cupti_low = UINT64_MAX,
		.call_low = UINT32_MAX,
		.op_low = UINT32_MAX,
		.first_left = x->left_count,
	};
	if (h->form == GP_CHUNK_SLOTS) {
		last_entry(x)->is_everywhere = true;
		x->is_saved |= h->ring == 0;
	}
	result = gp_decode_chunk(chunk, &sink, &decoded);
	last_entry(x)->has_others |= decoded.unknown > 0;
	x->events += last_entry(x)->events;
	return result == 0 && x->left_count > FEW_LEFTS + x->events / 2 ? -ENOTSUP : result;
}

static int take_chunks(struct gp_chunk_index *x, const char *path)
{
	char message[GP_MESSAGE_BYTES];
	struct gp_trace *trace;
	struct gp_chunk chunk;
	int error = 0, result = gp_trace_open(path, &trace, message, sizeof(message));

	if (result != 0)
		return result;
	do {
		uint64_t place = gp_trace_place(trace);

		result = gp_trace_next(trace, &chunk);
		if (result == 1)
			error = take_chunk(x, &chunk, place);
	} while (result == 1 && error == 0);
	x->damaged_bytes = gp_trace_state(trace)->damaged_bytes;
	gp_trace_close(trace);
	return error != 0 ? error : result;
}

/* ---- the result ---- */

static void mark(struct gp_chunk_index *x, const struct extreme *extreme)
{
	if (extreme->chunk != UINT32_MAX)
		x->entries[extreme->chunk].is_everywhere = true;
}

/* Whether a definition names a call of the chunk. */
static bool is_named(const struct gp_chunk_index *x, const struct entry *e)
{
	uint64_t low = e->call_low;
	uint32_t at =
		gp_array_lower_bound(x->named.values, x->named.count, sizeof(low), is_lower, &low);

	return e->call_low <= e->call_high && at < x->named.count &&
	       x->named.values[at] <= e->call_high;
}

static void time_entry(struct entry *e, struct gp_clock_sync *t)
{
	e->first_ns = INT64_MAX;
	e->last_ns = INT64_MIN;
	if (e->ticks_low <= e->ticks_high) {
		e->first_ns = gp_clock_sync_from_ticks(t, e->ticks_low);
		e->last_ns = gp_clock_sync_from_ticks(t, e->ticks_high);
	}
	if (e->cupti_low <= e->cupti_high) {
		int64_t first_ns = gp_clock_sync_from_cupti(t, e->cupti_low, UINT32_MAX);
		int64_t last_ns = gp_clock_sync_from_cupti(t, e->cupti_high, UINT32_MAX);

		e->first_ns = first_ns < e->first_ns ? first_ns : e->first_ns;
		e->last_ns = last_ns > e->last_ns ? last_ns : e->last_ns;
	}
}

/* False: there is a time that cannot be. */
static bool time_entries(struct gp_chunk_index *x, struct gp_clock_sync *t)
{
	int64_t latest_ns =
		gp_clock_sync_from_ticks(t, x->anchors[x->anchor_count - 1].ticks) + BEYOND_NS;

	for (uint32_t i = 0; i < x->count; i++) {
		struct entry *e = &x->entries[i];

		if (!x->is_closed) /* the recovered part of the rings is in the file */
			e->place = 0;
		time_entry(e, t);
		if (e->first_ns > e->last_ns)
			continue;
		if (e->first_ns < -BEYOND_NS || e->last_ns > latest_ns)
			return false;
		e->is_everywhere |= is_named(x, e);
		x->order[x->order_count++] = i;
	}
	x->first_ns = INT64_MAX;
	if (x->first_call.chunk != UINT32_MAX)
		x->first_ns = gp_clock_sync_from_ticks(t, x->first_call.value);
	if (x->first_op.chunk != UINT32_MAX) {
		int64_t op_ns = gp_clock_sync_from_cupti(t, x->first_op.value, UINT32_MAX);

		x->first_ns = op_ns < x->first_ns ? op_ns : x->first_ns;
	}
	return x->first_ns != INT64_MAX;
}

/* ---- halves in different chunks ---- */

enum pairing { BY_PLACE, BY_NESTING, BY_ID, NOT_PAIRED };

/* with_memory: no allocation is left out, so none is paired. */
static enum pairing pairing_of(const struct gp_chunk_left *left, bool with_memory)
{
	const union gp_any_record *record = &left->record;

	if (record->head.kind != GP_RECORD_MEMORY)
		return record->range.op == GP_RANGE_START || record->range.op == GP_RANGE_END
			       ? BY_ID
			       : BY_NESTING;
	return with_memory || record->memory.memory_kind == GP_MEMORY_PHYSICAL ||
			       gp_memory_is_about_handle(&record->memory)
		       ? NOT_PAIRED
		       : BY_PLACE;
}

static bool is_opening(const union gp_any_record *record)
{
	if (record->head.kind == GP_RECORD_MEMORY)
		return record->memory.op == GP_MEMORY_ALLOC;
	return record->range.op == GP_RANGE_START || record->range.op == GP_RANGE_PUSH;
}

/* When memory is there, and when it is not any more, as in the model. */
static uint64_t effect_ticks(const union gp_any_record *record)
{
	const struct gp_record_call *call = &record->memory.call;

	if (record->head.kind != GP_RECORD_MEMORY)
		return record->range.ticks;
	return call->start_ticks +
	       (record->memory.op == GP_MEMORY_ALLOC
			? call->duration_low_ticks + ((uint64_t)call->duration_high_ticks << 32)
			: 0);
}

struct pair_key {
	uint64_t words[3];
};

static struct pair_key key_of(const struct gp_chunk_left *left, bool with_memory)
{
	const union gp_any_record *record = &left->record;
	enum pairing pairing = pairing_of(left, with_memory);

	if (pairing == BY_PLACE)
		return (struct pair_key){{pairing, gp_memory_family(record->memory.memory_kind),
					  record->memory.address}};
	if (pairing == BY_NESTING)
		return (struct pair_key){{pairing, left->thread, record->range.domain_id}};
	return (struct pair_key){{pairing, 0, pairing == BY_ID ? record->range.range_id : 0}};
}

static int compare_keys(const struct pair_key *a, const struct pair_key *b)
{
	for (size_t i = 0; i < 3; i++)
		if (a->words[i] != b->words[i])
			return a->words[i] < b->words[i] ? -1 : 1;
	return 0;
}

static int compare_lefts(const void *a, const void *b, const void *context)
{
	const struct gp_chunk_left *left = a, *right = b;
	const struct gp_chunk_index *x = context;
	const struct pair_key left_key = key_of(left, x->with_memory);
	const struct pair_key right_key = key_of(right, x->with_memory);
	uint64_t left_ticks = effect_ticks(&left->record), right_ticks;
	int result = compare_keys(&left_key, &right_key);

	if (result != 0)
		return result;
	right_ticks = effect_ticks(&right->record);
	return (left_ticks > right_ticks) - (left_ticks < right_ticks);
}

/* In which chunk each is. */
static void note_chunks(struct gp_chunk_index *x, uint32_t *chunks)
{
	for (uint32_t i = 0; i < x->count; i++) {
		uint32_t end = i + 1 < x->count ? x->entries[i + 1].first_left : x->left_count;

		for (uint32_t k = x->entries[i].first_left; k < end; k++)
			chunks[k] = i;
	}
}

/* Each end is of the latest beginning that is still open, as in the model. */
static void pair_in_order(struct gp_chunk_index *x, const uint32_t *order, const uint32_t *chunks,
			  uint32_t *open)
{
	struct pair_key last = {{NOT_PAIRED}};
	uint32_t depth = 0;

	for (uint32_t i = 0; i < x->left_count; i++) {
		struct gp_chunk_left *left = &x->lefts[order[i]];
		const struct pair_key key = key_of(left, x->with_memory);

		if (key.words[0] == NOT_PAIRED)
			return;
		if (compare_keys(&key, &last) != 0)
			depth = 0;
		last = key;
		if (is_opening(&left->record)) {
			open[depth++] = order[i];
		} else if (depth > 0) {
			uint32_t other = open[--depth];

			left->other_chunk = chunks[other];
			x->lefts[other].other_chunk = chunks[order[i]];
		}
	}
}

static int pair_lefts(struct gp_chunk_index *x)
{
	size_t bytes = ((size_t)x->left_count + 1) * sizeof(uint32_t);
	uint32_t *order =
		gp_array_order(x->lefts, x->left_count, sizeof(*x->lefts), compare_lefts, x);
	uint32_t *chunks = malloc(bytes), *open = malloc(bytes);
	int result = order && chunks && open ? 0 : -ENOMEM;

	if (result == 0) {
		note_chunks(x, chunks);
		pair_in_order(x, order, chunks, open);
	}
	gp_spill_free(order);
	free(chunks);
	free(open);
	return result;
}

/* ---- the order of chunks ---- */

static int compare_beginnings(const void *a, const void *b, const void *context)
{
	const struct entry *entries = context;
	int64_t left = entries[*(const uint32_t *)a].first_ns;
	int64_t right = entries[*(const uint32_t *)b].first_ns;

	return (left > right) - (left < right);
}

static int settle(struct gp_chunk_index *x)
{
	const struct extreme *const extremes[] = {&x->first_call, &x->last_call,   &x->first_op,
						  &x->last_op,    &x->first_ticks, &x->first_cupti};
	struct gp_clock_sync *t;
	int result = -ENOTSUP;

	if (!(x->is_closed || x->is_saved) || x->has_riddle || x->anchor_count == 0)
		return -ENOTSUP;
	x->order = malloc(((size_t)x->count + 1) * sizeof(*x->order));
	t = gp_clock_sync_new(x->anchors, x->anchor_count, x->ticks_per_second);
	if (!t || !x->order ||
	    gp_array_sort(x->named.values, x->named.count, sizeof(*x->named.values),
			  compare_numbers, NULL) != 0)
		result = -ENOMEM;
	else if (gp_clock_sync_is_even(t) && time_entries(x, t))
		result = gp_array_sort(x->order, x->order_count, sizeof(*x->order),
				       compare_beginnings, x->entries);
	if (result == 0)
		result = pair_lefts(x);
	gp_clock_sync_free(t);
	for (size_t i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i++)
		mark(x, extremes[i]);
	return result;
}

int gp_chunk_index_make(const char *path, bool with_memory, struct gp_chunk_index **index)
{
	const struct extreme low = {UINT64_MAX, UINT32_MAX}, high = {0, UINT32_MAX};
	struct gp_chunk_index *x = calloc(1, sizeof(*x));
	int result = -ENOMEM;

	if (x) {
		x->with_memory = with_memory;
		x->first_call = x->first_op = x->first_ticks = x->first_cupti = low;
		x->last_call = x->last_op = high;
		result = take_chunks(x, path);
	}
	if (result == 0)
		result = settle(x);
	if (result == 0)
		*index = x;
	else
		gp_chunk_index_free(x);
	return result;
}

void gp_chunk_index_free(struct gp_chunk_index *x)
{
	if (!x)
		return;
	free(x->entries);
	free(x->lefts);
	free(x->order);
	free(x->threads.values);
	free(x->streams.values);
	free(x->kinds.values);
	free(x->named.values);
	free(x->anchors);
	free(x);
}

/* ---- parts ---- */

static const struct entry *in_order(const struct gp_chunk_index *x, uint32_t at)
{
	return &x->entries[x->order[at]];
}

/* A time from the first call or operation on, on the timeline. */
static int64_t on_timeline(const struct gp_chunk_index *x, uint64_t ns)
{
	int64_t time_ns;

	return ns > INT64_MAX || __builtin_add_overflow(x->first_ns, (int64_t)ns, &time_ns)
		       ? INT64_MAX
		       : time_ns;
}

int gp_chunk_index_cut(const struct gp_chunk_index *x, uint64_t from_ns, uint64_t to_ns,
		       uint64_t most, uint64_t **starts, uint32_t *count)
{
	int64_t from = on_timeline(x, from_ns), to = to_ns > 0 ? on_timeline(x, to_ns) : INT64_MAX;
	uint32_t capacity = 0;
	uint64_t events = 0;

	*starts = NULL;
	*count = 0;
	if (gp_array_grow(starts, &capacity, 0, sizeof(**starts)) != 0)
		return -ENOMEM;
	(*starts)[(*count)++] = from_ns;
	for (uint32_t i = 0; i < x->order_count; i++) {
		const struct entry *e = in_order(x, i);
		int64_t begins = e->first_ns;

		if (begins <= from || begins >= to) {
			events += begins <= from && e->last_ns >= from ? e->events : 0;
			continue;
		}
		if (events > 0 && events + e->events > most && begins > x->first_ns) {
			if (gp_array_grow(starts, &capacity, *count, sizeof(**starts)) != 0) {
				free(*starts);
				return -ENOMEM;
			}
			(*starts)[(*count)++] = (uint64_t)(begins - x->first_ns);
			events = 0;
		}
		events += e->events;
	}
	return 0;
}

int gp_chunk_index_share(const struct gp_chunk_index *x, uint64_t from_ns, uint64_t to_ns,
			 uint64_t *starts, uint32_t count)
{
	struct gp_quantile_cut share = {0};
	int64_t *cuts = malloc(count * sizeof(*cuts));
	int result = cuts ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < x->order_count && result == 0; i++) {
		const struct entry *e = in_order(x, i);

		result = gp_quantile_cut_add(&share, e->first_ns, e->last_ns, e->events);
	}
	if (result == 0)
		gp_quantile_cut_cut(&share, on_timeline(x, from_ns),
				    to_ns > 0 ? on_timeline(x, to_ns) : INT64_MAX, cuts, count);
	for (uint32_t i = 0; i < count && result == 0; i++)
		starts[i] = i > 0 && cuts[i] <= x->first_ns ? 1 : (uint64_t)(cuts[i] - x->first_ns);
	free(cuts);
	gp_quantile_cut_free(&share);
	return result;
}

/* The beginning of a chunk that is as many events before a time; or the time. */
static int64_t step_back(const struct gp_chunk_index *x, int64_t ns, uint64_t margin)
{
	uint32_t at = 0;
	uint64_t events = 0;

	while (at < x->order_count && in_order(x, at)->first_ns < ns)
		at++;
	while (at > 0 && events < margin) {
		events += in_order(x, --at)->events;
		ns = in_order(x, at)->first_ns;
	}
	return ns;
}

/* The same after it. */
static int64_t step_on(const struct gp_chunk_index *x, int64_t ns, uint64_t margin)
{
	uint64_t events = 0;

	for (uint32_t i = 0; i < x->order_count && events < margin; i++) {
		const struct entry *e = in_order(x, i);

		if (e->first_ns <= ns)
			continue;
		events += e->events;
		ns = e->first_ns;
	}
	return ns;
}

/* The correlation ids of the events in the chosen time. */
struct halves {
	uint32_t call_low, call_high, op_low, op_high;
};

static void add_to_halves(struct gp_chunk_index *x, const struct entry *e)
{
	x->halves_from_ns = e->first_ns < x->halves_from_ns ? e->first_ns : x->halves_from_ns;
	x->halves_to_ns = e->last_ns > x->halves_to_ns ? e->last_ns : x->halves_to_ns;
}

static void choose_by_time(struct gp_chunk_index *x, int64_t from, int64_t to,
			   struct halves *halves)
{
	for (uint32_t i = 0; i < x->count; i++) {
		struct entry *e = &x->entries[i];
		bool has_any = e->first_ns <= e->last_ns;

		e->want = e->is_everywhere ? GP_CHUNK_ALL
			  : e->has_others  ? GP_CHUNK_OTHERS
					   : GP_CHUNK_NOTHING;
		if (!has_any || e->first_ns > to || e->last_ns < from)
			continue;
		e->want = GP_CHUNK_ALL;
		add_to_halves(x, e);
		if (e->call_low <= e->call_high) {
			widen_ids(&halves->call_low, &halves->call_high, e->call_low);
			widen_ids(&halves->call_low, &halves->call_high, e->call_high);
		}
		if (e->op_low <= e->op_high) {
			widen_ids(&halves->op_low, &halves->op_high, e->op_low);
			widen_ids(&halves->op_low, &halves->op_high, e->op_high);
		}
	}
}

static bool overlap(uint32_t a_low, uint32_t a_high, uint32_t b_low, uint32_t b_high)
{
	return a_low <= a_high && b_low <= b_high && a_low <= b_high && b_low <= a_high;
}

void gp_chunk_index_choose(struct gp_chunk_index *x, uint64_t from_ns, uint64_t to_ns,
			   uint64_t margin)
{
	struct halves halves = {.call_low = UINT32_MAX, .op_low = UINT32_MAX};
	int64_t from = step_back(x, on_timeline(x, from_ns), margin);
	int64_t to = to_ns > 0 ? step_on(x, on_timeline(x, to_ns), margin) : INT64_MAX - CLOSE_NS;

	x->chosen_from_ns = from_ns > 0 ? from : INT64_MIN;
	x->chosen_to_ns = to;
	x->halves_from_ns = from;
	x->halves_to_ns = to;
	choose_by_time(x, from_ns > 0 ? from - CLOSE_NS : INT64_MIN, to + CLOSE_NS, &halves);
	for (uint32_t i = 0; i < x->count; i++) {
		struct entry *e = &x->entries[i];

		if (overlap(e->call_low, e->call_high, halves.op_low, halves.op_high) ||
		    overlap(e->op_low, e->op_high, halves.call_low, halves.call_high)) {
			e->want = GP_CHUNK_ALL;
			add_to_halves(x, e);
		}
	}
}

bool gp_chunk_index_needs(const struct gp_chunk_index *x, uint64_t chunk,
			  const struct gp_chunk_left *left)
{
	const struct entry *a = &x->entries[chunk], *b;

	if (left->other_chunk == UINT32_MAX)
		return true;
	b = &x->entries[left->other_chunk];
	if (b->want == GP_CHUNK_ALL)
		return true;
	return (a->first_ns <= x->halves_to_ns || b->first_ns <= x->halves_to_ns) &&
	       (a->last_ns >= x->halves_from_ns || b->last_ns >= x->halves_from_ns);
}

/*
 * The load of a part beside the events of its time: definitions, records that all parts share, and
 * halves.
 */
static uint64_t count_needed(const struct gp_chunk_index *x)
{
	uint64_t needed = 0;

	for (uint32_t i = 0; i < x->count; i++) {
		const struct entry *e = &x->entries[i];
		uint32_t count;
		const struct gp_chunk_left *lefts = gp_chunk_index_lefts(x, i, &count);

		needed += e->definitions;
		if (e->is_everywhere &&
		    (e->first_ns > x->chosen_to_ns || e->last_ns < x->chosen_from_ns))
			needed += e->events;
		for (uint32_t k = 0; k < count && e->want != GP_CHUNK_ALL; k++)
			needed += gp_chunk_index_needs(x, i, &lefts[k]);
	}
	return needed;
}

bool gp_chunk_index_is_for(struct gp_chunk_index *x, const uint64_t *starts, uint32_t count,
			   uint64_t to_ns, uint64_t margin)
{
	uint64_t needed = 0;

	for (uint32_t i = 0; count > 1 && i < count && needed <= x->events + FEW_LEFTS; i++) {
		gp_chunk_index_choose(x, starts[i], i + 1 < count ? starts[i + 1] : to_ns, margin);
		needed += count_needed(x);
	}
	return needed <= x->events + FEW_LEFTS;
}

enum gp_chunk_want gp_chunk_index_want(const struct gp_chunk_index *x, uint64_t chunk)
{
	return chunk < x->count ? x->entries[chunk].want : GP_CHUNK_ALL;
}

void gp_chunk_index_span(const struct gp_chunk_index *x, uint64_t first_ns, uint64_t *from_ns,
			 uint64_t *to_ns)
{
	int64_t shift = (int64_t)first_ns - x->first_ns;

	*from_ns = x->chosen_from_ns > -shift ? (uint64_t)(x->chosen_from_ns + shift) : 0;
	*to_ns = x->chosen_to_ns < INT64_MAX - CLOSE_NS - shift
			 ? (uint64_t)(x->chosen_to_ns + shift)
			 : UINT64_MAX;
}

uint64_t gp_chunk_index_step_over(const struct gp_chunk_index *x, uint64_t *chunk)
{
	uint64_t first = *chunk;

	while (*chunk < x->count && x->entries[*chunk].place != 0 &&
	       x->entries[*chunk].want == GP_CHUNK_NOTHING)
		++*chunk;
	if (*chunk == x->count && *chunk > first)
		--*chunk; /* the end comes after it */
	return *chunk > first ? x->entries[*chunk].place : 0;
}

uint64_t gp_chunk_index_damaged_bytes(const struct gp_chunk_index *x)
{
	return x->damaged_bytes;
}

const struct gp_chunk_left *gp_chunk_index_lefts(const struct gp_chunk_index *x, uint64_t chunk,
						 uint32_t *count)
{
	uint32_t first, end;

	*count = 0;
	if (chunk >= x->count)
		return NULL;
	first = x->entries[chunk].first_left;
	end = chunk + 1 < x->count ? x->entries[chunk + 1].first_left : x->left_count;
	*count = end - first;
	return *count > 0 ? &x->lefts[first] : NULL;
}
