#include <errno.h>

#include "report/array.h"
#include "report/device_waits.h"
#include "report/load.h"

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

static int compare_numbers(const void *a, const void *b, const void *context)
{
	const struct gp_in_flight *left = a, *right = b;

	(void)context;
	return (left->correlation_id > right->correlation_id) -
	       (left->correlation_id < right->correlation_id);
}

/* Calls and operations are not here: what CUPTI gave nothing after. */
static int join_totals(struct gp_model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->in_flight_count; i++)
		if (m->in_flight[i].name != GP_NONE &&
		    m->in_flight[i].time_ns > m->last_delivery_ns)
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

/* What has no record at one look may have one by the next, and nearly always does; what has ended may have none for long. */
int gp_join_in_flight(struct gp_load *load)
{
	struct gp_model *m = load->model;
	uint32_t count = m->in_flight_count;
	struct gp_device_waits waits;
	int result;

	if (m->totals)
		return join_totals(m);
	if (count == 0)
		return 0;
	result = gp_device_waits_find(m, &waits);
	m->in_flight_count = 0;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct gp_in_flight one = m->in_flight[i];

		one.call = gp_find_call(load, one.correlation_id, UINT64_MAX);
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
	return 0;
}
