#include "report/html/allocator.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/html/pack.h"

/* The kept ones of some successive changes: those with the most bytes, and the last; NULL = none. */
struct group {
	const struct gp_record_pool *most_used, *most_reserved, *last;
	uint64_t count;
};

#define KEPT_OF_GROUP 3u

/* The allocator of a process for a device. */
struct allocator {
	size_t process;
	uint16_t device_id;
	struct group group; /* not written yet */
};

struct allocators {
	struct gp_scope *scope;
	struct gp_html_columns columns;
	struct allocator *entries;
	uint32_t count, capacity;
	uint64_t group_most; /* changes in a group */
	uint64_t changes;
	uint64_t origin_unix_ns, last_ns;
};

/* CUDA pools have a handle; their records are only of creation, trimming and destruction. */
static bool is_caching(const struct gp_record_pool *pool)
{
	return pool->address == 0;
}

static void find_allocator(struct allocators *all, size_t process, uint16_t device_id,
			   uint32_t *number)
{
	for (*number = 0; *number < all->count; ++*number)
		if (all->entries[*number].process == process &&
		    all->entries[*number].device_id == device_id)
			return;
	gp_array_grow(&all->entries, &all->capacity, all->count, sizeof(*all->entries));
	all->entries[all->count++] = (struct allocator){.process = process, .device_id = device_id};
}

static void put_change(struct allocators *all, uint32_t number, const struct gp_record_pool *pool)
{
	const struct gp_model *model = all->scope->models[all->entries[number].process];
	uint64_t unix_ns = model->base_unix_ns + pool->time_ns;
	uint64_t time_ns = unix_ns > all->origin_unix_ns ? unix_ns - all->origin_unix_ns : 0;

	if (gp_html_columns_at_block(&all->columns))
		all->last_ns = 0;
	gp_html_columns_add(&all->columns,
			    (uint64_t[]){gp_html_zigzag((int64_t)(time_ns - all->last_ns)), number,
					 pool->reserved_bytes, pool->used_bytes});
	all->last_ns = time_ns;
}

static void put_group(struct allocators *all, uint32_t number)
{
	struct group *group = &all->entries[number].group;
	bool is_used_first = group->most_used < group->most_reserved;
	const struct gp_record_pool *kept[KEPT_OF_GROUP] = {
		is_used_first ? group->most_used : group->most_reserved,
		is_used_first ? group->most_reserved : group->most_used,
		group->last,
	};

	for (uint32_t i = 0; i < KEPT_OF_GROUP; i++)
		if (kept[i] && (i == 0 || kept[i] != kept[i - 1]))
			put_change(all, number, kept[i]);
	*group = (struct group){0};
}

static void take_change(struct allocators *all, size_t process, const struct gp_record_pool *pool)
{
	uint32_t number;
	struct group *group;

	find_allocator(all, process, pool->device_id, &number);
	group = &all->entries[number].group;
	if (!group->most_used || pool->used_bytes > group->most_used->used_bytes)
		group->most_used = pool;
	if (!group->most_reserved || pool->reserved_bytes > group->most_reserved->reserved_bytes)
		group->most_reserved = pool;
	group->last = pool;
	all->changes++;
	if (++group->count == all->group_most)
		put_group(all, number);
}

/* The number of changes in a group: more than one if there are more than the limit. */
static uint64_t choose_group(const struct gp_scope *scope, uint64_t limit)
{
	uint64_t changes = 0;

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->pool_count; i++)
			changes += is_caching(&scope->models[m]->pools[i]);
	return limit == 0 || changes <= limit ? 1 : changes / (limit / KEPT_OF_GROUP + 1) + 1;
}

static void put_names(const struct allocators *all, struct gp_json *json)
{
	gp_json_text(json, "{\"changes\":");
	gp_json_unsigned(json, all->columns.rows);
	gp_json_text(json, ",\"leftOut\":");
	gp_json_unsigned(json, all->changes - all->columns.rows);
	gp_json_text(json, ",\"allocators\":[");
	for (uint32_t i = 0; i < all->count; i++) {
		const struct allocator *one = &all->entries[i];

		gp_json_text(json, i > 0 ? ",{\"process\":" : "{\"process\":");
		gp_json_unsigned(json, one->process);
		gp_json_text(json, ",\"device\":");
		gp_json_unsigned(json, gp_scope_device(all->scope, all->scope->models[one->process],
						       one->device_id));
		gp_json_text(json, "}");
	}
	gp_json_text(json, "]}");
}

int gp_html_allocator(struct gp_scope *scope, uint64_t origin_unix_ns, uint64_t limit, FILE *out,
		      struct gp_json *json)
{
	struct allocators all = {.scope = scope,
				 .origin_unix_ns = origin_unix_ns,
				 .group_most = choose_group(scope, limit)};

	gp_html_columns_open(&all.columns, out, "allocated", 4);
	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->pool_count; i++)
			if (is_caching(&scope->models[m]->pools[i]))
				take_change(&all, m, &scope->models[m]->pools[i]);
	for (uint32_t i = 0; i < all.count; i++)
		put_group(&all, i);
	put_names(&all, json);
	gp_html_columns_close(&all.columns);
	free(all.entries);
	return 0;
}
