/*
 * Synchronous memory sets.  Speaks where those of a call site on page-locked or managed memory
 * could save 2 % of the recorded time and 100 us, at least 8 of them.  On a device's own memory
 * cudaMemset does not hold up the host.
 */
#include "report/advice/rules/rules.h"

#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"

static bool holds_up(const struct gp_op *op)
{
	return op && op->kind == GP_OP_SET && !(op->flags & GP_COPY_ASYNC) &&
	       (op->destination_kind == GP_COPY_PINNED || op->destination_kind == GP_COPY_MANAGED);
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_call_list *sets = gp_advisor_calls(advisor, GP_API_MEMSET);

	for (uint32_t i = 0; i < sets->count; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, sets, i);
		const struct gp_op *op = gp_advisor_op(advisor, call);
		struct gp_case *found;
		struct gp_idle_gap *idle_gap;
		uint64_t saves_ns;

		if (!holds_up(op))
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

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out, "%s synchronous memsets of %s memory, %s in all, blocked the host for %s",
		gp_format_count(found->count).text,
		found->detail == GP_COPY_PINNED ? "page-locked" : "managed",
		gp_format_bytes(found->bytes).text, gp_format_ns(found->time_ns).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out, "use cudaMemsetAsync in the stream that needs it%s",
		found->detail == GP_COPY_PINNED ? "; or memset() on the host" : "");
}

const struct gp_rule gp_rule_sync_memset = {
	.id = "sync-memset",
	.title = "synchronous memsets",
	.meaning =
		"cudaMemset of page-locked or managed memory returns after the GPU has done it and all earlier operations. The saving is at most the time in the calls, as far as the GPU was idle after them.",
	.change =
		"Use cudaMemsetAsync in the stream that uses the memory; for host memory use memset().",
	.ignore = "The host reads the memory immediately.",
	.threshold = {.saves_percent = 2, .saves_ns = 100000, .count = 8},
	.look = look,
	.tell = tell,
	.advise = advise,
};
