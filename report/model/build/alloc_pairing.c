#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/trace/memory_rules.h"
#include "report/base/spill_memory.h"

static uint8_t family_of(const struct gp_memory_event *event)
{
	return gp_memory_family(event->memory_kind);
}

static int compare_places(const void *a, const void *b, const void *context)
{
	const struct gp_memory_event *left = a, *right = b;

	(void)context;
	if (family_of(left) != family_of(right))
		return family_of(left) < family_of(right) ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static void join(struct gp_model *m, uint32_t allocation, uint32_t end)
{
	m->memory[allocation].other = end;
	m->memory[end].other = allocation;
	m->memory[end].bytes = m->memory[allocation].bytes;
	m->memory[end].device_id = m->memory[allocation].device_id;
	m->memory[end].memory_kind = m->memory[allocation].memory_kind;
}

/*
 * Walk the events place by place: each free ends the latest allocation that is still open there.
 * open[] is a stack within the place.
 */
static void join_places(struct gp_model *m, const uint32_t *order, uint32_t *open)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < m->memory_count; i++) {
		const struct gp_memory_event *event = &m->memory[order[i]];
		const struct gp_memory_event *last = &m->memory[order[i > 0 ? i - 1 : 0]];

		if (event->address != last->address || family_of(event) != family_of(last))
			depth = 0;
		if (event->op == GP_MEMORY_ALLOC)
			open[depth++] = order[i];
		else if (depth > 0)
			join(m, open[--depth], order[i]);
		else if (event->address != 0 && gp_model_paused_before(m, event->time_ns))
			m->losses.frees_outside++;
		else if (event->address != 0)
			m->losses.frees_unknown++;
	}
}

/* ---- allocations that ended with their context ---- */

GP_COMPARE_BY_TWO(compare_ends, struct gp_context_end, context_id, time_ns)

static bool is_earlier_end(const void *end, const void *key)
{
	return compare_ends(end, key, NULL) < 0;
}

/* The first end of that context at or after a time, or NULL. */
static const struct gp_context_end *find_end(const struct gp_model_builder *b, uint32_t context_id,
					     uint64_t time_ns)
{
	const struct gp_context_end key = {context_id, time_ns};
	uint32_t at = gp_array_lower_bound(b->context_ends, b->context_end_count,
					   sizeof(*b->context_ends), is_earlier_end, &key);

	if (at == b->context_end_count || b->context_ends[at].context_id != context_id)
		return NULL;
	return &b->context_ends[at];
}

/* Give each allocation that is still open, and ended with its context, a free without a call. */
static int free_with_contexts(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	uint32_t count = m->memory_count;

	if (gp_array_sort(b->context_ends, b->context_end_count, sizeof(*b->context_ends),
			  compare_ends, NULL) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && b->context_end_count > 0; i++) {
		const struct gp_memory_event *event = &m->memory[i];
		const struct gp_context_end *end = NULL;

		if (event->op == GP_MEMORY_ALLOC && event->other == GP_NONE &&
		    event->memory_kind != GP_MEMORY_PHYSICAL) /* which no context owns */
			end = find_end(b, m->calls[event->call].context_id, event->time_ns);
		if (!end)
			continue;
		if (gp_array_grow_spill(&m->memory, &b->capacity.memory, m->memory_count,
					sizeof(*m->memory)) != 0)
			return -ENOMEM;
		m->memory[m->memory_count++] = (struct gp_memory_event){
			.time_ns = end->time_ns,
			.address = m->memory[i].address,
			.call = GP_NONE,
			.op = GP_MEMORY_FREE,
		};
		join(m, i, m->memory_count - 1);
	}
	return 0;
}

/* ---- the order of time ---- */

GP_COMPARE_BY(compare_times, struct gp_memory_event, time_ns)

/* Sorts the events by time, and updates the indices of events. */
static int order_events(struct gp_model *m)
{
	uint32_t count = m->memory_count;
	uint32_t *order = gp_array_order(m->memory, count, sizeof(*m->memory), compare_times, NULL);
	uint32_t *place =
		gp_spill_take(((size_t)count + 1) * sizeof(*place)); /* the reverse of order */
	int result = -ENOMEM;

	if (!order || !place)
		goto done;
	for (uint32_t i = 0; i < count; i++)
		place[order[i]] = i;
	for (uint32_t i = 0; i < count; i++) {
		struct gp_memory_event *event = &m->memory[i];

		if (event->other != GP_NONE)
			event->other = place[event->other];
		if (event->call != GP_NONE)
			m->calls[event->call].memory = place[i];
	}
	result = gp_array_sort(m->memory, count, sizeof(*m->memory), compare_times, NULL);
done:
	gp_spill_free(order);
	gp_spill_free(place);
	return result;
}

/*
 * A free that waits for the device gives the memory up at its end, unless it is somebody else's
 * before.
 */
static void settle_frees(struct gp_model *m, const uint32_t *order)
{
	for (uint32_t i = 0; i < m->memory_count; i++) {
		struct gp_memory_event *event = &m->memory[order[i]];
		const struct gp_memory_event *next =
			i + 1 < m->memory_count ? &m->memory[order[i + 1]] : NULL;
		uint64_t end_ns = event->time_ns;

		if (event->op != GP_MEMORY_FREE)
			continue;
		end_ns += m->calls[event->call].duration_ns;
		if (next && next->op == GP_MEMORY_ALLOC && next->address == event->address &&
		    family_of(next) == family_of(event) && next->time_ns <= end_ns)
			end_ns =
				next->time_ns > event->time_ns ? next->time_ns - 1 : event->time_ns;
		event->time_ns = end_ns;
	}
}

static int join_frees(struct gp_model *m)
{
	uint32_t *order = gp_array_order(m->memory, m->memory_count, sizeof(*m->memory),
					 compare_places, NULL);
	uint32_t *open = gp_spill_take(((size_t)m->memory_count + 1) * sizeof(*open));
	int result = order && open ? 0 : -ENOMEM;

	if (result == 0) {
		join_places(m, order, open);
		settle_frees(m, order);
	}
	gp_spill_free(order);
	gp_spill_free(open);
	return result;
}

/*
 * An event's time is when it takes effect: memory is there when the call that makes it returns.
 * While frees and allocations are joined, that of a free is its beginning, for another thread may
 * be given the memory before it has returned.
 */
int gp_join_memory(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;

	for (uint32_t i = 0; i < m->memory_count; i++) {
		const struct gp_call *call = &m->calls[m->memory[i].call];

		m->memory[i].time_ns = call->start_ns;
		if (m->memory[i].op == GP_MEMORY_ALLOC)
			m->memory[i].time_ns += call->duration_ns;
	}
	if (gp_join_physical(b) != 0 || join_frees(m) != 0 || free_with_contexts(b) != 0)
		return -ENOMEM;
	return order_events(m);
}
