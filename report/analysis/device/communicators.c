#include "report/analysis/device/communicators.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/idle/call_cause.h"
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

/* The fields of a range's payload. */
struct fields {
	struct gp_nccl_call call;
	uint64_t ranks;
};

static void take_field(void *context, const struct gp_payload_field *field)
{
	struct fields *fields = context;

	if (field->kind == GP_PAYLOAD_NONE)
		return;
	if (strcmp(field->name, "NCCL communicator ID") == 0)
		fields->call.communicator = field->value;
	else if (strcmp(field->name, "Message size [bytes]") == 0)
		fields->call.bytes = field->value;
	else if (strcmp(field->name, "No. of ranks") == 0 ||
		 strcmp(field->name, "No. of devices") == 0)
		fields->ranks = field->value;
}

static struct fields fields_of(const struct gp_model *model, const struct gp_range *range)
{
	struct fields fields = {.ranks = 0};

	if (range->extended_payload != GP_NONE)
		gp_payload_decode(model, range->extended_payload, take_field, &fields);
	return fields;
}

/* A group during whose end the kernel was launched; the search goes back to its start. */
struct group {
	uint32_t inner;           /* inner groups whose end was found, but not yet the start */
	struct gp_nccl_call call; /* of all collectives so far; communicator 0 = there was none */
	bool is_whole;            /* its start was reached */
};

/* Takes a range that ended before the launch.  Returns whether to search farther back. */
static bool goes_on(struct group *group, const struct gp_model *model, const struct gp_range *range)
{
	const char *text = gp_model_range_text(model, range);
	struct gp_nccl_call call = fields_of(model, range).call;

	if (strcmp(text, "ncclGroupStart") == 0) {
		group->is_whole = group->inner == 0;
		return group->inner-- > 0;
	}
	group->inner += strcmp(text, "ncclGroupEnd") == 0;
	if (call.communicator == 0)
		return true;
	if (group->call.communicator == 0) {
		group->call = call;
		return true;
	}
	group->call.bytes = 0;
	if (call.communicator == group->call.communicator)
		return true;
	group->call.communicator = 0; /* the operations are of several communicators */
	return false;
}

/*
 * Goes back from the last range of the thread that had begun before the launch.  If the start of a
 * group is not found, nothing is known: the group may have more operations.
 */
static struct gp_nccl_call search_back(const struct gp_model *model, const struct gp_call *call,
				       uint32_t at)
{
	struct group group = {0};
	bool in_end = false;

	for (uint32_t steps = 0; at > 0 && steps < MOST_RANGES; steps++) {
		const struct gp_range *range = &model->ranges[--at];
		bool is_around = range->end_ns >= call->start_ns;

		if (range->thread_id != call->thread_id)
			break;
		if (!gp_range_is_of_nccl(model, range))
			continue;
		if (is_around && fields_of(model, range).call.communicator != 0)
			return fields_of(model, range).call;
		if (is_around)
			in_end |= strcmp(gp_model_range_text(model, range), "ncclGroupEnd") == 0;
		else if (!in_end || !goes_on(&group, model, range))
			break;
	}
	return group.is_whole ? group.call : (struct gp_nccl_call){0};
}

struct gp_nccl_call gp_nccl_call_of(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_call *call = op->call != GP_NONE ? &model->calls[op->call] : NULL;

	if (!call || model->range_count == 0)
		return (struct gp_nccl_call){0};
	return search_back(model, call,
			   gp_array_lower_bound(model->ranges, model->range_count,
						sizeof(*model->ranges), begins_until, call));
}

uint32_t gp_communicators_ranks(const struct gp_communicators *communicators, uint64_t id)
{
	for (uint32_t i = 0; i < communicators->count; i++)
		if (communicators->all[i].id == id)
			return communicators->all[i].ranks;
	return 0;
}

static void add(struct gp_communicators *communicators, const struct fields *fields)
{
	if (fields->ranks == 0 || fields->ranks > UINT32_MAX ||
	    gp_communicators_ranks(communicators, fields->call.communicator) > 0)
		return;
	gp_array_grow(&communicators->all, &communicators->capacity, communicators->count,
		      sizeof(*communicators->all));
	communicators->all[communicators->count++] =
		(struct gp_communicator){fields->call.communicator, (uint32_t)fields->ranks};
}

int gp_communicators_find(struct gp_communicators *communicators, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];
		struct fields fields;

		if (range->extended_payload == GP_NONE || !gp_range_is_of_nccl(model, range) ||
		    strncmp(gp_model_range_text(model, range), "ncclComm", 8) != 0)
			continue;
		fields = fields_of(model, range);
		add(communicators, &fields);
	}
	return 0;
}

void gp_communicators_free(struct gp_communicators *communicators)
{
	free(communicators->all);
	*communicators = (struct gp_communicators){0};
}
