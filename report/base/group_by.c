#include "report/base/group_by.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

static bool has_key(const void *rows, uint32_t row, const void *key)
{
	return strcmp(((const struct gp_group *)rows)[row].key, key) == 0;
}

void gp_groups_free(struct gp_groups *groups)
{
	gp_hash_free(&groups->index);
	for (uint32_t i = 0; i < groups->count; i++) {
		free(groups->rows[i].key);
		free(groups->rows[i].histogram);
		gp_spill_free(groups->rows[i].durations_ns);
	}
	free(groups->rows);
	*groups = (struct gp_groups){0};
}

static uint32_t append(struct gp_groups *groups, const char *key, uint32_t hash)
{
	char *copy = strdup(key);

	gp_array_grow(&groups->rows, &groups->capacity, groups->count, sizeof(*groups->rows));
	gp_hash_add(&groups->index, hash, groups->count);
	groups->rows[groups->count] = (struct gp_group){.key = copy, .least_bytes = UINT64_MAX};
	return groups->count++;
}

uint32_t gp_groups_find(struct gp_groups *groups, const char *key)
{
	uint32_t hash = gp_hash_text(key);
	uint32_t row = gp_hash_find(&groups->index, hash, has_key, groups->rows, key);

	return row != GP_HASH_NONE ? row : append(groups, key, hash);
}

int gp_groups_add(struct gp_groups *groups, uint32_t row, uint64_t duration_ns)
{
	struct gp_group *group = &groups->rows[row];

	gp_array_grow_spill(&group->durations_ns, &group->capacity, group->duration_count,
			    sizeof(*group->durations_ns));
	group->durations_ns[group->duration_count++] = duration_ns;
	group->total_ns += duration_ns;
	group->count++;
	return 0;
}

void gp_groups_add_outside(struct gp_groups *groups, uint32_t row, uint64_t duration_ns)
{
	groups->rows[row].total_ns += duration_ns;
	groups->rows[row].count++;
}

void gp_groups_add_untimed(struct gp_groups *groups, uint32_t row)
{
	groups->rows[row].count++;
}

void gp_groups_add_histogram(struct gp_groups *groups, uint32_t row,
			     const struct gp_histogram *histogram, double ns, uint64_t untimed)
{
	struct gp_group *group = &groups->rows[row];

	if (!group->histogram)
		group->histogram = calloc(1, sizeof(*group->histogram));
	gp_histogram_join_scaled(group->histogram, histogram, ns);
	group->total_ns = group->histogram->total_ns;
	group->count += histogram->count + untimed;
}

struct gp_stats gp_group_stats(struct gp_group *group)
{
	if (group->histogram)
		return gp_histogram_stats(group->histogram);
	if (group->stats.count != group->duration_count)
		group->stats = gp_stats_of(group->durations_ns, group->duration_count);
	return group->stats;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct gp_group *rows = context;
	const struct gp_group *left = &rows[*(const uint32_t *)a];
	const struct gp_group *right = &rows[*(const uint32_t *)b];

	if (left->is_separate != right->is_separate)
		return left->is_separate ? 1 : -1;
	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return strcmp(left->key, right->key);
}

uint64_t gp_groups_time_ns(const struct gp_groups *groups)
{
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		if (!groups->rows[i].is_separate)
			total_ns += groups->rows[i].total_ns;
	return total_ns;
}

uint32_t *gp_groups_by_time(const struct gp_groups *groups)
{
	uint32_t *order = malloc((groups->count + 1) * sizeof(*order));

	for (uint32_t i = 0; i < groups->count; i++)
		order[i] = i;
	qsort_r(order, groups->count, sizeof(*order), compare_rows, groups->rows);
	return order;
}
