#include "report/base/tally.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

/* A node of the index: rows[] moves when it grows, so the node keeps the number. */
struct node {
	uint64_t key[GP_TALLY_KEYS];
	uint32_t row;
};

static int compare_nodes(const void *a, const void *b)
{
	const struct node *left = a, *right = b;

	return memcmp(left->key, right->key, sizeof(left->key));
}

static void free_series(struct gp_tally_row *row)
{
	for (size_t i = 0; i < GP_TALLY_SERIES; i++)
		gp_spill_free(row->series[i].values);
}

void gp_tally_free(struct gp_tally *tally)
{
	tdestroy(tally->index, free);
	for (uint32_t i = 0; i < tally->count; i++)
		free_series(&tally->rows[i]);
	free_series(&tally->spare);
	free(tally->rows);
	*tally = (struct gp_tally){0};
}

static void fail(struct gp_tally *tally, int error)
{
	if (tally->error == 0)
		tally->error = error;
}

/* Makes the index find the row that comes next. */
static int index_next(struct gp_tally *tally, const struct node *wanted)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		return -ENOMEM;
	*node = *wanted;
	node->row = tally->count;
	if (tsearch(node, &tally->index, compare_nodes))
		return 0;
	free(node);
	return -ENOMEM;
}

static struct gp_tally_row *append(struct gp_tally *tally, const struct node *wanted)
{
	int result =
		gp_array_grow(&tally->rows, &tally->capacity, tally->count, sizeof(*tally->rows));

	if (result == 0)
		result = index_next(tally, wanted);
	if (result < 0) {
		fail(tally, result);
		return &tally->spare;
	}
	tally->last = tally->count++;
	memset(&tally->rows[tally->last], 0, sizeof(*tally->rows));
	memcpy(tally->rows[tally->last].key, wanted->key, sizeof(wanted->key));
	return &tally->rows[tally->last];
}

struct gp_tally_row *gp_tally_find(struct gp_tally *tally, const uint64_t key[GP_TALLY_KEYS])
{
	struct node wanted, **found;

	if (tally->count > 0 && memcmp(tally->rows[tally->last].key, key, sizeof(wanted.key)) == 0)
		return &tally->rows[tally->last];
	memcpy(wanted.key, key, sizeof(wanted.key));
	found = tfind(&wanted, &tally->index, compare_nodes);
	if (!found)
		return append(tally, &wanted);
	tally->last = (*found)->row;
	return &tally->rows[tally->last];
}

void gp_tally_value(struct gp_tally *tally, struct gp_tally_row *row, size_t series, uint64_t value)
{
	struct gp_tally_series *s = &row->series[series];
	int result = gp_array_grow_spill(&s->values, &s->capacity, s->count, sizeof(*s->values));

	if (result < 0) {
		fail(tally, result);
		return;
	}
	s->values[s->count++] = value;
	s->total += value;
}

double gp_tally_total(const struct gp_tally *tally, size_t series)
{
	double total = 0;

	for (uint32_t i = 0; i < tally->count; i++)
		total += (double)tally->rows[i].series[series].total;
	return total;
}
