#include "report/model/slice_filter.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/stats.h"

bool gp_slice_choice_is_all(const struct gp_slice_choice *choice)
{
	return choice->from_ns == 0 && choice->to_ns == 0 && choice->least_ns == 0 &&
	       !choice->is_part;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/*
 * Ranges may have begun before the first call: a window from the first call on, which is none,
 * holds them.
 */
struct gp_slice_filter gp_slice_filter_of(const struct gp_slice_choice *choice,
					  const struct gp_model *model)
{
	return (struct gp_slice_filter){
		.from_ns = choice->from_ns > 0 ? add(model->first_ns, choice->from_ns) : 0,
		.to_ns = choice->to_ns > 0 ? add(model->first_ns, choice->to_ns) : UINT64_MAX,
		.least_ns = choice->least_ns,
		.part_from_ns = model->part.is_one ? model->part.from_ns : 0,
		.part_to_ns = model->part.is_one ? model->part.to_ns : UINT64_MAX,
		.is_part = choice->is_part,
		.is_open = gp_slice_choice_is_all(choice) && !model->part.is_one,
	};
}

struct gp_slice_filter gp_slice_filter_of_part(const struct gp_model *model)
{
	const struct gp_slice_choice all = {0};

	return gp_slice_filter_of(&all, model);
}

static bool has_any_call(const struct gp_slice_filter *filter, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->call_count; i++)
		if (gp_slice_filter_has(filter, model->calls[i].start_ns,
					model->calls[i].start_ns + model->calls[i].duration_ns))
			return true;
	return false;
}

static bool has_any_op(const struct gp_slice_filter *filter, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed &&
		    gp_slice_filter_has(filter, model->ops[i].start_ns, model->ops[i].end_ns))
			return true;
	return false;
}

static bool has_any_range(const struct gp_slice_filter *filter, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (range->style == GP_STYLE_MARK
			    ? gp_slice_filter_has_moment(filter, range->start_ns)
			    : gp_slice_filter_has(filter, range->start_ns, range->end_ns))
			return true;
	}
	return false;
}

/* Records of one type.  Of moments both fields are the same one. */
struct records {
	const void *first;
	uint32_t count;
	size_t bytes, start, end; /* of one, and where its times are in it */
};

static bool has_any_record(const struct gp_slice_filter *filter, const struct records *records)
{
	for (uint32_t i = 0; i < records->count; i++) {
		const char *at = (const char *)records->first + i * records->bytes;
		uint64_t start_ns, end_ns;

		memcpy(&start_ns, at + records->start, sizeof(start_ns));
		memcpy(&end_ns, at + records->end, sizeof(end_ns));
		if (records->start == records->end ? gp_slice_filter_has_moment(filter, start_ns)
						   : gp_slice_filter_has(filter, start_ns, end_ns))
			return true;
	}
	return false;
}

#define RECORDS(array, count, type, start, end)                                                    \
	{                                                                                          \
		array, count, sizeof(type), offsetof(type, start), offsetof(type, end)             \
	}

bool gp_slice_choice_has_any(const struct gp_slice_choice *choice, const struct gp_model *model)
{
	const struct gp_slice_filter filter = gp_slice_filter_of(choice, model);
	const struct records others[] = {
		RECORDS(model->samples, model->sample_count, struct gp_sample, start_ns, end_ns),
		RECORDS(model->overheads, model->overhead_count, struct gp_overhead, start_ns,
			end_ns),
		RECORDS(model->syncs, model->sync_count, struct gp_record_sync, start_ns, end_ns),
		RECORDS(model->jits, model->jit_count, struct gp_record_jit, start_ns, end_ns),
		RECORDS(model->unifieds, model->unified_count, struct gp_record_unified, start_ns,
			end_ns),
		RECORDS(model->host_functions, model->host_function_count,
			struct gp_record_host_function, start_ns, end_ns),
		RECORDS(model->memory, model->memory_count, struct gp_memory_event, time_ns,
			time_ns),
		RECORDS(model->usages, model->usage_count, struct gp_usage, time_ns, time_ns),
		RECORDS(model->pools, model->pool_count, struct gp_record_pool, time_ns, time_ns),
	};
	bool found = has_any_call(&filter, model) || has_any_op(&filter, model) ||
		     has_any_range(&filter, model);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !found; i++)
		found = has_any_record(&filter, &others[i]);
	return found;
}

/* The starts of those that are chosen. */
struct starts {
	const struct gp_slice_choice *choice;
	const struct gp_model *model;
	uint64_t *ns; /* from the first call on */
	size_t count;
};

static void take(struct starts *starts, uint64_t start_ns)
{
	uint64_t first_ns = starts->model->first_ns;
	uint64_t ns = start_ns > first_ns ? start_ns - first_ns : 0;

	if (ns >= starts->choice->from_ns &&
	    (starts->choice->to_ns == 0 || ns < starts->choice->to_ns))
		starts->ns[starts->count++] = ns;
}

/* What most of a file consists of. */
static void take_all(struct starts *starts)
{
	const struct gp_model *model = starts->model;

	for (uint32_t i = 0; i < model->call_count; i++)
		take(starts, model->calls[i].start_ns);
	for (uint32_t i = 0; i < model->op_count; i++)
		take(starts, model->ops[i].start_ns);
	for (uint32_t i = 0; i < model->range_count; i++)
		take(starts, model->ranges[i].start_ns);
}

int gp_slice_choice_cut(const struct gp_slice_choice *choice, const struct gp_model *model,
			uint64_t *starts, uint32_t count)
{
	size_t most = (size_t)model->call_count + model->op_count + model->range_count;
	struct starts all = {choice, model, malloc((most + 1) * sizeof(*all.ns)), 0};

	if (!all.ns)
		return -ENOMEM;
	take_all(&all);
	starts[0] = choice->from_ns;
	for (uint32_t i = 1; i < count; i++) {
		starts[i] = all.count > 0
				    ? gp_stats_select(all.ns, all.count, all.count * i / count)
				    : choice->from_ns;
		starts[i] = starts[i] > 0 ? starts[i] : 1; /* 0 would be no end of the one before */
	}
	free(all.ns);
	return 0;
}
