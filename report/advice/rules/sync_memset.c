#include "report/advice/rules/rules.h"

#include "report/advice/rules/advisor.h"

/* cudaMemset of device memory does not block the host. */
static bool blocks_host(const struct gp_op *op)
{
	return op && op->kind == GP_OP_SET && !(op->flags & GP_COPY_ASYNC) &&
	       (op->destination_kind == GP_COPY_PINNED || op->destination_kind == GP_COPY_MANAGED);
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_call_list *memsets = gp_advisor_calls(advisor, GP_API_MEMSET);

	for (uint32_t i = 0; i < memsets->count; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, memsets, i);
		const struct gp_op *op = gp_advisor_op(advisor, call);
		struct gp_case *found;
		struct gp_idle_gap *idle_gap;
		uint64_t saves_ns;

		if (!blocks_host(op))
			continue;
		found = gp_advisor_case(advisor, gp_advisor_site(advisor, call),
					op->destination_kind, 0);
		saves_ns = gp_advisor_wait_saves_ns(advisor, call, UINT64_MAX, &idle_gap);
		gp_advisor_add(advisor, found, call->start_ns, call->duration_ns, saves_ns,
			       idle_gap);
		gp_advisor_show(advisor, found, call);
		found->bytes += op->bytes;
	}
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	(void)advisor;
	gp_document_add_text(values, "memory",
			     found->detail == GP_COPY_PINNED ? "page-locked" : "managed");
}

const struct gp_rule gp_rule_sync_memset = {
	.id = "sync-memset",
	.title = "synchronous memsets",
	.found =
		"[{?step_count}synchronous memsets of {memory} memory block the host for {step_time_ns} in each step ({step_count} time[{!step_count=1}s], {step_bytes})"
		"|{count} synchronous memsets of {memory} memory, {bytes} in all, blocked the host for {time_ns}]",
	.change =
		"use cudaMemsetAsync in the stream that uses the memory[{?memory=page-locked}; or memset() on the host]",
	.meaning =
		"cudaMemset of page-locked or managed memory returns after the GPU has done it and all earlier operations. The saving is at most the time in the calls, and at most the time for which the GPU was idle after them.",
	.remedy =
		"Use cudaMemsetAsync in the stream that uses the memory; for host memory use memset().",
	.ignore = "The host reads the memory immediately.",
	.threshold = {.saves_percent = 2,
		      .saves_ns = 100000,
		      .count = 8,
		      .reason = "Fewer memsets are setup, and less time is noise between two runs"},
	.look = look,
	.add_values = add_values,
};
