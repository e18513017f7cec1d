#include "report/advice/rules/next_wait.h"

#include <string.h>

#include "report/advice/rules/launch_places.h"

/* cudaFree waits for the kernels that can use the memory; ordering streams does not wait. */
static bool waits_for_gpu(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_model *model = advisor->model;
	uint8_t class = gp_advisor_class(advisor, call);

	if (class == GP_API_SYNC)
		return strstr(gp_model_api(model, call->api).name, "Synchronize") != NULL;
	return class == GP_API_FREE && call->memory != GP_NONE &&
	       model->memory[call->memory].memory_kind == GP_MEMORY_DEVICE;
}

/* No farther than a batch of calls. */
static const struct gp_call *end_of_batch(const struct gp_advisor *advisor,
					  const struct gp_call *call)
{
	const struct gp_call *end = advisor->model->calls + advisor->model->call_count;

	return (size_t)(end - call) > GP_BATCH_CALLS ? call + GP_BATCH_CALLS : end;
}

/* The next wait of the thread; NULL: a launch or copy comes first, or there is none. */
static const struct gp_call *find_next(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_call *end = end_of_batch(advisor, call);
	uint32_t thread_id = call->thread_id;

	for (call++; call < end && call->thread_id == thread_id; call++) {
		uint8_t class = gp_advisor_class(advisor, call);

		if (waits_for_gpu(advisor, call))
			return call;
		if (call->first_op != GP_NONE || class == GP_API_LAUNCH ||
		    class == GP_API_GRAPH_LAUNCH || class == GP_API_COPY || class == GP_API_MEMSET)
			return NULL;
	}
	return NULL;
}

/* Waits of one function at several lines are one finding. */
static bool is_of_finding(struct gp_advisor *advisor, const struct gp_call *call,
			  const struct gp_call *next)
{
	uint32_t site = gp_advisor_site(advisor, call), next_site = gp_advisor_site(advisor, next);

	return next->api == call->api &&
	       (site == next_site || gp_launch_places_functions(advisor, site) ==
					     gp_launch_places_functions(advisor, next_site));
}

/* The same of another finding: one place may wait for several streams in turn. */
static const struct gp_call *find_other(struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_call *next = find_next(advisor, call);

	for (uint32_t i = 0; next && i < GP_BATCH_CALLS; i++) {
		if (!is_of_finding(advisor, call, next))
			return next;
		next = find_next(advisor, next);
	}
	return NULL;
}

/* The host's work between the two waits would overlap with the GPU. */
void gp_next_wait_add(struct gp_advisor *advisor, struct gp_next_wait *own,
		      const struct gp_call *call, uint64_t saves_ns)
{
	const struct gp_call *next = find_other(advisor, call);
	uint64_t end_ns = gp_call_end_ns(call), alone_ns, ns;
	uint32_t site;

	if (!next)
		return;
	alone_ns = next->start_ns > end_ns ? next->start_ns - end_ns : 0;
	ns = saves_ns > alone_ns ? saves_ns - alone_ns : 0;
	site = gp_advisor_site(advisor, next);
	own->ns += ns;
	gp_vote(&own->site, &own->votes_ns, site, ns);
	if (own->site == site)
		own->api = gp_advisor_api(advisor, next);
}

void gp_next_wait_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			     const struct gp_next_wait *own, struct gp_document *values)
{
	if (own->ns == 0 || own->ns * 2 < found->saves_ns)
		return;
	gp_advisor_add_text(advisor, values, "next_wait", own->api);
	gp_advisor_add_place(advisor, values, "next_wait_place", (uint32_t)own->site);
}

static uint64_t busy_ns(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return gp_advisor_busy_ns(advisor,
				  gp_model_context_device(advisor->model, call->context_id),
				  call->start_ns, gp_call_end_ns(call));
}

bool gp_next_wait_follows(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return busy_ns(advisor, call) * 2 >= call->duration_ns && waits_for_gpu(advisor, call) &&
	       find_next(advisor, call) != NULL;
}

uint64_t gp_next_wait_after_ns(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_call *end = end_of_batch(advisor, call);
	uint32_t thread_id = call->thread_id;

	for (call++; call < end && call->thread_id == thread_id; call++)
		if (call->duration_ns >= GP_BLOCKING_NS && waits_for_gpu(advisor, call) &&
		    busy_ns(advisor, call) >= GP_OPERATION_GAP_NS)
			return call->start_ns;
	return UINT64_MAX;
}
