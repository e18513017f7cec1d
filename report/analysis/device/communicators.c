#include "report/analysis/device/communicators.h"

#include <stdbool.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/payload.h"

#define MOST_RANGES 2048u /* ranges that are checked for one operation */

static bool begins_until(const void *element, const void *key)
{
	const struct gp_range *range = element;
	const struct gp_call *call = key;

	return range->thread_id != call->thread_id ? range->thread_id < call->thread_id
						   : range->start_ns <= call->start_ns;
}

static void take_field(void *context, const struct gp_payload_field *field)
{
	uint64_t *communicator = context;

	if (field->kind != GP_PAYLOAD_NONE && strcmp(field->name, "NCCL communicator ID") == 0)
		*communicator = field->value;
}

static uint64_t communicator_in(const struct gp_model *model, const struct gp_range *range)
{
	uint64_t communicator = 0;

	if (range->extended_payload != GP_NONE)
		gp_payload_decode(model, range->extended_payload, take_field, &communicator);
	return communicator;
}

static bool is_of_nccl(const struct gp_model *model, const struct gp_range *range)
{
	return range->domain < model->domain_count &&
	       strcmp(model->domains[range->domain], "NCCL") == 0;
}

/* A group whose end a launch is in, on the way back to its start. */
struct group {
	uint32_t inner;        /* ends of groups within it whose starts are still to come */
	uint64_t communicator; /* of all collectives so far; 0 = there was none */
	bool is_whole;         /* its start was reached */
};

/* Whether that range, which ended before the launch, leaves something to be found farther back. */
static bool goes_on(struct group *group, const struct gp_model *model, const struct gp_range *range)
{
	const char *text = gp_model_range_text(model, range);
	uint64_t communicator = communicator_in(model, range);

	if (strcmp(text, "ncclGroupStart") == 0) {
		group->is_whole = group->inner == 0;
		return group->inner-- > 0;
	}
	group->inner += strcmp(text, "ncclGroupEnd") == 0;
	if (communicator == 0 || communicator == group->communicator)
		return true;
	if (group->communicator != 0) { /* they are of several */
		group->communicator = 0;
		return false;
	}
	group->communicator = communicator;
	return true;
}

/*
 * From the last range that had begun then: the thread's, in the order of time.  0 where a group's
 * start is not found: it may have others.
 */
static uint64_t search_back(const struct gp_model *model, const struct gp_call *call, uint32_t at)
{
	struct group group = {0};
	bool in_end = false;

	for (uint32_t steps = 0; at > 0 && steps < MOST_RANGES; steps++) {
		const struct gp_range *range = &model->ranges[--at];
		bool is_around = range->end_ns >= call->start_ns;

		if (range->thread_id != call->thread_id)
			break;
		if (!is_of_nccl(model, range))
			continue;
		if (is_around && communicator_in(model, range) != 0)
			return communicator_in(model, range);
		if (is_around)
			in_end |= strcmp(gp_model_range_text(model, range), "ncclGroupEnd") == 0;
		else if (!in_end || !goes_on(&group, model, range))
			break;
	}
	return group.is_whole ? group.communicator : 0;
}

uint64_t gp_communicator_of(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_call *call = op->call != GP_NONE ? &model->calls[op->call] : NULL;

	if (!call || model->range_count == 0)
		return 0;
	return search_back(model, call,
			   gp_array_lower_bound(model->ranges, model->range_count,
						sizeof(*model->ranges), begins_until, call));
}
