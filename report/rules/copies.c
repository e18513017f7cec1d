#include "report/rules/copies.h"

#define STAGED_BYTES 65536u

/* A call that only puts a copy into a stream takes less. */
#define HELD_UP_NS 20000u

const struct gp_op *gp_host_copy(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_op *op = gp_advisor_class(advisor, call) == GP_API_COPY
					 ? gp_advisor_op(advisor, call)
					 : NULL;

	if (!op || op->kind != GP_OP_COPY ||
	    (op->copy_kind != GP_COPY_HTOD && op->copy_kind != GP_COPY_DTOH))
		return NULL;
	return op;
}

bool gp_copy_is_pageable(const struct gp_op *op)
{
	return op->source_kind == GP_MEMORY_KIND_PAGEABLE ||
	       op->destination_kind == GP_MEMORY_KIND_PAGEABLE;
}

bool gp_copy_is_staged(const struct gp_op *op)
{
	return op->copy_kind == GP_COPY_HTOD && op->bytes <= STAGED_BYTES;
}

uint64_t gp_copy_waited_ns(const struct gp_advisor *advisor, const struct gp_call *call,
			   const struct gp_op *op)
{
	uint64_t end_ns = op->start_ns < gp_call_end_ns(call) ? op->start_ns : gp_call_end_ns(call);

	return end_ns <= call->start_ns
		       ? 0
		       : gp_advisor_busy_ns(advisor, op->device_id, call->start_ns, end_ns);
}

/*
 * What a call took for its copy itself; what is far beyond that, the system took from the thread.
 */
static uint64_t own_ns(const struct gp_call *call, const struct gp_op *op, uint64_t waited_ns)
{
	uint64_t rest_ns = call->duration_ns - waited_ns;
	uint64_t most_ns = 2 * (op->end_ns - op->start_ns) + HELD_UP_NS;

	return rest_ns < most_ns ? rest_ns : most_ns;
}

bool gp_copy_waits_for_others(const struct gp_advisor *advisor, const struct gp_call *call,
			      const struct gp_op *op)
{
	bool blocks = !(op->flags & GP_OP_ASYNC) ||
		      (gp_copy_is_pageable(op) && op->copy_kind == GP_COPY_DTOH);
	uint64_t waited_ns = gp_copy_waited_ns(advisor, call, op);

	return blocks && call->duration_ns >= HELD_UP_NS &&
	       waited_ns >= own_ns(call, op, waited_ns);
}

struct gp_case *gp_copy_case(struct gp_advisor *advisor, const struct gp_call *call,
			     const struct gp_op *op)
{
	return gp_advisor_case(advisor, gp_advisor_site(advisor, call), op->copy_kind, 0);
}

struct gp_case *gp_copy_add(struct gp_advisor *advisor, const struct gp_call *call,
			    const struct gp_op *op)
{
	struct gp_case *found = gp_copy_case(advisor, call, op);
	uint64_t waited_ns = gp_copy_waited_ns(advisor, call, op);
	struct gp_lull *lull;
	uint64_t idle_ns = gp_advisor_wait_saves_ns(advisor, call, &lull);
	uint64_t copied_ns = own_ns(call, op, waited_ns);

	gp_advisor_add(advisor, found, waited_ns + copied_ns,
		       copied_ns + (idle_ns < waited_ns ? idle_ns : waited_ns), lull);
	found->bytes += op->bytes;
	return found;
}
