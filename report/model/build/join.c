#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/build/bad_timestamps.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"

#define CUPTI_12_2 20 /* by cuptiGetVersion() */

/* ---- the call that started an operation ---- */

static int compare_keys(const void *a, const void *b, const void *context)
{
	const struct gp_call_key *left = a, *right = b;
	const struct gp_call *calls = context;
	uint64_t left_ns, right_ns;

	if (left->correlation_id != right->correlation_id)
		return left->correlation_id < right->correlation_id ? -1 : 1;
	left_ns = calls[left->call].start_ns;
	right_ns = calls[right->call].start_ns;
	return (left_ns > right_ns) - (left_ns < right_ns);
}

static int make_keys(struct gp_model_builder *b)
{
	const struct gp_model *m = b->model;

	b->keys = gp_spill_take(((size_t)m->call_count + 1) * sizeof(*b->keys));
	if (!b->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->call_count; i++)
		b->keys[i] = (struct gp_call_key){m->calls[i].correlation_id, i};
	return gp_array_sort(b->keys, m->call_count, sizeof(*b->keys), compare_keys, m->calls);
}

struct wanted_call {
	const struct gp_call *calls;
	uint32_t correlation_id;
	uint64_t time_ns;
};

static bool is_key_until(const void *element, const void *context)
{
	const struct gp_call_key *key = element;
	const struct wanted_call *wanted = context;

	return key->correlation_id < wanted->correlation_id ||
	       (key->correlation_id == wanted->correlation_id &&
		wanted->calls[key->call].start_ns <= wanted->time_ns);
}

/* The last key not after (correlation id, time), or GP_NONE. */
static uint32_t find_key(struct gp_model_builder *b, uint32_t correlation_id, uint64_t time_ns)
{
	const struct wanted_call wanted = {b->model->calls, correlation_id, time_ns};
	uint32_t after = gp_array_lower_bound_near(b->keys, b->model->call_count, sizeof(*b->keys),
						   is_key_until, &wanted, &b->key_found);

	return after == 0 ? GP_NONE : after - 1;
}

/*
 * The number of all launches, where there are several, or 0: CUPTI 11.8 under a newer driver gives
 * every call the number of the first launch, and so every operation.
 */
static uint32_t find_stuck_number(const struct gp_model *m)
{
	const char *version = m->info[GP_INFO_CUPTI_VERSION];
	uint32_t number = 0, count = 0;

	if (!version || strtoul(version, NULL, 10) >= CUPTI_12_2)
		return 0;
	for (uint32_t i = 0; i < m->call_count; i++) {
		if (gp_model_api_class(m, m->calls[i].api) != GP_API_LAUNCH)
			continue;
		if (count++ > 0 && m->calls[i].correlation_id != number)
			return 0;
		number = m->calls[i].correlation_id;
	}
	return count > 1 ? number : 0;
}

static bool is_stuck(const struct gp_model *m, uint32_t correlation_id)
{
	return correlation_id != 0 && correlation_id == m->losses.stuck_number;
}

/* If all began after the time, as a clock that is a little off can have it, it is the first one. */
uint32_t gp_find_call(struct gp_model_builder *b, uint32_t correlation_id, uint64_t time_ns)
{
	const struct gp_model *m = b->model;
	const struct gp_call_key *keys = b->keys;
	uint32_t at = find_key(b, correlation_id, time_ns);

	if (correlation_id == 0 || is_stuck(m, correlation_id))
		return GP_NONE;
	if (at != GP_NONE && keys[at].correlation_id == correlation_id)
		return keys[at].call;
	at = at == GP_NONE ? 0 : at + 1;
	if (at < m->call_count && keys[at].correlation_id == correlation_id)
		return keys[at].call;
	return GP_NONE;
}

/* Returns how many operations no call started. */
static uint32_t match_ops(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	uint32_t without_call = 0;

	for (uint32_t i = 0; i < m->op_count; i++) {
		struct gp_op *op = &m->ops[i];
		uint64_t time_ns = op->untimed ? UINT64_MAX : op->start_ns;

		op->call = gp_find_call(b, op->correlation_id, time_ns);
		if (op->call == GP_NONE)
			without_call++;
		else if (op->untimed)
			op->start_ns = op->end_ns = m->calls[op->call].start_ns;
	}
	return without_call;
}

static void account_for_ops(struct gp_model *m)
{
	for (uint32_t i = 0; i < m->op_count; i++) {
		const struct gp_op *op = &m->ops[i];

		if (op->call != GP_NONE)
			continue;
		if (gp_model_paused_before(m, op->start_ns))
			m->losses.ops_outside++;
		else if (!is_stuck(m, op->correlation_id))
			m->losses.ops_without_call++;
	}
}

/* ---- the operations of a call ---- */

static int compare_ops(const void *a, const void *b, const void *context)
{
	const struct gp_op *left = a, *right = b;

	(void)context;
	if (left->device_id != right->device_id)
		return left->device_id < right->device_id ? -1 : 1;
	if (left->context_id != right->context_id)
		return left->context_id < right->context_id ? -1 : 1;
	if (left->stream_id != right->stream_id)
		return left->stream_id < right->stream_id ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

static int compare_links(const void *a, const void *b, const void *context)
{
	const struct gp_op *ops = context;
	uint64_t left = ops[*(const uint32_t *)a].start_ns;
	uint64_t right = ops[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

/* Sorts the list that begins at *first by start; links has room for all operations. */
static int sort_list(struct gp_op *ops, uint32_t *first, uint32_t *links)
{
	uint32_t count = 0;

	for (uint32_t at = *first; at != GP_NONE; at = ops[at].next_op)
		links[count++] = at;
	if (count < 2)
		return 0;
	if (gp_array_sort(links, count, sizeof(*links), compare_links, ops) != 0)
		return -ENOMEM;
	*first = links[0];
	for (uint32_t i = 0; i < count; i++)
		ops[links[i]].next_op = i + 1 < count ? links[i + 1] : GP_NONE;
	return 0;
}

/*
 * Lists are in the order of the operations; true: one of them is not in order of start, being of
 * several streams.
 */
static bool link_as_they_stand(struct gp_model *m)
{
	bool is_unordered = false;

	for (uint32_t i = m->op_count; i-- > 0;) {
		struct gp_op *op = &m->ops[i];

		if (op->call == GP_NONE)
			continue;
		op->next_op = m->calls[op->call].first_op;
		is_unordered |=
			op->next_op != GP_NONE && m->ops[op->next_op].start_ns < op->start_ns;
		m->calls[op->call].first_op = i;
	}
	return is_unordered;
}

static int link_ops(struct gp_model *m)
{
	uint32_t *links;
	int result;

	if (!link_as_they_stand(m))
		return 0;
	links = gp_spill_take(((size_t)m->op_count + 1) * sizeof(*links));
	result = links ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < m->call_count && result == 0; i++)
		result = sort_list(m->ops, &m->calls[i].first_op, links);
	gp_spill_free(links);
	return result;
}

/* ---- launches without an operation ---- */

/* A kernel is recorded where recording was on from its launch's beginning to its end. */
static bool pauses_during(const struct gp_model *m, const struct gp_call *call)
{
	return !gp_model_records_at(m, call->start_ns) ||
	       !gp_model_records_at(m, gp_call_end_ns(call));
}

static void account_for_launch(struct gp_model *m, const struct gp_call *call)
{
	if (call->captured)
		m->losses.launches_captured++;
	else if (call->status != 0)
		m->losses.launches_failed++;
	else if (pauses_during(m, call))
		m->losses.launches_outside++;
	else if (is_stuck(m, call->correlation_id))
		m->losses.launches_unnumbered++;
	else
		m->losses.launches_without_op++;
}

/* Also kernels whose names came too late for the filter. */
static void explain_filtered(struct gp_model *m)
{
	uint64_t kernels = m->counters[GP_COUNTER_LEFT_OUT_KERNELS];
	uint64_t launches = m->counters[GP_COUNTER_LEFT_OUT_LAUNCHES];
	uint64_t explained = kernels > launches ? kernels - launches : 0;

	if (explained > m->losses.launches_without_op)
		explained = m->losses.launches_without_op;
	m->losses.launches_left_out = explained;
	m->losses.launches_without_op -= explained;
}

/*
 * Other recorders do not say which launches were captured into a graph: those of a thread between
 * the beginning and the end of a capture that have no operation.
 */
static void mark_captured(struct gp_model *m)
{
	bool captures = false;

	for (uint32_t i = 0; i < m->call_count; i++) {
		struct gp_call *call = &m->calls[i];
		uint8_t class = gp_model_api_class(m, call->api);

		if (i > 0 && call[-1].thread_id != call->thread_id)
			captures = false;
		if (class == GP_API_CAPTURE_BEGIN || class == GP_API_CAPTURE_END)
			captures = class == GP_API_CAPTURE_BEGIN && call->status == 0;
		if (captures && call->first_op == GP_NONE &&
		    (class == GP_API_LAUNCH || class == GP_API_COPY || class == GP_API_MEMSET))
			call->captured = true;
	}
}

/* Whether a copy or memset without an operation should have one. */
static bool lacks_copy(const struct gp_model *m, const struct gp_call *call, uint8_t class)
{
	return (class == GP_API_COPY || class == GP_API_MEMSET) && call->status == 0 &&
	       !call->captured && !is_stuck(m, call->correlation_id);
}

/*
 * Counts the operations that each call lacks. Copies may rightly have no record (within the host,
 * of no bytes): so only copies after the last call with a record count.
 */
static void account_for_calls(struct gp_model *m)
{
	uint64_t last_ns = 0, last_copy_ns = 0;

	for (uint32_t i = 0; i < m->call_count; i++) {
		const struct gp_call *call = &m->calls[i];
		uint8_t class;

		if (call->first_op != GP_NONE) {
			last_ns = call->start_ns > last_ns ? call->start_ns : last_ns;
			continue;
		}
		class = gp_model_api_class(m, call->api);
		m->losses.graphs_without_op += gp_model_lacks_graph(m, call);
		if (class == GP_API_LAUNCH)
			account_for_launch(m, call);
		else if (lacks_copy(m, call, class) && call->start_ns > last_copy_ns)
			last_copy_ns = call->start_ns;
	}
	for (uint32_t i = 0; last_copy_ns > last_ns && i < m->call_count; i++) {
		const struct gp_call *call = &m->calls[i];

		if (call->start_ns > last_ns && call->first_op == GP_NONE &&
		    lacks_copy(m, call, gp_model_api_class(m, call->api)))
			m->losses.copies_in_flight++;
	}
}

/* CUPTI reports a stream during the call that creates it. */
static int find_makers(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;

	m->stream_calls = malloc(((size_t)m->stream_count + 1) * sizeof(*m->stream_calls));
	if (!m->stream_calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->stream_count; i++)
		m->stream_calls[i] = gp_find_call(b, m->streams[i].correlation_id, UINT64_MAX);
	return 0;
}

/* Whether something that the GPU should have done has no record. */
static bool lacks_record(const struct gp_model *m, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(m, call->api);

	return call->first_op == GP_NONE && call->status == 0 && !call->captured &&
	       (class == GP_API_LAUNCH || class == GP_API_GRAPH_LAUNCH || class == GP_API_COPY ||
		class == GP_API_MEMSET);
}

/*
 * CUPTI may refuse a final flush when it has no more records. A model without all calls cannot
 * tell.
 */
static void forgive_refused_flush(struct gp_model *m)
{
	if (m->counters[GP_COUNTER_EXIT_FLUSHES_REFUSED] == 0 || m->call_count == 0 ||
	    !gp_model_is_whole(m))
		return;
	for (uint32_t i = 0; i < m->call_count; i++)
		if (lacks_record(m, &m->calls[i]))
			return;
	m->counters[GP_COUNTER_EXIT_FLUSHES_REFUSED] = 0;
}

/* ---- where recording was switched on ---- */

static void keep_earlier(const struct gp_model *m, uint32_t *first, uint32_t op)
{
	if (op != GP_NONE && (*first == GP_NONE || m->ops[op].start_ns < m->ops[*first].start_ns))
		*first = op;
}

/* One pass over the operations and one over the gates, however many there are of either. */
static void find_first_ops(struct gp_model *m)
{
	uint32_t later = GP_NONE;

	if (m->gate_count == 0)
		return;
	for (uint32_t i = 0; i < m->op_count; i++) {
		uint32_t gates =
			m->ops[i].untimed ? 0 : gp_model_gates_until(m, m->ops[i].start_ns);

		if (gates > 0)
			keep_earlier(m, &m->gates[gates - 1].first_op, i);
	}
	for (uint32_t i = m->gate_count; i-- > 0;) {
		keep_earlier(m, &m->gates[i].first_op, later);
		later = m->gates[i].first_op;
	}
}

int gp_join_ops(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;

	m->losses.stuck_number = find_stuck_number(m);
	if (make_keys(b) != 0 || find_makers(b) != 0)
		return -ENOMEM;
	if (match_ops(b) > 0) {
		if (gp_join_conditionals(b) != 0)
			return -ENOMEM;
		account_for_ops(m);
	}
	if (gp_array_sort(m->ops, m->op_count, sizeof(*m->ops), compare_ops, NULL) != 0 ||
	    gp_untime_contradicted(m) != 0 || link_ops(m) != 0)
		return -ENOMEM;
	if (m->recorder)
		mark_captured(m);
	account_for_calls(m);
	explain_filtered(m);
	forgive_refused_flush(m);
	find_first_ops(m);
	return 0;
}
