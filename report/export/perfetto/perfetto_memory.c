#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/trace/cuda_names.h"
#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/model/memory_stats.h"
#include "report/base/tree.h"

/* A counter for each device (the last one for the host) and kind that occurs. */
struct counter {
	uint64_t track; /* 0 = not made yet */
	uint64_t now_bytes;
};

static void write_value(struct gp_perfetto *p, uint64_t track, uint64_t ns, uint64_t value)
{
	gp_perfetto_open_event(p, GP_PERFETTO_COUNTER, track, ns);
	gp_protobuf_value(&p->event, EVENT_COUNTER, value);
	gp_perfetto_close_event(p);
}

static void name_counter(struct gp_perfetto *p, const struct gp_memory_event *event, char *name,
			 size_t bytes)
{
	const char *kind = gp_allocation_name(event->memory_kind);

	if (gp_memory_is_of_host(event->memory_kind))
		snprintf(name, bytes, "Host memory: %s", kind);
	else
		snprintf(name, bytes, "GPU %u memory: %s",
			 gp_gpu_numbers_find(&p->gpus, p->model, event->device_id, NULL), kind);
}

/*
 * One more allocation or free; a counter begins at the window's start with what was allocated by
 * then.
 */
static void count(struct gp_perfetto *p, struct counter *counter,
		  const struct gp_memory_event *event)
{
	uint64_t before_bytes = counter->now_bytes;
	bool is_new;
	char name[96];

	gp_memory_apply(&counter->now_bytes, event);
	if (!gp_slice_filter_has_moment(&p->filter, event->time_ns))
		return;
	if (counter->track == 0) {
		name_counter(p, event, name, sizeof(name));
		counter->track = gp_perfetto_counter(p, name, GP_PERFETTO_UNIT_BYTES, &is_new);
		if (is_new && p->filter.from_ns > 0)
			write_value(p, counter->track, p->filter.from_ns, before_bytes);
	}
	write_value(p, counter->track, event->time_ns, counter->now_bytes);
}

static void write_allocations(struct gp_perfetto *p, struct counter *counters)
{
	for (uint32_t i = 0; i < p->model->memory_count && p->error == 0; i++) {
		const struct gp_memory_event *event = &p->model->memory[i];
		uint32_t device = gp_memory_is_of_host(event->memory_kind)
					  ? GP_DEVICE_LIMIT
					  : event->device_id % GP_DEVICE_LIMIT;

		if (event->memory_kind > 0 && event->memory_kind < GP_MEMORY_KINDS)
			count(p, &counters[device * GP_MEMORY_KINDS + event->memory_kind], event);
	}
}

static void write_usages(struct gp_perfetto *p)
{
	uint64_t tracks[GP_DEVICE_LIMIT] = {0};
	char name[64];
	bool is_new;

	for (uint32_t i = 0; i < p->model->usage_count; i++) {
		const struct gp_usage *usage = &p->model->usages[i];
		uint64_t *track = &tracks[usage->device_id % GP_DEVICE_LIMIT];

		if (!gp_slice_filter_has_moment(&p->filter, usage->time_ns))
			continue;
		if (*track == 0) {
			snprintf(name, sizeof(name), "GPU %u memory in use by all processes",
				 gp_gpu_numbers_find(&p->gpus, p->model, usage->device_id, NULL));
			*track = gp_perfetto_counter(p, name, GP_PERFETTO_UNIT_BYTES, &is_new);
		}
		write_value(p, *track, usage->time_ns,
			    usage->free_bytes < usage->total_bytes
				    ? usage->total_bytes - usage->free_bytes
				    : 0);
	}
}

/* The counters of a pool: what it has reserved, and what of that is in use. */
struct pool {
	uint64_t address;
	uint16_t device_id;
	uint64_t reserved_track, used_track;
};

static uint64_t pool_counter(struct gp_perfetto *p, const struct gp_record_pool *record,
			     const char *what)
{
	char name[96], handle[32] = "";
	bool is_new;

	if (record->address != 0)
		snprintf(handle, sizeof(handle), " 0x%llx", (unsigned long long)record->address);
	snprintf(name, sizeof(name), "GPU %u pool%s: %s",
		 gp_gpu_numbers_find(&p->gpus, p->model, record->device_id, NULL), handle, what);
	return gp_perfetto_counter(p, name, GP_PERFETTO_UNIT_BYTES, &is_new);
}

static int compare_pools(const void *a, const void *b)
{
	const struct pool *left = a, *right = b;

	if (left->device_id != right->device_id)
		return left->device_id < right->device_id ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

/* Those so far, in no order, and a tree of them. */
struct pools {
	struct pool *all;
	uint32_t count;
	void *index;
};

/* One of the pools so far, or one more, for which there is room.  NULL: no memory. */
static const struct pool *find_pool(struct gp_perfetto *p, struct pools *pools,
				    const struct gp_record_pool *record)
{
	struct pool *next = &pools->all[pools->count], **found;

	*next = (struct pool){.address = record->address, .device_id = record->device_id};
	found = tsearch(next, &pools->index, compare_pools);
	if (found && *found == next) {
		next->reserved_track = pool_counter(p, record, "reserved");
		next->used_track = pool_counter(p, record, "used");
		pools->count++;
	}
	return found ? *found : NULL;
}

static void write_pools(struct gp_perfetto *p)
{
	struct pools pools = {.all = calloc((size_t)p->model->pool_count + 1, sizeof(*pools.all))};

	if (!pools.all)
		p->error = -ENOMEM;
	for (uint32_t i = 0; i < p->model->pool_count && p->error == 0; i++) {
		const struct gp_record_pool *record = &p->model->pools[i];
		const struct pool *pool;

		if (!gp_slice_filter_has_moment(&p->filter, record->time_ns))
			continue;
		pool = find_pool(p, &pools, record);
		if (!pool) {
			p->error = -ENOMEM;
			break;
		}
		write_value(p, pool->reserved_track, record->time_ns, record->reserved_bytes);
		write_value(p, pool->used_track, record->time_ns, record->used_bytes);
	}
	gp_tree_free(pools.index);
	free(pools.all);
}

void gp_perfetto_write_memory(struct gp_perfetto *p)
{
	struct counter *counters =
		calloc((size_t)(GP_DEVICE_LIMIT + 1) * GP_MEMORY_KINDS, sizeof(*counters));

	if (counters)
		write_allocations(p, counters);
	else
		p->error = -ENOMEM;
	free(counters);
	write_usages(p);
	write_pools(p);
}
