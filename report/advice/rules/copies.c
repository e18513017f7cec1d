#include "report/advice/rules/copies.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/peak_bandwidth.h"
#include "report/base/spill_memory.h"
#include "report/trace/cuda_names.h"

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
	return op->source_kind == GP_COPY_PAGEABLE || op->destination_kind == GP_COPY_PAGEABLE;
}

/* The driver sends so few bytes with the command, and the call returns immediately. */
static bool is_staged(const struct gp_op *op)
{
	return op->copy_kind == GP_COPY_HTOD && op->bytes <= GP_STAGED_BYTES;
}

uint64_t gp_copy_waited_ns(const struct gp_advisor *advisor, const struct gp_call *call,
			   const struct gp_op *op)
{
	uint64_t end_ns = op->start_ns < gp_call_end_ns(call) ? op->start_ns : gp_call_end_ns(call);

	return end_ns <= call->start_ns
		       ? 0
		       : gp_advisor_busy_ns(advisor, op->device_id, call->start_ns, end_ns);
}

/* The time of a call for its own copy.  Much more than the copy takes is other work, or preemption. */
static uint64_t own_ns(const struct gp_call *call, const struct gp_op *op, uint64_t waited_ns)
{
	uint64_t rest_ns = call->duration_ns - waited_ns;
	uint64_t most_ns = 2 * (op->end_ns - op->start_ns) + GP_BLOCKING_NS;

	return rest_ns < most_ns ? rest_ns : most_ns;
}

bool gp_copy_waits_for_others(const struct gp_advisor *advisor, const struct gp_call *call,
			      const struct gp_op *op)
{
	bool blocks = !(op->flags & GP_COPY_ASYNC) ||
		      (gp_copy_is_pageable(op) && op->copy_kind == GP_COPY_DTOH);
	uint64_t waited_ns = gp_copy_waited_ns(advisor, call, op);

	return blocks && call->duration_ns >= GP_BLOCKING_NS &&
	       waited_ns >= own_ns(call, op, waited_ns);
}

struct gp_case *gp_copy_case(struct gp_advisor *advisor, const struct gp_call *call,
			     const struct gp_op *op)
{
	return gp_advisor_case(advisor, gp_advisor_site(advisor, call), op->copy_kind, 0);
}

/* ---- the cases ---- */

/* A copy of a case, and the time of its call without the wait for other work. */
struct rest {
	uint32_t number; /* of its case */
	uint32_t copy;   /* in the advisor's list */
	uint64_t ns;
};

struct rests {
	struct rest *rows;
	uint32_t count, capacity;
};

GP_COMPARE_BY_TWO(compare_rests, struct rest, number, ns)

static void gather(struct gp_advisor *advisor, gp_copy_filter *filter, struct rests *rests)
{
	const struct gp_call_list *copies = gp_advisor_calls(advisor, GP_API_COPY);

	for (uint32_t i = 0; i < copies->count; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, copies, i);
		const struct gp_op *op = gp_host_copy(advisor, call);
		const struct gp_case *found;

		if (!op || !filter(op) || is_staged(op) ||
		    gp_copy_waits_for_others(advisor, call, op))
			continue;
		found = gp_copy_case(advisor, call, op);
		gp_array_grow_spill(&rests->rows, &rests->capacity, rests->count,
				    sizeof(*rests->rows));
		rests->rows[rests->count++] = (struct rest){
			.number = (uint32_t)(found - advisor->cases),
			.copy = i,
			.ns = call->duration_ns - gp_copy_waited_ns(advisor, call, op)};
	}
}

/* A call takes at most twice the median of its case; the rest is preemption. */
static void put_limits(struct gp_advisor *advisor, struct rests *rests)
{
	struct gp_copies *own;

	gp_array_sort(rests->rows, rests->count, sizeof(*rests->rows), compare_rests, NULL);
	for (uint32_t first = 0, end; first < rests->count; first = end) {
		for (end = first;
		     end < rests->count && rests->rows[end].number == rests->rows[first].number;)
			end++;
		own = advisor->cases[rests->rows[first].number].own;
		own->most_ns = 2 * rests->rows[first + (end - first) / 2].ns;
	}
}

/* The copy is at the end of its call. */
static void add(struct gp_advisor *advisor, const struct rest *rest)
{
	const struct gp_call *call =
		gp_advisor_call(advisor, gp_advisor_calls(advisor, GP_API_COPY), rest->copy);
	const struct gp_op *op = gp_host_copy(advisor, call);
	struct gp_case *found = &advisor->cases[rest->number];
	struct gp_copies *own = found->own;
	uint64_t waited_ns = call->duration_ns - rest->ns, end_ns = gp_call_end_ns(call);
	uint64_t rest_ns = rest->ns < own->most_ns ? rest->ns : own->most_ns;
	struct gp_idle_gap *idle_gap;
	uint64_t idle_ns = gp_advisor_wait_saves_ns(advisor, call, UINT64_MAX, &idle_gap);

	gp_advisor_stretch(advisor, found, end_ns - rest_ns, end_ns, 1);
	gp_advisor_add(advisor, found, call->start_ns, call->duration_ns,
		       idle_ns < waited_ns ? idle_ns : waited_ns, idle_gap);
	gp_advisor_show(advisor, found, call);
	found->bytes += op->bytes;
	if (found->count == 1 || call->start_ns < own->first_ns)
		own->first_ns = call->start_ns;
	if (end_ns > own->last_ns)
		own->last_ns = end_ns;
	own->pageable += gp_copy_is_pageable(op);
	own->copied_ns += op->end_ns - op->start_ns;
	gp_copy_peak_add(advisor->model, op, &own->peak_ns, &own->without_peak);
}

void gp_copies_look(struct gp_advisor *advisor, gp_copy_filter *filter)
{
	struct rests rests = {0};

	gather(advisor, filter, &rests);
	put_limits(advisor, &rests);
	for (uint32_t i = 0; i < rests.count; i++)
		add(advisor, &rests.rows[i]);
	gp_advisor_save_once(advisor);
	gp_spill_free(rests.rows);
}

bool gp_copies_are_results(const struct gp_case *found)
{
	return found->bytes <= found->count * GP_RESULT_BYTES;
}

void gp_copies_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			  struct gp_document *values)
{
	const struct gp_copies *own = found->own;

	(void)advisor;
	gp_document_add_text(values, "copy_kind", gp_copy_kind_name((uint8_t)found->detail));
	gp_document_add_number(values, "pageable_count", GP_UNIT_COUNT, own->pageable);
	gp_document_add_flag(values, "is_all_pageable", own->pageable == found->count);
	gp_document_add_flag(values, "is_result", gp_copies_are_results(found));
	if (gp_copies_are_results(found) || own->copied_ns == 0)
		return;
	gp_document_add(values, "gb_per_s", GP_UNIT_GB_PER_S,
			gp_value_rate(found->bytes, own->copied_ns));
	if (gp_copy_peak_is_known(own->without_peak, own->peak_ns, own->copied_ns))
		gp_document_add(values, "peak_percent", GP_UNIT_PERCENT,
				gp_value_percent((double)own->peak_ns, (double)own->copied_ns));
}
