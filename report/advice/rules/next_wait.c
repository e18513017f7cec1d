#include "report/advice/rules/next_wait.h"

#include <string.h>

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

/* The next wait of the thread; NULL: a launch or copy comes first, or there is none. */
static const struct gp_call *find_next(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_call *end = advisor->model->calls + advisor->model->call_count;
	uint32_t thread_id = call->thread_id;

	if ((size_t)(end - call) > GP_BATCH_CALLS)
		end = call + GP_BATCH_CALLS;
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

/* The same at another place: one place may wait for several streams in turn. */
static const struct gp_call *find_other(struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_call *next = find_next(advisor, call);

	for (uint32_t i = 0; next && i < GP_BATCH_CALLS; i++) {
		if (next->api != call->api ||
		    gp_advisor_site(advisor, next) != gp_advisor_site(advisor, call))
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

bool gp_next_wait_follows(const struct gp_advisor *advisor, const struct gp_call *call)
{
	uint16_t device_id = gp_model_context_device(advisor->model, call->context_id);
	uint64_t waited_ns =
		gp_advisor_busy_ns(advisor, device_id, call->start_ns, gp_call_end_ns(call));

	return waited_ns * 2 >= call->duration_ns && waits_for_gpu(advisor, call) &&
	       find_next(advisor, call) != NULL;
}
