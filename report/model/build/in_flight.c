#include <errno.h>

#include "report/base/array.h"
#include "report/model/build/device_waits.h"
#include "report/model/build/build.h"

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	const struct gp_in_flight *left = a, *right = b;
	uint64_t left_ns = calls[left->call].start_ns, right_ns = calls[right->call].start_ns;

	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left->call > right->call) - (left->call < right->call);
}

static bool is_same_call(const struct gp_model *m, uint32_t kept, uint32_t call)
{
	return kept > 0 && m->in_flight[kept - 1].call == call;
}

GP_COMPARE_BY(compare_numbers, struct gp_in_flight, correlation_id)

/* ---- launches that waited for their stream ---- */

static int compare_streams(const struct gp_stream_wait *wait, uint64_t stream, uint32_t era)
{
	if (wait->stream != stream)
		return wait->stream < stream ? -1 : 1;
	return (wait->era > era) - (wait->era < era);
}

/* The last one of a stream is its first here. */
static int compare_waits(const void *a, const void *b, const void *context)
{
	const struct gp_stream_wait *left = a, *right = b;
	int order = compare_streams(left, right->stream, right->era);

	(void)context;
	if (order != 0 || left->start_ns == right->start_ns)
		return order != 0 ? order : (int32_t)(right->correlation_id - left->correlation_id);
	return left->start_ns > right->start_ns ? -1 : 1;
}

static bool is_wait_before(const void *element, const void *key)
{
	const struct gp_in_flight *one = key;

	return compare_streams(element, one->stream, one->era) < 0;
}

/* Of one that is not in the trace nothing is known. */
static int sort_waits(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->stream_wait_count; i++) {
		struct gp_stream_wait *wait = &m->stream_waits[i];
		uint32_t call =
			m->totals ? GP_NONE : gp_find_call(b, wait->correlation_id, UINT64_MAX);

		if (call != GP_NONE)
			wait->start_ns = m->calls[call].start_ns;
		if (call != GP_NONE || m->totals)
			m->stream_waits[kept++] = *wait;
	}
	m->stream_wait_count = kept;
	return gp_array_sort(m->stream_waits, kept, sizeof(*m->stream_waits), compare_waits, NULL);
}

/*
 * Numbers of calls are given when these begin: without times, of calls of two threads that go on at
 * once the order of the numbers counts.
 */
static bool was_waited_for(const struct gp_model *m, const struct gp_in_flight *one)
{
	uint32_t at = gp_array_lower_bound(m->stream_waits, m->stream_wait_count,
					   sizeof(*m->stream_waits), is_wait_before, one);
	const struct gp_stream_wait *wait;

	if (one->stream == 0 || at == m->stream_wait_count)
		return false;
	wait = &m->stream_waits[at];
	if (compare_streams(wait, one->stream, one->era) != 0)
		return false;
	return m->totals ? (int32_t)(wait->correlation_id - one->correlation_id) > 0
			 : wait->start_ns >= gp_call_end_ns(&m->calls[one->call]);
}

/* ---- joining ---- */

/* The model has no calls and operations: keeps launches after which CUPTI delivered nothing. */
static int join_totals(struct gp_model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->in_flight_count; i++)
		if (m->in_flight[i].name != GP_NONE &&
		    m->in_flight[i].time_ns > m->last_delivery_ns &&
		    !was_waited_for(m, &m->in_flight[i]))
			m->in_flight[kept++] = m->in_flight[i];
	m->in_flight_count = kept;
	return gp_array_sort(m->in_flight, kept, sizeof(*m->in_flight), compare_numbers, NULL);
}

static void keep_each_once(struct gp_model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->in_flight_count; i++)
		if (!is_same_call(m, kept, m->in_flight[i].call))
			m->in_flight[kept++] = m->in_flight[i];
	m->in_flight_count = kept;
}

static void drop_waited_for(struct gp_model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->in_flight_count; i++)
		if (was_waited_for(m, &m->in_flight[i]))
			m->losses.launches_waited_for++;
		else
			m->in_flight[kept++] = m->in_flight[i];
	m->in_flight_count = kept;
}

/*
 * A launch without a record at one check mostly has one by the next; an ended one may lack its
 * record for long.
 */
int gp_join_in_flight(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	uint32_t count = m->in_flight_count;
	struct gp_device_waits waits;
	int result;

	if (count == 0)
		return 0;
	if (sort_waits(b) != 0)
		return -ENOMEM;
	if (m->totals)
		return join_totals(m);
	result = gp_device_waits_find(m, &waits);
	m->in_flight_count = 0;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct gp_in_flight one = m->in_flight[i];

		one.call = gp_find_call(b, one.correlation_id, UINT64_MAX);
		if (one.call != GP_NONE && one.name != GP_NONE &&
		    gp_model_lacks_kernel(m, &m->calls[one.call]) &&
		    !gp_device_waits_cover(&waits, &m->calls[one.call]))
			m->in_flight[m->in_flight_count++] = one;
	}
	gp_device_waits_free(&waits);
	if (result != 0 || gp_array_sort(m->in_flight, m->in_flight_count, sizeof(*m->in_flight),
					 compare_starts, m->calls) != 0)
		return -ENOMEM;
	keep_each_once(m);
	drop_waited_for(m);
	return 0;
}
